package refine

import (
	"slices"
	"strconv"
	"strings"

	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/worker/generation/intent"
)

// replace does "B instead of A": A is a value of the test or something that it does.
func (d *draft) replace(c command) error {
	old, quoted := c.what.withoutVerb().value()
	acts := !quoted && d.activity(c.what)
	clauses := d.read(c.now.String())
	if !acts {
		now := d.valueOf(c.now)
		if in, ok := d.single(c.now.String()); ok {
			_, ok = valueIn(in)
			acts = !ok
		}
		if !acts && now.Text != "" {
			if changed := d.substitute(old, now); changed != nil {
				d.note(c.text, "changed "+describeSteps(d.base, changed))
				return nil
			}
		}
	}
	found, err := d.locate(c.what)
	if err != nil {
		return err
	}
	for _, cl := range clauses {
		if len(cl.Readings) == 0 {
			clauses = nil
		}
	}
	if len(clauses) == 0 {
		return notUnderstood(c.now.String(), "it asks for nothing that is known")
	}
	d.write(found, clauses...)
	d.note(c.text, "written in place of "+describeSteps(d.base, found))
	return nil
}

// activity reports whether words name something that a test does.
func (d *inventory) activity(s span) bool {
	for i := range languages {
		if languages[i].activity(s) {
			return true
		}
	}
	return false
}

// change does "change F to B": F is a field, something that was chosen, or a value.
func (d *draft) change(c command) error {
	now := d.valueOf(c.now)
	if now.Text == "" {
		return notUnderstood(c.text, "it says no value")
	}
	changed, err := d.setField(c.what, now)
	if err != nil {
		return err
	}
	d.note(c.text, "changed "+describeSteps(d.base, changed))
	return nil
}

// setField sets the value of a field, or of what is chosen for something. It returns
// the steps.
func (d *draft) setField(what span, now intent.Value) ([]int, error) {
	desc := describe(what)
	fields := d.fields(&desc)
	if len(fields) == 0 && len(desc.words) == 0 && len(desc.quoted) == 0 {
		return nil, d.notFound(what, "it says no field of the test")
	}
	switch len(fields) {
	case 1:
		return d.setStep(fields[0], now), nil
	case 0:
	default:
		if i, ok := nth(fields, desc.position); ok && desc.position != 0 {
			return d.setStep(i, now), nil
		}
		return nil, d.notFound(what, "several fields of the test may be meant", fields...)
	}
	if o, several := d.chosen(&desc); o != nil {
		c := o.withNewValue(now)
		d.write(o.steps, c)
		return o.steps, nil
	} else if several {
		return nil, d.notFound(what, "several steps of the test may be meant")
	}
	old, _ := what.value()
	if changed := d.substitute(old, now); changed != nil {
		return changed, nil
	}
	return nil, d.notFound(what, "the test fills and chooses nothing of that name")
}

// setStep makes a step type another value; where the instruction that it came from
// chose it as well, that instruction is written anew.
func (d *draft) setStep(i int, now intent.Value) []int {
	old := textOf(tool(d.base[i]))
	if changed := d.substituteSole(i, old, now); changed != nil {
		return changed
	}
	d.setText(i, now.Text)
	return []int{i}
}

func (d *draft) substituteSole(i int, old string, now intent.Value) []int {
	o := d.originOf(i)
	if o == nil || old == "" || !d.present(o.steps) || d.editable(o.steps, old) {
		return nil
	}
	c, ok := o.withValue(old, now)
	if !ok {
		return nil
	}
	d.write(o.steps, c)
	return o.steps
}

// fields returns the steps that type or choose a value for an element of a name.
func (d *inventory) fields(desc *description) []int {
	scores := make([]float64, len(d.base))
	named := *desc
	named.tools = nil
	for i := range d.base {
		if t := tool(d.base[i]); types(t) && !d.gone(i) && len(desc.words)+len(desc.quoted) > 0 {
			p := d.profiles[i]
			p.values, p.valueWords, p.saidWords, p.submits = nil, nil, nil, false
			scores[i] = named.score(&p, t)
		}
	}
	found := best(scores)
	// A field that is filled twice has its last value in the end.
	if len(found) > 1 && !slices.ContainsFunc(found, func(i int) bool { return !sameElement(d.base[i], d.base[found[0]]) }) {
		return found[len(found)-1:]
	}
	return found
}

func sameElement(a, b step.Step) bool {
	x, y := tool(a).Args.Selector, tool(b).Args.Selector
	return x != nil && y != nil && x.Type == y.Type && x.Value == y.Value && x.Name == y.Name && x.Within == nil && y.Within == nil
}

