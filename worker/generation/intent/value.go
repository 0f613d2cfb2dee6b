package intent

import (
	"slices"
	"strings"

	"github.com/slipway-qa/slipway/worker/generation/lexicon"
)

// value returns what a phrase gives to type or to choose: a quotation as it stands, a number
// with its unit, a date, else the words without the article before them.
func (r *reader) value(p *phrase) Value {
	core := p.core
	for len(core) > 1 && (core[0].has(lexicon.Article) && !core[0].number && !core[0].proper(r.lang) ||
		core[0].has(lexicon.Quantity, "only", "exactly", "again")) {
		core = core[1:]
	}
	if len(core) == 0 {
		return Value{Span: p.span()}
	}
	for i := range core {
		if core[i].quoted() {
			v := *core[i].value
			r.glosses(&v, p)
			return v
		}
	}
	v := Value{Span: Span{core[0].From, core[len(core)-1].To}}
	if first := core[0].value; len(core) == 1 && first != nil {
		v = *first
		if v.UnitClass != "" && v.Number != nil {
			v.Text = strings.TrimSpace(strings.TrimSuffix(strings.TrimPrefix(v.Text, v.Unit), v.Unit))
			if core[0].words != nil && core[0].has(lexicon.Number) || len(core[0].entries) > 0 {
				v.Text = plainNumber(*v.Number)
			}
		}
	} else {
		v.Text = r.source[v.Span.From:v.Span.To]
	}
	if n := len(p.mods); n > 0 && p.mods[n-1].span().To > v.Span.To {
		v.Span.To = p.mods[n-1].span().To
		v.Text = r.source[v.Span.From:v.Span.To]
	}
	v.From = r.elsewhere(p)
	if p.upto != nil && v.Date != nil || p.upto != nil && r.dateOf(p.upto) != nil {
		r.dateRange(&v, p)
	}
	if len(core) == 1 && core[0].number && core[0].proper(r.lang) {
		v.Text = core[0].text
	}
	r.glosses(&v, p)
	return v
}

// elsewhere returns what a value is said to be by, where it stands on the page: "the value of
// Language", "the total shown above".
func (r *reader) elsewhere(p *phrase) *Description {
	if len(p.core) < 2 || !p.core[0].has(lexicon.Article) || p.core[0].number {
		return nil
	}
	for i := range p.mods {
		if slices.ContainsFunc(p.mods[i].core, func(it item) bool { return it.value != nil }) {
			return nil // "a total of 12"
		}
	}
	d := r.description(p)
	if shown := slices.IndexFunc(d.State, func(s State) bool { return s.Name == "visible" && !s.Not }); shown >= 0 &&
		len(p.rel) > 0 && !d.Quoted {
		d.Flags = append(d.Flags, d.State[shown].Span)
		d.State = slices.Delete(slices.Clone(d.State), shown, shown+1) // "the code that is shown above"
		return &d
	}
	if d.Of != nil || Shows(d.Kind) && len(d.State)+len(d.Relation) > 0 || Shows(d.Kind) && len(d.Words) == 0 && len(d.Having) == 1 {
		return &d
	}
	return nil
}

// Shows reports whether a kind is one of what the page shows and not of what somebody writes:
// "the value", "the total".
func Shows(k Kind) bool { return k == Value_ || k == Text_ || k == Total || k == Count }

// glosses adds the other words for a value.
func (r *reader) glosses(v *Value, p *phrase) {
	for i := range p.also {
		v.Also = append(v.Also, r.value(&p.also[i]))
	}
}

func (r *reader) dateOf(p *phrase) *Date {
	for i := range p.core {
		if v := p.core[i].value; v != nil && v.Date != nil {
			return v.Date
		}
	}
	return nil
}

