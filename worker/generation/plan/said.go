package plan

import (
	"context"
	"slices"
	"strings"

	"github.com/slipway-qa/slipway/worker/generation/find"
	"github.com/slipway-qa/slipway/worker/generation/intent"
	"github.com/slipway-qa/slipway/worker/generation/lexicon"
	"github.com/slipway-qa/slipway/worker/generation/page"
)

// chooseSaid chooses in a form for a new thing what its own sentence says that the thing is ("add an urgent
// task", "add a task "Paint", it is urgent"), where a field of the form offers that. A claim is checked afterwards
// as any other.
func (p *planner) chooseSaid(ctx context.Context, within func(m *page.Model) int) error {
	list := p.sidesOfNew()
	for i := range p.next {
		field := saidOfNew(&p.next[i])
		if field == nil || !p.saidAlong(i) {
			break
		}
		list = append(list, *field)
	}
	for i := range list {
		f := newForm(list[i : i+1])
		if err := p.peek(ctx, f, within); err != nil {
			return err
		}
		m, err := p.look(ctx)
		if err != nil {
			return err
		}
		slots, ok := p.assigned(m, f.fields, within(m))
		if !ok || len(slots) != 1 || !isOption(&slots[0]) && !isSwitch(m, &slots[0]) {
			continue
		}
		if err := p.fill(ctx, f, within); err != nil {
			return err
		}
	}
	return nil
}

// sidesOfNew are what the goal says of the one new thing besides its name, as values of a form: "a certified letter",
// "a pizza with a thick crust".
func (p *planner) sidesOfNew() []intent.Field {
	if p.goal == nil || p.goal.Effect != intent.Add || len(p.goal.Target) != 1 {
		return nil
	}
	var list []intent.Field
	add := func(s intent.Span, text string) {
		if text != "" && !p.covered(s) {
			list = append(list, intent.Field{Span: s, Value: intent.Value{Span: s, Text: text}})
		}
	}
	d := &p.goal.Target[0]
	for _, part := range []*intent.Description{d, d.Of} {
		if part == nil {
			continue
		}
		for _, s := range part.State {
			if !s.Not {
				add(s.Span, p.words(s.Span))
			}
		}
	}
	if to := p.goal.To; to != nil && !to.Pronoun && !sided(to) && !p.isPlace(to) { // fr "une pizza à pâte épaisse"
		add(to.Span, to.Phrase())
	}
	for i := range d.Having {
		if h := &d.Having[i]; !sided(h) && h.Of == nil && h.In == nil {
			add(h.Span, h.Phrase())
		}
	}
	return list
}

// isPlace reports whether where something goes is a part of the page, or said to be one: no value of its form.
func (p *planner) isPlace(to *intent.Description) bool {
	if to.Kind == intent.List || to.Kind == intent.Column || to.Kind == intent.Section || to.Kind == intent.Table {
		return true
	}
	if p.model == nil {
		return false
	}
	f := find.Description(p.model, to, p.want(p.model, find.Container, find.Column))
	return len(f.Candidates) > 0 && len(f.Missing) == 0
}

// isSwitch reports whether a value is the name of a box or switch.
func isSwitch(m *page.Model, s *find.Slot) bool {
	return s.To.What == find.Field && m.Fields[s.To.Index].Kind == "switch" && s.Score >= leastSaid
}

// saidAlong reports whether a claim that follows is said by the way in the sentence that orders the addition:
// after nothing but a comma, and not asked. What a later sentence says, or a word like "then" leads to, is
// expected.
func (p *planner) saidAlong(at int) bool {
	source, before, claim := p.text.Source, p.goal, &p.next[at]
	if at > 0 {
		before = &p.next[at-1]
	}
	if before.Span.To > claim.Span.From || strings.TrimSpace(source[before.Span.To:claim.Span.From]) != "," {
		return false
	}
	if strings.HasPrefix(strings.TrimSpace(source[claim.Span.To:]), "?") || !claim.Claim.Plain {
		return false
	}
	return p.beginsSentence(p.goal) && beginsWithSubject(claim)
}

