package plan

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/slipway-qa/slipway/worker/generation/effect"
	"github.com/slipway-qa/slipway/worker/generation/find"
	"github.com/slipway-qa/slipway/worker/generation/intent"
	"github.com/slipway-qa/slipway/worker/generation/lexicon"
	"github.com/slipway-qa/slipway/worker/generation/method"
	"github.com/slipway-qa/slipway/worker/generation/page"
)

// tiersOf are the kinds of things that goals of an effect are done to, the likeliest first:
// records before what is read as a control, but where the control itself is named.
func tiersOf(e intent.Effect) [][]find.What {
	all := []find.What{find.Record, find.Field, find.Option, find.Control, find.Container, find.Line, find.Attribute}
	switch e {
	case intent.Press:
		return [][]find.What{{find.Control, find.Option}, all}
	case intent.Toggle:
		return [][]find.What{{find.Field, find.Option}, {find.Control, find.Record}, all}
	case intent.Choose, intent.Filter:
		return [][]find.What{{find.Option, find.Control, find.Field}, all}
	case intent.Open, intent.Close, intent.Expand, intent.Collapse:
		return [][]find.What{{find.Control, find.Container, find.Record}, all}
	case intent.Add:
		return [][]find.What{{find.Record}, {find.Option, find.Control}}
	case intent.Increase, intent.Decrease, intent.Clear:
		return [][]find.What{{find.Field, find.Record, find.Attribute}, all}
	case intent.Point:
		return [][]find.What{{find.Record, find.Control}, all}
	}
	return [][]find.What{{find.Record}, {find.Field, find.Option, find.Control, find.Container}, {find.Line, find.Attribute}}
}

// want is what narrows a search now.
func (p *planner) want(m *page.Model, kinds ...find.What) find.Want {
	w := find.Want{Kinds: kinds, Lang: p.text.Lang, Within: -1, SortedBy: p.sortedBy}
	if c, ok := p.partOf(m); ok {
		w.Within = c.Node
	}
	w.WholeWords = p.goal != nil && destroys(p.goal.Effect)
	if p.goal != nil && !p.bareClaim(p.goal) {
		w.Told = p.words(p.goal.Span)
	}
	for i := range p.them {
		if c, ok := p.now(m, &p.them[i]); ok {
			w.Among = append(w.Among, c)
		} else if k := slices.IndexFunc(m.Lines, func(l page.Line) bool {
			return l.Text == p.them[i].title &&
				l.Text != ""
		}); k >= 0 { // alone, it is no list
			w.Among = append(w.Among, find.Candidate{What: find.Line, Index: k, Node: m.Lines[k].Node, Sub: -1, Score: 1})
		}
	}
	w.Except, w.Spoken = w.Among, len(p.them)
	return w
}

// bareClaim reports whether a goal is a claim without a verb: "Total: 12.40". A text of the page that is
// the same says that it holds, and not what is to be done.
func (p *planner) bareClaim(g *intent.Goal) bool {
	return g.Effect == intent.Check && g.Claim != nil && len(g.Claim.Words) == 0
}

// resolve returns the things that a description means now, by tiers; the page is searched for
// what is not seen. Its error says what was not found.
func (p *planner) resolve(ctx context.Context, d *intent.Description, tiers [][]find.What) ([]find.Candidate, error) {
	m, err := p.look(ctx)
	if err != nil {
		return nil, err
	}
	found, best, ok := p.resolveOn(m, d, tiers)
	if ok {
		return found, nil
	}
	if found, err := p.sorted(ctx, d, tiers, &best); err != nil || found != nil {
		return found, err
	}
	if found, err := p.reveal(ctx, d, tiers); err != nil || found != nil {
		return found, err
	}
	if m, err = p.enter(ctx, d, &best); err != nil {
		return nil, err
	}
	if m != nil {
		if found, best, ok = p.resolveOn(m, d, tiers); ok {
			return found, nil
		}
	}
	if len(best.Candidates) == 0 || len(best.Missing) > 0 {
		if found, err := p.ofOpened(ctx, d, tiers); err != nil || found != nil {
			return found, err
		}
		if found, err := p.filteredTo(ctx, d, tiers, &best); err != nil || found != nil {
			return found, err
		}
		if found, err := p.seek(ctx, d, tiers); err != nil || found != nil {
			return found, err
		}
	}
	if found, err := p.askThing(ctx, d, tiers, &best); err != nil || found != nil {
		return found, err
	}
	return nil, p.unresolved(d, &best)
}

