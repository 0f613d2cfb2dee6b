package intent

import (
	"strings"
	"unicode"
)

// sentences splits tokens into sentences: at full stops, semicolons, and lines that
// begin anew. A line that goes on with what the former one began belongs to it.
func sentences(l *lexicon, tokens span) []span {
	var out []span
	begin, depth := 0, 0
	add := func(end int) {
		if s := unmarked(tokens[begin:end]); len(s) > 0 {
			s[0].begins = true
			out = append(out, s)
		}
	}
	for i, t := range tokens {
		if t.line && i > begin && (depth == 0 || t.blank) && newLine(l, tokens, i) {
			add(i)
			begin, depth = i, 0
		}
		switch {
		case t.is("("):
			depth++
		case t.is(")"):
			depth = max(0, depth-1)
		case t.kind == mark && ends(l, tokens, i):
			add(i)
			begin, depth = i+1, 0
		case t.kind == quoted && depth == 0 && endsQuoted(l, tokens, i):
			add(i + 1)
			begin = i + 1
		case i > begin && numbered(l, tokens, i):
			add(i)
			begin = i
		}
	}
	add(len(tokens))
	return out
}

// newLine reports whether the line at i begins a sentence.
func newLine(l *lexicon, tokens span, i int) bool {
	t, before := tokens[i], tokens[i-1]
	if t.blank || bullet(tokens[i:]) > 0 {
		return true
	}
	if before.is(",") || before.is("and") || before.is("und") {
		return false
	}
	if before.is(":") || t.kind == quoted {
		return before.is(":")
	}
	c := []rune(t.text)[0]
	return unicode.IsUpper(c) || l.verbs.has(tokens[i:]) || l.checks.has(tokens[i:]) || l.sequels.has(tokens[i:])
}

// ends reports whether the mark at i ends a sentence.
func ends(l *lexicon, tokens span, i int) bool {
	t := tokens[i]
	switch t.text {
	case ";", "!", "?", "•":
		return true
	case ".", "…", "...":
	default:
		return false
	}
	if i+1 == len(tokens) {
		return true
	}
	if i == 0 || t.text != "." {
		return true
	}
	before, next := tokens[i-1], tokens[i+1]
	if before.line && bullet(tokens[i-1:]) == 2 && !next.line {
		return false
	}
	if !t.glued && !next.line || next.glued {
		return false
	}
	if before.kind == word && (abbreviations[before.low] || isInitial(before) && next.kind == word && next.capital()) {
		return next.line
	}
	if digits(before.low) && !next.line && next.kind == word {
		// "am 5. Mai", "die 2. Zeile"
		code, n := l.dates.match(tokens[i+1:])
		if n > 0 && strings.HasPrefix(code, "month") {
			return false
		}
		if l.lang == "de" && (l.nouns.has(tokens[i+1:]) || l.things.has(tokens[i+1:]) || digits(next.low)) {
			return false
		}
	}
	return true
}

// endsQuoted reports whether a sentence ends with the full stop of a quoted text: it
// should say "Done." Click OK.
func endsQuoted(l *lexicon, tokens span, i int) bool {
	text := strings.TrimSpace(tokens[i].text)
	if i+1 >= len(tokens) || !strings.HasSuffix(text, ".") && !strings.HasSuffix(text, "!") && !strings.HasSuffix(text, "?") {
		return false
	}
	next := tokens[i+1]
	return next.kind == word && next.capital() && !next.glued && (l.verbs.has(tokens[i+1:]) || l.checks.has(tokens[i+1:]) || l.sequels.has(tokens[i+1:]) || l.articles.has(tokens[i+1:]))
}

// isInitial reports whether a token is one letter: an initial.
func isInitial(t token) bool {
	return len(t.text) == 1 && unicode.IsUpper(rune(t.text[0])) && !t.is("x")
}

// abbreviations end with a full stop that ends no sentence.
var abbreviations = map[string]bool{
	"dr": true, "mr": true, "mrs": true, "ms": true, "prof": true, "no": true, "nr": true, "e.g": true, "i.e": true,
	"etc": true, "vs": true, "st": true, "inc": true, "ltd": true, "z.b": true, "d.h": true, "ca": true, "bzw": true,
	"usw": true, "ggf": true, "str": true, "tel": true, "vol": true, "approx": true, "evtl": true, "abs": true, "hr": true, "fr": true,
}

func digits(s string) bool {
	if s == "" {
		return false
	}
	for _, c := range s {
		if c < '0' || c > '9' {
			return false
		}
	}
	return true
}

// bullet returns how many tokens of a list's mark a span begins with: "-", "1.", "2)",
// "(3)", "a)", "Step 4:".
func bullet(s span) int {
	if len(s) < 2 {
		return 0
	}
	label := func(t token) bool {
		return digits(t.low) && len(t.low) < 4 || len(t.low) == 1 && unicode.IsLetter(rune(t.low[0]))
	}
	switch {
	case s[0].is("-") || s[0].is("*") || s[0].is("•") || s[0].is("·") || s[0].is("–") || s[0].is("+") && !s[1].glued || s[0].is("—"):
		return 1
	case label(s[0]) && (s[1].is(")") || s[1].is(".") && digits(s[0].low) || s[1].is(":") && digits(s[0].low)) && s[1].glued && (len(s) == 2 || !s[2].glued):
		return 2
	case s[0].is("(") && len(s) > 2 && label(s[1]) && s[2].is(")"):
		return 3
	case (s[0].is("step") || s[0].is("schritt")) && digits(s[1].low):
		if len(s) > 2 && (s[2].is(":") || s[2].is(".") || s[2].is(")") || s[2].is("-") || s[2].is("–")) {
			return 3
		}
		return 2
	}
	return 0
}

// numbered reports whether an inline list goes on at i: "1) open X 2) click Y".
func numbered(l *lexicon, tokens span, i int) bool {
	n := bullet(tokens[i:])
	return n > 1 && (tokens[i+n-1].is(")") || tokens[i+n-1].is(".") || tokens[i].is("step")) && tokens[i].kind == word &&
		digits(tokens[i].low) && i+n < len(tokens) && (l.verbs.has(tokens[i+n:]) || l.checks.has(tokens[i+n:])) && !tokens[i].glued
}

// unmarked removes marks of lists and quotes of documents from the start of a sentence.
func unmarked(s span) span {
	if n := bullet(s); n > 0 && (s[0].line || n > 1) {
		s = s[n:]
	}
	return s.trim()
}
