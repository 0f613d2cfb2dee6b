package method

import (
	"cmp"
	"slices"
	"strings"

	"github.com/slipway-qa/slipway/worker/generation/intent"
	"github.com/slipway-qa/slipway/worker/generation/lexicon"
	"github.com/slipway-qa/slipway/worker/generation/page"
)

// Search returns the ways to search for a text: typed into the field of a search, with Enter or
// its button where nothing happens; a control that shows such a field. Where there is none, any field
// of text that makes nothing new is a guess.
func Search(t *Task, text string) []Way {
	m := t.Model
	var list []Way
	buttons := t.byConcept(-1, 0, "search", "find")
	listed := t.inList() && slices.ContainsFunc(m.Fields, func(f page.Field) bool {
		return !f.Hidden && f.Record < 0 &&
			f.Kind == "text" && t.ofList(f.Node)
	})
	called := false
	for i := range m.Fields {
		f := &m.Fields[i]
		n := &m.Nodes[f.Node]
		if f.Disabled || f.Hidden || f.ReadOnly || n.Hidden || f.Record >= 0 || f.Kind != "text" && n.Role != "searchbox" &&
			n.Role != "combobox" {
			continue
		}
		cost, guess := costNamed, !IsSearch(m, i)
		if guess {
			makes := func(name string) bool { return textHas(name, "", "new", "add", "create") }
			if cost = costGuess; slices.ContainsFunc(f.Names, makes) {
				continue
			}
		}
		if listed && !t.ofList(f.Node) {
			continue
		}
		near := -1
		for k, w := range buttons {
			if sameForm(m, f.Node, w.Acts[0].Node) && m.Nodes[w.Acts[0].Node].Role == "button" {
				near, cost, guess = k, min(cost, costNamed+0.1), false
			}
		}
		called = called || !guess
		first := len(list)
		name := "the search " + DescribeNode(m, f.Node)
		if near >= 0 {
			list = append(list, t.way(name+" and its button", cost-0.1, append([]Act{fill(f.Node, text)}, buttons[near].Acts...)...))
		}
		list = append(list, t.way(name, cost, fill(f.Node, text)), t.way(name+", and Enter", cost+0.2, fill(f.Node, text), key(f.Node, "Enter")),
			t.way(name+", typed", cost+0.4, press(f.Node), key(f.Node, "Control+a"), typed(-1, text)))
		for k := first; k < len(list); k++ {
			list[k].Guess = guess
		}
	}
	list = append(list, t.openers("search")...)
	if called {
		list = slices.DeleteFunc(list, func(w Way) bool { return w.Guess })
	}
	slices.SortStableFunc(list, func(a, b Way) int { return cmp.Compare(a.Cost, b.Cost) })
	return list
}

// inList reports whether the goal says that a list or table is searched, and not the page.
func (t *Task) inList() bool {
	places := []*intent.Description{t.Goal.To, t.Goal.From, t.Goal.In}
	for i := range t.Goal.Target {
		places = append(places, &t.Goal.Target[i])
	}
	return slices.ContainsFunc(places, func(d *intent.Description) bool {
		return d != nil && len(d.Words) == 0 && (d.Kind == intent.Table || d.Kind == intent.List)
	})
}

// maxAround is how many elements up a field stands with the list that it narrows.
const maxAround = 6

// ofList reports whether a field stands close to a list of things.
func (t *Task) ofList(node int) bool {
	m := t.Model
	for up, n := m.Nodes[node].Parent, 0; up >= 0 && n < maxAround; up, n = m.Nodes[up].Parent, n+1 {
		for i := range m.Groups {
			if g := &m.Groups[i]; len(g.Records) > 0 && g.Kind != "menu" && m.Inside(up, m.Records[g.Records[0]].Node) {
				return true
			}
		}
	}
	return false
}

// IsSearch reports whether a field is called a search or filter.
func IsSearch(m *page.Model, field int) bool {
	f := &m.Fields[field]
	n := &m.Nodes[f.Node]
	is := func(name string) bool { return textHas(name, "", "search", "filter", "find", "contains") }
	return n.Type == "search" || n.Role == "searchbox" || slices.ContainsFunc(f.Names, is) || is(n.Placeholder) ||
		slices.ContainsFunc(n.Hints, func(h string) bool { return strings.Contains(strings.ToLower(h), "search") })
}

// Narrows reports whether a field only says what of a list is seen, or in which order: it is called
// a search, filter or order, a number of rows, or "only" something.
func Narrows(m *page.Model, field int) bool {
	if IsSearch(m, field) {
		return true
	}
	f := &m.Fields[field]
	narrows := func(name string) bool {
		words := strings.Fields(name)
		return textHas(name, "", "rows_per_page") || len(words) > 0 && textHas(words[0], "", "sort", "filter") ||
			textHas(name, "", "show") && only(name) || f.Kind == "switch" && only(name)
	}
	return slices.ContainsFunc(f.Names, narrows)
}

// ShowsOnly reports whether the label of a field says that it shows only what it names, and not what is left:
// "Only vacant rooms", but not "Only rooms that are not vacant".
func ShowsOnly(m *page.Model, field int) bool {
	names := m.Fields[field].Names
	return slices.ContainsFunc(names, only) && !slices.ContainsFunc(names, func(name string) bool {
		return lexicon.Negates(name) || textHas(name, "", "hide")
	})
}

// only reports whether a name has a word for "only", of any language.
func only(name string) bool {
	return slices.ContainsFunc(strings.Fields(name), func(w string) bool {
		return slices.ContainsFunc(lexicon.Codes(), func(code string) bool {
			e := lexicon.Language(code).Entry(strings.Trim(w, ".,:;!?()"), lexicon.Quantity)
			return e != nil && e.Name == "only"
		})
	})
}

// sameForm reports whether two nodes stand in one small part of the page.
func sameForm(m *page.Model, a, b int) bool {
	for up, n := m.Nodes[a].Parent, 0; up >= 0 && n < 3; up, n = m.Nodes[up].Parent, n+1 {
		if m.Inside(up, b) {
			return m.Index().End(up)-up < 60
		}
	}
	return false
}
