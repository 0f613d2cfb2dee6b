package plan

import (
	"slices"
	"strings"

	"github.com/slipway-qa/slipway/worker/generation/effect"
	"github.com/slipway-qa/slipway/worker/generation/intent"
	"github.com/slipway-qa/slipway/worker/generation/lexicon"
	"github.com/slipway-qa/slipway/worker/generation/word"
)

// expectsRefusal reports whether the text goes on with a check of what the page refused what was handed in
// with: of an error, or of the words of that message. Another check would hold on the form as it was.
func (p *planner) expectsRefusal(c *effect.Change) bool {
	var messages []string
	for _, l := range c.NewLines {
		if text := c.After.Lines[l].Text; lexicon.Refuses(text, c.After.Lang) {
			messages = append(messages, text)
		}
	}
	for i := range p.next {
		g := &p.next[i]
		if g.Effect != intent.Check || g.Claim == nil {
			return false
		}
		if !g.Claim.Not && g.Claim.Property != intent.Gone && g.Claim.Property != intent.Vanishes && p.isOfRefusal(g.Claim, messages) {
			return true
		}
	}
	return false
}

// isOfRefusal reports whether a claim speaks of an error, or says words of a message. One word may be
// anything that a message names ("Ann is taken"), and so may be the value of a thing.
func (p *planner) isOfRefusal(c *intent.Claim, messages []string) bool {
	says := func(text string) bool {
		return strings.Contains(text, " ") && slices.ContainsFunc(messages, func(m string) bool { return word.Contains(m, text) })
	}
	ofPage := true
	for i := range c.Subject {
		text := c.Subject[i].Phrase()
		ofError := c.Subject[i].Kind == intent.Message || c.Subject[i].Kind == "" && len(c.Subject[i].Words) <= 2 && c.Subject[i].Of == nil
		if ofError && lexicon.Refuses(phrase(&c.Subject[i]), p.text.Lang) && c.Property != intent.Is &&
			c.Property != intent.Contains || len(c.Values) == 0 && says(text) {
			return true
		}
		ofPage = ofPage && text == ""
	}
	return slices.ContainsFunc(c.Values, func(v intent.Value) bool {
		return lexicon.Refuses(v.Text, p.text.Lang) ||
			ofPage && says(v.Text)
	}) ||
		slices.ContainsFunc(c.Be, func(s intent.State) bool { return lexicon.Refuses(p.words(s.Span), p.text.Lang) })
}
