package intent

import (
	"slices"

	"github.com/slipway-qa/slipway/worker/generation/lexicon"
)

// wholeCart reports whether what is ordered is the cart, or all that is in it.
func (r *reader) wholeCart(g *Goal) bool {
	if len(g.Target) != 1 || g.Target[0].Quoted || g.Target[0].Ordinal != 0 || g.Target[0].Count > 0 {
		return false
	}
	cart := func(text string) bool { return lexicon.Means(text, r.lang, "cart") }
	d := &g.Target[0]
	if len(d.Words) == 1 {
		return d.In == nil && d.Of == nil && cart(d.Words[0].Text)
	}
	if len(d.Words) > 1 {
		return false
	}
	for _, holds := range []*Description{d.In, d.Of} {
		if holds != nil && len(holds.Words) == 1 && cart(holds.Words[0].Text) {
			return true
		}
	}
	if d.All && g.Become != nil && cart(g.Become.Text) {
		d.In, g.Become = &Description{Span: g.Become.Span, Words: []Word{{Span: g.Become.Span, Text: g.Become.Text}}}, nil
		return true
	}
	return false
}

// holdsTaken reports whether an item names what things are taken into and out of again: a cart, the
// favourites.
func (r *reader) holdsTaken(it item) bool {
	return it.value == nil && lexicon.Means(it.text, r.lang, "cart", "favorite")
}

// takenOut reports whether items say that something is taken out of what holds it for a while, or out
// of anything again.
func (r *reader) takenOut(items []item) bool {
	from, again := false, false
	for i := range items {
		again = again || items[i].has(lexicon.Quantity, "again")
		if !items[i].has(lexicon.Preposition, "from") || items[i].value != nil {
			continue
		}
		from = true
		if slices.ContainsFunc(items[i+1:min(i+3, len(items))], r.holdsTaken) {
			return true
		}
	}
	return from && again
}

// inCart reports whether a description is all that a cart holds.
func (r *reader) inCart(d *Description) bool {
	if d.In == nil || !d.All && !d.Pronoun || len(d.Words)+len(d.State)+len(d.Having) > 0 || d.Extreme != nil || d.Ordinal != 0 {
		return false
	}
	return len(d.In.Words) == 1 && lexicon.Means(d.In.Words[0].Text, r.lang, "cart")
}
