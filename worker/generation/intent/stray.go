package intent

// stray takes a phrase with a preposition that no slot of the frame has, and nothing before it
// that it belongs to.
func (d *deed) stray(p *phrase) {
	m := d.r.description(p)
	switch n := len(d.g.Target); {
	case d.ranges(p) && n == 0:
		d.fill("range", p)
	case n > 0 && lists[d.g.Effect] && len(m.Compare) > 0 && (p.sep == "and" || p.sep == ","): // "in stock and under 25 euros"
		d.g.Target[n-1].Compare = append(d.g.Target[n-1].Compare, m.Compare...)
		d.g.Target[n-1].Span.To = m.Span.To
	case d.g.Effect == Open && p.leads("as"): // "go to the checkout as a guest"
		d.g.Fields = append(d.g.Fields, Field{Prep: p.prep.fold, Value: d.r.value(p), Span: m.Span})
		d.last = "field"
	case p.leads("in", "on", "at") && d.formlike() && d.r.dateOf(p) != nil && len(p.core) == 1 &&
		(len(d.colons)+len(d.g.Fields) > 0 || d.g.From != nil || d.g.To != nil):
		d.g.Fields = append(d.g.Fields, Field{Prep: p.prep.fold, Value: d.r.value(p), Span: m.Span})
		d.last = "field"
	case p.leads("in", "on", "under", "at", "near", "among"):
		if d.g.In == nil {
			d.g.In = &m
			return
		}
		d.g.Fields = append(d.g.Fields, Field{Prep: p.prep.fold, Value: d.r.value(p), Span: m.Span})
	case d.g.With == nil && (p.prep != nil && p.prep.means || p.leads("with", "via", "through") && d.r.instrument(p)):
		d.g.With = &m
	case p.leads("to", "into") && d.g.To == nil && d.g.Effect != Choose:
		d.g.To = &m
	case len(d.g.Target) == 0 && !d.formlike() && d.g.Effect != Search:
		d.g.Target = append(d.g.Target, m)
	default:
		d.g.Fields = append(d.g.Fields, Field{Prep: p.prep.fold, Value: d.r.value(p), Span: m.Span})
		d.last = "field"
	}
}