// chosen returns the instruction of the base's intent that gives something of a name a
// value by more than typing: a date picker, a list, a slider.
func (d *inventory) chosen(desc *description) (found *origin, several bool) {
	list := d.instructions()
	for j := range list {
		o := &list[j]
		in := o.clause.Readings[0].Instructions[o.instruction]
		if len(in.Values) != 1 || len(desc.words) == 0 || !d.present(o.steps) || overlap(desc.words, o.target) < len(desc.words) {
			continue
		}
		switch in.Kind {
		case intent.Fill, intent.Choose, intent.Adjust, intent.Check:
			if found != nil {
				return nil, true
			}
			found = o
		}
	}
	return found, false
}

// changeFields sets the values of fields that the test fills already: "enter Bob as the
// name". It does nothing unless that is all that the clauses ask for.
func (d *draft) changeFields(clauses []intent.Clause) bool {
	type setting struct {
		at  int
		now intent.Value
	}
	var list []setting
	for _, c := range clauses {
		if len(c.Readings) == 0 || len(c.Readings[0].Instructions) != 1 {
			return false
		}
		in := c.Readings[0].Instructions[0]
		if in.Kind != intent.Fill && in.Kind != intent.Choose && in.Kind != intent.Adjust || in.Target == nil || in.By != 0 ||
			in.Target.Name == "" || len(in.Target.Relations) > 0 || len(in.Values) != 1 || in.Values[0].From != nil || in.If != nil {
			return false
		}
		desc := describe(phraseSpan(in.Target))
		fields := d.fields(&desc)
		if len(fields) != 1 || textOf(tool(d.base[fields[0]])) == in.Values[0].Text {
			return false
		}
		list = append(list, setting{fields[0], in.Values[0]})
	}
	for k, s := range list {
		d.note(clauses[k].Text, "changed "+describeSteps(d.base, d.setStep(s.at, s.now)))
	}
	return len(list) > 0
}

// instead does "choose Blue instead", where the test has just one thing that it can
// stand for.
func (d *draft) instead(c command) error {
	now := d.valueOf(c.now)
	in, ok := d.single(c.now.String())
	if ok && in.Target != nil && in.Target.Name != "" && len(in.Values) == 1 {
		changed, err := d.setField(phraseSpan(in.Target), now)
		if err != nil {
			return err
		}
		d.note(c.text, "changed "+describeSteps(d.base, changed))
		return nil
	}
	var found []int
	tools := lex.tools[stem(fold(c.now.list[0].low))]
	for i := range d.base {
		if !d.gone(i) && d.replaceable(i, tools) {
			found = append(found, i)
		}
	}
	found = d.alike(found, now.Text)
	if len(found) == 1 && now.Text != "" {
		changed := d.setSole(found[0], now)
		d.note(c.text, "changed "+describeSteps(d.base, changed))
		return nil
	}
	return d.notFound(c.now, "it does not say instead of what", found...)
}

// phraseSpan returns how a sentence calls an element.
func phraseSpan(p *intent.Phrase) span {
	if p.Text != "" && !p.Exact {
		return newSpan(p.Text)
	}
	return newSpan(strconv.Quote(p.Name))
}

// choices are the roles of elements of which one is chosen.
var choices = []string{"radio", "option", "menuitemradio", "gridcell", "treeitem"}

// replaceable reports whether a step does what tools do, with a value of its own. For
// clicks on buttons the words must say click.
func (d *inventory) replaceable(i int, tools []string) bool {
	t := tool(d.base[i])
	if types(t) {
		return len(tools) == 0 || slices.Contains(tools, t.Type)
	}
	if t.Type != step.Click || len(tools) > 0 && !slices.Contains(tools, step.Click) {
		return false
	}
	return slices.Contains(choices, d.profiles[i].role) || slices.Contains(tools, step.DoubleClick)
}

// alike narrows steps down to those whose value is of the same kind: a mail address, a
// number, a date.
func (d *inventory) alike(steps []int, value string) []int {
	if len(steps) < 2 {
		return steps
	}
	var list []int
	for _, i := range steps {
		if t := tool(d.base[i]); types(t) && form(textOf(t)) == form(value) && form(value) != "" {
			list = append(list, i)
		}
	}
	if len(list) == 0 {
		return steps
	}
	return list
}

// form returns what kind of text a value is; "" for words.
func form(value string) string {
	switch {
	case strings.Count(value, "@") == 1 && strings.Contains(value, "."):
		return "mail"
	case strings.Contains(value, "://"):
		return "url"
	}
	if _, err := strconv.ParseFloat(value, 64); err == nil {
		return "number"
	}
	if strings.Trim(value, "0123456789./-:") == "" && value != "" {
		return "date"
	}
	return ""
}

// setSole gives the one step that can be meant another value.
func (d *draft) setSole(i int, now intent.Value) []int {
	if types(tool(d.base[i])) {
		return d.setStep(i, now)
	}
	p := &d.profiles[i]
	if o := d.originOf(i); o != nil && d.present(o.steps) {
		for _, name := range p.names {
			if c, ok := o.withValue(name, now); ok {
				d.write(o.steps, c)
				return o.steps
			}
		}
	}
	if len(p.names) > 0 {
		return d.substituteIn(i, p.names[0], now)
	}
	return nil
}
