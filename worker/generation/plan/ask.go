package plan

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/slipway-qa/slipway/worker/generation/find"
	"github.com/slipway-qa/slipway/worker/generation/intent"
	"github.com/slipway-qa/slipway/worker/generation/lexicon"
	"github.com/slipway-qa/slipway/worker/generation/method"
	"github.com/slipway-qa/slipway/worker/generation/page"
	"github.com/slipway-qa/slipway/worker/generation/word"
	"github.com/slipway-qa/slipway/worker/snapshot"
)

// Question is what Config.Ask is asked where the planner is not sure: how to read the text, or,
// with Pick, which thing is meant.
type Question struct {
	// Text is the whole text with the readings that there are.
	Text *intent.Text
	// Why is what came of the readings so far; nil where none was tried.
	Why *NotUnderstoodError
	// Page is what is seen now.
	Page *snapshot.Snapshot
	// Pick asks for one of some candidates; nil: for readings.
	Pick *Pick
}

// Pick is the question which of the things that were found is meant.
type Pick struct {
	Goal   string // the part of the text that is being done
	Phrase string // what it calls the thing
	// Candidates are all that may be answered, best first.
	Candidates []Candidate
}

// Answer is what was answered.
type Answer struct {
	// Readings are of the text of the question, best first; none: it could not be read. Each word
	// of their spans is a word of the text; the planner accounts for them as for its own.
	Readings []intent.Reading
	// Index is the candidate that is meant; -1: none, or it is not known.
	Index int
	// By is who answered, and Why the reason, for people.
	By, Why string
}

// Decision is something that was not decided by the planner itself.
type Decision struct {
	By, What string
}

const (
	// maxReadings bounds the readings that an answer may have.
	maxReadings = 3
	// maxAskedThings bounds the things that are asked for in one run, and maxOffered the candidates of
	// each: what is further down has hardly a word of the description.
	maxAskedThings = 8
	maxOffered     = 12
)

// prepareReadings asks for readings where grammar has none of which all words are taken, or where
// it is always asked.
func (p *planner) prepareReadings(ctx context.Context) error {
	sure := slices.ContainsFunc(p.text.Readings, func(r intent.Reading) bool { return len(r.Unread) == 0 && len(r.Goals) > 0 })
	if p.cfg.Ask == nil || sure && !p.cfg.AskAlways {
		return nil
	}
	more, err := p.askReadings(ctx, nil)
	if err != nil {
		return err
	}
	// A copy: the text may be the caller's.
	t := *p.text
	t.Readings = append(more, t.Readings...)
	p.text = &t
	return nil
}

// askReadings asks for readings of the text, once in a run.
func (p *planner) askReadings(ctx context.Context, why *NotUnderstoodError) ([]intent.Reading, error) {
	if p.cfg.Ask == nil || p.askedReadings {
		return nil, nil
	}
	p.askedReadings = true
	m, err := p.look(ctx)
	if err != nil {
		return nil, err
	}
	a, err := p.ask(ctx, Question{Text: p.text, Why: why, Page: m.Snapshot})
	if err != nil {
		return nil, err
	}
	var list []intent.Reading
	for i := range a.Readings[:min(len(a.Readings), maxReadings)] {
		r := a.Readings[i]
		if err := p.allowed(&r); err != nil {
			p.decide(a.By, "a reading was refused: "+err.Error())
			continue
		}
		// What it leaves out is found here and not believed.
		r.Unread = intent.UnreadBy(p.text.Source, p.text.Lang, r.Goals)
		list = append(list, r)
	}
	if len(list) == 0 {
		p.decide(a.By, "no other reading: "+a.Why)
		return nil, nil
	}
	p.decide(a.By, "read the text: "+list[0].String())
	return list, nil
}

// ask asks; the time that it takes is not of the tries.
func (p *planner) ask(ctx context.Context, q Question) (Answer, error) {
	began := time.Now()
	a, err := p.cfg.Ask(ctx, q)
	p.deadline = p.deadline.Add(time.Since(began))
	return a, err
}

// allowed returns an error for a reading of somebody else that asks for what the text does not
// say: each deed needs a verb of the text, and one that destroys a verb that may mean so.
func (p *planner) allowed(r *intent.Reading) error {
	for i := range r.Goals {
		g := &r.Goals[i]
		if !within(p.text.Source, g.Span) {
			return errors.New("a part is not in the text")
		}
		if g.Effect == intent.Check || g.Effect == intent.Wait {
			continue
		}
		if p.words(g.Verb) == "" {
			return fmt.Errorf("the text has no verb for %s", g.Effect)
		}
		if dangerous(g) && !mayDestroy(p.words(g.Verb), p.text.Lang) {
			return fmt.Errorf("%q does not ask for %s", p.words(g.Verb), g.Effect)
		}
	}
	return p.denies(r)
}

