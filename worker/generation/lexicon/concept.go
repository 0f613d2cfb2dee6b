package lexicon

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/slipway-qa/slipway/worker/generation/word/token"
)

// ConceptID is a concept that words of several languages share; 0 is none.
type ConceptID uint16

// Name returns the name of a concept, as the data write it.
func (c ConceptID) Name() string {
	if int(c) < len(all().names) {
		return all().names[c]
	}
	return ""
}

// Named returns the concept of a name, else that of an English word ("_" for a space); 0
// where there is none.
func Named(name string) ConceptID {
	if id := all().ids[name]; id != 0 {
		return id
	}
	if c := Language("en").Concepts(strings.ReplaceAll(name, "_", " ")); len(c) > 0 {
		return c[0]
	}
	return 0
}

// Concept returns the concepts that a word or phrase of a language may mean, likeliest first;
// of language "" in any.
func Concept(phrase, lang string) []ConceptID {
	if lang != "" {
		return Language(lang).Concepts(phrase)
	}
	var out []ConceptID
	for _, code := range Codes() {
		for _, c := range Language(code).Concepts(phrase) {
			if !slices.Contains(out, c) {
				out = append(out, c)
			}
		}
	}
	return out
}

// Means reports whether one of some concepts may be meant by a word or phrase of a language; of language "" in
// any.
func Means(phrase, lang string, concepts ...string) bool {
	return slices.ContainsFunc(Concept(phrase, lang), func(c ConceptID) bool { return slices.Contains(concepts, c.Name()) })
}

// Concepts returns the concepts that a word or phrase may mean, likeliest first.
func (l *Lexicon) Concepts(phrase string) []ConceptID {
	key := token.Lower(phrase)
	if c := l.concept[key]; len(c) > 0 {
		return c
	}
	if c := l.concept[token.Fold(key)]; len(c) > 0 {
		return c
	}
	for _, v := range l.enclitic(key) {
		for _, word := range []string{v.Lemma, v.Base} {
			if c := l.concept[token.Fold(word)]; len(c) > 0 {
				return c
			}
		}
	}
	return nil
}

// Icon returns the concept of an icon by the name that an icon set gives it: "trash-2",
// "fa-pencil", "bi-cart-plus", "shopping_cart"; 0 where it is not known.
func Icon(name string) ConceptID {
	icons := all().icons
	key := iconKey(name)
	for key != "" {
		if c, ok := icons[key]; ok {
			return c
		}
		// Variants of sets stand at the end: "trash-2", "heart-fill", "circle-outline".
		i := strings.LastIndexByte(key, '-')
		if i < 0 {
			break
		}
		key = key[:i]
	}
	return 0
}

// iconPrefixes are what icon sets put before the names.
var iconPrefixes = []string{
	"fas-fa-", "far-fa-", "fa-", "fas-", "bi-", "mdi-", "icon-", "lucide-", "feather-", "ti-", "tabler-icon-", "glyphicon-",
	"pi-", "ph-", "ri-",
	"material-symbols-", "material-icons-", "codicon-", "octicon-", "heroicon-", "svg-", "ion-", "la-", "uil-", "bx-",
	"bxs-", "ic-", "i-", "anticon-",
}

func iconKey(name string) string {
	key := strings.Trim(strings.NewReplacer("_", "-", " ", "-", "#", "", ".", "").Replace(kebab(name)), "-")
	for range 2 {
		for _, p := range iconPrefixes {
			if rest, ok := strings.CutPrefix(key, p); ok && rest != "" {
				key = rest
				break
			}
		}
	}
	return strings.TrimSuffix(key, "-icon")
}

// kebab writes "ShoppingCart" as "shopping-cart".
func kebab(name string) string {
	var b strings.Builder
	lower := false
	for _, r := range name {
		if r >= 'A' && r <= 'Z' {
			if lower {
				b.WriteByte('-')
			}
			r += 'a' - 'A'
			lower = false
		} else {
			lower = r >= 'a' && r <= 'z'
		}
		b.WriteRune(r)
	}
	return b.String()
}

// nameConcepts numbers the concepts that the files of a folder name or imply.
func (w *world) nameConcepts(parts map[string][]line) {
	for _, file := range []string{"concepts", "icons"} {
		for _, ln := range parts[file] {
			w.id(ln.name)
		}
	}
	for file, class := range map[string]Class{"states": State, "units": Unit, "numbers": ""} {
		for _, ln := range parts[file] {
			e := ln.entry(class)
			if name := implied(&e); name != "" {
				w.id(name)
			}
		}
	}
}

