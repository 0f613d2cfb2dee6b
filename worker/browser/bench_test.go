package browser

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/worker/browser/webdriver"
)

// BenchmarkLease times the parts of a lease.
func BenchmarkLease(b *testing.B) {
	p := newPool(b, localConfig(b, true))
	began := time.Now()
	l := acquire(b, p, nil)
	b.ReportMetric(float64(time.Since(began).Milliseconds()), "cold-ms")
	l.Release(b.Context(), false)
	settled(b, p, 1)
	var acquired, released, reset time.Duration
	leases := 0
	for b.Loop() {
		began := time.Now()
		l := acquire(b, p, nil)
		acquired += time.Since(began)
		began = time.Now()
		l.Release(b.Context(), false)
		released += time.Since(began)
		settled(b, p, 1)
		reset += time.Since(began)
		leases++
	}
	for name, took := range map[string]time.Duration{"acquire": acquired, "release": released, "reset": reset} {
		b.ReportMetric(float64(took.Microseconds())/1000/float64(leases), name+"-ms")
	}
}

// BenchmarkFlows times 20 short flows with as many workers as are given.
func BenchmarkFlows(b *testing.B) {
	pages := site(b)
	for _, c := range []struct{ workers, warm int }{{1, 1}, {1, 2}, {2, 2}, {2, 3}, {2, 4}, {3, 3}, {4, 4}} {
		b.Run(fmt.Sprintf("workers=%d/warm=%d", c.workers, c.warm), func(b *testing.B) {
			cfg := localConfig(b, true)
			cfg.Warm = c.warm
			p := newPool(b, cfg)
			p.maintain()
			settled(b, p, c.warm)
			for b.Loop() {
				jobs := make(chan struct{}, 20)
				for range cap(jobs) {
					jobs <- struct{}{}
				}
				close(jobs)
				var all sync.WaitGroup
				for range c.workers {
					all.Go(func() {
						for range jobs {
							l := acquire(b, p, nil)
							flow(b, l.Session, pages.URL)
							l.Release(b.Context(), false)
						}
					})
				}
				all.Wait()
			}
		})
	}
}

// flow opens a page, types and clicks four times.
func flow(t testing.TB, s *webdriver.Session, address string) {
	ctx := context.Background()
	require.NoError(t, s.Navigate(ctx, address))
	for range 4 {
		fields, err := s.FindAll(ctx, webdriver.ByCSS, "input")
		require.NoError(t, err)
		require.NoError(t, s.SendKeys(ctx, fields[0], "hello"))
		buttons, err := s.FindAll(ctx, webdriver.ByCSS, "button")
		require.NoError(t, err)
		require.NoError(t, s.Click(ctx, buttons[0]))
		_, err = s.Title(ctx)
		require.NoError(t, err)
	}
}
