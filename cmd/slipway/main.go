// Command slipway is the whole product: `up` runs everything in one process with
// managed servers, `api`, `worker` and `scheduler` are the tiers of a production
// deployment, `migrate`, `admin` and `doctor` are the operator's tools.
//
// Each command has a package: up, tier (api, worker and scheduler), migrate, backup,
// admin, symbols, demo, doctor. Package setting has the settings of all of them. Here is
// the command line, its help, and how an error ends the process.
//
// An error on the way up ends the process with exit code 1 and one line on
// standard error, a wrong command line or variable with 2. At a signal the
// process ends within the time of SLIPWAY_STOP_DELAY, tier.RequestGrace and
// SLIPWAY_WORKER_DRAIN, or is ended (tier.Services.StopInTime); a second signal ends it at once, and
// the ledger restores what it was doing.
//
// The worker and the api start this program anew as child processes that read files from
// outside (tasks/child); these skip all of the above.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"

	// Schedules name time zones, which machines and images without the zone
	// database must know too.
	_ "time/tzdata"

	"github.com/alecthomas/kong"

	"github.com/slipway-qa/slipway/api/inspection"
	"github.com/slipway-qa/slipway/cmd/slipway-ci/usage"
	"github.com/slipway-qa/slipway/cmd/slipway/admin"
	"github.com/slipway-qa/slipway/cmd/slipway/backup"
	"github.com/slipway-qa/slipway/cmd/slipway/demo"
	"github.com/slipway-qa/slipway/cmd/slipway/doctor"
	"github.com/slipway-qa/slipway/cmd/slipway/exit"
	"github.com/slipway-qa/slipway/cmd/slipway/migrate"
	"github.com/slipway-qa/slipway/cmd/slipway/setting"
	"github.com/slipway-qa/slipway/cmd/slipway/symbols"
	"github.com/slipway-qa/slipway/cmd/slipway/tier"
	"github.com/slipway-qa/slipway/cmd/slipway/up"
	"github.com/slipway-qa/slipway/cmd/slipway/version"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/tasks/child"
	workbuild "github.com/slipway-qa/slipway/worker/build"
	symbolfiles "github.com/slipway-qa/slipway/worker/symbols/parse"
)

// cli is the command line.
type cli struct {
	setting.Settings

	ShowVersion kong.VersionFlag `name:"version" help:"Print version and commit, and end."`

	Up        up.Command            `cmd:"" help:"Run everything in one process, with managed PostgreSQL and Redis where no URL is set."`
	API       tier.API              `cmd:"" name:"api" help:"Run the api tier."`
	Worker    tier.Worker           `cmd:"" help:"Run the worker tier."`
	Scheduler tier.Scheduler        `cmd:"" help:"Run the scheduler tier."`
	Migrate   migrate.Command       `cmd:"" help:"Bring the database to the newest schema, or list its migrations."`
	Backup    backup.Command        `cmd:"" help:"Copy database and objects to a folder, while the product runs, or verify such a copy."`
	Restore   backup.RestoreCommand `cmd:"" help:"Fill an empty installation from a backup."`
	Admin     admin.Command         `cmd:"" help:"Create and rotate organizations, users, service accounts, keys, crash projects and tokens."`
	Symbols   symbols.Command       `cmd:"" help:"Read symbol files, traces and dumps on this machine."`
	Demo      demo.Command          `cmd:"" help:"Fill an organization with example data through the API, or remove it."`
	CI        ciCommand             `cmd:"" name:"ci" help:"What a pipeline runs: uploads, symbols, crashes, the gate. The same as slipway-ci."`
	Doctor    doctor.Command        `cmd:"" help:"Report what this machine lacks for slipway up, and how to install it."`
	Version   version.Command       `cmd:"" help:"Print version and commit."`
}

func main() { os.Exit(run(os.Args[1:])) }

// commandLine returns the reader of the command line.
func commandLine(c *cli) (*kong.Kong, error) {
	parser, err := kong.New(c, kong.Name("slipway"),
		kong.Description("The back end of a QA platform that a team runs itself."),
		kong.Resolvers(setting.VariableFiles{}), kong.Help(printHelp), kong.Vars{"version": version.Line()})
	if err != nil {
		return nil, err
	}
	return parser, groupSettings(parser.Model)
}

// run parses and executes one command line and returns the exit code.
func run(args []string) int {
	if child.IsChild(args) {
		return child.Serve(args, symbolfiles.Operations(), inspection.Operations(), workbuild.Operations())
	}
	if len(args) > 0 && args[0] == "ci" {
		return ci(args[1:])
	}
	var c cli
	parser, err := commandLine(&c)
	if err != nil {
		fmt.Fprintln(os.Stderr, "slipway:", err)
		return 2
	}
	if err := setting.CheckVariables(parser.Model, os.Environ()); err != nil {
		fmt.Fprintln(os.Stderr, "slipway:", err)
		return 2
	}
	parsed, err := parser.Parse(args)
	if err != nil {
		fmt.Fprintln(os.Stderr, "slipway:", usage.Misread(err))
		return 2
	}
	if os.Getenv("GOGC") == "" {
		// Many requests at once allocate much and keep little. Collecting at
		// three and a half times the live heap instead of twice accepts six per
		// cent more crash reports, for some tens of megabytes.
		debug.SetGCPercent(250)
	}
	ctx, stop := stopSignals()
	defer stop()
	log := c.Logger(commandOf(parsed))
	parsed.BindTo(ctx, (*context.Context)(nil))
	if err := parsed.Run(&c.Settings, log); err != nil {
		var plain *storage.PlainError
		if errors.As(err, &plain) {
			log.Debug("the command failed", "error", plain.Err)
		}
		var quiet *exit.Quiet
		if !errors.As(err, &quiet) {
			fmt.Fprintln(os.Stderr, "slipway:", err)
		}
		var coded *exit.Error
		if errors.As(err, &coded) {
			return coded.Code
		}
		return 1
	}
	return 0
}

// stopSignals returns a context that the first ctrl-C or SIGTERM ends. The second
// ends the process without waiting for requests and tasks.
func stopSignals() (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(context.Background())
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		<-signals
		cancel()
		<-signals
		os.Exit(130)
	}()
	return ctx, cancel
}
