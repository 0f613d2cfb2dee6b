package plan

import (
	"strings"
	"unicode"
)

// phraseText is a text as it is compared: as it is written, in lower case, and as
// words.
type phraseText struct {
	raw     string
	folded  string // lower case, single spaces
	words   []string
	compact string // the words without spaces
}

// maxCompared bounds the words of a text that are compared.
const maxCompared = 400

func parseText(s string) phraseText {
	t := phraseText{raw: strings.Join(strings.Fields(s), " ")}
	t.folded = fold(t.raw)
	t.words = splitWords(t.folded)
	t.compact = strings.Join(t.words, "")
	return t
}

// folds are letters that people leave out or write otherwise.
var folds = strings.NewReplacer("ä", "ae", "ö", "oe", "ü", "ue", "ß", "ss", "é", "e", "è", "e", "ê", "e", "á", "a",
	"à", "a", "â", "a", "í", "i", "ó", "o", "ô", "o", "ú", "u", "ñ", "n", "ç", "c", "’", "'", "‘", "'")

func fold(s string) string { return folds.Replace(strings.ToLower(s)) }

// splitWords returns the words and numbers of a folded text. A decimal number is one
// word, and an apostrophe belongs to its word.
func splitWords(folded string) []string {
	var list []string
	runes := []rune(folded)
	for i := 0; i < len(runes) && len(list) < maxCompared; {
		if !wordRune(runes[i]) {
			i++
			continue
		}
		first := i
		for i < len(runes) && (wordRune(runes[i]) || insideWord(runes, i)) {
			i++
		}
		list = append(list, joints.Replace(string(runes[first:i])))
	}
	return list
}

// joints are what stands inside of words and says nothing.
var joints = strings.NewReplacer("'", "", "-", "")

func wordRune(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.Is(unicode.Mn, r)
}

// insideWord reports whether a rune between two others keeps them one word: it's, 12.50.
func insideWord(runes []rune, i int) bool {
	if i == 0 || i+1 >= len(runes) || !wordRune(runes[i+1]) {
		return false
	}
	switch runes[i] {
	case '\'':
		return unicode.IsLetter(runes[i-1])
	case '.', ',':
		return unicode.IsDigit(runes[i-1]) && unicode.IsDigit(runes[i+1])
	case '-': // e-mail, t-shirt
		return unicode.IsLetter(runes[i-1]) && (i == 1 || !wordRune(runes[i-2])) && unicode.IsLetter(runes[i+1])
	default:
		return false
	}
}

// stem returns a word without the endings of plurals and verbs. It is the same for
// the forms of one word, and no word itself.
func stem(word string) string {
	if len(word) < 4 || !unicode.IsLetter(rune(word[0])) {
		return word
	}
	for _, ending := range []string{"ies", "ing", "ed", "es", "en", "s", "e", "n"} {
		short, ok := strings.CutSuffix(word, ending)
		if !ok || len(short) < 3 || ending == "s" && strings.HasSuffix(short, "s") {
			continue
		}
		if ending == "ies" {
			return short + "y"
		}
		if n := len(short); n > 3 && short[n-1] == short[n-2] && (ending == "ing" || ending == "ed") {
			return short[:n-1] // stopped
		}
		return short
	}
	return word
}

// fillers are words that a description may have and a name lack, and the reverse.
var fillers = map[string]bool{
	"the": true, "a": true, "an": true, "of": true, "to": true, "in": true, "on": true, "for": true, "and": true, "your": true, "my": true,
	"please": true, "this": true, "that": true, "with": true, "from": true, "by": true, "at": true, "is": true, "again": true, "then": true, "now": true, "just": true, "erneut": true, "nochmal": true, "wieder": true,
	"der": true, "die": true, "das": true, "den": true, "dem": true, "des": true, "ein": true, "eine": true, "und": true, "von": true,
	"zu": true, "zum": true, "zur": true, "im": true, "mit": true, "ihr": true, "ihre": true, "bitte": true, "fuer": true,
}

// content returns the words that carry meaning; all where none does.
func content(words []string) []string {
	var list []string
	for _, w := range words {
		if !fillers[w] {
			list = append(list, w)
		}
	}
	if len(list) == 0 {
		return words
	}
	return list
}

func joinWords(words []string) string { return strings.Join(words, " ") }