// id returns the number of a concept, a new one where it has none.
func (w *world) id(name string) ConceptID {
	id, ok := w.ids[name]
	if !ok {
		id = ConceptID(len(w.names))
		w.ids[name] = id
		w.names = append(w.names, name)
	}
	return id
}

// implied names the concept of an entry that languages share by its class and value: states,
// months, weekdays, units that are written out; "" where it has none.
func implied(e *Entry) string {
	switch e.Class {
	case State:
		return "is_" + e.Name
	case Month, Weekday, Day:
		return fmt.Sprintf("%s_%v%s", e.Class, e.Value, e.Name)
	case Unit:
		if e.Name == "count" || e.Name == "score" {
			return ""
		}
		return fmt.Sprintf("%s_%v%s", e.Name, e.Value, e.Attr("code"))
	}
	return ""
}

// imply files the concepts of entries: only the likeliest of a word's states.
func (w *world) imply(l *Lexicon) {
	for key, entries := range l.entries {
		state := false
		for i := range entries {
			name := implied(&entries[i])
			short := entries[i].Class == Unit && len(entries[i].Lemma) < 4
			if name == "" || short || entries[i].Class == State && state {
				continue
			}
			state = state || entries[i].Class == State
			l.addConcept(key, w.ids[name])
		}
	}
}

func (w *world) loadIcons(lines []line) {
	w.icons = map[string]ConceptID{}
	for _, ln := range lines {
		for _, name := range ln.words {
			if _, ok := w.icons[name]; !ok {
				w.icons[name] = w.ids[ln.name]
			}
		}
	}
}

// addConcepts files the words of concepts with all forms that verbs, nouns and adjectives
// have. Concepts earlier in the file are likelier.
func (w *world) addConcepts(l *Lexicon, lines []line, f *inflector) {
	// What is written as the data have it is likelier than what is so in another form.
	for _, ln := range lines {
		id := w.ids[ln.name]
		words := clean(ln.words)
		l.words[id] = append(l.words[id], words...)
		for _, word := range words {
			for _, key := range keys(word) {
				l.addConcept(key, id)
			}
		}
	}
	lemmas := l.verbLemmas()
	for _, ln := range lines {
		for _, word := range clean(ln.words) {
			for _, key := range l.conceptForms(word, lemmas, f) {
				l.addConcept(key, w.ids[ln.name])
			}
		}
	}
}

func (l *Lexicon) addConcept(key string, id ConceptID) {
	if !slices.Contains(l.concept[key], id) {
		l.concept[key] = append(l.concept[key], id)
	}
	if first, _, several := strings.Cut(key, " "); several {
		first = token.Fold(first)
		l.wide[first] = max(l.wide[first], strings.Count(key, " ")+1)
	}
}

func clean(words []string) []string {
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = strings.ReplaceAll(w, "|", "")
	}
	return out
}

// verbLemmas are the forms of each verb, written with its particle after it.
func (l *Lexicon) verbLemmas() map[string][]string {
	out := map[string][]string{}
	for key, forms := range l.verbs {
		for _, v := range forms {
			switch {
			case l.Capitals && v.Form == "imperative" && !v.Joined && key[len(key)-1] != 'e' && key[len(key)-1] != 't':
				// "Verein", "Plan", "Kauf": as nouns they mean something else.
			case v.Joined || v.Particle == "":
				out[v.Lemma] = append(out[v.Lemma], key)
			case v.Particle != "":
				out[v.Lemma] = append(out[v.Lemma], key+" "+v.Particle)
			}
		}
	}
	return out
}

// conceptForms are the keys of a word of a concept: of verbs their forms, else those of
// nouns and adjectives.
func (l *Lexicon) conceptForms(word string, verbs map[string][]string, f *inflector) []string {
	word = strings.ReplaceAll(word, "|", "")
	out := keys(word)
	if forms := verbs[word]; forms != nil {
		out = append(out, forms...)
	}
	for _, class := range l.inflections(word) {
		for _, fm := range f.phrase(word, class) {
			out = append(out, keys(fm.word)...)
		}
	}
	return out
}

// inflections are the classes by which a word may be inflected: where nouns have capitals
// its first letter tells.
func (l *Lexicon) inflections(word string) []string {
	switch r, _ := utf8.DecodeRuneInString(word); {
	case !l.Capitals:
		return []string{"noun", "adjective"}
	case unicode.IsUpper(r):
		return []string{"noun"}
	}
	return []string{"adjective"}
}