// denies returns an error for a reading of somebody else that loses a negation: each one of the
// text must make the goal around it, or behind it, one that must not be or does not hold.
func (p *planner) denies(r *intent.Reading) error {
	lex := lexicon.Language(p.text.Lang)
	for _, t := range word.Tokens(p.text.Source, p.text.Lang) {
		if !lex.Is(t.Text, lexicon.Negation) {
			continue
		}
		g := goalAt(r.Goals, t.From)
		if g == nil || named(g, t.From) || negative(g) {
			continue
		}
		return fmt.Errorf("%q was lost", t.Text)
	}
	return nil
}

// goalAt returns the goal around a place of the text, else the next one behind it.
func goalAt(goals []intent.Goal, at int) *intent.Goal {
	var next *intent.Goal
	for i := range goals {
		g := &goals[i]
		if g.Span.From <= at && at < g.Span.To {
			return g
		}
		if g.Span.From > at && (next == nil || g.Span.From < next.Span.From) {
			next = g
		}
	}
	return next
}

// named reports whether a place of the text is in a name or value of a goal.
func named(g *intent.Goal, at int) bool {
	return slices.ContainsFunc(spansOf(g), func(s intent.Span) bool { return s.From <= at && at < s.To })
}

// negative reports whether anything of a goal must not be.
func negative(g *intent.Goal) bool {
	if g.Forbidden || g.Expected || slices.ContainsFunc(g.Fields, func(f intent.Field) bool { return f.Off || f.Keep }) {
		return true
	}
	things := g.Target
	if c := g.Claim; c != nil {
		if c.Not || c.Only || c.Property == intent.Gone || c.Property == intent.Vanishes || c.Property == intent.Unchanged {
			return true
		}
		if slices.ContainsFunc(c.Be, func(s intent.State) bool { return s.Not }) {
			return true
		}
		things = c.Subject
	}
	if c := g.If; c != nil && c.Not {
		return true
	}
	return slices.ContainsFunc(things, func(d intent.Description) bool {
		return len(d.Lacking) > 0 || len(d.Except) > 0 || slices.ContainsFunc(d.State, func(s intent.State) bool { return s.Not })
	})
}

func within(source string, s intent.Span) bool {
	return s.From >= 0 && s.From < s.To && s.To <= len(source)
}

// dangerous reports whether a goal cannot be taken back.
func dangerous(g *intent.Goal) bool {
	commits := g.Effect == intent.Confirm || g.Effect == intent.SignOut || g.Effect == intent.Submit && g.Risk != ""
	return destroys(g.Effect) || commits || g.Risk == "destroy"
}

// mayDestroy reports whether a verb may mean something that cannot be taken back: it is one that
// the lexicon knows to do so, or one that it does not know at all, of a language that it has not.
func mayDestroy(verb, lang string) bool {
	if lexicon.Risk(verb) != "" {
		return true
	}
	known := false
	for _, t := range strings.Fields(verb) {
		for _, v := range lexicon.Language(lang).Verbs(t) {
			known = true
			g := intent.Goal{Effect: intent.Effect(v.Effect), Risk: v.Risk}
			if dangerous(&g) || g.Effect == intent.Submit {
				return true
			}
		}
	}
	return !known
}