// dateRange makes v the dates from p to its second end; what the first leaves out it takes
// from the second ("14 to 16 April 2031").
func (r *reader) dateRange(v *Value, p *phrase) {
	end := *r.dateOf(p.upto)
	start := Date{Hour: -1, Minute: -1, Weekday: -1, Day: 0}
	if d := r.dateOf(p); d != nil {
		start = *d
	} else if v.Number != nil {
		start.Day = int(*v.Number)
	}
	if start.Month == 0 && start.Hour < 0 {
		start.Month = end.Month
	}
	if start.Year == 0 && start.Hour < 0 {
		start.Year = end.Year
	}
	start.To = &end
	v.Number, v.Unit, v.UnitClass = nil, "", ""
	v.Date = &start
	v.Span = p.span()
	v.Text = r.source[v.Span.From:v.Span.To]
}

// bounded reports whether the phrase says a bound: "up to 5", "from 4 stars", "below 90".
func (p *phrase) bounded() bool {
	if p.upto != nil {
		return true
	}
	if p.prep == nil || len(p.core) == 0 {
		return false
	}
	if v := p.core[len(p.core)-1].value; v == nil || v.Number == nil {
		return false
	}
	return p.leads("below", "above", "over", "under", "until", "max", "min", "than", "between", "since", "from")
}

// comparison returns the bound that the phrase says, nil where it says none.
func (r *reader) comparison(p *phrase) *Comparison {
	if p.upto != nil {
		if r.dateOf(p.upto) != nil {
			return nil
		}
		c := &Comparison{Span: boundSpan(p), Op: "between", Value: r.value(&phrase{core: p.core})}
		upper := r.value(p.upto)
		c.Upper = &upper
		if c.Value.Unit == "" {
			c.Value.Unit, c.Value.UnitClass = upper.Unit, upper.UnitClass
		}
		return c
	}
	if op := r.quantityBound(p); op != "" {
		core := p.core[1:]
		c := &Comparison{Span: p.span(), Op: op, Value: r.value(&phrase{core: core[:1]})}
		if len(core) > 1 {
			d := r.describe(core[1:])
			c.Measure = &d
		}
		return c
	}
	if !p.bounded() || r.dateOf(p) != nil {
		return nil
	}
	c := &Comparison{Span: boundSpan(p), Measure: p.prep.measure, Value: r.value(&phrase{core: p.core})}
	switch {
	case p.sense("max", "until"):
		c.Op = "<="
	case p.leads("below", "under"):
		c.Op = "<"
	case p.leads("above", "over", "than"):
		c.Op = ">"
	case p.leads("from", "since", "min"):
		c.Op = ">="
	default:
		return nil
	}
	return c
}

// boundSpan is the span of the bound alone, without what stands behind it.
func boundSpan(p *phrase) Span {
	q := phrase{core: p.core, upto: p.upto}
	return q.span()
}

// quantityBound is the operator of "at least 7 seats".
func (r *reader) quantityBound(p *phrase) string {
	if len(p.core) < 2 || p.core[1].value == nil || p.core[1].value.Number == nil {
		return ""
	}
	switch {
	case p.core[0].has(lexicon.Quantity, "min"):
		return ">="
	case p.core[0].has(lexicon.Quantity, "max"):
		return "<="
	}
	return ""
}

// chosenDate reads "choose the date 12 May" as the field that is set to the day, and "choose 3 to 9 May"
// as fields that are set to a range.
func (d *deed) chosenDate(p *phrase) (Field, bool) {
	n := len(p.core)
	if d.ranges(p) {
		return d.r.field(p), true
	}
	if d.g.Effect != Choose || d.g.From != nil || n < 2 || len(d.g.Target) > 0 || p.core[n-1].value == nil ||
		p.core[n-1].value.Date == nil || p.core[n-1].value.Date.Day == 0 {
		return Field{}, false
	}
	f := d.r.field(p)
	return f, f.Name != nil && f.Value.Date != nil
}

// ranges reports whether a phrase is a range of dates that is chosen.
func (d *deed) ranges(p *phrase) bool {
	return d.g.Effect == Choose && p.upto != nil && d.r.dateOf(p.upto) != nil
}