// beginsSentence reports whether the verb of a goal begins its sentence, with no more before it than a word of
// courtesy: "please add".
func (p *planner) beginsSentence(g *intent.Goal) bool {
	lead := p.text.Source[:g.Verb.From]
	lead = strings.Trim(lead[strings.LastIndexAny(lead, ".!?\n")+1:], " ,")
	lex := lexicon.Language(p.text.Lang)
	return lead == "" || lex != nil && lex.Is(lead, lexicon.Polite)
}

// beginsWithSubject reports whether nothing stands before what a claim speaks of: no order to check, no "then".
func beginsWithSubject(g *intent.Goal) bool {
	return len(g.Claim.Subject) == 1 && g.Claim.Subject[0].Span.From == g.Span.From
}

// saidOfNew is what a goal plainly says that "it" is, or that a property of it is, as a value of a form; nil
// for others. What it says must be so is only checked.
func saidOfNew(g *intent.Goal) *intent.Field {
	c := g.Claim
	if g.Effect != intent.Check || c == nil || !c.Plain || c.Property != intent.Is || c.Not || c.Only || c.Where != nil ||
		len(c.Values)+len(c.Be) != 1 || len(c.Subject) > 1 {
		return nil
	}
	field := &intent.Field{Span: c.Span}
	if len(c.Subject) == 1 {
		switch d := &c.Subject[0]; {
		case d.Pronoun && bare(d):
		case d.Of != nil && d.Of.Pronoun && bare(d.Of):
			name := *d
			name.Of, field.Name = nil, &name
		default:
			return nil
		}
	}
	for _, s := range c.Be {
		if s.Not {
			return nil
		}
		field.Value = intent.Value{Span: s.Span, Text: s.Text}
	}
	for _, v := range c.Values {
		field.Value = v
	}
	field.Span = field.Value.Span
	return field
}

// filedAs reports whether "a" thing with values is what a form of the page makes: what it is called is
// chosen there, and those of the list that are called so were made before ("request a day off from
// April 14 to 16").
func (p *planner) filedAs(g *intent.Goal) bool {
	if len(g.Target) != 1 || g.Target[0].Count != 1 || len(g.Fields) == 0 {
		return false
	}
	f := newForm(append(titleFields(g), g.Fields...))
	if !p.takesAll(p.model, f) && !p.paged(p.model, f) {
		return false
	}
	as := find.Assign(p.model, f.fields, p.wantIn(p.model, p.anywhere(p.model)))
	return slices.ContainsFunc(as.Slots, func(s find.Slot) bool { return s.Value == 0 && isOption(&s) })
}

// ofOutside has what a new thing is from be one of its values, where no part of the page and no thing is
// called so: "add a contact named Otto from Brink Ltd".
func (p *planner) ofOutside(m *page.Model, g *intent.Goal) *intent.Goal {
	if g.From == nil || len(g.From.Words) == 0 || g.From.Pronoun {
		return g
	}
	if f := find.Description(m, g.From, p.want(m, find.Container, find.Record, find.Control)); len(f.Candidates) > 0 && len(f.Missing) == 0 {
		return g
	}
	one := *g
	one.From, one.Fields = nil, append(slices.Clone(g.Fields), placeValue("from", g.From))
	return &one
}

// placeValue is a place of a goal as a value of a form, behind the preposition that led to it.
func placeValue(prep string, d *intent.Description) intent.Field {
	return intent.Field{Prep: prep, Span: d.Span, Value: intent.Value{Span: d.Span, Text: d.Phrase(), Quoted: d.Quoted}}
}

// isOption reports whether a value is one of those that its field offers.
func isOption(s *find.Slot) bool { return s.To.What == find.Option || s.Label != "" }
