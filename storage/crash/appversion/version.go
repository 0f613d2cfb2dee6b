// Package appversion orders the versions of applications. They come in every spelling, and
// regressions and lists of crashes need their order. A version is read into three parts, compared in this order:
//
//	1.8.0   -rc.2          (456)
//	numbers  stage         build
//
// Numbers are any count of numbers between dots; zeros at the end do not count, so
// 1.2 is 1.2.0. A stage is a pre-release (before the numbers alone) or a patch word
// (after them). A build decides last: numbers in parentheses, after a plus or the
// word build. What does not begin with a number, after a name and words such as v or
// release, is text: before all numbers, in the order in which a person sorts files.
package appversion

import (
	"cmp"
	"slices"
	"strings"
)

// maxVersion bounds what of a version counts, in bytes; columns store 255.
const maxVersion = 256

// versionStage orders versions of the same numbers.
type versionStage int

const (
	stagePre versionStage = iota
	stageFinal
	stagePatch
)

// Key is a version as it is compared.
type Key struct {
	Numbered bool
	numbers  []string // without leading zeros; no empty one at the end
	stage    versionStage
	words    []string // of the stage, or of the text
	build    []string
}

// Compare returns -1, 0 or +1 as version a is before, the same as or after
// version b. It is a total order of all texts: semantic versions with pre-releases,
// numbers of any count and length, builds, dates; versions that are no numbers are
// before those that are.
func Compare(a, b string) int {
	if a == b {
		return 0
	}
	return Parse(a).Compare(Parse(b))
}

// Compare orders versions as Compare does.
func (x Key) Compare(y Key) int {
	if x.Numbered != y.Numbered {
		if y.Numbered {
			return -1
		}
		return 1
	}
	return cmp.Or(
		slices.CompareFunc(x.numbers, y.numbers, compareNumbers),
		cmp.Compare(x.stage, y.stage),
		slices.CompareFunc(x.words, y.words, compareWords),
		slices.CompareFunc(x.build, y.build, compareNumbers))
}

// Ordered reports whether the order of two versions says which of them was
// made first: both are numbers, and no hashes or names of branches.
func Ordered(a, b string) bool {
	return Parse(a).Numbered && Parse(b).Numbered
}

// Parse reads a version.
func Parse(s string) Key {
	s = strings.TrimSpace(s[:min(len(s), maxVersion)])
	rest := versionBody(s)
	if rest == "" {
		return Key{words: versionTokens(s), stage: stageFinal}
	}
	k := Key{Numbered: true, stage: stageFinal}
	k.numbers, rest = versionNumbers(rest)
	k.readStage(rest)
	return k
}

// versionBody returns a version from its first number on, without the name of a
// package (app@1.2.3) and words that only say that a version follows. It is "" for
// text and for hashes.
func versionBody(s string) string {
	if at := strings.LastIndexByte(s, '@'); at >= 0 {
		s = s[at+1:]
	}
	n := 0
	for n < len(s) && isVersionLetter(s[n]) {
		n++
	}
	if n > 0 && !versionIntroductions(strings.ToLower(s[:n])) {
		return ""
	}
	s = strings.TrimLeft(s[n:], " ._-:")
	if s == "" || !isVersionDigit(s[0]) || isVersionHash(s) {
		return ""
	}
	return s
}

// versionIntroductions reports whether a word only says that a version follows.
func versionIntroductions(word string) bool {
	switch word {
	case "v", "ver", "version", "rel", "release", "r", "build":
		return true
	}
	return false
}

// isVersionHash reports whether a text is the hash of a commit: hexadecimal digits,
// letters among them, at least as many as short hashes have.
func isVersionHash(s string) bool {
	letters := 0
	for i := range len(s) {
		switch c := s[i] | 0x20; {
		case isVersionDigit(s[i]):
		case c >= 'a' && c <= 'f':
			letters++
		default:
			return false
		}
	}
	return len(s) >= 7 && letters > 0
}

// versionNumbers reads the numbers at the beginning, and the rest. Between them are
// dots, commas (resources of Windows), underscores (Java), and in dates hyphens.
func versionNumbers(s string) (numbers []string, rest string) {
	date := isVersionDate(s)
	for {
		n := 0
		for n < len(s) && isVersionDigit(s[n]) {
			n++
		}
		numbers = append(numbers, strings.TrimLeft(s[:n], "0"))
		s = s[n:]
		if len(s) < 2 || strings.IndexByte(".,_", s[0]) < 0 && (s[0] != '-' || !date || len(numbers) > 2) {
			break
		}
		next := strings.TrimLeft(s[1:], " ")
		if next == "" || !isVersionDigit(next[0]) || s[0] != ',' && next[0] != s[1] {
			break
		}
		s = next
	}
	for len(numbers) > 0 && numbers[len(numbers)-1] == "" {
		numbers = numbers[:len(numbers)-1]
	}
	return numbers, s
}

