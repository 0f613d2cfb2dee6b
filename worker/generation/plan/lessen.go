package plan

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/slipway-qa/slipway/worker/generation/effect"
	"github.com/slipway-qa/slipway/worker/generation/find"
	"github.com/slipway-qa/slipway/worker/generation/intent"
	"github.com/slipway-qa/slipway/worker/generation/lexicon"
	"github.com/slipway-qa/slipway/worker/generation/method"
	"github.com/slipway-qa/slipway/worker/generation/page"
	"github.com/slipway-qa/slipway/worker/snapshot"
)

// lessen takes some of a thing away of which a list has more: "take one apple cake out of the bag", where
// the bag has two and a minus beside them. False where the goal is none such.
func (p *planner) lessen(ctx context.Context, g *intent.Goal) (bool, error) {
	if g.Effect != intent.Remove || len(g.Target) != 1 || g.Target[0].Count < 1 {
		return false, nil
	}
	m, err := p.look(ctx)
	if err != nil {
		return false, err
	}
	d, n := g.Target[0], g.Target[0].Count
	d.Count = 0
	f := find.Description(m, &d, p.want(m, find.Record))
	if f.Plural {
		return false, nil
	}
	var fit []find.Candidate
	for _, c := range f.Candidates {
		if len(c.Missing) > 0 || !p.takenFrom(m, g, c.Index) || f.Candidates[0].Score-c.Score > maxCopies {
			continue
		}
		has, says := find.Copies(m, c.Index)
		if has <= n {
			continue
		}
		if len(minus(m, &c, n)) > 0 {
			fit = append(fit, c)
		} else if m.Nodes[says].Name != strconv.Itoa(has) { // "2 × Tea", and no number of something else
			return false, p.say("the list has more of it than are to go, and nothing takes one away")
		}
	}
	if len(fit) != 1 {
		return false, nil
	}
	count := float64(n)
	less := *g
	less.Effect, less.Target, less.Amount = intent.Decrease, []intent.Description{d}, &intent.Value{Span: d.Span, Number: &count}
	p.use(fit[0].Used...)
	if err := p.once(ctx, &less, fit); err != nil {
		return false, err
	}
	if g.From != nil { // the list that has the thing
		p.useShown(effect.Between(m, p.model), g.From)
	}
	p.useSpan(d.Span, "so many of it")
	p.them = nil
	p.remember(p.model, entriesOf(p.model, m.Records[fit[0].Index].Title))
	return true, nil
}

// takenFrom reports whether a record is no offer, and stands in what a goal takes things out of, where it
// says so.
func (p *planner) takenFrom(m *page.Model, g *intent.Goal, record int) bool {
	if method.Offers(m, record) {
		return false
	}
	return g.From == nil || slices.ContainsFunc(find.Containers(m, g.From, p.want(m)), func(c find.Candidate) bool {
		return len(c.Missing) == 0 && c.Score >= find.Enough && c.Node >= 0 && m.Inside(c.Node, m.Records[record].Node)
	})
}

// countsOther reports whether a way to remove something presses the minus of what it is not taken out of.
func (p *planner) countsOther(m *page.Model, g *intent.Goal, w *method.Way) bool {
	if g.Effect != intent.Remove || len(w.Acts) == 0 {
		return false
	}
	c := m.ControlAt(w.Acts[len(w.Acts)-1].Node)
	return c >= 0 && m.Controls[c].Record >= 0 && method.CountsDown(m, c) && !p.takenFrom(m, g, m.Controls[c].Record)
}

// entriesOf are the entries of a page that are called so, however many of the thing they have.
func entriesOf(m *page.Model, title string) []find.Candidate {
	plain := func(text string) string { return strings.TrimLeft(text, "0123456789") }
	var list []find.Candidate
	for r := range m.Records {
		if plain(m.Records[r].Title) == plain(title) {
			list = append(list, find.Candidate{What: find.Record, Index: r, Node: m.Records[r].Node, Sub: -1, Score: 1})
		}
	}
	return list
}

// maxCopies is how far below the offer of a thing its entry in a cart may be.
const maxCopies = 0.2

