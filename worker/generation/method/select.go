package method

import (
	"slices"
	"strings"
	"unicode"

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
// the deed, with the place where the thing goes: "Invite to training". There are none where another thing of the list
// is ticked, which would go there too.
func (t *Task) selected(r int) []Way {
	m, box := t.Model, t.selector(r)
	if box < 0 || m.Nodes[box].Checked != "false" || t.othersTicked(r) || t.Goal.To == nil || len(t.Goal.To.Words) == 0 {
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

// selectsByID reports whether a control that nothing shown names is written as what selects: "btSelectItem".
func selectsByID(c *page.Control) bool {
	var id strings.Builder
	for _, n := range c.Names {
		switch n.From {
		case "name", "text", "label", "title", "description", "placeholder":
			return false
		case "id":
		default:
			continue
		}
		for _, r := range n.Text {
			if unicode.IsUpper(r) || !unicode.IsLetter(r) {
				id.WriteRune(' ')
			}
			if unicode.IsLetter(r) {
				id.WriteRune(r)
			}
		}
	}
	return saysMarked(id.String()) && !slices.ContainsFunc(strings.Fields(id.String()), saysMore)
}

// selector returns the node of the box that selects a record, -1 for none.
func (t *Task) selector(r int) int {
	m := t.Model
	for _, i := range m.Records[r].Controls {
		c := &m.Controls[i]
		if c.Role == "checkbox" && usable(m, c) && (Marks(m, r, effect.ControlName(m, i)) || selectsByID(c)) {
			return c.Node
		}
	}
	return -1
}

// othersTicked reports whether the box that selects another record of the group of one is ticked.
func (t *Task) othersTicked(r int) bool {
	m := t.Model
	return m.Records[r].Group >= 0 && slices.ContainsFunc(m.Groups[m.Records[r].Group].Records, func(o int) bool {
		box := t.selector(o)
		return o != r && box >= 0 && m.Nodes[box].Checked == "true"
	})
}

// TakesOthers reports whether a way presses what stands in no record, where a box selects another record than the one
// that is meant: what is done to those that are selected would be done to it too.
func (t *Task) TakesOthers(w *Way) bool {
	r := t.record()
	if t.Goal.Effect != intent.Add || r < 0 || w.Reveals || len(w.Acts) == 0 {
		return false
	}
	c := t.Model.ControlAt(w.Acts[len(w.Acts)-1].Node)
	return c >= 0 && t.Model.Controls[c].Record < 0 && t.othersTicked(r)
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
