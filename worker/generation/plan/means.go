package plan

import (
	"cmp"
	"slices"

	"github.com/slipway-qa/slipway/worker/generation/effect"
	"github.com/slipway-qa/slipway/worker/generation/find"
	"github.com/slipway-qa/slipway/worker/generation/intent"
	"github.com/slipway-qa/slipway/worker/generation/lexicon"
	"github.com/slipway-qa/slipway/worker/generation/page"
)

// useMeans marks what the text says of a control by which it is done, where what was pressed is
// called so at all: "with the little cross".
func (p *planner) useMeans(c *effect.Change, a *attempt, d *intent.Description) {
	p.useSize(a, d)
	aim := find.Aim{Effect: p.goal.Effect, Lemma: p.goal.Lemma, Words: []intent.Description{*d}, Lang: p.text.Lang,
		Record: -1, Within: -1, Hidden: true}
	for _, k := range find.Controls(c.Before, aim) {
		for _, u := range k.Used {
			if u.Span.From >= d.Span.From && u.Span.To <= d.Span.To {
				p.useSpan(d.Span, "the control")
				return
			}
		}
	}
	if d.Kind == intent.Icon || d.Kind == intent.Button || d.Kind == intent.Menu || d.Kind == intent.Link {
		p.useSpan(d.NounSpan, "the control")
	}
	p.useReveal(c, d)
	p.useShown(c, d)
}

// mostSmall is how wide and high a control is that people call small, in pixels.
const mostSmall = 40

// useSize marks the word for a small control where what was pressed at last is small.
func (p *planner) useSize(a *attempt, d *intent.Description) {
	if w, h := a.pressed.Box[2], a.pressed.Box[3]; w <= 0 || h <= 0 || w > mostSmall || h > mostSmall {
		return
	}
	for _, w := range d.Words {
		if lexicon.Means(cmp.Or(w.Lemma, w.Text), p.text.Lang, "small") {
			p.useSpan(w.Span, "it is small")
		}
	}
}

// useReveal marks that a control "appears on hover" where one that was not seen before was revealed by
// the pointer: it is what the text says of it.
func (p *planner) useReveal(c *effect.Change, d *intent.Description) {
	lex := lexicon.Language(p.text.Lang)
	revealed := slices.ContainsFunc(c.Before.Controls, func(k page.Control) bool { return k.Reveal >= 0 && k.Record >= 0 })
	if lex == nil || !revealed {
		return
	}
	for _, s := range wordsOf(d) {
		for _, v := range lex.Verbs(p.words(s)) {
			if v.Effect == string(intent.Point) || v.Property == string(intent.Appears) {
				p.useSpan(s, "it is seen there")
			}
		}
	}
}