// resolveOn returns what a description means on a model, and the nearest that was found.
func (p *planner) resolveOn(m *page.Model, d *intent.Description, tiers [][]find.What) (list []find.Candidate,
	nearest find.Found, ok bool) {
	if d.Pronoun && bare(d) || possessed(d) || p.pointed(d) {
		w := p.want(m)
		if len(w.Among) > 0 {
			p.useSpan(d.Span, "the thing before")
			return w.Among, find.Found{}, true
		}
	}
	for i, kinds := range tiers {
		f := find.Description(m, d, p.want(m, kinds...))
		if f.Ambiguous {
			f = p.inScope(m, d, p.tell(m, f), kinds)
		}
		if f.Ambiguous {
			f = p.beside(m, f)
		}
		if f.Clear() && oneOfAll(m, d, &f) {
			return nil, f, false
		}
		if f.Clear() && !p.doubtful(&f) && !p.extremeElsewhere(d, &f) && (d.Count < 2 || f.Plural || p.goal != nil &&
			p.goal.Effect == intent.Add) {
			p.useFound(d, &f)
			if f.Plural {
				return f.Candidates, f, true
			}
			return f.Candidates[:1], f, true
		}
		if i == 0 || better(&f, &nearest) {
			nearest = f
		}
	}
	if w := p.want(m); ownName(d, p.text.Lang) && len(w.Among) == 1 {
		p.useSpan(d.Span, "the name of the thing before")
		return w.Among, find.Found{}, true
	}
	return nil, nearest, false
}

// ownName reports whether a description is the name of what was spoken of: "her name".
func ownName(d *intent.Description, lang string) bool {
	return d.Of != nil && d.Of.Pronoun && bare(d.Of) && len(d.Words) == 1 && !d.Quoted &&
		lexicon.Means(d.Words[0].Text, lang, "name", "title")
}

// possessed reports whether a description is a row or entry of what was spoken of: "her row".
func possessed(d *intent.Description) bool {
	if d.Of == nil || !d.Of.Pronoun || !bare(d.Of) || len(d.Words) > 0 || d.Ordinal != 0 || d.Extreme != nil {
		return false
	}
	return d.Kind == intent.Row || d.Kind == intent.Item || d.Kind == intent.Card
}

// bare reports whether a pronoun stands alone.
func bare(d *intent.Description) bool {
	return len(d.Words) == 0 && d.Ordinal == 0 && d.Extreme == nil && len(d.Compare) == 0 && !d.Other && !d.Next &&
		d.Of == nil && d.In == nil &&
		len(d.Having) == 0 && len(d.Lacking) == 0 && len(d.State) == 0 && d.Count == 0 && len(d.Relation) == 0
}

// doubtful reports whether what was found is not sure enough for what destroys, pays or sends.
func (p *planner) doubtful(f *find.Found) bool {
	switch {
	case p.goal == nil:
		return false
	case !destroys(p.goal.Effect):
		return p.goal.Risk != "" && f.Uncertain != ""
	}
	return f.Uncertain != "" || len(f.Assumed) > 0 && len(f.Candidates) > 0 && len(f.Candidates[0].Used) == 0 && !f.Plural
}

// destroys reports whether an effect cannot be taken back.
func destroys(e intent.Effect) bool { return e == intent.Remove }

// tell keeps of several that are as near as each other the one that the goal can be done to: of
// a product on offer and the same in the cart only one can be removed.
func (p *planner) tell(m *page.Model, f find.Found) find.Found {
	if p.goal == nil || p.goal.Effect == intent.Check || len(f.Candidates) < 2 {
		return f
	}
	top := f.Candidates[0].Score
	var fit []find.Candidate
	for _, c := range f.Candidates {
		if top-c.Score > 0.1 {
			break
		}
		r := effect.RecordOf(m, &c)
		if r < 0 {
			return f
		}
		aim := find.Aim{Effect: p.goal.Effect, Lemma: p.goal.Lemma, Lang: p.text.Lang, Record: r, Within: -1}
		if len(find.Controls(m, aim)) > 0 {
			fit = append(fit, c)
		}
	}
	if len(fit) != 1 || m.Records[effect.RecordOf(m, &fit[0])].Title != m.Records[effect.RecordOf(m, &f.Candidates[0])].Title {
		return f
	}
	f.Candidates, f.Ambiguous, f.Missing = fit, false, fit[0].Missing
	return f
}

// extremeElsewhere reports whether something is done to the least or greatest of a list of which only a part
// is seen: the right one may be on another page.
func (p *planner) extremeElsewhere(d *intent.Description, f *find.Found) bool {
	if d.Extreme == nil || f.Uncertain == "" || p.goal == nil {
		return false
	}
	switch p.goal.Effect {
	case intent.Check, intent.Open, intent.Point, intent.Select, intent.Expand, intent.Wait, intent.Scroll:
		return false
	}
	return true
}

// oneOfAll reports whether all that belongs to something was asked for, and one thing was found that is
// only called like it: "every part of the drum" is not the drum belt.
func oneOfAll(m *page.Model, d *intent.Description, f *find.Found) bool {
	if !d.All || d.Of == nil || d.Of.Pronoun || len(f.Candidates) != 1 {
		return false
	}
	r, of := effect.RecordOf(m, &f.Candidates[0]), effect.Fold(d.Of.Phrase())
	return r >= 0 && !slices.ContainsFunc(m.Records[r].Attributes, func(a page.Attribute) bool { return effect.Fold(a.Text) == of })
}

