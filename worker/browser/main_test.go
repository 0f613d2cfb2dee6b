package browser

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/slipway-qa/slipway/cmd/localservice"
	"github.com/slipway-qa/slipway/storage/step/capability"
	"github.com/slipway-qa/slipway/tasks/outbound"
	"github.com/slipway-qa/slipway/worker/browser/egress"
)

func TestMain(m *testing.M) {
	code := m.Run()
	if stop := stopDriver; stop != nil {
		if err := stop(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	if err := goleak.Find(); code == 0 && err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

var stopDriver func() error

// startDriver starts the chromedriver of all tests and returns its address.
var startDriver = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "browser-")
	if err != nil {
		return "", err
	}
	folder, err := localservice.Open(dir)
	if err != nil {
		return "", err
	}
	stopDriver = func() error {
		defer os.RemoveAll(dir)
		return folder.Close(context.Background())
	}
	server, err := folder.Chromedriver(context.Background(), localservice.ChromedriverConfig{})
	if err != nil {
		return "", err
	}
	return server.URL(), nil
})

// localConfig returns that of a pool with an egress proxy that allows private
// addresses or not.
func localConfig(t testing.TB, allowPrivate bool) Config {
	t.Helper()
	driver, err := startDriver()
	require.NoError(t, err)
	guard, err := outbound.New(outbound.Config{AllowPrivate: allowPrivate})
	require.NoError(t, err)
	proxy, err := egress.Start(guard, nil)
	require.NoError(t, err)
	t.Cleanup(proxy.Close)
	return Config{Local: driver, Proxy: proxy.Addr().String(), Guard: guard, Warm: 1,
		Arguments: localservice.BrowserArguments()}
}

func newPool(t testing.TB, cfg Config) *Pool {
	t.Helper()
	p, err := New(cfg)
	require.NoError(t, err)
	t.Cleanup(p.Close)
	return p
}

func acquire(t testing.TB, p *Pool, c capability.Capabilities) *Lease {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 8*time.Minute)
	defer cancel()
	l, err := p.Acquire(ctx, Request{Target: capability.Target{Capabilities: c}})
	require.NoError(t, err)
	return l
}

// settled waits until the pool has a number of browsers that are ready and none
// pending.
func settled(t testing.TB, p *Pool, ready int) {
	t.Helper()
	require.Eventually(t, func() bool {
		p.mu.Lock()
		defer p.mu.Unlock()
		have, pending := 0, 0
		for _, g := range p.groups {
			have += len(g.ready)
			pending += g.pending
		}
		return have == ready && pending == 0
	}, time.Minute, 5*time.Millisecond)
}

// site serves pages that keep what they can of their visitor.
func site(t testing.TB) *httptest.Server {
	t.Helper()
	mux := http.NewServeMux()
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, `<!doctype html><title>Page</title><input><button onclick="document.title+='!'">Go</button>`)
	})
	mux.HandleFunc("/worker.js", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/javascript")
		fmt.Fprint(w, `self.addEventListener("fetch", () => {})`)
	})
	mux.HandleFunc("/locked", func(w http.ResponseWriter, r *http.Request) {
		if user, password, ok := r.BasicAuth(); !ok || user != "ada" || password != "pass" {
			w.Header().Set("WWW-Authenticate", `Basic realm="site"`)
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, "<title>Inside</title>")
	})
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return server
}
