// Package schedule measures schedules: many that are due at once, a steady rate while
// schedulers are killed, and an idle scheduler.
//
// A fleet is a deployment of tiers as separate processes with servers of its own; its members
// can be killed and started again. Firings are compared with those that the database computes
// for the same schedules: one that is missing, double or not due is printed, as is how late
// each was seen. A fleet that does not get ready ends the command with an error.
package schedule

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/slipway-qa/slipway/cmd/bench/measure"
	"github.com/slipway-qa/slipway/cmd/bench/process"
	"github.com/slipway-qa/slipway/cmd/bench/progress"
	"github.com/slipway-qa/slipway/cmd/bench/regression"
)

// Command measures schedules.
type Command struct {
	Burst    int           `default:"10000" help:"Schedules that are due in the same second."`
	Suites   int           `default:"10000" help:"Suites of those schedules, with a case each; fewer than schedules are shared."`
	Rate     int           `default:"1000" help:"Firings a minute of the steady part; each schedule fires every minute at its second."`
	For      time.Duration `default:"3m" help:"Length of the steady part."`
	Kill     time.Duration `default:"10s" help:"Interval at which the steady part kills one of three schedulers."`
	Idle     int           `default:"100000" help:"Schedules of the idle part, due next year."`
	Quiet    time.Duration `default:"60s" help:"Length of the idle part."`
	Baseline time.Duration `default:"5s" help:"Length of the baseline."`
	Lead     time.Duration `default:"4s" help:"How long before the first firing the schedules are inserted; more on a busy machine."`
	Only     []string      `help:"Parts to measure: burst, steady, idle; default: all."`
	Binary   string        `help:"A slipway program to measure; default: build this checkout."`
}

// missingAfter is how long after its time a firing is missing. The targets say how late one may
// be; a busy machine is later, and loses none.
const missingAfter = 5 * time.Minute

// bench is one run of the command.
type bench struct {
	*Command
	slipway string
	missed  []string // targets
}

// Run measures the parts one after the other, each with new servers and
// processes, and prints a Markdown table.
func (c *Command) Run(ctx context.Context) error {
	_, err := c.measure(ctx)
	return err
}

