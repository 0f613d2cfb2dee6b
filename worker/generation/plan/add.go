package plan

import (
	"context"
	"slices"
	"strings"

	"github.com/slipway-qa/slipway/worker/generation/effect"
	"github.com/slipway-qa/slipway/worker/generation/find"
	"github.com/slipway-qa/slipway/worker/generation/intent"
	"github.com/slipway-qa/slipway/worker/generation/lexicon"
	"github.com/slipway-qa/slipway/worker/generation/method"
	"github.com/slipway-qa/slipway/worker/generation/page"
)

// add takes things that the page offers, or makes a new one.
func (p *planner) add(ctx context.Context, g *intent.Goal) error {
	if done, err := p.tickSaid(ctx, g); err != nil || done {
		return err
	}
	if g.To != nil && !g.To.Pronoun {
		if err := p.show(ctx, g.To); err != nil {
			return err
		}
	}
	if done, err := p.query(ctx, g); err != nil || done {
		return err
	}
	offered, err := p.offered(ctx, g)
	if err != nil {
		return err
	}
	if one := p.appended(g); one != nil && !offered {
		return p.edit(ctx, one)
	}
	if offered && !p.filedAs(g) {
		return p.takeEach(ctx, g)
	}
	if c, ok := p.product(g); ok {
		return p.buy(ctx, g, &c)
	}
	return p.make(ctx, g)
}

// appended is an addition of a text to a field that holds one as the edit that it is; nil for
// others.
func (p *planner) appended(g *intent.Goal) *intent.Goal {
	if len(g.Target) != 1 || !g.Target[0].Quoted || g.To == nil || g.Text != nil || len(g.Fields) > 0 {
		return nil
	}
	f := find.Description(p.model, g.To, p.want(p.model, find.Field))
	if !f.Clear() || f.Plural {
		return nil
	}
	if to := &p.model.Fields[f.Candidates[0].Index]; to.Kind != "text" && to.Kind != "editor" || strings.TrimSpace(to.Value) == "" {
		return nil
	}
	one := *g
	d := &g.Target[0]
	one.Effect, one.Target, one.To = intent.Append, []intent.Description{*g.To}, nil
	one.Text = &intent.Value{Span: d.Span, Text: d.Phrase(), Quoted: true}
	return &one
}

// product returns the thing that the whole page is about, where the target of an addition is it:
// its heading says so.
func (p *planner) product(g *intent.Goal) (find.Candidate, bool) {
	if len(g.Target) != 1 || g.Target[0].Quoted || len(g.Target[0].Words)+len(g.Target[0].Noun) == 0 {
		return find.Candidate{}, false
	}
	d := g.Target[0]
	d.Count = 0
	f, ok := p.headed(&d)
	if !ok {
		return find.Candidate{}, false
	}
	c := f.Candidates[0]
	aim := find.Aim{Effect: intent.Add, Lemma: g.Lemma, Lang: p.text.Lang, Record: -1, Within: -1}
	for _, k := range find.Controls(p.model, aim) {
		if p.model.Controls[k.Index].Record < 0 {
			p.useFound(&d, &f)
			return c, true
		}
	}
	return find.Candidate{}, false
}

// buy takes what the page is about: its options are chosen and its quantity is set before the
// control that adds it is pressed.
func (p *planner) buy(ctx context.Context, g *intent.Goal, c *find.Candidate) error {
	fields := slices.Clone(g.Fields)
	if v := g.Become; v != nil { // "in coral"
		fields = append(fields, intent.Field{Span: v.Span, Value: *v})
	}
	f := newForm(fields)
	if err := p.fillAll(ctx, f); err != nil {
		return err
	}
	if err := p.chooseSaid(ctx, p.anywhere); err != nil {
		return err
	}
	count := max(g.Target[0].Count, 1)
	m, err := p.look(ctx)
	if err != nil {
		return err
	}
	if count > 1 {
		ok, err := p.quantity(ctx, m, -1, count)
		if err != nil {
			return err
		}
		if ok {
			count = 1
		}
	}
	now, err := p.look(ctx)
	if err != nil {
		return err
	}
	if p.nextPuts(now, method.Page(&method.Task{Model: now, Goal: g, Lang: p.text.Lang, Inside: -1, Near: -1})) {
		if count > 1 {
			return p.say("no field says how many of it are put there")
		}
		p.useMade(g)
		return nil
	}
	for range count {
		now, err := p.look(ctx)
		if err != nil {
			return err
		}
		at, ok := p.mapped(m, now, c)
		if !ok {
			at = find.Candidate{What: find.Line, Index: -1, Node: -1}
		}
		a := &attempt{goal: g, target: []find.Candidate{at}, only: true}
		a.options = func(t *method.Task) []method.Way { return method.Page(t) }
		v, err := p.achieve(ctx, a)
		if err != nil {
			return err
		}
		p.useSlots(g, a, v)
	}
	return nil
}

