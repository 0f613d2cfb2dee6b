package plan

import (
	"strings"

	"github.com/slipway-qa/slipway/worker/generation/effect"
	"github.com/slipway-qa/slipway/worker/generation/intent"
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

// useMade marks the nouns of what was made and where.
func (p *planner) useMade(g *intent.Goal) {
	for i := range g.Target {
		p.useSpan(g.Target[i].NounSpan, "what was made")
	}
	p.useSpan(g.Verb, "made")
	if g.To != nil && p.model != nil {
		p.useShown(effect.Between(p.before, p.model), g.To)
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

// checksNext reports whether the text goes on with what must be seen.
func (p *planner) checksNext() bool {
	return len(p.next) > 0 && p.next[0].Effect == intent.Check
}
