package plan

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/slipway-qa/slipway/worker/generation/effect"
	"github.com/slipway-qa/slipway/worker/generation/find"
	"github.com/slipway-qa/slipway/worker/generation/intent"
	"github.com/slipway-qa/slipway/worker/generation/method"
	"github.com/slipway-qa/slipway/worker/generation/page"
)

// deed does a goal to its targets, one after the other.
func (p *planner) deed(ctx context.Context, g *intent.Goal) error {
	if len(g.Target) == 0 && g.Effect != intent.Remove {
		return p.once(ctx, g, nil)
	}
	if g.Effect == intent.Page && g.Amount != nil && len(g.Target) == 1 {
		return p.rows(ctx, g)
	}
	g = p.openPlace(g)
	if done, err := p.byOneControl(ctx, g); err != nil || done {
		return err
	}
	if done, err := p.lessen(ctx, g); err != nil || done {
		return err
	}
	for _, done := range []func(context.Context, *intent.Goal) (bool, error){p.formed, p.hideByBoxes, p.moveInForm} {
		if ok, err := done(ctx, g); err != nil || ok {
			return err
		}
	}
	if done, err := p.ofAmount(ctx, g); err != nil || done {
		return err
	}
	if g.Effect == intent.Expand && len(g.Target) > 1 { // one may be seen in the other only
		for i := range g.Target {
			one := *g
			one.Target = g.Target[i : i+1]
			if err := p.deed(ctx, &one); err != nil {
				return err
			}
		}
		return nil
	}
	m, err := p.look(ctx)
	if err != nil {
		return err
	}
	if p.meant(m, g) || p.signedIn(m, g) {
		return p.once(ctx, g, nil)
	}
	if g.Effect == intent.Download && len(g.Target) == 1 && g.Target[0].Kind == intent.PageKind && !tells(&g.Target[0]) { // "print this page"
		p.useSpan(g.Target[0].Span, "the page")
		return p.once(ctx, g, nil)
	}
	if len(g.Fields) > 0 && (g.Effect == intent.Act || g.Effect == intent.Complete) {
		return p.eachTarget(ctx, g, func(ctx context.Context, c find.Candidate) error {
			if done, err := p.byRole(ctx, g, []find.Candidate{c}); err != nil || done {
				return err
			}
			return p.through(ctx, g, newForm(g.Fields), []find.Candidate{c})
		})
	}
	mark := p.mark()
	err = p.eachTarget(ctx, g, func(ctx context.Context, c find.Candidate) error {
		if g.Effect == intent.SignOut && effect.RecordOf(p.model, &c) < 0 && len(p.signsOut(p.model, g)) > 0 &&
			!(c.What == find.Control && says(p.model, g, c.Index)) {
			return p.say("nothing shows that it is who is signed in", Candidate{What: p.name(&c), Score: c.Score, Why: c.Why})
		}
		return p.once(ctx, p.unticking(g, &c), []find.Candidate{c})
	})
	if err == nil && p.mark() == mark && slices.ContainsFunc(g.Target, func(d intent.Description) bool { return d.All || d.Both }) {
		return p.say("all that was found is so already: others may be meant")
	}
	return err
}

// eachTarget resolves the targets of a goal and does something to each. All are resolved before
// the first is done: a deed on one of two, of which the other is not there, is worse than none.
func (p *planner) eachTarget(ctx context.Context, g *intent.Goal, do func(context.Context, find.Candidate) error) error {
	var things []thing
	var targets []find.Candidate
	m, err := p.look(ctx)
	if err != nil {
		return err
	}
	list := slices.Clone(g.Target)
	for i := 1; i < len(list); i++ {
		likeBefore(&list[i-1], &list[i])
	}
	if len(list) == 0 { // "delete it" without the pronoun: what was spoken of last
		list = []intent.Description{{Pronoun: true}}
	}
	for i := range list {
		found, err := p.resolve(ctx, &list[i], tiersOf(g.Effect))
		if err != nil {
			return err
		}
		if m, err = p.look(ctx); err != nil {
			return err
		}
		things = append(things, thingsOf(m, found)...)
		if i > 0 && len(found) == 1 && slices.ContainsFunc(targets, func(c find.Candidate) bool {
			return c.Node == found[0].Node &&
				c.What == found[0].What
		}) {
			if g.Effect != intent.Press && !p.oneName(m, &found[0], list[i-1:i+1]) {
				return p.say(fmt.Sprintf("%q and what stands before it are one thing", p.words(list[i].Span)))
			}
			things = things[:len(targets)] // the words of one name
			continue
		}
		targets = append(targets, found...)
	}
	p.before = m
	for i := range things {
		now, err := p.look(ctx)
		if err != nil {
			return err
		}
		c := targets[i]
		if i > 0 || now != m {
			at, ok := p.now(now, &things[i])
			if !ok {
				return p.say(fmt.Sprintf("%q is not seen any more", things[i].title))
			}
			at.Used = c.Used
			if at.What == c.What {
				at.Sub = c.Sub
			}
			c = at
		}
		if err := do(ctx, c); err != nil {
			return err
		}
	}
	p.them = things
	return nil
}

