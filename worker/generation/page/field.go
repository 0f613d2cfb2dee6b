package page

import (
	"strings"

	"github.com/slipway-qa/slipway/worker/generation/page/shape"
)

var fieldKinds = map[string]string{"number": "number", "range": "slider", "date": "date", "datetime-local": "date",
	"month": "date", "week": "date",
	"time": "time", "file": "file"}

var (
	pickerWords = shape.Words("datepicker date calendar flatpickr picker datetime")
	entryWords  = shape.Words("tag tags tagify taginput tagsinput chip chips token tokens tokenfield")
	customWords = shape.Words("chosen select combobox picker dropdown choices input field autocomplete control textfield multiselect")
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
	b.switchesDrawn()
	b.segments()
	b.steppers()
	b.inPlace()
	b.shown()
}

// addField adds a field, and notes it for its node and its options.
func (b *builder) addField(f Field) int {
	k := len(b.Fields)
	if len(f.Names) > 0 {
		f.Label = f.Names[0]
	}
	f.Container, f.Record = b.holder[f.Node], b.record[f.Node]
	if f.Group == "" {
		f.Group = b.groupOf(f.Node)
	}
	if f.Less == 0 && f.More == 0 {
		f.Less, f.More = -1, -1
	}
	f.Hidden, f.Entries = b.Nodes[f.Node].Hidden, f.Entries || b.takesEntries(f.Node)
	b.Fields = append(b.Fields, f)
	b.field[f.Node] = k
	for _, o := range f.Options {
		if o.Node >= 0 {
			b.field[o.Node] = k
		}
	}
	return k
}

// takesEntries reports whether a field is where the texts of tags or chips are entered.
func (b *builder) takesEntries(i int) bool {
	if !b.Nodes[i].Editable {
		return false
	}
	for up, at := 0, i; up < 3 && at >= 0; up, at = up+1, b.X.Parent(at) {
		if shape.ClassWord(&b.Nodes[at], entryWords) {
			return true
		}
	}
	return false
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
	case shape.TypedRoles[n.Role], n.Role == "checkbox", n.Role == "switch":
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
	for up, k := i, 0; up >= 0 && k < 4; up, k = b.X.Parent(up), k+1 {
		if b.Nodes[up].Layer != "" {
			return true
		}
	}
	return false
}

// fieldOf returns the field that a node is.
func (b *builder) fieldOf(i int) Field {
	n := &b.Nodes[i]
	f := Field{Node: i, Kind: b.kindOf(i), Names: b.labelOf(i), Required: n.Required, Disabled: n.Disabled, ReadOnly: n.ReadOnly,
		Multiple: n.Multiple, Unit: b.unitOf(i)}
	if len(f.Names) > 0 {
		f.Label = f.Names[0]
	}
	f.Value = shape.WithoutIcons(n.Value)
	switch {
	case len(n.Options) > 0:
		f.Value = shape.SelectedLabel(n)
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
	b.face(&f)
	return f
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
	case b.closedList(i):
		return "choice"
	case strings.Contains(shape.Lower(n.Class), "datepicker") || shape.ClassWord(n, pickerWords) || b.X.Parent(i) >= 0 &&
		shape.ClassWord(&b.Nodes[b.X.Parent(i)], shape.Words("datepicker flatpickr")) || datePattern(n.Placeholder):
		return "date"
	}
	return "text"
}

// datePattern reports whether a placeholder shows how dates are written.
func datePattern(s string) bool {
	s = shape.Lower(s)
	return strings.Contains(s, "yyyy") || strings.Contains(s, "jjjj") || strings.Contains(s, "aaaa") ||
		strings.Contains(s, "dd.mm") || strings.Contains(s, "mm/dd") || strings.Contains(s, "tt.mm")
}

// severalFields reports whether a node holds more than one field.
func (b *builder) severalFields(i int) bool {
	count := 0
	for j := i + 1; j < b.Stop(i); j++ {
		if n := &b.Nodes[j]; (shape.TypedRoles[n.Role] || n.Role == "checkbox" || n.Role == "radio" || n.Role == "switch") && !n.Hidden {
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
