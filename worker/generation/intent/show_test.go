package intent

import (
	"fmt"
	"sort"
	"strings"
)

// show writes a document in short, as the tables of the tests have it: one line a
// clause, readings separated by " | ", instructions by "; ".
func show(d Document) string {
	var lines []string
	for _, c := range d.Clauses {
		if len(c.Readings) == 0 {
			lines = append(lines, "?")
			continue
		}
		var readings []string
		for _, r := range c.Readings {
			var ins []string
			for _, in := range r.Instructions {
				ins = append(ins, showInstruction(in))
			}
			readings = append(readings, strings.Join(ins, "; "))
		}
		lines = append(lines, strings.Join(readings, " | "))
	}
	for _, no := range d.Forbidden {
		lines = append(lines, "NO "+showInstruction(no))
	}
	return strings.Join(lines, "\n")
}

func showInstruction(in Instruction) string {
	b := []string{string(in.Kind)}
	add := func(format string, a ...any) { b = append(b, fmt.Sprintf(format, a...)) }
	if in.Verb != "" {
		add(":%s", in.Verb)
	}
	if in.Target != nil {
		add("%s", showPhrase(*in.Target))
	}
	if in.Item != nil {
		add("item %s", showPhrase(*in.Item))
	}
	for _, v := range in.Values {
		add("=%s", showValue(v))
	}
	if in.By != 0 {
		add("by%+d", in.By)
	}
	if in.Place != "" {
		add("at-%s", in.Place)
	}
	if in.To != nil {
		add("to %s", showPhrase(*in.To))
	}
	for _, d := range in.Details {
		add("[%s %s]", d.Name, showValue(d.Value))
	}
	for _, s := range []string{in.Order, in.Key, in.Direction, in.URL} {
		if s != "" {
			add("%s", s)
		}
	}
	if in.Duration != 0 {
		add("%s", in.Duration)
	}
	if in.Times > 1 {
		add("x%d", in.Times)
	}
	if in.Assertion != nil {
		add("%s", showAssertion(*in.Assertion))
	}
	if in.Optional {
		add("OPT")
	}
	if in.If != nil {
		if in.Else {
			add("ELSE")
		} else {
			add("IF")
		}
		add("(%s)", showAssertion(*in.If))
	}
	return strings.Join(b, " ")
}

func showAssertion(a Assertion) string {
	var b []string
	if a.Subject != nil {
		b = append(b, showPhrase(*a.Subject))
	}
	p := string(a.Property)
	if a.Not {
		p = "!" + p
	}
	if a.Mode != "" {
		p += "-" + a.Mode
	}
	b = append(b, p)
	if a.Name != "" {
		b = append(b, a.Name)
	}
	if a.Order != "" {
		b = append(b, a.Order)
	}
	for _, v := range a.Values {
		b = append(b, "="+showValue(v))
	}
	for _, also := range a.Also {
		b = append(b, "ALSO "+showAssertion(also))
	}
	return strings.Join(b, " ")
}

func showPhrase(p Phrase) string {
	if p.Pronoun {
		return "<it>"
	}
	s := "<" + p.Name
	if p.Exact {
		s = "<'" + p.Name + "'"
	}
	if p.Noun != "" {
		s += "/" + p.Noun
	}
	if p.Ordinal != 0 {
		s += fmt.Sprintf(" #%d", p.Ordinal)
	}
	if p.All {
		s += " all"
	}
	if p.Only {
		s += " only"
	}
	if p.Count != 0 {
		s += fmt.Sprintf(" n%d", p.Count)
	}
	for _, m := range []map[string]string{p.Looks} {
		for _, k := range keys(m) {
			s += " " + k + ":" + m[k]
		}
	}
	if p.Extreme != nil {
		s += fmt.Sprintf(" %s:%v", p.Extreme.Of, map[bool]string{true: "max", false: "min"}[p.Extreme.Max])
	}
	for _, k := range keys(p.State) {
		s += fmt.Sprintf(" %s:%v", k, p.State[k])
	}
	for _, o := range p.Others {
		s += " +" + showPhrase(o)
	}
	for _, o := range p.Except {
		s += " -" + showPhrase(o)
	}
	for _, r := range p.Relations {
		s += " " + string(r.Kind) + showPhrase(r.Phrase)
	}
	return s + ">"
}

func showValue(v Value) string {
	switch {
	case v.From != nil:
		return "from" + showPhrase(*v.From)
	case v.Prefix+v.Suffix+v.Part != "":
		return "'" + v.Prefix + "*" + v.Part + "*" + v.Suffix + "'"
	case v.Date != nil:
		return v.Text + showDate(*v.Date)
	case v.Quoted:
		return "'" + v.Text + "'"
	}
	return v.Text
}

func showDate(d Date) string {
	s := ""
	if d.Relative != "" {
		s = fmt.Sprintf("%s%+d/%d", d.Relative, d.Days, d.Weekday)
	}
	if d.Year+d.Month+d.Day > 0 {
		s += fmt.Sprintf("%d-%d-%d", d.Year, d.Month, d.Day)
	}
	if d.Hour >= 0 {
		s += fmt.Sprintf("T%02d:%02d", d.Hour, d.Minute)
	}
	return "{" + s + "}"
}

func keys[V any](m map[string]V) []string {
	var out []string
	for k := range m {
		out = append(out, k)
	}
	sort.Strings(out)
	return out
}
