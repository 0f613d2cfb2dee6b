// Package command is the command line of slipway-ci, and of `slipway ci`: it reads flags,
// environment and slipway.yaml, runs one command against the server, and returns an exit
// code.
//
// A command is a struct of flags with a method Run(ctx, *Session) error. The session has
// the client, the settings, and the ways out: people read standard error (progress, lines),
// programs read standard output (--json, a result). What a command returns decides the exit
// code (outcome.go).
package command

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/alecthomas/kong"

	"github.com/slipway-qa/slipway/cmd/slipway-ci/client"
)

// World is what a process has: how it was called, its environment and its streams.
type World struct {
	Name   string // of the program, for help and errors
	Getenv func(string) string
	Dir    string // "": the working directory
	In     io.Reader
	Out    io.Writer // results, for programs
	Err    io.Writer // progress and errors, for people
	// Signals ends what runs: the first one cancels, the second ends the process.
	Signals <-chan os.Signal
}

// Process is the world of this process.
func Process(name string) World {
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	return World{Name: name, Getenv: os.Getenv, In: os.Stdin, Out: os.Stdout, Err: os.Stderr, Signals: signals}
}

// Version is set by the linker: -X github.com/slipway-qa/slipway/cmd/slipway-ci/command.Version=1.2.3.
var Version = "development"

// Session is what a command runs with.
type Session struct {
	World  World
	Client *client.Client
	JSON   bool // --json: one document on World.Out, nothing else there
	Quiet  bool
}

// Global are the flags of every command.
type Global struct {
	Server  string        `help:"Address of the Slipway server." env:"SLIPWAY_SERVER" placeholder:"URL"`
	JSON    bool          `name:"json" help:"Print one JSON document on standard output."`
	Quiet   bool          `short:"q" help:"Print errors only."`
	Timeout time.Duration `help:"End with exit code 4 after this time." default:"1h"`

	Version kong.VersionFlag `help:"Print version, and end."`
}

// cli is the command line. Each command stands in a file of its own.
type cli struct {
	Global
}

// Run parses and executes one command line and returns the exit code.
func Run(w World, args []string) int {
	var c cli
	parser, err := kong.New(&c, kong.Name(w.Name), kong.Writers(w.Out, w.Err), kong.Vars{"version": Version})
	if err != nil {
		fmt.Fprintln(w.Err, w.Name+":", err)
		return int(Misused)
	}
	parsed, err := parser.Parse(args)
	if err != nil {
		fmt.Fprintln(w.Err, w.Name+":", err)
		return int(Misused)
	}
	ctx, stop := context.WithTimeoutCause(context.Background(), c.Timeout, errTimeout)
	defer stop()
	parsed.BindTo(ctx, (*context.Context)(nil))
	if err := parsed.Run(&Session{World: w, JSON: c.JSON, Quiet: c.Quiet}); err != nil {
		fmt.Fprintln(w.Err, w.Name+":", err)
		return int(codeOf(err))
	}
	return int(Passed)
}
