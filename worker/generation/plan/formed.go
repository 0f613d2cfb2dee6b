package plan

import (
	"context"
	"slices"

	"github.com/slipway-qa/slipway/worker/generation/find"
	"github.com/slipway-qa/slipway/worker/generation/intent"
	"github.com/slipway-qa/slipway/worker/generation/page"
)

// formed does a deed on things that a page has only as options of a form ("lend the tile cutter to Mia for
// a week"): all that is said is filled in and handed in. False where the deed is none such.
func (p *planner) formed(ctx context.Context, g *intent.Goal) (bool, error) {
	if g.Effect != intent.Act || g.Risk != "" || len(g.Target) == 0 || len(g.Fields) == 0 && g.To == nil || g.From != nil || g.Become != nil {
		return false, nil
	}
	m, err := p.look(ctx)
	if err != nil || m.Dialog != nil {
		return false, err
	}
	for i := range g.Target {
		if f := find.Description(m, &g.Target[i], p.want(m, find.Record, find.Control)); len(f.Candidates) > 0 && len(f.Missing) == 0 {
			return false, nil
		}
	}
	one := *g
	one.Effect, one.To = intent.Add, nil
	if g.To != nil {
		one.Fields = append(slices.Clone(g.Fields), intent.Field{Prep: "to", Span: g.To.Span, Value: intent.Value{Span: g.To.Span, Text: phraseWords(g.To), Quoted: g.To.Quoted}})
	}
	things := titleFields(&one)
	f := newForm(append(things, one.Fields...))
	if err := p.peek(ctx, f, p.anywhere); err != nil {
		return false, err
	}
	if m, err = p.look(ctx); err != nil || !p.offersAll(m, things) || !p.takesAll(m, f) && !p.paged(m, f) {
		return false, err
	}
	return true, p.make(ctx, &one)
}

// offersAll reports whether each value is an option of a field of the page.
func (p *planner) offersAll(m *page.Model, values []intent.Field) bool {
	as := find.Assign(m, values, p.wantIn(m, p.anywhere(m)))
	return len(values) > 0 && len(as.Slots) == len(values) && len(as.Missing)+len(as.Ambiguous) == 0 && !slices.ContainsFunc(as.Slots, func(s find.Slot) bool { return s.Label == "" })
}

// seekForm opens the tabs and closed sections of a page until one has the form for an addition that no
// control of the page says, and makes it there.
func (p *planner) seekForm(ctx context.Context, g *intent.Goal, f *form) (bool, error) {
	start, err := p.look(ctx)
	if err != nil || p.cfg.Explore == ExploreOff || len(f.fields) < 2 || start.Dialog != nil || p.saysHow(start, g) {
		return false, err
	}
	mark, tried := p.mark(), map[string]bool{}
	for m := start; !p.spent() && len(tried) < maxSought; {
		w, ok := nextPart(m, tried)
		if !ok || len(w.Acts) == 0 || m.RecordAt(w.Acts[0].Node) >= 0 {
			break
		}
		at := p.mark()
		now, err := p.step(ctx, &w)
		if err != nil {
			return false, err
		}
		if now == nil {
			break
		}
		p.cut(mark, at) // only what was opened last is needed
		if p.takesAll(now, f) || p.paged(now, f) {
			return p.madeIn(ctx, g, now, f)
		}
		m = now
	}
	if p.mark() > mark {
		err = p.back(ctx, mark, start)
	}
	return false, err
}

// saysHow reports whether a control of a page says the deed of a goal.
func (p *planner) saysHow(m *page.Model, g *intent.Goal) bool {
	aim := find.Aim{Effect: g.Effect, Lemma: g.Lemma, Words: g.Target, Lang: p.text.Lang, Record: -1, Within: -1}
	return slices.ContainsFunc(find.Controls(m, aim), func(c find.Candidate) bool { return c.Score > leastSaid && m.Controls[c.Index].Record < 0 })
}

// madeIn fills in a form of the page, with the pages that follow, and hands it in. Where that does not make
// anything the page is as before.
func (p *planner) madeIn(ctx context.Context, g *intent.Goal, start *page.Model, f *form) (bool, error) {
	mark := p.mark()
	if err := p.fill(ctx, f, p.anywhere); err != nil {
		return false, err
	}
	if !f.complete() {
		if err := p.onPages(ctx, f); err != nil {
			return false, err
		}
	}
	if f.complete() {
		if err := p.chooseSaid(ctx, p.anywhere); err != nil {
			return false, err
		}
		if done, err := p.handIn(ctx, g, start, f); err != nil || done {
			return done, err
		}
	}
	return false, p.back(ctx, mark, start)
}

// sharesRecord reports whether the card that one value goes into takes another one too: it is a form, and no
// thing of a list with its box.
func sharesRecord(m *page.Model, slots []find.Slot, at int) bool {
	r := m.Fields[slots[at].To.Index].Record
	for i := range slots {
		if f := &m.Fields[slots[i].To.Index]; i != at && f.Record == r && f.Kind != "switch" {
			return true
		}
	}
	return false
}
