// Command bench measures Slipway under load, next to floors that are measured in
// the same run: what the machine does at best with less work. Figures of two
// machines do not compare; ratios to a floor do.
//
//	go run ./cmd/bench crash --size 4KB
//
// It builds slipway, starts it with private servers in a temporary folder and
// sends traffic to loopback only. Everything it starts ends with it.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/alecthomas/kong"
)

type cli struct {
	Crash    crashCommand    `cmd:"" help:"Crash reports: accept, drain, sustain, answer times, idle wait, memory."`
	Upload   uploadCommand   `cmd:"" help:"Builds: upload to MinIO, memory, inspection, lists."`
	Run      runCommand      `cmd:"" help:"Test runs: a flow next to Playwright, cases per second, what a run adds, lists."`
	Schedule scheduleCommand `cmd:"" help:"Schedules: many due at once, a steady rate while schedulers are killed, an idle scheduler."`
	Floor    floorCommand    `cmd:"" hidden:"" help:"Serve a floor (started by the other commands)."`
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
