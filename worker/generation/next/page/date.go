package page

import (
	"time"

	"github.com/slipway-qa/slipway/worker/generation/next/lexicon"
)

// anyYear is the year of dates without one: they are compared with each other only.
const anyYear = 2000

// month returns the month that a word is, 0 for none.
func (r *reader) month(word string) int { return int(r.entry(word, lexicon.Month)) }

// weekday reports whether a word is a day of the week.
func (r *reader) weekday(word string) bool {
	return r.entry(word, lexicon.Weekday) >= 0 && r.isEntry(word, lexicon.Weekday)
}

func (r *reader) entry(word string, class lexicon.Class) float64 {
	for _, lang := range r.languages() {
		if l := lexicon.Language(lang); l != nil {
			if e := l.Entry(lower(word), class); e != nil {
				return e.Value
			}
		}
	}
	return 0
}

func (r *reader) isEntry(word string, class lexicon.Class) bool {
	for _, lang := range r.languages() {
		if l := lexicon.Language(lang); l != nil && l.Is(lower(word), class) {
			return true
		}
	}
	return false
}

func (r *reader) languages() []string {
	if r.lang == "" || r.lang == "en" {
		return []string{"en"}
	}
	return []string{r.lang, "en"}
}

// date reads a date in figures or with the name of its month, with or without a time.
func (r *reader) date(list []piece) (reading, bool) {
	i := 0
	words := 0
	for i < len(list) && list[i].number == nil && r.month(list[i].text) == 0 {
		if list[i].word && !r.weekday(list[i].text) {
			words++
		}
		i++
	}
	if i >= len(list) || words > 2 {
		return reading{}, false
	}
	day, month, year, end := r.figures(list, i)
	if month == 0 {
		day, month, year, end = r.named(list, i)
	}
	if month == 0 || month > 12 || day > 31 {
		return reading{}, false
	}
	hour, minute := 0, 0
	for k := end; k+2 < len(list); k++ {
		if list[k].number != nil && list[k+1].text == ":" && list[k+2].number != nil {
			hour, minute = int(*list[k].number), int(*list[k+2].number)
			end = k + 3
			break
		}
	}
	for _, p := range list[min(end, len(list)):] {
		if p.word {
			words++
		}
	}
	if words > 4 {
		return reading{}, false
	}
	if year == 0 {
		year = anyYear
	}
	at := time.Date(year, time.Month(month), max(day, 1), hour, minute, 0, 0, time.UTC)
	return typed(Date, float64(at.Unix()), ""), true
}

// figures reads 2031-05-15, 15.05.2031, 5/15/31 and 15.05.
func (r *reader) figures(list []piece, i int) (day, month, year, end int) {
	first := list[i].text
	if parts := split(first, '.'); len(parts) == 3 { // one number to the scanner
		return parts[0], parts[1], fullYear(parts[2]), i + 1
	}
	if parts := split(first, '.'); len(parts) == 2 && i+1 < len(list) && list[i+1].text == "." && len(first) == 5 {
		return parts[0], parts[1], 0, i + 2
	}
	if i+4 >= len(list) || list[i].digits == "" || list[i+2].digits == "" || list[i+4].digits == "" {
		return 0, 0, 0, i
	}
	sep := list[i+1].text
	if sep != list[i+3].text || sep != "-" && sep != "/" && sep != "." && sep != "–" {
		return 0, 0, 0, i
	}
	a, b, c := int(*list[i].number), int(*list[i+2].number), int(*list[i+4].number)
	switch {
	case len(list[i].digits) == 4:
		return c, b, a, i + 5
	case sep == "/" && (b > 12 || a <= 12 && !r.dayFirst && r.lang == "en"):
		return b, a, fullYear(c), i + 5
	}
	return a, b, fullYear(c), i + 5
}

