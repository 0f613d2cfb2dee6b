package plan

import (
	"context"
	"slices"

	"github.com/slipway-qa/slipway/worker/generation/effect"
	"github.com/slipway-qa/slipway/worker/generation/find"
	"github.com/slipway-qa/slipway/worker/generation/intent"
	"github.com/slipway-qa/slipway/worker/generation/method"
	"github.com/slipway-qa/slipway/worker/generation/page"
)

// set puts values into fields: of a form, of a record, of the page.
func (p *planner) set(ctx context.Context, g *intent.Goal) error {
	fields := slices.Clone(g.Fields)
	if m, err := p.look(ctx); err == nil && m.Dialog != nil && p.pending != nil && len(fields) == 1 && fields[0].Name == nil {
		p.prompted = &fields[0].Value
		p.useGoal(g, "the browser's question is answered with it")
		return nil
	}
	if len(fields) == 0 {
		if g.Text != nil {
			return p.edit(ctx, g)
		}
		if g.Become != nil {
			return p.become(ctx, g)
		}
		on := *g // "I want mentions by e-mail": a setting without a value is turned on
		on.Effect, on.On = intent.Toggle, true
		return p.toggle(ctx, &on)
	}
	if n := fields[0].Name; len(g.Target) == 0 && len(fields) == 1 && n != nil && n.Pronoun && bare(n) &&
		len(p.them) == 1 { // "change it to 4"
		one := *g
		one.Target, fields[0].Name = []intent.Description{*n}, nil
		g = &one
	}
	if p.keepOthers(g) {
		return nil
	}
	if one := p.keptPart(g); one != nil {
		return p.check(ctx, one)
	}
	if len(g.Target) == 0 {
		fields, err := p.setSeveral(ctx, fields)
		if err != nil || len(fields) == 0 {
			return err
		}
		return p.setOn(ctx, g, newForm(fields), nil)
	}
	return p.eachTarget(ctx, g, func(ctx context.Context, c find.Candidate) error {
		return p.setOn(ctx, g, newForm(fields), &c)
	})
}

// become has a target take a state or value: an option of its field, a control that says so.
func (p *planner) become(ctx context.Context, g *intent.Goal) error {
	field := intent.Field{Value: *g.Become, Span: g.Become.Span}
	if len(g.Target) == 1 { // "set the status to Paid": the target is the field
		if done, err := p.fillNamed(ctx, &g.Target[0], field); err != nil || done {
			return err
		}
	}
	return p.eachTarget(ctx, g, func(ctx context.Context, c find.Candidate) error {
		f := newForm([]intent.Field{field})
		return p.setOn(ctx, g, f, &c)
	})
}

// fillNamed puts a value into the one field that a description clearly names.
func (p *planner) fillNamed(ctx context.Context, d *intent.Description, field intent.Field) (bool, error) {
	m, err := p.look(ctx)
	if err != nil {
		return false, err
	}
	field.Name = d
	if _, ok := p.assigned(m, []intent.Field{field}, p.anywhere(m)); !ok {
		return false, nil
	}
	f := newForm([]intent.Field{field})
	err = p.fill(ctx, f, p.anywhere)
	return err == nil && f.complete(), err
}

// rows shows so many things a page: which ones is said by the list that they are in, if at all.
func (p *planner) rows(ctx context.Context, g *intent.Goal) error {
	one, d := *g, g.Target[0]
	one.Target = nil
	if d.Count > 0 { // "five rooms a page", and not the fifth page
		amount := *g.Amount
		amount.UnitClass, one.Amount = "count", &amount
	}
	if d.In != nil && len(wordsOf(d.In)) > 0 {
		one.In, p.goal = d.In, &one
		err := p.into(ctx, &one)
		p.goal = g
		if err != nil {
			return err
		}
	}
	done := false
	if len(d.Words) > 0 { // a list of sizes that is called so
		var err error
		if done, err = p.fillNamed(ctx, &intent.Description{Span: d.Span, Words: d.Words}, intent.Field{Value: *g.Amount,
			Span: g.Amount.Span}); err != nil {
			return err
		}
	}
	if !done {
		if err := p.once(ctx, &one, nil); err != nil {
			return err
		}
	}
	p.useSpan(g.Verb, "shown")
	p.useSpan(d.Span, "the rows of a page")
	return nil
}

