// Package measure holds what the benches share: parts with a deadline, rows of a table,
// quantiles, reports to send and the load generator that sends them.
//
// A bench is a list of parts. Each part prints its rows and says meanwhile what it waits for.
// The generator writes bytes to connections without an HTTP library, since it shares the
// machine with the server that it measures.
//
// A part that does not end in time, or that is refused, ends with an error; a target that was
// missed is only a word in its row.
package measure

import (
	"context"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/slipway-qa/slipway/cmd/bench/progress"
)

// Part is a part of a measurement, which --only names.
type Part struct {
	Name string
	// Limit is its deadline: many times what it takes on an idle machine, since it ends
	// what hangs, not what is slow.
	Limit time.Duration
	Run   func(context.Context) error
	// Asked: the part runs only where --only names it.
	Asked bool
}

// CheckParts returns an error for a name that no part has.
func CheckParts(only []string, parts []Part) error {
	for _, name := range only {
		if !slices.ContainsFunc(parts, func(p Part) bool { return p.Name == name }) {
			return fmt.Errorf("there is no part %q", name)
		}
	}
	return nil
}

// RunParts runs the parts in turn: those that only names, or all but those that are to be
// asked for. Each has its deadline, and says every ten seconds what it waits for.
func RunParts(ctx context.Context, only []string, parts []Part) error {
	if err := CheckParts(only, parts); err != nil {
		return err
	}
	for _, p := range parts {
		if len(only) == 0 && p.Asked || len(only) > 0 && !slices.Contains(only, p.Name) {
			continue
		}
		if err := (progress.Part{Name: p.Name, Limit: p.Limit, Out: os.Stderr}).Run(ctx, p.Run); err != nil {
			return err
		}
	}
	return nil
}
