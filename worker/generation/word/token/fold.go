// Package token cuts text into words and makes them comparable: case, diacritics, quotes and
// dashes folded, stems taken. It knows letters and no words; those are in package lexicon.
//
// Letters fold as the Unicode standard says (NFKD without marks, simple case folding); digits,
// ordinals and numbers with separators are tokens of their own, and so are signs that belong to
// an address or a file's name.
package token

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Fold returns s as it is compared: lower case without diacritics, with plain quotes, dashes
// and single spaces, and without characters that are not seen.
func Fold(s string) string {
	if plain(s) {
		return s
	}
	return fold(Lower(s))
}

// Lower returns s in lower case with plain quotes, dashes and spaces, and with its diacritics.
func Lower(s string) string {
	if plain(s) {
		return s
	}
	if ascii(s) {
		return lowerASCII(s)
	}
	var b strings.Builder
	b.Grow(len(s))
	space := true
	for _, r := range norm.NFC.String(s) {
		r = unicode.ToLower(r)
		if unicode.IsSpace(r) {
			if !space {
				b.WriteByte(' ')
			}
			space = true
			continue
		}
		if n := b.Len(); !write(&b, r) && b.Len() == n {
			continue
		}
		space = false
	}
	return strings.TrimRight(b.String(), " ")
}

// plain reports whether s is folded already, which most texts of a page are.
func plain(s string) bool {
	space := true
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c >= utf8.RuneSelf || c >= 'A' && c <= 'Z' || c < ' ' || c == 0x7f || c == '`' || c == ' ' && space {
			return false
		}
		space = c == ' '
	}
	return !space || s == ""
}

// lowerASCII is Lower of a text without other letters.
func lowerASCII(s string) string {
	b := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == ' ' || c >= '\t' && c <= '\r':
			if len(b) > 0 && b[len(b)-1] != ' ' {
				b = append(b, ' ')
			}
		case c < ' ' || c == 0x7f:
		case c == '`':
			b = append(b, '\'')
		case c >= 'A' && c <= 'Z':
			b = append(b, c+'a'-'A')
		default:
			b = append(b, c)
		}
	}
	return strings.TrimRight(string(b), " ")
}

// write appends r or what stands for it, and reports whether it is seen at all.
func write(b *strings.Builder, r rune) bool {
	switch r {
	case '‘', '’', '‚', '‛', '`', '´', 'ʼ', '′', '＇':
		b.WriteByte('\'')
	case '“', '”', '„', '‟', '«', '»', '‹', '›', '″', '＂':
		b.WriteByte('"')
	case '‐', '‑', '‒', '–', '—', '―', '−', '－':
		b.WriteByte('-')
	case '…':
		b.WriteString("...")
	case '\u00ad', '\u200b', '\u200c', '\u200d', '\u2060', '\ufeff', '\ufe0f', '\ufe0e':
		return false
	default:
		if unicode.Is(unicode.Cc, r) || r == utf8.RuneError {
			return false
		}
		b.WriteRune(r)
	}
	return true
}

// special are letters that do not fall apart into a base and a mark.
var special = map[rune]string{
	'ß': "ss", 'æ': "ae", 'œ': "oe", 'ø': "o", 'ł': "l", 'đ': "d", 'ð': "d", 'þ': "th", 'ı': "i", 'ħ': "h", 'ŋ': "n",
}

// fold takes the diacritics off a text that is in lower case.
func fold(s string) string {
	if ascii(s) {
		return s
	}
	var b strings.Builder
	b.Grow(len(s))
	for _, r := range norm.NFKD.String(s) {
		switch {
		case r < utf8.RuneSelf:
			b.WriteByte(byte(r))
		case unicode.Is(unicode.Mn, r):
		case special[r] != "":
			b.WriteString(special[r])
		default:
			b.WriteRune(unicode.ToLower(r))
		}
	}
	return b.String()
}

func ascii(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// umlauts are letters that people without them write as two.
var umlauts = strings.NewReplacer("ä", "ae", "ö", "oe", "ü", "ue", "å", "aa", "ø", "oe")

// Spelled returns the folded form of a word with its umlauts written as two letters ("ue"
// for "ü"), or "" where it has none.
func Spelled(s string) string {
	l := Lower(s)
	if ascii(l) {
		return ""
	}
	if t := umlauts.Replace(l); t != l {
		return fold(t)
	}
	return ""
}
