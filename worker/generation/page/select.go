package page

import (
	"cmp"
	"slices"
	"strings"

	"github.com/slipway-qa/slipway/worker/generation/lexicon"
	"github.com/slipway-qa/slipway/worker/generation/page/shape"
	"github.com/slipway-qa/slipway/worker/snapshot"
)

// tokenField reads the field whose values stand beside its input as little boxes.
func (b *builder) tokenField(f *Field) {
	for up, k := b.X.Parent(f.Node), 0; up >= 0 && k < 3; up, k = b.X.Parent(up), k+1 {
		if !b.Tokens(up) {
			continue
		}
		var values []string
		for _, l := range b.LeavesIn(up, b.X.End(up), 30) {
			if shape.Worded(b.Leaf[l]) && !b.Nodes[l].Hidden && l != f.Node {
				values = append(values, b.Leaf[l])
			}
		}
		f.Multiple, f.Entries = true, b.Nodes[f.Node].Editable
		if f.Value == "" {
			f.Value = strings.Join(values, ", ")
		}
		if near := shape.Label(b.textBefore(up)); near != "" && !slices.Contains(f.Names, near) {
			f.Names = append([]string{near}, f.Names...)
		}
		f.Names = slices.DeleteFunc(f.Names, func(name string) bool { return slices.Contains(values, name) })
		f.Label = ""
		return
	}
}

// face makes a choice of an input that a page shows in the place of a list of the browser, which it
// hides: what is typed there only looks for an option.
func (b *builder) face(f *Field) {
	list := b.hiddenList(f.Node)
	if list < 0 {
		return
	}
	n := &b.Nodes[list]
	f.Kind, f.Entries = "choice", true
	if f.Multiple = n.Multiple; n.Multiple {
		f.Kind = "choices"
	}
	if chosen := shape.SelectedLabel(n); f.Value == "" {
		f.Value = chosen
	}
	if f.ReadOnly && !f.Multiple { // nothing else can be entered
		for _, o := range n.Options {
			f.Options = append(f.Options, Option{Label: o.Label, Value: o.Value, Node: -1, Selected: o.Selected, Disabled: o.Disabled})
		}
	}
	for _, name := range b.labelOf(list) {
		if !slices.Contains(f.Names, name) {
			f.Names = append(f.Names, name)
		}
	}
}

// timeWords are classes of inputs that open something else than a list.
var timeWords = shape.Words("date time calendar color colour clock file upload range daterange")

// closedList reports whether an input of text that takes no keys shows what is chosen of a list that opens
// when it is pressed. One that shows a number, an address or a code is only to be read, and one that asks
// for a date opens a calendar.
func (b *builder) closedList(i int) bool {
	n := &b.Nodes[i]
	if n.Tag != "input" || !n.ReadOnly || n.Disabled || n.Password || !listTypes[n.Type] || strings.ContainsAny(n.Value, "0123456789/@:_") {
		return false
	}
	for up, k := i, 0; up >= 0 && k < 3; up, k = b.X.Parent(up), k+1 {
		if shape.ClassWord(&b.Nodes[up], timeWords) || shape.ClassWord(&b.Nodes[up], pickerWords) &&
			!shape.ClassWord(&b.Nodes[up], shape.SelectWords) {
			return false
		}
	}
	return !slices.ContainsFunc(b.labelOf(i), func(name string) bool {
		return slices.ContainsFunc(strings.Fields(name), func(w string) bool {
			return lexicon.Means(strings.Trim(w, ".:()"), "", timeConcepts...)
		})
	})
}

// timeConcepts are what inputs that open a calendar or clock are called.
var timeConcepts = []string{"date", "day", "time", "calendar", "period", "birthday", "date_of_birth", "date_from", "date_to", "arrival",
	"departure", "month", "from", "until"}

