package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
	"time"

	"github.com/slipway-qa/slipway/cmd/bench/progress"
	"github.com/slipway-qa/slipway/cmd/bench/regression"
	"github.com/slipway-qa/slipway/cmd/localservice"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/tasks/outbound"
	"github.com/slipway-qa/slipway/worker/browser"
	"github.com/slipway-qa/slipway/worker/browser/egress"
	"github.com/slipway-qa/slipway/worker/run/replay"
)

type runCommand struct {
	Rounds  int      `default:"20" help:"Flows of each kind, alternating."`
	Batch   int      `default:"20" help:"Cases of the part that counts cases per second."`
	Workers int      `default:"2" help:"Playwright's workers in that part, a browser each."`
	Cases   int      `default:"100000" help:"Cases of the list."`
	Chrome  string   `default:"/usr/bin/chromium" help:"The browser that Playwright drives; Slipway finds the same one."`
	Only    []string `help:"Parts to measure: flow, screenshots, trace, cases, overhead, list, rows; default: all."`
	Binary  string   `help:"A slipway program to measure; default: build this checkout."`
}

// runBench is one run of the command.
type runBench struct {
	*runCommand
	site     *shopSite
	baseline *playwright
}

// Run measures the parts in turn and prints a Markdown table.
func (c *runCommand) Run(ctx context.Context) error {
	b := &runBench{runCommand: c}
	parts := b.parts()
	err := checkParts(c.Only, parts)
	if err != nil {
		return err
	}
	if b.site, err = startShop(); err != nil {
		return err
	}
	defer b.site.stop()
	if b.baseline, err = startPlaywright(ctx, b.site.base, c.Chrome); err != nil {
		return err
	}
	defer b.baseline.stop()
	fmt.Printf("%d rounds; pages from this process\n\n| part | measured | target | |\n|---|---|---|---|\n", c.Rounds)
	return runParts(ctx, c.Only, parts)
}

// parts are the parts in the order in which they run. A flow takes less than a second on an
// idle machine, and a deadline allows five.
func (b *runBench) parts() []part {
	const once = 5 * time.Second
	flows := func(n int) time.Duration { return 2*time.Minute + time.Duration(n)*once }
	return []part{
		{name: "flow", limit: flows(2 * b.Rounds), run: b.measureFlow},
		{name: "screenshots", limit: flows(6 * b.Rounds), run: b.measureScreenshots},
		{name: "trace", limit: flows(5 * b.Rounds), run: b.measureTrace},
		{name: "cases", limit: flows(2 * caseRounds * b.Batch), run: b.measureCases},
		{name: "overhead", limit: flows(4 * b.Rounds), run: b.measureOverhead},
		{name: "list", limit: 10 * time.Minute, run: b.measureList},
		{name: "rows", limit: 10 * time.Minute, run: b.measureRows},
	}
}

// engine is the part of a worker that plays tests, without a queue or database.
type engine struct {
	pool  *browser.Pool
	steps []step.Step
	close func()
}

// startEngine starts one that plays some steps.
func startEngine(ctx context.Context, steps []step.Step) (*engine, error) {
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
	pool, err := browser.New(browser.Config{Local: driver.URL(), Arguments: localservice.BrowserArguments(), Warm: 1, Proxy: proxy.Addr().String(), Guard: guard, Log: log})
	if err != nil {
		stop()
		return nil, err
	}
	stops = append(stops, pool.Close)
	return &engine{pool: pool, steps: steps, close: stop}, nil
}

// play plays one flow in a new browser context and returns its time, with that of
// its screenshots.
func (e *engine) play(ctx context.Context, screenshots bool) (time.Duration, error) {
	captured := 0
	capture := func(_ context.Context, a replay.Artifact) string {
		if a.ContentType == "image/jpeg" {
			captured++
		}
		return "1"
	}
	start := time.Now()
	lease, err := e.pool.Acquire(ctx, browser.Request{Target: step.Target{Capabilities: step.Capabilities{"browserName": "chrome"}}})
	if err != nil {
		return 0, err
	}
	result := replay.Play(ctx, replay.Config{Lease: lease, Steps: e.steps,
		Screenshots: screenshots, Capture: capture, Log: slog.New(slog.DiscardHandler)})
	lease.Release(ctx, result.Broken)
	if result.Status != step.Passed {
		return 0, fmt.Errorf("the flow ended as %s: %s", result.Status, result.Message)
	}
	took := time.Since(start)
	if screenshots && captured != len(e.steps) {
		return 0, fmt.Errorf("%d steps have %d screenshots", len(e.steps), captured)
	}
	return took, nil
}

// measureFlow plays the flow in warm browsers, alternating with Playwright.
func (b *runBench) measureFlow(ctx context.Context) error {
	e, err := startEngine(ctx, b.site.steps())
	if err != nil {
		return err
	}
	defer e.close()
	var baseline, ours []float64
	var done atomic.Int64
	defer progress.WaitsFor(ctx, func() string { return fmt.Sprintf("%d of %d flows of each kind", done.Load(), b.Rounds+2) })()
	for n := range b.Rounds + 2 {
		theirs, err := b.baseline.request(ctx, "flow")
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
	f, o := median(baseline), median(ours)
	row("baseline: the eight-step flow with Playwright, warm browser, new context", fmt.Sprintf("%.0f ms", 1000*f), "", true)
	regression.Measured(ctx, "flow", o/f)
	row("the flow by the managed browsers, warm, isolated", fmt.Sprintf("%.0f ms, %.2f of the baseline", 1000*o, o/f), "below 0.5 of the baseline", o < 0.5*f)
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
func (b *runBench) measureList(ctx context.Context) error {
	product, err := startProduct(ctx, b.Binary)
	if err != nil {
		return err
	}
	defer product.stop()
	db, err := storage.Open(storage.Config{URL: product.database, MaxConns: 2})
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
	times, err := timeListRequests(ctx, product.base+"/v1/ai-authoring/testcases?search=voucher", product.authorize)
	if err != nil {
		return err
	}
	p99 := quantile(times, 0.99)
	row(fmt.Sprintf("list of cases, first page of a name that 100 of %d match, with total, %d at once, p50 and p99", b.Cases, listConns),
		fmt.Sprintf("%s, %s", round(quantile(times, 0.5)), round(p99)), "p99 20 ms", p99 <= 20*time.Millisecond)
	return nil
}