// split returns the numbers of "15.05.2031".
func split(s string, sep byte) []int {
	list := []int{0}
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c >= '0' && c <= '9' && list[len(list)-1] < 1e6:
			list[len(list)-1] = list[len(list)-1]*10 + int(c-'0')
		case c == sep:
			list = append(list, 0)
		default:
			return nil
		}
	}
	return list
}

func fullYear(y int) int {
	if y < 100 && y > 0 {
		return 2000 + y
	}
	return y
}

// named reads "15 May 2031", "May 15, 2031", "15. Mai", "12 de mayo de 2031", "May 2031".
func (r *reader) named(list []piece, i int) (day, month, year, end int) {
	if m := r.month(list[i].text); m > 0 && list[i].word {
		k := skip(list, i+1)
		if k < len(list) && list[k].digits != "" {
			n := int(*list[k].number)
			if len(list[k].digits) == 4 {
				return 1, m, n, k + 1
			}
			if n >= 1 && n <= 31 {
				year, end = r.yearAt(list, k+1)
				return n, m, year, end
			}
		}
		return 0, 0, 0, i
	}
	if list[i].digits == "" || len(list[i].digits) > 2 {
		return 0, 0, 0, i
	}
	for k := i + 1; k < len(list) && k <= i+4; k++ {
		if !list[k].word {
			if list[k].text == "." || minus(list[k].text) || list[k].number != nil {
				continue
			}
			return 0, 0, 0, i
		}
		if m := r.month(list[k].text); m > 0 {
			year, end = r.yearAt(list, k+1)
			return int(*list[i].number), m, year, end
		}
		if len(list[k].text) > 2 {
			return 0, 0, 0, i
		}
	}
	return 0, 0, 0, i
}

// skip passes signs and the small words between the parts of a date.
func skip(list []piece, k int) int {
	for k < len(list) && list[k].number == nil && (!list[k].word || len(list[k].text) <= 2) {
		k++
	}
	return k
}

// yearAt returns the year that stands at a place, 0 for none.
func (r *reader) yearAt(list []piece, k int) (year, end int) {
	j := skip(list, k)
	if j < len(list) && len(list[j].digits) == 4 && *list[j].number > 1500 && *list[j].number < 3000 {
		return int(*list[j].number), j + 1
	}
	return 0, k
}

// clock reads a time of day, or the first of a range of them.
func (r *reader) clock(list []piece) (reading, bool) {
	words := 0
	for k, p := range list {
		if p.number == nil {
			if p.word {
				words++
			}
			continue
		}
		if words > 1 || p.digits == "" || *p.number > 24 {
			return reading{}, false
		}
		hour, minute, rest := *p.number, 0.0, k+1
		switch {
		case k+2 < len(list) && (list[k+1].text == ":") && len(list[k+2].digits) == 2:
			minute, rest = *list[k+2].number, k+3
		case k+1 < len(list) && (r.half(list[k+1].text) >= 0):
		default:
			return reading{}, false
		}
		if k := rest + 1; rest < len(list) && minus(list[rest].text) && k < len(list) && list[k].number != nil && *list[k].number >= hour && hour < 12 {
			for _, q := range list[k:] { // "2:00 – 3:00 PM"
				if r.half(q.text) == 12 && *list[k].number != 12 {
					hour += 12
				}
			}
		}
		if rest < len(list) {
			if half := r.half(list[rest].text); half == 12 && hour < 12 {
				hour += 12
			} else if half == 0 && hour == 12 {
				hour = 0
			}
		}
		for _, q := range list[rest:] {
			if q.word {
				words++
			}
		}
		if words > 3 {
			return reading{}, false
		}
		return typed(Time, hour*3600+minute*60, ""), true
	}
	return reading{}, false
}

// half returns 0 for am, 12 for pm, 24 for a word that marks an hour of 24, else -1.
func (r *reader) half(word string) int {
	switch lower(word) {
	case "am":
		return 0
	case "pm":
		return 12
	case "uhr":
		return 24
	}
	return -1
}
