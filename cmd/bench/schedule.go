package main

import (
	"context"
	"fmt"
	"os"
	"slices"
	"time"
)

type scheduleCommand struct {
	Burst  int           `default:"10000" help:"Schedules that are due in the same second."`
	Suites int           `default:"10000" help:"Suites of those schedules, with a case each; fewer than schedules are shared."`
	Rate   int           `default:"1000" help:"Fires a minute of the steady part; each schedule fires every minute at its second."`
	For    time.Duration `default:"3m" help:"Length of the steady part."`
	Kill   time.Duration `default:"10s" help:"In the steady part one of three schedulers is killed so often."`
	Idle   int           `default:"100000" help:"Schedules of the idle part, due next year."`
	Quiet  time.Duration `default:"60s" help:"Length of the idle part."`
	Floor  time.Duration `default:"5s" help:"Length of the floor."`
	Only   []string      `help:"Parts to measure: burst, steady, idle; default: all."`
	Binary string        `help:"A slipway program to measure; default: build this checkout."`
}

// scheduleBench is one run of the command.
type scheduleBench struct {
	*scheduleCommand
	binary string
	missed []string // targets
}

// Run measures the parts in turn, each with servers and processes of its own, and
// prints a Markdown table.
func (c *scheduleCommand) Run(ctx context.Context) error {
	_, err := c.measure(ctx)
	return err
}