// measure returns the parts that missed their target.
func (c *Command) measure(ctx context.Context) (missed []string, err error) {
	dir, err := os.MkdirTemp("", "slipway-bench-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	b := &bench{Command: c}
	parts := b.parts()
	if err := measure.CheckParts(c.Only, parts); err != nil {
		return nil, err
	}
	if b.slipway, err = process.Build(ctx, dir, c.Binary); err != nil {
		return nil, err
	}
	fmt.Printf("schedules; PostgreSQL, Redis, schedulers, a worker without browsers\n\n| part | measured | target | |\n|---|---|---|---|\n")
	err = measure.RunParts(ctx, c.Only, parts)
	return b.missed, err
}

// parts are the parts in the order in which they run. A deadline has room for the rows of
// schedules and suites, a hundred a second.
func (b *bench) parts() []measure.Part {
	rows := func(n int) time.Duration { return 4*time.Minute + time.Duration(n)*10*time.Millisecond }
	return []measure.Part{
		{Name: "burst", Limit: rows(b.Burst+b.Suites) + b.Baseline + b.Lead, Run: b.measureBurst},
		{Name: "steady", Limit: rows(2*b.Rate) + b.For + b.Lead, Run: b.measureSteady},
		{Name: "idle", Limit: rows(b.Idle) + b.Quiet, Run: b.measureIdle},
	}
}

func (b *bench) row(part, measured, target string, met bool) {
	if target != "" && !met {
		b.missed = append(b.missed, part)
	}
	measure.Row(part, measured, target, met)
}

// measureBurst measures many schedules that are due in the same second.
func (b *bench) measureBurst(ctx context.Context) error {
	f, err := StartFleet(ctx, b.slipway)
	if err != nil {
		return err
	}
	defer f.Stop()
	baseline, err := f.measureBaseline(ctx, b.Baseline)
	if err != nil {
		return err
	}
	b.row(fmt.Sprintf("baseline: rows of %d firings a transaction, %d connections, nothing else", baselineRows, baselineConns),
		fmt.Sprintf("%.0f firings/s", baseline), "", true)
	if err := f.addSuites(ctx, min(b.Suites, b.Burst)); err != nil {
		return err
	}
	if _, err := f.Ready(ctx, "scheduler", "worker"); err != nil {
		return err
	}
	due := time.Now().Add(b.Lead + time.Duration(b.Burst)*time.Millisecond/2).Truncate(time.Second)
	if err := f.addSchedules(ctx, due, due, b.Burst, 0); err != nil {
		return err
	}
	want, err := f.expected(ctx, due)
	if err != nil {
		return err
	}
	if time.Now().After(due.Add(-time.Second)) {
		return fmt.Errorf("%d schedules could not be inserted in time", b.Burst)
	}
	seen, err := f.watch(ctx, len(want), due.Add(missingAfter))
	if err != nil {
		return err
	}
	all := seen.quantile(1)
	if len(seen) == len(want) {
		regression.Measured(ctx, "schedule", float64(len(want))/all.Seconds()/baseline)
	}
	b.row(fmt.Sprintf("%d schedules due in the same second, %d suites: until all had fired", b.Burst, min(b.Suites, b.Burst)),
		fmt.Sprintf("%s, %.0f firings/s, %.2f of the baseline", measure.Round(all), float64(len(want))/all.Seconds(),
			float64(len(want))/all.Seconds()/baseline),
		"5s", len(seen) == len(want) && all <= 5*time.Second)
	b.row("their lateness, p50 and p99", fmt.Sprintf("%s, %s", measure.Round(seen.quantile(0.5)),
		measure.Round(seen.quantile(0.99))), "p99 3s", seen.quantile(0.99) <= 3*time.Second)
	return b.compare(ctx, f, want)
}

// compare counts firings that differ from what the schedules specify.
func (b *bench) compare(ctx context.Context, f *Fleet, want map[firingKey]bool) error {
	c, err := f.compare(ctx, want)
	if err != nil {
		return err
	}
	b.row(fmt.Sprintf("of %d firings: missing, double, not due", len(want)), fmt.Sprintf("%d, %d, %d", c.missing, c.duplicate, c.notDue),
		"none", c == comparison{})
	return nil
}

// measureSteady fires at a steady rate while schedulers are killed. The bench ends the suite
// runs, as browsers would: a firing is skipped while the former one runs.
func (b *bench) measureSteady(ctx context.Context) error {
	f, err := StartFleet(ctx, b.slipway)
	if err != nil {
		return err
	}
	defer f.Stop()
	if err := f.addSuites(ctx, b.Rate); err != nil {
		return err
	}
	members, err := f.Ready(ctx, "scheduler", "scheduler", "scheduler", "worker")
	if err != nil {
		return err
	}
	schedulers := members[:3]
	start := time.Now().Add(b.Lead).Truncate(time.Second)
	last := start.Add(b.For - time.Second)
	if err := f.addSchedules(ctx, start, last, b.Rate, time.Minute); err != nil {
		return err
	}
	want, err := f.expected(ctx, last)
	if err != nil {
		return err
	}
	if time.Now().After(start) {
		return fmt.Errorf("%d schedules could not be inserted in time", b.Rate)
	}
	stopEnding := process.Repeat(ctx, 100*time.Millisecond, f.endSuiteRuns)
	kills := 0
	stopKilling := process.Repeat(ctx, b.Kill, func(ctx context.Context) error {
		m := schedulers[kills%len(schedulers)]
		kills++
		if err := m.Kill(); err != nil {
			return err
		}
		return m.Start()
	})
	seen, err := f.watch(ctx, len(want), last.Add(missingAfter))
	for _, failed := range []error{err, stopKilling(), stopEnding()} {
		if failed != nil {
			return failed
		}
	}
	b.row(fmt.Sprintf("%d firings a minute for %s, three schedulers, %d kills: lateness p50, p99 and most", b.Rate, b.For, kills),
		fmt.Sprintf("%s, %s, %s", measure.Round(seen.quantile(0.5)), measure.Round(seen.quantile(0.99)),
			measure.Round(seen.quantile(1))), "p99 1s", seen.quantile(0.99) < time.Second)
	return b.compare(ctx, f, want)
}

// measureIdle measures the processor time of a scheduler while nothing is due.
func (b *bench) measureIdle(ctx context.Context) error {
	f, err := StartFleet(ctx, b.slipway)
	if err != nil {
		return err
	}
	defer f.Stop()
	if err := f.addSuites(ctx, 1000); err != nil {
		return err
	}
	if err := f.addYearly(ctx, b.Idle); err != nil {
		return err
	}
	members, err := f.Ready(ctx, "scheduler", "worker")
	if err != nil {
		return err
	}
	names := []string{"an idle scheduler", "the worker beside it", "PostgreSQL"}
	pids := []int{members[0].pid(), members[1].pid(), f.Postgres.PID()}
	defer progress.Waits(ctx, "the end of "+b.Quiet.String()+" in which nothing is due")()
	if err := process.Sleep(ctx, min(b.Quiet, 10*time.Second)); err != nil { // the work of a start is not idling
		return err
	}
	began, before := time.Now(), make([]time.Duration, len(pids))
	for i, pid := range pids {
		if before[i], err = process.ProcessorTime(pid); err != nil {
			return err
		}
	}
	if err := process.Sleep(ctx, b.Quiet); err != nil {
		return err
	}
	for i, pid := range pids {
		after, err := process.ProcessorTime(pid)
		if err != nil {
			return err
		}
		share := 100 * (after - before[i]).Seconds() / time.Since(began).Seconds()
		target := ""
		if i == 0 {
			names[i] += fmt.Sprintf(" with %d schedules, %s", b.Idle, b.Quiet)
			target = "1 %"
		}
		b.row(names[i], fmt.Sprintf("%.2f %% of a core", share), target, share < 1)
	}
	return nil
}
