package find

import (
	"strings"

	"github.com/slipway-qa/slipway/worker/generation/intent"
	"github.com/slipway-qa/slipway/worker/generation/word"
)

// ofWindow returns what of the window itself a subject may be: its title or its address. sure is
// true where the text says so ("the title of the page", "the URL"), and nothing on the page is
// meant; "the title" alone may be a heading or a field.
func (k *claimer) ofWindow(d *intent.Description) (property intent.Property, sure bool) {
	if len(d.Having)+len(d.Lacking)+len(d.State) > 0 || d.Ordinal != 0 || d.Extreme != nil || d.In != nil && !wholePage(d.In) {
		return "", false
	}
	if d.Of != nil && (len(d.Of.Words) > 0 || d.Of.Kind != intent.PageKind && d.Of.Kind != intent.WindowKind) {
		return "", false
	}
	sure = d.Of != nil || d.In != nil
	name := d.Noun
	for i := range d.Words {
		switch w := d.Words[i].Text; {
		case k.ix.words.anyOf(k.ix.words.concepts(w, langsOf(k.w.Lang)...), "page", "window_glass", "tab", "browser"):
			sure = true
		case name == "":
			name = w
		default:
			return "", false
		}
	}
	switch cs := k.ix.words.concepts(name, langsOf(k.w.Lang)...); {
	case name == "":
		return "", false
	case k.ix.words.anyOf(cs, "link_url"):
		return intent.Address, true
	case k.ix.words.anyOf(cs, "address"):
		return intent.Address, sure
	case k.ix.words.anyOf(cs, "title"):
		return intent.Title, sure
	}
	return "", false
}

// windowIs evaluates a claim whose subject may be the title or the address of the window. What
// the page has of that name goes before where the text does not say which, and where the window
// does not show the value.
func (k *claimer) windowIs(d *intent.Description) (holds, known bool) {
	property, sure := k.ofWindow(d)
	if property == "" || len(k.c.Values) == 0 {
		return k.subjectIs(d)
	}
	before := k.e
	if sure {
		if k.window(d, property); k.e.Holds {
			return true, true
		}
	}
	asWindow := k.e
	k.e = before
	holds, known = k.subjectIs(d)
	if known && (holds || !sure) {
		return holds, known
	}
	if sure {
		k.e = asWindow
		return false, true
	}
	k.e = before
	k.window(d, property)
	return k.e.Holds, true
}

// window evaluates a claim about the window itself.
func (k *claimer) window(d *intent.Description, property intent.Property) {
	c := *k.c
	c.Property = property
	w := &claimer{ix: k.ix, m: k.m, c: &c, w: k.w, before: k.before, e: k.e}
	w.browser()
	k.e = w.e
	k.use(d.Span, "the window's "+string(property))
}

// windowHas reports whether the title or the address of a window has a value: words of a title, a
// part of an address as it is written.
func windowHas(property intent.Property, text, value string) bool {
	if property == intent.Address {
		return strings.Contains(text, value)
	}
	return word.Contains(text, value)
}
