package page

import (
	"slices"
	"strings"
)

var fieldKinds = map[string]string{"number": "number", "range": "slider", "date": "date", "datetime-local": "date", "month": "date", "week": "date",
	"time": "time", "file": "file"}

var (
	pickerWords = words("datepicker date calendar flatpickr picker datetime")
	customWords = words("select combobox picker dropdown choices input field autocomplete control textfield multiselect")
)

// findFields finds what holds a value.
func (b *builder) findFields() {
	b.field = filled(len(b.Nodes))
	b.findDayOrder()
	b.ratings()
	b.radios()
	b.customSelects()
	b.codeEditors()
	b.handles()
	for i := range b.Nodes {
		if b.field[i] < 0 && b.isField(i) {
			b.addField(b.fieldOf(i))
		}
	}
	b.segments()
	b.steppers()
	b.inPlace()
	b.shown()
}

// codeEditors makes one field of an editor that draws its text out of many elements.
func (b *builder) codeEditors() {
	for i := range b.Nodes {
		n := &b.Nodes[i]
		if n.Hidden || n.Editable || !codeEditor(n) || b.x.Parent(i) >= 0 && b.field[b.x.Parent(i)] >= 0 {
			continue
		}
		f := Field{Node: i, Kind: "editor", Names: b.labelOf(i), Value: b.textOf(i)}
		f.Names = slices.DeleteFunc(f.Names, func(name string) bool { return strings.HasPrefix(f.Value, name) || len(name) > 60 })
		if len(f.Names) > 0 {
			f.Label = f.Names[0]
		}
		k := b.addField(f)
		for j := i + 1; j < b.x.End(i); j++ {
			b.field[j] = k
		}
	}
}

var handleWords = words("handle thumb knob irs noUi")

// handles finds the knobs of sliders without a role.
func (b *builder) handles() {
	for i := range b.Nodes {
		n := &b.Nodes[i]
		if n.Hidden || n.Role != "" || !classWord(n, handleWords) || len(b.x.Children(i)) > 1 || n.Box[2] > 60 || n.Box[3] > 60 || b.field[i] >= 0 || n.Box[2] < 8 {
			continue
		}
		if b.x.Around(i, "slider", "switch", "dialog", "row") >= 0 || classWord(n, words("drag resize resizer switch")) || !b.slides(i) {
			continue
		}
		f := Field{Node: i, Kind: "slider", Names: b.labelOf(i)}
		if len(f.Names) > 0 {
			f.Label = f.Names[0]
		}
		b.addField(f)
	}
}

// slides reports whether the code calls what is around a knob a slider.
func (b *builder) slides(i int) bool {
	for up, k := i, 0; up >= 0 && k < 4; up, k = b.x.Parent(up), k+1 {
		if classWord(&b.Nodes[up], words("slider range irs noUi rangeslider")) {
			return true
		}
	}
	return false
}

// shown finds values that the page only shows, with their labels: "Total: 12.40", a term and
// its definition.
func (b *builder) shown() {
	for k := 1; k < len(b.leaves); k++ {
		l, before := b.leaves[k], b.leaves[k-1]
		n, m := &b.Nodes[l], &b.Nodes[before]
		if n.Hidden || b.record[l] >= 0 || b.field[l] >= 0 || b.control[l] >= 0 || b.field[before] >= 0 || len(n.Options) > 0 || len(b.leaf[l]) > maxLabel {
			continue
		}
		term := m.Tag == "dt" && n.Tag == "dd"
		colon := strings.HasSuffix(b.leaf[before], ":") && b.sameLine(before, l) && b.x.Parent(l) == b.x.Parent(before)
		if !term && !colon || !worded(b.leaf[before]) || len(b.leaf[before]) > 60 || b.inButton(l, -1) {
			continue
		}
		name := label(b.leaf[before])
		b.addField(Field{Node: l, Kind: "shown", Label: name, Names: []string{name}, Value: b.leaf[l], ReadOnly: true})
	}
}

// addField adds a field, and notes it for its node and its options.
func (b *builder) addField(f Field) int {
	k := len(b.Fields)
	f.Container, f.Record = b.holder[f.Node], b.record[f.Node]
	if f.Group == "" {
		f.Group = b.groupOf(f.Node)
	}
	if f.Less == 0 && f.More == 0 {
		f.Less, f.More = -1, -1
	}
	f.Hidden = b.Nodes[f.Node].Hidden
	b.Fields = append(b.Fields, f)
	b.field[f.Node] = k
	for _, o := range f.Options {
		if o.Node >= 0 {
			b.field[o.Node] = k
		}
	}
	return k
}

// isField reports whether a node by itself holds a value.
func (b *builder) isField(i int) bool {
	n := &b.Nodes[i]
	switch {
	case n.Hidden && n.Opener == "" && n.Type != "file":
		return false
	case b.inCombobox(i):
		return false
	case n.Role == "listbox":
		return len(n.Options) > 0 || n.Layer == "" && !n.Hidden && !b.popup(i)
	case typedRoles[n.Role], n.Role == "checkbox", n.Role == "switch":
		return true
	case n.Tag == "input" && n.Type == "file", n.Editable, len(n.Options) > 0:
		return true
	case n.Role == "button" && n.Popup == "listbox":
		return true
	case n.Tag == "input" && (n.Type == "checkbox" || fieldKinds[n.Type] != "" || n.Type == "color"):
		return true
	}
	return false
}

