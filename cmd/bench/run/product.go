package run

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/slipway-qa/slipway/cmd/bench/measure"
	"github.com/slipway-qa/slipway/cmd/bench/process"
	"github.com/slipway-qa/slipway/cmd/bench/progress"
	"github.com/slipway-qa/slipway/cmd/bench/regression"
)

// caseRounds are the rounds of measureCases, of which the first warms both.
const caseRounds = 4

// measureCases runs a suite, and as many flows with Playwright.
func (b *bench) measureCases(ctx context.Context) error {
	product, err := process.Start(ctx, b.Binary, "--no-run-screenshots")
	if err != nil {
		return err
	}
	defer product.Stop()
	var ids []string
	for n := range b.Batch {
		id, err := product.ImportCase(ctx, fmt.Sprintf("Buy product, %d", n+1), b.site.steps())
		if err != nil {
			return err
		}
		ids = append(ids, id)
	}
	var suite struct{ ID string }
	if err := product.Call(ctx, http.MethodPost, "/testsuites", map[string]any{"name": "Shop", "testCases": ids}, &suite); err != nil {
		return err
	}
	var baseline, ours []float64
	for n := range caseRounds {
		stop := progress.Waits(ctx, fmt.Sprintf("Playwright with %d cases in round %d of %d", b.Batch, n+1, caseRounds))
		theirs, err := b.baseline.Request(ctx, fmt.Sprintf("cases %d %d", b.Workers, b.Batch))
		stop()
		if err != nil {
			return err
		}
		start := time.Now()
		if _, err := product.RunAndWait(ctx, "/testsuites/"+suite.ID); err != nil {
			return err
		}
		if n > 0 {
			baseline, ours = append(baseline, theirs.Seconds()), append(ours, time.Since(start).Seconds())
		}
	}
	f, o := float64(b.Batch)/measure.Median(baseline), float64(b.Batch)/measure.Median(ours)
	measure.Row(fmt.Sprintf("baseline: %d cases with Playwright, %d workers with a browser each", b.Batch, b.Workers),
		fmt.Sprintf("%.2f cases/s", f), "", true)
	regression.Measured(ctx, "cases", o/f)
	measure.Row(fmt.Sprintf("suite run of %d cases, from the request to the answer that it has ended", b.Batch),
		fmt.Sprintf("%.2f cases/s, %.2f of the baseline", o, o/f), "above 1.5 of the baseline", o/f > 1.5)
	return nil
}

// measureOverhead compares complete runs of a case with the flow alone.
func (b *bench) measureOverhead(ctx context.Context) error {
	for _, kind := range []struct {
		name, flag string
		most       float64
	}{{"a run, from the request to its end", "--no-run-screenshots", 0.15}, {"a run with a screenshot per step", "--run-screenshots", 0.45}} {
		flow, run, err := b.timeRuns(ctx, kind.flag)
		if err != nil {
			return err
		}
		over := run.Seconds()/flow.Seconds() - 1
		measure.Row(kind.name, fmt.Sprintf("%s, %.0f %% over the flow of %s", measure.Round(run), 100*over, measure.Round(flow)),
			fmt.Sprintf("%.0f %%", 100*kind.most), over <= kind.most)
	}
	return nil
}

// quietTime is the pause before each flow and each run. Browsers prepare for the
// next test meanwhile, so that neither pays for the other's preparation.
const quietTime = 500 * time.Millisecond

// timeRuns returns the medians of the flow and of the time from a request to the
// end of its run. One runs at a time, so that none waits for a worker.
func (b *bench) timeRuns(ctx context.Context, flag string) (flow, run time.Duration, err error) {
	e, err := StartEngine(ctx, b.site.steps())
	if err != nil {
		return 0, 0, err
	}
	defer e.Close()
	r, err := b.startRuns(ctx, flag)
	if err != nil {
		return 0, 0, err
	}
	defer r.Stop()
	flows := timed{name: "flow", once: func(ctx context.Context) (time.Duration, error) { return e.play(ctx, false) }}
	runs := timed{name: "run", once: r.once}
	if err := inTurn(ctx, b.Rounds, &flows, &runs); err != nil {
		return 0, 0, err
	}
	return seconds(flows.median()), seconds(runs.median()), nil
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }
