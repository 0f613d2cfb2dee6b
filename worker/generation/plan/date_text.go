package plan

import (
	"strings"
	"time"
	"unicode"

	"github.com/slipway-qa/slipway/worker/generation/intent"
)

func (m moment) time() time.Time {
	return time.Date(m.year, time.Month(m.month), m.day, max(m.hour, 0), max(m.minute, 0), max(m.second, 0), 0, time.UTC)
}

// momentOf resolves what a text says of a date: relative ones from now. A year that is
// not said is that of the next such day.
func momentOf(d intent.Date, now time.Time) moment {
	m := moment{d.Year, d.Month, d.Day, d.Hour, d.Minute, d.Second}
	if d.Relative != "" {
		day := now.AddDate(0, 0, d.Days)
		m.year, m.month, m.day = day.Year(), int(day.Month()), day.Day()
	}
	if m.year == 0 && m.month > 0 && m.day > 0 {
		m.year = now.Year()
		if m.month < int(now.Month()) || m.month == int(now.Month()) && m.day < now.Day() {
			m.year++
		}
	}
	return m
}

// inFormat returns the moment that a value means where the page writes dates with the
// day first: 12/05/2016, which can be read both ways, follows the page.
func inFormat(m moment, written string, dayFirst bool) moment {
	if !dayFirst || m.day > 12 || m.day == 0 || strings.Count(written, "/") != 2 || strings.Trim(written, "0123456789/ ") != "" {
		return m
	}
	first, _, _ := strings.Cut(strings.TrimSpace(written), "/")
	if len(first) <= 2 && numberIn(first) == m.month {
		m.month, m.day = m.day, m.month
	}
	return m
}

// dayFirst reports whether a language writes 5/12 for the fifth of December. English is
// written with the month first, unless the page says that it is not American.
func dayFirst(lang string) bool {
	lang = strings.ToLower(lang)
	return lang != "" && lang != "en" && lang != "en-us"
}

// dateWords splits a text into words of letters and numbers; "5th" is 5.
func dateWords(text string) []string {
	words := strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	for i, w := range words {
		for _, ending := range []string{"st", "nd", "rd", "th"} {
			if n, ok := strings.CutSuffix(w, ending); ok && n != "" && strings.Trim(n, "0123456789") == "" {
				words[i] = n
			}
		}
	}
	return words
}

// maxDateText bounds the texts in which dates are looked for.
const maxDateText = 80

// readDay reads a date that a page shows: December 5, 2016; 5. Dezember 2016; 2016-12-05;
// 12/05/2016. Weekdays and other words beside it do no harm, but further numbers do.
func readDay(text string, dayFirst bool) (m moment, ok bool) {
	m = moment{hour: -1, minute: -1, second: -1}
	if len(text) > maxDateText {
		return m, false
	}
	var small []int
	for _, w := range dateWords(text) {
		if n := monthOf(w); n > 0 {
			if m.month > 0 {
				return m, false
			}
			m.month = n
			continue
		}
		if w == "" || strings.Trim(w, "0123456789") != "" {
			continue
		}
		switch n := numberIn(w[:min(len(w), 5)]); {
		case len(w) == 4 && n >= 1000 && m.year == 0:
			m.year = n
			if len(small) == 0 { // the year first: then the month
				small = append(small, 0)
			}
		case len(w) <= 2 && n >= 1 && n <= 31:
			small = append(small, n)
		default:
			return m, false
		}
	}
	yearFirst := len(small) > 0 && small[0] == 0
	if yearFirst {
		small = small[1:]
	}
	switch {
	case m.year == 0:
		return m, false
	case m.month > 0 && len(small) == 1:
		m.day = small[0]
	case m.month == 0 && len(small) == 2:
		m.month, m.day = small[0], small[1]
		if !yearFirst && (dayFirst || strings.Contains(text, ".")) {
			m.month, m.day = m.day, m.month
		}
		if m.month > 12 {
			m.month, m.day = m.day, m.month
		}
	default:
		return m, false
	}
	return m, m.month <= 12 && m.time().Day() == m.day
}

// readMonth reads the month and year that the header of a calendar shows, of which a text
// may have only one: "December 2016", "Dez. 2016", "2016", "12 / 2016".
func readMonth(text string) (year, month int) {
	if len(text) > maxDateText {
		return 0, 0
	}
	number := 0
	for _, w := range dateWords(text) {
		if n := monthOf(w); n > 0 {
			month = n
			continue
		}
		if w == "" || strings.Trim(w, "0123456789") != "" {
			continue
		}
		switch n := numberIn(w[:min(len(w), 5)]); {
		case len(w) == 4 && n >= 1000:
			year = n
		case len(w) <= 2 && n >= 1 && n <= 12:
			number = n
		}
	}
	if month == 0 && year > 0 {
		month = number
	}
	return year, month
}

// monthNames are the names of months on pages. Three letters are enough to tell them apart in
// each of these languages, except where a name is listed.
var monthNames = map[string][12]string{
	"en": {"january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november", "december"},
	"de": {"januar", "februar", "märz", "april", "mai", "juni", "juli", "august", "september", "oktober", "november", "dezember"},
}

// shortestMonth is how many letters of a month's name are enough.
const shortestMonth = 3

// monthOf returns the number of the month that a word names, or 0.
func monthOf(word string) int {
	word = strings.TrimSuffix(strings.ToLower(word), ".")
	if word == "sept" {
		return 9
	}
	if word == "jän" || word == "jänner" {
		return 1
	}
	if word == "mrz" || word == "maerz" {
		return 3
	}
	for _, names := range monthNames {
		for i, name := range names {
			if word == name || word == firstLetters(name, shortestMonth) {
				return i + 1
			}
		}
	}
	return 0
}

// monthName returns the name of a month in a language, English where it is unknown.
func monthName(month int, lang string, short bool) string {
	lang, _, _ = strings.Cut(strings.ToLower(lang), "-")
	names, ok := monthNames[lang]
	if !ok {
		names = monthNames["en"]
	}
	name := names[month-1]
	if short {
		name = firstLetters(name, shortestMonth)
	}
	first := []rune(name)
	first[0] = unicode.ToUpper(first[0])
	return string(first)
}

// firstLetters returns the first n letters of a word.
func firstLetters(word string, n int) string {
	runes := []rune(word)
	return string(runes[:min(n, len(runes))])
}
