package connection

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

const waitFor = time.Minute

// serve serves a handler on a listener with bounds.
func serve(t *testing.T, cfg Config, handler http.HandlerFunc) (*Listener, string) {
	t.Helper()
	inner, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	l := Listen(inner, cfg)
	server := &http.Server{Handler: handler, ConnState: l.State, ConnContext: l.Context, ReadHeaderTimeout: time.Minute}
	done := make(chan struct{})
	go func() { defer close(done); _ = server.Serve(l) }()
	t.Cleanup(func() {
		_ = server.Close()
		<-done
		l.Stop()
		require.Zero(t, l.Stats().Open)
	})
	return l, inner.Addr().String()
}

func ok(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "ok") }

func dial(t *testing.T, address string) net.Conn {
	t.Helper()
	c, err := net.Dial("tcp", address)
	require.NoError(t, err)
	t.Cleanup(func() { _ = c.Close() })
	require.NoError(t, c.SetDeadline(time.Now().Add(waitFor)))
	return c
}

// get sends a request over an open connection; its body is what was answered.
func get(c net.Conn) (string, error) {
	if _, err := io.WriteString(c, "GET / HTTP/1.1\r\nHost: x\r\n\r\n"); err != nil {
		return "", err
	}
	res, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		return "", err
	}
	body, err := io.ReadAll(res.Body)
	return string(body), err
}

func TestOneAddressIsBounded(t *testing.T) {
	t.Parallel()
	entered, release := make(chan struct{}, 10), make(chan struct{})
	l, address := serve(t, Config{PerAddress: 2}, func(w http.ResponseWriter, r *http.Request) {
		entered <- struct{}{}
		<-release
		ok(w, r)
	})
	results := make(chan error, 3)
	call := func() {
		c := dial(t, address)
		go func() { _, err := get(c); results <- err }()
	}
	silent := dial(t, address)
	call()
	<-entered
	call() // in the place of the silent one
	<-entered
	_, err := silent.Read(make([]byte, 1))
	require.Error(t, err)
	_, err = get(dial(t, address))
	require.Error(t, err, "both have a request")
	close(release)
	for range 2 {
		require.NoError(t, <-results)
	}
	require.Equal(t, Stats{Open: 2, Refused: 1, Displaced: 1}, l.Stats())
}

// A request whose body does not come makes room as well.
func TestStarvingRequestsAreDisplaced(t *testing.T) {
	t.Parallel()
	entered := make(chan struct{}, 10)
	l, address := serve(t, Config{Most: 2}, func(w http.ResponseWriter, r *http.Request) {
		Starving(r.Context(), true)
		entered <- struct{}{}
		_, err := io.ReadAll(r.Body)
		if Starving(r.Context(), false); err == nil {
			ok(w, r)
		}
	})
	var stalled []net.Conn
	for range 2 {
		c := dial(t, address)
		_, err := io.WriteString(c, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nx")
		require.NoError(t, err)
		<-entered
		stalled = append(stalled, c)
	}
	got, err := get(dial(t, address))
	require.NoError(t, err)
	require.Equal(t, "ok", got)
	_, err = stalled[0].Read(make([]byte, 1))
	require.Error(t, err, "the oldest")
	require.EqualValues(t, 1, l.Stats().Displaced)
}

func TestSharedAddresses(t *testing.T) {
	t.Parallel()
	_, address := serve(t, Config{PerAddress: 1, Shared: netip.Addr.IsLoopback}, ok)
	for range 3 {
		_, err := get(dial(t, address))
		require.NoError(t, err)
	}
}

// Connections without a request make room for a newcomer, those with one do not.
func TestSilentConnectionsAreDisplaced(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	entered := make(chan struct{}, 10)
	l, address := serve(t, Config{Most: 3}, func(w http.ResponseWriter, r *http.Request) {
		entered <- struct{}{}
		<-release
		ok(w, r)
	})
	results := make(chan error, 4)
	busy := func() {
		c := dial(t, address)
		go func() { _, err := get(c); results <- err }()
		<-entered
	}
	busy()
	silent := []net.Conn{dial(t, address), dial(t, address)}
	_, err := io.WriteString(silent[0], "GET / HTTP/1.1\r\nHo")
	require.NoError(t, err)
	require.Eventually(t, func() bool { return l.Stats().Open == 3 }, waitFor, time.Millisecond)
	busy()
	busy()
	for _, c := range silent {
		_, err := c.Read(make([]byte, 1))
		require.Error(t, err)
	}
	require.EqualValues(t, 2, l.Stats().Displaced)
	waits := dial(t, address)
	go func() { _, err := get(waits); results <- err }()
	l.mu.Lock()
	require.Equal(t, 3, l.open)
	l.mu.Unlock()
	close(release) // what waited has a place then
	for range 4 {
		require.NoError(t, <-results)
	}
}

// A client that looks for the answer only after it has sent everything finds it, although
// the server did not read the body.
func TestAnswerIsReadAfterTheBody(t *testing.T) {
	t.Parallel()
	const length = 20 << 20
	l, address := serve(t, Config{}, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Connection", "close")
		w.WriteHeader(http.StatusUnauthorized)
		_, _ = io.WriteString(w, "no key")
	})
	for name, head := range map[string]string{"length": fmt.Sprintf("Content-Length: %d", length), "chunked": "Transfer-Encoding: chunked"} {
		c := dial(t, address)
		_, err := io.WriteString(c, "POST / HTTP/1.1\r\nHost: x\r\n"+head+"\r\n\r\n")
		require.NoError(t, err)
		if name == "chunked" {
			_, err = fmt.Fprintf(c, "%x\r\n", length)
			require.NoError(t, err)
		}
		_, err = io.Copy(c, io.LimitReader(endless{}, length))
		require.NoError(t, err, name)
		res, err := http.ReadResponse(bufio.NewReader(c), nil)
		require.NoError(t, err, name)
		require.Equal(t, 401, res.StatusCode)
		body, err := io.ReadAll(res.Body)
		require.NoError(t, err, name)
		require.Equal(t, "no key", string(body))
		require.NoError(t, c.Close())
	}
	require.Eventually(t, func() bool { return l.Stats().Open == 0 }, waitFor, time.Millisecond)
}

