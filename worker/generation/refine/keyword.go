package refine

import (
	"slices"
	"strings"
	"unicode"
)

// maxKeywords bounds the words of a text that are compared.
const maxKeywords = 120

// lexicon is what the tables of words say, by stem.
type lexicon struct {
	plain    wordSet
	meanings map[string]string   // the word that stands for all that mean the same
	tools    map[string][]string // of activities
	roles    map[string][]string // of kinds
	steps    wordSet
}

var lex = newLexicon()

func newLexicon() *lexicon {
	l := &lexicon{plain: plain, meanings: map[string]string{}, tools: map[string][]string{}, roles: map[string][]string{}, steps: wordSet{}}
	for _, line := range synonyms {
		words := groups(line)
		for _, w := range words {
			parts := strings.Fields(w)
			for i := range parts {
				parts[i] = stem(parts[i])
			}
			l.meanings[strings.Join(parts, " ")] = stem(words[0])
		}
	}
	for _, a := range activities {
		for _, w := range groups(a.words) {
			l.tools[stem(w)] = append(l.tools[stem(w)], groups(a.tools)...)
		}
	}
	for _, k := range kinds {
		for _, w := range groups(k.words) {
			l.roles[stem(w)] = append(l.roles[stem(w)], groups(k.roles)...)
		}
	}
	for _, of := range languages {
		for _, w := range groups(of.steps) {
			l.steps[stem(fold(w))] = true
		}
	}
	return l
}

// keywords returns the words of a text that name something, as they are compared:
// without case, endings and articles, and one word for those that mean the same.
func keywords(text string) []string {
	words := split(text)
	var list []string
	for i := 0; i < len(words) && len(list) < maxKeywords; i++ {
		one := stem(words[i])
		if i+1 < len(words) {
			if same, known := lex.meanings[one+" "+stem(words[i+1])]; known {
				list = append(list, same)
				i++
				continue
			}
		}
		if lex.plain[words[i]] {
			continue
		}
		if same, known := lex.meanings[one]; known {
			one = same
		}
		list = append(list, one)
	}
	return list
}

var folds = strings.NewReplacer("ä", "ae", "ö", "oe", "ü", "ue", "ß", "ss", "é", "e", "è", "e", "à", "a", "á", "a", "ó", "o", "’", "'")

func fold(text string) string { return folds.Replace(strings.ToLower(text)) }

// split returns the words and numbers of a text. Names in code are words too:
// firstName is first and name.
func split(text string) []string {
	var list []string
	var b strings.Builder
	add := func() {
		if w := strings.Trim(b.String(), ".,'-"); w != "" {
			list = append(list, fold(w))
		}
		b.Reset()
	}
	runes := []rune(text)
	for i, r := range runes {
		if len(list) >= 4*maxKeywords {
			break
		}
		switch {
		case unicode.IsUpper(r) && i > 0 && unicode.IsLower(runes[i-1]):
			add()
			b.WriteRune(r)
		case unicode.IsLetter(r) || unicode.IsDigit(r):
			b.WriteRune(r)
		case (r == '.' || r == ',' || r == '\'' || r == '’') && i > 0 && i+1 < len(runes) && sameClass(runes[i-1], runes[i+1]):
			b.WriteRune(r)
		default:
			add()
		}
	}
	add()
	return list
}

// sameClass reports whether a mark between two runes keeps them one word.
func sameClass(a, b rune) bool {
	return unicode.IsDigit(a) && unicode.IsDigit(b) || unicode.IsLetter(a) && unicode.IsLetter(b)
}

// stem returns a word without the endings of plurals and verbs. It is the same for the
// forms of one word, and no word itself.
func stem(word string) string {
	word = strings.TrimSuffix(strings.TrimSuffix(word, "'s"), "'")
	if len(word) < 4 || !unicode.IsLetter(rune(word[0])) || strings.ContainsAny(word, "@.0123456789") {
		return word
	}
	for _, ending := range []string{"ies", "ing", "ed", "es", "en", "st", "s", "e"} {
		short, ok := strings.CutSuffix(word, ending)
		if !ok || len(short) < 3 || ending == "s" && strings.HasSuffix(short, "s") || ending == "st" && !strings.HasSuffix(short, "e") {
			continue
		}
		switch n := len(short); {
		case ending == "ies":
			return short + "y"
		case ending == "st":
			return stem(short)
		case n > 3 && short[n-1] == short[n-2] && (ending == "ing" || ending == "ed") && short[n-1] != 's' && short[n-1] != 'l':
			return short[:n-1]
		}
		return strings.TrimSuffix(short, "e")
	}
	return word
}

// mentions reports whether a text has a value as whole words, whatever the case.
func mentions(text, value string) bool { return indexWord(text, value) >= 0 }

// indexWord returns where a value stands in a text as whole words; -1 if nowhere.
func indexWord(text, value string) int {
	low, wanted := strings.ToLower(text), strings.ToLower(strings.TrimSpace(value))
	if wanted == "" || len(low) != len(text) {
		return -1
	}
	for from := 0; from <= len(low)-len(wanted); {
		i := strings.Index(low[from:], wanted)
		if i < 0 {
			return -1
		}
		i += from
		if edge(low, i) && edgeAfter(low, i+len(wanted)) {
			return i
		}
		from = i + 1
	}
	return -1
}

func edge(text string, at int) bool {
	return at == 0 || !wordByte(text[at-1]) && !inAddress(text, at-1, at-2)
}

func edgeAfter(text string, at int) bool {
	return at >= len(text) || !wordByte(text[at]) && !inAddress(text, at, at+1)
}

// inAddress reports whether a mark joins words to one: ann@example.com has no ann.
func inAddress(text string, mark, beyond int) bool {
	return strings.IndexByte("@._-/", text[mark]) >= 0 && beyond >= 0 && beyond < len(text) && wordByte(text[beyond])
}

// wordByte reports whether a byte belongs to a word; bytes of other letters do.
func wordByte(b byte) bool {
	return b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b >= '0' && b <= '9' || b >= 0x80
}

// replaceWord returns a text with a value in place of another, as whole words.
func replaceWord(text, old, now string) string {
	at := indexWord(text, old)
	if at < 0 {
		return text
	}
	end := at + len(strings.TrimSpace(old))
	return text[:at] + likeCase(text[at:end], now) + text[end:]
}

// likeCase returns a word that begins as another does: "chair" instead of "Lamp" is
// "Chair".
func likeCase(old, now string) string {
	a, b := []rune(old), []rune(now)
	if len(a) == 0 || len(b) == 0 || !unicode.IsUpper(a[0]) || !unicode.IsLower(b[0]) || strings.ContainsAny(now, "@{/") {
		return now
	}
	b[0] = unicode.ToUpper(b[0])
	return string(b)
}

func overlap(some, all []string) int {
	n := 0
	for _, w := range some {
		if slices.Contains(all, w) {
			n++
		}
	}
	return n
}
