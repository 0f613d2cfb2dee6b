package filename

import (
	"path"

	"github.com/slipway-qa/slipway/worker/crash/fingerprint/scan"

	"strings"
)

// chunk stands for a script whose name is a number or a hash.
const chunk = "chunk"

// dropFileHash removes the hashes that bundlers put between the name and the
// extension of a script, and what tells builds of one source apart:
// main.3f9a1c.js, chunk-2d0a4b5c.js, index-B-x_3kLz.js, main-es2015.min.js.
func dropFileHash(base string) string {
	ext := path.Ext(base)
	if ext == "" || len(ext) == len(base) {
		return base
	}
	name := strings.TrimSuffix(base, ext)
	for range 4 {
		if stem, ok := cutURLHash(name); ok {
			name = stem
			continue
		}
		i := strings.LastIndexAny(name, ".-_~")
		if i <= 0 {
			break
		}
		part, stem := name[i+1:], strings.TrimRight(name[:i], ".-_~")
		if stem == "" || !isHash(part) && !isBuildWord(part) {
			break
		}
		name = stem
	}
	if scan.AllDigits(name) || isHash(name) || isURLHash(name) {
		name = chunk
	}
	return name + ext
}

// isBuildWord reports whether a part of a script's name only says how it was built.
func isBuildWord(part string) bool {
	switch part {
	case "chunk", "bundle", "min", "esm", "prod", "production", "development", "dev", "legacy", "es5", "modern", "":
		return true
	}
	year, ok := strings.CutPrefix(part, "es20")
	return ok && scan.AllDigits(year)
}

// cutURLHash removes the eight characters of base 64 with - and _ that Vite puts
// after a dash.
func cutURLHash(name string) (string, bool) {
	i := len(name) - 9
	if i <= 0 || name[i] != '-' && name[i] != '.' || !isURLHash(name[i+1:]) {
		return name, false
	}
	return strings.TrimRight(name[:i], ".-_~"), true
}

// isURLHash reports whether a word is such a hash, and not made of words: it has
// a digit before a letter, words of one or two letters, or too many words.
func isURLHash(s string) bool {
	if len(s) != 8 {
		return false
	}
	capitals, digits, inside := 0, 0, false
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case scan.IsDigit(c):
			digits++
			inside = inside || i+1 < len(s) && scan.IsLetter(s[i+1])
		case c >= 'A' && c <= 'Z':
			capitals++
		case !scan.IsLetter(c) && c != '-' && c != '_':
			return false
		}
	}
	switch {
	case capitals+digits == len(s):
		return capitals > 0 // as esbuild writes them
	case capitals == 0:
		return digits > 1 && inside
	case inside:
		return true
	}
	words, short := 0, 0
	for rest := s; ; words++ {
		word, tail := scan.NextWord(rest)
		if word == "" || scan.IsDigit(word[0]) {
			return short > 1 || words > 3
		}
		if len(word) < 3 {
			short++
		}
		rest = tail
	}
}

// isHash reports whether a word was not written by a person: at least six
// hexadecimal digits of both kinds, or eight and more letters and digits that
// change between small, capital and digit too often for a name.
func isHash(s string) bool {
	if len(s) < 6 || len(s) > 64 {
		return false
	}
	kind := func(c byte) int {
		switch {
		case scan.IsDigit(c):
			return 1
		case c >= 'a' && c <= 'z':
			return 2
		case c >= 'A' && c <= 'Z':
			return 3
		}
		return 0
	}
	changes, digit, letter, hex := 0, false, false, true
	for i := 0; i < len(s); i++ {
		k := kind(s[i])
		if k == 0 {
			return false
		}
		digit, letter, hex = digit || k == 1, letter || k != 1, hex && scan.IsHex(s[i])
		if i > 0 && kind(s[i-1]) != k {
			changes++
		}
	}
	if hex && digit && (letter || len(s) >= 8) {
		return true
	}
	return len(s) >= 8 && changes >= 4
}
