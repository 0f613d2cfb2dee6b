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

// bidiDial bounds the handshake; hubs start a node's proxy for it.
const bidiDial = 30 * time.Second

// ErrNoBiDi says that the remote end did not offer BiDi for the session: it has
// none, or the capability webSocketUrl was not asked for.
var ErrNoBiDi = errors.New("webdriver: the remote end offers no BiDi")

// BiDi gives the session's BiDi connection, which is made by the first call, and
// made anew when the one before has ended: handlers and subscriptions do not move
// to the new one. The error is ErrNoBiDi when the remote end offers none.
func (s *Session) BiDi(ctx context.Context) (*BiDi, error) {
	select {
	case s.dialing <- struct{}{}:
		defer func() { <-s.dialing }()
	case <-ctx.Done():
		return nil, ended(ctx)
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
	// The socket's address comes from the remote end: what it names elsewhere, or
	// without the encryption that the client has, does not get the password.
	if c.user != nil && c.sameOrigin(u) {
		header.Set("Authorization", c.basic())
	}
	u.User = nil
	ctx, cancel := context.WithTimeout(ctx, bidiDial)
	defer cancel()
	conn, resp, err := websocket.Dial(ctx, u.String(), &websocket.DialOptions{HTTPClient: c.http, HTTPHeader: header})
	if err != nil {
		if resp != nil {
			return nil, &TransportError{Status: resp.StatusCode, Err: errors.New("the BiDi socket refused the handshake")}
		}
		return nil, c.noAnswer(ctx, err)
	}
	conn.SetReadLimit(bidiMessage)
	b := &BiDi{client: c, conn: conn, out: make(chan []byte), done: make(chan struct{}), pending: map[uint64]chan bidiAnswer{}}
	b.events.init()
	b.ends.Add(2)
	go b.read()
	go b.write()
	go b.events.run()
	return b, nil
}

// sameOrigin reports whether a socket is at the client's own scheme, host and port.
func (c *Client) sameOrigin(socket *url.URL) bool {
	own, err := url.Parse(c.base)
	if err != nil {
		return false
	}
	secure := own.Scheme == "https"
	return secure == (socket.Scheme == "wss") && hostPort(own, secure) == hostPort(socket, secure)
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
