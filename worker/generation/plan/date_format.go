package plan

import (
	"fmt"
	"strings"
	"unicode"
)

// moment is a date, a time or both, with everything that is needed of it known.
type moment struct {
	year, month, day     int // 0: not known
	hour, minute, second int // -1: not known
}

func (m moment) hasDate() bool { return m.year > 0 && m.month > 0 && m.day > 0 }
func (m moment) hasTime() bool { return m.hour >= 0 }

// dateFormat is how a page writes dates: its parts, and what stands before each.
type dateFormat struct {
	parts []datePart
	tail  string
}

type datePart struct {
	before string // the text before it
	kind   byte   // one of yMdHhmsa
	width  int    // of the letters that stood for it
}

// has reports whether the format has a part of one of the kinds.
func (f dateFormat) has(kinds string) bool {
	for _, p := range f.parts {
		if strings.IndexByte(kinds, p.kind) >= 0 {
			return true
		}
	}
	return false
}

// maxFormat is how long a text that describes a format is: "yyyy-mm-dd hh:mm:ss aa".
const maxFormat = 40

// formatOf reads the format that a placeholder shows: mm/dd/yyyy, TT.MM.JJJJ, hh:mm aa.
// Every letter of it must belong to a part.
func formatOf(text string) (f dateFormat, ok bool) {
	text = strings.TrimSpace(text)
	if text == "" || len(text) > maxFormat {
		return f, false
	}
	before := ""
	for text != "" {
		r := rune(text[0])
		if !unicode.IsLetter(r) || r > unicode.MaxASCII {
			if unicode.IsDigit(r) {
				return f, false
			}
			before, text = before+text[:1], text[1:]
			continue
		}
		n := 1
		for n < len(text) && text[n]|0x20 == text[0]|0x20 {
			n++
		}
		kind := f.kindOf(text[0], n)
		if kind == 0 {
			// "am/pm" and "AM" stand for the half of the day.
			for _, half := range []string{"am/pm", "am", "pm"} {
				if len(text) >= len(half) && strings.EqualFold(text[:len(half)], half) {
					kind, n = 'a', len(half)
					break
				}
			}
		}
		if kind == 0 || f.has(string(kind)) {
			return f, false
		}
		f.parts = append(f.parts, datePart{before, kind, n})
		before, text = "", text[n:]
	}
	f.tail = before
	day := f.has("y") && f.has("M") && f.has("d")
	return f, day || f.has("Hh") && f.has("m") || f.has("y") && f.has("M") && len(f.parts) == 2
}

// kindOf returns which part n equal letters stand for: year, month, day, hour, minute,
// second or half of the day, in English, German (Tag, Jahr) and French (jour, année).
func (f dateFormat) kindOf(letter byte, n int) byte {
	switch letter | 0x20 {
	case 'y':
		return 'y'
	case 'j':
		if n == 4 {
			return 'y'
		}
		return 'd'
	case 'd', 't':
		return 'd'
	case 'h':
		if letter == 'h' {
			return 'h'
		}
		return 'H'
	case 's':
		return 's'
	case 'i':
		return 'm'
	case 'a':
		if n == 4 {
			return 'y'
		}
		if n > 2 {
			return 0
		}
		return 'a'
	case 'm':
		// What follows the hours are minutes.
		if f.has("Hh") {
			return 'm'
		}
		if n > 4 {
			return 0
		}
		return 'M'
	}
	return 0
}

