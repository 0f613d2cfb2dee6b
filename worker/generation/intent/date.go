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
	j := i + n
	if n > 0 && j < len(toks) && r.timeWord(toks, j) {
		j++
		if j < len(toks) && toks[j].class == wordToken && r.lex.Is(toks[j].text, lexicon.Article) {
			j++ // es "a las 12:00"
		}
	}
	if j < len(toks) {
		if m := r.hour(d, toks, j, n > 0); m > 0 {
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
	if e := r.word(toks, j, lexicon.Weekday); e != nil && named(toks[j], r.lang) {
		d.Weekday = int(e.Value)
		j++
		if j+1 < len(toks) && (toks[j].mark(",") || toks[j].is("den", "le", "the", "el")) && r.dayMonth(&Date{}, toks, j+1) > 0 {
			j++
		}
	}
	if n := r.dayMonth(d, toks, j); n > 0 {
		return j + n - i
	}
	if j > i {
		d.Relative = "weekday"
		return j - i
	}
	if e := r.word(toks, i, lexicon.Day); e != nil && e.Name != "now" {
		d.Relative, d.Days = "day", int(e.Value)
		return 1
	}
	return 0
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

// hour reads a time: "10:30", "3:45 pm", "9 am", "9 Uhr", "12 h"; after a date also "at 9".
func (r *reader) hour(d *Date, toks []token, i int, dated bool) int {
	t := toks[i]
	h, m, ok := clock(t)
	n := 1
	if e := r.word(toks, i, lexicon.Number); !ok && e != nil && e.Value >= 1 && e.Value <= 12 {
		h, m = int(e.Value), 0
	} else if !ok && t.class == numberToken && t.num >= 0 && t.num <= 24 && !strings.ContainsAny(t.text, ".,") {
		h, m, ok = int(t.num), 0, false
	} else if !ok {
		return 0
	}
	if i+1 < len(toks) {
		next := toks[i+1]
		switch {
		case next.is("am", "pm") && r.lang != "de":
			if next.fold == "pm" && h < 12 {
				h += 12
			}
			n, ok = 2, true
		case next.is("uhr", "o'clock") || next.is("heures", "horas", "h") && dated:
			n, ok = 2, true
		}
	}
	if late, k := r.partOfDay(toks, i+n); k > 0 {
		if late && h < 12 {
			h += 12
		}
		n, ok = n+k, true
	}
	if !ok {
		return 0
	}
	d.Hour, d.Minute = h, m
	return n
}

// partOfDay reads "in the evening", "abends", "de la mañana", "heures du soir" behind an hour.
func (r *reader) partOfDay(toks []token, i int) (late bool, n int) {
	j := i
	if j < len(toks) && toks[j].is("o'clock", "uhr", "heures", "horas") {
		j++
	}
	k := j
	for k < len(toks) && k < j+3 && toks[k].class == wordToken && (r.lex.Is(toks[k].text, lexicon.Preposition) || r.lex.Is(toks[k].text, lexicon.Article)) {
		k++
	}
	if k >= len(toks) || toks[k].class != wordToken || k == j && (r.lang != "de" || toks[k].cap) {
		return false, 0
	}
	for _, id := range r.lex.Concepts(toks[k].text) {
		switch id.Name() {
		case "morning":
			return false, k + 1 - i
		case "afternoon", "evening":
			return true, k + 1 - i
		}
	}
	return false, 0
}

// clock reads "10:30".
func clock(t token) (h, m int, ok bool) {
	hour, minute, found := strings.Cut(t.text, ":")
	if t.class != codeToken || !found || len(minute) != 2 {
		return 0, 0, false
	}
	h, err := strconv.Atoi(hour)
	m, err2 := strconv.Atoi(minute)
	return h, m, err == nil && err2 == nil && h >= 0 && h < 25 && m >= 0 && m < 60
}
