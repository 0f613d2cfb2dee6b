package egress

import (
	"bufio"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/slipway-qa/slipway/tasks/outbound"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func newGuard(t testing.TB, private bool) *outbound.Guard {
	t.Helper()
	guard, err := outbound.New(outbound.Config{AllowPrivate: private})
	require.NoError(t, err)
	return guard
}

// begin starts a proxy and returns a client that uses it.
func begin(t testing.TB, private bool) (*Proxy, *http.Client) {
	t.Helper()
	p, err := Start(newGuard(t, private), nil)
	require.NoError(t, err)
	t.Cleanup(p.Close)
	return p, clientOf(t, p)
}

func clientOf(t testing.TB, p *Proxy) *http.Client {
	t.Helper()
	transport := &http.Transport{
		Proxy:           http.ProxyURL(&url.URL{Scheme: "http", Host: p.Addr().String()}),
		TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, // of httptest
	}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport, Timeout: time.Minute}
}

func get(t *testing.T, client *http.Client, address string) (int, string, http.Header) {
	t.Helper()
	response, err := client.Get(address)
	require.NoError(t, err)
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	return response.StatusCode, string(body), response.Header
}

// origin responds with what it received.
func origin(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/ws" {
		conn, err := websocket.Accept(w, r, nil)
		if err != nil {
			return
		}
		defer conn.CloseNow()
		kind, text, err := conn.Read(r.Context())
		if err == nil {
			_ = conn.Write(r.Context(), kind, text)
		}
		return
	}
	w.Header().Set("Connection", "X-Hop")
	w.Header().Set("X-Hop", "1")
	w.Header().Set("X-End", "1")
	var names []string
	for _, name := range []string{"Proxy-Connection", "Proxy-Authorization", "X-Forwarded-For", "X-Named"} {
		if r.Header.Get(name) != "" {
			names = append(names, name)
		}
	}
	n, _ := io.Copy(io.Discard, r.Body)
	fmt.Fprintf(w, "%s %s %s %v %d", r.Method, r.Host, r.RequestURI, names, n)
}

func TestPagesGoThrough(t *testing.T) {
	t.Parallel()
	plain := httptest.NewServer(http.HandlerFunc(origin))
	secure := httptest.NewTLSServer(http.HandlerFunc(origin))
	t.Cleanup(plain.Close)
	t.Cleanup(secure.Close)
	_, client := begin(t, true)
	for _, server := range []*httptest.Server{plain, secure} {
		host := strings.TrimPrefix(strings.TrimPrefix(server.URL, "http://"), "https://")
		status, body, header := get(t, client, server.URL+"/a%2Fb?x=1;y=%zz")
		require.Equal(t, http.StatusOK, status)
		require.Equal(t, "GET "+host+" /a%2Fb?x=1;y=%zz [] 0", body)
		require.Equal(t, "1", header.Get("X-End"))

		request, err := http.NewRequest(http.MethodPost, server.URL+"/up", io.LimitReader(zeros{}, 1<<20))
		require.NoError(t, err)
		response, err := client.Do(request)
		require.NoError(t, err)
		answer, err := io.ReadAll(response.Body)
		require.NoError(t, err)
		response.Body.Close()
		require.Equal(t, "POST "+host+" /up [] 1048576", string(answer))

		conn, _, err := websocket.Dial(t.Context(), server.URL+"/ws", &websocket.DialOptions{HTTPClient: client})
		require.NoError(t, err)
		require.NoError(t, conn.Write(t.Context(), websocket.MessageText, []byte("there and back")))
		_, text, err := conn.Read(t.Context())
		require.NoError(t, err)
		require.Equal(t, "there and back", string(text))
		conn.CloseNow()
	}

	// Headers that are for the proxy end there, in both directions.
	request, err := http.NewRequest(http.MethodGet, plain.URL+"/", nil)
	require.NoError(t, err)
	request.Header = http.Header{"Proxy-Connection": {"keep-alive"}, "Proxy-Authorization": {"Basic x"},
		"Connection": {"X-Named"}, "X-Named": {"1"}}
	response, err := client.Do(request)
	require.NoError(t, err)
	answer, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	response.Body.Close()
	require.Contains(t, string(answer), " / [] 0")
	require.Empty(t, response.Header.Get("X-Hop"))
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

func TestRefusedAddresses(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(origin))
	t.Cleanup(server.Close)
	began := time.Now()
	strict, client := begin(t, false)
	status, body, header := get(t, client, server.URL)
	require.Equal(t, http.StatusForbidden, status)
	require.Equal(t, "address refused: loopback address\n", body)
	require.Equal(t, "loopback address", header.Get(RefusedHeader))
	text, ok := strict.Trouble("127.0.0.1", began)
	require.True(t, ok)
	require.Equal(t, "address refused: loopback address", text)
	_, ok = strict.Trouble("127.0.0.1", time.Now())
	require.False(t, ok)
	_, ok = strict.Trouble("", began)
	require.False(t, ok)

	for _, address := range []string{"https://127.0.0.1:8443/", "https://169.254.169.254/", "https://localhost/"} {
		_, err := client.Get(address)
		require.ErrorContains(t, err, "Forbidden", address)
	}
	lenient, friendly := begin(t, true)
	status, _, header = get(t, friendly, "http://169.254.169.254/latest/meta-data")
	require.Equal(t, http.StatusForbidden, status)
	require.Equal(t, string(outbound.RuleMetadata), header.Get(RefusedHeader))

	// The proxy's own port is refused.
	status, _, _ = get(t, friendly, "http://"+lenient.Addr().String()+"/")
	require.Equal(t, http.StatusForbidden, status)
	status, _, _ = get(t, http.DefaultClient, "http://"+lenient.Addr().String()+"/")
	require.Equal(t, http.StatusBadRequest, status)
	http.DefaultClient.CloseIdleConnections()
}

