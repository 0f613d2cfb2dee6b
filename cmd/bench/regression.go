package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/slipway-qa/slipway/cmd/bench/claims"
	"github.com/slipway-qa/slipway/cmd/bench/crash"
	"github.com/slipway-qa/slipway/cmd/bench/process"
	"github.com/slipway-qa/slipway/cmd/bench/regression"
	"github.com/slipway-qa/slipway/cmd/bench/run"
	"github.com/slipway-qa/slipway/cmd/bench/schedule"
	"github.com/slipway-qa/slipway/cmd/bench/symbols"
	"github.com/slipway-qa/slipway/cmd/bench/upload"
)

// regressionCommand runs the short form of the benches and compares their ratios with what
// docs/performance.md says was reached.
type regressionCommand struct {
	Only   []string `help:"Benches to run: crash-4KB, crash-60KB, symbols, upload, run, schedule, claims; default: all."`
	All    bool     `help:"Print all figures, not only those that fell or miss what is wanted."`
	Tries  int      `default:"3" help:"Tries of a bench with a figure that fell; the best counts."`
	Binary string   `help:"A slipway program to measure; default: build this checkout."`
	Chrome string   `default:"/usr/bin/chromium" help:"The browser that Playwright drives; Slipway finds the same one."`
}

// Run returns an error when a figure fell.
func (c *regressionCommand) Run(ctx context.Context) error {
	benches, err := c.choose()
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "slipway-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if c.Binary, err = process.Build(ctx, dir, c.Binary); err != nil {
		return err
	}
	if c.Binary, err = filepath.Abs(c.Binary); err != nil {
		return err
	}
	where, began := describeMachine(ctx), time.Now()
	rows, err := regression.Run(ctx, regression.Config{Benches: benches, Bounds: regression.Bounds(), Tries: c.Tries, Log: os.Stderr})
	if err != nil {
		return err
	}
	fallen := rows.Fallen()
	fmt.Printf("\n%s; took %s\n\n", where, time.Since(began).Round(time.Second))
	switch {
	case c.All:
		fmt.Println(rows.Table())
	case len(rows.Open()) > 0:
		fmt.Println(rows.Open().Table())
	}
	if len(fallen) > 0 {
		return fmt.Errorf("%d of %d figures fell", len(fallen), len(rows))
	}
	fmt.Printf("all %d figures hold; %d miss what is wanted\n", len(rows), len(rows.Missing()))
	return nil
}

// choose returns the benches that --only names.
func (c *regressionCommand) choose() ([]regression.Bench, error) {
	all := c.benches()
	var some []regression.Bench
	for _, b := range all {
		if len(c.Only) == 0 || slices.Contains(c.Only, b.Name) {
			some = append(some, b)
		}
	}
	for _, name := range c.Only {
		if !slices.ContainsFunc(all, func(b regression.Bench) bool { return b.Name == name }) {
			return nil, fmt.Errorf("there is no bench %q", name)
		}
	}
	return some, nil
}

// benches are the short forms.
func (c *regressionCommand) benches() []regression.Bench {
	crash := func(size string, only ...string) func(context.Context) error {
		return func(ctx context.Context) error {
			return (&crash.Command{Size: size, Conns: 64, Duration: 4 * time.Second, Backlog: 20_000, Only: only, Binary: c.Binary}).Run(ctx)
		}
	}
	return []regression.Bench{
		{Name: regression.Crash4KB, Run: crash("4KB", "baselines", "burst", "sustained", "times", "backlog", "shapes", "mapped")},
		{Name: regression.Crash60KB, Run: crash("60KB", "baselines", "burst")},
		{Name: regression.Symbols, Run: (&symbols.Command{Only: []string{"process"}}).Run},
		{Name: regression.Upload, Run: func(ctx context.Context) error {
			return (&upload.Command{Size: 256 << 20, Rounds: 3, Only: []string{"throughput"}, Binary: c.Binary}).Run(ctx)
		}},
		{Name: regression.Runs, Run: func(ctx context.Context) error {
			return (&run.Command{Rounds: 6, Batch: 10, Workers: 2, Chrome: c.Chrome, Only: []string{"flow", "cases"}, Binary: c.Binary}).Run(ctx)
		}},
		{Name: regression.Schedule, Run: func(ctx context.Context) error {
			return (&schedule.Command{Burst: 10_000, Suites: 10_000, Baseline: 2 * time.Second, Lead: 4 * time.Second,
				Only: []string{"burst"}, Binary: c.Binary}).Run(ctx)
		}},
		{Name: regression.Claims, Run: (&claims.Command{}).Run},
	}
}

// describeMachine says what was measured, when and where: the commit of this folder, the
// date, the machine's cores, and what else ran on it.
func describeMachine(ctx context.Context) string {
	commit := "unknown"
	if out, err := exec.CommandContext(ctx, "git", "describe", "--always", "--dirty", "--abbrev=12", "--exclude=*").Output(); err == nil {
		commit = strings.TrimSpace(string(out))
	}
	load := "unknown"
	if text, err := os.ReadFile("/proc/loadavg"); err == nil {
		load, _, _ = strings.Cut(string(text), " ")
	}
	return fmt.Sprintf("commit %s, %s, %d cores%s, load %s at the beginning", commit, time.Now().UTC().Format(time.DateOnly),
		runtime.NumCPU(), processorName(), load)
}

// processorName returns the name of the processor in parentheses; "" when it is not known.
func processorName() string {
	text, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		return ""
	}
	for line := range strings.Lines(string(text)) {
		if key, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(key) == "model name" {
			return " (" + strings.TrimSpace(value) + ")"
		}
	}
	return ""
}
