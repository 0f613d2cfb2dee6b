package plan

import (
	"slices"
	"strings"

	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/worker/generation/effect"
	"github.com/slipway-qa/slipway/worker/generation/find"
	"github.com/slipway-qa/slipway/worker/generation/intent"
	"github.com/slipway-qa/slipway/worker/generation/method"
	"github.com/slipway-qa/slipway/worker/generation/page"
)

// fieldsCame reports whether there is something to fill in that was not there, or holds something
// else: a form for what was pressed. What stood on the page before is for something else.
func fieldsCame(before, now *page.Model) bool {
	c := effect.Between(before, now)
	if c.URL || len(c.Fields) > 0 {
		return true
	}
	seen := map[string]bool{}
	for i := range before.Fields {
		if f := &before.Fields[i]; !f.Hidden {
			seen[before.Nodes[f.Node].Ref] = true
		}
	}
	return slices.ContainsFunc(now.Fields, func(f page.Field) bool { return !f.Hidden && !seen[now.Nodes[f.Node].Ref] })
}

// emptied reports whether a field of text on the page lost what it held, or the thing of a list that was open is so
// no more and no other one is: its form is for something new now.
func emptied(before, now *page.Model) bool {
	c := effect.Between(before, now)
	return !c.URL && opensThing(before) && !opensThing(now) || !c.URL && slices.ContainsFunc(c.Fields, func(f effect.Pair) bool {
		kind := now.Fields[f.After].Kind
		return (kind == "text" || kind == "editor") && now.Fields[f.After].Value == "" && before.Fields[f.Before].Value != ""
	})
}

// opensThing reports whether a thing of a list is marked as the one that is open.
func opensThing(m *page.Model) bool {
	return slices.ContainsFunc(m.Records, func(r page.Record) bool {
		return r.Group >= 0 && !m.Nodes[r.Node].Hidden && len(m.Groups[r.Group].Records) > 1 &&
			slices.ContainsFunc(r.States, func(s string) bool { return s == "on" || s == "selected" || s == "active" || s == "current" })
	})
}

// still returns the container of one model on a later one; -1.
func (p *planner) still(from, to *page.Model, container int) int {
	if container < 0 || container >= len(from.Containers) {
		return -1
	}
	ref := from.Nodes[from.Containers[container].Node].Ref
	for i := range to.Containers {
		if to.Nodes[to.Containers[i].Node].Ref == ref && !to.Containers[i].Hidden {
			return i
		}
	}
	return to.Front
}

// needsSubmit reports whether what was filled in stands in a dialog or form that is still open
// and has to be handed in.
func (p *planner) needsSubmit(a *attempt, m *page.Model, l level) bool {
	if m.Front >= 0 && m.Front < len(m.Containers) && m.Containers[m.Front].Kind == "dialog" {
		return true
	}
	switch a.goal.Effect {
	case intent.Add, intent.Act, intent.Submit:
		return p.handsIn(a, m, l)
	}
	return false
}

// spoils reports whether a form that is still there holds another value in one of its fields: what was pressed
// is a part of it (the plus of a number), and hands nothing in. A form may well set a field back that stands
// elsewhere, where a message says that it took the rest.
func spoils(a *attempt, before, now *page.Model, w *method.Way) bool {
	c := effect.Between(before, now)
	if len(c.Added) > 0 || c.URL || len(w.Acts) == 0 {
		return false
	}
	own, made := fieldAround(before, w.Acts[len(w.Acts)-1].Node), saysMade(c, a)
	return slices.ContainsFunc(c.Fields, func(f effect.Pair) bool {
		was, is := &before.Fields[f.Before], &now.Fields[f.After]
		if was.Hidden || is.Hidden || made && f.Before != own {
			return false
		}
		return was.Value != "" && is.Value != "" && was.Kind != "shown" && was.Kind != "switch"
	})
}

