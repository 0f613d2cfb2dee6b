package page

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/slipway-qa/slipway/worker/generation/page/shape"
)

// findControls finds what does something when it is used.
func (b *builder) findControls() {
	b.control = filled(len(b.Nodes))
	b.openers = map[string]bool{}
	for i := range b.Nodes {
		if n := &b.Nodes[i]; n.Hidden && n.Opener != "" {
			b.openers[n.Opener] = true
		}
	}
	for i := range b.Nodes {
		if !b.isControl(i) {
			continue
		}
		n := &b.Nodes[i]
		c := Control{Node: i, Role: b.controlRole(i), Record: b.record[i], Container: b.holder[i], State: b.stateOf(i), Reveal: -1,
			Opens: n.Popup != "", Hidden: n.Hidden || b.Off(i), Covered: n.Covered}
		b.nameControl(&c)
		if n.Hidden && n.Opener != "" {
			if o := b.X.ByRef(n.Opener); o >= 0 && (b.X.Contains(o, i) || b.record[i] >= 0 && b.record[o] == b.record[i]) {
				c.Reveal = o
			}
		}
		if len(c.Names) == 0 && !shape.StrongRoles[n.Role] && !b.ReactsStrongly(n) && !b.drawnBox(i) {
			continue
		}
		if r := b.record[i]; r >= 0 {
			b.Records[r].Controls = append(b.Records[r].Controls, len(b.Controls))
		}
		b.control[i] = len(b.Controls)
		b.Controls = append(b.Controls, c)
	}
	for k := range b.Containers {
		c := &b.Containers[k]
		n := &b.Nodes[c.Node]
		if o := b.X.ByRef(n.Opener); n.Hidden && o >= 0 {
			c.Opener = b.control[o]
		}
	}
}

// isControl reports whether a node is a control.
func (b *builder) isControl(i int) bool {
	n := &b.Nodes[i]
	switch {
	case b.dayControl(i):
		return true
	case n.Role == "text" || shape.TypedRoles[n.Role] && n.Role != "listbox" || n.Editable && n.Role != "button":
		return false
	case noControls[n.Role]:
		return false
	case b.drawnBox(i):
		return true
	case n.Tag == "label" && n.Role == "" && b.labelsNext(i):
		return false
	case n.Role == "columnheader":
		return n.Interactive && b.sorts(i)
	case n.Role == "gridcell" || n.Role == "cell":
		return b.ReactsStrongly(n) && !b.HoldsControl(i)
	case shape.StrongRoles[n.Role]:
		return true
	case n.Tag == "button" || n.Tag == "summary" || n.Tag == "input" && n.Type == "file":
		return true
	case !n.Interactive:
		return strings.Contains(n.Reacts, "hover") && b.openers[n.Ref] && b.member[i] < 0
	}
	return b.reacting(i)
}

// deed is a text in things of one group.
type deed struct {
	group int
	text  string
}

// action reports whether a part of a thing stands in nearly all things of the group with the
// same text: it is what can be done with each, and no state of this one.
func (b *builder) action(i int) bool {
	if b.deeds == nil {
		b.deeds = map[deed]int{}
		for j := range b.Nodes {
			if n := &b.Nodes[j]; b.record[j] >= 0 && n.Interactive && b.Leaf[j] != "" && len(b.X.Children(j)) == 0 {
				b.deeds[deed{b.Records[b.record[j]].Group, b.Leaf[j]}]++
			}
		}
	}
	g := b.Records[b.record[i]].Group
	n := len(b.Groups[g].Records)
	return n > 1 && b.Leaf[i] != "" && b.deeds[deed{g, b.Leaf[i]}]*10 >= n*8
}

// labelsNext reports whether a label is that of the field right behind it, which is what people
// use.
func (b *builder) labelsNext(i int) bool {
	text := shape.Label(b.TextOf(i))
	for j := b.X.End(i); j < len(b.Nodes) && j < b.Stop(i)+8; j++ {
		if n := &b.Nodes[j]; shape.TypedRoles[n.Role] {
			return shape.Label(shape.WithoutIcons(n.Label)) == text || shape.Label(shape.WithoutIcons(n.Name)) == text ||
				shape.Label(b.textBefore(j)) == text
		}
	}
	return false
}

// noControls are roles of what may take the focus and does nothing.
var noControls = shape.Words("scrollbar tabpanel listbox progressbar tree table grid treegrid list form main dialog toolbar region navigation rowgroup tablist menu menubar radiogroup document application")

// reacting reports whether a node without the role of a control is one: it reacts by itself,
// and not for what is in it or around it.
func (b *builder) reacting(i int) bool {
	n := &b.Nodes[i]
	leaves := len(b.LeavesIn(i, b.X.End(i), 20))
	weak := !b.ReactsStrongly(n)
	if weak && !strings.Contains(n.Reacts, "tabindex") && b.record[i] >= 0 && b.member[i] < 0 && leaves > 0 &&
		!strings.Contains(n.Tag, "-") && !shape.ClassWord(n, shape.ButtonWords) {
		return b.action(i) // a part of a thing, that listens for all of it
	}
	if weak && leaves > 3 && b.member[i] < 0 {
		return false
	}
	if weak && (leaves > 12 || b.X.End(i)-i > 40 || n.Role == "row" || n.Role == "table" || n.Role == "form") {
		return false
	}
	inner, count := b.ControlsInside(i)
	if n.Tag == "label" && (inner >= 0 || b.CheckInside(i)) {
		return false
	}
	if count == 1 && (b.TextOf(inner) == b.TextOf(i) || b.covers(inner, i)) {
		return false
	}
	if count > 0 && !strings.Contains(n.Reacts, "cursor") && !b.ReactsStrongly(n) {
		return false
	}
	text := b.TextOf(i)
	for up, k := b.X.Parent(i), 0; up >= 0 && k < 4; up, k = b.X.Parent(up), k+1 {
		if b.control[up] >= 0 && (b.TextOf(up) == text || shape.StrongRoles[b.Nodes[up].Role] &&
			!strings.Contains(n.Reacts, "cursor")) && !shape.EntryRoles[b.Nodes[up].Role] {
			return false
		}
	}
	return true
}