// popup reports whether a list of options hangs over the page: it is another field's.
func (b *builder) popup(i int) bool {
	for up, k := i, 0; up >= 0 && k < 4; up, k = b.x.Parent(up), k+1 {
		if b.Nodes[up].Layer != "" {
			return true
		}
	}
	return false
}

// fieldOf returns the field that a node is.
func (b *builder) fieldOf(i int) Field {
	n := &b.Nodes[i]
	f := Field{Node: i, Kind: b.kindOf(i), Names: b.labelOf(i), Required: n.Required, Disabled: n.Disabled, ReadOnly: n.ReadOnly, Multiple: n.Multiple, Unit: b.unitOf(i)}
	if len(f.Names) > 0 {
		f.Label = f.Names[0]
	}
	f.Value = tidy(n.Value)
	switch {
	case len(n.Options) > 0:
		f.Value = selectedLabel(n)
		for _, o := range n.Options {
			f.Options = append(f.Options, Option{Label: o.Label, Value: o.Value, Node: -1, Selected: o.Selected, Disabled: o.Disabled})
		}
	case n.Role == "listbox":
		b.listOptions(&f)
	case f.Kind == "switch":
		f.Value = n.Checked
	case n.Role == "combobox" || n.Popup == "listbox":
		b.customChoice(&f)
	}
	if f.Kind == "choice" && f.Multiple {
		f.Kind = "choices"
	}
	b.tokenField(&f)
	return f
}

// tokenField reads the field whose values stand beside its input as little boxes.
func (b *builder) tokenField(f *Field) {
	for up, k := b.x.Parent(f.Node), 0; up >= 0 && k < 3; up, k = b.x.Parent(up), k+1 {
		if !b.tokens(up) {
			continue
		}
		var values []string
		for _, l := range b.leavesIn(up, b.x.End(up), 30) {
			if worded(b.leaf[l]) && !b.Nodes[l].Hidden && l != f.Node {
				values = append(values, b.leaf[l])
			}
		}
		f.Multiple = true
		if f.Value == "" {
			f.Value = strings.Join(values, ", ")
		}
		if near := label(b.textBefore(up)); near != "" && !slices.Contains(f.Names, near) {
			f.Names = append([]string{near}, f.Names...)
		}
		f.Names = slices.DeleteFunc(f.Names, func(name string) bool { return slices.Contains(values, name) })
		f.Label = ""
		if len(f.Names) > 0 {
			f.Label = f.Names[0]
		}
		return
	}
}

func (b *builder) kindOf(i int) string {
	n := &b.Nodes[i]
	switch {
	case len(n.Options) > 0, n.Role == "listbox", n.Role == "combobox", n.Popup == "listbox":
		return "choice"
	case n.Role == "checkbox", n.Role == "switch", n.Type == "checkbox":
		return "switch"
	case n.Role == "slider":
		return "slider"
	case fieldKinds[n.Type] != "":
		return fieldKinds[n.Type]
	case n.Role == "spinbutton":
		return "number"
	case n.Tag != "input" && n.Tag != "textarea" && n.Editable:
		return "editor"
	case classWord(n, pickerWords) || b.x.Parent(i) >= 0 && classWord(&b.Nodes[b.x.Parent(i)], words("datepicker flatpickr")) || datePattern(n.Placeholder):
		return "date"
	}
	return "text"
}

// datePattern reports whether a placeholder shows how dates are written.
func datePattern(s string) bool {
	s = lower(s)
	return strings.Contains(s, "yyyy") || strings.Contains(s, "jjjj") || strings.Contains(s, "aaaa") || strings.Contains(s, "dd.mm") || strings.Contains(s, "mm/dd") || strings.Contains(s, "tt.mm")
}