func TestServersThatAreAway(t *testing.T) {
	t.Parallel()
	away, err := net.Listen("tcp4", "127.0.0.1:0")
	require.NoError(t, err)
	require.NoError(t, away.Close())
	began := time.Now()
	p, client := begin(t, true)
	_, err = client.Get("http://" + away.Addr().String() + "/")
	require.ErrorIs(t, err, io.EOF)
	_, err = client.Get("https://" + away.Addr().String() + "/")
	require.ErrorContains(t, err, "Bad Gateway")
	text, ok := p.Trouble("127.0.0.1", began)
	require.True(t, ok)
	require.Equal(t, "the server cannot be reached: connection refused", text)
}

func TestCloseEndsEverything(t *testing.T) {
	t.Parallel()
	blocked := make(chan struct{})
	reached := make(chan struct{}, 2)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		reached <- struct{}{}
		select {
		case <-blocked:
		case <-r.Context().Done():
		}
	}))
	t.Cleanup(func() { close(blocked); server.Close() })
	p, client := begin(t, true)
	failed := make(chan error, 1)
	go func() {
		_, err := client.Get(server.URL)
		failed <- err
	}()
	<-reached
	raw, err := net.Dial("tcp", p.Addr().String())
	require.NoError(t, err)
	defer raw.Close()
	host := strings.TrimPrefix(server.URL, "http://")
	fmt.Fprintf(raw, "CONNECT %s HTTP/1.1\r\nHost: %s\r\n\r\nGET / HTTP/1.1\r\nHost: x\r\n\r\n", host, host)
	answer, err := http.ReadResponse(bufio.NewReader(raw), &http.Request{Method: http.MethodConnect})
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, answer.StatusCode)
	<-reached
	p.Close()
	require.Error(t, <-failed)
	require.NoError(t, raw.SetReadDeadline(time.Now().Add(time.Minute)))
	_, err = raw.Read(make([]byte, 1))
	require.Error(t, err)
	require.NotErrorIs(t, err, os.ErrDeadlineExceeded)
	p.Close() // a second time
}

// BenchmarkGet compares a small page with and without the proxy.
func BenchmarkGet(b *testing.B) {
	server := httptest.NewServer(http.HandlerFunc(origin))
	defer server.Close()
	p, client := begin(b, true)
	defer p.Close()
	direct := &http.Client{Transport: &http.Transport{}}
	defer direct.CloseIdleConnections()
	for name, c := range map[string]*http.Client{"direct": direct, "proxy": client} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				response, err := c.Get(server.URL)
				if err != nil {
					b.Fatal(err)
				}
				_, _ = io.Copy(io.Discard, response.Body)
				response.Body.Close()
			}
		})
	}
}