// oneName reports whether two descriptions are words of one name, with what stands between them: "the
// terms and conditions".
func (p *planner) oneName(m *page.Model, c *find.Candidate, d []intent.Description) bool {
	said := strings.ToLower(p.words(intent.Span{From: headOf(&d[0]), To: d[1].Span.To}))
	names := []string{m.Nodes[c.Node].Name, nodeShows(m, c.Node)}
	if f := m.FieldAt(c.Node); f >= 0 {
		names = append(names, m.Fields[f].Names...)
	}
	return slices.ContainsFunc(names, func(name string) bool { return strings.Contains(strings.ToLower(name), said) })
}

// headOf is where the words of a description begin, behind its article.
func headOf(d *intent.Description) int {
	from := d.Span.From
	if len(d.Words) > 0 {
		from = d.Words[0].Span.From
	}
	return from
}

// likeBefore has "the last one" be one of the kind that stands before it: "the first question, then the
// last one".
func likeBefore(before, d *intent.Description) {
	elliptic := d.Pronoun && len(d.Words) == 0 && d.Noun == "" && (d.Ordinal != 0 || d.Extreme != nil)
	if !elliptic || before.Pronoun || before.Quoted {
		return
	}
	d.Pronoun, d.Kind, d.Noun, d.NounSpan = false, before.Kind, before.Noun, before.NounSpan
	if before.Noun == "" {
		d.Words = before.Words
	}
}

// once does a goal to one target, as often as it says.
func (p *planner) once(ctx context.Context, g *intent.Goal, target []find.Candidate) error {
	times := 1
	if g.Effect != intent.Increase && g.Effect != intent.Decrease {
		times = max(g.Times, 1)
	}
	for i := range times {
		now, err := p.look(ctx)
		if err != nil {
			return err
		}
		if i > 0 && len(target) > 0 {
			c, ok := p.mapped(p.before, now, &target[0])
			if !ok {
				return p.say("what it is done to is not seen any more")
			}
			target = []find.Candidate{c}
		}
		if len(target) > 0 && p.isSo(g, &target[0]) {
			p.use(target[0].Used...)
			p.useSpan(g.Verb, "it is so already")
			continue
		}
		if done, err := p.openPage(ctx, g, target); err != nil || done {
			return err
		}
		a := &attempt{goal: asPress(now, g, target), target: target, options: p.byMeans(g)}
		v, err := p.achieve(ctx, a)
		if err != nil {
			return err
		}
		p.useSlots(g, a, v)
	}
	return nil
}

// byMeans returns the presses of the control that the text says it is done with.
func (p *planner) byMeans(g *intent.Goal) func(t *method.Task) []method.Way {
	if g.With == nil || len(g.With.Words) == 0 {
		return nil
	}
	v := intent.Value{Span: g.With.Span, Text: g.With.Phrase(), Quoted: g.With.Quoted}
	if strings.ContainsAny(strings.ToLower(v.Text), "x×✕✖") && utf8.RuneCountInString(v.Text) == 1 {
		v.Text = "close" // what the page model calls the sign
	}
	return func(t *method.Task) []method.Way {
		if t.Depth > 0 {
			return nil
		}
		list := method.Called(t, &v)
		if t.Target == nil && len(list) > 1 {
			return nil // one of several, and nothing says whose
		}
		return list
	}
}

// meant reports whether a goal is done by the control that it names, and its target says no more
// than what kind of thing that closes: "close the box with the cross".
func (p *planner) meant(m *page.Model, g *intent.Goal) bool {
	if g.Effect != intent.Close || p.byMeans(g) == nil || len(g.Target) != 1 || len(wordsOf(&g.Target[0])) > 0 {
		return false
	}
	_, _, ok := p.resolveOn(m, &g.Target[0], tiersOf(g.Effect))
	return !ok && len(p.byMeans(g)(&method.Task{Model: m, Goal: g, Lang: p.text.Lang, Inside: -1})) == 1
}

// signedIn reports whether a goal signs out the one who is signed in: the menu in which that is done is called
// so, as "Nadia" above "Log out".
func (p *planner) signedIn(m *page.Model, g *intent.Goal) bool {
	if g.Effect != intent.SignOut || len(g.Target) != 1 || g.Target[0].Pronoun {
		return false
	}
	f := find.Description(m, &g.Target[0], p.want(m, find.Control))
	deeds := p.signsOut(m, g)
	if !f.Clear() || f.Plural || len(deeds) != 1 {
		return false
	}
	opens, ok := method.Unhide(m, deeds[0].Node)
	menu := f.Candidates[0].Node
	if !ok || opens.Node != menu && !m.Inside(opens.Node, menu) && !m.Inside(menu, opens.Node) {
		return false
	}
	p.useFound(&g.Target[0], &f)
	return true
}

