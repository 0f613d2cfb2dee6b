package value

import (
	"strings"
	"time"

	"github.com/slipway-qa/slipway/worker/generation/lexicon"
)

// anyYear is the year of dates without one: they are compared with each other only.
const anyYear = 2000

// month returns the month that a word is, 0 for none.
func (r *Reader) month(word string) int { return int(r.entry(word, lexicon.Month)) }

// weekday reports whether a word is a day of the week.
func (r *Reader) weekday(word string) bool {
	return r.entry(word, lexicon.Weekday) >= 0 && r.isEntry(word, lexicon.Weekday)
}

func (r *Reader) entry(word string, class lexicon.Class) float64 {
	for _, lang := range r.languages() {
		if l := lexicon.Language(lang); l != nil {
			if e := l.Entry(strings.ToLower(word), class); e != nil {
				return e.Value
			}
		}
	}
	return 0
}

func (r *Reader) isEntry(word string, class lexicon.Class) bool {
	for _, lang := range r.languages() {
		if l := lexicon.Language(lang); l != nil && l.Is(strings.ToLower(word), class) {
			return true
		}
	}
	return false
}

func (r *Reader) languages() []string {
	if r.Lang == "" || r.Lang == "en" {
		return []string{"en"}
	}
	return []string{r.Lang, "en"}
}

// date reads a date in figures or with the name of its month, with or without a time.
func (r *Reader) date(list []Piece) (Reading, bool) {
	i := 0
	words := 0
	for i < len(list) && list[i].Number == nil && r.month(list[i].Text) == 0 {
		if list[i].Word && !r.weekday(list[i].Text) {
			words++
		}
		i++
	}
	if i >= len(list) || words > 2 {
		return Reading{}, false
	}
	day, month, year, end := r.figures(list, i)
	if month == 0 {
		day, month, year, end = r.named(list, i)
	}
	if month == 0 || month > 12 || day > 31 {
		return Reading{}, false
	}
	hour, minute := 0, 0
	for k := end; k+2 < len(list); k++ {
		if list[k].Number != nil && list[k+1].Text == ":" && list[k+2].Number != nil {
			hour, minute = int(*list[k].Number), int(*list[k+2].Number)
			end = k + 3
			break
		}
	}
	for _, p := range list[min(end, len(list)):] {
		if p.Word {
			words++
		}
	}
	if words > 4 {
		return Reading{}, false
	}
	if year == 0 {
		year = anyYear
	}
	at := time.Date(year, time.Month(month), max(day, 1), hour, minute, 0, 0, time.UTC)
	return typed(Date, float64(at.Unix()), ""), true
}

// figures reads 2031-05-15, 15.05.2031, 5/15/31 and 15.05.
func (r *Reader) figures(list []Piece, i int) (day, month, year, end int) {
	first := list[i].Text
	if parts := split(first, '.'); len(parts) == 3 { // one number to the scanner
		return parts[0], parts[1], fullYear(parts[2]), i + 1
	}
	if parts := split(first, '.'); len(parts) == 2 && i+1 < len(list) && list[i+1].Text == "." && len(first) == 5 {
		return parts[0], parts[1], 0, i + 2
	}
	if i+4 >= len(list) || list[i].Digits == "" || list[i+2].Digits == "" || list[i+4].Digits == "" {
		return 0, 0, 0, i
	}
	sep := list[i+1].Text
	if sep != list[i+3].Text || sep != "-" && sep != "/" && sep != "." && sep != "–" {
		return 0, 0, 0, i
	}
	a, b, c := int(*list[i].Number), int(*list[i+2].Number), int(*list[i+4].Number)
	switch {
	case len(list[i].Digits) == 4:
		return c, b, a, i + 5
	case sep == "/" && (b > 12 || a <= 12 && !r.DayFirst && r.Lang == "en"):
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
func (r *Reader) named(list []Piece, i int) (day, month, year, end int) {
	if m := r.month(list[i].Text); m > 0 && list[i].Word {
		k := skip(list, i+1)
		if k < len(list) && list[k].Digits != "" {
			n := int(*list[k].Number)
			if len(list[k].Digits) == 4 {
				return 1, m, n, k + 1
			}
			if n >= 1 && n <= 31 {
				year, end = r.yearAt(list, k+1)
				return n, m, year, end
			}
		}
		return 0, 0, 0, i
	}
	if list[i].Digits == "" || len(list[i].Digits) > 2 {
		return 0, 0, 0, i
	}
	for k := i + 1; k < len(list) && k <= i+4; k++ {
		if !list[k].Word {
			if list[k].Text == "." || minus(list[k].Text) || list[k].Number != nil {
				continue
			}
			return 0, 0, 0, i
		}
		if m := r.month(list[k].Text); m > 0 {
			year, end = r.yearAt(list, k+1)
			return int(*list[i].Number), m, year, end
		}
		if len(list[k].Text) > 2 {
			return 0, 0, 0, i
		}
	}
	return 0, 0, 0, i
}

// skip passes signs and the small words between the parts of a date.
func skip(list []Piece, k int) int {
	for k < len(list) && list[k].Number == nil && (!list[k].Word || len(list[k].Text) <= 2) {
		k++
	}
	return k
}

// yearAt returns the year that stands at a place, 0 for none.
func (r *Reader) yearAt(list []Piece, k int) (year, end int) {
	j := skip(list, k)
	if j < len(list) && len(list[j].Digits) == 4 && *list[j].Number > 1500 && *list[j].Number < 3000 {
		return int(*list[j].Number), j + 1
	}
	return 0, k
}

// clock reads a time of day, or the first of a range of them.
func (r *Reader) clock(list []Piece) (Reading, bool) {
	words := 0
	for k, p := range list {
		if p.Number == nil {
			if p.Word {
				words++
			}
			continue
		}
		if words > 1 || p.Digits == "" || *p.Number > 24 {
			return Reading{}, false
		}
		hour, minute, rest := *p.Number, 0.0, k+1
		switch {
		case k+2 < len(list) && (list[k+1].Text == ":") && len(list[k+2].Digits) == 2:
			minute, rest = *list[k+2].Number, k+3
		case k+1 < len(list) && (r.half(list[k+1].Text) >= 0):
		default:
			return Reading{}, false
		}
		if k := rest + 1; rest < len(list) && minus(list[rest].Text) && k < len(list) && list[k].Number != nil &&
			*list[k].Number >= hour && hour < 12 {
			for _, q := range list[k:] { // "2:00 – 3:00 PM"
				if r.half(q.Text) == 12 && *list[k].Number != 12 {
					hour += 12
				}
			}
		}
		if rest < len(list) {
			if half := r.half(list[rest].Text); half == 12 && hour < 12 {
				hour += 12
			} else if half == 0 && hour == 12 {
				hour = 0
			}
		}
		for _, q := range list[rest:] {
			if q.Word {
				words++
			}
		}
		if words > 3 {
			return Reading{}, false
		}
		return typed(Time, hour*3600+minute*60, ""), true
	}
	return Reading{}, false
}

// half returns 0 for am, 12 for pm, 24 for a word that marks an hour of 24, else -1.
func (r *Reader) half(word string) int {
	switch strings.ToLower(word) {
	case "am":
		return 0
	case "pm":
		return 12
	case "uhr":
		return 24
	}
	return -1
}
