package webdriver_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/coder/websocket"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/worker/browser/webdriver"
)

// peer is the remote end of a BiDi connection.
type peer struct {
	t      *testing.T
	conn   *websocket.Conn
	header http.Header
}

type bidiCommand struct {
	ID     uint64          `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
}

// next reads a command; false when the client went.
func (p *peer) next() (c bidiCommand, ok bool) {
	_, doc, err := p.conn.Read(context.Background())
	if err != nil {
		return c, false
	}
	return c, json.Unmarshal(doc, &c) == nil
}

func (p *peer) send(format string, args ...any) {
	_ = p.conn.Write(context.Background(), websocket.MessageText, fmt.Appendf(nil, format, args...))
}

// echo responds to commands with their params until the client goes.
func (p *peer) echo() {
	for {
		c, ok := p.next()
		if !ok {
			return
		}
		p.send(`{"type":"success","id":%d,"result":%s}`, c.ID, c.Params)
	}
}

// bidiSession starts a session whose BiDi connections serve handles.
func bidiSession(t *testing.T, serve func(*peer)) *webdriver.Session {
	t.Helper()
	var server *httptest.Server
	server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path == "/session":
			socket := strings.Replace(server.URL, "http", "ws", 1) + "/socket"
			_, _ = io.WriteString(w, `{"value":{"sessionId":"s","capabilities":{"webSocketUrl":"`+socket+`"}}}`)
		case r.URL.Path == "/socket":
			conn, err := websocket.Accept(w, r, nil)
			if err != nil {
				return
			}
			conn.SetReadLimit(-1)
			defer conn.CloseNow()
			serve(&peer{t, conn, r.Header})
		default:
			_, _ = io.WriteString(w, `{"value":null}`)
		}
	}))
	t.Cleanup(server.Close)
	c, err := webdriver.New(webdriver.Config{URL: strings.Replace(server.URL, "://", "://robot:s3cret@", 1)})
	require.NoError(t, err)
	s, err := c.NewSession(within(t), nil)
	require.NoError(t, err)
	t.Cleanup(func() { _ = s.Delete(context.Background()) })
	return s
}

func dial(t *testing.T, serve func(*peer)) *webdriver.BiDi {
	t.Helper()
	// The handshake's context ends; the connection stays.
	ctx, cancel := context.WithCancel(within(t))
	b, err := bidiSession(t, serve).BiDi(ctx)
	cancel()
	require.NoError(t, err)
	return b
}

func TestBiDiCommands(t *testing.T) {
	t.Parallel()
	b := dial(t, (*peer).echo)
	var wg sync.WaitGroup
	for i := range 100 {
		wg.Go(func() {
			var got struct{ N int }
			if err := b.Command(within(t), "x", map[string]int{"n": i}, &got); err != nil || got.N != i {
				t.Errorf("%d: got %d, %v", i, got.N, err)
			}
		})
	}
	wg.Wait()
	require.NoError(t, b.Command(within(t), "x", nil, nil))
	var te *webdriver.TransportError
	require.ErrorAs(t, b.Command(within(t), "x", "text", new(int)), &te, "a result of another shape")
	require.Error(t, b.Command(within(t), "x", func() {}, nil))
}

func TestBiDiErrors(t *testing.T) {
	t.Parallel()
	b := dial(t, func(p *peer) {
		for {
			c, ok := p.next()
			if !ok {
				return
			}
			p.send(`{"type":"error","id":null,"error":"invalid argument","message":"nobody's"}`)
			p.send(`{"type":"success","id":999,"result":{}}`)
			p.send(`{"type":"error","id":%d,"error":"no such user context","message":"none for s3cret\n  (Session info: x)","stacktrace":"at y"}`,
				c.ID)
		}
	})
	err := b.RemoveUserContext(within(t), "gone")
	var e *webdriver.Error
	require.ErrorAs(t, err, &e)
	require.Equal(t, webdriver.Error{Code: "no such user context", Message: "none for *****", StackTrace: "at y"}, *e)
}

func TestBiDiEndFailsAllCommands(t *testing.T) {
	t.Parallel()
	ends := map[string]func(p *peer, b *webdriver.BiDi){
		"the remote end goes": func(p *peer, _ *webdriver.BiDi) { _ = p.conn.CloseNow() },
		"it says good-bye":    func(p *peer, _ *webdriver.BiDi) { _ = p.conn.Close(websocket.StatusNormalClosure, "bye") },
		"it sends no JSON":    func(p *peer, _ *webdriver.BiDi) { p.send("{") },
		"it sends bytes": func(p *peer, _ *webdriver.BiDi) {
			_ = p.conn.Write(context.Background(), websocket.MessageBinary, []byte("{}"))
		},
		"a message is endless": func(p *peer, _ *webdriver.BiDi) { p.send("%s", strings.Repeat(" ", 65<<20)) },
		"the caller closes":    func(_ *peer, b *webdriver.BiDi) { b.Close() },
	}
	for name, end := range ends {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			const n = 20
			connected, read := make(chan *peer, 1), make(chan struct{}, n)
			b := dial(t, func(p *peer) {
				connected <- p
				for {
					if _, ok := p.next(); !ok {
						return
					}
					read <- struct{}{}
				}
			})
			errs := make(chan error, n)
			for range n {
				go func() { errs <- b.Command(within(t), "x", nil, nil) }()
			}
			for range n {
				<-read
			}
			end(<-connected, b)
			for range n {
				var te *webdriver.TransportError
				require.ErrorAs(t, <-errs, &te)
			}
			<-b.Done()
			require.ErrorContains(t, b.Command(within(t), "x", nil, nil), "BiDi connection")
			b.Close()
			b.Close()
		})
	}
}

// A caller that stops waiting for an answer leaves the connection to the others.
func TestBiDiCancelLeavesTheConnection(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	b := dial(t, func(p *peer) {
		slow, _ := p.next()
		cancel()
		c, _ := p.next()
		p.send(`{"type":"success","id":%d,"result":{"n":1}}`, slow.ID) // too late
		p.send(`{"type":"success","id":%d,"result":{"n":2}}`, c.ID)
		p.echo()
	})
	err := b.Command(ctx, "slow", nil, nil)
	var te *webdriver.TransportError
	require.ErrorAs(t, err, &te)
	require.ErrorIs(t, err, context.Canceled)
	var got struct{ N int }
	require.NoError(t, b.Command(within(t), "x", nil, &got))
	require.Equal(t, 2, got.N)
}

func TestBiDiScreenshotFallsBackToPNG(t *testing.T) {
	t.Parallel()
	commands := make(chan string, 10)
	b := dial(t, func(p *peer) {
		for {
			c, ok := p.next()
			if !ok {
				return
			}
			commands <- string(c.Params)
			if strings.Contains(string(c.Params), "jpeg") {
				p.send(`{"type":"error","id":%d,"error":"invalid argument","message":"no such format"}`, c.ID)
				continue
			}
			p.send(`{"type":"success","id":%d,"result":{"data":"aGk="}}`, c.ID)
		}
	})
	for range 2 {
		png, err := b.Screenshot(within(t), "w")
		require.NoError(t, err)
		require.Equal(t, "hi", string(png))
	}
	require.JSONEq(t, `{"context":"w","format":{"type":"image/jpeg","quality":0.8}}`, <-commands)
	require.JSONEq(t, `{"context":"w"}`, <-commands)
	require.JSONEq(t, `{"context":"w"}`, <-commands)
	require.Empty(t, commands, "the second time it is known")
}
