package method

import (
	"slices"
	"strings"

	"github.com/slipway-qa/slipway/worker/generation/page"
)

// branchMarks are the marks that stand before a closed branch of a tree.
var branchMarks = []string{"+", "▸", "▶", "►", "⊞", "›", "❯"}

// mostMark is how wide a mark before a branch is.
const mostMark = 32

// BranchMark reports whether a control is the mark before a branch of a tree that is closed: a sign and
// nothing else, in an item of a list, before the text of the item. A plus behind a text, or a button
// of that sign, adds something.
func BranchMark(m *page.Model, control int) bool {
	if control < 0 || control >= len(m.Controls) {
		return false
	}
	at := m.Controls[control].Node
	n := &m.Nodes[at]
	if n.Parent < 0 || n.Role != "" || n.Box[2] > mostMark || !slices.Contains(branchMarks, strings.TrimSpace(n.Text)) {
		return false
	}
	item := &m.Nodes[n.Parent]
	if item.Role != "listitem" && item.Tag != "li" || m.Index().Children(n.Parent)[0] != at {
		return false
	}
	for _, k := range m.Index().Children(n.Parent)[1:] {
		if b := m.Nodes[k].Box; !m.Nodes[k].Hidden && b[0] >= n.Box[0]+n.Box[2]-2 && b[1] < n.Box[1]+n.Box[3] && b[1]+b[3] > n.Box[1] {
			return true
		}
	}
	return false
}