// show opens the tab or section of a description, where the page has one that is closed.
func (p *planner) show(ctx context.Context, d *intent.Description) error {
	m, err := p.look(ctx)
	if err != nil {
		return err
	}
	f := find.Description(m, d, find.Want{Kinds: []find.What{find.Control}, Lang: p.text.Lang, Within: -1})
	if len(f.Candidates) == 0 || len(f.Candidates[0].Missing) > 0 {
		return nil
	}
	c := &m.Controls[f.Candidates[0].Index]
	if n := &m.Nodes[c.Node]; n.Role != "tab" || n.Selected == "true" {
		return nil
	}
	now, err := p.step(ctx, &method.Way{Name: "opens " + method.DescribeNode(m, c.Node), Acts: []method.Act{method.Press(c.Node)}})
	if err != nil || now == nil {
		return err
	}
	p.use(f.Candidates[0].Used...)
	p.useSpan(d.Span, "opened")
	return nil
}

// offered reports whether all targets of an addition are things that the page has: products,
// films, options.
func (p *planner) offered(ctx context.Context, g *intent.Goal) (bool, error) {
	if len(g.Target) == 0 {
		return false, nil
	}
	m, err := p.look(ctx)
	if err != nil {
		return false, err
	}
	for i := range g.Target {
		d := &g.Target[i]
		one := *d
		one.Count = 0 // so many of one thing: not so many things
		if _, _, ok := p.resolveOn(m, &one, tiersOf(intent.Add)); !ok {
			if superlative(d) || d.Ordinal != 0 || d.All || d.Both || d.Next {
				return true, nil // it speaks of what is there: resolve says what is wrong
			}
			return false, nil
		}
	}
	return true, nil
}

