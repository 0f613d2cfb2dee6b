// Package symbols measures the reading of symbol files, each next to a tool that does the
// same: retrace, source maps, native symbols, minidumps.
//
// It starts no product. The parts process and late use a database with an organization, and
// process reports with and without symbols, and once more when these come late. Native symbols
// are read in a process of its own, whose memory is limited while it indexes.
//
// A tool that is not installed is a line in the table that says so, but for the npm packages,
// which are needed; a missed target is only printed.
package symbols

import (
	"context"
	"fmt"
	"time"

	"github.com/slipway-qa/slipway/cmd/bench/measure"
)

// Command measures the reading of symbol files and the lookups in their
// indexes, each next to a tool that does the same.
type Command struct {
	Only []string `help:"Parts to measure, by name; default: all."`
}

type symbolPart struct {
	name string
	run  func(context.Context) error
}

// symbolParts are the parts, in the order in which they run. A part prints its rows with
// measure.Row; a tool to compare with that is not installed is a row that says so, no error.
var symbolParts = []symbolPart{
	{"retrace", measureRetrace},
	{"minidump", measureMinidump},
	{"native", measureNative},
	{"sourcemap", measureSourceMap},
	{"process", measureProcess},
	{"late", measureLate},
}

// Run measures the parts in turn and prints a Markdown table.
func (c *Command) Run(ctx context.Context) error {
	var parts []measure.Part
	for _, p := range symbolParts {
		parts = append(parts, measure.Part{Name: p.name, Limit: symbolLimit, Run: p.run})
	}
	if err := measure.CheckParts(c.Only, parts); err != nil {
		return err
	}
	fmt.Print("| part | measured | target | |\n|---|---|---|---|\n")
	return measure.RunParts(ctx, c.Only, parts)
}

// symbolLimit is the deadline of a part: the longest, late, bounds itself to twice
// lateLimit.
const symbolLimit = 15 * time.Minute
