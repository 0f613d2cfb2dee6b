package plan

import (
	"cmp"
	"slices"

	"github.com/slipway-qa/slipway/worker/generation/intent"
)

// depthOf returns how many nodes are around one; of no node it is 0.
func depthOf(v *view, i int) (n int) {
	for ; i >= 0; i = v.Nodes[i].Parent {
		n++
	}
	return n
}

// shared returns the smallest node that holds two others; -1 for the page.
func shared(v *view, a, b int) int {
	for a >= 0 && !v.inside(b, a) {
		a = v.Nodes[a].Parent
	}
	return a
}

// sameLine reports whether two boxes stand beside each other.
func sameLine(a, b [4]int) bool {
	if a[3] == 0 || b[3] == 0 {
		return false
	}
	middle := b[1] + b[3]/2
	other := a[1] + a[3]/2
	return middle >= a[1] && middle <= a[1]+a[3] || other >= b[1] && other <= b[1]+b[3]
}

// gap returns how far two nodes are apart on the screen.
func gap(v *view, a, b int) int {
	x, y := apartBy(v.Nodes[a].Box, v.Nodes[b].Box)
	return x + y
}

// apartBy returns the distances of two boxes, sideways and down; 0 where they
// overlap.
func apartBy(a, b [4]int) (x, y int) {
	x = max(0, b[0]-(a[0]+a[2]), a[0]-(b[0]+b[2]))
	y = max(0, b[1]-(a[1]+a[3]), a[1]-(b[1]+b[3]))
	return x, y
}

// stands returns how far a node is from another one in the direction of a relation,
// and whether it is in that direction at all.
func stands(v *view, i, anchor int, kind intent.RelationKind) (int, bool) {
	a, b := v.Nodes[i].Box, v.Nodes[anchor].Box
	x, y := apartBy(a, b)
	known := a[3] > 0 && b[3] > 0
	switch kind {
	case intent.Behind:
		return i - anchor, i > anchor && !v.inside(i, anchor)
	case intent.Ahead:
		return anchor - i, i < anchor
	case intent.Under:
		if !known {
			return i - anchor, i > anchor
		}
		return y + 2*x, a[1] >= b[1]+b[3]-4
	case intent.Above:
		if !known {
			return anchor - i, i < anchor
		}
		return y + 2*x, a[1]+a[3] <= b[1]+4
	case intent.LeftOf:
		return x + 4*y, known && a[0]+a[2] <= b[0]+4
	case intent.RightOf:
		return x + 4*y, known && a[0] >= b[0]+b[2]-4
	default: // beside
		if !known {
			return max(i-anchor, anchor-i), true
		}
		return x + 3*y, true
	}
}

// apart leaves of things in things, and of one thing found twice, the best one.
func apart(v *view, list []scored) []scored { return separate(v, list, v.sameThing) }

// each leaves of things in things the best one.
func (v *view) each(list []scored) []scored { return separate(v, list, v.nested) }

func separate(v *view, list []scored, same func(a, b int) bool) []scored {
	best := slices.Clone(list)
	slices.SortStableFunc(best, func(a, b scored) int { return cmp.Compare(b.score, a.score) })
	var kept []scored
	for _, s := range best {
		if !slices.ContainsFunc(kept, func(k scored) bool { return same(k.index, s.index) }) {
			kept = append(kept, s)
		}
	}
	return kept
}

// sameThing reports whether who means one of two nodes means the other as well: one
// is in the other, or both lead to the same page under the same name.
func (v *view) sameThing(a, b int) bool {
	x, y := &v.Nodes[a], &v.Nodes[b]
	return v.nested(a, b) || leads(x) && x.Href == y.Href && x.Role == y.Role && x.Name == y.Name
}

// nested reports whether one of two nodes is in the other.
func (v *view) nested(a, b int) bool {
	return v.Nodes[a].Ref == v.Nodes[b].Ref || v.inside(a, b) || v.inside(b, a)
}

// inOrder sorts a list as people count it: in the order of the document, or of a
// column or line on the screen where that is another.
func inOrder(v *view, list []scored) []scored {
	slices.SortStableFunc(list, func(a, b scored) int { return cmp.Compare(a.index, b.index) })
	if len(list) < 2 {
		return list
	}
	column, line := true, true
	first := v.Nodes[list[0].index].Box
	for _, s := range list {
		box := v.Nodes[s.index].Box
		if box[2] == 0 || box[3] == 0 {
			return list
		}
		x, y := apartBy(first, box)
		column = column && x == 0
		line = line && y == 0
	}
	axis := 1
	switch {
	case column == line:
		return list
	case line:
		axis = 0
	}
	slices.SortStableFunc(list, func(a, b scored) int {
		return cmp.Compare(v.Nodes[a.index].Box[axis], v.Nodes[b.index].Box[axis])
	})
	return list
}
