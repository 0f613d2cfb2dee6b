package intent

// taken returns the spans of all words that stand in a slot of a goal.
func (r *reader) taken(goals []Goal) []Span {
	t := &taker{}
	for i := range goals {
		t.goal(&goals[i])
	}
	return t.spans
}

type taker struct{ spans []Span }

func (t *taker) add(s Span) {
	if s.To > s.From {
		t.spans = append(t.spans, s)
	}
}

func (t *taker) goal(g *Goal) {
	t.add(g.Verb)
	t.spans = append(t.spans, g.Words...)
	t.descriptions(g.Target)
	for _, d := range []*Description{g.To, g.From, g.In, g.Measure, g.With} {
		t.description(d)
	}
	for _, v := range []*Value{g.Become, g.Text, g.Amount} {
		t.value(v)
	}
	for i := range g.Fields {
		t.description(g.Fields[i].Name)
		t.value(&g.Fields[i].Value)
	}
	t.claim(g.Claim)
	t.claim(g.If)
}

func (t *taker) value(v *Value) {
	if v == nil {
		return
	}
	t.add(v.Span)
	t.description(v.From)
	for i := range v.Also {
		t.value(&v.Also[i])
	}
}

func (t *taker) claim(c *Claim) {
	if c == nil {
		return
	}
	t.spans = append(t.spans, c.Words...)
	t.descriptions(c.Subject)
	for i := range c.Values {
		t.value(&c.Values[i])
	}
	for _, s := range c.Be {
		t.add(s.Span)
	}
	t.description(c.Where)
	t.description(c.By)
}

func (t *taker) descriptions(list []Description) {
	for i := range list {
		t.description(&list[i])
	}
}

// description takes what the slots of d hold: each word by itself, so that what a phrase lost
// is seen.
func (t *taker) description(d *Description) {
	if d == nil {
		return
	}
	for _, w := range d.Words {
		t.add(w.Span)
	}
	t.add(d.NounSpan)
	for _, s := range d.State {
		t.add(s.Span)
	}
	if d.Extreme != nil {
		t.add(d.Extreme.Span)
	}
	t.spans = append(t.spans, d.Flags...)
	for i := range d.Compare {
		t.add(d.Compare[i].Span)
		t.description(d.Compare[i].Measure)
	}
	t.descriptions(d.Except)
	t.descriptions(d.Having)
	t.descriptions(d.Lacking)
	t.descriptions(d.Or)
	t.descriptions(d.Also)
	t.description(d.Of)
	t.description(d.In)
	for i := range d.Relation {
		t.description(&d.Relation[i].To)
	}
}
