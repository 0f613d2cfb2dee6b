package run

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/slipway-qa/slipway/cmd/bench/measure"
	"github.com/slipway-qa/slipway/storage/step/capability"
	"github.com/slipway-qa/slipway/storage/step/playback"
	"github.com/slipway-qa/slipway/worker/browser"
	"github.com/slipway-qa/slipway/worker/run/replay"
	"github.com/slipway-qa/slipway/worker/run/trace"
)

// maxTraceBytes is what the trace of a test of eight steps may have.
const maxTraceBytes = 2 << 20

// traced plays one flow with screenshots, as workers do, and returns its time; with a mode,
// its trace is recorded, and written where the mode keeps that of a test that passed. size
// gets the bytes of it.
func (e *Engine) traced(ctx context.Context, mode string, size *int) (time.Duration, error) {
	var recorder *trace.Recorder
	if mode != capability.TraceOff {
		recorder = trace.New(trace.Config{Title: "Shop", Browser: "chrome", Always: mode == capability.TraceOn})
	}
	start := time.Now()
	lease, err := e.Pool.Acquire(ctx,
		browser.Request{Target: capability.Target{Capabilities: capability.Capabilities{"browserName": "chrome"}}})
	if err != nil {
		return 0, err
	}
	result := replay.Play(ctx, replay.Config{Lease: lease, Steps: e.steps, Screenshots: true, Trace: recorder,
		Capture: func(context.Context, replay.Artifact) string { return "1" }, Log: slog.New(slog.DiscardHandler)})
	lease.Release(ctx, result.Broken)
	if result.Status != playback.Passed {
		return 0, fmt.Errorf("the flow ended as %s: %s", result.Status, result.Message)
	}
	if recorder.Keeps(true) {
		data, err := recorder.Zip()
		if err != nil {
			return 0, err
		}
		*size = len(data)
	}
	return time.Since(start), nil
}

// measureTrace compares flows without a trace, with one that is dropped because the test
// passed, and with one that is kept, and Playwright's own of both kinds.
func (b *bench) measureTrace(ctx context.Context) error {
	e, err := StartEngine(ctx, b.site.steps())
	if err != nil {
		return err
	}
	defer e.Close()
	size := 0
	flow := func(mode string) *timed {
		return &timed{name: "flow, trace " + mode, once: func(ctx context.Context) (time.Duration, error) { return e.traced(ctx, mode, &size) }}
	}
	playwright := func(line string) *timed {
		return &timed{name: "Playwright, " + line, once: func(ctx context.Context) (time.Duration,
			error) {
			return b.baseline.Request(ctx, line)
		}}
	}
	off, failure, on := flow(capability.TraceOff), flow(capability.TraceOnFailure), flow(capability.TraceOn)
	shots, theirs := playwright("shots"), playwright("trace")
	if err := inTurn(ctx, b.Rounds, shots, off, failure, theirs, on); err != nil {
		return err
	}
	ratio := func(t, of *timed) float64 { return t.median()/of.median() - 1 }
	measure.Row("baseline: what tracing adds to the flow with screenshots by Playwright", fmt.Sprintf("%.2f of %s",
		ratio(theirs, shots), measure.Round(seconds(shots.median()))), "", true)
	for _, t := range []*timed{failure, on} {
		measure.Row(t.name+": what it adds to the flow with screenshots", fmt.Sprintf("%.2f of %s", ratio(t, off),
			measure.Round(seconds(off.median()))), "below 0.2", ratio(t, off) < 0.2)
	}
	share := on.median() / theirs.median()
	measure.Row("the flow with a trace", fmt.Sprintf("%.2f of Playwright's with one", share), "below 1", share < 1)
	measure.Row("the trace of its eight steps", fmt.Sprintf("%d KB", size/1000), "2 MB", size > 0 && size <= maxTraceBytes)
	return nil
}
