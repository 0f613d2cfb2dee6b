package plan

import (
	"slices"
	"strings"

	"github.com/slipway-qa/slipway/worker/generation/intent"
)

// kindWords are words for kinds of controls, with the roles and tags that they mean: a
// page seldom has a name of them.
var kindWords = map[string][]string{
	"button": {"button"}, "link": {"link"}, "checkbox": {"checkbox"}, "radio": {"radio"}, "textarea": {"textarea"}, "textbox": {"textbox"}, "text": {"textbox"},
	"input": {"textbox"}, "field": {"textbox"}, "select": {"select", "combobox", "listbox"}, "dropdown": {"combobox", "listbox"}, "slider": {"slider"},
	"tab": {"tab"}, "menu": {"menu"}, "table": {"table"}, "image": {"img"}, "heading": {"heading"}, "list": {"list"}, "dialog": {"dialog"}, "box": {},
	"widget": {}, "element": {}, "control": {}, "component": {}, "item": {}, "thing": {}, "one": {}, "colored": {}, "coloured": {}, "shaped": {},
}

// restated returns other ways to read a phrase that nothing on a page is: its words are
// put to other places in it.
func restated(phrase *intent.Phrase) []intent.Phrase {
	var list []intent.Phrase
	for _, read := range []func(intent.Phrase) (intent.Phrase, bool){kindFirst, kindOnly, nameBehind, pointing} {
		if other, ok := read(*phrase); ok {
			list = append(list, other)
		}
	}
	return list
}

// kindFirst reads "the button Previous page": the first word is the kind.
func kindFirst(p intent.Phrase) (intent.Phrase, bool) {
	if p.Exact || len(p.Relations) > 0 || p.Ordinal != 0 || p.All || p.Pronoun {
		return p, false
	}
	words := strings.Fields(p.Text)
	for len(words) > 1 && fillers[fold(words[0])] {
		words = words[1:]
	}
	if len(words) < 2 || kin[fold(words[0])] == nil {
		return p, false
	}
	p.Noun, p.Roles, p.Name = words[0], []string{fold(words[0])}, joinWords(words[1:])
	return p, true
}

// kindOnly reads "the second input textbox" and "a \"textarea\" widget": the name is a
// word for the kind.
func kindOnly(p intent.Phrase) (intent.Phrase, bool) {
	words := splitWords(fold(p.Name))
	if len(words) == 0 || len(words) > 2 {
		return p, false
	}
	roles, known := kindWords[words[len(words)-1]]
	if !known || len(words) == 2 && kindWords[words[0]] == nil {
		return p, false
	}
	if len(p.Roles) == 0 || kindWords[strings.ToLower(p.Noun)] != nil && len(kindWords[strings.ToLower(p.Noun)]) == 0 {
		p.Roles = roles
	}
	p.Name, p.Exact = "", false
	return p, len(p.Roles) > 0 || seen(p.Looks)
}

// nameBehind reads "the button in the dialog labeled x": the name stands behind the
// place.
func nameBehind(p intent.Phrase) (intent.Phrase, bool) {
	if p.Name != "" || len(p.Relations) != 1 || p.Relations[0].Name == "" || p.Relations[0].Kind != intent.In {
		return p, false
	}
	p.Relations = slices.Clone(p.Relations)
	rel := &p.Relations[0]
	p.Name, p.Exact = rel.Name, rel.Exact
	rel.Name, rel.Exact = "", false
	return p, true
}

// pointing reads "that email": what the text was about.
func pointing(p intent.Phrase) (intent.Phrase, bool) {
	first, _, _ := strings.Cut(fold(strings.TrimSpace(p.Text)), " ")
	if p.Exact || p.Pronoun || len(p.Relations) > 0 || !slices.Contains([]string{"that", "this", "these", "those", "same", "dieser", "diese", "dieses", "diesen", "diesem"}, first) {
		return p, false
	}
	p.Name, p.Roles, p.Pronoun = "", nil, true
	return p, true
}

// indefinite reports whether any one of several is meant: "a blue circle".
func indefinite(text string) bool {
	first, _, _ := strings.Cut(fold(strings.TrimSpace(text)), " ")
	return slices.Contains([]string{"a", "an", "any", "ein", "eine", "einen", "einem", "einer"}, first)
}

// meansAll reports whether a phrase means each of several: itself, or by its place
// ("the like button of all posts").
func meansAll(p *intent.Phrase) bool {
	return p.All || slices.ContainsFunc(p.Relations, func(rel intent.Relation) bool { return rel.All && rel.Kind != intent.With })
}
