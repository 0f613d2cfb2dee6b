package method

import (
	"slices"
	"strings"

	"github.com/slipway-qa/slipway/worker/generation/effect"
	"github.com/slipway-qa/slipway/worker/generation/page"
	"github.com/slipway-qa/slipway/worker/generation/page/month"
)

// calendar is a month that a page shows, with what leads to other months.
type calendar struct {
	month.Grid
	previous, next int // nodes; -1
}

// calendars returns the months that are shown.
func calendars(m *page.Model) []calendar {
	var list []calendar
	for _, shown := range month.Read(m) {
		c := calendar{shown, -1, -1}
		findTurns(m, &c)
		list = append(list, c)
	}
	return list
}

// findTurns finds what leads to other months: in the smallest elements around the days that have
// such controls.
func findTurns(m *page.Model, c *calendar) {
	for around := m.Nodes[c.Days[0]].Parent; around >= 0; around = m.Nodes[around].Parent {
		for i := range m.Controls {
			k := &m.Controls[i]
			if !m.Inside(around, k.Node) || k.Hidden || !usable(m, k) || slices.Contains(c.Days, k.Node) {
				continue
			}
			switch turnOf(m, i) {
			case 1:
				c.next = k.Node
			case -1:
				if c.previous < 0 {
					c.previous = k.Node
				}
			}
		}
		if c.next >= 0 || c.previous >= 0 || m.Nodes[around].Parent >= around {
			return
		}
	}
}

// turnOf is 1 for a control that leads on, -1 for one that leads back, 0 for others, and for
// those that turn by years.
func turnOf(m *page.Model, i int) int {
	name := strings.TrimSpace(effect.ControlName(m, i))
	switch {
	case slices.Contains([]string{"›", ">", "→", "▶", "►", "❯", "▸"}, name):
		return 1
	case slices.Contains([]string{"‹", "<", "←", "◀", "◄", "❮", "◂"}, name):
		return -1
	case textHas(name, "", "year"):
		return 0
	}
	next, previous := hasConcept(&m.Controls[i], "next"), hasConcept(&m.Controls[i], "previous")
	for _, hint := range m.Nodes[m.Controls[i].Node].Hints {
		h := strings.ToLower(hint)
		next = next || strings.Contains(h, "next")
		previous = previous || strings.Contains(h, "prev")
	}
	switch {
	case next == previous:
		return 0
	case next:
		return 1
	}
	return -1
}
