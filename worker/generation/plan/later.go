package plan

import (
	"slices"
	"strings"

	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/worker/generation/effect"
	"github.com/slipway-qa/slipway/worker/generation/find"
	"github.com/slipway-qa/slipway/worker/generation/intent"
	"github.com/slipway-qa/slipway/worker/generation/lexicon"
	"github.com/slipway-qa/slipway/worker/generation/page"
)

// nextSubmits reports whether the goal that follows hands in, or none may.
func (p *planner) nextSubmits() bool {
	for i := range p.reading.Goals {
		if g := &p.reading.Goals[i]; g.Forbidden && (g.Effect == intent.Submit || g.Effect == intent.Confirm) {
			return true
		}
	}
	for i := range p.next {
		if p.next[i].Forbidden {
			continue
		}
		if n := &p.next[i]; n.Effect == intent.Submit || n.Effect == intent.Confirm {
			return true
		}
		break
	}
	return p.laterPress()
}

// laterPress reports whether the text goes on in the form and then presses what its own verb is
// called: "sign up with ..., tick the rules and click Sign up".
func (p *planner) laterPress() bool {
	for i := range p.next {
		switch n := &p.next[i]; n.Effect {
		case intent.Set, intent.Choose, intent.Complete, intent.Toggle, intent.Act:
		case intent.Press:
			return p.goal != nil && len(n.Target) == 1 && strings.EqualFold(p.words(n.Target[0].Span), p.goal.Lemma)
		default:
			return false
		}
	}
	return false
}

// useMade marks the nouns of what was made and where. A kind that stands before "called" is any word:
// the page must have it.
func (p *planner) useMade(g *intent.Goal) {
	for i := range g.Target {
		d := &g.Target[i]
		for _, s := range d.State {
			if !s.Not && lexicon.Means(s.Text, p.text.Lang, "new") {
				p.useSpan(s.Span, "made")
			}
		}
		if !d.Called {
			p.useSpan(d.NounSpan, "what was made")
		} else if p.model != nil {
			kind := intent.Word{Span: d.NounSpan, Text: d.Noun}
			p.useShown(effect.Between(p.before, p.model), &intent.Description{Span: d.NounSpan, Words: []intent.Word{kind}})
		}
	}
	p.useSpan(g.Verb, "made")
	p.rememberMade(g)
	if g.To == nil || p.model == nil || p.onlyNamesControl(g.To) {
		return
	}
	if c := effect.Between(p.before, p.model); !p.addedBeside(c, g) {
		p.useShown(c, g.To)
	}
}

// onlyNamesControl reports whether a place is nothing on the page but a control that was not pressed and
// shows nothing: what was made elsewhere is not in the basket because there is a button for it.
func (p *planner) onlyNamesControl(d *intent.Description) bool {
	m := p.model
	f := find.Description(m, d, find.Want{Lang: p.text.Lang, Within: -1, Hidden: true})
	for i := range f.Candidates {
		c := &f.Candidates[i]
		if len(c.Missing) > 0 {
			continue
		}
		if c.What != find.Control || names(m, c) {
			return false
		}
		name := effect.ControlName(m, c.Index)
		if slices.ContainsFunc(p.steps, func(s step.Step) bool {
			sel := s.Tool.Args.Selector
			return sel != nil && (sel.Name == name || sel.Value == name)
		}) {
			return false
		}
	}
	return len(f.Candidates) > 0 && len(f.Candidates[0].Missing) == 0
}

// rememberMade keeps the one thing that came by an addition and shows what it was to be called: the texts
// after it say it.
func (p *planner) rememberMade(g *intent.Goal) {
	if p.model == nil || p.before == nil || len(g.Target) != 1 || p.model.Dialog != nil || p.before.Dialog != nil {
		return
	}
	names := []string{effect.Fold(g.Target[0].Phrase())}
	if names[0] == "" { // "a new task: wash the windows"
		for i := range g.Fields {
			if f := &g.Fields[i]; !f.Off && !f.Keep && f.Value.Number == nil && f.Value.Date == nil {
				names = append(names, effect.Fold(f.Value.Text))
			}
		}
	}
	var made []find.Candidate
	for _, r := range effect.Between(p.before, p.model).Added {
		title := effect.Fold(p.model.Records[r].Title)
		if rec := &p.model.Records[r]; slices.ContainsFunc(names, func(name string) bool { return name != "" && strings.Contains(title, name) }) {
			made = append(made, find.Candidate{What: find.Record, Index: r, Node: rec.Node, Sub: -1, Score: 1})
		}
	}
	if len(made) == 0 { // a link or tab may be all that there is of it
		was := map[string]bool{"": true}
		for i := range p.before.Controls {
			was[effect.Fold(effect.ControlName(p.before, i))] = true
		}
		for i := range p.model.Controls {
			node, name := p.model.Controls[i].Node, effect.Fold(effect.ControlName(p.model, i))
			if !was[name] && slices.Contains(names, name) && !p.model.Nodes[node].Hidden {
				made = append(made, find.Candidate{What: find.Control, Index: i, Node: node, Sub: -1, Score: 1})
			}
		}
	}
	if len(made) == 1 {
		p.remember(p.model, made)
		p.them[0].made = true
	}
}

// isQuestion reports whether a container has buttons and nothing to fill in.
func isQuestion(m *page.Model, container int) bool {
	if container < 0 || m.Containers[container].Kind == "menu" {
		return false
	}
	for i := range m.Fields {
		if m.Holds(container, m.Fields[i].Node) && m.Fields[i].Required && m.Fields[i].Value == "" {
			return false
		}
	}
	for i := range m.Controls {
		if m.Holds(container, m.Controls[i].Node) {
			return true
		}
	}
	return false
}
