package plan

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/slipway-qa/slipway/worker/generation/find"
	"github.com/slipway-qa/slipway/worker/generation/intent"
	"github.com/slipway-qa/slipway/worker/generation/page"
)

const (
	// claimTime is how long a claim may take to hold: as long as a replay waits for it.
	claimTime = 3 * time.Second
	// waitTime is that of a claim that the text waits for.
	waitTime = 15 * time.Second
	// claimPause is between two looks at the page.
	claimPause = 250 * time.Millisecond
)

// evidence returns what the page says about a claim now, against how it was before the goal
// before it.
func (p *planner) evidence(ctx context.Context, c *intent.Claim) (find.Evidence, error) {
	m, err := p.look(ctx)
	if err != nil {
		return find.Evidence{}, err
	}
	return find.Claim(p.before, m, p.ofGone(m, c), p.want(m)), nil
}

// ofGone has a claim that "it" is seen no more name the thing that was spoken of, where the page has it
// no more: a pronoun alone may be anything.
func (p *planner) ofGone(m *page.Model, c *intent.Claim) *intent.Claim {
	gone := c.Property == intent.Gone || c.Property == intent.Vanishes || (c.Property == intent.Shown || c.Property == intent.In) && c.Not
	if !gone || len(c.Subject) != 1 || !c.Subject[0].Pronoun || !bare(&c.Subject[0]) || len(p.them) != 1 || p.them[0].title == "" {
		return c
	}
	if _, there := p.now(m, &p.them[0]); there {
		return c
	}
	named := *c
	d := c.Subject[0]
	d.Pronoun, d.Quoted, d.Words = false, true, []intent.Word{{Span: d.Span, Text: p.them[0].title}}
	named.Subject = []intent.Description{d}
	if c.Property == intent.In { // it is nowhere, and so not there
		named.Property = intent.Shown
	}
	return &named
}

// check makes the assertion of a claim a step that holds now. Where it does not hold it waits a
// while.
func (p *planner) check(ctx context.Context, g *intent.Goal) error {
	if g.Claim == nil {
		return p.say("it does not say what must hold")
	}
	p.asserted = true
	limit := claimTime
	if g.Effect == intent.Wait {
		limit = waitTime
	}
	if g.Within > 0 {
		limit = g.Within
	}
	e, err := p.until(ctx, g, limit)
	if err != nil {
		return err
	}
	if !(e.Known && e.Holds) {
		if other, ok := p.otherwise(g.Claim); ok {
			e = other
		}
	}
	if !e.Known && g.Claim.Where != nil {
		if e, err = p.elsewhere(ctx, g.Claim, e); err != nil {
			return err
		}
	}
	if !e.Known {
		if e, err = p.onFurtherPage(ctx, g.Claim, e); err != nil {
			return err
		}
	}
	switch {
	case !e.Known:
		return p.unknown(&e)
	case !e.Holds:
		return &FailedError{Code: codeAssertion, Detail: fmt.Sprintf("expected: %s; %s", p.words(g.Span), e.Why)}
	case e.Uncertain != "" && g.Claim.Property == intent.Counts:
		p.note("uncertain", e.Uncertain)
	}
	m := p.model
	p.use(e.Used...)
	for i := range g.Claim.Subject {
		p.useSpan(g.Claim.Subject[i].NounSpan, "what it is about")
	}
	if p.trivially(g.Claim, &e) {
		p.trivial = append(p.trivial, p.words(g.Span))
	}
	if len(e.Subject) > 0 && m.Dialog == nil {
		p.remember(m, e.Subject[:1])
	}
	return p.assertAll(ctx, m, g, &e)
}

// trivially reports whether a claim held before anything was done, too.
func (p *planner) trivially(c *intent.Claim, e *find.Evidence) bool {
	if p.before == nil || p.before == p.first {
		return e.Trivial
	}
	return find.Claim(p.first, p.model, c, p.want(p.model)).Trivial
}

// otherwise returns the evidence for a claim about "it" where that is not the thing that the goal
// before was done to, but what it went into, what was opened, or the page.
func (p *planner) otherwise(c *intent.Claim) (find.Evidence, bool) {
	if e, ok := p.ofPage(c); ok {
		return e, true
	}
	if len(c.Subject) != 1 || !c.Subject[0].Pronoun || !bare(&c.Subject[0]) || p.model.Dialog != nil {
		return find.Evidence{}, false
	}
	m := p.model
	for i := range p.place {
		at, ok := p.now(m, &p.place[i])
		if !ok {
			continue
		}
		w := p.want(m)
		w.Among = []find.Candidate{at}
		if e := find.Claim(p.before, m, c, w); e.Known && e.Holds {
			return e, true
		}
	}
	whole := *c
	whole.Subject = nil
	if v := c.Values; c.Property == intent.Is && len(v) == 1 && v[0].Quoted && len(strings.Fields(v[0].Text)) > 1 && len(c.Be) == 0 {
		whole.Property = intent.Shown // "it should show": the page, after what was done
		if e := find.Claim(p.before, m, &whole, find.Want{Lang: p.text.Lang, Within: -1}); e.Known && e.Holds && !e.Trivial && !c.Not {
			e.Used = append(e.Used, find.Use{Span: c.Subject[0].Span, By: "the page"})
			return e, true
		}
		whole.Property = c.Property
	}
	if e := find.Claim(p.before, m, &whole, find.Want{Lang: p.text.Lang, Within: -1}); e.Known && e.Holds &&
		(!e.Trivial || c.Property != intent.Is) {
		e.Used = append(e.Used, find.Use{Span: c.Subject[0].Span, By: "the page"})
		return e, true
	}
	return find.Evidence{}, false
}

