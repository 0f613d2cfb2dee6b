package refine

import (
	"slices"
	"strconv"
	"strings"

	"github.com/slipway-qa/slipway/storage/step"
)

// description is what a sentence says of a step.
type description struct {
	text   string
	quoted []string // names that must be there as they are
	words  []string // that name it
	tools  []string // what it does; none: anything
	roles  []string // of its element
	step   bool     // it is said to be a step
	// position is which of those that fit, from 1; -1 is the last; 0: not said. number
	// is set where it counts all steps: "step 3".
	position int
	number   bool
}

// describe reads how a sentence speaks of a step.
func describe(s span) description {
	d := description{text: s.String()}
	for i, t := range s.list {
		switch {
		case t.quoted:
			d.quoted = append(d.quoted, t.text)
			continue
		case i > 0 && lex.steps[stem(fold(s.list[i-1].low))] && isNumber(t.low):
			d.position, _ = strconv.Atoi(t.low)
			d.number = true
			continue
		}
		if n, ok := ordinal(t.low); ok {
			d.position = n
		}
	}
	for i, w := range keywords(unquoted(s)) {
		switch {
		case d.number && isNumber(w):
		case lex.steps[w] && !(i == 0 && lex.tools[w] != nil):
			d.step = true
			d.tools = append(d.tools, lex.tools[w]...) // the check, the assertion
		case isOrdinal(w):
		case lex.tools[w] != nil && len(d.tools) == 0 && i <= 1:
			d.tools = lex.tools[w]
		case lex.roles[w] != nil:
			d.roles = append(d.roles, lex.roles[w]...)
		default:
			d.words = append(d.words, w)
		}
	}
	return d
}

func unquoted(s span) string {
	var words []string
	for _, t := range s.list {
		if !t.quoted {
			words = append(words, t.text)
		}
	}
	return strings.Join(words, " ")
}

func isNumber(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }

func isOrdinal(w string) bool {
	_, ok := ordinal(w)
	return ok
}

// ordinal returns which one a word means: 2 for second and 2nd, -1 for last.
func ordinal(word string) (int, bool) {
	for i := range languages {
		l := &languages[i]
		for n, w := range l.first {
			if word == w || stem(w) == word || l.gerunds == "en" && strings.TrimRight(word, "nmrs") == w {
				return n + 1, true
			}
		}
		if slices.Contains(groups(l.last), word) {
			return -1, true
		}
	}
	if n, err := strconv.Atoi(strings.TrimRight(word, "stndrh")); err == nil && n > 0 && n < 1000 && word != strconv.Itoa(n) {
		return n, true
	}
	return 0, false
}

// The weights of where a word of a description was found.
const (
	inName    = 1.0
	inValue   = 0.9
	inSaid    = 0.6
	toolFits  = 0.3
	roleFits  = 0.1
	specific  = 0.25 // of the words of the name that the description has
	closeness = 0.12 // scores nearer than this are no clear winner
)

// score returns how well a step is what a description says; 0 where it is not.
func (d *description) score(p *profile, t *step.Tool) float64 {
	fits := slices.Contains(d.tools, t.Type)
	if len(d.words)+len(d.quoted) == 0 {
		if !fits || len(d.roles) > 0 && !slices.Contains(d.roles, p.role) {
			return 0
		}
		return 1
	}
	total, n := 0.0, float64(len(d.words)+len(d.quoted))
	for _, q := range d.quoted {
		if !p.isValue(q) {
			return 0
		}
		total += inName
	}
	for _, w := range d.words {
		at := p.weigh(w)
		if at == 0 {
			return 0
		}
		total += at
	}
	result := total / n
	if len(p.nameWords) > 0 {
		result += specific * float64(overlap(p.nameWords, d.words)) / float64(len(p.nameWords))
	}
	switch {
	case len(d.tools) > 0 && fits:
		result += toolFits
	case len(d.tools) > 0:
		result -= 2 * toolFits
	}
	if slices.Contains(d.roles, p.role) {
		result += roleFits
	}
	return max(result, 0)
}

// weigh returns how much it says that a step has a word; 0 if it has not.
func (p *profile) weigh(word string) float64 {
	switch {
	case slices.Contains(p.nameWords, word):
		return inName
	case slices.Contains(p.valueWords, word):
		return inValue
	case p.submits && word == stem("submit"):
		return inValue
	case slices.Contains(p.saidWords, word):
		return inSaid
	}
	return 0
}

// best returns the indices with the highest score, and those near to it.
func best(scores []float64) []int {
	top := slices.Max(append([]float64{0}, scores...))
	var list []int
	for i, s := range scores {
		if top > 0 && s > top-closeness {
			list = append(list, i)
		}
	}
	return list
}

// locate returns the steps that a description means, in order: one, or those that a
// clause of the base's intent became.
func (d *inventory) locate(what span) ([]int, error) {
	desc := describe(what)
	if desc.number || desc.step && len(desc.words)+len(desc.quoted)+len(desc.roles)+len(desc.tools) == 0 && desc.position != 0 {
		return d.numbered(desc)
	}
	scores := make([]float64, len(d.base))
	for i := range d.base {
		if !d.gone(i) {
			scores[i] = desc.score(&d.profiles[i], tool(d.base[i]))
		}
	}
	found := best(scores)
	if desc.position != 0 && len(found) > 1 {
		if i, ok := nth(found, desc.position); ok {
			return []int{i}, nil
		}
	}
	if len(found) == 1 && (len(desc.tools) > 0 || len(desc.quoted) > 0) {
		return found, nil
	}
	groups := d.origins(&desc)
	switch {
	case len(groups) == 1 && (len(found) == 0 || slices.ContainsFunc(found, func(i int) bool { return slices.Contains(groups[0], i) })):
		return groups[0], nil
	case len(found) == 1:
		return found, nil
	case len(found) == 0:
		return nil, d.notFound(what, "no step of the test does that")
	}
	return nil, d.notFound(what, "several steps of the test may be meant", found...)
}

// numbered returns the step of a number.
func (d *inventory) numbered(desc description) ([]int, error) {
	list := make([]int, len(d.base))
	for i := range list {
		list[i] = i
	}
	if n := d.end(); desc.position < 0 {
		list = list[:n]
	}
	i, ok := nth(list, desc.position)
	if !ok {
		return nil, notUnderstood(desc.text, "the test has "+strconv.Itoa(len(d.base))+" steps")
	}
	return []int{i}, nil
}

func nth(list []int, position int) (int, bool) {
	if position < 0 {
		position += len(list) + 1
	}
	if position < 1 || position > len(list) {
		return 0, false
	}
	return list[position-1], true
}

// located reports whether words are those of a step.
func (d *inventory) located(what span) bool {
	_, err := d.locate(what)
	return err == nil
}
