package suiteplan

import (
	"maps"
	"slices"
	"strings"

	"github.com/slipway-qa/slipway/storage"
)

// Planned is a case of a plan.
type Planned struct {
	CaseID string
	Needs  []string // cases of the plan that must pass before; never nil
	Needed bool     // another one needs it
}

// order returns the cases as they are begun: as given by the order, then by their ids, but each
// one after those that it needs. Needs that are not among the cases are left out.
func order(cases, first []string, needs map[string][]string) []Planned {
	sorted := slices.Compact(slices.Sorted(slices.Values(cases)))
	here := make(map[string]bool, len(sorted))
	for _, id := range sorted {
		here[id] = true
	}
	out := make([]Planned, 0, len(sorted))
	placed, needed := make(map[string]bool, len(sorted)), map[string]bool{}
	var place func(id string)
	place = func(id string) {
		if placed[id] || !here[id] {
			return
		}
		placed[id] = true
		one := Planned{CaseID: id, Needs: []string{}}
		for _, need := range needs[id] {
			if !here[need] || slices.Contains(one.Needs, need) {
				continue
			}
			place(need)
			one.Needs, needed[need] = append(one.Needs, need), true
		}
		out = append(out, one)
	}
	for _, id := range first {
		place(id)
	}
	for _, id := range sorted {
		place(id)
	}
	for i := range out {
		out[i].Needed = needed[out[i].CaseID]
	}
	return out
}

// checkNeeds refuses dependencies that are too many or lead back to where they began; names are
// those of the cases, by their ids.
func checkNeeds(needs map[string][]string, names map[string]string) error {
	edges := 0
	for _, list := range needs {
		edges += len(list)
	}
	if edges > MaxNeeds {
		return storage.Invalid("dependsOn", "must have at most %d dependencies", MaxNeeds)
	}
	if chain := cycle(needs); chain != nil {
		for i, id := range chain {
			if name := names[id]; name != "" {
				chain[i] = `"` + name + `"`
			}
		}
		return storage.Invalid("dependsOn", "has a cycle: %s", strings.Join(chain, " needs "))
	}
	return nil
}

// cycle returns cases each of which needs the next, the first of them again at the end; nil when
// there are none.
func cycle(needs map[string][]string) []string {
	const onPath, done = 1, 2
	state := map[string]int{}
	var path []string
	var visit func(id string) []string
	visit = func(id string) []string {
		switch state[id] {
		case done:
			return nil
		case onPath:
			return append(slices.Clone(path[slices.Index(path, id):]), id)
		}
		state[id], path = onPath, append(path, id)
		for _, need := range needs[id] {
			if found := visit(need); found != nil {
				return found
			}
		}
		state[id], path = done, path[:len(path)-1]
		return nil
	}
	for _, id := range slices.Sorted(maps.Keys(needs)) {
		if found := visit(id); found != nil {
			return found
		}
	}
	return nil
}
