// Package command is the command line of slipway-ci, and of `slipway ci`: it reads flags,
// environment and slipway.yaml, runs one command against the server, and returns an exit
// code.
//
// A command is a struct of flags with a method Run(ctx, *Session) error; it stands in a file of
// its own, and has a line in the struct cli. The session has the client, the settings, and the
// ways out: people read standard error (Session.Out: progress and warnings), and standard
// output has the result (Session.Result), or with --json one document (Session.Document). What
// a command returns decides the exit code (package outcome). A command that has no use for a server
// has a method Offline.
//
// The context ends after --timeout, and with ctrl-C; a command that has to undo something then
// does so by Session.Last.
package command

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/alecthomas/kong"

	"github.com/slipway-qa/slipway/cmd/slipway-ci/client"
	"github.com/slipway-qa/slipway/cmd/slipway-ci/outcome"
	"github.com/slipway-qa/slipway/cmd/slipway-ci/pipeline"
	"github.com/slipway-qa/slipway/cmd/slipway-ci/progress"
	"github.com/slipway-qa/slipway/cmd/slipway-ci/report"
	"github.com/slipway-qa/slipway/cmd/slipway-ci/settings"
	"github.com/slipway-qa/slipway/cmd/slipway-ci/usage"
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

// Session is what a command runs with.
type Session struct {
	World World
	// Client calls the server as the caller of the settings; nil for commands with Offline.
	Client *client.Client
	// File is slipway.yaml.
	File *settings.File
	// Job is the job of a CI service.
	Job pipeline.Job
	// Out shows people what goes on.
	Out *progress.Printer
	// JSON is --json: one document on World.Out, and nothing else there.
	JSON bool
	// Quiet is --quiet: errors only.
	Quiet bool
	// ServerFrom and KeyFrom say where address and key come from.
	ServerFrom, KeyFrom string
}

// Result prints a line of the result for people: on standard output, not with --json or --quiet.
// Texts come from servers and files: the line is made printable.
func (s *Session) Result(format string, args ...any) {
	if s.JSON || s.Quiet {
		return
	}
	fmt.Fprintln(s.World.Out, progress.Spaced(fmt.Sprintf(format, args...)))
}

// Document prints the one document of --json; without the flag nothing.
func (s *Session) Document(v any) error {
	if !s.JSON {
		return nil
	}
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(v); err != nil {
		return outcome.Fail(outcome.Failed, "write the document: %w", err)
	}
	// A text of a page must be no command to a pipeline that reads its log: ##vso[...].
	if _, err := s.World.Out.Write(bytes.ReplaceAll(text.Bytes(), []byte("##"), []byte(`#\u0023`))); err != nil {
		return outcome.Fail(outcome.Failed, "write the document: %w", err)
	}
	return nil
}

// errorText is an error for people, line by line. Texts of the server are made printable.
func errorText(err error) string {
	lines := strings.Split(err.Error(), "\n")
	for i := range lines {
		lines[i] = report.Line(lines[i])
	}
	return strings.Join(lines, "\n  ")
}

// lastTime and mostLastTime bound what is undone after ctrl-C or the timeout.
const (
	lastTime     = 15 * time.Second
	mostLastTime = 5 * time.Minute // of many runs
)

// Last returns a context for what has to be done at the end, also when ctx has ended.
func (s *Session) Last(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), lastTime)
}

// lastFor is Last with the time for a number of requests, of which a few go at once.
func (s *Session) lastFor(ctx context.Context, requests int) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), min(lastTime+time.Duration(requests)*time.Second/2, mostLastTime))
}

// Path returns a path of a flag as it is opened: relative ones are below World.Dir.
func (s *Session) Path(path string) string { return s.World.path(path) }

// Global are the flags of every command.
type Global struct {
	Server       string        `help:"Address of the Slipway server ($SLIPWAY_SERVER, or server in slipway.yaml)." placeholder:"URL"`
	KeyFile      string        `help:"File with the API key; without it $SLIPWAY_KEY, else the OIDC token of the job ($SLIPWAY_OIDC)." placeholder:"FILE"`
	OIDCTokenEnv string        `name:"oidc-token-env" help:"Variable with the OIDC token of the job. Default: SLIPWAY_ID_TOKEN." placeholder:"NAME"`
	JSON         bool          `name:"json" help:"Print one JSON document on standard output."`
	Quiet        bool          `short:"q" help:"Print errors only."`
	Timeout      time.Duration `help:"End with exit code 4 after this time." default:"1h" placeholder:"TIME"`
	AllowFailure bool          `help:"Exit with 0 in place of 1: say what failed, and let the job go on."`

	Version kong.VersionFlag `help:"Print version, and end."`
}

// cli is the command line. Each command stands in a file of its own.
type cli struct {
	Global

	Upload     uploadCommand     `cmd:"" help:"Upload builds, with their symbols and release notes."`
	Symbols    symbolsCommand    `cmd:"" help:"Upload what reads crashes: debug information, mappings, source maps."`
	Crashes    crashesCommand    `cmd:"" help:"List the new and regressed crash groups of a version."`
	Gate       gateCommand       `cmd:"" help:"Ask whether a build may go out; its policy."`
	Run        runCommand        `cmd:"" help:"Run suites and tests, and fail when one does not pass."`
	Generate   generateCommand   `cmd:"" help:"Write a test from a sentence, or tests from a Markdown file."`
	Pull       pullCommand       `cmd:"" help:"Write the server's tests into files of the repository."`
	Push       pushCommand       `cmd:"" help:"Send files of tests to the server."`
	Open       openCommand       `cmd:"" help:"Open a page of the console."`
	Status     statusCommand     `cmd:"" help:"Show who calls which server, and where the settings come from."`
	MCP        mcpCommand        `cmd:"" name:"mcp" help:"Serve a coding agent over standard input and output (Model Context Protocol)."`
	Completion completionCommand `cmd:"" help:"Print the completion of a shell: source <(slipway-ci completion bash)."`
	Complete   completeCommand   `cmd:"" hidden:""`
}

