package browser

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage/step/capability"
	"github.com/slipway-qa/slipway/worker/browser/webdriver"
)

// emptyPool returns a pool without browsers: its fakes start and are reset immediately.
func emptyPool(t *testing.T, warm int) (p *Pool, started *atomic.Int64) {
	t.Helper()
	p = newPool(t, Config{Warm: warm, Local: "http://127.0.0.1:1"})
	started = &atomic.Int64{}
	p.startBrowser = func(k kind) (*local, error) {
		started.Add(1)
		return &local{kind: k, born: time.Now(), bidi: &webdriver.BiDi{}}, nil
	}
	p.resetBrowser = func(context.Context, *local) error { return nil }
	return p, started
}

// sized returns a kind with a custom option.
func sized(width int) kind {
	k := plainKind()
	k.args = []string{fmt.Sprintf("--window-size=%d,900", width)}
	return k
}

func lease(t *testing.T, p *Pool, k kind) *local {
	t.Helper()
	l, _, err := p.checkOut(t.Context(), k)
	require.NoError(t, err)
	return l
}

// kept are the widths of the idle browsers, 0 for a plain one.
func kept(p *Pool) map[int]int {
	p.mu.Lock()
	defer p.mu.Unlock()
	widths := map[int]int{}
	for _, g := range p.groups {
		width := 0
		if g.key != p.plainKey() {
			width, _ = g.kind.size()
		}
		if n := len(g.ready); n > 0 {
			widths[width] += n
		}
	}
	return widths
}

// However many kinds there are, no more browsers are idle than the warm ones and one;
// of those with custom options the one that is idle for longest ends first.
func TestIdleBrowsersAreBounded(t *testing.T) {
	t.Parallel()
	p, started := emptyPool(t, 2)
	for width := range 8 {
		l := lease(t, p, sized(1000+width))
		p.checkIn(l, false)
		settled(t, p, min(width+1, 3))
	}
	require.Equal(t, map[int]int{1005: 1, 1006: 1, 1007: 1}, kept(p))
	require.EqualValues(t, 8, started.Load())

	// Warm browsers come first.
	p.lastUse.Store(time.Now().UnixNano())
	p.maintain()
	settled(t, p, 3)
	require.Equal(t, map[int]int{0: 2, 1007: 1}, kept(p))
	p.checkIn(lease(t, p, sized(2000)), false)
	settled(t, p, 3)
	require.Equal(t, map[int]int{0: 2, 2000: 1}, kept(p))

	// Those that are checked in at the same time, and those that no lease waits for any
	// more, are counted too.
	var all []*local
	for width := range 8 {
		all = append(all, lease(t, p, sized(3000+width)))
	}
	for _, l := range all {
		p.checkIn(l, false)
	}
	require.Eventually(t, func() bool { return idleOf(p) == 3 }, time.Minute, time.Millisecond)
	began, slow := make(chan struct{}, 8), make(chan struct{})
	p.startBrowser = func(k kind) (*local, error) {
		began <- struct{}{}
		<-slow
		return &local{kind: k, born: time.Now(), bidi: &webdriver.BiDi{}}, nil
	}
	for width := range 8 {
		ctx, cancel := context.WithCancel(t.Context())
		failed := make(chan error, 1)
		go func() {
			_, _, err := p.checkOut(ctx, sized(4000+width))
			failed <- err
		}()
		<-began
		cancel()
		require.ErrorIs(t, <-failed, context.Canceled)
	}
	close(slow)
	require.Eventually(t, func() bool {
		p.mu.Lock()
		defer p.mu.Unlock()
		for _, g := range p.groups {
			if g.pending > 0 {
				return false
			}
		}
		return true
	}, time.Minute, time.Millisecond)
	require.LessOrEqual(t, idleOf(p), 3)
	require.Equal(t, 2, kept(p)[0])
}

func idleOf(p *Pool) (n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, g := range p.groups {
		n += g.idle()
	}
	return n
}

// The same with browsers: those that are one too many have ended.
func TestBrowsersOfManyKinds(t *testing.T) {
	p := newPool(t, localConfig(t, true))
	var leases []*Lease
	for width := range 4 {
		l := acquire(t, p, capability.Capabilities{"goog:chromeOptions": map[string]any{
			"args": []any{fmt.Sprintf("--window-size=%d,700", 1000+width)}}})
		leases = append(leases, l)
		l.Release(t.Context(), false)
		settled(t, p, min(width+1, 2))
	}
	require.Eventually(t, func() bool {
		alive := 0
		for _, l := range leases {
			if _, err := l.Session.Windows(t.Context()); err == nil {
				alive++
			}
		}
		return alive == 2
	}, time.Minute, 50*time.Millisecond)
}
