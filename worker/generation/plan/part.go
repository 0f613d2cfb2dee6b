package plan

import (
	"slices"
)

// part returns the smallest part of the page around what was used last.
func (r ranking) part() int {
	at := r.v.find(r.focus.target)
	if r.focus.target == "" || at < 0 {
		return partOf(r.v, r.focus.part)
	}
	if isItem(&r.v.Nodes[at]) && r.v.last[at] > at {
		return at
	}
	for i := at; i >= 0; i = r.v.Nodes[i].Parent {
		n := &r.v.Nodes[i]
		if slices.Contains(partRoles, n.Role) && r.v.last[i] > i || r.v.itemLike(i) {
			return i
		}
	}
	return -1
}

// partRoles are the roles of parts of a page in which things belong together.
var partRoles = []string{"dialog", "alertdialog", "form", "row", "listitem", "article", "menu", "tabpanel", "group", "region"}

// itemLike reports whether a container without a role stands among others that are
// built as it is: an item of a list that does not say so.
func (v *view) itemLike(i int) bool {
	n := &v.Nodes[i]
	if n.Role != "" || n.Editable || v.last[i] == i && (!n.Interactive || n.Name == "") {
		return false
	}
	siblings := v.top
	if n.Parent >= 0 {
		siblings = v.children[n.Parent]
	}
	at, found := slices.BinarySearch(siblings, i)
	if !found {
		return false
	}
	// Only the nearest ones: a list can be long.
	for j := max(0, at-3); j <= min(len(siblings)-1, at+3); j++ {
		o := &v.Nodes[siblings[j]]
		if j != at && o.Role == "" && o.Tag == n.Tag && (v.last[siblings[j]] > siblings[j]) == (v.last[i] > i) {
			return true
		}
	}
	return false
}

// meansItem reports whether one of several items is meant.
func meansItem(roles []string) bool {
	return slices.ContainsFunc(roles, func(role string) bool {
		return role == "listitem" || role == "row" || role == "article" || role == "option" || role == "treeitem"
	})
}