// hiddenList returns the only list of the browser that stands, hidden, beside an input which is called
// in the code as what takes its place, and says so: by its role, or the name that both have; -1. The
// hidden list of countries beside a telephone number is another field.
func (b *builder) hiddenList(i int) int {
	closed := b.closedList(i)
	if n := &b.Nodes[i]; n.Hidden || n.Tag != "input" || !n.Editable && !closed || len(n.Options) > 0 || !listTypes[n.Type] {
		return -1
	}
	called := closed
	for up, k := b.X.Parent(i), 0; up >= 0 && k < 5; up, k = b.X.Parent(up), k+1 {
		called = called || shape.ClassWord(&b.Nodes[up], customWords)
		if b.severalFields(up) {
			return -1
		}
		list := -1
		for j := up + 1; j < b.Stop(up); j++ {
			if n := &b.Nodes[j]; n.Tag == "select" && (n.Hidden || n.Box[2] <= 1) {
				if list >= 0 {
					return -1
				}
				list = j
			}
		}
		if list >= 0 && called {
			if closed || b.opensList(i) || b.sameName(i, list) {
				return list
			}
			return -1
		}
	}
	return -1
}

// listTypes are the types of inputs in which a choice may be looked for.
var listTypes = map[string]bool{"": true, "text": true, "search": true}

// opensList reports whether an input says by its role that it opens a list.
func (b *builder) opensList(i int) bool {
	return b.Nodes[i].Role == "combobox" || b.Nodes[i].Popup == "listbox"
}

// sameName reports whether an input and a list have the same label, or accessible name without one, or the
// input is numbered after the list ("guests" and "guests-selectized").
func (b *builder) sameName(i, j int) bool {
	if id := b.Nodes[j].ID; id != "" && strings.HasPrefix(b.Nodes[i].ID, id+"-") {
		return true
	}
	of := func(n *snapshot.Node) string { return shape.Label(cmp.Or(n.Label, n.Name)) }
	return of(&b.Nodes[i]) != "" && of(&b.Nodes[i]) == of(&b.Nodes[j])
}

// listOptions reads the options of a list that is always open.
func (b *builder) listOptions(f *Field) {
	var chosen []string
	for j := f.Node + 1; j < b.Stop(f.Node); j++ {
		if n := &b.Nodes[j]; n.Role == "option" {
			o := Option{Label: b.optionLabel(j), Node: j, Selected: n.Selected == "true" || n.Checked == "true", Disabled: n.Disabled}
			if o.Selected {
				chosen = append(chosen, o.Label)
			}
			f.Options = append(f.Options, o)
		}
	}
	f.Value = strings.Join(chosen, ", ")
}

func (b *builder) optionLabel(j int) string {
	if text := b.TextOf(j); text != "" {
		return text
	}
	return shape.WithoutIcons(b.Nodes[j].Name)
}

// customChoice reads the value and options of a list that a page built itself: its value
// stands beside the input, and what is around both is the same field.
func (b *builder) customChoice(f *Field) {
	i := f.Node
	text := ""
	for up, k := i, 0; up >= 0 && k < 4; up, k = b.X.Parent(up), k+1 {
		if up != i && (!shape.ClassWord(&b.Nodes[up], customWords) || b.severalFields(up)) {
			break
		}
		b.field[up] = len(b.Fields)
		if t := b.TextOf(up); t != "" && text == "" {
			text = t
		}
		if l := shape.Label(b.Nodes[up].Label); up != i && l != "" && f.Label == "" {
			f.Label = l
			f.Names = append([]string{l}, f.Names...)
		}
	}
	for _, l := range b.LeavesIn(i, b.X.End(i), 8) {
		if b.Nodes[l].Tag == "label" && f.Label == "" && shape.Worded(b.Leaf[l]) {
			f.Label = shape.Label(b.Leaf[l])
			f.Names = append([]string{f.Label}, f.Names...)
		}
	}
	if f.Value == "" {
		f.Value = b.chosenText(i, f)
	}
	if f.Value == "" && len(text) <= maxLabel {
		f.Value = text
	}
	for _, j := range b.optionsOf(i) {
		n := &b.Nodes[j]
		f.Options = append(f.Options, Option{Label: b.optionLabel(j), Node: j, Selected: n.Selected == "true"})
	}
}

// chosenText returns what a list that a page built shows as chosen: the value of the input in
// it, else its text that is no label.
func (b *builder) chosenText(i int, f *Field) string {
	for j := i + 1; j < b.Stop(i); j++ {
		if n := &b.Nodes[j]; shape.TypedRoles[n.Role] && !n.Hidden {
			b.field[j] = len(b.Fields)
			if n.Value != "" {
				return shape.WithoutIcons(n.Value)
			}
		}
	}
	for _, l := range b.LeavesIn(i, b.X.End(i), 8) {
		if !b.Nodes[l].Hidden && b.Nodes[l].Tag != "label" && shape.Label(b.Leaf[l]) != f.Label && len(b.Leaf[l]) <= maxLabel {
			return b.Leaf[l]
		}
	}
	return ""
}

