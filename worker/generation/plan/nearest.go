package plan

import (
	"slices"

	"github.com/slipway-qa/slipway/worker/generation/intent"
)

// closest leaves those of a list that share the smallest part of the page with one of
// the anchors: the Delete button in the row of Ann is nearer to "Ann" than any other.
func (r ranking) closest(list, anchors []scored) []scored {
	if len(anchors) == 0 {
		return nil
	}
	list = byName(list)
	deepest := -1
	depths := make([]int, len(list))
	nearest := make([]int, len(list))
	for i, s := range list {
		depths[i] = -1
		for _, a := range anchors {
			if a.index == s.index {
				continue
			}
			if d := depthOf(r.v, shared(r.v, a.index, s.index)); d > depths[i] {
				depths[i], nearest[i] = d, a.index
			}
		}
		deepest = max(deepest, depths[i])
	}
	var kept []scored
	var of []int
	for i, s := range list {
		if depths[i] == deepest && depths[i] >= 0 {
			kept = append(kept, s)
			of = append(of, nearest[i])
		}
	}
	if len(apart(r.v, slices.Clone(kept))) < 2 {
		return kept
	}
	return r.onLine(kept, of)
}

// onLine leaves what stands on the same line as its anchor, or else is nearest.
func (r ranking) onLine(list []scored, anchors []int) []scored {
	var kept []scored
	for i, s := range list {
		if sameLine(r.v.Nodes[s.index].Box, r.v.Nodes[anchors[i]].Box) {
			kept = append(kept, s)
		}
	}
	if len(kept) > 0 {
		return kept
	}
	best := 1 << 30
	distances := make([]int, len(list))
	for i, s := range list {
		distances[i] = gap(r.v, s.index, anchors[i])
		best = min(best, distances[i])
	}
	for i, s := range list {
		if distances[i] <= best {
			kept = append(kept, s)
		}
	}
	return kept
}

// placed leaves what is nearest to something in a direction.
func (r ranking) placed(list []scored, rel *intent.Relation) []scored {
	anchors := r.anchors(&rel.Phrase, toFind)
	if near := r.nearest(byName(list), anchors, rel.Kind); len(near) > 0 {
		return near
	}
	return r.nearest(list, anchors, rel.Kind)
}

// byName leaves what is called so about as well as the best: what is merely like it is
// not meant because it is nearer.
func byName(list []scored) []scored {
	best := 0.0
	for _, s := range list {
		best = max(best, s.score)
	}
	var kept []scored
	for _, s := range list {
		if s.score >= best-0.15 {
			kept = append(kept, s)
		}
	}
	return kept
}

func (r ranking) nearest(list, anchors []scored, kind intent.RelationKind) []scored {
	best := 1 << 30
	distances := make([]int, len(list))
	for i, s := range list {
		distances[i] = 1 << 30
		for _, a := range anchors {
			if a.index == s.index || r.v.inside(a.index, s.index) {
				continue
			}
			if d, ok := stands(r.v, s.index, a.index, kind); ok {
				distances[i] = min(distances[i], d)
			}
		}
		if s.score >= enough-0.05 {
			best = min(best, distances[i])
		}
	}
	if best == 1<<30 {
		return nil
	}
	var kept []scored
	for i, s := range list {
		if distances[i] <= best+4 {
			kept = append(kept, s)
		}
	}
	return kept
}
