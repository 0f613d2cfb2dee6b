package run

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/slipway-qa/slipway/cmd/bench/measure"
	"github.com/slipway-qa/slipway/cmd/bench/process"
	"github.com/slipway-qa/slipway/cmd/bench/progress"
)

// timed is something that is timed again and again, in turn with others.
type timed struct {
	name string
	once func(context.Context) (time.Duration, error)
	took []float64 // seconds
}

func (t *timed) median() float64 { return measure.Median(t.took) }

// inTurn times all in each round, after rounds that warm browsers and caches, with
// quietTime before each.
func inTurn(ctx context.Context, rounds int, all ...*timed) error {
	const warmUp = 2
	var done atomic.Int64
	defer progress.WaitsFor(ctx, func() string { return fmt.Sprintf("%d of %d rounds", done.Load(), rounds+warmUp) })()
	for n := range rounds + warmUp {
		for _, t := range all {
			if err := process.Sleep(ctx, quietTime); err != nil {
				return err
			}
			took, err := t.once(ctx)
			if err != nil {
				return fmt.Errorf("%s: %w", t.name, err)
			}
			if n >= warmUp {
				t.took = append(t.took, took.Seconds())
			}
		}
		done.Add(1)
	}
	return nil
}

// measureScreenshots compares what a screenshot per step adds to the flow: by
// Playwright's page.screenshot, by the managed browsers, and in complete runs, where
// the screenshots are stored too.
func (b *bench) measureScreenshots(ctx context.Context) error {
	e, err := StartEngine(ctx, b.site.steps())
	if err != nil {
		return err
	}
	defer e.Close()
	plain, err := b.startRuns(ctx, "--no-run-screenshots")
	if err != nil {
		return err
	}
	defer plain.Stop()
	shot, err := b.startRuns(ctx, "--run-screenshots")
	if err != nil {
		return err
	}
	defer shot.Stop()
	playwright := func(line string) func(context.Context) (time.Duration, error) {
		return func(ctx context.Context) (time.Duration, error) { return b.baseline.Request(ctx, line) }
	}
	flow := func(screenshots bool) func(context.Context) (time.Duration, error) {
		return func(ctx context.Context) (time.Duration, error) { return e.play(ctx, screenshots) }
	}
	theirs := [2]*timed{{name: "Playwright", once: playwright("flow")}, {name: "Playwright with screenshots", once: playwright("shots")}}
	flows := [2]*timed{{name: "flow", once: flow(false)}, {name: "flow with screenshots", once: flow(true)}}
	runs := [2]*timed{{name: "run", once: plain.once}, {name: "run with screenshots", once: shot.once}}
	if err := inTurn(ctx, b.Rounds, theirs[0], flows[0], runs[0], theirs[1], flows[1], runs[1]); err != nil {
		return err
	}
	added := func(pair [2]*timed) float64 { return pair[1].median() - pair[0].median() }
	describe := func(pair [2]*timed) string {
		return fmt.Sprintf("%s added to %s", measure.Round(seconds(added(pair))), measure.Round(seconds(pair[0].median())))
	}
	measure.Row("baseline: a screenshot (JPEG) per step of the flow with Playwright", describe(theirs), "", true)
	for _, part := range []struct {
		name string
		pair [2]*timed
	}{{"a screenshot per step of the flow by the managed browsers", flows}, {"a screenshot per step of a run, stored", runs}} {
		ratio := added(part.pair) / added(theirs)
		measure.Row(part.name, fmt.Sprintf("%s, %.2f of what the baseline adds", describe(part.pair), ratio), "1.0 of the baseline", ratio <= 1)
	}
	return nil
}

// runner is a product with the flow as a case.
type runner struct {
	*process.Product
	testCase string
}

func (b *bench) startRuns(ctx context.Context, flags ...string) (*runner, error) {
	p, err := process.Start(ctx, b.Binary, flags...)
	if err != nil {
		return nil, err
	}
	id, err := p.ImportCase(ctx, "Buy a product", b.site.steps())
	if err != nil {
		p.Stop()
		return nil, err
	}
	return &runner{p, id}, nil
}

// once runs the case and returns the time from the creation of the run to its end.
func (r *runner) once(ctx context.Context) (time.Duration, error) {
	run, err := r.RunAndWait(ctx, "/testcases/"+r.testCase)
	if err != nil {
		return 0, err
	}
	if len(run.Jobs) != 1 {
		return 0, fmt.Errorf("the run has %d jobs", len(run.Jobs))
	}
	return run.Jobs[0].EndDate.Sub(run.CreateDate), nil
}
