package main

import (
	"context"
	"fmt"
	"slices"
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
	for _, name := range c.Only {
		if !slices.ContainsFunc(symbolParts, func(p symbolPart) bool { return p.name == name }) {
			return fmt.Errorf("there is no part %q", name)
		}
	}
	fmt.Print("| part | measured | target | |\n|---|---|---|---|\n")
	for _, part := range symbolParts {
		if len(c.Only) > 0 && !slices.Contains(c.Only, part.name) {
			continue
		}
		if err := part.run(ctx); err != nil {
			return fmt.Errorf("%s: %w", part.name, err)
		}
	}
	return nil
}
