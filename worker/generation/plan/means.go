package plan

import (
	"slices"

	"github.com/slipway-qa/slipway/worker/generation/effect"
	"github.com/slipway-qa/slipway/worker/generation/find"
	"github.com/slipway-qa/slipway/worker/generation/intent"
	"github.com/slipway-qa/slipway/worker/generation/lexicon"
	"github.com/slipway-qa/slipway/worker/generation/page"
)

// useMeans marks what the text says of a control by which it is done, where what was pressed is
// called so at all: "with the little cross".
func (p *planner) useMeans(c *effect.Change, d *intent.Description) {
	aim := find.Aim{Effect: p.goal.Effect, Lemma: p.goal.Lemma, Words: []intent.Description{*d}, Lang: p.text.Lang, Record: -1, Within: -1, Hidden: true}
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
