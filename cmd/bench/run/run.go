// Package run measures runs of tests: a flow next to Playwright, cases a second, what a run
// adds to its flow, screenshots, traces, tables of rows, and lists.
//
// The flow is played on a small shop that the bench serves, in the same browser by both, in
// turn. An engine replays steps without the rest of Slipway; a product runs them as users do.
// A flow that fails ends the command with an error; a missed target is only printed.
package run

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/slipway-qa/slipway/cmd/bench/measure"
	"github.com/slipway-qa/slipway/cmd/bench/playwright"
	"github.com/slipway-qa/slipway/cmd/bench/process"
	"github.com/slipway-qa/slipway/cmd/bench/progress"
	"github.com/slipway-qa/slipway/cmd/bench/regression"
	"github.com/slipway-qa/slipway/storage"
)

// Command measures runs of tests.
type Command struct {
	Rounds  int      `default:"20" help:"Flows of each kind, alternating."`
	Batch   int      `default:"20" help:"Cases of the part that counts cases per second."`
	Workers int      `default:"2" help:"Playwright's workers in that part, a browser each."`
	Cases   int      `default:"100000" help:"Cases of the list."`
	Chrome  string   `default:"/usr/bin/chromium" help:"The browser that Playwright drives; Slipway finds the same one."`
	Only    []string `help:"Parts to measure: flow, screenshots, trace, cases, overhead, list, rows; default: all."`
	Binary  string   `help:"A slipway program to measure; default: build this checkout."`
}

// bench is one run of the command.
type bench struct {
	*Command
	site     *shopSite
	baseline *playwright.Process
}

// Run measures the parts in turn and prints a Markdown table.
func (c *Command) Run(ctx context.Context) error {
	b := &bench{Command: c}
	parts := b.parts()
	err := measure.CheckParts(c.Only, parts)
	if err != nil {
		return err
	}
	if b.site, err = startShop(); err != nil {
		return err
	}
	defer b.site.stop()
	if b.baseline, err = playwright.Start(ctx, b.site.base, c.Chrome); err != nil {
		return err
	}
	defer b.baseline.Stop()
	fmt.Printf("%d rounds; pages from this process\n\n| part | measured | target | |\n|---|---|---|---|\n", c.Rounds)
	return measure.RunParts(ctx, c.Only, parts)
}

// parts are the parts in the order in which they run. A flow takes less than a second on an
// idle machine, and a deadline allows five.
func (b *bench) parts() []measure.Part {
	const once = 5 * time.Second
	flows := func(n int) time.Duration { return 2*time.Minute + time.Duration(n)*once }
	return []measure.Part{
		{Name: "flow", Limit: flows(2 * b.Rounds), Run: b.measureFlow},
		{Name: "screenshots", Limit: flows(6 * b.Rounds), Run: b.measureScreenshots},
		{Name: "trace", Limit: flows(5 * b.Rounds), Run: b.measureTrace},
		{Name: "cases", Limit: flows(2 * caseRounds * b.Batch), Run: b.measureCases},
		{Name: "overhead", Limit: flows(4 * b.Rounds), Run: b.measureOverhead},
		{Name: "list", Limit: 10 * time.Minute, Run: b.measureList},
		{Name: "rows", Limit: 10 * time.Minute, Run: b.measureRows},
	}
}

// measureFlow plays the flow in warm browsers, alternating with Playwright.
func (b *bench) measureFlow(ctx context.Context) error {
	e, err := StartEngine(ctx, b.site.steps())
	if err != nil {
		return err
	}
	defer e.Close()
	var baseline, ours []float64
	var done atomic.Int64
	defer progress.WaitsFor(ctx, func() string { return fmt.Sprintf("%d of %d flows of each kind", done.Load(), b.Rounds+2) })()
	for n := range b.Rounds + 2 {
		theirs, err := b.baseline.Request(ctx, "flow")
		if err != nil {
			return err
		}
		took, err := e.play(ctx, false)
		if err != nil {
			return err
		}
		if n > 1 { // the first rounds warm browsers and caches
			baseline, ours = append(baseline, theirs.Seconds()), append(ours, took.Seconds())
		}
		done.Add(1)
	}
	f, o := measure.Median(baseline), measure.Median(ours)
	measure.Row("baseline: the eight-step flow with Playwright, warm browser, new context", fmt.Sprintf("%.0f ms", 1000*f), "", true)
	regression.Measured(ctx, "flow", o/f)
	measure.Row("the flow by the managed browsers, warm, isolated", fmt.Sprintf("%.0f ms, %.2f of the baseline", 1000*o, o/f),
		"below 0.5 of the baseline", o < 0.5*f)
	return nil
}

// insertCases inserts cases as imports do; a hundred of them have the searched
// word in their name.
const insertCases = `
insert into test_cases (id, organization_id, team_id, name, run_settings, runnable, creator_uuid, modifier_uuid, created_at, updated_at)
select lpad(to_hex(n), 24, '0'), t.organization_id, t.id,
	case when n % ($1 / 100) = 0 then 'Checkout by voucher ' || n else 'Sign in and look at product ' || n end,
	'{"testUrl":"https://shop.example.com","runTargets":[{"capabilities":{"browserName":"chrome"},"isRdc":false}]}', true,
	u.uuid, u.uuid, now() - n * interval '1 second', now()
from (select id, organization_id from teams order by id limit 1) t, (select uuid from users order by id limit 1) u,
	generate_series(1, $1::int) n`

// measureList requests the first page of a search among many cases.
func (b *bench) measureList(ctx context.Context) error {
	product, err := process.Start(ctx, b.Binary)
	if err != nil {
		return err
	}
	defer product.Stop()
	db, err := storage.Open(storage.Config{URL: product.Database, MaxConns: 2})
	if err != nil {
		return err
	}
	defer db.Close()
	if _, err := db.ExecContext(ctx, insertCases, b.Cases); err != nil {
		return err
	}
	if _, err := db.ExecContext(ctx, `analyze test_cases`); err != nil {
		return err
	}
	times, err := measure.TimeListRequests(ctx, product.Base+"/v1/ai-authoring/testcases?search=voucher", product.Authorize)
	if err != nil {
		return err
	}
	p99 := measure.Quantile(times, 0.99)
	measure.Row(fmt.Sprintf("list of cases, first page of a name that 100 of %d match, with total, %d at once, p50 and p99",
		b.Cases, measure.ListConns),
		fmt.Sprintf("%s, %s", measure.Round(measure.Quantile(times, 0.5)), measure.Round(p99)), "p99 20 ms", p99 <= 20*time.Millisecond)
	return nil
}
