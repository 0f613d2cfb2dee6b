package lexicon

import (
	"maps"
	"slices"
	"sort"
	"strings"
)

// rule makes a form of words that begin with prefix and end in suffix: what is between goes
// in the place of the star of each result.
type rule struct {
	prefix, suffix string
	results        []string
}

// inflector makes the forms of the words of one language.
type inflector struct {
	rules map[string]map[string][]rule // class, form
	// irregular are forms by lemma, in place of those of the rules.
	irregular map[string]map[string][]string
	// prefixes are of verbs that are inflected as what follows the prefix, whose participle
	// loses drop then ("verschoben").
	prefixes []string
	drop     string
	names    []string // of all forms, sorted
}

// newInflector reads the lines of forms.txt.
func newInflector(lines []line) *inflector {
	f := &inflector{rules: map[string]map[string][]rule{}, irregular: map[string]map[string][]string{}}
	for _, l := range lines {
		class, form, _ := strings.Cut(l.name, " ")
		if form == "" || len(l.words) == 0 {
			f.except(l)
			continue
		}
		if f.rules[class] == nil {
			f.rules[class] = map[string][]rule{}
		}
		for _, w := range l.words {
			pattern, results, _ := strings.Cut(w, ">")
			prefix, suffix, _ := strings.Cut(pattern, "*")
			f.rules[class][form] = append(f.rules[class][form], rule{prefix, suffix, strings.Split(results, "/")})
		}
	}
	f.prefixes = f.irregular["inseparable"]["prefix"]
	if drop := f.irregular["inseparable"]["drop"]; len(drop) > 0 {
		f.drop = drop[0]
	}
	names := map[string]bool{}
	for _, forms := range f.irregular {
		for name := range forms {
			names[name] = true
		}
	}
	for _, forms := range f.rules {
		for name, rules := range forms {
			names[name] = true
			sort.SliceStable(rules, func(a, b int) bool {
				return len(rules[a].prefix)+len(rules[a].suffix) > len(rules[b].prefix)+len(rules[b].suffix)
			})
		}
	}
	f.names = slices.Sorted(maps.Keys(names))
	return f
}

func (f *inflector) except(l line) {
	forms := f.irregular[l.name]
	if forms == nil {
		forms = map[string][]string{}
		f.irregular[l.name] = forms
	}
	for form, words := range l.attrs {
		forms[form] = append(forms[form], words...)
	}
}

// form is a word as it may stand in a text.
type form struct{ name, word string }

// forms returns all forms of a lemma, which itself is the form "".
func (f *inflector) forms(lemma, class string) []form {
	all := []form{{"", lemma}}
	if class == "" {
		return all
	}
	irregular := f.exceptions(lemma, class)
	for _, name := range f.names {
		words, ok := irregular[name]
		if !ok {
			words = apply(f.rules[class][name], lemma)
		}
		for _, w := range words {
			all = append(all, form{name, w})
		}
	}
	return all
}

// exceptions returns the irregular forms of a lemma, of a verb with a prefix those of the
// verb in it.
func (f *inflector) exceptions(lemma, class string) map[string][]string {
	if forms, ok := f.irregular[lemma]; ok || class != "verb" {
		return forms
	}
	for _, prefix := range f.prefixes {
		base, ok := strings.CutPrefix(lemma, prefix)
		if !ok || f.irregular[base] == nil {
			continue
		}
		out := map[string][]string{}
		for name, words := range f.irregular[base] {
			for _, w := range words {
				if name == "participle" {
					w = strings.TrimPrefix(w, f.drop)
				}
				out[name] = append(out[name], prefix+w)
			}
		}
		return out
	}
	return nil
}

// apply returns what the first rule that matches makes of a word; "-" is no form.
func apply(rules []rule, word string) []string {
	for _, r := range rules {
		if len(word) < len(r.prefix)+len(r.suffix) || !strings.HasPrefix(word, r.prefix) || !strings.HasSuffix(word, r.suffix) {
			continue
		}
		var out []string
		for _, result := range r.results {
			if result != "-" {
				out = append(out, strings.Replace(result, "*", word[len(r.prefix):len(word)-len(r.suffix)], 1))
			}
		}
		return out
	}
	return nil
}

// phrase returns the forms of a phrase: those of its last word, or of its first where the
// language puts the head first (the line "phrase first=yes"); of adjectives those of both
// ("mejor valorado", "más caro").
func (f *inflector) phrase(lemma, class string) []form {
	i, k := strings.IndexByte(lemma, ' '), strings.LastIndexByte(lemma, ' ')
	if i < 0 {
		return f.forms(lemma, class)
	}
	_, first := f.irregular["phrase"]["first"]
	var all []form
	if first {
		all = around(f.forms(lemma[:i], class), "", lemma[i:])
	}
	if !first || class == "adjective" {
		all = append(all, around(f.forms(lemma[k+1:], class), lemma[:k+1], "")...)
	}
	if first && class == "adjective" {
		for _, a := range f.forms(lemma[:i], class)[1:] {
			all = append(all, around(f.forms(lemma[k+1:], class)[1:], a.word+lemma[i:k+1], "")...)
		}
	}
	return all
}

// around puts words before and after each form.
func around(forms []form, before, after string) []form {
	for i := range forms {
		forms[i].word = before + forms[i].word + after
	}
	return forms
}
