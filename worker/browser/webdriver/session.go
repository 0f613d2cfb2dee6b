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
	Capabilities map[string]any // those of the session, as the remote end reports them
	Input        Input
	Dialog       Dialog
	client       *Client
	path         string // /session/ID

	dialing chan struct{} // of one element, taken by whoever uses what follows
	bidi    *BiDi
	deleted bool
	hidden  []string // windows that Windows leaves out
}

const (
	maxID      = 1024     // bytes of an id of a session or an element: they are part of paths
	maxAddress = 16 << 10 // bytes of a webSocketUrl
)

// NewSession starts a session with capabilities that all must match.
func (c *Client) NewSession(ctx context.Context, alwaysMatch map[string]any) (*Session, error) {
	if alwaysMatch == nil {
		alwaysMatch = map[string]any{}
	}
	body := map[string]any{"capabilities": map[string]any{"alwaysMatch": alwaysMatch, "firstMatch": []map[string]any{{}}}}
	var created struct {
		SessionID    string         `json:"sessionId"`
		Capabilities map[string]any `json:"capabilities"`
	}
	if err := c.do(ctx, http.MethodPost, "/session", body, &created); err != nil {
		return nil, err
	}
	if created.SessionID == "" || len(created.SessionID) > maxID {
		return nil, &TransportError{Err: errors.New("a session without a usable id")}
	}
	s := &Session{ID: created.SessionID, Capabilities: created.Capabilities, client: c,
		path: "/session/" + pathSegment(created.SessionID), dialing: make(chan struct{}, 1)}
	s.Input, s.Dialog = Input{s}, Dialog{s}
	return s, nil
}

func (s *Session) get(ctx context.Context, path string, out any) error {
	return s.client.do(ctx, http.MethodGet, s.path+path, nil, out)
}

func (s *Session) post(ctx context.Context, path string, body, out any) error {
	return s.client.do(ctx, http.MethodPost, s.path+path, body, out)
}

func (s *Session) delete(ctx context.Context, path string, out any) error {
	return s.client.do(ctx, http.MethodDelete, s.path+path, nil, out)
}

// pathSegment escapes an id so that it is one segment of a path, whatever is in it.
func pathSegment(id string) string {
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
	Script, PageLoad time.Duration
}

// SetTimeouts sets the timeouts that are not zero.
func (s *Session) SetTimeouts(ctx context.Context, t Timeouts) error {
	body := map[string]int64{}
	for name, d := range map[string]time.Duration{"script": t.Script, "pageLoad": t.PageLoad} {
		if d > 0 {
			body[name] = d.Milliseconds()
		}
	}
	return s.post(ctx, "/timeouts", body, nil)
}
