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

// submit fills in what the goal says and hands it in.
func (p *planner) submit(ctx context.Context, g *intent.Goal) error {
	if done, err := p.byRole(ctx, g, nil); err != nil || done {
		return err
	}
	if len(g.Fields) > 0 {
		f := newForm(g.Fields)
		if err := p.fill(ctx, f, p.anywhere); err != nil {
			return err
		}
		if f.filled == 0 && p.role(g) != nil {
			return p.submitAs(ctx, g)
		}
		if !f.complete() {
			if err := p.further(ctx, g, f); err != nil {
				return err
			}
		}
	}
	if f := p.sent(g); f != nil {
		start := p.model
		if err := p.fill(ctx, f, p.anywhere); err != nil {
			return err
		}
		if f.complete() {
			done, err := p.handIn(ctx, g, start, f)
			switch {
			case err != nil:
				return err
			case !done:
				return p.say("what was written could not be sent")
			}
			p.useSpan(g.Target[0].Span, "it was sent")
			return nil
		}
	}
	if err := p.receivers(ctx, g); err != nil {
		return err
	}
	for i := range g.Target {
		if err := p.explained(ctx, &g.Target[i]); err != nil {
			return err
		}
		if c, ok := p.recordOf(&g.Target[i]); ok && len(g.Fields) == 0 {
			one := *g
			one.Effect = intent.Act
			if g.To != nil { // "forward it to Ella": who gets it is asked for in what opens
				to := intent.Field{Name: p.joiner(g), Span: g.To.Span, Value: intent.Value{Span: g.To.Span,
					Text: phraseOf(p, g.To), Quoted: g.To.Quoted}}
				one.To = nil
				return p.through(ctx, &one, newForm([]intent.Field{to}), []find.Candidate{c})
			}
			return p.once(ctx, &one, []find.Candidate{c})
		}
	}
	if err := p.receiverKnown(g); err != nil {
		return err
	}
	a := &attempt{goal: g}
	v, err := p.achieve(ctx, a)
	if err != nil {
		return err
	}
	for i := range g.Target {
		p.useSpan(g.Target[i].NounSpan, "handed in")
		p.useShown(effect.Between(a.start, p.model), &g.Target[i])
	}
	p.useSlots(g, a, v)
	return nil
}

// role is what a goal does something as and says no more of it: "copy it as new", "keep it as a draft"; nil for
// others.
func (p *planner) role(g *intent.Goal) *intent.Value {
	lex := lexicon.Language(p.text.Lang)
	if len(g.Fields) != 1 || g.Become != nil || lex == nil {
		return nil
	}
	f := &g.Fields[0]
	e := lex.Entry(f.Prep, lexicon.Preposition)
	if e == nil || !slices.Contains(e.Names, "as") || f.Name != nil || f.Off || f.Keep ||
		f.Value.Quoted || f.Value.Number != nil || f.Value.Date != nil {
		return nil
	}
	return &f.Value
}

// byRole does a goal by a control of its target, or of the page, that says what it is done as: "Copy as new",
// "Save draft". False where none is called so.
func (p *planner) byRole(ctx context.Context, g *intent.Goal, target []find.Candidate) (bool, error) {
	role := p.role(g)
	m, err := p.look(ctx)
	if role == nil || err != nil || m.Dialog != nil {
		return false, err
	}
	one := *g
	one.Fields, one.Become = nil, role
	a := &attempt{goal: &one, target: target, only: true, options: method.CalledAs}
	v, err := p.attempt(ctx, a)
	if err != nil || v.State != effect.Reached {
		return false, err
	}
	p.useSlots(g, a, v)
	p.useSpan(g.Fields[0].Span, "the control")
	p.useSpan(role.Span, "the control")
	return true, nil
}

// submitAs hands in what no control does by its name as what the goal says: what was handed in must show that
// it is so.
func (p *planner) submitAs(ctx context.Context, g *intent.Goal) error {
	role, one := p.role(g), *g
	if g.Concept != "save" { // what is sent is not looked at afterwards
		return p.say("nothing hands it in as " + role.Text)
	}
	one.Fields = nil
	if err := p.submit(ctx, &one); err != nil {
		return err
	}
	m, err := p.look(ctx)
	if err != nil {
		return err
	}
	is := &intent.Claim{Span: role.Span, Subject: []intent.Description{{Pronoun: true}}, Property: intent.Is,
		Be: []intent.State{{Span: role.Span, Text: role.Text, Name: role.Text}}}
	added := effect.Between(p.before, m).Added
	if was := find.Claim(nil, p.before, is, p.want(p.before)); len(added) != 1 && !p.edited(g) && was.Known && was.Holds {
		return p.say("what was handed in was " + role.Text + " before")
	}
	if len(added) == 1 {
		p.remember(m, []find.Candidate{{What: find.Record, Index: added[0], Node: m.Records[added[0]].Node, Sub: -1, Score: 1}})
	}
	e, err := p.until(ctx, &intent.Goal{Span: g.Span, Effect: intent.Check, Claim: is}, claimTime)
	if err != nil {
		return err
	}
	if !e.Known || !e.Holds {
		return p.say("what was handed in does not show that it is " + role.Text)
	}
	p.use(e.Used...)
	p.useSpan(role.Span, "it shows that")
	return nil
}

// edited reports whether what a goal hands in is what the text spoke of before and has changed since: it may stay what
// it was. Where the text adds something, that is another thing.
func (p *planner) edited(g *intent.Goal) bool {
	return p.filledBefore && !slices.ContainsFunc(p.reading.Goals, func(o intent.Goal) bool {
		return o.Effect == intent.Add && o.Span.From < g.Span.From
	})
}

