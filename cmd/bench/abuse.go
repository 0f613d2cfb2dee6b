package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
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
	missed  []string // rows of the table
}

// parts are the attacks, in the order in which they run. Each starts an
// installation of its own (startTarget) and prints its rows with row. All parts but
// those that are asked for take less than ten minutes together.
func (b *abuseBench) parts() []part {
	limit := 10*time.Minute + 4*(b.Quiet+b.Attack) // some attack twice
	return []part{
		{name: "uploads-slow", limit: limit, run: b.uploadsSlow},
		{name: "uploads-anonymous", limit: limit, run: b.uploadsAnonymous},
		{name: "crash-trickle", limit: limit, run: b.crashTrickle},
		{name: "tokens-bogus", limit: limit, run: b.bogusTokens},
		{name: "searches", limit: limit, run: b.searches},
		{name: "runs", limit: limit, run: b.runs},
		{name: "suites", limit: limit, run: b.suites},
		{name: "generations", limit: limit, run: b.generations},
		{name: "webhooks", limit: limit, run: b.webhooks},
		{name: "mails", limit: limit, run: b.mails},
		{name: "tarpit", limit: limit, run: b.tarpit},
		{name: "capabilities", limit: limit, run: b.capabilities},
		{name: "addresses", limit: limit, run: b.addresses},
		{name: "storage-secret", limit: limit, run: b.storageSecret},
		{name: "corpus", limit: limit, run: b.corpus},
		{name: "signatures", limit: limit, run: b.signatures, asked: true},
		{name: "chaos", limit: b.Chaos + chaosRest + 4*time.Minute, run: b.chaos, asked: true},
	}
}

// Run runs the attacks in turn and prints a Markdown table. It returns an error when a row
// of the table was missed.
func (c *abuseCommand) Run(ctx context.Context) error {
	b := &abuseBench{abuseCommand: c}
	parts := b.parts()
	if err := checkParts(c.Only, parts); err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "slipway-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if b.program, err = buildSlipway(ctx, dir, c.Program); err != nil {
		return err
	}
	if b.program, err = filepath.Abs(b.program); err != nil {
		return err
	}
	fmt.Print("| attack | measured | quiet | under attack | target | |\n|---|---|---|---|---|---|\n")
	if err := runParts(ctx, c.Only, parts); err != nil {
		return err
	}
	return b.verdict()
}

// verdict returns an error that names the rows that were missed.
func (b *abuseBench) verdict() error {
	if len(b.missed) == 0 {
		return nil
	}
	return fmt.Errorf("missed: %s", strings.Join(b.missed, "; "))
}

// row prints a row of the table. Without a target nothing is met or missed.
func (b *abuseBench) row(attack, measured, quiet, under, target string, met bool) {
	mark := ""
	if target != "" {
		mark = map[bool]string{true: "met", false: "missed"}[met]
	}
	if mark == "missed" {
		b.missed = append(b.missed, measured)
	}
	fmt.Printf("| %s |\n", strings.Join([]string{attack, measured, quiet, under, target, mark}, " | "))
}
