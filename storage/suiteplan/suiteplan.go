// Package suiteplan stores which cases a suite runs besides those whose suite it is, in which
// order, which of them need others, and for how long they may run; and makes of that the plan of
// a run.
//
// A suite runs the cases whose home it is (test_cases.suite_id), those that are shared with it,
// or, as a filter of tags, those that match when a run starts. Most suites have neither a filter
// nor an order, and their runs need no plan: package run then takes the cases by their ids. A run
// of any other suite, and a shard, has a plan: the cases in their order with what each of them
// needs, from which package run takes them step by step.
//
// Shards of one key agree on who runs what: the first that starts divides the cases by how long
// they took, and stores that; the others follow it for a day, whatever was run, changed or added
// meanwhile. A case that was deleted, or is in the suite no more, is left out.
//
// Ids in an order or a dependency whose case is gone, or that the suite does not run, mean
// nothing: deleting a case needs no look at suites.
package suiteplan

import (
	"slices"

	"github.com/slipway-qa/slipway/storage"
)

const (
	// MaxCases bounds the cases of a run of a suite, and of an order.
	MaxCases = 10_000
	// MaxShared bounds the cases that are shared with one suite.
	MaxShared = 5_000
	// MaxNeeds bounds the dependencies between the cases of a suite.
	MaxNeeds = 1_000
	// MaxDuration bounds the maximum time of a suite, in seconds: a day.
	MaxDuration = 86_400
	// MaxTags bounds the tags of either list of a filter.
	MaxTags = 20
	// MaxShards bounds the shards of a suite, as jobs of one pipeline.
	MaxShards = 256
	// maxKey bounds the key of shards, in characters.
	maxKey = 200
)

// Filter selects the cases of a suite when it runs.
type Filter struct {
	Tags    []string // all of which a case has
	NotTags []string // none of which it has
	// AllTeams selects among the cases of the organization; otherwise of the suite's team.
	AllTeams bool
}

// Empty reports whether the filter selects nothing in particular, and so is none.
func (f *Filter) Empty() bool { return f == nil || len(f.Tags)+len(f.NotTags) == 0 }

// Same reports whether two filters select the same; nil is none.
func (f *Filter) Same(other *Filter) bool {
	if f.Empty() || other.Empty() {
		return f.Empty() == other.Empty()
	}
	return f.AllTeams == other.AllTeams && slices.Equal(f.Tags, other.Tags) && slices.Equal(f.NotTags, other.NotTags)
}

// Settings are what a suite says of its runs.
type Settings struct {
	Filter      *Filter             // nil: the suite runs its own cases and those that are shared with it
	MaxDuration *int                // seconds; nil: no bound
	Order       []string            // ids of cases that are begun first; the others follow by their ids
	DependsOn   map[string][]string // ids of cases that must pass before, by the id of a case
}

// Change is what of the settings to change; nil members stay.
type Change struct {
	Filter      *Filter // an empty one: none
	MaxDuration *int    // 0: none
	Order       *[]string
	DependsOn   *map[string][]string
}

// Shard is one of several parts of a suite.
type Shard struct {
	Number int // from 1
	Of     int
	Key    string // the shards of one pipeline have it in common
}

// Check refuses a shard out of bounds; an *InvalidError names members of shard.
func (s *Shard) Check() (err error) {
	if s.Of < 1 || s.Of > MaxShards {
		return storage.Invalid("shard.of", "must be 1 to %d", MaxShards)
	}
	if s.Number < 1 || s.Number > s.Of {
		return storage.Invalid("shard.index", "must be 1 to %d", s.Of)
	}
	if s.Key, err = storage.Line("shard.key", s.Key, maxKey); err != nil {
		return err
	}
	if s.Key == "" {
		return storage.Invalid("shard.key",
			"is required where the run names neither a build nor its id: the shards of one pipeline have it in common")
	}
	return nil
}

// CheckDuration refuses a maximum time out of bounds; nil is none.
func CheckDuration(field string, seconds *int) error {
	if seconds != nil && (*seconds < 1 || *seconds > MaxDuration) {
		return storage.Invalid(field, "must be 1 to %d seconds", MaxDuration)
	}
	return nil
}