// isVersionDate reports whether a version begins with a date: 2026-01-31.
func isVersionDate(s string) bool {
	if len(s) < 10 || s[4] != '-' || s[7] != '-' {
		return false
	}
	for _, i := range []int{0, 1, 2, 3, 5, 6, 8, 9} {
		if !isVersionDigit(s[i]) {
			return false
		}
	}
	return len(s) == 10 || !isVersionDigit(s[10])
}

// readStage reads what follows the numbers.
func (x *Key) readStage(s string) {
	if s == "" {
		return
	}
	main, build := s, ""
	if n := strings.IndexAny(s, "+("); n >= 0 {
		main, build = s[:n], s[n+1:]
	}
	attached := len(main) > 0 && main[0] != '-'
	words := versionTokens(main)
	for i, word := range words {
		if word == "build" {
			// 1.2.3 build 456
			build = strings.Join(words[i+1:], ".") + "." + build
			words = words[:i]
			break
		}
	}
	x.readWords(words, attached)
	for _, word := range versionTokens(build) {
		if isVersionDigit(word[0]) {
			x.build = append(x.build, strings.TrimLeft(word, "0"))
		}
	}
}

// readWords reads the words of a stage. attached is set where no hyphen introduces
// them, as Python and OpenSSL write: 1.2rc1, 1.1.1k.
func (x *Key) readWords(words []string, attached bool) {
	if len(words) == 0 {
		return
	}
	numbered := len(words) > 1 && isVersionDigit(words[1][0])
	switch first := words[0]; {
	case first == "final" || first == "ga" || first == "release":
		words = words[1:]
	case first == "post" || first == "patch" || first == "hotfix" || first == "sp":
		x.stage = stagePatch
	case attached && first == "dev":
		x.stage, words[0] = stagePre, "" // before the alphas of the same numbers
	case attached && numbered && (first == "a" || first == "b" || first == "c"):
		x.stage, words[0] = stagePre, map[string]string{"a": "alpha", "b": "beta", "c": "rc"}[first]
	case attached && (isVersionDigit(first[0]) || len(first) == 1 || !isPreRelease(first)):
		x.stage = stagePatch
	default:
		x.stage = stagePre
	}
	x.words = words
}

// isPreRelease reports whether a word says that a version comes before its numbers.
func isPreRelease(word string) bool {
	switch word {
	case "alpha", "beta", "rc", "cr", "pre", "preview", "prerelease", "snapshot", "canary", "nightly", "milestone",
		"eap", "test", "dev", "insider", "unstable":
		return true
	}
	return false
}

// versionTokens splits a text into words in small letters and numbers.
func versionTokens(s string) []string {
	var tokens []string
	for i := 0; i < len(s); {
		start := i
		switch {
		case isVersionDigit(s[i]):
			for i < len(s) && isVersionDigit(s[i]) {
				i++
			}
		case isVersionLetter(s[i]) || s[i] >= 0x80:
			for i < len(s) && (isVersionLetter(s[i]) || s[i] >= 0x80) {
				i++
			}
		default:
			i++
			continue
		}
		tokens = append(tokens, strings.ToLower(s[start:i]))
	}
	return tokens
}

// compareNumbers compares numbers of any length without leading zeros.
func compareNumbers(a, b string) int {
	return cmp.Or(cmp.Compare(len(a), len(b)), strings.Compare(a, b))
}

// compareWords compares two words; numbers come before others.
func compareWords(a, b string) int {
	x, y := a != "" && isVersionDigit(a[0]), b != "" && isVersionDigit(b[0])
	switch {
	case x && y:
		return compareNumbers(strings.TrimLeft(a, "0"), strings.TrimLeft(b, "0"))
	case x:
		return -1
	case y:
		return 1
	}
	return strings.Compare(a, b)
}

func isVersionDigit(c byte) bool  { return c-'0' <= 9 }
func isVersionLetter(c byte) bool { return (c|0x20)-'a' < 26 }
