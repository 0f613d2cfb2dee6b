package plan

import (
	"context"
	"slices"
	"strings"
	"unicode"

	"github.com/slipway-qa/slipway/storage/authoring"
	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/worker/generation/effect"
	"github.com/slipway-qa/slipway/worker/generation/find"
	"github.com/slipway-qa/slipway/worker/generation/page"
)

// maxSuggestions is how many assertions are tried for a text that has none.
const maxSuggestions = 4

// suggest adds an assertion that holds at the end and says what the last goal changed, and
// returns others that hold as well. There is none where nothing stable can be said.
func (p *planner) suggest(ctx context.Context) ([]step.Step, error) {
	if p.cfg.MaxSteps > 0 && len(p.steps) >= p.cfg.MaxSteps || len(p.steps) == 0 {
		return nil, nil
	}
	m, err := p.look(ctx)
	if err != nil || m.Dialog != nil {
		return nil, err
	}
	var held []step.Step
	var why []authoring.Reason
	mark := p.mark()
	for i, a := range p.ideas(m) {
		if i == maxSuggestions {
			break
		}
		a.why = "Suggested: " + a.why
		message, err := p.assert(ctx, m, a, 0)
		if err != nil {
			return nil, err
		}
		if message == "" {
			held, why = append(held, p.steps[len(p.steps)-1]), append(why, p.why[len(p.why)-1])
			p.drop(mark)
		}
	}
	if len(held) == 0 {
		return nil, nil
	}
	p.keep(held[0], why[0].Description)
	p.note("suggested assertion", "The intent asks for none. This one holds at its end: "+why[0].Description)
	return held[1:], nil
}

// ideas returns assertions that may hold and say something, the best first.
func (p *planner) ideas(m *page.Model) []assertion {
	var list []assertion
	if p.before != nil && p.before.Dialog == nil {
		c := effect.Between(p.before, m)
		list = append(list, changedIdeas(c)...)
	}
	return append(list, standing(m)...)
}

func changedIdeas(c *effect.Change) []assertion {
	m := c.After
	var list []assertion
	lines := slices.Clone(c.NewLines)
	slices.SortStableFunc(lines, func(a, b int) int { return rank(&m.Lines[b]) - rank(&m.Lines[a]) })
	for _, i := range lines[:min(len(lines), 2)] {
		l := &m.Lines[i]
		if isStable(l.Text) {
			list = append(list, assertion{node: l.Node, own: true, there: true, why: "the text came with the last action",
				matcher: step.Matcher{Name: step.TextIs, Args: step.MatcherArgs{Value: strings.Join(strings.Fields(l.Text), " "),
					Mode: step.Contains}}})
		}
	}
	for _, p := range c.Fields[:min(len(c.Fields), 2)] {
		f := &m.Fields[p.After]
		n := &m.Nodes[f.Node]
		if n.Password || strings.ContainsAny(f.Value, "•*") {
			continue
		}
		if a, ok := valueOf(m, &find.Check{Node: f.Node}, f.Value); ok {
			a.why = "the field is as the test left it"
			list = append(list, a)
		}
	}
	for _, r := range c.Removed[:min(len(c.Removed), 1)] {
		if t := c.Before.Records[r].Title; isStable(t) && !c.URL {
			list = append(list, assertion{node: -1, selector: &step.Selector{Type: step.ByText, Value: t, Exact: true},
				why: "it went with the last action", matcher: step.Matcher{Name: step.Hidden}})
		}
	}
	for _, p := range c.Controls[:min(len(c.Controls), 1)] {
		if a, ok := stateOf(m, &find.Check{Node: m.Controls[p.After].Node}); ok {
			a.why = "the control is as the test left it"
			list = append(list, a)
		}
	}
	return list
}

// rank is how likely a line is the effect of an action.
func rank(l *page.Line) int {
	switch {
	case l.Live:
		return 3
	case l.Heading > 0:
		return 2
	case l.Record >= 0:
		return 1
	}
	return 0
}

// standing asserts what the page shows in any case: its first heading, its title.
func standing(m *page.Model) []assertion {
	var list []assertion
	for i := range m.Lines {
		if l := &m.Lines[i]; l.Heading > 0 && isStable(l.Text) && !m.Nodes[l.Node].Hidden {
			list = append(list, assertion{node: l.Node, own: true, there: true, why: "the heading of the page",
				matcher: step.Matcher{Name: step.TextIs, Args: step.MatcherArgs{Value: strings.Join(strings.Fields(l.Text), " "),
					Mode: step.Contains}}})
			break
		}
	}
	if isStable(m.Title) {
		list = append(list, assertion{node: -1, why: "the title of the page", matcher: step.Matcher{Name: step.TitleIs,
			Args: step.MatcherArgs{Value: m.Title}}})
	}
	return list
}

// isStable reports whether a text is likely to be the same at the next run: it has words, and no
// times or long numbers.
func isStable(text string) bool {
	if len(text) < 2 || len(text) > 160 {
		return false
	}
	letters, digits, run := 0, 0, 0
	for _, r := range text {
		switch {
		case unicode.IsLetter(r):
			letters++
			run = 0
		case unicode.IsDigit(r):
			digits++
			if run++; run > 4 {
				return false
			}
		case r == ':' && run > 0, r == '•', r == '*':
			return false
		default:
			run = 0
		}
	}
	return letters >= 2 && letters > digits
}
