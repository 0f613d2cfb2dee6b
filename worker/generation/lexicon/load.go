package lexicon

import (
	"embed"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/slipway-qa/slipway/worker/generation/word/token"
)

//go:embed */*.txt
var files embed.FS

// symbol is the folder of what has no language: names of icons.
const symbol = "symbol"

// world is everything that the data hold. A language is built when it is first asked for.
type world struct {
	codes     []string
	languages map[string]func() *Lexicon
	names     []string // of concepts, by id
	ids       map[string]ConceptID
	icons     map[string]ConceptID
	risks     map[ConceptID]string
}

var all = sync.OnceValue(func() *world {
	w, err := load(files)
	if err != nil {
		panic("lexicon: " + err.Error()) // data of our own, held by a test
	}
	return w
})

// Codes returns the languages that there are, in the order of their codes.
func Codes() []string { return all().codes }

// Language returns the words of a language, those of English for an unknown code.
func Language(code string) *Lexicon {
	if l := all().languages[code]; l != nil {
		return l()
	}
	return all().languages["en"]()
}

// load reads the folders of a file system.
func load(data fs.FS) (*world, error) {
	w := &world{languages: map[string]func() *Lexicon{}, ids: map[string]ConceptID{}, names: []string{""}}
	dirs, err := fs.ReadDir(data, ".")
	if err != nil {
		return nil, err
	}
	var risks []line
	for _, d := range dirs {
		parts, err := folder(data, d.Name())
		if err != nil {
			return nil, err
		}
		w.nameConcepts(parts)
		if code := d.Name(); code != symbol {
			w.codes = append(w.codes, code)
			w.languages[code] = sync.OnceValue(func() *Lexicon { return w.build(code, parts) })
			continue
		}
		w.loadIcons(parts["icons"])
		risks = parts["risks"]
	}
	slices.Sort(w.codes)
	w.risks = map[ConceptID]string{}
	for _, ln := range risks {
		for _, name := range ln.words {
			w.risks[w.ids[name]] = ln.name
		}
	}
	delete(w.risks, 0)
	return w, nil
}

// folder reads the files of one folder, by their names without ".txt".
func folder(data fs.FS, dir string) (map[string][]line, error) {
	entries, err := fs.ReadDir(data, dir)
	if err != nil {
		return nil, err
	}
	parts := map[string][]line{}
	for _, e := range entries {
		text, err := fs.ReadFile(data, path.Join(dir, e.Name()))
		if err != nil {
			return nil, err
		}
		lines, err := parse(string(text))
		if err != nil {
			return nil, &fs.PathError{Op: "parse", Path: path.Join(dir, e.Name()), Err: err}
		}
		parts[strings.TrimSuffix(e.Name(), ".txt")] = lines
	}
	return parts, nil
}

// build makes the maps of one language.
func (w *world) build(code string, parts map[string][]line) *Lexicon {
	l := &Lexicon{
		Code:    code,
		elision: map[string]bool{}, entries: map[string][]Entry{}, verbs: map[string][]VerbForm{},
		longest: map[string]int{}, concept: map[string][]ConceptID{}, folded: map[string]string{}, wide: map[string]int{},
		words: map[ConceptID][]string{},
		same:  map[string]string{},
	}
	l.configure(parts["language"])
	f := newInflector(parts["forms"])
	l.addVerbs(parts["verbs"], f)
	l.addStates(parts["states"], f)
	l.addWords(parts["nouns"], f, Noun_, "noun")
	l.addWords(parts["measures"], f, Measure, "adjective")
	l.addWords(parts["units"], f, Unit, "noun")
	for _, file := range []string{"numbers", "grammar"} {
		for _, ln := range parts[file] {
			l.addWords([]line{ln}, f, Class(ln.name), "")
		}
	}
	w.addConcepts(l, parts["concepts"], f)
	w.imply(l)
	l.revise(parts["revisions"])
	for _, ln := range parts["messages"] {
		l.refusals = append(l.refusals, ln.words...)
	}
	return l
}

func (l *Lexicon) configure(lines []line) {
	for _, ln := range lines {
		switch ln.name {
		case "stemmer":
			l.Stemmer = ln.words[0]
		case "link":
			l.Links = ln.words
		case "same":
			for _, w := range ln.words {
				from, to, _ := strings.Cut(w, ">")
				l.same[from] = to
			}
		case "capitals":
			l.Capitals = true
		case "clitic":
			l.clitics = ln.words
		case "elision":
			for _, w := range ln.words {
				l.elision[w] = true
			}
		}
	}
}

// addWords adds lines of one class, inflected by the rules of a class of words.
func (l *Lexicon) addWords(lines []line, f *inflector, class Class, inflected string) {
	for _, ln := range lines {
		e := ln.entry(class)
		for _, w := range ln.words {
			e.Lemma = w
			for _, form := range f.phrase(w, inflected) {
				e.Form = form.name
				l.add(form.word, e)
			}
		}
	}
}

// entry is what all words of a line have in common; of class "" its name is the class.
func (ln *line) entry(class Class) Entry {
	e := Entry{Class: class, Name: ln.name, Names: ln.attrs["name"], attrs: ln.attrs, Value: value(ln.attrs)}
	if class == "" {
		e.Class = Class(ln.name)
	}
	if e.Class == Class(ln.name) {
		e.Name = e.Attr("name")
	}
	return e
}

func value(attrs map[string][]string) float64 {
	for _, key := range []string{"value", "factor"} {
		if v := attrs[key]; len(v) > 0 {
			n, _ := strconv.ParseFloat(v[0], 64)
			return n
		}
	}
	return 0
}

// addStates adds states: adjectives, inflected, and participles.
func (l *Lexicon) addStates(lines []line, f *inflector) {
	l.addWords(lines, f, State, "adjective")
}

// add files an entry under a word as written and folded.
func (l *Lexicon) add(word string, e Entry) {
	lower, folded := token.Lower(word), token.Fold(word)
	for _, key := range keys(word) {
		if !slices.ContainsFunc(l.entries[key], func(o Entry) bool { return same(&o, &e) }) {
			l.entries[key] = append(l.entries[key], e)
		}
		first, _, several := strings.Cut(key, " ")
		if several {
			first = token.Fold(first)
			l.longest[first] = max(l.longest[first], strings.Count(key, " ")+1)
		}
	}
	if _, ok := l.folded[folded]; !ok && !strings.Contains(lower, " ") {
		l.folded[folded] = e.Lemma
	}
}

// keys are under what a word is found: as written, folded, and with its umlauts spelled out.
func keys(word string) []string {
	lower := token.Lower(word)
	folded := token.Fold(lower)
	if folded == lower {
		return []string{lower}
	}
	if spelled := token.Spelled(lower); spelled != "" && spelled != folded {
		return []string{lower, folded, spelled}
	}
	return []string{lower, folded}
}

func same(a, b *Entry) bool {
	return a.Class == b.Class && a.Name == b.Name && a.Lemma == b.Lemma && a.Value == b.Value && a.Form == b.Form
}