// minus are the presses that take so many of a thing away.
func minus(m *page.Model, c *find.Candidate, n int) []method.Way {
	t := &method.Task{Model: m, Inside: -1, Near: -1}
	return t.Presses(m.Records[c.Index].Node, -n)
}

// empty takes out all that a part of the page holds, one after the other, where no control does it at
// once: "empty the cart".
func (p *planner) empty(ctx context.Context, g *intent.Goal) error {
	err := p.deed(ctx, g)
	if err == nil || !isNotUnderstood(err) || len(p.harmed) > 0 || len(g.Target) != 1 || p.cfg.Explore == ExploreOff || p.onlyRemoves(g) {
		return err
	}
	inner := *g
	inner.In, inner.Target, p.goal = &g.Target[0], nil, &inner
	into := p.into(ctx, &inner)
	if p.goal = g; into != nil {
		return err
	}
	m, lookErr := p.look(ctx)
	if lookErr != nil {
		return lookErr
	}
	part, ok := p.toEmpty(m, &g.Target[0])
	if !ok {
		return err
	}
	ref := m.Nodes[part.Node].Ref
	list, all := p.removable(m, ref)
	if !all || len(list) == 0 || len(list) > maxEmptied {
		return err
	}
	for n := len(list); n > 0; n-- {
		if !all || len(list) != n || p.spent() {
			return err
		}
		one := intent.Goal{Span: g.Span, Effect: intent.Remove, Verb: g.Verb}
		if err := p.once(ctx, &one, list[:1]); err != nil {
			return err
		}
		if m, lookErr = p.look(ctx); lookErr != nil {
			return lookErr
		}
		list, all = p.removable(m, ref)
	}
	if !all || len(list) > 0 {
		return err
	}
	p.use(part.Used...)
	p.useSpan(g.Target[0].Span, "nothing is left in it")
	return nil
}

// maxEmptied is how many things are taken out of one list at most.
const maxEmptied = 15

// onlyRemoves reports whether the verb of a goal may mean that the thing itself is to go: who deletes a
// list does not empty it.
func (p *planner) onlyRemoves(g *intent.Goal) bool {
	l := lexicon.Language(p.text.Lang)
	return l == nil || slices.ContainsFunc(l.Verbs(g.Lemma), func(v lexicon.VerbForm) bool { return v.Effect == string(intent.Remove) })
}

// toEmpty returns the part of the page that a description means, where no other is as near.
func (p *planner) toEmpty(m *page.Model, d *intent.Description) (find.Candidate, bool) {
	parts := find.Containers(m, d, p.want(m))
	if len(parts) == 0 || len(parts[0].Missing) > 0 || parts[0].Score < find.Enough || m.Nodes[parts[0].Node].Hidden {
		return find.Candidate{}, false
	}
	best := parts[0]
	return best, !slices.ContainsFunc(parts[1:], func(c find.Candidate) bool {
		return best.Score-c.Score < find.Margin && !m.Inside(best.Node, c.Node) && !m.Inside(c.Node, best.Node)
	})
}

// removable are the things that are seen in a part of the page, and whether each of them has a control
// that takes it out. A part that is not there any more has none. It looks no further than one more than
// are taken out at most.
func (p *planner) removable(m *page.Model, ref string) (list []find.Candidate, all bool) {
	part := slices.IndexFunc(m.Nodes, func(n snapshot.Node) bool { return n.Ref == ref })
	for r := range m.Records {
		rec := &m.Records[r]
		if len(list) > maxEmptied {
			break
		}
		if part < 0 || m.Nodes[rec.Node].Hidden || !m.Inside(part, rec.Node) || rec.Node == part ||
			slices.ContainsFunc(list, func(c find.Candidate) bool { return m.Inside(c.Node, rec.Node) }) {
			continue
		}
		aim := find.Aim{Effect: intent.Remove, Lang: p.text.Lang, Record: r, Within: -1}
		if len(find.Controls(m, aim)) == 0 {
			return nil, false
		}
		list = append(list, find.Candidate{What: find.Record, Index: r, Node: rec.Node, Sub: -1, Score: 1})
	}
	return list, true
}
