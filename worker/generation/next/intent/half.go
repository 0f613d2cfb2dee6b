package intent

// half takes one half of a field; a second one of the same kind begins the next field.
func (d *deed) half(at **phrase, p *phrase) {
	if *at != nil {
		d.flush()
	}
	q := *p
	*at = &q
	if p.prep != nil {
		d.prep = p.prep.fold
	}
	if d.name != nil && d.value != nil {
		d.flush()
	}
}

// flush makes a field of the halves.
func (d *deed) flush() {
	if d.name == nil && d.value == nil {
		return
	}
	f := Field{Prep: d.prep}
	switch {
	case d.value == nil && d.g.Effect == Set:
		f = d.r.field(d.name)
		if f.Name == nil && d.name.prep == nil && !d.name.holdsValue() && len(d.g.Fields) == 0 && (d.s.Attr("need") != "person" || !d.name.core[len(d.name.core)-1].cap) {
			d.g.Target = append(d.g.Target, d.r.description(d.name))
			d.name = nil
			return
		}
	case d.name != nil && d.value.quoted() && d.r.labelled(d.value.core, d.value) > 0 && d.g.To == nil && d.prep != "as":
		f = d.r.field(d.value)
		to := d.r.description(d.name)
		d.g.To = &to
	case d.name == nil:
		f = d.r.field(d.value)
		f.Prep = d.prep
	case d.value != nil && d.value.upto != nil && d.r.dateOf(d.value.upto) == nil:
		d.rangeOf()
		return
	default:
		name := d.r.description(d.name)
		f.Name = &name
		if d.value != nil {
			f.Value = d.r.value(d.value)
			f.Span = Span{min(name.Span.From, f.Value.Span.From), max(name.Span.To, f.Value.Span.To)}
		}
	}
	d.g.Fields = append(d.g.Fields, f)
	d.name, d.value, d.prep = nil, nil, ""
}

// rangeOf makes a filter of a field that is set to a range: "limit the price to 60 to 100".
func (d *deed) rangeOf() {
	name := d.r.description(d.name)
	c := d.r.comparison(d.value)
	c.Measure = &name
	d.g.Effect = Filter
	d.g.Target = append(d.g.Target, Description{Span: Span{min(name.Span.From, c.Span.From), max(name.Span.To, c.Span.To)}, Compare: []Comparison{*c}})
	d.name, d.value, d.prep = nil, nil, ""
}
