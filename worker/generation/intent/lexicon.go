package intent

import "strings"

// entry is a line of a table: words and groups of words, with commas, that mean the
// same.
type entry struct{ code, words string }

// words is everything that is known of a language. The grammar reads these tables
// and has no words of its own.
type words struct {
	lang string
	// capitals is set where all nouns are written with a capital letter, and finalVerb
	// where a verb can be the last word of its clause.
	capitals, finalVerb bool
	// endings are kinds of elements at the end of words that have a name before them.
	endings []string
	// letters are those that tell the language from others.
	letters string
	// verbs begin an instruction: the code is a Kind, or "activate base" for what is
	// done to things. Parted verbs stand around what they act on ("fill ... in").
	verbs, parted []entry
	// nouns are words for kinds of elements, with their roles; things are words for
	// what pages are about, which have no role of their own.
	nouns, things []entry
	// relations are prepositions of place, with a RelationKind; joints are the
	// prepositions between the parts of an instruction (into, with, as, to, from, for).
	relations, joints []entry
	articles, named   []entry
	ordinals, numbers []entry
	quantities        []entry // all, each, both, any
	looks             []entry // "color red", "size large", "shape circle", "extreme price min"
	states            []entry
	pronouns          []entry
	leads             []entry // what stands before a verb and means nothing: please, then, I
	fillers           []entry // what stands after a verb and means nothing
	sequels           []entry // then, after that; "soft" ones only at a start or after a comma
	and, or           []entry
	not               []entry
	conditions        []entry // if, when, unless; "else"
	checks            []entry // begin an assertion: verify, make sure
	that              []entry
	modals            []entry // should, must, is, are
	predicates        []entry // what an assertion says: displayed, gone, disabled
	comparisons       []entry // contains, shows, equals, at least
	dates, units      []entry // months, days, today; seconds
	keys, directions  []entry
	ignored           []entry // clauses that begin so ask for nothing: in order to, so that
	questions         []entry // begin what asks and does not tell
	purposes          []entry // begin what something is done for
	relatives         []entry // begin a clause about what is before them: that, which
	adverbs           []entry // within a statement, without meaning: still, now
	manners           []entry // how something is clicked: with a double click
	finished          []entry // what a task is marked as when it is checked
	hereabouts        []entry // at the end of what is described: below, on the page
	vague             []entry // what nothing can be compared with
	without           []entry // begin what is not done
	subjects          []entry // the URL, the title, the page
	function          []entry // frequent words by which the language is recognized
}

// table finds words of an entry list.
type table struct {
	codes   map[string]string
	longest map[string]int // by first word: how many words its longest entry has
}

func newTable(entries []entry) table {
	t := table{codes: map[string]string{}, longest: map[string]int{}}
	for _, e := range entries {
		for _, w := range strings.Split(e.words, ",") {
			w = strings.Join(strings.Fields(w), " ")
			if w == "" {
				continue
			}
			if _, known := t.codes[w]; !known {
				t.codes[w] = e.code
			}
			first, _, _ := strings.Cut(w, " ")
			t.longest[first] = max(t.longest[first], strings.Count(w, " ")+1)
		}
	}
	return t
}

// match returns the code of the longest entry that a span begins with, and the number
// of its words; 0 when there is none.
func (t table) match(s span) (string, int) {
	if len(s) == 0 || s[0].kind == quoted {
		return "", 0
	}
	n := min(t.longest[s[0].low], len(s))
	for ; n > 1; n-- {
		var key strings.Builder
		for i := range n {
			if s[i].kind == quoted {
				key.Reset()
				break
			}
			if i > 0 {
				key.WriteByte(' ')
			}
			key.WriteString(s[i].low)
		}
		if code, ok := t.codes[key.String()]; ok && key.Len() > 0 {
			return code, n
		}
	}
	if code, ok := t.codes[s[0].low]; ok {
		return code, 1
	}
	return "", 0
}

// matchEnd is match for the end of a span.
func (t table) matchEnd(s span) (string, int) {
	for n := min(4, len(s)); n > 0; n-- {
		if code, found := t.match(s[len(s)-n:]); found == n {
			return code, n
		}
	}
	return "", 0
}

func (t table) has(s span) bool {
	_, n := t.match(s)
	return n > 0
}

// lexicon is a language's tables, ready to be searched.
type lexicon struct {
	lang, letters                                         string
	capitals, finalVerb                                   bool
	verbs, nouns, things, relations, joints               table
	articles, named, ordinals, numbers, quantities, looks table
	states, pronouns, leads, sequels, and, or, not        table
	conditions, checks, that, modals, predicates          table
	comparisons, dates, units, keys, directions, ignored  table
	subjects, function, fillers                           table
	questions, purposes, without, vague, hereabouts       table
	relatives, adverbs, manners, finished                 table
	parted                                                map[string][]particle
	endings                                               []string
}

func newLexicon(w words) *lexicon {
	return &lexicon{
		lang: w.lang, letters: w.letters, capitals: w.capitals, finalVerb: w.finalVerb, endings: w.endings, parted: newParted(w.parted),
		fillers: newTable(w.fillers), verbs: newTable(w.verbs), nouns: newTable(w.nouns),
		things: newTable(w.things), relations: newTable(w.relations), joints: newTable(w.joints),
		articles: newTable(w.articles), named: newTable(w.named), ordinals: newTable(w.ordinals),
		numbers: newTable(w.numbers), quantities: newTable(w.quantities), looks: newTable(w.looks),
		states: newTable(w.states), pronouns: newTable(w.pronouns), leads: newTable(w.leads),
		sequels: newTable(w.sequels), and: newTable(w.and), or: newTable(w.or), not: newTable(w.not),
		conditions: newTable(w.conditions), checks: newTable(w.checks), that: newTable(w.that),
		modals: newTable(w.modals), predicates: newTable(w.predicates), comparisons: newTable(w.comparisons),
		dates: newTable(w.dates), units: newTable(w.units), keys: newTable(w.keys),
		directions: newTable(w.directions), ignored: newTable(w.ignored), subjects: newTable(w.subjects),
		function: newTable(w.function), questions: newTable(w.questions), purposes: newTable(w.purposes),
		without: newTable(w.without), vague: newTable(w.vague),
		hereabouts: newTable(w.hereabouts), relatives: newTable(w.relatives), adverbs: newTable(w.adverbs),
		manners: newTable(w.manners), finished: newTable(w.finished),
	}
}

// particle is the second part of a verb that stands around what it acts on.
type particle struct {
	code  string
	words []string
}

// newParted returns the particles by the first part of their verbs.
func newParted(entries []entry) map[string][]particle {
	out := map[string][]particle{}
	for _, e := range entries {
		for _, w := range strings.Split(e.words, ",") {
			head, tail, ok := strings.Cut(w, "+")
			if !ok {
				continue
			}
			head = strings.TrimSpace(head)
			out[head] = append(out[head], particle{e.code, strings.Fields(tail)})
		}
	}
	return out
}

// lexicons are the languages that are known, the first of them by default.
var lexicons = []*lexicon{newLexicon(english), newLexicon(german)}
