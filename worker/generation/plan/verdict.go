package plan

import (
	"slices"
	"strings"

	"github.com/slipway-qa/slipway/worker/generation/effect"
	"github.com/slipway-qa/slipway/worker/generation/find"
	"github.com/slipway-qa/slipway/worker/generation/intent"
	"github.com/slipway-qa/slipway/worker/generation/lexicon"
	"github.com/slipway-qa/slipway/worker/generation/method"
	"github.com/slipway-qa/slipway/worker/generation/page"
)

// verdict judges what a way did since the goal began.
func (p *planner) verdict(a *attempt, now *page.Model, w *method.Way, before *page.Model) effect.Verdict {
	c := effect.Between(a.start, now)
	v := p.judge(c, a)
	if v.Refused && p.expectsRefusal(c) {
		v = effect.Verdict{State: effect.Reached, Why: v.Why, Used: []find.Use{{Span: a.goal.Verb, By: v.Why}}}
	}
	if v.State == effect.Reached && v.Undirected && a.directed && !method.SaysOrder(before, now, w, a.goal) {
		return effect.Verdict{State: effect.Unseen, Why: "nothing shows that the order is in the direction that is asked for"}
	}
	if v.State == effect.Reached && (w.Reveals && !strong(c, a) || leads(before, w, c, a)) {
		v.State = effect.Partly
	}
	if v.State == effect.Reached && a.goal.Effect == intent.Search && w.Guess && !c.Set && !c.URL && len(c.GoneLines) == 0 {
		return effect.Verdict{State: effect.Unseen, Why: "nothing shows that it searches"}
	}
	if v.State == effect.Reached && a.goal.Place == "next" && a.goal.Effect == intent.Submit && stays(c, before, now) && !p.checksLater(c) {
		return effect.Verdict{State: effect.Unseen, Why: "the page stayed where it was"}
	}
	if v.State == effect.Reached && v.Gone && !a.said {
		return effect.Verdict{State: effect.Unseen, Why: "it is gone, and nothing that was pressed says that it goes"}
	}
	if a.goal.Expected && !w.Reveals && now.Dialog == nil && (v.State == effect.Unseen || v.State == effect.Partly) && len(w.Acts) > 0 {
		return effect.Verdict{State: effect.Reached, Why: "it was tried", Used: []find.Use{{Span: a.goal.Verb, By: "it was tried"}}}
	}
	if v.State == effect.Wrong && p.alone(a, c, w, before) {
		v = effect.Verdict{State: effect.Partly, Why: "it is shown alone"}
	}
	if a.bulk && now.Dialog == nil && now.Front < 0 && allChanged(c) && (v.State == effect.Partly || v.State == effect.Unseen &&
		len(a.target) == 0 && len(c.Changed) > 0) {
		v.State, v.Used = effect.Reached, append(v.Used, find.Use{Span: a.goal.Verb, By: "it changed them"})
	}
	if a.bulk && a.said && now.Dialog == nil && now.Front < 0 && v.State == effect.Partly && goneTogether(c, a) {
		v = effect.Verdict{State: effect.Reached, Why: "they are gone", Used: append(v.Used, find.Use{Span: a.goal.Verb, By: "they are gone"})}
	}
	if v.State == effect.Unseen && !w.Reveals && !w.Guess && acknowledged(c, a) {
		v = effect.Verdict{State: effect.Reached, Why: "the page says that it took it", Used: []find.Use{{Span: a.goal.Verb, By: "handed in"}}}
	}
	if v.State == effect.Unseen && a.goal.Effect == intent.SignOut && !w.Reveals && !w.Guess && now.Dialog == nil && now.Front < 0 &&
		a.start.Front < 0 && asksOut(before, w) {
		v = effect.Verdict{State: effect.Reached, Why: "its question was answered", Used: []find.Use{{Span: a.goal.Verb, By: "answered"}}}
	}
	if v.State == effect.Reached && a.holds != nil && !a.holds(now) {
		v.State, v.Why = effect.Partly, "it does not hold the value"
	}
	if now.Dialog == nil && before.Dialog != nil && v.State == effect.Unseen && a.start.Dialog == nil && c.Nothing {
		v.Why = "the question was answered, and nothing changed"
	}
	return v
}

// asksOut reports whether a way presses what signs out in a dialog that is in front and asks something: no entry of a
// menu, and no message that nobody was signed out.
func asksOut(m *page.Model, w *method.Way) bool {
	if m.Front < 0 || len(w.Acts) == 0 || m.Containers[m.Front].Kind != "dialog" || !isQuestion(m, m.Front) {
		return false
	}
	node, asks := w.Acts[len(w.Acts)-1].Node, false
	at := m.ControlAt(node)
	for i := range m.Lines {
		if l := &m.Lines[i]; m.Holds(m.Front, l.Node) {
			if lexicon.Refuses(l.Text, m.Lang) {
				return false
			}
			asks = asks || strings.Contains(l.Text, "?") && m.ControlAt(l.Node) < 0
		}
	}
	return asks && at >= 0 && m.Holds(m.Front, node) && effect.SaysOut(effect.ControlName(m, at))
}