// signsOut returns the controls of a page that sign out by their name, also those of a closed menu.
func (p *planner) signsOut(m *page.Model, g *intent.Goal) []find.Candidate {
	aim := find.Aim{Effect: g.Effect, Lemma: g.Lemma, Lang: p.text.Lang, Record: -1, Within: -1, Hidden: true}
	return slices.DeleteFunc(find.Controls(m, aim), func(c find.Candidate) bool { return c.Score <= leastSaid })
}

// asPress returns a goal as a deed of any kind where its target is a button itself: "publish the
// rota" by the button "Publish rota". What changes then is the page and not the button.
func asPress(m *page.Model, g *intent.Goal, target []find.Candidate) *intent.Goal {
	if len(target) != 1 || target[0].What != find.Control || target[0].Index >= len(m.Controls) {
		return g
	}
	switch g.Effect {
	case intent.Complete, intent.Reopen, intent.Set, intent.Remove:
	default:
		return g
	}
	if n := &m.Nodes[m.Controls[target[0].Index].Node]; n.Checked != "" || m.Controls[target[0].Index].Role == "checkbox" {
		return g
	}
	if !says(m, g, target[0].Index) {
		return g
	}
	one := *g
	one.Effect = intent.Act
	return &one
}

// leastSaid is the score from which the name of a control says a deed, and not only its object.
const leastSaid = 0.72

// says reports whether a control is called by the deed of a goal.
func says(m *page.Model, g *intent.Goal, control int) bool {
	aim := find.Aim{Effect: g.Effect, Lemma: g.Lemma, Words: g.Target, Record: -1, Within: -1, Hidden: true}
	return slices.ContainsFunc(find.Controls(m, aim), func(c find.Candidate) bool { return c.Index == control && c.Score > leastSaid })
}

// isSo reports whether a target is in the state already that a goal asks for: nothing is to be
// done, and a second press would undo it.
func (p *planner) isSo(g *intent.Goal, c *find.Candidate) bool {
	m := p.model
	on := g.Effect == intent.Complete || g.Effect == intent.Toggle && g.On
	if g.Effect != intent.Complete && g.Effect != intent.Reopen && g.Effect != intent.Toggle || c.Node < 0 || !method.Serves(m, g, c.Node) {
		return false
	}
	if c.What == find.Option || c.What == find.Field {
		return method.Holds(m, c, &intent.Value{}, !on)
	}
	checked := m.Nodes[c.Node].Checked
	return c.What == find.Control && (on && checked == "true" || !on && checked == "false")
}

// achieve is attempt where nothing else can be done: that the goal was not reached is an error.
func (p *planner) achieve(ctx context.Context, a *attempt) (effect.Verdict, error) {
	v, err := p.attempt(ctx, a)
	if err != nil || v.State == effect.Reached {
		return v, err
	}
	return v, p.failed(a, v)
}

// failed is the error for a goal that no way reached.
func (p *planner) failed(a *attempt, v effect.Verdict) error {
	reason := "no way was found to do it"
	if v.Harm != "" {
		reason = "what was tried changed something else: " + v.Harm
	} else if v.Why != "" {
		reason += ": " + v.Why
	}
	var nearest []Candidate
	for i := range a.target {
		nearest = append(nearest, Candidate{What: p.nameOn(a, i), Score: a.target[i].Score, Why: a.target[i].Why})
	}
	return p.say(reason, nearest...)
}

func (p *planner) nameOn(a *attempt, i int) string {
	if r := effect.RecordOf(a.start, &a.target[i]); r >= 0 {
		return fmt.Sprintf("record %q", shorten(a.start.Records[r].Title, 80))
	}
	return method.DescribeNode(a.start, a.target[i].Node)
}

// useSlots marks the words of slots that a reached effect shows: what the target became, what it
// went to or came from, where the page says so.
func (p *planner) useSlots(g *intent.Goal, a *attempt, v effect.Verdict) {
	p.use(v.Used...)
	if p.model == nil || a.start == nil {
		return
	}
	c := effect.Between(a.start, p.model)
	if g.To != nil && p.arrived(c, g, a) {
		p.useShown(c, g.To)
	}
	if g.From != nil {
		p.useShown(c, g.From)
	}
	if g.With != nil {
		p.useMeans(c, a, g.With)
	}
	if g.Become != nil {
		d := intent.Description{Span: g.Become.Span, Words: []intent.Word{{Span: g.Become.Span, Text: g.Become.Text}}, Quoted: g.Become.Quoted}
		if p.became(c, a, &d) {
			p.useShown(c, &d)
		}
	}
}

