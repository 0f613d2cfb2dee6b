package plan

import (
	"fmt"
	"slices"
	"strings"

	"github.com/slipway-qa/slipway/worker/generation/intent"
)

// account returns an error where words of the text were neither executed nor checked.
func (p *planner) account() error {
	var left []string
	for i := range p.reading.Goals {
		for _, s := range p.left(&p.reading.Goals[i]) {
			if word := fmt.Sprintf("%q", p.words(s)); !slices.Contains(left, word) {
				left = append(left, word)
			}
		}
	}
	if len(left) == 0 {
		return nil
	}
	return p.say("what it says of " + strings.Join(left, ", ") + " was neither done nor checked")
}

// left returns the words of a goal that were neither executed nor checked.
func (p *planner) left(g *intent.Goal) []intent.Span {
	if g.Forbidden {
		return nil
	}
	var list []intent.Span
	for _, s := range spansOf(g) {
		if !p.covered(s) {
			list = append(list, s)
		}
	}
	return list
}

// covered reports whether a span is in what was executed or checked.
func (p *planner) covered(s intent.Span) bool {
	if s.To <= s.From {
		return true
	}
	// The parts may be explained one by one.
	at := s.From
	for at < s.To {
		most := at
		for _, u := range p.used {
			if u.Span.From <= at && u.Span.To > most {
				most = u.Span.To
			}
		}
		if most == at {
			if at < len(p.text.Source) && strings.ContainsRune(" \t\n\"'.,;:!?()„“”«»‘’-–", rune(p.text.Source[at])) {
				at++
				continue
			}
			return !isContent(p.text.Source[at:s.To])
		}
		at = most
	}
	return true
}

// isContent reports whether a text has a letter or digit.
func isContent(text string) bool {
	return strings.IndexFunc(text, func(r rune) bool {
		return r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r > 0xbf
	}) >= 0
}

// spansOf returns the content words of a goal.
func spansOf(g *intent.Goal) []intent.Span {
	var list []intent.Span
	list = append(list, g.Verb)
	for i := range g.Target {
		list = append(list, wordsOf(&g.Target[i])...)
		if d := &g.Target[i]; d.Called {
			list = append(list, d.NounSpan)
		}
	}
	for _, d := range []*intent.Description{g.To, g.From, g.In, g.Measure, g.With} {
		if d != nil {
			list = append(list, wordsOf(d)...)
		}
	}
	for _, v := range []*intent.Value{g.Become, g.Text, g.Amount} {
		if v != nil {
			list = append(list, v.Span)
		}
	}
	for i := range g.Fields {
		f := &g.Fields[i]
		if f.Name != nil {
			list = append(list, wordsOf(f.Name)...)
		}
		list = append(list, f.Value.Span)
	}
	for _, c := range []*intent.Claim{g.Claim, g.If} {
		if c != nil {
			list = append(list, claimWords(c)...)
		}
	}
	return list
}

// wordsOf returns the content words of a description.
func wordsOf(d *intent.Description) []intent.Span {
	var list []intent.Span
	for _, w := range d.Words {
		list = append(list, w.Span)
	}
	for _, s := range d.State {
		list = append(list, s.Span)
	}
	if d.Extreme != nil {
		list = append(list, d.Extreme.Span)
	}
	for i := range d.Compare {
		list = append(list, d.Compare[i].Value.Span)
	}
	for _, inner := range []*intent.Description{d.Of, d.In} {
		if inner != nil {
			list = append(list, wordsOf(inner)...)
		}
	}
	for _, some := range [][]intent.Description{d.Having, d.Lacking, d.Except, d.Or} {
		for i := range some {
			list = append(list, wordsOf(&some[i])...)
		}
	}
	for i := range d.Relation {
		list = append(list, wordsOf(&d.Relation[i].To)...)
	}
	return list
}

func claimWords(c *intent.Claim) []intent.Span {
	var list []intent.Span
	for i := range c.Subject {
		list = append(list, wordsOf(&c.Subject[i])...)
	}
	for _, d := range []*intent.Description{c.Where, c.By} {
		if d != nil {
			list = append(list, wordsOf(d)...)
		}
	}
	for i := range c.Values {
		list = append(list, c.Values[i].Span)
	}
	for i := range c.Be {
		list = append(list, c.Be[i].Span)
	}
	return list
}

// useGoal marks all words of a goal: it is settled as a whole.
func (p *planner) useGoal(g *intent.Goal, by string) {
	p.useSpan(g.Span, by)
	for _, s := range spansOf(g) {
		p.useSpan(s, by)
	}
}
