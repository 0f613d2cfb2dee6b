package main

import (
	"context"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/slipway-qa/slipway/cmd/bench/progress"
)

// part is a part of a measurement, which --only names.
type part struct {
	name string
	// limit is its deadline: many times what it takes on an idle machine, since it ends
	// what hangs, not what is slow.
	limit time.Duration
	run   func(context.Context) error
	// asked: the part runs only where --only names it.
	asked bool
}

// checkParts returns an error for a name that no part has.
func checkParts(only []string, parts []part) error {
	for _, name := range only {
		if !slices.ContainsFunc(parts, func(p part) bool { return p.name == name }) {
			return fmt.Errorf("there is no part %q", name)
		}
	}
	return nil
}

// runParts runs the parts in turn: those that only names, or all but those that are to be
// asked for. Each has its deadline, and says every ten seconds what it waits for.
func runParts(ctx context.Context, only []string, parts []part) error {
	if err := checkParts(only, parts); err != nil {
		return err
	}
	for _, p := range parts {
		if len(only) == 0 && p.asked || len(only) > 0 && !slices.Contains(only, p.name) {
			continue
		}
		if err := (progress.Part{Name: p.name, Limit: p.limit, Out: os.Stderr}).Run(ctx, p.run); err != nil {
			return err
		}
	}
	return nil
}
