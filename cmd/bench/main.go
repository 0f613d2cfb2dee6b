// Command bench measures Slipway under load, and in the same run baselines that
// do less work on the same machine. Figures of different machines cannot be
// compared; ratios to a baseline can.
//
//	go run ./cmd/bench crash --size 4KB
//
// The commands crash, upload, run, schedule and people each measure some parts and print
// a Markdown table with a row for each part: what was measured, the target, and
// whether it was met. docs/performance.md keeps the results and explains them.
//
// The command grouping counts which crashes are grouped as a labelled set says, and
// symbols measures the reading of symbol files; they start nothing. The others build slipway, start it with managed servers in a
// temporary folder and send traffic to loopback only. Everything they start ends
// with them. A part that fails ends the command with an error, and so does one that takes
// longer than its deadline; a missed target does so only for abuse. While a part works,
// standard error has a line every ten seconds that says what it waits for.
//
// The command gate runs the short form of these and fails when a ratio fell; what is wanted
// and was missed it only shows.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/alecthomas/kong"

	"github.com/slipway-qa/slipway/cmd/bench/abuse"
	"github.com/slipway-qa/slipway/cmd/bench/ci"
	"github.com/slipway-qa/slipway/cmd/bench/claims"
	"github.com/slipway-qa/slipway/cmd/bench/console"
	"github.com/slipway-qa/slipway/cmd/bench/crash"
	"github.com/slipway-qa/slipway/cmd/bench/generate"
	"github.com/slipway-qa/slipway/cmd/bench/grouping"
	"github.com/slipway-qa/slipway/cmd/bench/people"
	"github.com/slipway-qa/slipway/cmd/bench/run"
	"github.com/slipway-qa/slipway/cmd/bench/schedule"
	"github.com/slipway-qa/slipway/cmd/bench/symbols"
	"github.com/slipway-qa/slipway/cmd/bench/upload"
	"github.com/slipway-qa/slipway/cmd/bench/widgets"
)

type cli struct {
	Crash         crash.Command         `cmd:"" help:"Crash reports: accept, drain, sustain, response times, idle wait, memory."`
	Upload        upload.Command        `cmd:"" help:"Builds: upload to MinIO, memory, inspection, lists."`
	CI            ci.Command            `cmd:"" name:"ci" help:"The program for pipelines: its size and start, its upload of a large file next to PutObject."`
	Run           run.Command           `cmd:"" help:"Test runs: a flow next to Playwright, cases per second, what a run adds, lists."`
	Schedule      schedule.Command      `cmd:"" help:"Schedules: many due at once, a steady rate while schedulers are killed, an idle scheduler."`
	Widgets       widgets.Command       `cmd:"" help:"Cases on widget libraries, each by Slipway and by Playwright: results, times, flakes."`
	Generate      generate.Command      `cmd:"" help:"Tests written from sentences: how many replay, on changed pages too; wrong guesses, overhead, throughput."`
	Grouping      grouping.Command      `cmd:"" help:"Which crashes are one bug: precision and recall by language on a labelled set."`
	Symbols       symbols.Command       `cmd:"" help:"Symbol files: reading and lookups, each next to a tool that does the same."`
	People        people.Command        `cmd:"" help:"People and what happens: mail, webhooks, lists of testers and of the audit, sessions."`
	Console       console.Command       `cmd:"" help:"Pages of the console among a million crashes and tasks: the time of each kind of page, the first load."`
	Claims        claims.Command        `cmd:"" help:"Tasks: single ones claimed and finished, next to plain updates."`
	Regression    regressionCommand     `cmd:"" name:"gate" help:"The short form of the benches: which ratios fell below what docs/performance.md says was reached."`
	Abuse         abuse.Command         `cmd:"" help:"Attacks by one organization, and what another one has of them; a table for docs/security.md."`
	SymbolsNative symbols.NativeCommand `cmd:"" hidden:"" help:"Index or look up, for symbols, which starts this."`
	Baseline      crash.BaselineCommand `cmd:"" hidden:"" help:"Serve the baselines of crash, which starts this."`
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	var c cli
	parsed := kong.Parse(&c, kong.Name("bench"), kong.UsageOnError(), kong.BindTo(ctx, (*context.Context)(nil)))
	if err := parsed.Run(); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}