// goneTogether reports whether all of several targets are gone from their list, and nothing else is.
func goneTogether(c *effect.Change, a *attempt) bool {
	gone, groups := map[int]bool{}, map[int]bool{}
	for i := range a.target {
		r := effect.RecordOf(c.Before, &a.target[i])
		if r < 0 || c.Record(r) >= 0 {
			return false
		}
		gone[r], groups[c.Before.Records[r].Group] = true, true
	}
	return len(gone) > 1 && !slices.ContainsFunc(c.Removed, func(r int) bool { return groups[c.Before.Records[r].Group] && !gone[r] })
}

// stays reports whether a page only said something when it should have gone on: no field came or went, and
// nothing that it said is gone.
func stays(c *effect.Change, before, now *page.Model) bool {
	return !c.URL && !c.Title && len(c.GoneLines) == 0 && !fieldsCame(before, now) && !fieldsCame(now, before)
}

// checksLater reports whether the text checks later what the page says now, and did not say.
func (p *planner) checksLater(c *effect.Change) bool {
	var says []string
	for _, l := range c.NewLines {
		says = append(says, c.After.Lines[l].Text)
	}
	return slices.ContainsFunc(p.next, func(g intent.Goal) bool {
		return g.Effect == intent.Check && g.Claim != nil && !g.Claim.Not && p.isOfRefusal(g.Claim, says)
	})
}

// acknowledged reports whether a page says something that it did not say, and that is no refusal, when what was
// filled in for an addition was handed in: its form is there no more, or is empty.
func acknowledged(c *effect.Change, a *attempt) bool {
	if a.goal.Effect != intent.Add || a.from == nil || len(a.goal.Fields) == 0 ||
		!slices.ContainsFunc(c.NewLines, func(i int) bool { return c.After.Lines[i].Live }) {
		return false
	}
	says := func(f *page.Field) string { return strings.Join(append([]string{f.Value}, f.Names...), "|") }
	held := map[string]bool{}
	for i := range c.Before.Fields {
		held[says(&c.Before.Fields[i])] = true
	}
	if slices.ContainsFunc(c.After.Fields, func(f page.Field) bool {
		return !f.Hidden && f.Kind == "text" && f.Value != "" &&
			!held[says(&f)]
	}) {
		return false
	}
	return took(c, a)
}

// took reports whether a page shows that it took what was handed in.
func took(c *effect.Change, a *attempt) bool {
	submit := *a.goal
	submit.Effect = intent.Submit
	v := effect.Judge(c, &submit, nil)
	return v.State == effect.Reached && !v.Refused
}

// alone reports whether the list of a target is seen no more because the target was opened, by this way
// or before it: nobody removed what else was in it.
func (p *planner) alone(a *attempt, c *effect.Change, w *method.Way, before *page.Model) bool {
	if a.goal.Effect == intent.Remove || len(a.target) != 1 {
		return false
	}
	r := effect.RecordOf(a.start, &a.target[0])
	return c.Left(r) && (w.Reveals || before != a.start && effect.Between(a.start, before).Left(r))
}

// leads reports whether a way followed a link to another address, where something is to be removed:
// what is not seen there was not removed.
func leads(before *page.Model, w *method.Way, c *effect.Change, a *attempt) bool {
	if a.goal.Effect != intent.Remove || !c.URL || len(w.Acts) == 0 {
		return false
	}
	node := w.Acts[len(w.Acts)-1].Node
	if node < 0 || node >= len(before.Nodes) || before.Nodes[node].Role != "link" {
		return false
	}
	k := before.ControlAt(node)
	return k < 0 || !lexicon.Removes(effect.ControlName(before, k), false)
}

// strong reports whether what a way did that only reveals is the effect itself: the target is
// gone, or the goal is to show more.
func strong(c *effect.Change, a *attempt) bool {
	switch a.goal.Effect {
	case intent.Open, intent.Expand, intent.Collapse, intent.Select, intent.Press, intent.Point, intent.Search, intent.Close:
		return true
	case intent.Add:
		return len(c.Added) > 0 && len(c.Opened) == 0
	case intent.Remove: // the cross of a chip that is a link
		return len(a.target) == 1 && a.target[0].What == find.Control && !c.URL && len(c.Opened) == 0
	}
	return false
}
