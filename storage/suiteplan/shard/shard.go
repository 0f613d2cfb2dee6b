// Package shard divides tests into parts that take about the same time, for machines that run
// a part each.
//
// Split is a pure function: the same tests, times and needs make the same parts, whatever the
// order they come in. The longest goes first, to the part that has least so far; tests that need
// one another stay together, since a part knows nothing of the results of another.
package shard

import (
	"cmp"
	"slices"
	"time"
)

// Unknown is assumed for tests when none of them has been run.
const Unknown = time.Minute

// Split returns the tests of each part, longest first. A test whose time is not known counts as
// the mean of the others. needs are the tests that a test needs, by its id; those that are not
// among ids keep nothing together. Ids that stand twice count once.
func Split(ids []string, took map[string]time.Duration, needs map[string][]string, parts int) [][]string {
	sorted := slices.Compact(slices.Sorted(slices.Values(ids)))
	groups := together(sorted, needs)
	mean := meanOf(took)
	length := func(id string) time.Duration {
		if d, known := took[id]; known {
			return d
		}
		return mean
	}
	whole := func(group []string) (sum time.Duration) {
		for _, id := range group {
			sum += length(id)
		}
		return sum
	}
	for _, g := range groups {
		slices.SortFunc(g, func(a, b string) int { return cmp.Or(cmp.Compare(length(b), length(a)), cmp.Compare(a, b)) })
	}
	slices.SortFunc(groups, func(a, b []string) int { return cmp.Or(cmp.Compare(whole(b), whole(a)), cmp.Compare(a[0], b[0])) })
	out, sums := make([][]string, parts), make([]time.Duration, parts)
	for _, g := range groups {
		least := 0
		for i := range sums {
			// Tests that take no time are spread by their number.
			if cmp.Or(cmp.Compare(sums[i], sums[least]), cmp.Compare(len(out[i]), len(out[least]))) < 0 {
				least = i
			}
		}
		out[least] = append(out[least], g...)
		sums[least] += whole(g)
	}
	return out
}

func meanOf(took map[string]time.Duration) time.Duration {
	if len(took) == 0 {
		return Unknown
	}
	var sum time.Duration
	for _, d := range took {
		sum += d
	}
	return sum / time.Duration(len(took))
}

// together returns the groups of tests that need one another, a test alone for most.
func together(sorted []string, needs map[string][]string) [][]string {
	parent := make(map[string]string, len(sorted))
	for _, id := range sorted {
		parent[id] = id
	}
	root := func(id string) string {
		for parent[id] != id {
			parent[id] = parent[parent[id]]
			id = parent[id]
		}
		return id
	}
	for _, id := range sorted {
		for _, need := range needs[id] {
			if _, here := parent[need]; !here {
				continue
			}
			a, b := root(id), root(need)
			parent[max(a, b)] = min(a, b)
		}
	}
	byRoot := map[string][]string{}
	var roots []string
	for _, id := range sorted {
		r := root(id)
		if byRoot[r] == nil {
			roots = append(roots, r)
		}
		byRoot[r] = append(byRoot[r], id)
	}
	groups := make([][]string, len(roots))
	for i, r := range roots {
		groups[i] = byRoot[r]
	}
	return groups
}
