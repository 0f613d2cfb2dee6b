package lexicon

import (
	"slices"
	"strings"

	"github.com/slipway-qa/slipway/worker/generation/word/token"
)

// slots are the keys of a verb's line that name slots of a goal.
var slots = []string{"to", "from", "become", "value", "name", "text", "with", "amount", "measure", "place", "field",
	"for", "of", "target", "by"}

func slotOf(frame map[string][]string, preposition string) string {
	p := token.Fold(preposition)
	for _, s := range slots {
		if slices.ContainsFunc(frame[s], func(x string) bool { return token.Fold(x) == p }) {
			return s
		}
	}
	return ""
}

// addVerbs adds the lines of verbs.txt with all their forms.
func (l *Lexicon) addVerbs(lines []line, f *inflector) {
	reflexive := f.irregular["reflexive"]
	for i, ln := range lines {
		for _, w := range ln.words {
			v := verb(ln, w, reflexive)
			if l.Capitals {
				v.lastBase()
			}
			v.Order = i
			l.inOrder = append(l.inOrder, v)
			l.addForms(v, f)
		}
	}
}

// verb reads a verb as the data write it: "take off", "ab|haken", "sich an|melden".
func verb(ln line, word string, reflexive map[string][]string) *Verb {
	v := &Verb{
		Effect: ln.name, Need: ln.attrs["need"], frame: ln.attrs,
	}
	v.Property, v.State, v.Risk = v.Attr("property"), v.Attr("state"), v.Attr("risk")
	v.Lemma = strings.ReplaceAll(word, "|", "")
	for _, r := range reflexive["pronoun"] {
		if rest, ok := strings.CutPrefix(word, r); ok {
			v.Reflexive, word = true, strings.TrimSpace(rest)
			break
		}
	}
	v.Base, v.Particle, _ = strings.Cut(word, " ")
	for _, suffix := range reflexive["suffix"] {
		// "darse" is "dar" with a pronoun; the suffix begins with the last letter of the verb.
		if rest, ok := strings.CutSuffix(v.Base, suffix); ok {
			v.Reflexive, v.Base = true, rest+suffix[:1]
			break
		}
	}
	if prefix, base, ok := strings.Cut(word, "|"); ok {
		if i := strings.LastIndexByte(prefix, ' '); i >= 0 {
			// "bekannt geben": a word before a separable prefix belongs to the particle.
			prefix = prefix[i+1:]
		}
		v.Base, v.Particle, v.Separable = base, prefix, true
	}
	return v
}

// lastBase makes the last word of a German phrase of several words the one that is inflected:
// "übrig bleiben", "als Favorit markieren"; but not of "werden angezeigt", where it is a
// participle already.
func (v *Verb) lastBase() {
	i := strings.LastIndexByte(v.Particle, ' ')
	last := v.Particle[i+1:]
	if v.Separable || last == "" || !strings.HasSuffix(last, "n") || strings.HasPrefix(last, "ge") && v.Base == "werden" {
		return
	}
	first := strings.TrimSpace(v.Base + " " + v.Particle[:max(i, 0)])
	v.Base, v.Particle = last, first
}

func (l *Lexicon) addForms(v *Verb, f *inflector) {
	for _, fm := range f.forms(v.Base, "verb") {
		if fm.name == "" {
			fm.name = "infinitive"
		}
		if fm.name != "joined" {
			l.addVerb(fm.word, VerbForm{Verb: v, Form: fm.name})
		}
		if v.Separable {
			name := fm.name
			if name == "joined" {
				name = "infinitive"
			}
			l.addVerb(v.Particle+fm.word, VerbForm{Verb: v, Form: name, Joined: true})
		}
	}
}

func (l *Lexicon) addVerb(word string, vf VerbForm) {
	for _, key := range keys(word) {
		if !slices.ContainsFunc(l.verbs[key], func(o VerbForm) bool {
			return o.Verb == vf.Verb && o.Form == vf.Form && o.Joined == vf.Joined
		}) {
			l.verbs[key] = append(l.verbs[key], vf)
		}
	}
	if _, ok := l.folded[token.Fold(word)]; !ok {
		base := vf.Base
		if vf.Joined {
			base = vf.Particle + vf.Base
		}
		l.folded[token.Fold(word)] = base
	}
}

// enclitic looks for a verb with pronouns written at its end: "guárdala", "ponle".
func (l *Lexicon) enclitic(word string) []VerbForm {
	for _, c := range l.clitics {
		rest, ok := strings.CutSuffix(word, c)
		if !ok || len(rest) < 2 {
			continue
		}
		rest = strings.TrimSuffix(rest, "-")
		found := l.verbs[rest]
		if len(found) == 0 {
			found = l.verbs[token.Fold(rest)]
		}
		var out []VerbForm
		for _, v := range found {
			if v.Form == "imperative" || v.Form == "infinitive" || v.Form == "gerund" {
				v.Clitics = strings.Split(c, "+")
				out = append(out, v)
			}
		}
		if len(out) > 0 {
			return out
		}
	}
	return nil
}
