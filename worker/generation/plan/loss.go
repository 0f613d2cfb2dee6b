package plan

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/slipway-qa/slipway/worker/generation/intent"
)

// A sentence that was read in part only is worse than one that was not: what was left
// out is not done, and the test passes. So what a sentence certainly says (texts in
// quotes, numbers, addresses, and names in capitals) must be somewhere in what was
// understood.

var (
	quotedText = regexp.MustCompile("\"([^\"\n]{1,200})\"|“([^”\n]{1,200})”|„([^“”\n]{1,200})[“”]|«([^»\n]{1,200})»|`([^`\n]{1,200})`")
	ordinalNum = regexp.MustCompile(`^#?\d+(st|nd|rd|th|\.)$`)
	listNumber = regexp.MustCompile(`(?m)^\s*\d{1,3}[.)]\s`)
)

// lost returns what a clause certainly says and a reading has not; nil where there is
// nothing of the kind.
func lost(c *intent.Clause, r *intent.Reading) []string {
	var b strings.Builder
	numbers := map[float64]bool{}
	for i := range r.Instructions {
		gatherInstruction(&r.Instructions[i], &b, numbers)
		if r.Instructions[i].Key != "" {
			return nil // keys are written in many ways
		}
	}
	said := " " + joinWords(splitAll(b.String())) + " "
	var list []string
	for _, token := range certain(c.Text, c.Lang == "en" || c.Lang == "") {
		words := joinWords(splitAll(token))
		if words == "" || eachIn(said, words) || len(words) > 2 && strings.Contains(compactOf(said), compactOf(words)) {
			continue
		}
		if n, err := strconv.ParseFloat(strings.Trim(token, "().,;:!?%$€s"), 64); err == nil && numbers[n] {
			continue
		}
		list = append(list, token)
	}
	return list
}

// eachIn reports whether each of some words is among others: a path such as File>Export is
// understood from its end.
func eachIn(said, words string) bool {
	for _, w := range strings.Fields(words) {
		if !strings.Contains(said, " "+w+" ") {
			return false
		}
	}
	return true
}

func compactOf(s string) string { return strings.ReplaceAll(s, " ", "") }

// dropped returns the texts in quotes and the numbers of an intent that are in none of
// its clauses.
func dropped(text string, clauses []intent.Clause, forbidden []intent.Instruction) []string {
	var b strings.Builder
	for i := range clauses {
		b.WriteString(clauses[i].Text + " \n ")
		for k := range clauses[i].Readings {
			for j := range clauses[i].Readings[k].Instructions {
				gatherInstruction(&clauses[i].Readings[k].Instructions[j], &b, map[float64]bool{})
			}
		}
	}
	for i := range forbidden {
		b.WriteString(forbidden[i].Text + " ")
		gatherInstruction(&forbidden[i], &b, map[float64]bool{})
	}
	said := compactOf(joinWords(splitAll(b.String())))
	var list []string
	for _, token := range certain(listNumber.ReplaceAllString(text, " "), false) {
		if words := compactOf(joinWords(splitAll(token))); words != "" && !strings.Contains(said, words) {
			list = append(list, token)
		}
	}
	return list
}