// measure gives the targets that were missed.
func (c *scheduleCommand) measure(ctx context.Context) (missed []string, err error) {
	dir, err := os.MkdirTemp("", "slipway-bench-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	b := &scheduleBench{scheduleCommand: c}
	if b.binary, err = buildSlipway(ctx, dir, c.Binary); err != nil {
		return nil, err
	}
	fmt.Printf("schedules; PostgreSQL, Redis, schedulers, a worker without browsers\n\n| part | measured | target | |\n|---|---|---|---|\n")
	for _, part := range []struct {
		name string
		run  func(context.Context) error
	}{{"burst", b.measureBurst}, {"steady", b.measureSteady}, {"idle", b.measureIdle}} {
		if len(c.Only) > 0 && !slices.Contains(c.Only, part.name) {
			continue
		}
		if err := part.run(ctx); err != nil {
			return b.missed, fmt.Errorf("%s: %w", part.name, err)
		}
	}
	return b.missed, nil
}

func (b *scheduleBench) row(part, measured, target string, met bool) {
	if target != "" && !met {
		b.missed = append(b.missed, part)
	}
	row(part, measured, target, met)
}

// measureBurst lets many schedules come due in one second.
func (b *scheduleBench) measureBurst(ctx context.Context) error {
	f, err := startFleet(ctx, b.binary)
	if err != nil {
		return err
	}
	defer f.stop()
	floor, err := f.measureFloor(ctx, b.Floor)
	if err != nil {
		return err
	}
	b.row(fmt.Sprintf("floor: rows of %d fires a transaction, %d connections, nothing else", floorRows, floorConns), fmt.Sprintf("%.0f fires/s", floor), "", true)
	if err := f.addSuites(ctx, min(b.Suites, b.Burst)); err != nil {
		return err
	}
	if _, err := f.ready(ctx, "scheduler", "worker"); err != nil {
		return err
	}
	due := time.Now().Add(lead + time.Duration(b.Burst)*time.Millisecond/2).Truncate(time.Second)
	if err := f.addSchedules(ctx, due, due, b.Burst, 0); err != nil {
		return err
	}
	want, err := f.expected(ctx, due)
	if err != nil {
		return err
	}
	if time.Now().After(due.Add(-time.Second)) {
		return fmt.Errorf("%d schedules could not be made in time", b.Burst)
	}
	seen, err := f.watch(ctx, len(want), due.Add(time.Minute))
	if err != nil {
		return err
	}
	all := seen.at(1)
	b.row(fmt.Sprintf("%d schedules due in the same second, %d suites: until all had fired", b.Burst, min(b.Suites, b.Burst)),
		fmt.Sprintf("%s, %.0f fires/s, %.2f of the floor", round(all), float64(len(want))/all.Seconds(), float64(len(want))/all.Seconds()/floor),
		"5s", len(seen) == len(want) && all <= 5*time.Second)
	b.row("their lateness, p50 and p99", fmt.Sprintf("%s, %s", round(seen.at(0.5)), round(seen.at(0.99))), "p99 3s", seen.at(0.99) <= 3*time.Second)
	return b.compare(ctx, f, want)
}

// compare counts fires that are not as the schedules say.
func (b *scheduleBench) compare(ctx context.Context, f *fleet, want map[fireKey]bool) error {
	c, err := f.compare(ctx, want)
	if err != nil {
		return err
	}
	b.row(fmt.Sprintf("of %d fires: missing, double, not due", len(want)), fmt.Sprintf("%d, %d, %d", c.missing, c.double, c.foreign),
		"none", c == comparison{})
	return nil
}

// measureSteady holds a rate while schedulers are killed. The bench ends the suite
// runs, as browsers would: a fire is skipped while the former one runs.
func (b *scheduleBench) measureSteady(ctx context.Context) error {
	f, err := startFleet(ctx, b.binary)
	if err != nil {
		return err
	}
	defer f.stop()
	if err := f.addSuites(ctx, b.Rate); err != nil {
		return err
	}
	members, err := f.ready(ctx, "scheduler", "scheduler", "scheduler", "worker")
	if err != nil {
		return err
	}
	schedulers := members[:3]
	start := time.Now().Add(lead).Truncate(time.Second)
	last := start.Add(b.For - time.Second)
	if err := f.addSchedules(ctx, start, last, b.Rate, time.Minute); err != nil {
		return err
	}
	want, err := f.expected(ctx, last)
	if err != nil {
		return err
	}
	if time.Now().After(start) {
		return fmt.Errorf("%d schedules could not be made in time", b.Rate)
	}
	stopEnding := loop(ctx, 100*time.Millisecond, f.endSuiteRuns)
	kills := 0
	stopKilling := loop(ctx, b.Kill, func(ctx context.Context) error {
		m := schedulers[kills%len(schedulers)]
		kills++
		m.kill()
		return m.start()
	})
	seen, err := f.watch(ctx, len(want), last.Add(30*time.Second))
	for _, failed := range []error{err, stopKilling(), stopEnding()} {
		if failed != nil {
			return failed
		}
	}
	b.row(fmt.Sprintf("%d fires a minute for %s, three schedulers, %d kills: lateness p50, p99 and most", b.Rate, b.For, kills),
		fmt.Sprintf("%s, %s, %s", round(seen.at(0.5)), round(seen.at(0.99)), round(seen.at(1))), "p99 1s", seen.at(0.99) < time.Second)
	return b.compare(ctx, f, want)
}

// measureIdle looks at what a scheduler takes while nothing is due.
func (b *scheduleBench) measureIdle(ctx context.Context) error {
	f, err := startFleet(ctx, b.binary)
	if err != nil {
		return err
	}
	defer f.stop()
	if err := f.addSuites(ctx, 1000); err != nil {
		return err
	}
	if err := f.addYearly(ctx, b.Idle); err != nil {
		return err
	}
	members, err := f.ready(ctx, "scheduler", "worker")
	if err != nil {
		return err
	}
	names := []string{"an idle scheduler", "the worker beside it", "PostgreSQL"}
	pids := []int{members[0].pid(), members[1].pid(), f.postgres.PID()}
	if err := rest(ctx, min(b.Quiet, 10*time.Second)); err != nil { // what a start takes is not idling
		return err
	}
	began, before := time.Now(), make([]time.Duration, len(pids))
	for i, pid := range pids {
		if before[i], err = processorTime(pid); err != nil {
			return err
		}
	}
	if err := rest(ctx, b.Quiet); err != nil {
		return err
	}
	for i, pid := range pids {
		after, err := processorTime(pid)
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
