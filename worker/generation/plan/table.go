package plan

import (
	"context"
	"slices"

	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/worker/generation/intent"
	"github.com/slipway-qa/slipway/worker/snapshot"
)

// isCell reports whether a node is a cell that has a value, and no header of a column.
func isCell(n *snapshot.Node) bool {
	return n.Table != "" && n.Role != "columnheader" && !n.Hidden
}

// valueCell returns the cell that a phrase means by its column and what its row shows:
// "the age of Ann", "the column Role in the row of Ann"; -1 where there is none, or more
// than one.
func (v *view) valueCell(s *intent.Phrase) int {
	owner := rowOwner(s)
	if s == nil || s.Name == "" || s.Ordinal != 0 || owner == nil {
		return -1
	}
	column, row := newWanted(s.Name, s.Exact), newWanted(owner.Name, owner.Exact)
	type line struct {
		table string
		row   int
	}
	owned := map[line]bool{}
	for i := range v.Nodes {
		if n := &v.Nodes[i]; isCell(n) && saysOf(v, i, row) {
			owned[line{n.Table, n.Row}] = true
		}
	}
	found := -1
	for i := range v.Nodes {
		n := &v.Nodes[i]
		header := parseText(n.ColumnHeader)
		if !isCell(n) || !owned[line{n.Table, n.Row}] || column.compare(&header) < sameStems {
			continue
		}
		if found >= 0 {
			return -1
		}
		found = i
	}
	return found
}

// cellSelector returns a selector of a cell by its row, which is known by what another of
// its cells shows, and its place in it; nil where these do not distinguish it.
func cellSelector(v *view, cell int, owner *intent.Phrase) *step.Selector {
	n := &v.Nodes[cell]
	row := v.around(cell, "row")
	if row < 0 || len(n.Frame) > 0 || len(n.Shadow) > 0 {
		return nil
	}
	name := newWanted(owner.Name, owner.Exact)
	var within *step.Selector
	at := -1
	for _, i := range v.within(row, isCell) {
		o := &v.Nodes[i]
		if v.around(i, "row") != row { // of a table in the table
			continue
		}
		if within == nil && i != cell && saysOf(v, i, name) {
			within = &step.Selector{Type: step.ByRole, Value: "row", Has: &step.Selector{Type: step.ByRole, Value: o.Role, Name: v.shown(i), Exact: true}}
		}
		if o.Role == n.Role && i <= cell {
			at++
		}
	}
	if within == nil || at < 0 {
		return nil
	}
	return &step.Selector{Type: step.ByRole, Value: n.Role, Index: &at, Within: within}
}

// saysOf reports whether a cell shows just a name.
func saysOf(v *view, cell int, w *wanted) bool {
	shown := parseText(v.shown(cell))
	return w.compare(&shown) >= sameStems
}

// rowOwner returns the phrase that says whose value a phrase means; nil without one.
func rowOwner(s *intent.Phrase) *intent.Phrase {
	if s == nil || len(s.Relations) != 1 {
		return nil
	}
	r := &s.Relations[0]
	if r.Kind != intent.Of && r.Kind != intent.In {
		return nil
	}
	switch owner := &r.Phrase; {
	case r.Name == "" && slices.Contains(r.Roles, "row") && len(r.Relations) == 1:
		owner = &r.Relations[0].Phrase
		return either(owner.Name != "" && len(owner.Relations) == 0, owner, nil)
	case r.Name != "" && len(r.Relations) == 0 && (len(r.Roles) == 0 || meansItem(r.Roles)):
		return owner
	}
	return nil
}

// columnOf returns the header of the column that a phrase means, in a table that another
// one may mean; -1 where there is none, or more than one.
func columnOf(v *view, name string, table int) int {
	w := newWanted(name, false)
	found, best := -1, sameStems
	for i := range v.Nodes {
		n := &v.Nodes[i]
		if n.Hidden || n.Role != "columnheader" || table >= 0 && !v.inside(i, table) {
			continue
		}
		text := parseText(v.shown(i))
		switch score := w.compare(&text); {
		case score > best || score == best && found < 0:
			found, best = i, score
		case score == best:
			return -1
		}
	}
	return found
}

// cellsBelow returns the cells of the column of a header, from the top.
func cellsBelow(v *view, header int) []int {
	h := &v.Nodes[header]
	return v.within(-1, func(n *snapshot.Node) bool {
		return isCell(n) && n.Table == h.Table && n.Column == h.Column && n.Row > h.Row
	})
}

// placed returns a selector of a cell by its row and column, or of the item that an
// ordinal means by its place alone: what a test compares is not what it is found by.
func (a asserter) placed(ctx context.Context, v *view, s *intent.Phrase) (*step.Selector, bool) {
	if cell := v.valueCell(s); cell >= 0 && fieldIn(v, cell) == cell {
		selector := cellSelector(v, cell, rowOwner(s))
		return selector, selector != nil
	}
	if s.Ordinal == 0 || s.Name != "" || !meansItem(s.Roles) || len(s.State) > 0 || len(s.Looks) > 0 {
		return nil, false
	}
	within, err := a.container(ctx, v, s)
	if err != nil || within == nil && len(s.Relations) > 0 {
		return nil, false
	}
	root := -1
	if within != nil {
		m, err := a.pick(v, &s.Relations[0].Phrase, toHold)
		if err != nil {
			return nil, false
		}
		root = m.index
	}
	for _, kind := range kindsOf(v, s, root) {
		at := s.Ordinal - 1
		if s.Ordinal < 0 {
			at = kind.count + s.Ordinal
		}
		if kind.count == 0 || at < 0 || at >= kind.count {
			continue
		}
		if s.Ordinal < 0 {
			at = s.Ordinal
		}
		selector := kind.selector
		selector.Within, selector.Index = within, &at
		return &selector, selector.Type == step.ByRole && at >= -1
	}
	return nil, false
}

// showsPart reports whether one of the parts of a container shows just a text: people call
// a row by one of its cells, and a dialog says what one of its paragraphs says.
func showsPart(v *view, container int, text string) bool {
	whole := func(n *snapshot.Node) bool { return !n.Hidden && !n.Interactive }
	switch v.Nodes[container].Role {
	case "row":
		whole = isCell
	case "dialog", "alertdialog", "alert", "status", "article", "listitem":
	default:
		return false
	}
	return slices.ContainsFunc(v.within(container, whole), func(i int) bool { return foldText(v.shown(i)) == foldText(text) })
}

// fieldIn returns the only field in a cell, which has the cell's value; else the cell.
func fieldIn(v *view, cell int) int {
	fields := v.within(cell, func(n *snapshot.Node) bool { return !n.Hidden && isField(n) })
	if len(fields) == 1 {
		return fields[0]
	}
	return cell
}

// sortable returns the things whose order a phrase means: the cells of a column, or the
// items of a list.
func (a asserter) sortable(v *view, s *intent.Phrase) ([]int, error) {
	if !slices.Contains(s.Roles, "columnheader") {
		return a.items(v, s)
	}
	header := columnOf(v, s.Name, -1)
	if header < 0 {
		return nil, a.notUnderstood("it is not clear which column is meant")
	}
	cells := cellsBelow(v, header)
	if len(cells) < 2 {
		return nil, a.notUnderstood("the column has not several values to compare")
	}
	return cells, nil
}