// formatOfExample reads the format of a date that stands in a field: 2016-12-05,
// 05.12.2016, 12/31/2016. dayFirst decides where the numbers do not.
func formatOfExample(text string, dayFirst bool) (dateFormat, bool) {
	text = strings.TrimSpace(text)
	if len(text) > maxFormat {
		return dateFormat{}, false
	}
	date, rest, _ := strings.Cut(text, " ")
	sep := strings.IndexFunc(date, func(r rune) bool { return r == '/' || r == '.' || r == '-' })
	if sep < 0 {
		return dateFormat{}, false
	}
	between := date[sep : sep+1]
	numbers := strings.Split(date, between)
	if len(numbers) != 3 {
		return dateFormat{}, false
	}
	for _, n := range numbers {
		if n == "" || len(n) > 4 || strings.Trim(n, "0123456789") != "" {
			return dateFormat{}, false
		}
	}
	pattern := "mm/dd/yyyy"
	switch {
	case len(numbers[0]) == 4:
		pattern = "yyyy/mm/dd"
	case len(numbers[2]) != 4:
		return dateFormat{}, false
	case between == ".", numberIn(numbers[0]) > 12:
		pattern = "dd/mm/yyyy"
	case numberIn(numbers[1]) > 12:
	case dayFirst:
		pattern = "dd/mm/yyyy"
	}
	narrow := len(numbers[0]) == 1 || len(numbers[1]) == 1
	if narrow {
		pattern = strings.ReplaceAll(strings.ReplaceAll(pattern, "mm", "m"), "dd", "d")
	}
	pattern = strings.ReplaceAll(pattern, "/", between)
	switch clock := strings.ToLower(strings.TrimSpace(rest)); {
	case clock == "":
	case strings.HasSuffix(clock, "am"), strings.HasSuffix(clock, "pm"):
		pattern += " hh:mm aa"
	case strings.Count(clock, ":") == 2:
		pattern += " HH:mm:ss"
	case strings.Count(clock, ":") == 1:
		pattern += " HH:mm"
	default:
		return dateFormat{}, false
	}
	return formatOf(pattern)
}

func numberIn(digits string) int {
	n := 0
	for _, r := range digits {
		n = n*10 + int(r-'0')
	}
	return n
}

// write writes a moment in the format, with the months' names of a language. It reports
// whether all of what the format has is known.
func (f dateFormat) write(m moment, lang string) (string, bool) {
	var b strings.Builder
	for _, p := range f.parts {
		b.WriteString(p.before)
		n := 0
		switch p.kind {
		case 'y':
			n = m.year
			if p.width == 2 {
				n %= 100
			}
			if m.year <= 0 {
				return "", false
			}
		case 'M':
			if n = m.month; n <= 0 {
				return "", false
			}
			if p.width > 2 {
				b.WriteString(monthName(n, lang, p.width == 3))
				continue
			}
		case 'd':
			if n = m.day; n <= 0 {
				return "", false
			}
		case 'a':
			half := "AM"
			if m.hour >= 12 {
				half = "PM"
			}
			b.WriteString(half)
			continue
		default:
			if m.hour < 0 {
				return "", false
			}
			switch {
			case p.kind == 'm':
				n = max(m.minute, 0)
			case p.kind == 's':
				n = max(m.second, 0)
			case f.has("a"): // of twelve hours
				n = (m.hour+11)%12 + 1
			default:
				n = m.hour
			}
		}
		fmt.Fprintf(&b, "%0*d", p.width, n)
	}
	return b.String() + f.tail, true
}

// iso writes a moment as the native field of a type takes it.
func (m moment) iso(kind string) (string, bool) {
	switch kind {
	case "date":
		return fmt.Sprintf("%04d-%02d-%02d", m.year, m.month, m.day), m.hasDate()
	case "month":
		return fmt.Sprintf("%04d-%02d", m.year, m.month), m.year > 0 && m.month > 0
	case "time":
		return m.clock(), m.hasTime()
	case "datetime-local":
		return fmt.Sprintf("%04d-%02d-%02dT", m.year, m.month, m.day) + m.clock(), m.hasDate() && m.hasTime()
	case "week":
		if !m.hasDate() {
			return "", false
		}
		year, week := m.time().ISOWeek()
		return fmt.Sprintf("%04d-W%02d", year, week), true
	}
	return "", false
}

func (m moment) clock() string {
	text := fmt.Sprintf("%02d:%02d", max(m.hour, 0), max(m.minute, 0))
	if m.second > 0 {
		text += fmt.Sprintf(":%02d", m.second)
	}
	return text
}
