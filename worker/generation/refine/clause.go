package refine

import (
	"slices"
	"strconv"
	"strings"

	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/worker/generation/intent"
)

// withValue returns the clause of an instruction with a value in place of another. It
// reports whether the instruction has the other.
func (o *origin) withValue(old string, now intent.Value) (intent.Clause, bool) {
	found := false
	c := o.rewrite(old, now.Text, func(in *intent.Instruction) {
		found = substituteInstruction(in, old, now) || found
	})
	return c, found
}

// withNewValue returns the clause of an instruction with another value.
func (o *origin) withNewValue(now intent.Value) intent.Clause {
	old := o.clause.Readings[0].Instructions[o.instruction].Values[0].Text
	return o.rewrite(old, now.Text, func(in *intent.Instruction) {
		if len(in.Values) == 1 {
			in.Values = []intent.Value{now}
		}
	})
}

// rewrite returns the clause of just this instruction, changed in all its readings.
func (o *origin) rewrite(old, now string, change func(*intent.Instruction)) intent.Clause {
	c := o.clause
	alone := !slices.ContainsFunc(c.Readings, func(r intent.Reading) bool { return len(r.Instructions) != 1 })
	if !alone {
		in := c.Readings[0].Instructions[o.instruction]
		c.Readings = []intent.Reading{{Instructions: []intent.Instruction{in}, Prior: 1}}
		if in.Text != "" {
			c.Text = in.Text
		}
	}
	c.Text = replaceWord(c.Text, old, now)
	readings := make([]intent.Reading, len(c.Readings))
	for i, r := range c.Readings {
		in := r.Instructions[0]
		in.Text = replaceWord(in.Text, old, now)
		change(&in)
		readings[i] = intent.Reading{Instructions: []intent.Instruction{in}, Prior: r.Prior}
	}
	c.Readings = readings
	return c
}

// substituteInstruction puts a value in place of another in what an instruction types,
// chooses and acts on. What it points to is copied.
func substituteInstruction(in *intent.Instruction, old string, now intent.Value) bool {
	found := false
	in.Values = slices.Clone(in.Values)
	for i, v := range in.Values {
		if strings.EqualFold(strings.TrimSpace(v.Text), strings.TrimSpace(old)) {
			in.Values[i], found = now, true
		} else if mentions(v.Text, old) {
			in.Values[i] = intent.Value{Text: replaceWord(v.Text, old, now.Text), Quoted: v.Quoted}
			found = true
		}
	}
	for _, p := range []**intent.Phrase{&in.Target, &in.To, &in.Item} {
		if *p != nil {
			changed, ok := substitutePhrase(**p, old, now, 0)
			*p, found = &changed, found || ok
		}
	}
	return found
}

func substitutePhrase(p intent.Phrase, old string, now intent.Value, depth int) (intent.Phrase, bool) {
	if depth > step.MaxNesting {
		return p, false
	}
	found := mentions(p.Name, old)
	if found {
		p.Exact = p.Exact && (now.Quoted || !strings.EqualFold(p.Name, old)) || now.Quoted
		p.Name = replaceWord(p.Name, old, now.Text)
	}
	p.Text = replaceWord(p.Text, old, now.Text)
	p.Others = slices.Clone(p.Others)
	for i := range p.Others {
		changed, ok := substitutePhrase(p.Others[i], old, now, depth+1)
		p.Others[i], found = changed, found || ok
	}
	p.Relations = slices.Clone(p.Relations)
	for i := range p.Relations {
		changed, ok := substitutePhrase(p.Relations[i].Phrase, old, now, depth+1)
		p.Relations[i].Phrase, found = changed, found || ok
	}
	return p, found
}

// Restate returns the instruction that a step stands for, by what its selector and
// fingerprint say of its element: what to write when a kept step does not work on the
// page any more. It reports whether the step can be said so.
func Restate(s step.Step) (intent.Clause, bool) {
	t := tool(s)
	in := intent.Instruction{Target: phraseOf(t.Args.Selector), To: phraseOf(t.Args.Target), Lang: "en"}
	if !restateKind(&in, t) {
		return intent.Clause{}, false
	}
	if t.Args.Selector != nil && in.Target == nil || t.Args.Target != nil && in.To == nil {
		return intent.Clause{}, false
	}
	in.Optional = s.Optional
	words := []string{strings.ReplaceAll(string(in.Kind), "_", " ")}
	for _, v := range in.Values {
		words = append(words, strconv.Quote(v.Text))
	}
	for _, p := range []*intent.Phrase{in.Target, in.To} {
		if p != nil {
			words = append(words, p.Text)
		}
	}
	in.Text = strings.Join(words, " ")
	return intent.Clause{Text: in.Text, Lang: "en", Readings: []intent.Reading{{Instructions: []intent.Instruction{in}, Prior: 1}}}, true
}

// restated are the kinds of instructions of tools that need nothing more.
var restated = map[string]intent.Kind{
	step.Click: intent.Click, step.DoubleClick: intent.DoubleClick, step.RightClick: intent.RightClick, step.Hover: intent.Hover,
	step.Drag: intent.Drag, step.InputText: intent.Fill, step.TypeKeys: intent.Append, step.Select: intent.Choose,
	step.PressKey: intent.Press, step.EnterKeySubmit: intent.Press,
}

func restateKind(in *intent.Instruction, t *step.Tool) bool {
	kind, ok := restated[t.Type]
	if !ok {
		return false
	}
	in.Kind = kind
	switch t.Type {
	case step.InputText, step.TypeKeys, step.Select:
		in.Values = []intent.Value{{Text: textOf(t), Quoted: true}}
		if t.Type == step.InputText && textOf(t) == "" {
			in.Kind, in.Values = intent.Clear, nil
		}
	case step.PressKey:
		in.Key = t.Args.Key
	case step.EnterKeySubmit:
		in.Key = "Enter"
	}
	return true
}

// phraseOf returns what a selector says of its element; nil where it has no name.
func phraseOf(s *step.Selector) *intent.Phrase {
	if s == nil {
		return nil
	}
	name, role := nameOf(s)
	if name == "" {
		return nil
	}
	p := &intent.Phrase{Text: strings.TrimSpace(role + " " + strconv.Quote(name)), Name: name, Exact: true}
	if role != "" {
		p.Roles = []string{role}
	}
	if s.Within != nil {
		name, role := nameOf(s.Within)
		if name == "" {
			name = s.Within.HasText
		}
		if name != "" {
			inside := intent.Phrase{Text: strings.TrimSpace(role + " " + strconv.Quote(name)), Name: name, Exact: true}
			if role != "" {
				inside.Roles = []string{role}
			}
			p.Relations = []intent.Relation{{Kind: intent.In, Phrase: inside}}
		}
	}
	return p
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