// ofPage returns the evidence for a claim about a property of "it", where it was opened and the
// page is about it: "open the chair, its price is 45.50".
func (p *planner) ofPage(c *intent.Claim) (find.Evidence, bool) {
	m := p.model
	if len(c.Subject) != 1 || c.Subject[0].Of == nil || !c.Subject[0].Of.Pronoun || !bare(c.Subject[0].Of) || m.Dialog != nil {
		return find.Evidence{}, false
	}
	for i := range p.them {
		if _, there := p.now(m, &p.them[i]); there {
			return find.Evidence{}, false
		}
	}
	whole := *c
	d := c.Subject[0]
	of := d.Of.Span
	d.Of = nil
	whole.Subject = []intent.Description{d}
	e := find.Claim(p.before, m, &whole, p.want(m))
	e.Used = append(e.Used, find.Use{Span: of, By: "what was opened"})
	return e, e.Known && e.Holds
}

// until looks until the claim of a goal holds, at most for some time. What the text waits for may
// take that time on a page that is at rest, and on one to which nothing was done.
func (p *planner) until(ctx context.Context, g *intent.Goal, limit time.Duration) (find.Evidence, error) {
	waits := g.Effect == intent.Wait || g.Within > 0
	end := time.Now().Add(limit)
	if waits && p.deadline.Before(end) {
		end = p.deadline
	}
	for {
		e, err := p.evidence(ctx, g.Claim)
		if err != nil || e.Known && e.Holds || time.Now().After(end) || p.steps == nil && !waits {
			return e, err
		}
		if other, ok := p.otherwise(g.Claim); waits && ok {
			return other, nil
		}
		select {
		case <-ctx.Done():
			return e, ctx.Err()
		case <-time.After(claimPause):
		}
		before := p.model
		if _, err := p.lookAnew(ctx); err != nil {
			return e, err
		}
		if !waits && same(before, p.model) && time.Until(end) < limit-time.Second {
			return e, nil // the page is at rest
		}
	}
}

// elsewhere opens the part of the page in which a claim must hold, and looks there.
func (p *planner) elsewhere(ctx context.Context, c *intent.Claim, e find.Evidence) (find.Evidence, error) {
	m, err := p.look(ctx)
	if err != nil || m.Dialog != nil || c.Property == intent.Vanishes { // what was not seen there cannot vanish there
		return e, err
	}
	before := p.before
	mark := p.mark()
	now, err := p.enter(ctx, &intent.Description{Span: c.Where.Span, In: c.Where}, &find.Found{})
	if err != nil || now == nil {
		return e, err
	}
	p.before = before
	got := find.Claim(nil, now, c, p.want(now))
	if got.Known {
		return got, nil
	}
	if all := *c; c.Property == intent.Shown || c.Property == intent.Counts || c.Property == intent.Is {
		all.Where = nil // it names what was pressed, and all that is seen now is in it
		if got = find.Claim(nil, now, &all, p.want(now)); got.Known && got.Holds {
			got.Used = append(got.Used, find.Use{Span: c.Where.Span, By: "opened"})
			return got, nil
		}
	}
	return e, p.back(ctx, mark, m)
}

// onFurtherPage looks for the thing that a claim says something of where it is not seen: a list may have gone
// back to its first page. Where the claim does not hold there either, the page is as before.
func (p *planner) onFurtherPage(ctx context.Context, c *intent.Claim, e find.Evidence) (find.Evidence, error) {
	m, err := p.look(ctx)
	if err != nil || c.Property != intent.Is || m.Dialog != nil || m.Front >= 0 {
		return e, err
	}
	d := p.unseen(m, c)
	if d == nil {
		return e, nil
	}
	mark, before := p.mark(), p.before
	found, err := p.seek(ctx, d, [][]find.What{{find.Record}})
	if err != nil || len(found) == 0 {
		return e, err
	}
	if len(found) > 1 {
		return e, p.back(ctx, mark, m)
	}
	p.before = nil // nothing was done to the page on which it is now
	got, err := p.evidence(ctx, c)
	p.before = before
	if err != nil || got.Known && got.Holds {
		return got, err
	}
	return e, p.back(ctx, mark, m)
}

// unseen describes the one thing that a claim says something of, where it is no longer seen; nil for others.
func (p *planner) unseen(m *page.Model, c *intent.Claim) *intent.Description {
	if len(p.them) != 1 || p.them[0].title == "" || p.them[0].what != find.Record {
		return nil
	}
	if _, there := p.now(m, &p.them[0]); there {
		return nil
	}
	for i := range c.Subject {
		d := &c.Subject[i]
		if d.Pronoun && bare(d) || d.Of != nil && d.Of.Pronoun && bare(d.Of) || d.Kind == intent.Column {
			return &intent.Description{Span: d.Span, Quoted: true, Words: []intent.Word{{Span: d.Span, Text: p.them[0].title}}}
		}
	}
	return nil
}

// unsure is the error for a condition of which the page does not say whether it holds: to leave
// out what hangs on it would be a guess as well.
func (p *planner) unsure(c *intent.Claim, e *find.Evidence) error {
	reason := fmt.Sprintf("whether %q holds is not seen", p.words(c.Span))
	if e.Why != "" {
		reason += " (" + e.Why + ")"
	}
	return p.say(reason)
}

// unknown is the error for a claim about something that was not found.
func (p *planner) unknown(e *find.Evidence) error {
	reason := "what it says of the page could not be checked"
	for i, s := range e.Missing {
		if i == 0 {
			reason += ": nothing is "
		} else {
			reason += ", "
		}
		reason += fmt.Sprintf("%q", p.words(s))
	}
	if e.Why != "" {
		reason += " (" + e.Why + ")"
	}
	return p.say(reason)
}
