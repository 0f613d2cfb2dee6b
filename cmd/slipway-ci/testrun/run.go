package testrun

import (
	"context"
	"errors"
	"time"

	"github.com/slipway-qa/slipway/cmd/slipway-ci/client"
	"github.com/slipway-qa/slipway/cmd/slipway-ci/report"
)

// Run runs what a plan has and reports it. The error is that of the context, or of the
// server; the report has then what is known, nil when nothing was started.
func (c *Config) Run(ctx context.Context, p *Plan) (*report.Report, error) {
	since := time.Now()
	w := c.watch(p)
	defer w.end()
	err := c.run(ctx, w, since)
	if err == nil {
		r := c.report(ctx, p, w, since)
		if r.Count(report.Passed, report.Flaky, report.Quarantined) == 0 {
			r.Elsewhere, err = c.elsewhere(ctx, p)
		}
		return r, err
	}
	if len(w.units) == 0 {
		return nil, err
	}
	c.giveUp(ctx, w)
	last, cancel := c.Last(ctx, cancelling)
	defer cancel()
	return c.report(last, p, w, since), err
}

// run starts the runs of a plan and waits for them.
func (c *Config) run(ctx context.Context, w *watch, since time.Time) error {
	if err := c.startAll(ctx, w, since); err != nil {
		return err
	}
	return w.wait(ctx)
}

// startAll starts the runs of a plan, one after the other.
func (c *Config) startAll(ctx context.Context, w *watch, since time.Time) error {
	plan := w.plan
	for i := range plan.Suites {
		u := &unit{suite: plan.Suites[i]}
		err := c.start(ctx, u, since, "suite", u.suite.ID)
		var refused *client.Error
		switch {
		case err == nil:
			w.add(u)
		case errors.As(err, &refused) && refused.Code == "TEST_SUITE_NO_RUN_JOBS" && c.Start.Shard != nil:
			c.Out.Line("%s: no test of it is in this shard", u.name())
		default:
			w.addCutOff(ctx, u, err)
			return err
		}
	}
	for i := range plan.Tests {
		u := &unit{of: &plan.Tests[i]}
		err := c.start(ctx, u, since, "case", u.of.ID)
		var refused *client.Error
		switch {
		case err == nil:
		case errors.As(err, &refused) && nothingToRun(refused.Code) && !u.of.named:
			u.skipped = refused.Text // as in a run of its suite
		default:
			w.addCutOff(ctx, u, err)
			return err
		}
		w.add(u)
	}
	return nil
}

// nothingToRun are the refusals of a case that a run of its suite leaves out.
func nothingToRun(code string) bool { return code == "TEST_CASE_EMPTY" || code == "NO_RUN_TARGETS" }