// takeEach takes each target, as many as the text says.
func (p *planner) takeEach(ctx context.Context, g *intent.Goal) error {
	for i := range g.Target {
		one := *g
		one.Target = g.Target[i : i+1]
		count := g.Target[i].Count
		single := g.Target[i]
		single.Count = 0
		one.Target = []intent.Description{single}
		err := p.eachTarget(ctx, &one, func(ctx context.Context, c find.Candidate) error {
			return p.take(ctx, &one, &c, max(count, 1))
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// take takes a thing so often: its quantity is set where it has one, else it is pressed so often.
func (p *planner) take(ctx context.Context, g *intent.Goal, c *find.Candidate, count int) error {
	fields := newForm(g.Fields)
	m, err := p.look(ctx)
	if err != nil {
		return err
	}
	within := -1
	if r := effect.RecordOf(m, c); r >= 0 {
		within = m.Records[r].Node
	}
	if len(fields.fields) > 0 && within >= 0 {
		t := thingsOf(m, []find.Candidate{*c})[0]
		if err := p.fill(ctx, fields, func(m *page.Model) int {
			if at, ok := p.now(m, &t); ok {
				return at.Node
			}
			return -1
		}); err != nil {
			return err
		}
	}
	if count > 1 && within >= 0 {
		if ok, err := p.quantity(ctx, m, within, count); err != nil {
			return err
		} else if ok {
			count = 1
		}
	}
	if m, err = p.look(ctx); err != nil {
		return err
	}
	for i := range count {
		now, err := p.look(ctx)
		if err != nil {
			return err
		}
		at, ok := p.mapped(m, now, c)
		if !ok {
			return p.say("what is added is not seen any more")
		}
		a := &attempt{goal: g, target: []find.Candidate{at}}
		if i > 0 {
			a.options = func(t *method.Task) []method.Way { return method.More(t) }
		}
		if !fields.complete() {
			a.fills = func(ctx context.Context, inside int) (bool, error) {
				before := fields.filled
				err := p.fill(ctx, fields, p.inside(inside))
				return fields.filled > before, err
			}
			a.holds = func(*page.Model) bool { return fields.complete() }
		}
		v, err := p.achieve(ctx, a)
		if err != nil {
			return err
		}
		p.useSlots(g, a, v)
	}
	if !fields.complete() {
		return p.unfilled(fields)
	}
	return nil
}

// quantity sets the field of a record that says how many, and reports whether there is one.
func (p *planner) quantity(ctx context.Context, m *page.Model, within, count int) (bool, error) {
	for i := range m.Fields {
		f := &m.Fields[i]
		if f.Kind != "number" || within >= 0 && (f.Record < 0 || !m.Index().Contains(within, f.Node)) || within < 0 &&
			(f.Record >= 0 || !method.SaysHowMany(f)) {
			continue
		}
		n := float64(count)
		c := find.Candidate{What: find.Field, Index: i, Node: f.Node, Sub: -1}
		return p.fillField(ctx, &c, &intent.Value{Text: method.NumberText(n), Number: &n}, false)
	}
	return false, nil
}

// make makes a new thing: in a form of the page, else in what a control for new ones opens.
func (p *planner) make(ctx context.Context, g *intent.Goal) error {
	g, f, start, err := p.asked(ctx, p.amounts(g))
	if err != nil {
		return err
	}
	if len(f.fields) > 0 && !p.opensNew(start, g) && p.takesAll(start, f) || len(f.fields) > 1 && p.paged(start, f) {
		if done, err := p.madeIn(ctx, g, start, f); err != nil || done {
			return err
		}
		f = newForm(f.fields)
	}
	if err := p.through(ctx, g, f, nil); err != nil {
		return err
	}
	p.useMade(g)
	return nil
}

// opensNew reports whether a form of the page is that of the thing of a list that is open, and something else makes a
// new one: what is filled in before that is pressed changes the thing.
func (p *planner) opensNew(m *page.Model, g *intent.Goal) bool {
	aim := find.Aim{Effect: intent.Add, Lemma: g.Lemma, Words: g.Target, Lang: p.text.Lang, Record: -1, Within: -1}
	return opensThing(m) && slices.ContainsFunc(find.Controls(m, aim), func(c find.Candidate) bool {
		k := &m.Controls[c.Index]
		return c.Score >= leastSaid && k.Record < 0 && m.Index().Around(k.Node, "form") < 0 &&
			slices.ContainsFunc(strings.Fields(effect.ControlName(m, c.Index)), func(w string) bool { return lexicon.Means(w, "", "new") })
	})
}

// titleFields are the words of the targets of an addition as values: what the new thing is called.
func titleFields(g *intent.Goal) []intent.Field {
	var list []intent.Field
	for i := range g.Target {
		d := &g.Target[i]
		if len(d.Words) == 0 {
			continue
		}
		f := intent.Field{Span: d.Span, Value: d.Value()}
		if sided(d) || d.Called {
			f.Span = f.Value.Span
		}
		list = append(list, f)
	}
	if g.Text != nil {
		list = append(list, intent.Field{Span: g.Text.Span, Value: *g.Text})
	}
	return list
}

// takesAll reports whether the page as it stands has a field for each value.
func (p *planner) takesAll(m *page.Model, f *form) bool {
	slots, ok := p.assigned(m, f.fields, p.anywhere(m))
	for i := range slots {
		c := &slots[i].To
		ofThing := c.Index < len(m.Fields) && m.Fields[c.Index].Record >= 0 && m.Fields[c.Index].Kind == "switch" && !sharesRecord(m, slots, i)
		if !ok || ofThing || p.narrows(m, c, &f.fields[slots[i].Value]) || p.holdsThing(m, c) {
			return false
		}
	}
	return ok
}

// handIn hands in what was filled in on the page: by the control beside it that adds, by Enter.
func (p *planner) handIn(ctx context.Context, g *intent.Goal, start *page.Model, f *form) (bool, error) {
	if p.nextSubmits() {
		p.pendingForm(g, start)
		return true, nil
	}
	now, err := p.look(ctx)
	if err != nil {
		return false, err
	}
	c := effect.Between(start, now)
	if v := effect.Judge(c, g, nil); v.State == effect.Reached && len(c.Added) > 0 && len(c.Removed) == 0 {
		p.useMade(g)
		return true, nil
	}
	if p.nextPuts(now, method.HandIn(&method.Task{Model: now, Goal: g, Lang: p.text.Lang, Inside: -1, Near: p.nearOn(now)}, start)) {
		p.pendingForm(g, start)
		return true, nil
	}
	a := &attempt{goal: g, from: start}
	a.options = func(t *method.Task) []method.Way { return method.HandIn(t, start) }
	v, err := p.attempt(ctx, a)
	if err != nil || v.State != effect.Reached {
		return false, err
	}
	p.useMade(g)
	return true, nil
}

// nextPuts reports whether what hands in a form is called by where the goal that follows puts "it": to compose a pizza
// and put it into the cart is one press of "Add to cart", and not two.
func (p *planner) nextPuts(m *page.Model, hands []method.Way) bool {
	if len(p.next) == 0 {
		return false
	}
	n := &p.next[0]
	it := len(n.Target) == 1 && n.Target[0].Pronoun && bare(&n.Target[0])
	if n.Effect != intent.Add || n.Forbidden || !it || n.To == nil || n.To.Pronoun {
		return false
	}
	said := find.Description(m, n.To, p.want(m, find.Control)).Candidates
	return slices.ContainsFunc(hands, func(w method.Way) bool {
		at := m.ControlAt(w.Acts[len(w.Acts)-1].Node)
		return slices.ContainsFunc(said, func(c find.Candidate) bool { return c.Index == at && len(c.Missing) == 0 })
	})
}
