package method

import (
	"strings"

	"github.com/slipway-qa/slipway/worker/generation/page"
)

// CoverOf returns the largest element that lies over a node and does not hold it: the one that is
// seen to, else the dialog in front; -1 where there is none.
func CoverOf(m *page.Model, node int) int {
	cover := m.Index().ByRef(m.Nodes[node].Cover)
	if m.Nodes[node].Cover == "" && m.Front >= 0 && m.Containers[m.Front].Kind == "dialog" {
		cover = m.Containers[m.Front].Node
	}
	if cover < 0 || m.Inside(cover, node) {
		return -1
	}
	for {
		up := m.Nodes[cover].Parent
		if up < 0 || m.Inside(up, node) || m.Nodes[up].Role == "main" || m.Nodes[up].Role == "document" {
			return cover
		}
		cover = up
	}
}

// Closing returns the node of the control that closes a banner and does nothing else: the cross,
// "no thanks", or the consent where it asks for one; -1 without one.
func Closing(m *page.Model, banner int) int {
	consent := asksConsent(m, banner)
	best, rank := -1, 0
	for i := range m.Controls {
		c := &m.Controls[i]
		if !m.Inside(banner, c.Node) || c.Hidden || !usable(m, c) {
			continue
		}
		r := 0
		switch {
		case consent && hasConcept(c, "accept"):
			r = 3
		case hasConcept(c, "close", "skip") || isCross(c):
			r = 2
		case hasConcept(c, "reject", "no", "cancel"):
			r = 1
		}
		if r > rank {
			best, rank = c.Node, r
		}
	}
	return best
}

// isCross reports whether a control shows a cross and nothing else.
func isCross(c *page.Control) bool {
	for i := range c.Names {
		if text := strings.TrimSpace(c.Names[i].Text); text != "" && strings.Trim(text, "✕✖✗✘×⨯❌xX") == "" {
			return true
		}
	}
	return false
}

// asksConsent reports whether a banner speaks of cookies or privacy.
func asksConsent(m *page.Model, banner int) bool {
	for i := banner; i < len(m.Nodes) && (i == banner || m.Inside(banner, i)); i++ {
		for _, w := range strings.Fields(m.Nodes[i].Text) {
			if textHas(strings.Trim(w, ".,:;!?"), "", "cookie_consent", "privacy") {
				return true
			}
		}
	}
	return false
}
