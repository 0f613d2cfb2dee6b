package intent

import (
	"slices"

	"github.com/slipway-qa/slipway/worker/generation/lexicon"
)

// unwished reads "I do not want the newsletter any more" and "I no longer want to receive it": who
// writes has it turned off, and on what he wants to receive. A wish that something is not done forbids that, and is none of these.
func (r *reader) unwished(c *clause) bool {
	denied, notified, want := false, false, 0
	for ; want < len(c.items) && !r.wants(&c.items[want]); want++ {
		it := &c.items[want]
		if it.mark || it.value != nil || it.content() || it.has(lexicon.Pronoun) && !it.has(lexicon.Pronoun, "i") {
			return false
		}
		denied = denied || it.has(lexicon.Negation)
	}
	if want == len(c.items) || c.that || c.cond != "" {
		return false
	}
	var rest []item
	var told []Span
	for i := want + 1; i < len(c.items); i++ {
		it := &c.items[i]
		plain := it.value == nil && !it.proper(r.lang)
		switch {
		case plain && it.has(lexicon.Negation) && !it.has(lexicon.Quantity, "still"):
			denied = true
		case plain && it.has(lexicon.Quantity, "anymore"):
		case plain && slices.ContainsFunc(it.verbs, notifies):
			told, notified = append(told, it.Span), true
		case plain && len(rest) == 0 && it.has(lexicon.Auxiliary, "become"):
			told = append(told, it.Span)
		case denied && r.deed(c.items, i) && !r.nounHere(c.items, i):
			return r.unwishedDeed(c, append(rest, c.items[i:]...), len(rest))
		default:
			rest = append(rest, *it)
		}
	}
	if !denied && !notified || !slices.ContainsFunc(rest, func(it item) bool { return it.content() }) {
		return false
	}
	c.kind, c.head, c.forbidden, c.told = goal, 0, denied, append(c.told, told...)
	head := c.items[want]
	head.entries = []lexicon.Entry{{Class: lexicon.Auxiliary, Lemma: head.fold, Name: "want", Names: []string{"want"}}}
	c.items = append([]item{head}, rest...)
	return true
}

// unwishedDeed reads "I do not want to delete it": it must not be done. Who does not want to see
// something may want it hidden, which no reading says.
func (r *reader) unwishedDeed(c *clause, items []item, head int) bool {
	if r.hasEffect(&items[head], Open) {
		r.lost = append(r.lost, items[head].Span)
		return false
	}
	c.kind, c.head, c.forbidden, c.items = goal, head, true, items
	return true
}

// wants reports whether an item says that somebody wants something: "want", "ich möchte".
func (r *reader) wants(it *item) bool {
	if it.has(lexicon.Auxiliary, "want") {
		return true
	}
	return len(it.words) > 1 && it.has(lexicon.Polite) && slices.ContainsFunc(it.words, func(w Word) bool {
		e := r.lex.Entry(w.Text, lexicon.Auxiliary)
		return e != nil && e.Name == "want"
	})
}

// notifies reports whether a verb says that somebody is told something: "receive", "let know".
func notifies(v lexicon.VerbForm) bool {
	return v.Effect == string(Toggle) && v.Attr("concept") == "notify" && v.Form != "third"
}