// fieldAround returns the one field in the smallest element around a node that has any; -1.
func fieldAround(m *page.Model, node int) int {
	for up := node; up >= 0; up = m.Nodes[up].Parent {
		own, n := -1, 0
		for i := range m.Fields {
			if f := &m.Fields[i]; !f.Hidden && m.Inside(up, f.Node) {
				own, n = i, n+1
			}
		}
		if n > 1 {
			return -1
		}
		if n == 1 {
			return own
		}
	}
	return -1
}

// stillAsks reports whether a form that came is there as it was filled in, and nothing was added: what the page
// says beside it is the form's own, unless it is a message of what was made.
func stillAsks(a *attempt, now *page.Model, w *method.Way) bool {
	c := effect.Between(a.start, now)
	if len(c.Added) > 0 || !w.Guess && !w.Reveals && saysMade(c, a) {
		return false
	}
	seen := map[string]bool{}
	for i := range a.start.Fields {
		if was := &a.start.Fields[i]; !was.Hidden {
			seen[strings.Join(was.Names, "|")] = true
		}
	}
	return slices.ContainsFunc(now.Fields, func(f page.Field) bool {
		return !f.Hidden && f.Value != "" && now.Nodes[f.Node].Editable && !seen[strings.Join(f.Names, "|")]
	})
}

// saysMade reports whether a message that came, and is no refusal, names what a goal adds.
func saysMade(c *effect.Change, a *attempt) bool {
	named := slices.ContainsFunc(titleFields(a.goal), func(f intent.Field) bool {
		name := effect.Fold(f.Value.Text)
		return name != "" && slices.ContainsFunc(c.NewLines, func(i int) bool {
			line := &c.After.Lines[i]
			return line.Live && strings.Contains(effect.Fold(line.Text), name)
		})
	})
	return named && took(c, a)
}

// handsIn reports whether what came to be filled in has a control that hands it in: what was typed
// beside it is no reply yet.
func (p *planner) handsIn(a *attempt, m *page.Model, l level) bool {
	for _, effectOf := range []intent.Effect{a.goal.Effect, intent.Submit} {
		aim := find.Aim{Effect: effectOf, Lemma: a.goal.Lemma, Lang: p.text.Lang, Record: -1, Within: -1}
		for _, c := range find.Controls(m, aim) {
			if c.Score > leastSaid && l.refs[m.Nodes[c.Node].Ref] {
				return true
			}
		}
	}
	return false
}

// opened returns the container that is open now and was not; -1.
func opened(before, now *page.Model) int {
	c := effect.Between(before, now)
	if now.Front >= 0 && (slices.Contains(c.Opened, now.Front) || before.Front < 0) {
		return now.Front
	}
	for _, i := range c.Opened {
		switch now.Containers[i].Kind {
		case "dialog", "menu", "panel", "form", "list", "section":
			return i
		}
	}
	if now.Front >= 0 {
		return now.Front
	}
	return -1
}

// newNodes returns the nodes that came.
func newNodes(before, now *page.Model) []int {
	seen := make(map[string]bool, len(before.Nodes))
	for i := range before.Nodes {
		if !before.Nodes[i].Hidden {
			seen[before.Nodes[i].Ref+before.Nodes[i].Role] = true
		}
	}
	var list []int
	for i := range now.Nodes {
		if !now.Nodes[i].Hidden && !seen[now.Nodes[i].Ref+now.Nodes[i].Role] {
			list = append(list, i)
		}
	}
	return list
}

// selectedSince reports whether what an attempt is for was selected on the way.
func (p *planner) selectedSince(a *attempt, m *page.Model) bool {
	if len(a.target) != 1 || m == a.start {
		return false
	}
	was := effect.RecordOf(a.start, &a.target[0])
	if was < 0 || slices.Contains(a.start.Records[was].States, "selected") {
		return false
	}
	c, ok := p.mapped(a.start, m, &a.target[0])
	if !ok {
		return false
	}
	is := effect.RecordOf(m, &c)
	return is >= 0 && slices.Contains(m.Records[is].States, "selected")
}

// points reports whether a way only puts the pointer over something.
func points(w *method.Way) bool {
	return len(w.Acts) > 0 && !slices.ContainsFunc(w.Acts, func(a method.Act) bool { return a.Tool != step.Hover })
}
