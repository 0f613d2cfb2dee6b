package run

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/slipway-qa/slipway/cmd/localservice"
	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/storage/step/capability"
	"github.com/slipway-qa/slipway/storage/step/playback"
	"github.com/slipway-qa/slipway/tasks/outbound"
	"github.com/slipway-qa/slipway/worker/browser"
	"github.com/slipway-qa/slipway/worker/browser/egress"
	"github.com/slipway-qa/slipway/worker/run/replay"
)

// Engine is the part of a worker that plays tests, without a queue or database.
type Engine struct {
	Pool  *browser.Pool
	steps []step.Step
	Close func()
}

// StartEngine starts one that plays some steps.
func StartEngine(ctx context.Context, steps []step.Step) (*Engine, error) {
	dir, err := os.MkdirTemp("", "slipway-bench-")
	if err != nil {
		return nil, err
	}
	var stops []func()
	stop := func() {
		for _, f := range slices.Backward(stops) {
			f()
		}
	}
	stops = append(stops, func() { _ = os.RemoveAll(dir) })
	folder, err := localservice.Open(filepath.Join(dir, "data"))
	if err != nil {
		stop()
		return nil, err
	}
	stops = append(stops, func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Minute)
		defer cancel()
		_ = folder.Close(ctx)
	})
	driver, err := folder.Chromedriver(ctx, localservice.ChromedriverConfig{})
	if err != nil {
		stop()
		return nil, err
	}
	log := slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
	guard, err := outbound.New(outbound.Config{AllowPrivate: true})
	if err != nil {
		stop()
		return nil, err
	}
	proxy, err := egress.Start(guard, log)
	if err != nil {
		stop()
		return nil, err
	}
	stops = append(stops, proxy.Close)
	pool, err := browser.New(browser.Config{Local: driver.URL(), Arguments: localservice.BrowserArguments(), Warm: 1,
		Proxy: proxy.Addr().String(), Guard: guard, Log: log})
	if err != nil {
		stop()
		return nil, err
	}
	stops = append(stops, pool.Close)
	return &Engine{Pool: pool, steps: steps, Close: stop}, nil
}

// play plays one flow in a new browser context and returns its time, with that of
// its screenshots.
func (e *Engine) play(ctx context.Context, screenshots bool) (time.Duration, error) {
	captured := 0
	capture := func(_ context.Context, a replay.Artifact) string {
		if a.ContentType == "image/jpeg" {
			captured++
		}
		return "1"
	}
	start := time.Now()
	lease, err := e.Pool.Acquire(ctx,
		browser.Request{Target: capability.Target{Capabilities: capability.Capabilities{"browserName": "chrome"}}})
	if err != nil {
		return 0, err
	}
	result := replay.Play(ctx, replay.Config{Lease: lease, Steps: e.steps,
		Screenshots: screenshots, Capture: capture, Log: slog.New(slog.DiscardHandler)})
	lease.Release(ctx, result.Broken)
	if result.Status != playback.Passed {
		return 0, fmt.Errorf("the flow ended as %s: %s", result.Status, result.Message)
	}
	took := time.Since(start)
	if screenshots && captured != len(e.steps) {
		return 0, fmt.Errorf("%d steps have %d screenshots", len(e.steps), captured)
	}
	return took, nil
}