// askThing asks which of the things that were found a description means, where none is clear. Things
// that are picked out by more than a name, and what cannot be taken back, are never asked for: a
// guess does harm there. It returns nil where nothing was picked.
func (p *planner) askThing(ctx context.Context, d *intent.Description, tiers [][]find.What, f *find.Found) ([]find.Candidate, error) {
	if p.cfg.Ask == nil || p.goal == nil || p.askedThings >= maxAskedThings || f.Plural || chosenByMore(d) {
		return nil, nil
	}
	if dangerous(p.goal) || p.goal.Risk != "" || lexicon.Risk(p.words(p.goal.Verb)) != "" {
		return nil, nil
	}
	m, err := p.look(ctx)
	if err != nil || m.Dialog != nil {
		return nil, err
	}
	list := p.pickable(m, d, tiers)
	if len(list) == 0 {
		return nil, nil
	}
	p.askedThings++
	q := Question{Text: p.text, Page: m.Snapshot, Pick: &Pick{Goal: p.words(p.goal.Span), Phrase: p.words(d.Span)}}
	for i := range list {
		q.Pick.Candidates = append(q.Pick.Candidates, Candidate{What: p.name(&list[i]), Score: list[i].Score, Why: list[i].Why})
	}
	a, err := p.ask(ctx, q)
	if err != nil {
		return nil, err
	}
	if a.Index < 0 || a.Index >= len(list) {
		p.decide(a.By, fmt.Sprintf("nothing of %d things is %q: %s", len(list), p.words(d.Span), a.Why))
		return nil, nil
	}
	c := list[a.Index]
	p.decide(a.By, fmt.Sprintf("%q is %s: %s", p.words(d.Span), p.name(&c), a.Why))
	p.use(c.Used...)
	// Its own words and no others: what holds it, a condition, must be found on the page.
	for _, w := range d.Words {
		p.useSpan(w.Span, "picked")
	}
	p.useSpan(d.NounSpan, "picked")
	return []find.Candidate{c}, nil
}

// chosenByMore reports whether a description picks a thing by more than words of its name.
func chosenByMore(d *intent.Description) bool {
	return d.Extreme != nil || len(d.Compare) > 0 || d.Ordinal != 0 || d.Next || d.Other || d.All || d.Both || d.Only || d.Count > 0 ||
		len(d.Except) > 0 || len(d.Lacking) > 0 || d.Quoted || len(d.Words) == 0
}

// pickable are the things that may be picked, best first, without those that do by their names
// what cannot be taken back.
func (p *planner) pickable(m *page.Model, d *intent.Description, tiers [][]find.What) []find.Candidate {
	var list []find.Candidate
	for _, kinds := range tiers {
		f := find.Description(m, d, p.want(m, kinds...))
		if f.Plural {
			continue
		}
		for _, c := range f.Candidates {
			if len(list) == maxOffered || slices.ContainsFunc(list, func(o find.Candidate) bool { return o.Node == c.Node && o.Sub == c.Sub }) {
				continue
			}
			if !explains(d, &c) {
				continue
			}
			if c.What == find.Control && c.Node >= 0 && lexicon.Risk(method.DescribeNode(m, c.Node)) != "" {
				continue
			}
			list = append(list, c)
		}
	}
	if len(list) == 0 && len(wordsOf(d)) == len(d.Words) {
		return p.anything(m, tiers)
	}
	return list
}

// maxAnything bounds the things that are offered where none has a word of the description.
const maxAnything = 30

// anything are the things of a page that a goal can be done to, whatever they are called, without
// those that cannot be taken back.
func (p *planner) anything(m *page.Model, tiers [][]find.What) []find.Candidate {
	var list []find.Candidate
	add := func(what find.What, index, node int) {
		if len(list) < maxAnything && node >= 0 && node < len(m.Nodes) && !m.Nodes[node].Hidden && !behind(m, node) {
			list = append(list, find.Candidate{What: what, Index: index, Node: node, Sub: -1, Why: "it can be done to it"})
		}
	}
	for _, what := range tiers[0] {
		switch what {
		case find.Control:
			for i := range m.Controls {
				if lexicon.Risk(method.DescribeNode(m, m.Controls[i].Node)) == "" {
					add(what, i, m.Controls[i].Node)
				}
			}
		case find.Field:
			for i := range m.Fields {
				add(what, i, m.Fields[i].Node)
			}
		case find.Record:
			for i := range m.Records {
				add(what, i, m.Records[i].Node)
			}
		}
	}
	return list
}

// explains reports whether a candidate is all that a description says besides its name: "of the
// lamp", "with breakfast", "overdue". Only the name itself may be another one.
func explains(d *intent.Description, c *find.Candidate) bool {
	for _, s := range wordsOf(d) {
		own := slices.ContainsFunc(d.Words, func(w intent.Word) bool { return w.Span == s })
		used := slices.ContainsFunc(c.Used, func(u find.Use) bool { return u.Span.From <= s.From && s.To <= u.Span.To })
		if !own && !used {
			return false
		}
	}
	return true
}

// decide keeps what somebody else decided.
func (p *planner) decide(by, what string) {
	p.decided = append(p.decided, Decision{by, shorten(what, maxShownSentence)})
	p.note("Decided by "+by, shorten(what, maxShownSentence))
}
