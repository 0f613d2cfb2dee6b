package plan

import (
	"slices"
	"strings"

	"github.com/slipway-qa/slipway/worker/generation/intent"
	"github.com/slipway-qa/slipway/worker/snapshot"
)

// nameless returns the sections that a phrase means which names none: the only one, the
// second, or all of them.
func nameless(v *view, s *intent.Phrase) ([]match, bool) {
	if s.Name != "" || s.Pronoun || len(s.Relations) > 0 || len(s.Others) > 0 || len(s.Except) > 0 || len(s.Looks) > 0 || len(s.State) > 0 || s.Count > 0 ||
		!slices.Contains(s.Roles, "region") && !slices.Contains(s.Roles, "group") {
		return nil, false
	}
	list := sectionHeads(v)
	at := s.Ordinal - 1
	switch {
	case s.Ordinal < 0:
		at = len(list) + s.Ordinal
	case s.Ordinal == 0:
		at = 0
	}
	if at < 0 || at >= len(list) || s.Ordinal == 0 && !s.All && len(list) != 1 {
		return nil, false
	}
	if !s.All {
		list = list[at : at+1]
	}
	matches := make([]match, 0, len(list))
	for _, i := range list {
		matches = append(matches, v.matchOf(scored{i, 1, ""}, "it opens and closes a section"))
	}
	return matches, true
}

// sectionHeads returns what opens and closes the sections of a page: what says so, else
// what shows something that is hidden, else the only thing that reacts and has no role.
func sectionHeads(v *view) []int {
	says := v.within(-1, func(n *snapshot.Node) bool {
		return !n.Hidden && (n.Tag == "summary" || n.Expanded != "" && n.Popup == "" && n.Tag != "details" && n.Role != "combobox" && n.Role != "treeitem")
	})
	if len(says) > 0 {
		return says
	}
	var list []int
	for i := range v.Nodes {
		if !v.Nodes[i].Hidden || v.Nodes[i].Opener == "" {
			continue
		}
		if at := v.find(v.Nodes[i].Opener); at >= 0 && !v.Nodes[at].Hidden && !slices.Contains(list, at) && len(list) < 100 {
			list = append(list, at)
		}
	}
	if len(list) > 0 {
		slices.Sort(list)
		return list
	}
	list = v.within(-1, v.bareSwitch)
	if len(list) > 1 {
		list = slices.DeleteFunc(list, func(i int) bool {
			return v.Nodes[i].Role != "heading" && !slices.ContainsFunc(v.Nodes[i].Hints, opensByHint)
		})
	}
	return list
}

// bareSwitch reports whether an element reacts to presses that has no role for it.
func (v *view) bareSwitch(n *snapshot.Node) bool {
	return !n.Hidden && !n.Editable && n.Interactive && !nativeRole(n.Role) && n.Name != "" && n.Href == "" &&
		(strings.Contains(n.Reacts, "listener") || strings.Contains(n.Reacts, "cursor"))
}

// openingSigns are what a page without roles shows before something that it can open.
var openingSigns = []string{"+", "[+]", "(+)", "▸", "►", "▶", "❯", "›", "⊞"}

// signOf returns the sign beside a name that opens what is under it; -1 without one: the
// only one in the same entry, on the same line.
func signOf(v *view, at int) int {
	entry := at
	if v.last[at] == at || v.Nodes[at].Role == "text" {
		entry = v.Nodes[at].Parent
	}
	if entry < 0 {
		return -1
	}
	found := -1
	for _, i := range v.children[entry] {
		n := &v.Nodes[i]
		if i == at || n.Hidden || !n.Interactive || !slices.Contains(openingSigns, strings.TrimSpace(n.Name)) || !sameLine(n.Box, v.Nodes[at].Box) {
			continue
		}
		if found >= 0 {
			return -1
		}
		found = i
	}
	return found
}
