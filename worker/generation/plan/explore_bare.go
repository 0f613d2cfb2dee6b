package plan

import (
	"slices"
	"strconv"
	"strings"
)

// longestTab is how many characters what stands on a tab has at most.
const longestTab = 40

// bareTab reports whether an element without a role is one of several tabs, as those who
// wrote the page call it or what it is in.
func bareTab(v *view, i int) bool {
	n := &v.Nodes[i]
	if nativeRole(n.Role) && n.Role != "link" || n.Name == "" || len(n.Name) > longestTab || !alone(v, i) {
		return false
	}
	return calledIn(v, i, 2, []string{"tab", "tabs", "tabbar", "tabset", "tablist", "tabstrip"})
}

// pageNumber reports whether an element leads to one of several pages by its number.
func pageNumber(v *view, i int) bool {
	n := &v.Nodes[i]
	if at, err := strconv.Atoi(strings.TrimSpace(n.Name)); err != nil || at < 1 || at > 1000 || !n.Interactive || n.Selected == "true" {
		return false
	}
	return calledIn(v, i, 3, []string{"pagination", "paginator", "paginate", "pager", "pages", "page", "paging"})
}

// alone reports whether nothing in a node is used by itself.
func alone(v *view, i int) bool { return v.last[i]-i <= 3 && !hasControl(v, i) }

// calledIn reports whether a node, or one of those around it, has one of some words as a
// hint.
func calledIn(v *view, i, up int, words []string) bool {
	for ; i >= 0 && up >= 0; i, up = v.Nodes[i].Parent, up-1 {
		if slices.ContainsFunc(v.Nodes[i].Hints, func(h string) bool { return slices.Contains(words, h) }) {
			return true
		}
	}
	return false
}
