// Package widgets runs cases on widget libraries, each by Slipway and by Playwright, in the
// same browser and on the same pages.
//
// The table has results and times of both, and how often each differed from itself in many
// rounds. A case that fails is a row with what was seen; a browser or script that does not
// start ends the command with an error.
package widgets

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"log/slog"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/slipway-qa/slipway/cmd/bench/measure"
	"github.com/slipway-qa/slipway/cmd/bench/playwright"
	"github.com/slipway-qa/slipway/cmd/bench/progress"
	"github.com/slipway-qa/slipway/cmd/bench/run"
	"github.com/slipway-qa/slipway/cmd/localservice/servicetest/widget"
	"github.com/slipway-qa/slipway/storage/step/capability"
	"github.com/slipway-qa/slipway/worker/browser"
	"github.com/slipway-qa/slipway/worker/run/replay"
)

// Command runs cases on widget libraries by Slipway and by Playwright.
type Command struct {
	Rounds  int    `default:"1" help:"How often each case is run by each of the two, alternating."`
	Library string `help:"Only the cases of this library."`
	Only    string `help:"Only the cases with this text in their name."`
	Tool    string `enum:"both,slipway,playwright" default:"both" help:"Run the cases by both, or by one."`
	Chrome  string `default:"/usr/bin/chromium" help:"The browser that Playwright drives; Slipway finds the same one."`
}

// bench runs the cases by both tools on one site.
type bench struct {
	*Command
	site     *widget.Site
	engine   *run.Engine
	baseline *playwright.Process
}

// widgetRow is what both tools did with a case.
type widgetRow struct {
	test            *widget.Case
	slipway, theirs widgetRuns
	differs         int // runs in which Playwright ended otherwise, as the case says
}

// widgetRuns are the runs of a case by a tool.
type widgetRuns struct {
	times    []float64 // milliseconds
	wrong    int
	verdicts []string       // what was wrong, each once
	counts   map[string]int // how often, by verdict
}

func (r *widgetRuns) add(ms float64, verdict string) {
	r.times = append(r.times, ms)
	if verdict == "" {
		return
	}
	r.wrong++
	if r.counts == nil {
		r.counts = map[string]int{}
	}
	r.counts[verdict]++
	if !slices.Contains(r.verdicts, verdict) {
		r.verdicts = append(r.verdicts, verdict)
	}
}

// Run runs the cases and prints a Markdown table, what went wrong, and a summary.
func (c *Command) Run(ctx context.Context) error {
	tests, err := c.choose()
	if err != nil {
		return err
	}
	limit := 10*time.Minute + time.Duration(c.Rounds*len(tests))*widgetLimit
	return measure.RunParts(ctx, nil, []measure.Part{{Name: "widgets", Limit: limit, Run: func(ctx context.Context) error {
		rows, err := c.measure(ctx)
		if err != nil {
			return err
		}
		printWidgets(rows, c.Rounds)
		return nil
	}}})
}

// widgetLimit is the share of the deadline of a case by both tools: several times what a case
// takes.
const widgetLimit = 5 * time.Second

// measure runs the cases and returns a row for each.
func (c *Command) measure(ctx context.Context) ([]widgetRow, error) {
	tests, err := c.choose()
	if err != nil {
		return nil, err
	}
	b := &bench{Command: c}
	modules, err := playwright.Packages()
	if err != nil {
		return nil, err
	}
	if b.site, err = widget.Start(modules); err != nil {
		return nil, err
	}
	defer b.site.Close()
	if b.engine, err = run.StartEngine(ctx, nil); err != nil {
		return nil, err
	}
	defer b.engine.Close()
	if c.Tool != "slipway" {
		if b.baseline, err = playwright.StartScript(ctx, []fs.FS{playwright.Scripts, widget.Scripts()}, "widgets.cjs",
			b.site.BaseURL(), c.Chrome); err != nil {
			return nil, err
		}
		defer b.baseline.Stop()
	}
	// The first case warms both and is run again below.
	if err := b.run(ctx, &widgetRow{test: &tests[0]}); err != nil {
		return nil, err
	}
	rows := make([]widgetRow, len(tests))
	var done atomic.Int64
	defer progress.WaitsFor(ctx, func() string {
		return fmt.Sprintf("%d of %d cases of round %d of %d", int(done.Load())%len(tests), len(tests), int(done.Load())/len(tests)+1, c.Rounds)
	})()
	for round := range c.Rounds {
		for i := range tests {
			rows[i].test = &tests[i]
			if err := b.run(ctx, &rows[i]); err != nil {
				return nil, fmt.Errorf("round %d, %s: %w", round+1, tests[i].FullName(), err)
			}
			done.Add(1)
		}
	}
	return rows, nil
}

