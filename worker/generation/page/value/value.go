// Package value reads what a text of a page says as a value: money in all spellings, numbers
// with units, dates, times, durations and ratings, in the language of the page. What is prose
// stays text.
//
// Decimal marks and the order of day and month are told by the language, and by the other values
// of a column where that says nothing. A value keeps the text that it was read from.
package value

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Type is the type of what a text shows.
type Type string

// The types. State and Image are said by who sees more than the text.
const (
	Text     Type = "text"
	Number   Type = "number"
	Money    Type = "money"
	Date     Type = "date"
	Time     Type = "time"
	Duration Type = "duration"
	Rating   Type = "rating"
	State    Type = "state" // one of few words: open, paid, Admin
	Image    Type = "image"
)

// Reading is what a text says as a value.
type Reading struct {
	Type   Type
	Number *float64
	Unit   string
}

// maxValue is how long a text may be that is a value: longer ones are prose.
const maxValue = 80

// Read returns what a text says as a value.
func (r *Reader) Read(text string) Reading {
	text = strings.Trim(text, " ·•|")
	if text == "" || len(text) > maxValue || strings.ContainsAny(text, "·•|") {
		return Reading{Type: Text} // several values beside each other are no value
	}
	if got, ok := stars(text); ok {
		return got
	}
	list := Scan(text, r.Lang)
	for _, try := range []func([]Piece) (Reading, bool){r.date, r.clock, r.duration, r.share, r.money, r.amount} {
		if got, ok := try(list); ok {
			return got
		}
	}
	return Reading{Type: Text}
}

// Reader reads the values of one page.
type Reader struct {
	Lang string
	// DayFirst: 3/4/2031 is the third of April.
	DayFirst bool
}

// stars reads "★★★☆☆" and "4.5 ★".
func stars(text string) (Reading, bool) {
	full := strings.Count(text, "★") + strings.Count(text, "⭐")
	empty := strings.Count(text, "☆")
	if full+empty < 2 && !(full == 1 && len(text) > 3) {
		return Reading{}, false
	}
	rest := strings.TrimFunc(text, func(r rune) bool { return r == '★' || r == '☆' || r == '⭐' || r == '\ufe0f' || r == ' ' })
	if full+empty >= 2 && len(rest) < 20 {
		return typed(Rating, float64(full), "★"), true
	}
	for _, p := range Scan(text, "en") {
		if p.Number != nil {
			return typed(Rating, *p.Number, "★"), true
		}
	}
	return Reading{}, false
}

func typed(t Type, n float64, unit string) Reading { return Reading{Type: t, Number: &n, Unit: unit} }

// Piece is a word, number or sign of a text.
type Piece struct {
	Text   string
	Word   bool
	Number *float64
	Digits string // of a number as written, without separators, where it has none
}

// Scan takes a text apart.
func Scan(text, lang string) []Piece {
	var list []Piece
	for i := 0; i < len(text) && len(list) < 40; {
		c, size := utf8.DecodeRuneInString(text[i:])
		switch {
		case unicode.IsDigit(c) && c < 128:
			end := numberEnd(text, i)
			n, plain := Parse(text[i:end], lang)
			p := Piece{Text: text[i:end], Number: &n}
			if plain {
				p.Digits = text[i:end]
			}
			if k := len(list) - 1; k >= 0 && minus(list[k].Text) && (k == 0 || list[k-1].Number == nil) && lastMinus(text, i) {
				n = -n
				list = list[:k]
			}
			list = append(list, p)
			i = end
		case unicode.IsLetter(c):
			end := i
			glued := i > 0 && text[i-1] >= '0' && text[i-1] <= '9' // "1h20" are four pieces, "T5" one
			for end < len(text) {
				r, n := utf8.DecodeRuneInString(text[end:])
				if !unicode.IsLetter(r) && !unicode.Is(unicode.Mn, r) && (glued || !unicode.IsDigit(r)) && r != '\'' && r != '’' {
					break
				}
				end += n
			}
			list = append(list, Piece{Text: text[i:end], Word: true})
			i = end
		case unicode.IsSpace(c):
			i += size
		default:
			list = append(list, Piece{Text: text[i : i+size]})
			i += size
		}
	}
	return list
}

func minus(s string) bool { return s == "-" || s == "−" || s == "–" }

// lastMinus reports whether the sign before a number stands right at it.
func lastMinus(text string, i int) bool {
	r, _ := utf8.DecodeLastRuneInString(text[:i])
	return minus(string(r))
}

// numberEnd returns where a number ends: with groups of three and decimals.
func numberEnd(text string, i int) int {
	end := i
	for end < len(text) {
		r, size := utf8.DecodeRuneInString(text[end:])
		if r >= '0' && r <= '9' {
			end += size
			continue
		}
		next := end + size
		if next >= len(text) || text[next] < '0' || text[next] > '9' {
			break
		}
		switch r {
		case '.', ',', '\'', '’':
			end = next
		case ' ', '\u00a0', '\u202f', '\u2009':
			if end-i > 3 && !strings.ContainsAny(text[i:end], " \u00a0\u202f\u2009") || !threeDigits(text[next:]) {
				return end
			}
			end = next
		default:
			return end
		}
	}
	return end
}

func threeDigits(s string) bool {
	n := 0
	for n < len(s) && s[n] >= '0' && s[n] <= '9' {
		n++
	}
	return n == 3
}

// Parse returns the value of a number as written, and whether it has only digits.
func Parse(s, lang string) (value float64, plain bool) {
	dot, comma := strings.LastIndexByte(s, '.'), strings.LastIndexByte(s, ',')
	decimal := -1
	switch {
	case dot >= 0 && comma >= 0:
		decimal = max(dot, comma)
	case dot >= 0:
		decimal = decimalAt(s, dot, '.', lang == "en")
	case comma >= 0:
		decimal = decimalAt(s, comma, ',', lang != "en" && lang != "")
	}
	scale := 1.0
	plain = true
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c < '0' || c > '9' {
			plain = false
			continue
		}
		if decimal >= 0 && i > decimal {
			scale /= 10
			value += float64(c-'0') * scale
		} else {
			value = value*10 + float64(c-'0')
		}
	}
	return round(value), plain
}

// decimalAt returns where the decimals begin in a number with one kind of separator.
func decimalAt(s string, last int, sep byte, decimal bool) int {
	if strings.Count(s, string(sep)) > 1 {
		return -1
	}
	if len(s)-last-1 == 3 && !decimal && s[0] != '0' {
		return -1 // 1.500 is one and a half thousand
	}
	return last
}

func round(v float64) float64 {
	const precise = 1e6
	if v > 1e9 || v < -1e9 {
		return v
	}
	shifted := v*precise + 0.5
	return float64(int64(shifted)) / precise
}

// Numbers returns the numbers of a text of any language, in their order.
func Numbers(text string) []float64 {
	var list []float64
	for _, p := range Scan(text, "") {
		if p.Number != nil {
			list = append(list, *p.Number)
		}
	}
	return list
}
