package agent

import (
	"fmt"
	"slices"
	"strings"
)

// Write is a kind of changes.
type Write string

// The kinds.
const (
	Tests   Write = "tests"   // generate and change tests
	Runs    Write = "runs"    // start runs
	Builds  Write = "builds"  // upload builds
	Crashes Write = "crashes" // state and comments of crash groups
)

// Writes are all kinds.
func Writes() []Write { return []Write{Tests, Runs, Builds, Crashes} }

// ParseWrites reads kinds as a person names them; each once.
func ParseWrites(names []string) ([]Write, error) {
	var kinds []Write
	for _, name := range names {
		kind := Write(strings.TrimSpace(name))
		if !slices.Contains(Writes(), kind) {
			return nil, fmt.Errorf("%q is no kind of changes: there are tests, runs, builds and crashes", name)
		}
		if !slices.Contains(kinds, kind) {
			kinds = append(kinds, kind)
		}
	}
	return kinds, nil
}

// refusal says how a tool would be allowed.
func refusal(tool string, kind Write) error {
	return &callError{outcome: refused,
		text: fmt.Sprintf("%s is not allowed here. Whoever set up this server allows it: slipway-ci mcp with --allow %s, "+
			"at /mcp a key with the scope agent:%s.", tool, kind, kind)}
}
