package lexicon

import (
	"cmp"
	"slices"
	"strings"

	"github.com/slipway-qa/slipway/worker/generation/word/token"
)

// Revision returns the phrases by which a sentence speaks of a test that exists, as words in
// lower case, the longest first: "before" for a place in it, "instead_of", "skip" and so on, as
// revisions.txt has them.
func (l *Lexicon) Revision(name string) [][]string { return l.revisions[name] }

// revise adds the lines of revisions.txt.
func (l *Lexicon) revise(lines []line) {
	l.revisions = map[string][][]string{}
	for _, ln := range lines {
		for _, w := range ln.words {
			var words []string
			for f := range strings.FieldsSeq(token.Lower(w)) {
				head, rest := l.Elide(f)
				if words = append(words, head); rest != "" {
					words = append(words, rest)
				}
			}
			l.revisions[ln.name] = append(l.revisions[ln.name], words)
		}
	}
	for _, list := range l.revisions {
		slices.SortStableFunc(list, func(a, b []string) int { return cmp.Compare(len(b), len(a)) })
	}
}

// Elide cuts a word after an apostrophe where what stands before it is a word of its own:
// "l'" and "avis". Of other words the rest is empty.
func (l *Lexicon) Elide(word string) (head, rest string) {
	for _, mark := range []string{"'", "’"} {
		before, after, ok := strings.Cut(word, mark)
		if ok && after != "" && (l.Elision(before+"'") || l.Elision(before)) {
			return before + mark, after
		}
	}
	return word, ""
}
