package webdriver

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// Session is one session of a remote end.
type Session struct {
	ID           string
	Capabilities map[string]any // those that the remote end answered with
	client       *Client
	path         string // /session/ID

	dialing chan struct{} // of one element, held by who uses what follows
	bidi    *BiDi
	deleted bool
}

const (
	maxID      = 1024     // bytes of an id of a session or an element: they are part of paths
	maxAddress = 16 << 10 // bytes of a webSocketUrl
)

// NewSession asks for a session with capabilities that all must match.
func (c *Client) NewSession(ctx context.Context, alwaysMatch map[string]any) (*Session, error) {
	return c.NewSessionFirstMatch(ctx, alwaysMatch, nil)
}

// NewSessionFirstMatch asks for a session with capabilities that all must match,
// and the first of several sets that the remote end can serve. No name may be in
// both.
func (c *Client) NewSessionFirstMatch(ctx context.Context, alwaysMatch map[string]any, firstMatch []map[string]any) (*Session, error) {
	if alwaysMatch == nil {
		alwaysMatch = map[string]any{}
	}
	if len(firstMatch) == 0 {
		firstMatch = []map[string]any{{}}
	}
	body := map[string]any{"capabilities": map[string]any{"alwaysMatch": alwaysMatch, "firstMatch": firstMatch}}
	var answer struct {
		SessionID    string         `json:"sessionId"`
		Capabilities map[string]any `json:"capabilities"`
	}
	if err := c.do(ctx, http.MethodPost, "/session", body, &answer); err != nil {
		return nil, err
	}
	if answer.SessionID == "" || len(answer.SessionID) > maxID {
		return nil, &TransportError{Err: errors.New("a session without a usable id")}
	}
	return &Session{ID: answer.SessionID, Capabilities: answer.Capabilities, client: c,
		path: "/session/" + part(answer.SessionID), dialing: make(chan struct{}, 1)}, nil
}

// Client gives the remote end of the session.
func (s *Session) Client() *Client { return s.client }

func (s *Session) get(ctx context.Context, path string, out any) error {
	return s.client.do(ctx, http.MethodGet, s.path+path, nil, out)
}

func (s *Session) post(ctx context.Context, path string, body, out any) error {
	return s.client.do(ctx, http.MethodPost, s.path+path, body, out)
}

func (s *Session) delete(ctx context.Context, path string, out any) error {
	return s.client.do(ctx, http.MethodDelete, s.path+path, nil, out)
}

// part makes an id one part of a path, whatever is in it.
func part(id string) string {
	if strings.Trim(id, ".") == "" { // "." and ".." would be steps
		return strings.ReplaceAll(id, ".", "%2E")
	}
	return url.PathEscape(id)
}

// Delete ends the session, its browser and its BiDi connection.
func (s *Session) Delete(ctx context.Context) error {
	err := s.delete(ctx, "", nil)
	s.closeBiDi()
	return err
}

// Timeouts of a session; the zero value of a member leaves it as it is.
type Timeouts struct {
	Script, PageLoad, Implicit time.Duration
}

// SetTimeouts sets the timeouts that are given.
func (s *Session) SetTimeouts(ctx context.Context, t Timeouts) error {
	body := map[string]int64{}
	for name, d := range map[string]time.Duration{"script": t.Script, "pageLoad": t.PageLoad, "implicit": t.Implicit} {
		if d > 0 {
			body[name] = d.Milliseconds()
		}
	}
	return s.post(ctx, "/timeouts", body, nil)
}
