package browser

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage/step/capability"
	"github.com/slipway-qa/slipway/tasks/outbound"
	"github.com/slipway-qa/slipway/worker/browser/egress"
)

// countingObserver counts sessions.
type countingObserver struct {
	mu                 sync.Mutex
	warm, cold, failed int
}

func (h *countingObserver) SessionStarted(_ string, warm bool, _ time.Duration, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case err != nil:
		h.failed++
	case warm:
		h.warm++
	default:
		h.cold++
	}
}

// More leases than warm browsers are served, never two by one browser at once.
func TestMoreLeasesThanBrowsers(t *testing.T) {
	pages := site(t)
	cfg := localConfig(t, true)
	observer := &countingObserver{}
	cfg.Observer = observer
	p := newPool(t, cfg)
	var mu sync.Mutex
	busy := map[string]bool{}
	var all sync.WaitGroup
	for range 2 {
		all.Go(func() {
			for range 3 {
				l, err := p.Acquire(context.Background(), Request{})
				if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				if busy[l.Session.ID] {
					t.Error("two leases have one browser")
				}
				busy[l.Session.ID] = true
				mu.Unlock()
				if err := l.Session.Navigate(context.Background(), pages.URL); err != nil {
					t.Error(err)
				}
				windows, err := l.Session.Windows(context.Background())
				if err != nil || len(windows) != 1 {
					t.Errorf("windows %v, %v", windows, err)
				}
				mu.Lock()
				delete(busy, l.Session.ID)
				mu.Unlock()
				l.Release(context.Background(), false)
			}
		})
	}
	all.Wait()
	settled(t, p, 1)
	observer.mu.Lock()
	warm, cold := observer.warm, observer.cold
	observer.mu.Unlock()
	require.Equal(t, 6, warm+cold)
	require.Positive(t, warm)

	// A caller that stops waiting gets an error, and nothing is lost.
	first := acquire(t, p, nil)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := p.Acquire(ctx, Request{})
	var failed *SessionError
	require.ErrorAs(t, err, &failed)
	require.Equal(t, "nobody waits for the session any more", failed.Text)
	first.Release(t.Context(), false)
	settled(t, p, 1)
}

func TestRunKeepsBrowsersWarm(t *testing.T) {
	cfg := localConfig(t, true)
	p := newPool(t, cfg)
	p.lastUse.Store(time.Now().UnixNano()) // as if one had been asked for
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { p.Run(ctx); close(done) }()
	settled(t, p, 1)
	l := acquire(t, p, nil)
	require.True(t, l.Warm, "the first lease is served by a browser that ran")
	// A page that kills its browser costs that browser alone.
	crash, cancelCrash := context.WithTimeout(t.Context(), time.Second)
	defer cancelCrash()
	_ = l.Session.Navigate(crash, "chrome://inducebrowsercrashforrealz")
	l.Release(t.Context(), true)
	next := acquire(t, p, nil)
	require.NotEqual(t, l.Session.ID, next.Session.ID)

	// A used-up browser is not kept, and another takes its place.
	next.Release(t.Context(), false)
	settled(t, p, 1)
	p.mu.Lock()
	p.group(plainKind()).ready[0].born = time.Now().Add(-2 * maxAge)
	p.mu.Unlock()
	p.maintain()
	settled(t, p, 1)
	young := acquire(t, p, nil)
	require.NotEqual(t, next.Session.ID, young.Session.ID)
	cancel()
	<-done

	// Close ends what is leased.
	p.Close()
	_, err := young.Session.Windows(t.Context())
	require.Error(t, err)
	young.Release(t.Context(), false)
}

// Through a tunnel with a password, which the browser does not see.
func TestTunnelsOfLocalBrowsers(t *testing.T) {
	pages := site(t)
	guard, err := outbound.New(outbound.Config{AllowPrivate: true})
	require.NoError(t, err)
	inner, err := egress.Start(guard, nil)
	require.NoError(t, err)
	t.Cleanup(inner.Close)
	tunnel := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Proxy-Authorization") != "Basic YWRhOnBhc3M=" {
			w.WriteHeader(http.StatusProxyAuthRequired)
			return
		}
		if r.URL.Hostname() == "only.behind.test" {
			fmt.Fprint(w, "<title>Behind</title>")
			return
		}
		inner.ServeHTTP(w, r)
	}))
	t.Cleanup(tunnel.Close)
	p := newPool(t, localConfig(t, true))
	lease := func(address string) (*Lease, error) {
		ctx, cancel := context.WithTimeout(t.Context(), 8*time.Minute)
		defer cancel()
		return p.Acquire(ctx, Request{Proxy: address, Target: capability.Target{}})
	}
	l, err := lease(strings.Replace(tunnel.URL, "://", "://ada:pass@", 1))
	require.NoError(t, err)
	for address, want := range map[string]string{"http://only.behind.test/": "Behind", pages.URL: "Page"} {
		require.NoError(t, l.Session.Navigate(t.Context(), address))
		title, err := l.Session.Title(t.Context())
		require.NoError(t, err)
		require.Equal(t, want, title)
	}
	l.Release(t.Context(), true)
	_, err = lease("ftp://ada:pass@x")
	require.EqualError(t, err, "the address of the tunnel is none of http, https and socks5")
	require.NotContains(t, err.Error(), "pass")
}

// A chromedriver that is away is an error that a later request may not meet.
func TestChromedriverThatIsAway(t *testing.T) {
	t.Parallel()
	p := newPool(t, Config{Local: "http://127.0.0.1:1/x"})
	_, err := p.Acquire(t.Context(), Request{})
	var failed *SessionError
	require.ErrorAs(t, err, &failed)
	require.Equal(t, "the browser of this worker cannot be reached", failed.Text)
	require.True(t, failed.Retry)
	_, err = p.Acquire(t.Context(), Request{Proxy: "http://tunnel"})
	require.ErrorContains(t, err, "no tunnels")
}
