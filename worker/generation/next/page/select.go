package page

import (
	"slices"
	"strings"
)

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

// listOptions reads the options of a list that is always open.
func (b *builder) listOptions(f *Field) {
	var chosen []string
	for j := f.Node + 1; j < b.stop(f.Node); j++ {
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
	for j := i + 1; j < b.stop(i); j++ {
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
	for j := i + 1; j < b.stop(i); j++ {
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
		for j := i + 1; j < b.stop(i); j++ {
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
