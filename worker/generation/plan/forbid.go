package plan

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/worker/generation/effect"
	"github.com/slipway-qa/slipway/worker/generation/find"
	"github.com/slipway-qa/slipway/worker/generation/intent"
	"github.com/slipway-qa/slipway/worker/generation/lexicon"
	"github.com/slipway-qa/slipway/worker/generation/method"
	"github.com/slipway-qa/slipway/worker/generation/page"
)

// sureName is the score of a control whose name is the verb itself, or means it.
const sureName = 0.9

// isForbidden reports whether a way presses what the text says not to: a control called by the
// verb of a forbidden goal, of its target where it has one.
func (p *planner) isForbidden(m *page.Model, w *method.Way) bool {
	for i := range p.reading.Goals {
		g := &p.reading.Goals[i]
		if !g.Forbidden || p.goal != nil && g.Effect == p.goal.Effect && len(g.Target) == 0 && g.Lemma == p.goal.Lemma {
			continue
		}
		if p.pressesForbidden(m, w, g) {
			return true
		}
		aim := find.Aim{Effect: g.Effect, Lemma: g.Lemma, Lang: p.text.Lang, Record: -1, Within: -1}
		if len(g.Target) > 0 {
			if aim.Record = p.forbiddenRecord(m, g); aim.Record < 0 {
				continue
			}
		} else if slices.ContainsFunc(w.Acts, func(a method.Act) bool { return a.Tool == step.Click && begins(m, a.Node, g) }) {
			return true
		}
		for _, c := range find.Controls(m, aim) {
			if c.Score < sureName {
				break
			}
			for _, a := range w.Acts {
				if a.Node >= 0 && a.Node == c.Node && a.Tool == "click" {
					return true
				}
			}
		}
	}
	return false
}

// begins reports whether the name of a control begins with the verb of a goal, or one that means it:
// "Publish rota".
func begins(m *page.Model, node int, g *intent.Goal) bool {
	c := m.ControlAt(node)
	if c < 0 {
		return false
	}
	words := strings.Fields(effect.ControlName(m, c))
	if len(words) == 0 {
		return false
	}
	return strings.EqualFold(words[0], g.Lemma) || g.Concept != "" && lexicon.Means(words[0], "", g.Concept)
}

// pressesForbidden reports whether a way presses the control that the text says not to press.
func (p *planner) pressesForbidden(m *page.Model, w *method.Way, g *intent.Goal) bool {
	if g.Effect != intent.Press && g.Effect != intent.Act && g.Effect != intent.Submit {
		return false
	}
	for i := range g.Target {
		want := p.want(m, find.Control)
		want.Told = ""
		f := find.Description(m, &g.Target[i], want)
		if !f.Clear() {
			continue
		}
		for _, a := range w.Acts {
			if slices.ContainsFunc(f.Candidates[:1], func(c find.Candidate) bool { return c.Node == a.Node }) && a.Tool == step.Click {
				return true
			}
		}
	}
	return false
}

// forbiddenRecord is the record of the target of a forbidden goal; -1.
func (p *planner) forbiddenRecord(m *page.Model, g *intent.Goal) int {
	f := find.Description(m, &g.Target[0], p.want(m, find.Record))
	if !f.Clear() || f.Plural {
		return -1
	}
	return effect.RecordOf(m, &f.Candidates[0]) // what was spoken of may be no record
}

// prepare notes what must stay as it is: the targets of forbidden goals, as the page opens.
func (p *planner) prepare(ctx context.Context) error {
	if err := p.contradiction(); err != nil {
		return err
	}
	m, err := p.look(ctx)
	if err != nil {
		return err
	}
	for i := range p.reading.Goals {
		g := &p.reading.Goals[i]
		if !g.Forbidden {
			continue
		}
		for k := range g.Target {
			f := find.Description(m, &g.Target[k], p.want(m, find.Field, find.Option))
			if f.Clear() && !f.Plural && len(f.Candidates) > 0 && f.Candidates[0].Index < len(m.Fields) {
				p.keepField(m, &f.Candidates[0])
			}
		}
	}
	return nil
}

// contradiction returns an error where the text says of one thing to do it and not to do it: whatever
// is done is not what it says.
func (p *planner) contradiction() error {
	goals := p.reading.Goals
	for i := range goals {
		for k := range goals {
			if i == k || !denies(&goals[k], &goals[i]) {
				continue
			}
			err := p.say(fmt.Sprintf("%q and %q contradict each other", p.words(goals[min(i, k)].Span), p.words(goals[max(i, k)].Span)))
			var not *NotUnderstoodError
			if errors.As(err, &not) {
				not.final = true
			}
			return err
		}
	}
	return nil
}

// denies reports whether a goal says that another one, which is to be done, must not be: it is the
// same and forbidden, or what it is done to must stay in the other state.
func denies(no, yes *intent.Goal) bool {
	if yes.Forbidden || yes.If != nil || no.If != nil || yes.Otherwise || no.Otherwise || yes.Effect == intent.Check {
		return false
	}
	if no.Forbidden {
		return no.Effect == yes.Effect && no.Lemma == yes.Lemma && len(no.Fields)+len(yes.Fields) == 0 && sameThings(no.Target, yes.Target)
	}
	c := no.Claim
	if c == nil || no.Lemma == "" || c.Property != intent.Is || c.Not || yes.State != "checked" ||
		!sameThings(c.Subject, yes.Target) || len(yes.Target) == 0 {
		return false // what is only looked at may come out false
	}
	return slices.ContainsFunc(c.Be, func(s intent.State) bool { return s.Name == "unchecked" && !s.Not })
}

// sameThings reports whether two lists of descriptions say the same in the same words.
func sameThings(a, b []intent.Description) bool {
	return slices.EqualFunc(a, b, func(x, y intent.Description) bool {
		return strings.EqualFold(phrase(&x), phrase(&y)) && x.Ordinal == y.Ordinal && x.In == nil && y.In == nil && x.Of == nil && y.Of == nil
	})
}

// forbidden looks whether anything happened that the text says must not.
func (p *planner) forbidden(ctx context.Context) error {
	m, err := p.look(ctx)
	if err != nil {
		return err
	}
	for i := range p.kept {
		k := &p.kept[i]
		for f := range m.Fields {
			if m.Nodes[m.Fields[f].Node].Ref == k.ref && fieldState(m, &m.Fields[f]) != k.value {
				return p.say(fmt.Sprintf("%q changed, and the text says that it stays", k.label))
			}
		}
	}
	if p.first == nil || p.first.Dialog != nil || m.Dialog != nil {
		return nil
	}
	c := effect.Between(p.first, m)
	for i := range p.reading.Goals {
		g := &p.reading.Goals[i]
		if !g.Forbidden {
			continue
		}
		for k := range g.Target {
			f := find.Description(p.first, &g.Target[k], find.Want{Kinds: []find.What{find.Record}, Lang: p.text.Lang, Within: -1})
			if !f.Clear() || f.Plural || len(f.Candidates) == 0 {
				continue
			}
			r := f.Candidates[0].Index
			if c.Record(r) < 0 && !c.URL && groupSeen(c, r) {
				return p.say(fmt.Sprintf("%q is gone, and the text says that it stays", p.first.Records[r].Title))
			}
		}
	}
	return nil
}

// groupSeen reports whether others of the group of a record are still seen.
func groupSeen(c *effect.Change, record int) bool {
	g := c.Before.Records[record].Group
	if g < 0 || g >= len(c.Before.Groups) {
		return false
	}
	for _, r := range c.Before.Groups[g].Records {
		if r != record && c.Record(r) >= 0 {
			return true
		}
	}
	return false
}
