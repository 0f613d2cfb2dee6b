package method

import (
	"slices"
	"strings"

	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/worker/generation/effect"
	"github.com/slipway-qa/slipway/worker/generation/page"
)

// Unhide returns the act that shows a hidden node: the press of what opens the section, tab or
// menu that it is in, the pointer over what reveals it. It is not ok for nodes that are seen, and
// where nothing is known to show them.
func Unhide(m *page.Model, node int) (Act, bool) {
	if node < 0 || node >= len(m.Nodes) || !m.Nodes[node].Hidden {
		return Act{}, false
	}
	var found Act
	ok := false
	for i := node; i >= 0 && m.Nodes[i].Hidden; i = m.Nodes[i].Parent {
		if o := m.Index().ByRef(m.Nodes[i].Opener); m.Nodes[i].Opener != "" && o >= 0 && !m.Nodes[o].Hidden && o != node {
			found, ok = press(o), true
			if k := m.ControlAt(o); k >= 0 && deedOfItsOwn(m, k) {
				if found, ok = act(step.Hover, o), true; m.Controls[k].Record >= 0 { // its thing has more when it is pointed at
					found = act(step.Hover, m.Records[m.Controls[k].Record].Node)
				}
				continue
			}
			if n := &m.Nodes[o]; n.Expanded == "" && n.Popup == "" && n.Role != "tab" && strings.Contains(n.Reacts, "hover") {
				found = act(step.Hover, o)
			}
		}
		if m.Nodes[i].Parent >= i {
			break
		}
	}
	if ok {
		return found, true
	}
	for i := len(m.Containers) - 1; i >= 0; i-- {
		c := &m.Containers[i]
		if c.Hidden && c.Opener >= 0 && c.Opener < len(m.Controls) && m.Holds(i, node) {
			if o := m.Controls[c.Opener].Node; !m.Nodes[o].Hidden && o != node {
				return press(o), true
			}
		}
	}
	if o := before(m, node); o >= 0 {
		return press(o), true
	}
	return Act{}, false
}

// before returns what can be pressed right before the hidden part of a page that a node is in: the
// heading of a section, the sign of a folder; -1.
func before(m *page.Model, node int) int {
	root := node
	for m.Nodes[root].Parent >= 0 && m.Nodes[root].Parent < root && m.Nodes[m.Nodes[root].Parent].Hidden {
		root = m.Nodes[root].Parent
	}
	siblings := m.Index().Children(m.Nodes[root].Parent)
	at := slices.Index(siblings, root)
	for i := at - 1; i >= 0 && i >= at-maxBefore; i-- {
		n := &m.Nodes[siblings[i]]
		c := m.ControlAt(siblings[i])
		if like := &m.Nodes[root]; n.Tag == like.Tag && n.Role == like.Role && like.Interactive {
			continue // one of its like shows nothing of it
		}
		if n.Hidden || n.Editable || !n.Interactive || c < 0 || n.Href != "" || n.Type == "submit" || n.Checked != "" ||
			Destroys(m, c) || deedOfItsOwn(m, c) {
			continue
		}
		return siblings[i]
	}
	return -1
}

// deedOfItsOwn reports whether a control is called by something that it does to its thing: it shows
// nothing.
func deedOfItsOwn(m *page.Model, c int) bool {
	return strings.ContainsAny(effect.ControlName(m, c), "★☆♥♡") || hasConcept(&m.Controls[c], "favorite", "star",
		"like", "pin", "add", "edit")
}

// maxBefore is how many elements before a hidden part may show it.
const maxBefore = 3

// seenFor returns the node that is pressed for a box or option: itself where it is seen, else
// what stands for it: the nearest control of its name.
func seenFor(m *page.Model, node int, label string) int {
	if node < 0 || !m.Nodes[node].Hidden {
		return node
	}
	best, distance := node, len(m.Nodes)
	for i := range m.Controls {
		c := &m.Controls[i]
		n := &m.Nodes[c.Node]
		if c.Hidden || n.Hidden || c.Node == node || effect.Fold(effect.ControlName(m, i)) != effect.Fold(label) &&
			!(m.Inside(c.Node, node) && m.Index().End(c.Node)-c.Node < maxLabel) {
			continue
		}
		if d := max(c.Node-node, node-c.Node); d < distance {
			best, distance = c.Node, d
		}
	}
	if best != node {
		return best
	}
	for i := range m.Nodes { // its label is a text alone
		n := &m.Nodes[i]
		if d := max(i-node, node-i); !n.Hidden && n.Role == "text" && effect.Fold(n.Name) == effect.Fold(label) && d < min(distance, maxLabel) {
			best, distance = i, d
		}
	}
	return best
}

// maxLabel is how many nodes away the label of a hidden box may stand.
const maxLabel = 12
