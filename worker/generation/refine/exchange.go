package refine

import (
	"slices"
	"strconv"
	"strings"

	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/worker/generation/intent"
	"github.com/slipway-qa/slipway/worker/generation/word"
)

// replace does "B instead of A": A is a value of the test or something that it does.
func (d *draft) replace(c command) error {
	old, quoted := d.withoutVerb(c.what).value(d.lang.Revision("article"))
	acts := !quoted && (&parser{lang: d.lang}).activity(c.what)
	source := c.now.String()
	if !acts {
		if g, ok := d.read.single(source); ok {
			_, ok = valueIn(source, g)
			acts = !ok
		}
	}
	if now := d.valueOf(c.now); !acts && now.text != "" {
		if changed := d.substitute(old, now); changed != nil {
			d.note(c.text, "changed "+describeSteps(d.base, changed))
			return nil
		}
	}
	found, err := d.locate(c.what)
	if err != nil {
		return err
	}
	if !d.read.readable(source) {
		return notUnderstood(source, "it asks for nothing that is known")
	}
	d.write(found, d.read.text(source))
	d.note(c.text, "written in place of "+describeSteps(d.base, found))
	return nil
}

// change does "change F to B": F is a field, something that was chosen, or a value.
func (d *draft) change(c command) error {
	now := d.valueOf(c.now)
	if now.text == "" {
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
func (d *draft) setField(what span, now value) ([]int, error) {
	desc := d.describe(what)
	fields := d.fields(&desc)
	if len(fields) == 0 && !desc.named() && desc.kinds == nil {
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
		d.write(o.steps, d.readBase.text(o.withNewValue(now)))
		return o.steps, nil
	} else if several {
		return nil, d.notFound(what, "several steps of the test may be meant")
	}
	old, _ := what.value(d.lang.Revision("article"))
	if changed := d.substitute(old, now); changed != nil {
		return changed, nil
	}
	return nil, d.notFound(what, "the test fills and chooses nothing of that name")
}

// setStep makes a step type another value; where the instruction that it came from
// chose it as well, that instruction is written anew.
func (d *draft) setStep(i int, now value) []int {
	old := textOf(tool(d.base[i]))
	if changed := d.substituteSole(i, old, now); changed != nil {
		return changed
	}
	d.setText(i, now.text)
	return []int{i}
}

func (d *draft) substituteSole(i int, old string, now value) []int {
	o := d.originOf(i)
	if o == nil || old == "" || !d.present(o.steps) || d.editable(o.steps, old) {
		return nil
	}
	text, ok := o.withValue(old, now)
	if !ok {
		return nil
	}
	d.write(o.steps, d.readBase.text(text))
	return o.steps
}

// fields returns the steps that type or choose a value for an element of a name.
func (d *inventory) fields(desc *description) []int {
	scores := make([]float64, len(d.base))
	named := *desc
	named.tools = nil
	if named.words == nil {
		named.words = named.kinds // "the title"
	}
	for i := range d.base {
		if t := tool(d.base[i]); types(t) && !d.gone(i) && named.named() {
			p := d.profiles[i]
			p.values, p.said, p.submits = nil, "", false
			scores[i] = d.score(&named, &p, t)
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

// chosen returns the goal of the base's intent that gives something of a name a value by more
// than typing: a date picker, a list, a slider.
func (d *inventory) chosen(desc *description) (found *origin, several bool) {
	if desc.words == nil {
		return nil, false
	}
	list := d.origins()
	for j := range list {
		o := &list[j]
		v, ok := o.value()
		if !ok || v.text == "" || !d.present(o.steps) {
			continue
		}
		switch o.goal.Effect {
		case intent.Set, intent.Choose, intent.Rate, intent.Filter:
		default:
			continue
		}
		// The value itself is no name of the field.
		rest := d.compare.Text(replaceWord(cut(o.text, 400), v.text, ""))
		if s := word.Match(desc.words, rest); !s.Matched(desc.words) || s.Kind <= word.Part {
			continue
		}
		if found != nil {
			return nil, true
		}
		found = o
	}
	return found, false
}

// changeFields sets the values of fields that the test fills already: "enter Bob as the
// name". It does nothing unless that is all that a text asks for.
func (d *draft) changeFields(text string) bool {
	type change struct {
		at   int
		now  value
		text string
	}
	var list []change
	for _, g := range d.read.whole(text) {
		name, v, ok := setting(text, &g)
		if !ok || !inside(text, name.Span) || v.text == "" {
			return false
		}
		desc := d.describe(newSpan(text[name.Span.From:name.Span.To], d.lang))
		fields := d.fields(&desc)
		if len(fields) != 1 || textOf(tool(d.base[fields[0]])) == v.text {
			return false
		}
		list = append(list, change{fields[0], v, text[g.Span.From:g.Span.To]})
	}
	for _, c := range list {
		d.note(c.text, "changed "+describeSteps(d.base, d.setStep(c.at, c.now)))
	}
	return len(list) > 0
}

// instead does "choose Blue instead", where the test has just one thing that it can
// stand for.
func (d *draft) instead(c command) error {
	now, source := d.valueOf(c.now), c.now.String()
	if g, ok := d.read.single(source); ok {
		if name, v, ok := setting(source, g); ok && inside(source, name.Span) {
			changed, err := d.setField(newSpan(source[name.Span.From:name.Span.To], d.lang), v)
			if err != nil {
				return err
			}
			d.note(c.text, "changed "+describeSteps(d.base, changed))
			return nil
		}
	}
	var found []int
	tools := d.verbTools(c.now, 0)
	for i := range d.base {
		if !d.gone(i) && d.replaceable(i, tools) {
			found = append(found, i)
		}
	}
	found = d.alike(found, now.text)
	if len(found) == 1 && now.text != "" {
		if changed := d.setSole(found[0], now); changed != nil {
			d.note(c.text, "changed "+describeSteps(d.base, changed))
			return nil
		}
	}
	return d.notFound(c.now, "it does not say instead of what", found...)
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
func (d *draft) setSole(i int, now value) []int {
	if types(tool(d.base[i])) {
		return d.setStep(i, now)
	}
	p := &d.profiles[i]
	if o := d.originOf(i); o != nil && d.present(o.steps) {
		for _, name := range p.names {
			if text, ok := o.withValue(name, now); ok {
				d.write(o.steps, d.readBase.text(text))
				return o.steps
			}
		}
	}
	if len(p.names) > 0 {
		return d.substituteIn(i, p.names[0], now)
	}
	return nil
}