// setOn fills a form in a target (nil: the page): in its own fields, else in what is opened
// for it.
func (p *planner) setOn(ctx context.Context, g *intent.Goal, f *form, c *find.Candidate) error {
	within := p.anywhere
	if c != nil {
		m, err := p.look(ctx)
		if err != nil {
			return err
		}
		t := thingsOf(m, []find.Candidate{*c})[0]
		within = func(m *page.Model) int {
			at, ok := p.now(m, &t)
			if !ok {
				return -1
			}
			if r := effect.RecordOf(m, &at); r >= 0 {
				return m.Records[r].Node
			}
			return at.Node
		}
		p.use(c.Used...)
	}
	if c == nil {
		if err := p.ofOwners(ctx, g, f); err != nil {
			return err
		}
	}
	if err := p.fill(ctx, f, within); err != nil {
		return err
	}
	if f.complete() {
		return nil
	}
	if c == nil {
		if err := p.ofRecords(ctx, g, f); err != nil {
			return err
		}
		if f.complete() {
			return nil
		}
		return p.further(ctx, g, f)
	}
	if f.filled == 0 {
		if v, err := p.named(ctx, g, f, c); err != nil || v {
			return err
		}
	}
	return p.through(ctx, g, f, []find.Candidate{*c})
}

// named does a goal whose value is the name of a control of the target: "set it to urgent" by a
// button Urgent.
func (p *planner) named(ctx context.Context, g *intent.Goal, f *form, c *find.Candidate) (bool, error) {
	if len(f.fields) != 1 || f.fields[0].Off || f.fields[0].Keep {
		return false, nil
	}
	v := f.fields[0].Value
	act := *g
	act.Effect, act.Become, act.Fields = intent.Act, &v, nil
	a := &attempt{goal: &act, target: []find.Candidate{*c}, only: true}
	a.options = func(t *method.Task) []method.Way { return method.Called(t, &v) }
	got, err := p.attempt(ctx, a)
	if err != nil || got.State != effect.Reached {
		return false, err
	}
	p.useSpan(v.Span, "the control")
	p.useSpan(f.fields[0].Span, "the control")
	f.done[0] = true
	return true, nil
}

// through fills a form in what the ways to a target open, and hands it in.
func (p *planner) through(ctx context.Context, g *intent.Goal, f *form, target []find.Candidate) error {
	a := &attempt{goal: g, target: target}
	a.fills = func(ctx context.Context, inside int) (bool, error) {
		before := f.filled
		start, err := p.look(ctx)
		if err != nil {
			return false, err
		}
		if err := p.fill(ctx, f, p.inside(inside)); err != nil {
			return f.filled > before, err
		}
		if g.Effect == intent.Add && f.complete() {
			if err := p.chooseSaid(ctx, p.inside(inside)); err != nil {
				return f.filled > before, err
			}
		}
		if g.Effect != intent.Act || !f.complete() || f.filled == before {
			return f.filled > before, nil
		}
		send := *g // "reply to it with ...": what was written has to go
		send.Effect, send.Target, send.Fields = intent.Submit, nil, nil
		if a.handed, err = p.handIn(ctx, &send, start, f); err == nil && !a.handed {
			err = p.say("what was filled in could not be handed in")
		}
		return true, err
	}
	a.options = func(t *method.Task) []method.Way {
		if g.Effect == intent.Set && t.Target != nil && t.Target.What == find.Record && editsCells(t.Model, t.Target.Index) {
			return append(prompted(t, f), method.InPlace(t)...) // a double click may open all of the row
		}
		return prompted(t, f)
	}
	a.holds = func(now *page.Model) bool { return f.complete() || p.promptTook(f, a.start, now) }
	v, err := p.attempt(ctx, a)
	if err != nil {
		return err
	}
	if v.State == effect.Reached && p.model != nil && !f.complete() && p.promptTook(f, a.start, p.model) {
		p.usePrompted(f)
	}
	if v.State != effect.Reached || !f.complete() {
		if !f.complete() {
			return p.unfilled(f)
		}
		return p.failed(a, v)
	}
	p.useSlots(g, a, v)
	return nil
}

