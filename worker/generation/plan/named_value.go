package plan

import (
	"slices"
	"strings"

	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/worker/generation/intent"
	"github.com/slipway-qa/slipway/worker/snapshot"
)

// valueBeside returns the node that stands for a label: the cell that follows it in its
// row, the definition of a term, or the text behind it; -1 without.
func valueBeside(v *view, label int) int {
	n := &v.Nodes[label]
	if n.Table == "" {
		if cell := v.around(label, "cell", "gridcell", "rowheader"); cell >= 0 {
			label, n = cell, &v.Nodes[cell]
		}
	}
	if n.Table != "" && n.Role != "columnheader" {
		for i := range v.Nodes {
			other := &v.Nodes[i]
			if other.Table == n.Table && other.Row == n.Row && other.Column == n.Column+1 && !other.Hidden {
				return i
			}
		}
		return -1
	}
	if n.Role == "term" || n.Tag == "dt" {
		for i := v.last[label] + 1; i < len(v.Nodes); i++ {
			if other := &v.Nodes[i]; other.Parent == n.Parent {
				if other.Tag == "dd" || other.Role == "definition" {
					return i
				}
				return -1
			}
		}
		return -1
	}
	if n.Parent < 0 {
		return -1
	}
	rest := slices.DeleteFunc(slices.Clone(v.children[n.Parent]), func(i int) bool {
		return i <= label || v.Nodes[i].Hidden || v.shown(i) == "" && v.Nodes[i].Value == ""
	})
	if len(rest) == 1 {
		return rest[0]
	}
	return -1
}

// besideOneOf returns what stands beside the one label, of those that a phrase may mean,
// that has something beside it which is no field: "the code" of a label "Your code" and a
// field "Code"; -1 when none or several have.
func (r ranking) besideOneOf(phrase *intent.Phrase) int {
	found := -1
	for k, s := range r.rank(phrase) {
		if k == mostLabels || s.score < partly-0.1 {
			break
		}
		if r.v.Nodes[s.index].Interactive {
			continue
		}
		i := valueBeside(r.v, s.index)
		if i < 0 || r.v.Nodes[i].Interactive || r.v.shown(i) == "" {
			continue
		}
		if found >= 0 && r.v.shown(found) != r.v.shown(i) {
			return -1
		}
		found = i
	}
	return found
}

// mostLabels bounds the labels that are looked at.
const mostLabels = 20

// isLabel reports whether a node says nothing but a name, perhaps with a colon.
func isLabel(v *view, i int, name string) bool {
	return name != "" && squeeze(v.shown(i)) == squeeze(strings.TrimPrefix(name, "of "))
}

// cellNamed returns the cell of a table that a phrase names by its column and its row: "the
// age of Ann", "the column Role in the row of Ann"; -1 without, or when several are.
func cellNamed(v *view, s *intent.Phrase) (cell, row int) {
	if s == nil || s.Name == "" || len(s.Relations) != 1 {
		return -1, -1
	}
	owner := s.Relations[0].Name
	for inner := s.Relations[0].Phrase; owner == "" && len(inner.Relations) == 1; {
		inner = inner.Relations[0].Phrase
		owner = inner.Name
	}
	if owner == "" {
		return -1, -1
	}
	cell = -1
	for i := range v.Nodes {
		n := &v.Nodes[i]
		if n.Table == "" || n.Hidden || n.Role != "cell" && n.Role != "gridcell" || likeness(n.ColumnHeader, s.Name) < 0.8 {
			continue
		}
		at := v.around(i, "row")
		if at < 0 || !rowIs(v, at, i, owner) {
			continue
		}
		if cell >= 0 {
			return -1, -1
		}
		cell, row = i, at
	}
	return cell, row
}

// rowIs reports whether another cell of a row is what the row is named by.
func rowIs(v *view, row, but int, name string) bool {
	for _, i := range v.within(row, func(n *snapshot.Node) bool { return !n.Hidden && n.Table != "" }) {
		if i != but && likeness(v.shown(i), name) >= 0.8 {
			return true
		}
	}
	return false
}

