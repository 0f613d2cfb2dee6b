package language

import (
	"fmt"
	"regexp"
	"regexp/syntax"
	"strings"
	"unicode"
)

// common is what regular expressions of RE2, JavaScript (with the flag u),
// Python and Java write in the same way; such a pattern is kept as it is.
var common = regexp.MustCompile(`^(?:[A-Za-z0-9 _,;:@%!<>=~'"/#&-]|\\[dDwWsSbB.\\()\[\]{}^$|*+?/]|[.*+?|()^$]|\[\^?(?:[A-Za-z0-9 _.,:@%+]|[a-z]-[a-z]|[A-Z]-[A-Z]|[0-9]-[0-9])+\]|\{[0-9]+(?:,[0-9]*)?\})*$`)

// pattern writes a regular expression of RE2 so that the other languages read it
// alike. What they write differently (flags, classes, anchors) is written anew
// from what RE2 understood. One that RE2 cannot read is kept. anyCase: upper and
// lower case are the same, which not every language can say in the pattern.
func pattern(re2 string, escape func(rune) string) (written string, anyCase bool) {
	tree, err := syntax.Parse(re2, syntax.Perl)
	if err != nil {
		return re2, false
	}
	plain, anyCase := strings.CutPrefix(re2, "(?i)")
	if common.MatchString(plain) && !strings.Contains(plain, "(?") {
		return plain, anyCase
	}
	w := &patternWriter{escape: escape}
	w.write(tree, inNothing)
	return w.String(), false
}

// InlinePattern says in the pattern that the case does not matter, as Python and
// Java do.
func InlinePattern(re2 string, escape func(rune) string) string {
	written, anyCase := pattern(re2, escape)
	if anyCase {
		return "(?i)" + written
	}
	return written
}

// javaScriptRune writes a character that does not print or means something else in patterns of
// JavaScript.
func javaScriptRune(r rune) string { return fmt.Sprintf(`\u{%x}`, r) }

// JavaRune does so for patterns of Java.
func JavaRune(r rune) string { return fmt.Sprintf(`\x{%x}`, r) }

// PythonRune does so for patterns of Python.
func PythonRune(r rune) string {
	if r > 0xffff {
		return fmt.Sprintf(`\U%08x`, r)
	}
	return fmt.Sprintf(`\u%04x`, r)
}

type patternWriter struct {
	strings.Builder
	escape func(rune) string
}

// The ranks of what stands around a part, to know where a group is needed.
const (
	inNothing = iota
	inConcatenation
	inRepetition
)

func (w *patternWriter) write(t *syntax.Regexp, rank int) {
	switch t.Op {
	case syntax.OpNoMatch:
		w.WriteString(`(?!)`)
	case syntax.OpEmptyMatch:
		w.WriteString(`(?:)`)
	case syntax.OpLiteral:
		w.literal(t, rank)
	case syntax.OpCharClass:
		w.class(t.Rune)
	case syntax.OpAnyCharNotNL:
		w.WriteString(`[^\n]`)
	case syntax.OpAnyChar:
		w.WriteString(`[\s\S]`)
	case syntax.OpBeginLine:
		w.WriteString(`(?:(?<=\n)|(?<![\s\S]))`)
	case syntax.OpEndLine:
		w.WriteString(`(?:(?=\n)|(?![\s\S]))`)
	case syntax.OpBeginText:
		w.WriteString(`(?<![\s\S])`)
	case syntax.OpEndText:
		w.WriteString(`(?![\s\S])`)
	case syntax.OpWordBoundary:
		w.WriteString(`\b`)
	case syntax.OpNoWordBoundary:
		w.WriteString(`\B`)
	case syntax.OpCapture:
		w.group("(", t.Sub, inNothing)
	case syntax.OpStar, syntax.OpPlus, syntax.OpQuest, syntax.OpRepeat:
		w.repetition(t, rank)
	case syntax.OpConcat:
		if rank == inRepetition {
			w.group("(?:", t.Sub, inConcatenation)
			return
		}
		for _, sub := range t.Sub {
			w.write(sub, inConcatenation)
		}
	case syntax.OpAlternate:
		if rank != inNothing {
			w.WriteString("(?:")
		}
		for i, sub := range t.Sub {
			if i > 0 {
				w.WriteByte('|')
			}
			w.write(sub, inConcatenation)
		}
		if rank != inNothing {
			w.WriteByte(')')
		}
	}
}

func (w *patternWriter) group(open string, subs []*syntax.Regexp, rank int) {
	w.WriteString(open)
	for _, sub := range subs {
		w.write(sub, rank)
	}
	w.WriteByte(')')
}

func (w *patternWriter) repetition(t *syntax.Regexp, rank int) {
	// a** is no pattern elsewhere.
	if rank == inRepetition {
		w.WriteString("(?:")
		defer w.WriteByte(')')
	}
	w.write(t.Sub[0], inRepetition)
	switch {
	case t.Op == syntax.OpStar:
		w.WriteByte('*')
	case t.Op == syntax.OpPlus:
		w.WriteByte('+')
	case t.Op == syntax.OpQuest:
		w.WriteByte('?')
	case t.Max < 0:
		fmt.Fprintf(w, "{%d,}", t.Min)
	case t.Max == t.Min:
		fmt.Fprintf(w, "{%d}", t.Min)
	default:
		fmt.Fprintf(w, "{%d,%d}", t.Min, t.Max)
	}
	if t.Flags&syntax.NonGreedy != 0 {
		w.WriteByte('?')
	}
}

func (w *patternWriter) literal(t *syntax.Regexp, rank int) {
	if rank == inRepetition && len(t.Rune) > 1 {
		w.WriteString("(?:")
		defer w.WriteByte(')')
	}
	for _, r := range t.Rune {
		if r == '-' || r == '&' {
			w.WriteRune(r) // only in a class they mean something
			continue
		}
		if t.Flags&syntax.FoldCase == 0 || unicode.SimpleFold(r) == r {
			w.rune(r)
			continue
		}
		w.WriteByte('[')
		w.rune(r)
		for other := unicode.SimpleFold(r); other != r; other = unicode.SimpleFold(other) {
			w.rune(other)
		}
		w.WriteByte(']')
	}
}

// class takes pairs of first and last characters.
func (w *patternWriter) class(pairs []rune) {
	if len(pairs) == 0 {
		w.WriteString(`(?!)`)
		return
	}
	// A class that reaches the end is written by what it leaves out.
	if pairs[0] == 0 && pairs[len(pairs)-1] == unicode.MaxRune {
		if len(pairs) == 2 {
			w.WriteString(`[\s\S]`)
			return
		}
		w.WriteString("[^")
		for i := 1; i+1 < len(pairs); i += 2 {
			w.span(pairs[i]+1, pairs[i+1]-1)
		}
	} else {
		w.WriteByte('[')
		for i := 0; i < len(pairs); i += 2 {
			w.span(pairs[i], pairs[i+1])
		}
	}
	w.WriteByte(']')
}

func (w *patternWriter) span(first, last rune) {
	w.rune(first)
	if last > first {
		if last > first+1 {
			w.WriteByte('-')
		}
		w.rune(last)
	}
}

// rune writes letters, digits and spaces as they are; everything else might mean
// something in one of the languages.
func (w *patternWriter) rune(r rune) {
	switch {
	case unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune(" _,;:@%!<>='\"#", r):
		w.WriteRune(r)
	case strings.ContainsRune(`\^$.*+?()[]{}|/`, r):
		w.WriteString(`\` + string(r))
	default:
		w.WriteString(w.escape(r))
	}
}