// choose returns the cases that the flags name.
func (c *Command) choose() ([]widget.Case, error) {
	all, err := widget.Cases()
	if err != nil {
		return nil, err
	}
	var some []widget.Case
	for _, test := range all {
		if (c.Library == "" || c.Library == test.Library) && strings.Contains(test.Name, c.Only) {
			some = append(some, test)
		}
	}
	if len(some) == 0 {
		return nil, fmt.Errorf("no case has this library and name")
	}
	return some, nil
}

// run runs a case once by each tool.
func (b *bench) run(ctx context.Context, row *widgetRow) error {
	if b.Tool != "slipway" {
		if err := b.runPlaywright(ctx, row); err != nil {
			return err
		}
	}
	if b.Tool != "playwright" {
		return b.runSlipway(ctx, row)
	}
	return nil
}

func (b *bench) runPlaywright(ctx context.Context, row *widgetRow) error {
	test := row.test
	line, err := json.Marshal(map[string]any{"library": test.Library, "name": test.Name, "page": test.Page,
		"timeout": test.Timeout().Milliseconds()})
	if err != nil {
		return err
	}
	answer, err := b.baseline.Exchange(ctx, string(line))
	if err != nil {
		return err
	}
	var result struct {
		Status, Message string
		MS              float64
	}
	if err := json.Unmarshal([]byte(answer), &result); err != nil {
		return err
	}
	verdict := test.PlaywrightVerdict(result.Status, result.Message)
	switch {
	case test.Differs == "":
	case verdict == "":
		verdict = "ends as expected, though the case says that it does not: " + test.Differs
	default:
		row.differs++
		verdict = ""
	}
	row.theirs.add(result.MS, verdict)
	return nil
}

func (b *bench) runSlipway(ctx context.Context, row *widgetRow) error {
	test := row.test
	start := time.Now()
	lease, err := b.engine.Pool.Acquire(ctx,
		browser.Request{Target: capability.Target{Capabilities: capability.Capabilities{"browserName": "chrome"}}})
	if err != nil && ctx.Err() == nil { // one of many rounds: it counts, the others follow
		row.slipway.add(float64(time.Since(start).Microseconds())/1000, "no browser: "+err.Error())
		return nil
	}
	if err != nil {
		return err
	}
	result := replay.Play(ctx, replay.Config{Lease: lease, TestURL: b.site.BaseURL() + test.Page, Steps: test.Steps,
		StepTimeout: test.Timeout(), FirstMatch: test.FirstMatch, Log: slog.New(slog.DiscardHandler)})
	lease.Release(ctx, result.Broken)
	row.slipway.add(float64(time.Since(start).Microseconds())/1000, test.Verdict(result.Status, result.Message))
	return ctx.Err()
}

// printWidgets prints a row for each case, the verdicts, and the summary.
func printWidgets(rows []widgetRow, rounds int) {
	fmt.Printf("%d cases, %d rounds; milliseconds are medians\n\n", len(rows), rounds)
	fmt.Println("| case | expected | Slipway | Playwright | Slipway ms | Playwright ms | ratio |")
	fmt.Println("|---|---|---|---|---|---|---|")
	var agree, differ, design, slower, ours, theirs int
	for i := range rows {
		r := &rows[i]
		o, p := measure.MedianOf(r.slipway.times), measure.MedianOf(r.theirs.times)
		ratio := ""
		if o > 0 && p > 0 {
			ratio = fmt.Sprintf("%.2f", o/p)
			if o > p {
				slower++
			}
		}
		fmt.Printf("| %s | %s | %s | %s | %.0f | %.0f | %s |\n", r.test.FullName(), r.test.Expect, r.slipway.summary(0),
			r.theirs.summary(r.differs), o, p, ratio)
		switch {
		case r.differs > 0:
			design++
		case r.slipway.wrong == r.theirs.wrong:
			agree++
		default:
			differ++
		}
		ours, theirs = ours+r.slipway.wrong, theirs+r.theirs.wrong
	}
	fmt.Println()
	for i := range rows {
		rows[i].slipway.print(rows[i].test, "Slipway")
		rows[i].theirs.print(rows[i].test, "Playwright")
	}
	fmt.Printf("\n%d cases agree, %d differ, %d differ by design; Slipway is slower in %d. Runs that ended otherwise than expected: Slipway "+
		"%d, Playwright %d\n",
		agree, differ, design, slower, ours, theirs)
}

func (r *widgetRuns) summary(differs int) string {
	switch {
	case len(r.times) == 0:
		return ""
	case differs > 0:
		return "otherwise, by design"
	case r.wrong == 0:
		return "as expected"
	}
	return fmt.Sprintf("**%d of %d wrong**", r.wrong, len(r.times))
}

func (r *widgetRuns) print(test *widget.Case, tool string) {
	for _, v := range r.verdicts {
		fmt.Printf("- %s, %s, %d of %d: %s\n", test.FullName(), tool, r.counts[v], len(r.times), strings.Join(strings.Fields(v), " "))
	}
}