// splitAll is splitWords without its bound.
func splitAll(s string) []string {
	return strings.FieldsFunc(fold(s), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}

// certain returns what must not be lost of a text: what is quoted, what has digits or an
// @ in it, and, where only names have capitals, words that begin with one inside of a
// sentence.
func certain(text string, capitals bool) []string {
	var list []string
	for _, m := range quotedText.FindAllStringSubmatch(text, -1) {
		for _, inner := range m[1:] {
			if inner != "" {
				list = append(list, inner)
			}
		}
	}
	begins := true
	for _, token := range strings.Fields(quotedText.ReplaceAllString(text, " ")) {
		word := strings.Trim(token, ".,;:!?()[]\"'’‘")
		if i := strings.LastIndex(word, "'"); i > 0 && i == len(word)-2 { // Ann's
			word = word[:i]
		}
		first := begins
		begins = strings.ContainsAny(token[len(token)-1:], ".:!?,;")
		switch {
		case word == "" || strings.Contains(word, "{{") || ordinalNum.MatchString(word):
		case hasDigit(word) || strings.Contains(word, "@"):
			list = append(list, word)
		case capitals && !first && len(word) > 1 && isCapital(word):
			list = append(list, word)
		}
	}
	return list
}

// isCapital reports whether a word is written as a name is.
func isCapital(word string) bool {
	r := []rune(word)
	return unicode.IsUpper(r[0]) && !slices.Contains([]string{"I'll", "I'm", "OK", "URL", "AND", "THEN", "Then", "And", "Given", "When", "But", "Please", "Only", "All", "Both", "Each", "Every", "None", "Nothing", "Not"}, word)
}

// gatherInstruction writes all words of what was understood, and adds its numbers.
func gatherInstruction(in *intent.Instruction, b *strings.Builder, numbers map[float64]bool) {
	put := func(parts ...string) {
		for _, s := range parts {
			b.WriteString(s)
			b.WriteByte(' ')
		}
	}
	put(in.Verb, in.URL, in.Order, in.Direction, in.Key, string(in.Place))
	numbers[float64(in.Times)], numbers[float64(in.By)] = true, true
	numbers[in.Duration.Seconds()], numbers[float64(in.Duration.Milliseconds())], numbers[in.Duration.Minutes()] = true, true, true
	for _, p := range []*intent.Phrase{in.Target, in.Item, in.To} {
		gatherPhrase(p, b, numbers, 0)
	}
	gatherValues(in.Values, b, numbers)
	for _, d := range in.Details {
		b.WriteString(d.Name + " ")
		gatherValues([]intent.Value{d.Value}, b, numbers)
	}
	gatherAssertion(in.Assertion, b, numbers, 0)
	gatherAssertion(in.If, b, numbers, 0)
}

func gatherPhrase(p *intent.Phrase, b *strings.Builder, numbers map[float64]bool, depth int) {
	if p == nil || depth > maxDepth {
		return
	}
	b.WriteString(p.Name + " " + p.Noun + " ")
	if strings.Count(p.Text, " ") < 8 {
		b.WriteString(p.Text + " ")
	}
	numbers[float64(p.Ordinal)], numbers[float64(p.Count)] = true, true
	for k, look := range p.Looks {
		b.WriteString(k + " " + look + " ")
	}
	for i := range p.Except {
		gatherPhrase(&p.Except[i], b, numbers, depth+1)
	}
	for i := range p.Others {
		gatherPhrase(&p.Others[i], b, numbers, depth+1)
	}
	for i := range p.Relations {
		gatherPhrase(&p.Relations[i].Phrase, b, numbers, depth+1)
	}
}

func gatherValues(values []intent.Value, b *strings.Builder, numbers map[float64]bool) {
	for i := range values {
		v := &values[i]
		b.WriteString(strings.Join([]string{v.Text, v.Label, v.Prefix, v.Suffix, v.Part, " "}, " "))
		if values[i].Number != nil {
			numbers[*values[i].Number] = true
		}
		gatherPhrase(values[i].From, b, numbers, 0)
	}
}

func gatherAssertion(a *intent.Assertion, b *strings.Builder, numbers map[float64]bool, depth int) {
	if a == nil || depth > maxDepth {
		return
	}
	b.WriteString(a.Name + " " + a.Order + " ")
	if strings.Count(a.Text, " ") < 8 {
		b.WriteString(a.Text + " ")
	}
	gatherPhrase(a.Subject, b, numbers, depth)
	gatherValues(a.Values, b, numbers)
	for i := range a.Also {
		gatherAssertion(&a.Also[i], b, numbers, depth+1)
	}
}
