package intent

import (
	"strconv"
	"strings"

	"github.com/slipway-qa/slipway/worker/generation/lexicon"
)

// date reads a date, a time or both from toks[i], in words or digits, and of how many tokens
// it is; 0 where none stands there. A bare number is none, and a bare month or weekday is one
// only where it cannot be another word (en "may", es "mayo").
func (r *reader) date(toks []token, i int) (*Date, int) {
	d := &Date{Hour: -1, Minute: -1, Weekday: -1}
	n := r.day(d, toks, i)
	j, late := i+n, false
	if n > 0 {
		if part, k := r.partOfDay(toks, j, true); k > 0 && j+k < len(toks) && r.timeWord(toks, j+k) {
			j, late = j+k, part // "tomorrow evening at seven"
		}
	}
	if n > 0 && j < len(toks) && r.timeWord(toks, j) {
		j++
		if j < len(toks) && toks[j].class == wordToken && r.lex.Is(toks[j].text, lexicon.Article) {
			j++ // es "a las 12:00"
		}
	}
	if j < len(toks) {
		if m := r.hour(d, toks, j, n > 0); m > 0 {
			if late && d.Hour < 12 {
				d.Hour += 12
			}
			return d, j + m - i
		}
	}
	if n == 0 {
		return nil, 0
	}
	return d, n
}

// timeWord reports whether the word at j leads from a date to a time: "at", "um", "a las".
func (r *reader) timeWord(toks []token, j int) bool {
	return toks[j].class == wordToken && r.lex.Is(toks[j].text, lexicon.Preposition) || toks[j].mark(",")
}

// day reads the day of d.
func (r *reader) day(d *Date, toks []token, i int) int {
	if n := digitsDate(d, toks[i], r.lang); n > 0 {
		return n
	}
	j := i
	if r.nextWord(toks, j) && r.word(toks, j+1, lexicon.Weekday) != nil {
		j++ // "next Friday", es "próximo viernes"
	}
	if e := r.word(toks, j, lexicon.Weekday); e != nil && named(toks[j], r.lang) {
		d.Weekday = int(e.Value)
		j++
		if r.lang == "fr" && r.nextWord(toks, j) {
			j++ // "vendredi prochain"
		}
		if j+1 < len(toks) && (toks[j].mark(",") || toks[j].is("den", "le", "the", "el")) && r.dayMonth(&Date{}, toks, j+1) > 0 {
			j++
		}
	}
	if n := r.dayMonth(d, toks, j); n > 0 {
		return j + n - i
	}
	if d.Weekday >= 0 {
		d.Relative = "weekday"
		return j - i
	}
	if e := r.word(toks, i, lexicon.Day); e != nil && e.Name != "now" {
		d.Relative, d.Days = "day", int(e.Value)
		return 1
	}
	return 0
}

// nextWord reports whether the word at i says that the day is the coming one.
func (r *reader) nextWord(toks []token, i int) bool {
	return i < len(toks) && toks[i].class == wordToken && !toks[i].cap && r.lex.Is(toks[i].text, lexicon.Quantity) &&
		r.lex.Entry(toks[i].text, lexicon.Quantity).Name == "next"
}

// named reports whether a weekday or month is written as one: with a capital letter in
// English and German, so that "may", "march" and "sat" stay verbs.
func named(t token, lang string) bool { return t.cap || lang == "es" || lang == "fr" }

// dayMonth reads day and month in either order, with a year or without.
func (r *reader) dayMonth(d *Date, toks []token, i int) int {
	if i >= len(toks) {
		return 0
	}
	if day, n := dayNumber(toks, i); n > 0 {
		j := i + n
		if j < len(toks) && toks[j].is("de", "of", "del") {
			j++
		}
		if e := r.word(toks, j, lexicon.Month); e != nil {
			d.Day, d.Month = day, int(e.Value)
			return j + 1 + r.year(d, toks, j+1) - i
		}
		return 0
	}
	e := r.word(toks, i, lexicon.Month)
	if e == nil || !named(toks[i], r.lang) {
		return 0
	}
	if day, n := dayNumber(toks, i+1); n > 0 && day <= 31 && r.lang == "en" {
		d.Month, d.Day = int(e.Value), day
		return 1 + n + r.year(d, toks, i+1+n)
	}
	y := r.year(d, toks, i+1)
	if y == 0 && len(toks[i].text) < 3 {
		return 0
	}
	d.Month = int(e.Value)
	return 1 + y
}

func (r *reader) word(toks []token, i int, c lexicon.Class) *lexicon.Entry {
	if i >= len(toks) || toks[i].class != wordToken {
		return nil
	}
	return r.lex.Entry(toks[i].text, c)
}

// dayNumber reads the number of a day, with its full stop or ending: "28.", "4th", "1er".
func dayNumber(toks []token, i int) (int, int) {
	if i >= len(toks) {
		return 0, 0
	}
	t := toks[i]
	switch t.class {
	case numberToken:
		if t.num < 1 || t.num > 31 || strings.ContainsAny(t.text, ".,") {
			return 0, 0
		}
		if i+1 < len(toks) && toks[i+1].text == "." && !toks[i+1].space {
			return int(t.num), 2
		}
		return int(t.num), 1
	case wordToken:
		digits := strings.TrimRight(t.fold, "abcdefghijklmnopqrstuvwxyzèº")
		v, err := strconv.Atoi(digits)
		if err == nil && v >= 1 && v <= 31 && ordinalTail[t.fold[len(digits):]] {
			return v, 1
		}
	}
	return 0, 0
}

// year reads ", 2031", "de 2031" or "2031".
func (r *reader) year(d *Date, toks []token, i int) int {
	j := i
	if j < len(toks) && (toks[j].mark(",") || toks[j].is("de", "del")) {
		j++
	}
	if j < len(toks) && toks[j].class == numberToken && toks[j].num >= 1900 && toks[j].num < 2200 && len(toks[j].text) == 4 {
		d.Year = int(toks[j].num)
		return j + 1 - i
	}
	return 0
}

// digitsDate reads 2031-05-12, 05/12/2016 and 14.04.2031: in English the month is first
// unless it cannot be.
func digitsDate(d *Date, t token, lang string) int {
	if t.class != codeToken && t.class != numberToken {
		return 0
	}
	parts := strings.FieldsFunc(t.text, func(r rune) bool { return strings.ContainsRune("-/.", r) })
	if len(parts) != 3 || strings.ContainsAny(t.text, ":,") {
		return 0
	}
	var n [3]int
	for i, p := range parts {
		v, err := strconv.Atoi(p)
		if err != nil {
			return 0
		}
		n[i] = v
	}
	if len(parts[0]) == 4 {
		n[0], n[2] = n[2], n[0]
	} else if len(parts[2]) != 4 && len(parts[2]) != 2 {
		return 0
	} else if lang == "en" && strings.Contains(t.text, "/") && n[0] <= 12 {
		n[0], n[1] = n[1], n[0]
	}
	if n[0] < 1 || n[0] > 31 || n[1] < 1 || n[1] > 12 {
		return 0
	}
	if n[2] < 100 {
		n[2] += 2000
	}
	d.Day, d.Month, d.Year = n[0], n[1], n[2]
	return 1
}