// sent is the text that a goal sends (send the message "See you"), as the value of the field for
// it; nil where it sends something that the page has.
func (p *planner) sent(g *intent.Goal) *form {
	if len(g.Target) != 1 || !g.Target[0].Quoted && !isCode(&g.Target[0]) || len(g.Fields) > 0 || p.model == nil || p.model.Dialog != nil {
		return nil
	}
	d := &g.Target[0]
	if f := find.Description(p.model, d, p.want(p.model)); len(f.Candidates) > 0 && len(f.Missing) == 0 {
		return nil
	}
	field := intent.Field{Value: intent.Value{Span: d.Span, Text: d.Phrase(), Quoted: true}, Span: d.Span}
	if d.Noun != "" { // what the text names goes into no field of another name
		name := intent.Description{Span: d.NounSpan, Words: []intent.Word{{Span: d.NounSpan, Text: d.Noun}}}
		named := field
		named.Name = &name
		if as := find.Assign(p.model, []intent.Field{named}, p.wantIn(p.model, p.anywhere(p.model))); len(as.Slots) == 1 && len(as.Missing) == 0 {
			return newForm([]intent.Field{named})
		}
		if !p.takesAnything(d, field) {
			return nil
		}
	}
	return newForm([]intent.Field{field})
}

// takesAnything reports whether a text goes into a field of the page that is for texts of any kind:
// one of several lines, or without a name. A code goes into its own field only.
func (p *planner) takesAnything(d *intent.Description, field intent.Field) bool {
	as := find.Assign(p.model, []intent.Field{field}, p.wantIn(p.model, p.anywhere(p.model)))
	if isCode(d) && !d.Quoted || len(as.Slots) != 1 || as.Slots[0].To.Index >= len(p.model.Fields) {
		return false
	}
	f := &p.model.Fields[as.Slots[0].To.Index]
	said := d.Kind == intent.Message || d.Kind == intent.Text_
	return said || f.Kind == "editor" || p.model.Nodes[f.Node].Tag == "textarea" || len(f.Names) == 0
}

// joiner is the word that joins who gets something to what is sent, as the name of a field: "to";
// else what fields for it are called.
func (p *planner) joiner(g *intent.Goal) *intent.Description {
	s := intent.Span{From: g.Target[0].Span.To, To: g.To.Span.From}
	name := &intent.Description{Words: []intent.Word{{Text: p.words(s)}}}
	for _, other := range []string{"recipient", "receiver", "address", "email"} {
		name.Also = append(name.Also, intent.Description{Words: []intent.Word{{Text: other}}})
	}
	return name
}

// isCode reports whether a description is a noun with a code that is typed: "the coupon SAVE10".
func isCode(d *intent.Description) bool {
	if d.Noun == "" || len(d.Words) != 1 {
		return false
	}
	text := d.Words[0].Text
	return strings.ToUpper(text) == text && len(text) > 2 || strings.ContainsAny(text, "0123456789")
}

// explained returns an error where nothing on the page explains the words of what is handed in:
// then it is something else that would be.
func (p *planner) explained(ctx context.Context, d *intent.Description) error {
	m, err := p.look(ctx)
	if err != nil || m.Dialog != nil || d.Pronoun && bare(d) || p.pointed(d) || len(wordsOf(d)) == 0 {
		return err
	}
	aim := find.Aim{Effect: intent.Submit, Lemma: p.goal.Lemma, Words: []intent.Description{*d}, Lang: p.text.Lang, Record: -1, Within: -1}
	used := map[intent.Span]bool{}
	for _, c := range find.Controls(m, aim) {
		for _, u := range c.Used {
			used[u.Span] = true
		}
	}
	f := find.Description(m, d, p.want(m))
	missing := 0
	for _, s := range wordsOf(d) {
		if !used[s] {
			missing++
		}
	}
	if missing == 0 || len(f.Candidates) > 0 && len(f.Candidates[0].Missing) == 0 {
		return nil
	}
	return p.unresolved(d, &f)
}

// recordOf returns the only record that a description clearly means.
func (p *planner) recordOf(d *intent.Description) (find.Candidate, bool) {
	if p.model != nil && p.pointed(d) {
		if c, ok := p.now(p.model, &p.them[0]); ok && c.What == find.Record {
			p.useSpan(d.Span, "the thing before")
			return c, true
		}
	}
	if len(d.Words) == 0 && d.Of == nil && d.Extreme == nil && d.Ordinal == 0 || d.Pronoun || p.model == nil {
		return find.Candidate{}, false
	}
	f := find.Description(p.model, d, p.want(p.model, find.Record))
	if !f.Clear() || f.Plural || len(f.Assumed) > 0 && len(f.Candidates[0].Used) == 0 {
		return find.Candidate{}, false
	}
	p.useFound(d, &f)
	return f.Candidates[0], true
}

// signIn fills in who and how, and hands it in.
func (p *planner) signIn(ctx context.Context, g *intent.Goal) error {
	f := newForm(g.Fields)
	if err := p.fill(ctx, f, p.anywhere); err != nil {
		return err
	}
	if !f.complete() {
		if f.filled > 0 {
			return p.unfilled(f)
		}
		return p.through(ctx, g, f, nil)
	}
	if p.nextSubmits() {
		p.unsent = true
		return nil
	}
	a := &attempt{goal: g}
	a.options = func(t *method.Task) []method.Way { return method.HandIn(t, nil) }
	_, err := p.achieve(ctx, a)
	return err
}

// pendingForm leaves the handing in to the goal that follows.
func (p *planner) pendingForm(g *intent.Goal, start *page.Model) {
	p.useMade(g)
	p.unsent = true
}
