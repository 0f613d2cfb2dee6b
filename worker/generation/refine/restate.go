package refine

import (
	"strings"

	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/worker/generation/intent"
)

// restated are the effects of tools that need nothing more than an element, and the words that
// they are shown in.
var restated = map[string]intent.Effect{
	step.Click: intent.Press, step.Hover: intent.Point, step.Drag: intent.Move, step.InputText: intent.Set, step.TypeKeys: intent.Append,
	step.Select: intent.Set, step.PressKey: intent.Type, step.EnterKeySubmit: intent.Type,
}

// kindsOf are the kinds of elements of roles.
var kindsOf = map[string]intent.Kind{
	"button": intent.Button, "link": intent.Link, "textbox": intent.FieldKind, "searchbox": intent.FieldKind, "spinbutton": intent.FieldKind,
	"checkbox": intent.CheckBox, "switch": intent.Switch, "radio": intent.Radio, "option": intent.Option, "tab": intent.Tab,
	"combobox": intent.List, "listbox": intent.List, "row": intent.Row, "slider": intent.Slider, "heading": intent.Heading,
}

// Restate returns the text that a step stands for, by what its selector and fingerprint say
// of its element, with its reading: what to write when a kept step does not work on the
// page any more. It reports whether the step can be said so.
func Restate(s step.Step) (intent.Text, bool) {
	t := tool(s)
	effect, ok := restated[t.Type]
	if !ok {
		return intent.Text{}, false
	}
	b := &statement{}
	g := intent.Goal{Effect: effect, Optional: s.Optional}
	g.Verb = b.write(strings.ReplaceAll(string(effect), "_", " "))
	g.Lemma = string(effect)
	typed := types(t)
	if typed {
		f := intent.Field{Value: intent.Value{Text: textOf(t), Quoted: true}}
		if f.Value.Text == "" {
			g.Effect = intent.Clear
		} else {
			f.Value.Span = b.quote(f.Value.Text)
			f.Span = f.Value.Span
		}
		g.Fields = []intent.Field{f}
	}
	target, ok := b.describe(t.Args.Selector)
	if !ok && t.Args.Selector != nil {
		return intent.Text{}, false
	}
	switch {
	case g.Effect == intent.Clear:
		g.Fields, g.Target = nil, list(target)
	case g.Effect == intent.Append:
		v := g.Fields[0].Value
		g.Text, g.Fields, g.Target = &v, nil, list(target)
	case typed:
		g.Fields[0].Name = target
	default:
		g.Target = list(target)
	}
	if t.Args.Target != nil {
		if g.To, ok = b.describe(t.Args.Target); !ok {
			return intent.Text{}, false
		}
	}
	if g.Effect == intent.Type {
		if g.Keys = t.Args.Key; g.Keys == "" {
			g.Keys = "Enter"
		}
		g.Words = append(g.Words, b.write(g.Keys))
	}
	g.Span = intent.Span{From: 0, To: b.text.Len()}
	return intent.Text{Source: b.text.String(), Lang: "en", Readings: []intent.Reading{{Goals: []intent.Goal{g}, Prior: 1}}}, true
}

func list(d *intent.Description) []intent.Description {
	if d == nil {
		return nil
	}
	return []intent.Description{*d}
}

// statement is a text in the making whose parts know where they stand.
type statement struct{ text strings.Builder }

func (b *statement) write(words string) intent.Span {
	if b.text.Len() > 0 {
		b.text.WriteByte(' ')
	}
	from := b.text.Len()
	b.text.WriteString(words)
	return intent.Span{From: from, To: b.text.Len()}
}

func (b *statement) quote(text string) intent.Span { return b.write(`"` + text + `"`) }

// describe adds what a selector says of its element; it reports whether that has a name.
func (b *statement) describe(s *step.Selector) (*intent.Description, bool) {
	if s == nil {
		return nil, false
	}
	name, role := nameOf(s)
	if name == "" {
		return nil, false
	}
	d := b.named(role, name)
	if s.Within != nil {
		name, role := nameOf(s.Within)
		if name == "" {
			name = s.Within.HasText
		}
		if name != "" {
			in := b.named(role, name)
			d.In = &in
		}
	}
	return &d, true
}

func (b *statement) named(role, name string) intent.Description {
	d := intent.Description{Quoted: true, Kind: kindsOf[role], Noun: role}
	if role != "" {
		d.NounSpan = b.write(role)
	}
	d.Span = b.quote(name)
	d.Words = []intent.Word{{Span: d.Span, Text: name}}
	return d
}

// nameOf returns the name and role of the element of a selector.
func nameOf(s *step.Selector) (name, role string) {
	if s.Type == step.ByRole {
		name, role = s.Name, s.Value
	} else if s.Type != step.CSS && s.Type != step.XPath && s.Type != step.TestID {
		name = s.Value
	}
	if f := s.Fingerprint; f != nil {
		if role == "" {
			role = f.Role
		}
		for _, text := range []string{f.Name, f.Label, f.Placeholder, f.Text} {
			if name == "" {
				name = text
			}
		}
	}
	return cut(name, 300), role
}
