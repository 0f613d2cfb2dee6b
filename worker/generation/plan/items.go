package plan

import (
	"slices"

	"github.com/slipway-qa/slipway/worker/generation/intent"
	"github.com/slipway-qa/slipway/worker/snapshot"
)

// itemRoles are the roles of what stands in lists.
var itemRoles = []string{"listitem", "option", "row", "article", "treeitem", "menuitem", "tab", "gridcell"}

// items returns the items of the list that a phrase means: the children of one container
// that are of one kind. A phrase that names none means the only list of the page.
func (p *planner) items(v *view, s *intent.Phrase) ([]int, error) {
	root := -1
	if s != nil && (s.Name != "" || len(s.Relations) > 0 || len(s.Roles) > 0) {
		m, err := p.pick(v, s, toHold)
		switch {
		case err == nil:
			root = m.index
		case !isNotUnderstood(err):
			return nil, err
		}
	}
	groups := groupsOf(v, root)
	if len(groups) == 0 {
		return nil, p.notUnderstood("there is no list of items")
	}
	best := slices.MaxFunc(groups, func(a, b []int) int { return v.weight(a) - v.weight(b) })
	for _, other := range groups {
		if root < 0 && other[0] != best[0] && v.weight(other) == v.weight(best) {
			return nil, p.notUnderstood("there are several lists, and it does not say which")
		}
	}
	return best, nil
}

// weight says how likely a group of siblings is a list that people order: draggable ones
// first, then those with the role of an item, then the rest.
func (v *view) weight(group []int) int {
	n := &v.Nodes[group[0]]
	weight := 0
	if draggable(n) {
		weight += 4
	}
	if slices.Contains(itemRoles, n.Role) {
		weight += 2
	}
	if n.Interactive {
		weight++
	}
	return weight
}

// groupsOf returns the groups of at least two siblings of one kind below a node.
func groupsOf(v *view, root int) [][]int {
	var groups [][]int
	collect := func(children []int) {
		var group []int
		for _, i := range children {
			n := &v.Nodes[i]
			if n.Hidden || n.Role == "text" {
				continue
			}
			if len(group) > 0 {
				first := &v.Nodes[group[0]]
				if first.Role != n.Role || first.Tag != n.Tag {
					continue
				}
			}
			group = append(group, i)
		}
		if len(group) > 1 {
			groups = append(groups, group)
		}
	}
	if root < 0 {
		var top []int
		for i := range v.Nodes {
			if v.Nodes[i].Parent < 0 {
				top = append(top, i)
			}
		}
		collect(top)
	}
	for i := range v.Nodes {
		if root < 0 || v.inside(i, root) {
			collect(v.children[i])
		}
	}
	return groups
}

// draggable reports whether an element says that it can be dragged.
func draggable(n *snapshot.Node) bool {
	return hasAny(n.Hints, []string{"draggable", "sortable", "drag", "handle", "ui-draggable", "ui-sortable-handle"}) || containsWord(n.Reacts, "draggable")
}

func containsWord(text, word string) bool {
	return slices.Contains(splitUnits(text), word)
}
