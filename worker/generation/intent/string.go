package intent

import (
	"fmt"
	"strconv"
	"strings"
)

// String returns the reading in one line: "set[rooms:2, beds:3] | check[shown: Salt]".
func (r Reading) String() string {
	parts := make([]string, len(r.Goals))
	for i, g := range r.Goals {
		parts[i] = g.String()
	}
	return strings.Join(parts, " | ")
}

// Left returns the words of source that the reading did not take, in brackets.
func (r Reading) Left(source string) string {
	var words []string
	for _, s := range r.Unread {
		words = append(words, source[s.From:s.To])
	}
	return strings.Join(words, " ")
}

// writer collects named slots.
type writer struct{ parts []string }

func (w *writer) add(name, text string) {
	if text == "" {
		return
	}
	if name != "" {
		text = name + "=" + text
	}
	w.parts = append(w.parts, text)
}

func (w *writer) flag(name string, on bool) {
	if on {
		w.parts = append(w.parts, name)
	}
}

// String returns the goal as Reading.String has it.
func (g Goal) String() string {
	w := &writer{}
	if g.Effect == Act || g.Effect == Press && len(g.Target) == 0 {
		w.add("", "~"+g.Lemma)
	}
	w.add("", descriptions(g.Target))
	w.add("to", g.To.text())
	w.add("from", g.From.text())
	w.add("become", g.Become.text())
	for _, f := range g.Fields {
		w.add("", f.String())
	}
	w.add("text", g.Text.text())
	w.add("by", g.Measure.text())
	w.flag("desc", g.Descending)
	w.add("amount", g.Amount.text())
	w.add("in", g.In.text())
	w.add("with", g.With.text())
	w.add("at", g.Place)
	if g.Effect == Toggle {
		w.add("", map[bool]string{true: "on", false: "off"}[g.On])
	}
	w.add("keys", g.Keys)
	w.add("how", g.How)
	if g.Times > 0 {
		w.add("times", strconv.Itoa(g.Times))
	}
	if g.Claim != nil {
		w.add("", g.Claim.String())
	}
	if g.If != nil {
		w.add("if", "("+g.If.String()+")")
	}
	w.flag("otherwise", g.Otherwise)
	w.flag("expected", g.Expected)
	w.flag("begun", g.Begun)
	w.flag("optional", g.Optional)
	name := string(g.Effect)
	if g.Forbidden {
		name = "!" + name
	}
	return name + "[" + strings.Join(w.parts, ", ") + "]"
}

// String returns the field as "name:value".
func (f Field) String() string {
	name := ""
	switch {
	case f.Name != nil:
		name = f.Name.text()
	case f.Prep != "":
		name = "(" + f.Prep + ")"
	}
	if f.Off {
		return "-" + name + f.Value.text()
	}
	if f.Keep {
		return "=" + name
	}
	return name + ":" + f.Value.text()
}

func (v *Value) text() string {
	if v == nil {
		return ""
	}
	s := v.Text
	if v.From != nil {
		s = "<" + v.From.text() + ">"
	}
	if v.Quoted {
		s = strconv.Quote(s)
	}
	if v.Date != nil {
		s += "@" + v.Date.String()
	}
	if v.Unit != "" {
		s += "_" + v.Unit
	}
	for i := range v.Also {
		s += "~" + v.Also[i].text()
	}
	return s
}

// String returns the date in the form of ISO as far as it is known.
func (d *Date) String() string {
	var b strings.Builder
	if d.Year+d.Month+d.Day > 0 {
		fmt.Fprintf(&b, "%d-%d-%d", d.Year, d.Month, d.Day)
	}
	if d.Relative != "" {
		fmt.Fprintf(&b, "%s%+d", d.Relative, d.Days)
	}
	if d.Weekday >= 0 {
		fmt.Fprintf(&b, "w%d", d.Weekday)
	}
	if d.Hour >= 0 {
		fmt.Fprintf(&b, "T%d:%02d", d.Hour, max(d.Minute, 0))
	}
	if d.To != nil {
		b.WriteString(".." + d.To.String())
	}
	return b.String()
}

func descriptions(list []Description) string {
	parts := make([]string, len(list))
	for i := range list {
		parts[i] = list[i].text()
	}
	return strings.Join(parts, " + ")
}

func (d *Description) text() string {
	if d == nil {
		return ""
	}
	var p []string
	add := func(on bool, s string) {
		if on && s != "" {
			p = append(p, s)
		}
	}
	add(d.All, "all")
	add(d.Both, "both")
	add(d.Only, "only")
	add(d.Next, "next")
	add(d.Other, "other")
	add(d.Ordinal != 0, "#"+strconv.Itoa(d.Ordinal))
	add(d.Count != 0, strconv.Itoa(d.Count)+"x")
	for _, s := range d.State {
		add(true, map[bool]string{true: "not:", false: "is:"}[s.Not]+s.Text)
	}
	if e := d.Extreme; e != nil {
		add(true, extremeText(e))
	}
	add(d.Pronoun, "PRO")
	words := d.Phrase()
	if d.Quoted {
		words = strconv.Quote(words)
	}
	add(words != "" && words != `""`, words)
	if d.Noun != "" {
		add(true, "<"+strings.Trim(string(d.Kind)+"/"+d.Noun, "/")+">")
	}
	for _, c := range d.Compare {
		add(true, c.text())
	}
	for _, h := range d.Having {
		add(true, "having("+h.text()+")")
	}
	for _, h := range d.Lacking {
		add(true, "lacking("+h.text()+")")
	}
	add(d.Of != nil, "of("+d.Of.text()+")")
	add(d.In != nil, "in("+d.In.text()+")")
	for _, r := range d.Relation {
		add(true, r.Kind+"("+r.To.text()+")")
	}
	for _, x := range d.Except {
		add(true, "except("+x.text()+")")
	}
	for _, x := range d.Also {
		add(true, "~"+x.text())
	}
	for _, x := range d.Or {
		add(true, "or("+x.text()+")")
	}
	return strings.Join(p, " ")
}

func extremeText(e *Extreme) string {
	s := "min:"
	if e.Max {
		s = "max:"
	}
	s += e.Measure
	if e.Noun != nil {
		s += "'" + e.Noun.Text + "'"
	}
	if e.Rank > 1 {
		s += "#" + strconv.Itoa(e.Rank)
	}
	return s
}

func (c *Comparison) text() string {
	s := c.Measure.text() + c.Op + c.Value.text()
	if c.Upper != nil {
		s += ".." + c.Upper.text()
	}
	return s
}

// String returns the claim as "property: subject = values".
func (c Claim) String() string {
	w := &writer{}
	w.add("", descriptions(c.Subject))
	w.flag("only", c.Only)
	if c.Op != "" && c.Op != "=" {
		w.add("op", c.Op)
	}
	for i := range c.Values {
		w.add("", "="+c.Values[i].text())
	}
	for _, s := range c.Be {
		w.add("", map[bool]string{true: "not:", false: "is:"}[s.Not]+s.Name)
	}
	w.add("where", c.Where.text())
	w.add("by", c.By.text())
	w.flag("desc", c.Descending)
	name := string(c.Property)
	if c.Not {
		name = "not " + name
	}
	return name + ": " + strings.Join(w.parts, " ")
}
