package egress

import (
	"context"
	"encoding/binary"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// httpTunnel is an HTTP proxy that requires ada's password.
func httpTunnel(t *testing.T) string {
	t.Helper()
	inner, err := Start(newGuard(t, true), nil)
	require.NoError(t, err)
	t.Cleanup(inner.Close)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Proxy-Authorization") != "Basic YWRhOnBhc3M=" {
			w.WriteHeader(http.StatusProxyAuthRequired)
			return
		}
		w.Header().Set("Via", "tunnel")
		inner.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	return strings.TrimPrefix(server.URL, "http://")
}

// socksTunnel is a SOCKS 5 proxy that requires ada's password and connects every
// name to one address.
func socksTunnel(t *testing.T, to string) string {
	t.Helper()
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				_ = serveSocks(conn, to)
			}()
		}
	}()
	return l.Addr().String()
}

func serveSocks(conn net.Conn, to string) error {
	greeting := make([]byte, 4)
	if _, err := io.ReadFull(conn, greeting[:3]); err != nil || greeting[1] != 2 {
		_, _ = conn.Write([]byte{5, 0xff})
		return err
	}
	if _, err := io.ReadFull(conn, greeting[3:]); err != nil {
		return err
	}
	_, _ = conn.Write([]byte{5, 2})
	login := make([]byte, 2+3+1+4)
	if _, err := io.ReadFull(conn, login); err != nil {
		return err
	}
	if string(login[2:5])+":"+string(login[6:]) != "ada:pass" {
		_, err := conn.Write([]byte{1, 1})
		return err
	}
	_, _ = conn.Write([]byte{1, 0})
	head := make([]byte, 5)
	if _, err := io.ReadFull(conn, head); err != nil {
		return err
	}
	if head[3] != 3 {
		_, err := conn.Write([]byte{5, 8, 0, 1, 0, 0, 0, 0, 0, 0})
		return err
	}
	target := make([]byte, int(head[4])+2)
	if _, err := io.ReadFull(conn, target); err != nil {
		return err
	}
	if string(target[:len(target)-2]) != "app.test" || binary.BigEndian.Uint16(target[len(target)-2:]) == 0 {
		_, err := conn.Write([]byte{5, 4, 0, 1, 0, 0, 0, 0, 0, 0})
		return err
	}
	server, err := net.Dial("tcp", to)
	if err != nil {
		return err
	}
	defer server.Close()
	_, _ = conn.Write([]byte{5, 0, 0, 3, 2, 'o', 'k', 0, 80})
	go func() { _, _ = io.Copy(server, conn) }()
	_, err = io.Copy(conn, server)
	return err
}

func TestTunnels(t *testing.T) {
	t.Parallel()
	plain := httptest.NewServer(http.HandlerFunc(origin))
	secure := httptest.NewTLSServer(http.HandlerFunc(origin))
	t.Cleanup(plain.Close)
	t.Cleanup(secure.Close)
	port := func(s *httptest.Server) string { return strconv.Itoa(s.Listener.Addr().(*net.TCPAddr).Port) }
	viaHTTP := httpTunnel(t)
	for _, c := range []struct{ name, upstream, address string }{
		{"http", "http://ada:pass@" + viaHTTP, plain.URL},
		{"http, https page", "http://ada:pass@" + viaHTTP, secure.URL},
		{"socks", "socks5://ada:pass@" + socksTunnel(t, plain.Listener.Addr().String()), "http://app.test:" + port(plain)},
		{"socks, https page", "socks5://ada:pass@" + socksTunnel(t, secure.Listener.Addr().String()), "https://app.test:" + port(secure)},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p, err := StartUpstream(c.upstream, newGuard(t, true), nil)
			require.NoError(t, err)
			t.Cleanup(p.Close)
			status, body, _ := get(t, clientOf(t, p), c.address+"/x")
			require.Equal(t, http.StatusOK, status)
			require.Contains(t, body, "GET")

			// The guard checks the tunnel itself.
			refused, err := StartUpstream(c.upstream, newGuard(t, false), nil)
			require.NoError(t, err)
			t.Cleanup(refused.Close)
			response, err := clientOf(t, refused).Get(c.address)
			if err == nil {
				require.Equal(t, http.StatusForbidden, response.StatusCode)
				response.Body.Close()
			} else {
				require.ErrorContains(t, err, "Forbidden")
			}

			// A wrong password shows nowhere.
			wrong, err := StartUpstream(strings.Replace(c.upstream, "pass", "fail", 1), newGuard(t, true), nil)
			require.NoError(t, err)
			t.Cleanup(wrong.Close)
			response, err = clientOf(t, wrong).Get(c.address)
			if err == nil {
				require.Equal(t, http.StatusProxyAuthRequired, response.StatusCode)
				response.Body.Close()
			} else {
				require.NotContains(t, err.Error(), "fail@")
			}
		})
	}
	for _, bad := range []string{"", "ftp://x", "http://", "::", "socks4://x:1", "http://a b"} {
		_, err := StartUpstream(bad, newGuard(t, true), nil)
		require.ErrorContains(t, err, "egress: the proxy", bad)
	}
}

// A tunnel that sends nonsense or without end is an error.
func FuzzTunnelReplies(f *testing.F) {
	f.Add([]byte("HTTP/1.1 200 OK\r\n\r\n"), true)
	f.Add([]byte("HTTP/1.1 407 No\r\nContent-Length: 5\r\n\r\nhello"), true)
	f.Add([]byte{5, 2, 1, 0, 5, 0, 0, 1, 1, 2, 3, 4, 0, 80}, false)
	f.Add([]byte{5, 0, 5, 0, 0, 3, 255}, false)
	f.Fuzz(func(t *testing.T, answer []byte, http bool) {
		via := tunnel{url: &url.URL{Scheme: "http", Host: "h:1", User: url.UserPassword("u", "p")},
			dial: func(context.Context, string, string) (net.Conn, error) {
				return &scripted{reply: strings.NewReader(string(answer))}, nil
			}}
		dial := via.socks
		if http {
			dial = via.connect
		}
		conn, err := dial(t.Context(), "tcp", "app.test:80")
		if err == nil {
			conn.Close()
		} else if !strings.HasPrefix(err.Error(), "the tunnel: ") {
			t.Fatal(err)
		}
	})
}

// scripted is a connection that sends a reply, whatever it receives.
type scripted struct {
	net.TCPConn
	reply io.Reader
}

func (s *scripted) Read(p []byte) (int, error)  { return s.reply.Read(p) }
func (s *scripted) Write(p []byte) (int, error) { return len(p), nil }
func (s *scripted) Close() error                { return nil }
