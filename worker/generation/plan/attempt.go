package plan

import (
	"context"
	"fmt"
	"slices"

	"github.com/slipway-qa/slipway/worker/generation/effect"
	"github.com/slipway-qa/slipway/worker/generation/find"
	"github.com/slipway-qa/slipway/worker/generation/intent"
	"github.com/slipway-qa/slipway/worker/generation/method"
	"github.com/slipway-qa/slipway/worker/generation/page"
	"github.com/slipway-qa/slipway/worker/snapshot"
)

// attempt is a goal that is tried on one target: what it began from and what was tried.
type attempt struct {
	goal   *intent.Goal
	start  *page.Model
	target []find.Candidate // on start
	// from is the model that the goal began from, where that was before now; nil: now.
	from  *page.Model
	tried map[string]bool
	// did has the ways that were done, and whether they changed more than what is in front.
	did map[string]bool
	// risked: something that may delete, pay or send was pressed. It is not pressed again.
	risked bool
	// said: something was pressed that is called by the deed, and not only by a word of the goal.
	said bool
	// pressed is what the way that reached it acted on.
	pressed snapshot.Node
	// fills does what the goal's fields say in what was opened; nil: nothing is to be filled in.
	fills func(ctx context.Context, within int) (bool, error)
	// handed: what fills filled in was handed in, and the goal is reached by it.
	handed bool
	// asked is the goal whose question it answers; nil: none.
	asked *intent.Goal
	// only: there are no ways but those of options.
	only bool
	// directed: the text says in which direction a list is sorted.
	directed bool
	// bulk: all targets are done at once; those that were so already do not change.
	bulk bool
	// holds reports more than the effect class: that a field holds the value.
	holds func(now *page.Model) bool
	// options returns more ways, before those of package method.
	options func(t *method.Task) []method.Way
}

const (
	// maxWays is how many ways are tried on one page.
	maxWays = 7
	// maxDepth is how deep: a menu, its dialog, the question after it.
	maxDepth = 4
)

// attempt tries to reach a goal for a target, and keeps the steps that did.
func (p *planner) attempt(ctx context.Context, a *attempt) (effect.Verdict, error) {
	m, err := p.look(ctx)
	if err != nil {
		return effect.Verdict{}, err
	}
	a.start, a.tried, a.did = m, map[string]bool{}, map[string]bool{}
	if a.from != nil {
		a.start = a.from
	}
	v, err := p.level(ctx, a, level{inside: -1})
	if err != nil || v.State == effect.Reached {
		p.use(v.Used...)
		return v, err
	}
	return v, nil
}

// level is how far an attempt has come: what it is in.
type level struct {
	inside int             // container that was opened, -1
	news   []int           // nodes that came with it
	refs   map[string]bool // of those
	depth  int
	// pointed: the way that led here only put the pointer over the target.
	pointed bool
	// asked: the way that led here may delete, pay or send, and what it opened asks whether to.
	asked bool
}

// level tries the ways from where the attempt stands.
func (p *planner) level(ctx context.Context, a *attempt, l level) (effect.Verdict, error) {
	before, err := p.look(ctx)
	if err != nil {
		return effect.Verdict{}, err
	}
	worst := effect.Verdict{State: effect.Unseen, Why: "there is no way to do it"}
	n, answered, once := 0, false, false
	chosen := p.selectedSince(a, before)
	for _, w := range p.ways(a, before, l) {
		if chosen {
			w.Key += "selected" // what acts on what is selected does something else now
		}
		again := w.Risks && a.risked && (answered || !l.answers(before, &w))
		if a.tried[w.Key] || again || w.Once && once {
			continue
		}
		if n == maxWays || p.spent() || n > 0 && p.cfg.Explore == ExploreOff {
			break
		}
		n++
		a.tried[w.Key] = true
		answered = answered || w.Risks
		v, err := p.try(ctx, a, l, before, &w)
		if err != nil || v.State == effect.Reached {
			return v, err
		}
		changed, done := a.did[w.Key]
		once = once || w.Once && done && (changed || irrevocable(a.goal) && !w.Guess)
		if v.State == effect.Wrong || worst.State != effect.Wrong {
			worst = v
		}
		if v.State == effect.Wrong && w.Risks {
			return v, nil
		}
	}
	return worst, nil
}

// answers reports whether a way says yes to the question that what was pressed before has opened:
// it is a part of the same deed, and no second one.
func (l *level) answers(m *page.Model, w *method.Way) bool {
	return l.asked && len(w.Acts) > 0 && m.Holds(l.inside, w.Acts[len(w.Acts)-1].Node)
}

