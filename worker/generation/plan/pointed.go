package plan

import (
	"slices"
	"strings"

	"github.com/slipway-qa/slipway/worker/generation/find"
	"github.com/slipway-qa/slipway/worker/generation/intent"
	"github.com/slipway-qa/slipway/worker/generation/lexicon"
	"github.com/slipway-qa/slipway/worker/generation/method"
)

// pointed reports whether a description points to what was spoken of last: "that email".
func (p *planner) pointed(d *intent.Description) bool {
	words := strings.Fields(p.words(d.Span))
	lex := lexicon.Language(p.text.Lang)
	if lex == nil || len(words) < 2 || len(words) > 3 || d.Quoted || len(d.Having)+len(d.Relation)+len(d.State) > 0 ||
		d.Of != nil || d.In != nil {
		return false
	}
	return lex.Is(words[0], lexicon.Demonstrative) && len(p.them) == 1
}

// spotted reports whether "find the email by Milan" only says which thing the text goes on with:
// it is one that is seen already, and nothing is to be searched.
func (p *planner) spotted(g *intent.Goal) bool {
	goesOn := slices.ContainsFunc(p.next, func(n intent.Goal) bool { return n.Effect != intent.Check })
	if !goesOn || len(g.Target) != 1 || g.Lemma == "search" || g.To != nil || g.In != nil {
		return false
	}
	if (p.next[0].Effect == intent.Check || picksOfThem(&p.next[0])) && p.canSearch(g) {
		return false // what is left by it is looked at next
	}
	d := g.Target[0]
	if g.Text != nil {
		by := intent.Description{Span: g.Text.Span, Quoted: g.Text.Quoted, Words: []intent.Word{{Span: g.Text.Span, Text: g.Text.Text}}}
		d.Having = append(append([]intent.Description{}, d.Having...), by)
	}
	f := find.Description(p.model, &d, p.want(p.model, find.Record))
	if !f.Clear() || f.Plural || len(f.Candidates[0].Used) == 0 {
		return false
	}
	p.remember(p.model, f.Candidates[:1])
	p.useFound(&d, &f)
	p.useSpan(g.Verb, "it is seen")
	return true
}

// picksOfThem reports whether a goal is done to one of those that were spoken of: "the youngest of them".
func picksOfThem(g *intent.Goal) bool {
	return slices.ContainsFunc(g.Target, func(d intent.Description) bool {
		return d.Of != nil && d.Of.Pronoun && (d.Extreme != nil || d.Ordinal != 0)
	})
}

// canSearch reports whether the page has a field that is called a search.
func (p *planner) canSearch(g *intent.Goal) bool {
	t := &method.Task{Model: p.model, Goal: g, Lang: p.text.Lang, Inside: -1, Near: -1}
	return slices.ContainsFunc(method.Search(t, g.Target[0].Phrase()), func(w method.Way) bool { return !w.Guess && !w.Reveals })
}
