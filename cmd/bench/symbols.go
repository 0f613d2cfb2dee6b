package main

import (
	"context"
	"fmt"
	"time"
)

// symbolsCommand measures the reading of symbol files and the lookups in their
// indexes, each next to a tool that does the same.
type symbolsCommand struct {
	Only []string `help:"Parts to measure, by name; default: all."`
}

type symbolPart struct {
	name string
	run  func(context.Context) error
}

// symbolParts are the parts, in the order in which they run. A part prints its rows with
// row; a tool to compare with that is not installed is a row that says so, no error.
var symbolParts = []symbolPart{
	{"retrace", measureRetrace},
	{"minidump", measureMinidump},
	{"native", measureNative},
	{"sourcemap", measureSourceMap},
	{"process", measureProcess},
	{"late", measureLate},
}

// Run measures the parts in turn and prints a Markdown table.
func (c *symbolsCommand) Run(ctx context.Context) error {
	var parts []part
	for _, p := range symbolParts {
		parts = append(parts, part{name: p.name, limit: symbolLimit, run: p.run})
	}
	if err := checkParts(c.Only, parts); err != nil {
		return err
	}
	fmt.Print("| part | measured | target | |\n|---|---|---|---|\n")
	return runParts(ctx, c.Only, parts)
}

// symbolLimit is the deadline of a part: the longest, late, bounds itself to twice
// lateLimit.
const symbolLimit = 15 * time.Minute