// editsCells reports whether a record has cells that are edited in place.
func editsCells(m *page.Model, record int) bool {
	return slices.ContainsFunc(m.Fields, func(f page.Field) bool { return f.InPlace && f.Record == record })
}

// inside returns where fields are looked for in what was opened: in the container, as long as it
// is there.
func (p *planner) inside(container int) func(m *page.Model) int {
	if container < 0 || p.model == nil || container >= len(p.model.Containers) {
		return p.anywhere
	}
	ref := p.model.Nodes[p.model.Containers[container].Node].Ref
	return func(m *page.Model) int {
		for i := range m.Containers {
			if c := &m.Containers[i]; m.Nodes[c.Node].Ref == ref && !c.Hidden {
				return c.Node
			}
		}
		return p.anywhere(m)
	}
}

// further goes on in a form of several pages, or in the parts of a page that are not open, with
// the values that found no field.
func (p *planner) further(ctx context.Context, g *intent.Goal, f *form) error {
	m, err := p.look(ctx)
	if err != nil {
		return err
	}
	if c, ok := p.partOf(m); ok && f.filled == 0 && c.What == find.Record && editsCells(m, c.Index) { // "in the row of Ann set ..."
		return p.through(ctx, g, f, []find.Candidate{c})
	}
	if f.filled > 0 {
		if err := p.onPages(ctx, f); err != nil || f.complete() {
			return err
		}
	}
	if ok, err := p.seekFields(ctx, f); err != nil || ok {
		return err
	}
	if f.filled == 0 && (g.Effect != intent.Submit || !p.filledBefore && !givesAway[g.Risk]) { // a dialog or page in which it is set
		return p.through(ctx, g, f, nil)
	}
	return p.unfilled(f)
}

// seekFields opens tabs and sections until a field takes what is left.
func (p *planner) seekFields(ctx context.Context, f *form) (bool, error) {
	start, err := p.look(ctx)
	if err != nil || p.cfg.Explore == ExploreOff {
		return false, err
	}
	mark, tried := p.mark(), map[string]bool{}
	for range maxSought {
		m, err := p.look(ctx)
		if err != nil || p.spent() {
			return false, err
		}
		w, ok := p.unveils(m, f, tried)
		if !ok {
			w, ok = nextPart(m, tried)
		}
		if !ok {
			break
		}
		at := p.mark()
		now, err := p.step(ctx, &w)
		if err != nil {
			return false, err
		}
		if now != nil && same(m, now) { // the last page
			tried[partKey(&m.Nodes[w.Acts[0].Node])] = true
		}
		if now == nil || p.strayed(start, now) {
			continue
		}
		before := f.filled
		if err := p.fill(ctx, f, p.anywhere); err != nil {
			return false, err
		}
		if f.filled > before {
			p.cut(mark, at) // only what was opened last is needed
			mark = p.mark()
			start = p.model
		}
		if f.complete() {
			return true, nil
		}
	}
	if p.mark() > mark {
		err = p.back(ctx, mark, start)
	}
	return false, err
}

// unveils is the press of what shows a field that is not seen and is called as the form says.
func (p *planner) unveils(m *page.Model, f *form, tried map[string]bool) (method.Way, bool) {
	left, _ := f.left()
	w := p.wantIn(m, p.anywhere(m))
	w.Hidden = true
	for _, slot := range find.Assign(m, left, w).Slots {
		if left[slot.Value].Name == nil || len(slot.Missing) > 0 || !m.Nodes[slot.To.Node].Hidden {
			continue
		}
		a, ok := method.Unhide(m, slot.To.Node)
		if key := partKey(&m.Nodes[max(a.Node, 0)]); ok && !tried[key] {
			tried[key] = true
			return method.Way{Name: "looks into " + method.DescribeNode(m, a.Node), Acts: []method.Act{a}}, true
		}
	}
	return method.Way{}, false
}
