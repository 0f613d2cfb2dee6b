package method

import (
	"slices"
	"strings"

	"github.com/slipway-qa/slipway/worker/generation/effect"
	"github.com/slipway-qa/slipway/worker/generation/intent"
	"github.com/slipway-qa/slipway/worker/generation/page"
)

// selecting returns the ways that select a record for a control elsewhere or a key.
func (t *Task) selecting(r int) []Way {
	m := t.Model
	record := &m.Records[r]
	var list []Way
	selects := func(name string, cost float64, acts ...Act) {
		w := t.way(name, cost, acts...)
		w.Reveals = true
		list = append(list, w)
	}
	if slices.Contains(record.States, "selected") {
		list = append(list, t.named(-1, costGlobal)...)
		if t.Goal.Effect == intent.Remove {
			w := t.way("the key Delete", costKey, key(-1, "Delete"))
			w.Risks = true
			list = append(list, w)
		}
		return list
	}
	for _, i := range record.Controls {
		c := &m.Controls[i]
		if (c.Role == "checkbox" || c.Role == "radio") && usable(m, c) && m.Nodes[c.Node].Checked != "true" {
			selects("select it", costSelect, press(c.Node))
			break
		}
	}
	n := &m.Nodes[record.Node]
	if n.Selected != "" || n.Role == "option" || n.Role == "treeitem" || n.Role == "gridcell" || n.Role == "row" &&
		(n.Reacts != "" || ofGrid(m, record.Node)) {
		cost := costSelect + 0.2
		if ofGrid(m, record.Node) {
			cost = costContext - 0.1 // rows of a grid are selected rather than that they have a menu
		}
		selects("select it", cost, press(record.Node))
	}
	return list
}

// selected returns the ways that tick the box which selects a record and press what stands in no record and says
// the deed, with the place where the thing goes: "Invite to training".
func (t *Task) selected(r int) []Way {
	m, box := t.Model, -1
	for _, i := range m.Records[r].Controls {
		c := &m.Controls[i]
		drawn := len(c.Names) > 0 && c.Names[0].From != "name" && c.Names[0].From != "label" // it is called by its looks alone
		if c.Role == "checkbox" && usable(m, c) && m.Nodes[c.Node].Checked == "false" && (drawn || Marks(m, r, effect.ControlName(m, i))) {
			box = c.Node
			break
		}
	}
	if box < 0 || t.Goal.To == nil || len(t.Goal.To.Words) == 0 {
		return nil
	}
	var list []Way
	for _, w := range t.named(-1, costState) {
		node := w.Acts[len(w.Acts)-1].Node
		c := m.ControlAt(node)
		name := effect.Fold(effect.ControlName(m, c))
		other := func(to intent.Word) bool { return !strings.Contains(name, effect.Fold(to.Text)) }
		if w.Guess || len(w.Acts) > 1 || m.Controls[c].Record >= 0 || slices.ContainsFunc(t.Goal.To.Words, other) {
			continue
		}
		both := t.way("select it and "+w.Name, costNamed, press(box), press(node))
		both.Used, both.Risks = w.Used, w.Risks
		list = append(list, both)
	}
	return list
}

// ofGrid reports whether a row has cells of a grid, which are selected and not only read.
func ofGrid(m *page.Model, row int) bool {
	for i := row + 1; i < len(m.Nodes) && m.Inside(row, i); i++ {
		if m.Nodes[i].Role == "gridcell" {
			return true
		}
	}
	return false
}