// ways returns the ways from where an attempt stands, on the present model.
func (p *planner) ways(a *attempt, m *page.Model, l level) []method.Way {
	t := &method.Task{Model: m, Goal: a.goal, Lang: p.text.Lang, Inside: l.inside, News: l.news, Depth: l.depth,
		Pointed: l.pointed, Near: p.nearOn(m)}
	if c, ok := p.partOf(m); ok && l.inside < 0 && c.What == find.Container {
		t.Inside = c.Index
	}
	if len(a.target) > 0 {
		if m == a.start {
			t.Target = &a.target[0]
		} else if c, ok := p.mapped(a.start, m, &a.target[0]); ok && !behind(m, c.Node) {
			t.Target = &c
		}
		if r := effect.RecordOf(a.start, &a.target[0]); r >= 0 {
			t.Title = a.start.Records[r].Title
		}
	}
	var list []method.Way
	if a.options != nil {
		list = a.options(t)
	}
	if a.only && l.depth == 0 {
		return list
	}
	own := -1
	if t.Target != nil && l.depth == 0 {
		own = effect.RecordOf(m, t.Target)
	}
	list = slices.DeleteFunc(append(list, method.Ways(t)...), func(w method.Way) bool {
		return a.ticks(m, own, &w) || a.handsInUnfilled(m, own, &w, l) || choosesFilter(m, a.goal, &w) ||
			ceasesToHide(m, a.goal, &w) || t.TakesOthers(&w) || p.countsOther(m, a.goal, &w)
	})
	for i := range list {
		list[i].Reveals = list[i].Reveals || p.leadsOn(m, a, &list[i])
	}
	if t.Target == nil && len(a.target) == 0 {
		list = slices.DeleteFunc(list, func(w method.Way) bool { return p.ofOther(m, a.goal, &w) })
	}
	if t.Target != nil && a.goal.Effect != intent.Move {
		own := effect.RecordOf(m, t.Target)
		list = slices.DeleteFunc(list, func(w method.Way) bool { return ofNeighbour(m, own, &w) || !a.bulk && forAll(m, own, &w) })
	}
	return list
}

// mapped returns the candidate of a model on a later one.
func (p *planner) mapped(from, to *page.Model, c *find.Candidate) (find.Candidate, bool) {
	t := thing{what: c.What}
	if c.Node >= 0 && c.Node < len(from.Nodes) {
		t.ref = from.Nodes[c.Node].Ref
	}
	if r := effect.RecordOf(from, c); r >= 0 && (c.What == find.Record || c.What == find.Attribute) {
		t.what, t.title, t.ref = find.Record, from.Records[r].Title, from.Nodes[from.Records[r].Node].Ref
	}
	out, ok := p.now(to, &t)
	out.Used = c.Used
	if ok && c.What == find.Option {
		out.What, out.Sub = find.Option, c.Sub
	}
	return out, ok
}

// tried judges what a way did, on what the page shows after it.
func (p *planner) tried(a *attempt, l level, before, now *page.Model, w *method.Way) effect.Verdict {
	v := p.verdict(a, now, w, before)
	switch {
	case a.fills == nil || l.depth == 0:
	case spoils(a, before, now, w):
		return effect.Verdict{State: effect.Unseen, Why: "it changed what was filled in"}
	case v.State == effect.Reached && a.goal.Effect == intent.Add && stillAsks(a, now, w):
		return effect.Verdict{State: effect.Partly, Why: "what was filled in was not handed in"}
	}
	return v
}

// try does one way, judges what came, goes on inside of what it opened, and undoes what did not
// help.
func (p *planner) try(ctx context.Context, a *attempt, l level, before *page.Model, w *method.Way) (effect.Verdict, error) {
	mark := p.mark()
	if p.isForbidden(before, w) {
		return effect.Verdict{State: effect.Unseen, Why: "what would do it is forbidden by the text"}, nil
	}
	if name := method.Unsaid(before, w, a.goal, p.words(a.goal.Span)); name != "" {
		p.trace("%s, depth %d: %s would do what is not said", a.goal.Effect, l.depth, name)
		return effect.Verdict{State: effect.Unseen, Why: name + " would do more than the text says"}, nil
	}
	if name := p.unasked(a, before, w); name != "" {
		return effect.Verdict{State: effect.Unseen, Why: name + " answers another question than that of what was done"}, nil
	}
	ok, err := p.perform(ctx, w)
	if err != nil {
		return effect.Verdict{}, err
	}
	now, err := p.look(ctx)
	if err != nil {
		return effect.Verdict{}, err
	}
	if !ok {
		p.trace("%s, depth %d: %s: could not be used", a.goal.Effect, l.depth, w.Name)
		_, err := p.undo(ctx, mark, before)
		return effect.Verdict{State: effect.Unseen, Why: w.Name + " could not be used"}, err
	}
	a.risked = a.risked || w.Risks
	said := a.said
	a.said = said || !w.Guess && !w.Reveals
	v := p.tried(a, l, before, now, w)
	if v.State == effect.Unseen && !v.Refused && !effect.Between(before, now).Nothing { // it may still be on its way
		later, err := p.lookAnew(ctx)
		if err != nil {
			return effect.Verdict{}, err
		}
		// What only passed by has been seen all the same: it is not done again as if nothing had come.
		if same(before, later) {
			p.model = now
		} else {
			p.noteHarm(a, w, before, now)
			now, v = later, p.tried(a, l, before, later, w)
		}
	}
	a.did[w.Key] = !same(before, now) && (irrevocable(a.goal) || before.Front == now.Front || opened(before, now) < 0)
	p.noteHarm(a, w, before, now)
	p.trace("%s, depth %d: %s: %s, %s", a.goal.Effect, l.depth, w.Name, v.State, v.Why)
	switch v.State {
	case effect.Reached:
		v.Used = append(v.Used, w.Used...)
		if n := len(w.Acts); n > 0 && w.Acts[n-1].Node >= 0 {
			a.pressed = before.Nodes[w.Acts[n-1].Node]
		}
		p.confirmed = p.confirmed || method.SaysConfirm(before, w)
		return v, nil
	case effect.Wrong:
	case effect.Partly:
		v, err = p.onward(ctx, a, l, before, now, w, v)
		if err != nil || v.State == effect.Reached {
			v.Used = append(v.Used, w.Used...)
			return v, err
		}
	default:
		if w.Reveals || a.fills != nil && l.depth == 0 && emptied(before, now) || l.depth == 0 && !w.Risks &&
			opened(before, now) >= 0 && before.Front != now.Front {
			inner, err := p.onward(ctx, a, l, before, now, w, v)
			if err != nil || inner.State == effect.Reached {
				inner.Used = append(inner.Used, w.Used...)
				return inner, err
			}
		}
	}
	a.said = said
	undone, err := p.undo(ctx, mark, before)
	if err != nil {
		return v, err
	}
	if !undone {
		return v, p.say(fmt.Sprintf("%s did not do it (%s), and it cannot be undone", w.Name, v.Why))
	}
	return v, nil
}