// better reports whether a search came nearer than another one.
func better(a, b *find.Found) bool {
	switch {
	case len(a.Candidates) == 0:
		return false
	case len(b.Candidates) == 0:
		return true
	case len(a.Missing) != len(b.Missing):
		return len(a.Missing) < len(b.Missing)
	}
	return a.Candidates[0].Score > b.Candidates[0].Score
}

// useFound marks the words that what was found explains.
func (p *planner) useFound(d *intent.Description, f *find.Found) {
	for i := range f.Candidates {
		p.use(f.Candidates[i].Used...)
		if !f.Plural {
			break
		}
	}
	for _, s := range f.Assumed {
		p.useSpan(s, "the only list of its kind")
	}
	for _, c := range f.Inside {
		p.use(c.Used...)
	}
	p.useSpan(d.NounSpan, "its kind")
}

// unresolved is the error for a description of which nothing clear was found.
func (p *planner) unresolved(d *intent.Description, f *find.Found) error {
	var nearest []Candidate
	for _, c := range f.Candidates[:min(len(f.Candidates), 4)] {
		nearest = append(nearest, Candidate{What: p.name(&c), Score: c.Score, Why: c.Why})
	}
	what := fmt.Sprintf("%q", strings.TrimSpace(p.words(d.Span)))
	switch {
	case f.Ambiguous:
		return p.say("it is not clear which is meant by "+what, nearest...)
	case len(f.Missing) > 0 && len(f.Candidates) > 0:
		var list []string
		for _, s := range f.Missing {
			list = append(list, fmt.Sprintf("%q", p.words(s)))
		}
		return p.say("nothing that fits "+what+" has "+strings.Join(list, ", "), nearest...)
	case f.Plural && f.Wanted > 0 && len(f.Candidates) != f.Wanted:
		return p.say(fmt.Sprintf("of %s there are %d and not %d", what, len(f.Candidates), f.Wanted), nearest...)
	case f.Uncertain != "" && len(f.Candidates) > 0:
		return p.say("which one is "+what+" is not sure: "+f.Uncertain, nearest...)
	}
	return p.say("nothing on the page is "+what, nearest...)
}

// name says what a candidate is.
func (p *planner) name(c *find.Candidate) string {
	if p.model == nil {
		return string(c.What)
	}
	if r := effect.RecordOf(p.model, c); r >= 0 && c.What == find.Record {
		return fmt.Sprintf("record %q", shorten(p.model.Records[r].Title, 80))
	}
	return method.DescribeNode(p.model, c.Node)
}

// remember keeps what a goal was done to: the texts after it say it, them, her.
func (p *planner) remember(m *page.Model, list []find.Candidate) {
	if len(list) == 0 {
		return
	}
	p.them = thingsOf(m, list)
}

// thingsOf are candidates of a model as what lasts to a later one: what stands in a record is that record.
func thingsOf(m *page.Model, list []find.Candidate) []thing {
	out := make([]thing, len(list))
	for i := range list {
		c, t := &list[i], &out[i]
		t.what = c.What
		if c.Node >= 0 && c.Node < len(m.Nodes) {
			t.ref = m.Nodes[c.Node].Ref
		}
		if r := effect.RecordOf(m, c); r >= 0 {
			t.what, t.title, t.ref = find.Record, m.Records[r].Title, m.Nodes[m.Records[r].Node].Ref
		}
	}
	return out
}

// now returns what stands on a model for a thing that was seen before.
func (p *planner) now(m *page.Model, t *thing) (find.Candidate, bool) {
	if t.what == find.Record {
		best := -1
		for i := range m.Records {
			r := &m.Records[i]
			sameTitle := r.Title == t.title
			sameRef := r.Node >= 0 && r.Node < len(m.Nodes) && m.Nodes[r.Node].Ref == t.ref
			if sameTitle && sameRef {
				best = i
				break
			}
			if sameTitle && t.title != "" && best < 0 || sameRef && best < 0 {
				best = i
			}
		}
		if best < 0 {
			return find.Candidate{}, false
		}
		return find.Candidate{What: find.Record, Index: best, Node: m.Records[best].Node, Sub: -1, Score: 1}, true
	}
	for i := range m.Nodes {
		if t.ref == "" || m.Nodes[i].Ref != t.ref || m.Nodes[i].Role == "text" {
			continue
		}
		c := find.Candidate{What: t.what, Node: i, Sub: -1, Score: 1}
		switch t.what {
		case find.Field, find.Option:
			c.What, c.Index = find.Field, m.FieldAt(i)
		case find.Control:
			c.Index = m.ControlAt(i)
		case find.Container:
			c.Index = slices.IndexFunc(m.Containers, func(o page.Container) bool { return o.Node == i })
		case find.Line:
			c.Index = slices.IndexFunc(m.Lines, func(l page.Line) bool { return l.Node == i })
		}
		if c.Index >= 0 {
			return c, true
		}
	}
	return find.Candidate{}, false
}