// endless is a command that runs until its caller ends it: --timeout is not for it.
type endless interface{ Endless() }

// offline is a command that has no use for a server.
type offline interface{ Offline() }

// exit is what kong ends the process by: after --help and --version.
type exit int

// parser returns the reader of the command line.
func parser(w World, c *cli) (*kong.Kong, error) {
	return kong.New(c, kong.Name(w.Name), kong.Writers(w.Out, w.Err), kong.Vars{"version": Version()},
		kong.Description("Uploads builds and symbols, runs tests, reads crashes, and asks the gate whether a build may go out."),
		kong.Exit(func(code int) { panic(exit(code)) }), kong.Help(printHelp))
}

// Run parses and executes one command line and returns the exit code.
func Run(w World, args []string) (code int) {
	defer func() {
		switch p := recover().(type) {
		case nil:
		case exit:
			code = int(p)
		default:
			panic(p)
		}
	}()
	var c cli
	reader, err := parser(w, &c)
	if err != nil {
		fmt.Fprintln(w.Err, w.Name+":", err)
		return int(outcome.Misused)
	}
	parsed, err := reader.Parse(args)
	if err != nil {
		fmt.Fprintln(w.Err, w.Name+":", usage.Misread(err))
		return int(outcome.Misused)
	}
	if c.Timeout <= 0 {
		fmt.Fprintln(w.Err, w.Name+": --timeout must be more than nothing, such as 30m")
		return int(outcome.Misused)
	}
	return int(c.run(w, parsed))
}

// run executes a command and says how it ended.
func (c *cli) run(w World, parsed *kong.Context) outcome.Code {
	job := pipeline.Detect(w.Getenv)
	mode, color := progress.ModeOf(w.Err, w.Getenv, job.Service != "" || w.Getenv("CI") != "", c.Quiet)
	s := &Session{World: w, Job: job, JSON: c.JSON, Quiet: c.Quiet,
		Out: progress.New(progress.Config{Out: w.Err, Mode: mode, Color: color, Width: progress.WidthOf(w.Err)})}
	defer s.Out.Close()
	if node := parsed.Selected(); node != nil {
		if _, ok := node.Target.Addr().Interface().(endless); ok {
			c.Timeout = math.MaxInt64
		}
	}
	ctx, stop := c.context(w)
	defer stop()
	err := c.execute(ctx, s, parsed)
	s.Out.Close()
	code := outcome.CodeOf(err)
	if err != nil {
		fmt.Fprintln(w.Err, w.Name+": "+errorText(err))
	}
	if code == outcome.Failed && c.AllowFailure {
		fmt.Fprintln(w.Err, w.Name+": allowed by --allow-failure")
		return outcome.Passed
	}
	return code
}

func (c *cli) execute(ctx context.Context, s *Session, parsed *kong.Context) error {
	if err := c.open(s, parsed); err != nil {
		return err
	}
	parsed.BindTo(ctx, (*context.Context)(nil))
	return parsed.Run(s)
}

// context ends after --timeout, and with a signal; the second signal ends the process.
func (c *cli) context(w World) (context.Context, context.CancelFunc) {
	whole, cancel := context.WithCancelCause(context.Background())
	ctx, stop := context.WithTimeoutCause(whole, c.Timeout, outcome.ErrTimeout)
	ended := make(chan struct{})
	go func() {
		for range 2 {
			select {
			case sig := <-w.Signals:
				if whole.Err() != nil {
					os.Exit(int(outcome.Interrupted))
				}
				cancel(&outcome.Interruption{Signal: sig})
			case <-ended:
				return
			}
		}
	}()
	return ctx, func() {
		close(ended)
		stop()
		cancel(nil)
	}
}

// open reads the settings and makes the client.
func (c *cli) open(s *Session, parsed *kong.Context) error {
	path, err := settings.Find(s.World.path("."))
	if err != nil {
		return outcome.Fail(outcome.Misused, "%s: %w", settings.Name, err)
	}
	if s.File, err = settings.Read(path); err != nil {
		return err
	}
	if node := parsed.Selected(); node != nil {
		if _, off := node.Target.Addr().Interface().(offline); off {
			return nil
		}
	}
	return c.connect(s)
}

// connect makes the client.
func (c *cli) connect(s *Session) error {
	server := ""
	for _, from := range []struct{ name, value string }{
		{"--server", c.Server}, {"SLIPWAY_SERVER", s.World.Getenv("SLIPWAY_SERVER")}, {s.File.Path, s.File.Server},
	} {
		if server == "" && from.value != "" {
			server, s.ServerFrom = from.value, from.name
		}
	}
	if server == "" {
		return outcome.Fail(outcome.Misused, "no server: set SLIPWAY_SERVER, use --server, or write server into %s", settings.Name)
	}
	transport, err := client.Transport(s.World.Getenv)
	if err != nil {
		return err
	}
	g := c.Global
	if g.KeyFile != "" {
		g.KeyFile = s.World.path(g.KeyFile)
	}
	credential, from, err := g.credential(s.World, s.File, transport)
	if err != nil {
		return err
	}
	s.KeyFrom = from
	s.Client, err = client.New(client.Config{Server: server, Credential: credential, HTTP: transport, Agent: "slipway-ci/" + number(),
		Again: func(err error, in time.Duration) {
			s.Out.Line("%v; again in %s", err, progress.Duration(max(in, time.Second)))
		}})
	return err
}