// onward goes on inside of what a way opened: fills in what the goal says, and tries the ways there.
// A question of the browser, or of the page, that a goal of the text answers is left to that goal.
func (p *planner) onward(ctx context.Context, a *attempt, l level, before, now *page.Model, w *method.Way,
	v effect.Verdict) (effect.Verdict, error) {
	if l.depth+1 > maxDepth {
		return v, nil
	}
	inner := level{inside: opened(before, now), news: newNodes(before, now), depth: l.depth + 1, pointed: points(w)}
	inner.refs = make(map[string]bool, len(inner.news))
	for _, i := range inner.news {
		inner.refs[now.Nodes[i].Ref] = true
	}
	inner.asked = w.Risks && inner.inside >= 0 && isQuestion(now, inner.inside)
	if p.leftToNext(a, now, inner, v) {
		p.pending = a
		return effect.Verdict{State: effect.Reached, Why: "it asks, and the text answers", Used: v.Used}, nil
	}
	if a.fills != nil && now.Dialog == nil && (inner.inside >= 0 || len(a.target) == 0 || fieldsCame(before, now)) {
		filled, err := a.fills(ctx, inner.inside)
		if err != nil {
			return v, err
		}
		if a.handed {
			return effect.Verdict{State: effect.Reached, Why: "it was handed in", Used: []find.Use{{Span: a.goal.Verb, By: "handed in"}}}, nil
		}
		if filled {
			m, err := p.look(ctx)
			if err != nil {
				return v, err
			}
			if got := p.verdict(a, m, &method.Way{}, now); got.State == effect.Reached && !p.needsSubmit(a, m, inner) {
				return got, nil
			}
			if a.goal.Effect == intent.Set && inner.inside >= 0 && a.holds != nil && a.holds(m) && p.nextSubmits() {
				return effect.Verdict{State: effect.Reached, Why: "it is filled in, and the text hands it in", Used: v.Used}, nil
			}
			if inner.inside < 0 && a.goal.Effect == intent.Add && a.holds != nil && a.holds(m) && p.nextSubmits() {
				p.pendingForm(a.goal, before)
				return effect.Verdict{State: effect.Reached, Why: "it is filled in, and the text hands it in", Used: v.Used}, nil
			}
			inner.inside, now = p.still(now, m, inner.inside), m
		}
	}
	risked := a.risked
	if isQuestion(now, inner.inside) && now.Containers[inner.inside].Kind == "dialog" {
		a.risked = false // the press only asked: its answer is the deed
	}
	got, err := p.level(ctx, a, inner)
	a.risked = a.risked || risked
	if err == nil && got.State == effect.Reached && (now.Dialog != nil || isQuestion(now, inner.inside)) {
		p.confirmed = true
	}
	return got, err
}

// leftToNext reports whether what opened is a question that a later goal of the text answers.
func (p *planner) leftToNext(a *attempt, now *page.Model, l level, v effect.Verdict) bool {
	if now.Dialog == nil && l.inside < 0 {
		return false
	}
	for i := range p.next {
		switch n := &p.next[i]; {
		case n.Forbidden:
			continue
		case n.Effect == intent.Confirm || n.Effect == intent.Abandon:
			return now.Dialog != nil || isQuestion(now, l.inside)
		case now.Dialog == nil && inDialog(n):
			return isQuestion(now, l.inside)
		case now.Dialog != nil && (n.Effect == intent.Close || p.asAnswer(n) != nil):
			return true
		case now.Dialog != nil && n.Effect == intent.Set && len(n.Fields) == 1 && n.Fields[0].Name == nil: // what its prompt is given
			continue
		case n.Effect == intent.Check && n.Claim != nil && n.Claim.Property == intent.Asked:
			continue
		}
		return false
	}
	return false
}
