package intent

import (
	"strings"

	spelling "github.com/slipway-qa/slipway/worker/generation/word/token"
)

// numeral reads a number from i: digits with separators of thousands and decimals in any
// language's way, times ("10:30"), dates of digits ("05/12/2016", "14.04.2031") and numbers of
// phones and cards as one token. A full stop behind the digits stays outside of it.
func numeral(s string, i int) (token, bool) {
	j := i
	if s[j] == '-' || s[j] == '+' {
		j++
	} else if strings.HasPrefix(s[j:], "−") {
		j += len("−")
	}
	start := j
	for j < len(s) && inNumeral(s, j) {
		j++
	}
	if j < len(s) && letterAt(s, j) {
		return glued(s, i, j)
	}
	j = phone(s, start, j)
	t := token{Span: Span{i, j}, class: numberToken, text: s[i:j]}
	if v, ok := amount(s[start:j]); ok {
		t.num = v
		if start > i && s[i] != '+' {
			t.num = -v
		}
		return t, true
	}
	t.class = codeToken
	return t, true
}

// inNumeral reports whether the byte at j goes on a number: a digit, or one separator that
// digits follow.
func inNumeral(s string, j int) bool {
	if s[j] >= '0' && s[j] <= '9' {
		return true
	}
	return strings.IndexByte(".,:/-'", s[j]) >= 0 && digitAt(s, j+1) && j > 0 && digitAt(s, j-1)
}

// glued reads a number with letters behind it: "25m" and "9h" are a number and a unit, "2nd"
// and "5x60" one word.
func glued(s string, i, j int) (token, bool) {
	w := letters(s, i, rune(s[i]))
	tail := fold(s[j:max(w.To, j)])
	if len(tail) > 3 || ordinalTail[tail] || strings.ContainsAny(tail, "0123456789_-/") {
		return w, true
	}
	if strings.Contains(s[i:j], ":") { // "3:45pm"
		return token{Span: Span{i, j}, class: codeToken, text: s[i:j]}, true
	}
	v, ok := amount(s[i:j])
	return token{Span: Span{i, j}, class: numberToken, text: s[i:j], num: v}, ok
}

// ordinalTail are endings of ordinals in digits.
var ordinalTail = map[string]bool{
	"st": true, "nd": true, "rd": true, "th": true, "er": true, "ère": true, "e": true, "ème": true, "º": true, "ª": true,
	"o": true, "re": true, "a": true, "ter": true, "te": true, "ten": true, "nde": true,
}

// phone takes further groups of digits into a number that begins with 0 or a country's code.
func phone(s string, start, j int) int {
	digits := s[start:j]
	begins := len(digits) > 1 && digits[0] == '0' && strings.Trim(digits, "0123456789") == "" || start > 0 && s[start-1] == '+'
	for begins && j+1 < len(s) && strings.IndexByte(" -/", s[j]) >= 0 && digitAt(s, j+1) {
		j++
		for j < len(s) && digitAt(s, j) {
			j++
		}
	}
	return j
}

// amount returns the value of digits with separators, as package token reads them. A leading zero before more
// digits makes no amount, and the parts of a date make none.
func amount(s string) (float64, bool) {
	if strings.ContainsAny(s, ":/- ") || len(s) > 1 && s[0] == '0' && s[1] >= '0' && s[1] <= '9' {
		return 0, false
	}
	if last := strings.LastIndexAny(s, ".,"); last >= 0 && len(s)-last-1 != 3 && strings.Count(s, s[last:last+1]) > 1 {
		return 0, false // 14.04.2031
	}
	v := spelling.Values(strings.TrimPrefix(s, "+"))
	if len(v) == 0 {
		return 0, false
	}
	return v[0], true
}