type endless struct{}

func (endless) Read(p []byte) (int, error) { return len(p), nil }

// A server that ends does not wait for those who still send.
func TestStopEndsDiscarding(t *testing.T) {
	t.Parallel()
	inner, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	l := Listen(inner, Config{})
	server := &http.Server{ConnState: l.State, ConnContext: l.Context, ReadHeaderTimeout: time.Minute,
		Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Connection", "close")
		})}
	go func() { _ = server.Serve(l) }()
	c := dial(t, inner.Addr().String())
	_, err = io.WriteString(c, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\n"+strings.Repeat("x", 1000))
	require.NoError(t, err)
	_, err = http.ReadResponse(bufio.NewReader(c), nil)
	require.NoError(t, err)
	// It sends on, so that it is never silent: only the end of the listener ends it.
	stop := make(chan struct{})
	t.Cleanup(func() { close(stop) })
	go func() {
		for {
			select {
			case <-stop:
				return
			case <-time.After(lingerSilence / 50):
				_, _ = io.WriteString(c, "x")
			}
		}
	}()
	start := time.Now()
	require.NoError(t, server.Close())
	l.Stop()
	require.Less(t, time.Since(start), lingerTime)
	require.Zero(t, l.Stats().Open)
}

// A flood of connections that send nothing: a client of another address connects at once,
// one of the same address soon, and the flood is served some at a time.
func TestFlood(t *testing.T) {
	t.Parallel()
	l, address := serve(t, Config{Most: 50}, ok)
	for range 120 {
		dial(t, address)
	}
	require.Eventually(t, func() bool {
		l.mu.Lock()
		defer l.mu.Unlock()
		return l.open == 50 && len(l.queue) > 0
	}, waitFor, time.Millisecond)
	elsewhere := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 9)}}
	c, err := elsewhere.DialContext(t.Context(), "tcp", address)
	require.NoError(t, err)
	defer c.Close()
	got, err := get(c)
	require.NoError(t, err)
	require.Equal(t, "ok", got)
	got, err = get(dial(t, address))
	require.NoError(t, err)
	require.Equal(t, "ok", got)
	// Who waits long is closed.
	l.mu.Lock()
	for _, c := range l.queue {
		c.since = c.since.Add(-queueTime)
	}
	l.mu.Unlock()
	require.Eventually(t, func() bool {
		l.mu.Lock()
		defer l.mu.Unlock()
		return len(l.queue) == 0
	}, waitFor, time.Millisecond)
}
