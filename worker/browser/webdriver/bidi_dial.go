package webdriver

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/coder/websocket"
)

// dialTimeout bounds the handshake; hubs start a node's proxy for it.
const dialTimeout = 30 * time.Second

// ErrNoBiDi is the error of a session for which the remote end offers no BiDi: it
// has none, or the capability webSocketUrl was not requested.
var ErrNoBiDi = errors.New("webdriver: the remote end offers no BiDi")

// BiDi returns the session's BiDi connection. The first call opens it, and a later
// one opens another when the former has ended: handlers and subscriptions do not
// move to the new one. The error is ErrNoBiDi when the remote end offers none.
func (s *Session) BiDi(ctx context.Context) (*BiDi, error) {
	select {
	case s.dialing <- struct{}{}:
		defer func() { <-s.dialing }()
	case <-ctx.Done():
		return nil, contextError(ctx)
	}
	if s.deleted {
		return nil, &TransportError{Err: errBiDiClosed}
	}
	if s.bidi != nil {
		select {
		case <-s.bidi.done:
		default:
			return s.bidi, nil
		}
	}
	address, _ := s.Capabilities["webSocketUrl"].(string)
	if address == "" {
		return nil, ErrNoBiDi
	}
	b, err := s.client.dialBiDi(ctx, address)
	if err != nil {
		return nil, err
	}
	s.bidi = b
	return b, nil
}

// closeBiDi ends the connection, if there is one, and allows no other.
func (s *Session) closeBiDi() {
	s.dialing <- struct{}{}
	defer func() { <-s.dialing }()
	s.deleted = true
	if s.bidi != nil {
		s.bidi.Close()
	}
}

func (c *Client) dialBiDi(ctx context.Context, address string) (*BiDi, error) {
	u, err := url.Parse(address)
	if err != nil || (u.Scheme != "ws" && u.Scheme != "wss") || u.Host == "" || len(address) > maxAddress {
		return nil, &TransportError{Err: errors.New("webSocketUrl is not a ws or wss address")}
	}
	header := http.Header{}
	// The socket's address comes from the remote end: the password is not sent to
	// another host, nor without the encryption that the client has.
	if c.user != nil && c.sameOrigin(u) {
		header.Set("Authorization", c.basic())
	}
	u.User = nil
	ctx, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	conn, resp, err := websocket.Dial(ctx, u.String(), &websocket.DialOptions{HTTPClient: c.http, HTTPHeader: header})
	if err != nil {
		if resp != nil {
			return nil, &TransportError{Status: resp.StatusCode, Err: errors.New("the BiDi socket refused the handshake")}
		}
		return nil, c.requestError(ctx, err)
	}
	conn.SetReadLimit(maxMessage)
	b := &BiDi{client: c, conn: conn, out: make(chan []byte), done: make(chan struct{}), pending: map[uint64]chan bidiMessage{}}
	b.events.init()
	b.ends.Add(2)
	go b.read()
	go b.write()
	go b.events.run()
	return b, nil
}

// sameOrigin reports whether a socket is at the client's scheme, host and port.
func (c *Client) sameOrigin(socket *url.URL) bool {
	base, err := url.Parse(c.base)
	if err != nil {
		return false
	}
	secure := base.Scheme == "https"
	return secure == (socket.Scheme == "wss") && hostPort(base, secure) == hostPort(socket, secure)
}

func hostPort(u *url.URL, secure bool) string {
	port := u.Port()
	switch {
	case port != "":
	case secure:
		port = "443"
	default:
		port = "80"
	}
	return strings.ToLower(u.Hostname()) + ":" + port
}