// chosenTexts is what a list shows of several that are chosen, beside what it offers still.
func (b *builder) chosenTexts(i int, f *Field) string {
	var list []string
	for _, l := range b.LeavesIn(i, b.X.End(i), shape.MaxLeaves) {
		offered := slices.ContainsFunc(f.Options, func(o Option) bool { return o.Node == l || o.Label == b.Leaf[l] })
		if !offered && !b.Nodes[l].Hidden && b.Nodes[l].Tag != "label" && shape.Label(b.Leaf[l]) != f.Label && len(b.Leaf[l]) <= maxLabel {
			list = append(list, b.Leaf[l])
		}
	}
	return strings.Join(list, ", ")
}

// optionsOf returns the options of a list that a page built: in it, or hidden elsewhere with
// it as their opener, or in the list that is open while it says that it is expanded.
func (b *builder) optionsOf(i int) []int {
	var list []int
	for j := i + 1; j < b.Stop(i); j++ {
		if n := &b.Nodes[j]; n.Role == "option" || n.Hidden && (n.Role == "button" || n.Role == "menuitem") {
			list = append(list, j)
		}
	}
	if len(list) > 0 {
		return list
	}
	if b.opened == nil {
		b.opened = map[string][]int{}
		for j := range b.Nodes {
			if n := &b.Nodes[j]; n.Role == "option" && n.Opener != "" {
				b.opened[n.Opener] = append(b.opened[n.Opener], j)
			} else if n.Role == "option" && !n.Hidden {
				b.opened[""] = append(b.opened[""], j)
			}
		}
	}
	if got := b.opened[b.Nodes[i].Ref]; len(got) > 0 {
		return got
	}
	if b.Nodes[i].Expanded == "true" {
		return b.opened[""]
	}
	return nil
}

// inCombobox reports whether a node is the input of a list that a page built.
func (b *builder) inCombobox(i int) bool {
	for up, k := b.X.Parent(i), 0; up >= 0 && k < 4; up, k = b.X.Parent(up), k+1 {
		if b.Nodes[up].Role == "combobox" {
			return true
		}
	}
	return false
}

// listsOptions reports whether a name is the text of a list that is open: several of its options.
func listsOptions(name string, options []Option) bool {
	n := 0
	for i := range options {
		if strings.Contains(name, options[i].Label) {
			n++
		}
	}
	return n > 1
}

var openWords = shape.Words("active open opened visible expanded show")

// customSelects finds lists without roles: what reacts, is called so in the code, and has its
// options in it, hidden unless it is open.
func (b *builder) customSelects() {
	for i := range b.Nodes {
		n := &b.Nodes[i]
		if n.Hidden || n.Role != "" || !n.Interactive || !shape.ClassWord(n, shape.SelectWords) || b.X.End(i)-i > 200 {
			continue
		}
		open := shape.ClassWord(n, openWords)
		f := Field{Node: i, Kind: "choice", Names: b.labelOf(i), Multiple: shape.ClassWord(n, shape.MultipleWords)}
		for j := i + 1; j < b.Stop(i); j++ {
			m := &b.Nodes[j]
			if (m.Hidden || open) && (b.ReactsStrongly(m) || m.Role == "option") && len(b.X.Children(j)) == 0 && b.Leaf[j] != "" {
				f.Options = append(f.Options, Option{Label: b.Leaf[j], Node: j, Selected: m.Selected == "true" ||
					shape.ClassWord(m, shape.ChosenWords)})
			}
			if shape.TypedRoles[m.Role] && !m.Hidden {
				f.Names = append(b.labelOf(j), f.Names...)
			}
		}
		if len(f.Options) < 2 && !(open && f.Multiple) {
			continue
		}
		f.Value = b.chosenText(i, &f)
		if f.Multiple {
			f.Kind, f.Value = "choices", b.chosenTexts(i, &f)
		}
		f.Names = slices.DeleteFunc(f.Names, func(name string) bool { return name == shape.Label(f.Value) || listsOptions(name, f.Options) })
		b.addField(f)
	}
}