// became reports whether a thing that is still seen shows what it became: that the page has the word
// elsewhere says nothing of it.
func (p *planner) became(c *effect.Change, a *attempt, d *intent.Description) bool {
	if len(a.target) == 0 || c.After.Dialog != nil || c.URL {
		return true
	}
	was := effect.RecordOf(c.Before, &a.target[0])
	r := c.Record(was)
	if r < 0 || c.Group(c.Before.Records[was].Group) != c.After.Records[r].Group {
		return true // it went to another list
	}
	f := find.Description(c.After, d, find.Want{Lang: p.text.Lang, Within: c.After.Records[r].Node})
	return len(f.Candidates) > 0 && len(f.Candidates[0].Missing) == 0
}

// arrived reports whether what was moved or added stands in what the goal says, where the page
// shows both.
func (p *planner) arrived(c *effect.Change, g *intent.Goal, a *attempt) bool {
	if g.Effect == intent.Add {
		return !p.addedBeside(c, g)
	}
	if g.Effect != intent.Move || c.After.Dialog != nil || len(a.target) == 0 {
		return true
	}
	r := effect.RecordOf(c.Before, &a.target[0])
	now := c.Record(r)
	f := find.Description(c.After, g.To, find.Want{Kinds: []find.What{find.Container}, Lang: p.text.Lang, Within: -1})
	if now < 0 || len(f.Candidates) == 0 || len(f.Candidates[0].Missing) > 0 {
		return true
	}
	i := f.Candidates[0].Index
	return i < 0 || i >= len(c.After.Containers) || c.After.Holds(i, c.After.Records[now].Node)
}

// addedBeside reports whether all that was added stands in a part of the page that is like the one that a goal
// says and is another one: the next column of a board.
func (p *planner) addedBeside(c *effect.Change, g *intent.Goal) bool {
	m := c.After
	f := find.Description(m, g.To, find.Want{Kinds: []find.What{find.Container}, Lang: p.text.Lang, Within: -1})
	if c.After.Dialog != nil || len(c.Added) == 0 || len(f.Candidates) == 0 || len(f.Candidates[0].Missing) > 0 {
		return false
	}
	to := &f.Candidates[0]
	return !slices.ContainsFunc(c.Added, func(r int) bool { return !beside(m, to, r) })
}

// beside reports whether a record stands in a list that is like the one in a part of the page, and not in that part.
func beside(m *page.Model, to *find.Candidate, record int) bool {
	r := &m.Records[record]
	if r.Group < 0 || m.Inside(to.Node, r.Node) || to.Index >= 0 && m.Holds(to.Index, r.Node) {
		return false
	}
	return slices.ContainsFunc(m.Groups, func(g page.Group) bool {
		in := len(g.Records) > 0 && (m.Inside(to.Node, m.Records[g.Records[0]].Node) || to.Index >= 0 && m.Holds(to.Index, m.Records[g.Records[0]].Node))
		return in && g.Kind == m.Groups[r.Group].Kind
	})
}

// unchosen reports whether something is an option that is not the one that is chosen.
func unchosen(m *page.Model, c *find.Candidate) bool {
	if c.What != find.Option || c.Index >= len(m.Fields) || c.Sub < 0 || c.Sub >= len(m.Fields[c.Index].Options) {
		return false
	}
	return !m.Fields[c.Index].Options[c.Sub].Selected
}

// onlyOffered reports whether the page offers for a choice what a place is called, which is not chosen, and has
// no part that is called so: that a row shows the word says nothing of what was added.
func onlyOffered(m *page.Model, f *find.Found) bool {
	if unchosen(m, &f.Candidates[0]) {
		return true
	}
	offered := false
	for i := range f.Candidates {
		c := &f.Candidates[i]
		if len(c.Missing) > 0 {
			continue
		}
		if c.What == find.Container || c.What == find.Control {
			return false
		}
		offered = offered || unchosen(m, c)
	}
	return offered
}

// useShown marks a description that the page has: a container, control or record is called so.
func (p *planner) useShown(c *effect.Change, d *intent.Description) {
	for _, m := range []*page.Model{c.After, c.Before} {
		f := find.Description(m, d, find.Want{Lang: p.text.Lang, Within: -1, Hidden: true})
		if len(f.Candidates) > 0 && len(f.Candidates[0].Missing) == 0 {
			if p.goal != nil && p.goal.To == d && p.goal.Effect == intent.Add && onlyOffered(m, &f) {
				continue
			}
			if p.goal != nil && p.goal.To == d {
				p.place = thingsOf(m, f.Candidates[:1])
			}
			p.use(f.Candidates[0].Used...)
			p.useSpan(d.NounSpan, "what the page has")
			p.useSpan(d.Span, "what the page has")
			return
		}
	}
}
