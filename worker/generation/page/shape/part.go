package shape

import (
	"slices"
	"strings"

	"github.com/slipway-qa/slipway/worker/snapshot"
)

var strongReactions = []string{"cursor", "dblclick", "contextmenu", "draggable"}

// ReactsStrongly reports whether a node reacts by itself, and not by a listener alone.
func (b *Page) ReactsStrongly(n *snapshot.Node) bool {
	for _, r := range strongReactions {
		if strings.Contains(n.Reacts, r) {
			return true
		}
	}
	return false
}

// ControlsInside returns the first control by role in a node, and how many there are.
func (b *Page) ControlsInside(i int) (first, count int) {
	first = -1
	for j := i + 1; j < b.Stop(i) && count < 3; j++ {
		n := &b.Nodes[j]
		if StrongRoles[n.Role] && !n.Hidden {
			if first < 0 {
				first = j
			}
			count++
			j = b.X.End(j) - 1
		}
	}
	return first, count
}

// HoldsControl reports whether a control by role is in a node.
func (b *Page) HoldsControl(i int) bool {
	_, count := b.ControlsInside(i)
	return count > 0
}

// CheckInside reports whether a box to tick, radio button or switch is in a node.
func (b *Page) CheckInside(i int) bool {
	for j := i + 1; j < b.Stop(i); j++ {
		if r := b.Nodes[j].Role; r == "checkbox" || r == "radio" || r == "switch" {
			return true
		}
	}
	return false
}

// TabWords are classes of tabs, SwitchWords of switches.
var (
	TabWords    = Words("tab tabs tabbar tablist")
	SwitchWords = Words("switch toggle")
)

// InButton reports whether a text is what a button of the thing is called.
func (b *Page) InButton(l, thing int) bool {
	for up, k := l, 0; up > thing && k < 8; up, k = b.X.Parent(up), k+1 {
		switch b.Nodes[up].Role {
		case "button":
			if len(b.LeavesIn(up, b.X.End(up), 3)) < 2 { // else it is the thing, that opens
				return true
			}
		case "tab", "menuitem", "tooltip", "option", "menu", "listbox", "radio":
			return true
		}
		if ClassWord(&b.Nodes[up], ButtonWords) {
			return true
		}
	}
	return false
}

// ButtonWords are classes of buttons.
var ButtonWords = Words("btn button")

// Sibling returns the node beside another one, -1 for none.
func (b *Page) Sibling(i, step int) int {
	kids := b.X.Children(b.X.Parent(i))
	k, found := slices.BinarySearch(kids, i)
	if !found || k+step < 0 || k+step >= len(kids) {
		return -1
	}
	return kids[k+step]
}

// Level reports whether nodes begin at the same height.
func (b *Page) Level(nodes []int) bool {
	for _, i := range nodes[1:] {
		if Abs(b.Nodes[i].Box[1]-b.Nodes[nodes[0]].Box[1]) > 8 {
			return false
		}
	}
	return true
}

// ChosenWords are classes of the chosen one of several.
var ChosenWords = Words("active selected current checked on chosen")

// SelectWords are classes of lists to choose from, MultipleWords of those for several.
var (
	SelectWords   = Words("select selection combobox multiselect picker")
	MultipleWords = Words("multiple multi multiselect tags")
)

// PagerWords are classes of what leads to further pages.
var PagerWords = Words("pagination pager paginator paging pages paginate")
