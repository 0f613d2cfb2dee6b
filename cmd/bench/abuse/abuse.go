// Package abuse attacks a running Slipway as one organization, and measures what another one
// notices of it.
//
// Each attack is a part: it starts the product, measures what the other organization does
// while all is quiet, attacks ten times as strongly as when the attack was first found, and
// measures once more. The part chaos kills the processes of a whole deployment in turn, and
// then compares what clients were told with what is stored.
//
// A target that was missed ends the command with an error, unlike in the other benches: what
// is compared is the quiet and the attacked service of one run.
package abuse

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/slipway-qa/slipway/cmd/bench/measure"
	"github.com/slipway-qa/slipway/cmd/bench/process"
)

// Command attacks a running installation by one organization, and measures what
// another one has of it meanwhile.
type Command struct {
	Only    []string      `help:"Parts to run, by name; default: all but chaos."`
	Program string        `help:"A slipway program to attack; default: build this checkout."`
	Quiet   time.Duration `default:"8s" help:"Length of the measurement before an attack."`
	Attack  time.Duration `default:"15s" help:"Length of the measurement under an attack."`
	Chaos   time.Duration `default:"1m" help:"Length of the part chaos."`
	APKs    string        `name:"apks" type:"path" help:"Folder with the packages of the part signatures, such as the test set of apksigner."`
}

// bench is one run of the command.
type bench struct {
	*Command
	program string
	missed  []string // rows of the table
}

// parts are the attacks, in the order in which they run. Each starts an
// installation of its own (startTarget) and prints its rows with row. All parts but
// those that are asked for take less than ten minutes together.
func (b *bench) parts() []measure.Part {
	limit := 10*time.Minute + 4*(b.Quiet+b.Attack) // some attack twice
	return []measure.Part{
		{Name: "uploads-slow", Limit: limit, Run: b.uploadsSlow},
		{Name: "uploads-anonymous", Limit: limit, Run: b.uploadsAnonymous},
		{Name: "crash-trickle", Limit: limit, Run: b.crashTrickle},
		{Name: "tokens-bogus", Limit: limit, Run: b.bogusTokens},
		{Name: "searches", Limit: limit, Run: b.searches},
		{Name: "runs", Limit: limit, Run: b.runs},
		{Name: "suites", Limit: limit, Run: b.suites},
		{Name: "generations", Limit: limit, Run: b.generations},
		{Name: "webhooks", Limit: limit, Run: b.webhooks},
		{Name: "mails", Limit: limit, Run: b.mails},
		{Name: "tarpit", Limit: limit, Run: b.tarpit},
		{Name: "capabilities", Limit: limit, Run: b.capabilities},
		{Name: "addresses", Limit: limit, Run: b.addresses},
		{Name: "storage-secret", Limit: limit, Run: b.storageSecret},
		{Name: "corpus", Limit: limit, Run: b.corpus},
		{Name: "signatures", Limit: limit, Run: b.signatures, Asked: true},
		{Name: "chaos", Limit: b.Chaos + chaosRest + 4*time.Minute, Run: b.chaos, Asked: true},
	}
}

// Run runs the attacks in turn and prints a Markdown table. It returns an error when a row
// of the table was missed.
func (c *Command) Run(ctx context.Context) error {
	b := &bench{Command: c}
	parts := b.parts()
	if err := measure.CheckParts(c.Only, parts); err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "slipway-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if b.program, err = process.Build(ctx, dir, c.Program); err != nil {
		return err
	}
	if b.program, err = filepath.Abs(b.program); err != nil {
		return err
	}
	fmt.Print("| attack | measured | quiet | under attack | target | |\n|---|---|---|---|---|---|\n")
	if err := measure.RunParts(ctx, c.Only, parts); err != nil {
		return err
	}
	return b.verdict()
}

// verdict returns an error that names the rows that were missed.
func (b *bench) verdict() error {
	if len(b.missed) == 0 {
		return nil
	}
	return fmt.Errorf("missed: %s", strings.Join(b.missed, "; "))
}

// row prints a row of the table. Without a target nothing is met or missed.
func (b *bench) row(attack, measured, quiet, under, target string, met bool) {
	mark := ""
	if target != "" {
		mark = map[bool]string{true: "met", false: "missed"}[met]
	}
	if mark == "missed" {
		b.missed = append(b.missed, measured)
	}
	fmt.Printf("| %s |\n", strings.Join([]string{attack, measured, quiet, under, target, mark}, " | "))
}