// listOptions reads the options of a list that is always open.
func (b *builder) listOptions(f *Field) {
	var chosen []string
	for j := f.Node + 1; j < b.x.End(f.Node); j++ {
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
	if text := b.textOf(j); text != "" {
		return text
	}
	return tidy(b.Nodes[j].Name)
}

// customChoice reads the value and options of a list that a page built itself: its value
// stands beside the input, and what is around both is the same field.
func (b *builder) customChoice(f *Field) {
	i := f.Node
	text := ""
	for up, k := i, 0; up >= 0 && k < 4; up, k = b.x.Parent(up), k+1 {
		if up != i && (!classWord(&b.Nodes[up], customWords) || b.severalFields(up)) {
			break
		}
		b.field[up] = len(b.Fields)
		if t := b.textOf(up); t != "" && text == "" {
			text = t
		}
		if l := label(b.Nodes[up].Label); up != i && l != "" && f.Label == "" {
			f.Label = l
			f.Names = append([]string{l}, f.Names...)
		}
	}
	for _, l := range b.leavesIn(i, b.x.End(i), 8) {
		if b.Nodes[l].Tag == "label" && f.Label == "" && worded(b.leaf[l]) {
			f.Label = label(b.leaf[l])
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
	for j := i + 1; j < b.x.End(i); j++ {
		if n := &b.Nodes[j]; typedRoles[n.Role] && !n.Hidden {
			b.field[j] = len(b.Fields)
			if n.Value != "" {
				return tidy(n.Value)
			}
		}
	}
	for _, l := range b.leavesIn(i, b.x.End(i), 8) {
		if !b.Nodes[l].Hidden && b.Nodes[l].Tag != "label" && label(b.leaf[l]) != f.Label && len(b.leaf[l]) <= maxLabel {
			return b.leaf[l]
		}
	}
	return ""
}

// optionsOf returns the options of a list that a page built: in it, or hidden elsewhere with
// it as their opener, or in the list that is open while it says that it is expanded.
func (b *builder) optionsOf(i int) []int {
	var list []int
	for j := i + 1; j < b.x.End(i); j++ {
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
	for up, k := b.x.Parent(i), 0; up >= 0 && k < 4; up, k = b.x.Parent(up), k+1 {
		if b.Nodes[up].Role == "combobox" {
			return true
		}
	}
	return false
}

var (
	selectWords   = words("select selection combobox multiselect picker")
	multipleWords = words("multiple multi multiselect tags")
)

// customSelects finds lists without roles: what reacts, is called so in the code, and has its
// options in it, hidden.
func (b *builder) customSelects() {
	for i := range b.Nodes {
		n := &b.Nodes[i]
		if n.Hidden || n.Role != "" || !n.Interactive || !classWord(n, selectWords) || b.x.End(i)-i > 200 {
			continue
		}
		f := Field{Node: i, Kind: "choice", Names: b.labelOf(i), Multiple: classWord(n, multipleWords)}
		for j := i + 1; j < b.x.End(i); j++ {
			m := &b.Nodes[j]
			if m.Hidden && (b.reactsStrongly(m) || m.Role == "option") && len(b.x.Children(j)) == 0 && b.leaf[j] != "" {
				f.Options = append(f.Options, Option{Label: b.leaf[j], Node: j, Selected: m.Selected == "true" || classWord(m, chosenWords)})
			}
			if typedRoles[m.Role] && !m.Hidden {
				f.Names = append(b.labelOf(j), f.Names...)
			}
		}
		if len(f.Options) < 2 {
			continue
		}
		if f.Multiple {
			f.Kind = "choices"
		}
		f.Value = b.chosenText(i, &f)
		f.Names = slices.DeleteFunc(f.Names, func(name string) bool { return name == label(f.Value) })
		f.Label = ""
		if len(f.Names) > 0 {
			f.Label = f.Names[0]
		}
		b.addField(f)
	}
}

// severalFields reports whether a node holds more than one field.
func (b *builder) severalFields(i int) bool {
	count := 0
	for j := i + 1; j < b.x.End(i); j++ {
		if n := &b.Nodes[j]; (typedRoles[n.Role] || n.Role == "checkbox" || n.Role == "radio") && !n.Hidden {
			if count++; count > 1 {
				return true
			}
		}
	}
	return false
}

// groupOf returns the title of the block that a field stands in.
func (b *builder) groupOf(i int) string {
	for c := b.holder[i]; c >= 0; c = b.Containers[c].Parent {
		if t := &b.Containers[c]; t.Title != "" && t.Kind != "table" && t.Kind != "list" {
			return t.Title
		}
	}
	return ""
}

// inPlace finds texts that become fields when they are pressed twice, and cells of sheets.
func (b *builder) inPlace() {
	for i := range b.Nodes {
		n := &b.Nodes[i]
		if n.Hidden || b.field[i] >= 0 || len(b.Fields) > maxMembers || b.record[i] < 0 {
			continue
		}
		cell := n.Role == "gridcell" || n.Role == "cell"
		leaf := len(b.x.Children(i)) == 0 && b.leaf[i] != "" && len(b.leaf[i]) <= 100
		if !(strings.Contains(n.Reacts, "dblclick") && (leaf || cell && !b.holdsControl(i)) || cell && b.sheet(i) && !b.holdsControl(i)) {
			continue
		}
		f := Field{Node: i, Kind: "text", InPlace: true, Value: b.textOf(i), ReadOnly: n.ReadOnly}
		if cell {
			f.Label = b.cellLabel(i)
			f.Names = []string{f.Label}
		}
		b.addField(f)
	}
}

var sheetWords = words("spreadsheet jexcel jss handsontable luckysheet tabulator ht excel sheet revogrid")

// sheet reports whether a cell is one of a spreadsheet.
func (b *builder) sheet(i int) bool {
	for up, k := b.x.Parent(i), 0; up >= 0 && k < 6; up, k = b.x.Parent(up), k+1 {
		if classWord(&b.Nodes[up], sheetWords) {
			return true
		}
	}
	return false
}
