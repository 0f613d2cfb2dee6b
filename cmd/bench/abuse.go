package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// abuseCommand attacks a running installation by one organization, and measures what
// another one has of it meanwhile.
type abuseCommand struct {
	Only    []string      `help:"Parts to run, by name; default: all but chaos."`
	Program string        `help:"A slipway program to attack; default: build this checkout."`
	Quiet   time.Duration `default:"8s" help:"Length of the measurement before an attack."`
	Attack  time.Duration `default:"15s" help:"Length of the measurement under an attack."`
	Chaos   time.Duration `default:"1m" help:"Length of the part chaos."`
	APKs    string        `name:"apks" type:"path" help:"Folder with the packages of the part signatures, such as the test set of apksigner."`
}

// abuseBench is one run of the command.
type abuseBench struct {
	*abuseCommand
	program string
}

type abusePart struct {
	name string
	run  func(*abuseBench, context.Context) error
	// asked: the part runs only where --only names it.
	asked bool
}

// abuseParts are the attacks, in the order in which they run. Each starts an
// installation of its own (startTarget) and prints its rows with abuseRow. All parts but
// those that are asked for take less than ten minutes together.
var abuseParts = []abusePart{
	{name: "uploads-slow", run: (*abuseBench).uploadsSlow},
	{name: "uploads-anonymous", run: (*abuseBench).uploadsAnonymous},
	{name: "crash-trickle", run: (*abuseBench).crashTrickle},
	{name: "tokens-bogus", run: (*abuseBench).bogusTokens},
	{name: "searches", run: (*abuseBench).searches},
	{name: "runs", run: (*abuseBench).runs},
	{name: "suites", run: (*abuseBench).suites},
	{name: "generations", run: (*abuseBench).generations},
	{name: "webhooks", run: (*abuseBench).webhooks},
	{name: "mails", run: (*abuseBench).mails},
	{name: "tarpit", run: (*abuseBench).tarpit},
	{name: "capabilities", run: (*abuseBench).capabilities},
	{name: "addresses", run: (*abuseBench).addresses},
	{name: "storage-secret", run: (*abuseBench).storageSecret},
	{name: "corpus", run: (*abuseBench).corpus},
	{name: "signatures", run: (*abuseBench).signatures, asked: true},
	{name: "chaos", run: (*abuseBench).chaos, asked: true},
}

// Run runs the attacks in turn and prints a Markdown table.
func (c *abuseCommand) Run(ctx context.Context) error {
	for _, name := range c.Only {
		if !slices.ContainsFunc(abuseParts, func(p abusePart) bool { return p.name == name }) {
			return fmt.Errorf("there is no part %q", name)
		}
	}
	dir, err := os.MkdirTemp("", "slipway-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	b := &abuseBench{abuseCommand: c}
	if b.program, err = buildSlipway(ctx, dir, c.Program); err != nil {
		return err
	}
	if b.program, err = filepath.Abs(b.program); err != nil {
		return err
	}
	fmt.Print("| attack | measured | quiet | under attack | target | |\n|---|---|---|---|---|---|\n")
	for _, part := range abuseParts {
		if len(c.Only) == 0 && part.asked || len(c.Only) > 0 && !slices.Contains(c.Only, part.name) {
			continue
		}
		if err := part.run(b, ctx); err != nil {
			return fmt.Errorf("%s: %w", part.name, err)
		}
	}
	return nil
}

// abuseRow prints a row of the table. Without a target nothing is met or missed.
func abuseRow(attack, measured, quiet, under, target string, met bool) {
	mark := ""
	if target != "" {
		mark = map[bool]string{true: "met", false: "missed"}[met]
	}
	fmt.Printf("| %s |\n", strings.Join([]string{attack, measured, quiet, under, target, mark}, " | "))
}
