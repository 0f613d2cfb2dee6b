package account

import (
	"slices"

	"github.com/lib/pq"

	"github.com/slipway-qa/slipway/storage"
)

// Scope is a part of the api that a key may be restricted to. A key without scopes may do
// what its holder may; one with scopes may do no more than its holder, and of that only
// what the scopes say. Keys for agents have them.
type Scope string

// The scopes. Each of them includes ScopeRead.
const (
	ScopeRead    Scope = "agent:read"    // crashes, apps, builds, tests, runs and tasks
	ScopeTests   Scope = "agent:tests"   // create, generate and change tests
	ScopeRuns    Scope = "agent:runs"    // start and cancel runs
	ScopeBuilds  Scope = "agent:builds"  // upload builds and symbols
	ScopeCrashes Scope = "agent:crashes" // state, comments and merging of crash groups
)

// Scopes are all scopes.
func Scopes() []Scope {
	return []Scope{ScopeRead, ScopeTests, ScopeRuns, ScopeBuilds, ScopeCrashes}
}

// storedScopes checks the scopes of a new key, and returns them as a column: null for none.
func storedScopes(kind KeyKind, scopes []Scope) (pq.StringArray, error) {
	switch {
	case scopes == nil:
		return nil, nil
	case len(scopes) == 0:
		return nil, &storage.InvalidError{Field: "scopes", Msg: "must name at least one; leave it out for a key without restriction"}
	}
	if kind != KindAPI {
		return nil, &storage.InvalidError{Field: "scopes", Msg: "are for keys of the kind api only"}
	}
	var stored pq.StringArray
	for _, known := range Scopes() {
		if slices.Contains(scopes, known) {
			stored = append(stored, string(known))
		}
	}
	for _, scope := range scopes {
		if !slices.Contains(Scopes(), scope) {
			return nil, storage.Invalid("scopes", "must be some of %v", Scopes())
		}
	}
	return stored, nil
}