// saysCell claims what a cell says that is named by its column and its row.
func (a asserter) saysCell(v *view, want *intent.Assertion, text string) (claim, bool, error) {
	cell, row := cellNamed(v, want.Subject)
	if cell < 0 {
		return claim{}, false, nil
	}
	n := &v.Nodes[cell]
	has := v.shown(cell)
	c := claim{not: want.Not, why: "the cell of the column " + n.ColumnHeader, matcher: step.Matcher{Name: step.TextIs, Args: step.MatcherArgs{Value: text, Mode: want.Mode}}}
	if foldText(has) == foldText(text) {
		c.matcher.Args = step.MatcherArgs{Value: has}
	}
	if part, ok := occurrence(has, text); ok && want.Mode != step.Matches && c.matcher.Args.Value != has {
		c.matcher.Args = step.MatcherArgs{Value: part, Mode: step.Contains}
	}
	if want.Mode == step.AtLeast || want.Mode == step.AtMost {
		pattern, ok := numberPattern(text, want.Mode, false)
		if !ok {
			return c, true, a.notUnderstood(text + " is no number to compare with")
		}
		c.matcher.Args = step.MatcherArgs{Value: pattern, Mode: step.Matches}
	}
	if !holdsText(has, c.matcher.Args.Value, c.matcher.Args.Mode, want.Not) {
		return c, true, a.seen(want, "cell", has)
	}
	owner := want.Subject.Relations[0].Name
	for inner := want.Subject.Relations[0].Phrase; owner == "" && len(inner.Relations) == 1; {
		inner = inner.Relations[0].Phrase
		owner = inner.Name
	}
	place := 0
	for _, i := range v.within(row, func(other *snapshot.Node) bool { return other.Role == n.Role && !other.Hidden }) {
		if i < cell {
			place++
		}
	}
	c.selector = &step.Selector{Type: step.ByRole, Value: n.Role, Index: &place, Within: &step.Selector{Type: step.ByRole, Value: "row", HasText: owner}}
	if len(n.Frame) > 0 {
		c.selector, c.on = nil, n.Ref
	}
	return c, true, nil
}

// saysAt claims what stands at a place ("the first row"): it is found by its place among
// those of its role, and by nothing that it says.
func (a asserter) saysAt(v *view, want *intent.Assertion, m match, text string) (claim, bool, error) {
	s := want.Subject
	if m.node == nil || s.Ordinal == 0 || s.Name != "" || len(s.Relations) > 0 || len(s.Roles) == 0 || m.node.Role == "" || m.node.Role == "text" || len(m.node.Frame) > 0 {
		return claim{}, false, nil
	}
	role := m.node.Role
	selector := &step.Selector{Type: step.ByRole, Value: role}
	cell := ""
	if role == "row" {
		if cell = cellRole(v, -1); cell != "" {
			selector.Has = &step.Selector{Type: step.ByRole, Value: cell}
		}
	}
	place, count := -1, 0
	for _, i := range v.within(-1, func(n *snapshot.Node) bool { return n.Role == role && !n.Hidden }) {
		if cell != "" && len(v.within(i, func(n *snapshot.Node) bool { return n.Role == cell })) == 0 {
			continue
		}
		if i == m.index {
			place = count
		}
		count++
	}
	if place < 0 {
		return claim{}, false, nil
	}
	if s.Ordinal < 0 {
		place -= count
	}
	selector.Index = &place
	has := v.shown(m.index)
	part, ok := occurrence(has, text)
	if !ok || want.Mode == step.Equals && !hasPart(v, m.index, text) {
		if want.Not {
			return claim{selector: selector, not: true, why: m.why, matcher: step.Matcher{Name: step.TextIs, Args: step.MatcherArgs{Value: text, Mode: step.Contains}}}, true, nil
		}
		return claim{}, true, a.seen(want, "text", has)
	}
	if want.Not {
		return claim{}, true, a.seen(want, "text", has)
	}
	return claim{selector: selector, why: m.why, matcher: step.Matcher{Name: step.TextIs, Args: step.MatcherArgs{Value: part, Mode: step.Contains}}}, true, nil
}

// hasPart reports whether a node, or one of those in it, says a text and nothing else.
func hasPart(v *view, at int, text string) bool {
	if foldText(v.shown(at)) == foldText(text) {
		return true
	}
	return slices.ContainsFunc(v.within(at, func(n *snapshot.Node) bool { return !n.Hidden }), func(i int) bool { return foldText(v.textHere(i)) == foldText(text) })
}

// columnHeader returns the only header of a column with a name; -1 without.
func columnHeader(v *view, name string) int {
	found := v.within(-1, func(n *snapshot.Node) bool {
		return !n.Hidden && n.Role == "columnheader" && likeness(n.Name, name) >= 0.5
	})
	if len(found) != 1 {
		return -1
	}
	return found[0]
}

// columnTexts returns what the cells below a header show.
func columnTexts(v *view, header int) []string {
	h := &v.Nodes[header]
	var texts []string
	for i := range v.Nodes {
		n := &v.Nodes[i]
		if h.Table != "" && n.Table == h.Table && n.Column == h.Column && n.Role != "columnheader" && n.Row > h.Row && !n.Hidden {
			texts = append(texts, v.shown(i))
		}
	}
	return texts
}
