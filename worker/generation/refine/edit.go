package refine

import (
	"slices"

	"github.com/slipway-qa/slipway/storage/step"
)

// types reports whether a step types or chooses a value that it holds itself.
func types(t *step.Tool) bool {
	return t.Type == step.InputText || t.Type == step.TypeKeys || t.Type == step.Select
}

// edit changes a step; its tool is copied with what it holds.
func (d *draft) edit(i int, change func(t *step.Tool)) {
	s := &d.steps[i]
	s.Tool = copyTool(s.Tool)
	change(step.Inner(&s.Tool))
	d.edited[i] = true
	s.Result, s.ScreenshotID = nil, ""
}

func copyTool(t step.Tool) step.Tool {
	if t.Args.Tool != nil {
		inner := copyTool(*t.Args.Tool)
		t.Args.Tool = &inner
	}
	t.Args.Selector, t.Args.Target = copySelector(t.Args.Selector), copySelector(t.Args.Target)
	if t.Args.Matcher != nil {
		m := *t.Args.Matcher
		t.Args.Matcher = &m
	}
	return t
}

func copySelector(s *step.Selector) *step.Selector {
	if s == nil {
		return nil
	}
	c := *s
	c.Within, c.Has = copySelector(s.Within), copySelector(s.Has)
	return &c
}

// setText makes a step type or choose another value.
func (d *draft) setText(i int, value string) {
	d.edit(i, func(t *step.Tool) {
		if t.Type == step.Select {
			t.Args.OptionValue = &value
		} else {
			t.Args.Text = &value
		}
	})
}

// textOf returns what a step types or chooses.
func textOf(t *step.Tool) string {
	switch {
	case t.Type == step.Select && t.Args.OptionValue != nil:
		return *t.Args.OptionValue
	case t.Args.Text != nil:
		return *t.Args.Text
	}
	return ""
}

// valueOf returns the value that words name: as the reader of intents understands it, else
// their text without the verb before it.
func (d *inventory) valueOf(words span) value {
	source := words.String()
	if g, ok := d.read.single(source); ok {
		if v, ok := valueIn(source, g); ok && v.text != "" {
			return v
		}
	}
	text, quoted := d.withoutVerb(words).value(d.lang.Revision("article"))
	return value{text: text, quoted: quoted}
}

// withoutVerb returns a span without the verb that begins it: "choose Blue" is Blue.
func (d *inventory) withoutVerb(s span) span {
	if len(s.list) < 2 || s.list[0].quoted {
		return s
	}
	n := s.at(0, d.lang.Revision("use"))
	if n == 0 && d.verbTools(s, 0) != nil {
		n = 1
	}
	return s.cut(n, len(s.list))
}

// substitute puts a value in place of another wherever the steps have it. It reports
// whether any step had.
func (d *draft) substitute(old string, now value) []int {
	var hits []int
	for i := range d.base {
		if !d.gone(i) && d.has(i, old) && tool(d.base[i]).Type != step.Assert {
			hits = append(hits, i)
		}
	}
	if len(hits) == 0 {
		return nil
	}
	changed := slices.Clone(hits)
	for _, i := range hits {
		if !d.gone(i) && !d.edited[i] {
			changed = append(changed, d.substituteIn(i, old, now)...)
		}
	}
	for i := range d.base {
		if t := tool(d.base[i]); t.Type == step.Assert && !d.gone(i) && i > hits[0] && d.has(i, old) {
			d.edit(i, func(t *step.Tool) { replaceIn(t, old, now.text) })
			changed = append(changed, i)
		}
	}
	slices.Sort(changed)
	return slices.Compact(changed)
}

// has reports whether a step is about a value: what it types, or what it acts on.
func (d *inventory) has(i int, value string) bool {
	t, p := tool(d.base[i]), &d.profiles[i]
	if types(t) {
		return mentions(textOf(t), value)
	}
	return t.Type != step.GoToURL && p.isValue(value)
}

// substituteIn changes one step, or all of the instruction that it came from where a
// value is more than a text in it: the days of a date picker, the options of a list.
func (d *draft) substituteIn(i int, old string, now value) []int {
	o := d.originOf(i)
	if o != nil && d.present(o.steps) && !d.editable(o.steps, old) {
		if text, ok := o.withValue(old, now); ok {
			d.write(o.steps, d.readBase.text(text))
			return o.steps
		}
	}
	t := tool(d.base[i])
	switch {
	case types(t):
		d.setText(i, replaceWord(textOf(t), old, now.text))
	case inSelector(t.Args.Selector, old, 0) || inSelector(t.Args.Target, old, 0):
		d.edit(i, func(t *step.Tool) { replaceIn(t, old, now.text) })
	default:
		changed := d.steps[i]
		changed.Tool = copyTool(changed.Tool)
		replaceFingerprint(step.Inner(&changed.Tool), old, now.text)
		if text, ok := Restate(changed); ok {
			d.write([]int{i}, text)
		}
	}
	return []int{i}
}

// editable reports whether a value stands only in texts that steps type.
func (d *inventory) editable(steps []int, value string) bool {
	return !slices.ContainsFunc(steps, func(i int) bool { return !types(tool(d.base[i])) && d.has(i, value) })
}

func inSelector(s *step.Selector, value string, depth int) bool {
	if s == nil || depth > step.MaxNesting {
		return false
	}
	named := s.Type != step.CSS && s.Type != step.XPath && s.Type != step.TestID
	return named && s.Type != step.ByRole && mentions(s.Value, value) || mentions(s.Name, value) || mentions(s.HasText, value) ||
		inSelector(s.Within, value, depth+1) || inSelector(s.Has, value, depth+1)
}

// replaceIn puts a text in place of another in the selectors and the expected value of a
// tool.
func replaceIn(t *step.Tool, old, now string) {
	replaceSelector(t.Args.Selector, old, now, 0)
	replaceSelector(t.Args.Target, old, now, 0)
	if m := t.Args.Matcher; m != nil && m.Name != step.AttributeIs {
		m.Args.Value = replaceWord(m.Args.Value, old, now)
	}
}

func replaceSelector(s *step.Selector, old, now string, depth int) {
	if s == nil || depth > step.MaxNesting || !inSelector(s, old, depth) {
		return
	}
	if s.Type != step.ByRole && s.Type != step.CSS && s.Type != step.XPath && s.Type != step.TestID {
		s.Exact = s.Exact || mentions(s.Value, old)
		s.Value = replaceWord(s.Value, old, now)
	}
	if mentions(s.Name, old) {
		// The whole name: what merely begins so is something else.
		s.Name, s.Exact = replaceWord(s.Name, old, now), true
	}
	s.HasText = replaceWord(s.HasText, old, now)
	s.Fingerprint = nil // of another element
	replaceSelector(s.Within, old, now, depth+1)
	replaceSelector(s.Has, old, now, depth+1)
}

// replaceFingerprint does so in what the fingerprint calls an element.
func replaceFingerprint(t *step.Tool, old, now string) {
	if t.Args.Selector == nil || t.Args.Selector.Fingerprint == nil {
		return
	}
	f := *t.Args.Selector.Fingerprint
	for _, text := range []*string{&f.Name, &f.Label, &f.Text, &f.Placeholder} {
		*text = replaceWord(*text, old, now)
	}
	t.Args.Selector.Fingerprint = &f
}
