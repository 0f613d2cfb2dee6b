package method

import (
	"slices"
	"strings"
)

// Search returns the ways to search for a text: typed into the field of a search, with Enter or
// its button where nothing happens; a control that shows such a field.
func Search(t *Task, text string) []Way {
	m := t.Model
	var list []Way
	for i := range m.Fields {
		f := &m.Fields[i]
		n := &m.Nodes[f.Node]
		if f.Disabled || f.Hidden || f.Kind != "text" && n.Role != "searchbox" && n.Role != "combobox" {
			continue
		}
		searches := n.Type == "search" || n.Role == "searchbox" ||
			slices.ContainsFunc(f.Names, func(name string) bool { return textHas(name, "", "search", "filter", "find") }) ||
			textHas(n.Placeholder, "", "search", "filter", "find") || slices.ContainsFunc(n.Hints, func(h string) bool { return strings.Contains(strings.ToLower(h), "search") })
		if !searches {
			continue
		}
		cost := costNamed
		if f.Record >= 0 {
			cost = costGuess
		}
		name := "the search " + DescribeNode(m, f.Node)
		list = append(list, t.way(name, cost, fill(f.Node, text)), t.way(name+", and Enter", cost+0.2, fill(f.Node, text), key(f.Node, "Enter")),
			t.way(name+", typed", cost+0.4, press(f.Node), key(f.Node, "Control+a"), typed(-1, text)))
		for _, w := range t.byConcept(-1, cost+0.3, "search", "find") {
			list = append(list, t.way(name+" and its button", cost+0.3, append([]Act{fill(f.Node, text)}, w.Acts...)...))
		}
	}
	for _, w := range t.openers("search") {
		list = append(list, w)
	}
	return list
}