// covers reports whether a node is nearly as large as the one that it is in.
func (b *builder) covers(inner, outer int) bool {
	x, y := b.Nodes[inner].Box, b.Nodes[outer].Box
	return x[2]*x[3]*10 >= y[2]*y[3]*8
}

// controlRole returns the role of a control: by ARIA, else by what the code calls it.
func (b *builder) controlRole(i int) string {
	n := &b.Nodes[i]
	switch {
	case b.dayControl(i):
		return "gridcell"
	case n.Role != "" && n.Role != "listitem" && n.Role != "img":
		return n.Role
	case n.Tag == "summary":
		return "button"
	case b.drawnBox(i) && shape.ClassWord(n, shape.Words("checkbox")):
		return "checkbox"
	case b.member[i] >= 0 || b.X.End(i)-i > 30:
		return n.Role
	case shape.ClassWord(n, shape.TabWords) && b.record[i] < 0 || b.X.Parent(i) >= 0 &&
		shape.ClassWord(&b.Nodes[b.X.Parent(i)], shape.Words("tabs tabbar tablist")):
		return "tab"
	case shape.ClassWord(n, shape.SwitchWords):
		return "switch"
	}
	return n.Role
}

// stateOf returns the state of a control.
func (b *builder) stateOf(i int) string {
	n := &b.Nodes[i]
	switch {
	case n.Disabled:
		return "disabled"
	case n.Checked == "true" && n.Role == "button":
		return "pressed"
	case n.Checked == "true":
		return "checked"
	case n.Selected == "true" || n.Selected == "" && shape.ClassWord(n, activeWords):
		return "selected"
	case n.Expanded == "true":
		return "expanded"
	}
	return ""
}

var expanderWords = shape.Words("expander toggler arrow caret chevron twisty switcher disclosure hitarea expand collapse")

var activeWords = shape.Words("active selected current")

// nameControl gives a control all its names.
func (b *builder) nameControl(c *Control) {
	n := &b.Nodes[c.Node]
	text := b.TextOf(c.Node)
	if text == "" && len(b.X.Children(c.Node)) == 0 {
		text = shape.WithoutIcons(n.Text)
	}
	if utf8.RuneCountInString(text) > 120 {
		text = ""
	}
	add := func(text, from string) {
		text = shape.WithoutIcons(text)
		if text == "" || len(text) > 300 || len(c.Names) > 12 {
			return
		}
		for _, known := range c.Names {
			if known.Text == text {
				return
			}
		}
		c.Names = append(c.Names, Name{Text: text, From: from})
	}
	c.Icon = !shape.Lettered(text) && (n.Box[2] < 120)
	name := shape.WithoutIcons(n.Name)
	if b.iconNames(c.Node, name, text) {
		add(text, "text") // the name only repeats what its icons are called
	}
	add(name, "name")
	add(text, "text")
	add(n.Title, "title")
	add(n.Label, "label")
	add(n.Description, "description")
	if h := b.host(c.Node); h >= 0 {
		add(b.Nodes[h].Label, "label")
		add(b.Nodes[h].Title, "title")
		if c.Icon {
			add(b.Nodes[h].Name, "name")
		}
	}
	sign := text
	if sign == "" && !shape.Worded(name) {
		sign = name
	}
	for _, icon := range icons(n, sign) {
		add(icon, "icon")
	}
	wordless := len(c.Names) == 0
	if wordless || !shape.Lettered(c.Names[0].Text) && len(c.Names) == 1 {
		add(b.nearText(c.Node), "near")
	}
	if len(c.Names) == 0 && shape.ClassWord(n, expanderWords) {
		add(map[bool]string{true: "collapse", false: "expand"}[n.Expanded == "true"], "icon")
	}
	if !slices.ContainsFunc(c.Names, func(n Name) bool { return n.From != "near" }) && len(b.LeavesIn(c.Node, b.X.End(c.Node), 1)) == 0 {
		for _, name := range looks(n) {
			add(name, "looks")
		}
	}
	for _, id := range []string{n.TestID, n.NameAttr, n.ID} {
		if readable(id) {
			add(id, "id")
			break
		}
	}
}

// host returns the element that is around one control and nothing else, and carries its name:
// the element of a library around the browser's own button; -1 without one.
func (b *builder) host(i int) int {
	for up, k := b.X.Parent(i), 0; up >= 0 && k < 3 && b.member[up] < 0 && b.X.End(up)-up < 12; up, k = b.X.Parent(up), k+1 {
		if _, count := b.ControlsInside(up); count != 1 {
			return -1
		}
		if n := &b.Nodes[up]; strings.Contains(n.Tag, "-") || n.Label != "" {
			return up
		}
	}
	return -1
}

// iconNames reports whether a name is the text with what icons are called around it.
func (b *builder) iconNames(i int, name, text string) bool {
	return shape.Worded(text) && len(name) > len(text) && strings.Contains(name, text) && len(b.Nodes[i].Label) == 0
}

// readable reports whether people wrote an id.
func readable(id string) bool {
	digits := 0
	for _, r := range id {
		if r >= '0' && r <= '9' {
			digits++
		}
	}
	return len(id) > 1 && len(id) <= 40 && digits*3 < len(id) && shape.Worded(id) && !strings.HasPrefix(id, ":")
}
