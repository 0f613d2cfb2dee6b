package intent

import (
	"strconv"
	"strings"
)

// dateReader reads a date and a time out of words, in any of their usual orders.
type dateReader struct {
	*reader
	Date
	found bool
}

// maxDateWords bounds what can be a date.
const maxDateWords = 14

// date reads a span that is a date, a time or both, and nothing else.
func (r *valueReader) date(s span) *Date {
	s = s.trim()
	if len(s) == 0 || len(s) > maxDateWords {
		return nil
	}
	d := dateReader{reader: &r.reader, Date: Date{Hour: -1, Minute: -1, Second: -1}}
	for len(s) > 0 {
		n := d.next(s)
		if n == 0 {
			return nil
		}
		s = s[n:]
	}
	if !d.found || d.Day > 31 || d.Month > 12 || d.Hour > 24 || d.Minute > 59 {
		return nil
	}
	return &d.Date
}

// next reads the next part of a date and returns how many tokens it has.
func (d *dateReader) next(s span) int {
	t := s[0]
	if n := d.relative(s); n > 0 {
		return n
	}
	if d.clock(t.low) || d.numeric(t.low) {
		d.found = true
		return 1
	}
	if n := d.hour(s); n > 0 {
		return n
	}
	code, n := d.dates.match(s)
	kind, value, _ := strings.Cut(code, " ")
	v, _ := strconv.Atoi(value)
	switch kind {
	case "month":
		if d.Month != 0 {
			return 0
		}
		d.Month, d.found = v, true
		return n
	case "weekday":
		return n
	case "fill":
		return n
	case "clock":
		if d.Hour < 0 {
			return 0
		}
		return n
	case "noon", "midnight":
		d.Hour, d.Minute, d.found = 12, 0, true
		if kind == "midnight" {
			d.Hour = 0
		}
		return n
	case "am", "pm":
		if d.Hour < 0 || d.Hour > 12 {
			return 0
		}
		d.half(kind)
		return n
	}
	if t.is(",") || t.is(".") && t.glued {
		return 1
	}
	return d.dayOrYear(s)
}

func (d *dateReader) half(kind string) {
	switch {
	case kind == "pm" && d.Hour < 12:
		d.Hour += 12
	case kind == "am" && d.Hour == 12:
		d.Hour = 0
	}
}

// dayOrYear reads "5", "5th", "2024" beside the name of a month.
func (d *dateReader) dayOrYear(s span) int {
	w := s[0].low
	end := 0
	for end < len(w) && w[end] >= '0' && w[end] <= '9' {
		end++
	}
	suffix := w[end:]
	if end == 0 {
		if o, n := d.ordinal(s); n > 0 && o > 0 && d.Day == 0 && (d.Month != 0 || d.monthFollows(s[n:])) {
			d.Day = o
			return n
		}
		return 0
	}
	v, err := strconv.Atoi(w[:end])
	if err != nil {
		return 0
	}
	switch {
	case end == 4 && suffix == "" && v >= 1000 && d.Month != 0 && d.Year == 0:
		d.Year = v
	case d.Day == 0 && v >= 1 && v <= 31 && (suffix == "" || suffix == "st" || suffix == "nd" || suffix == "rd" || suffix == "th" || suffix == "te" || suffix == "ten") &&
		(d.Month != 0 || d.monthFollows(s[1:])):
		d.Day = v
	default:
		return 0
	}
	return 1
}

func (d *dateReader) monthFollows(s span) bool {
	for i := 0; i < len(s) && i < 4; i++ {
		code, _ := d.dates.match(s[i:])
		if strings.HasPrefix(code, "month") {
			return true
		}
	}
	return false
}

// numeric reads 12/05/2016, 2016-12-05 and 5.12.2016.
func (d *dateReader) numeric(w string) bool {
	w, clock, both := strings.Cut(w, "t")
	if both && !d.clock(strings.TrimSuffix(clock, "z")) {
		return false
	}
	for _, sep := range []string{"/", "-", "."} {
		parts := strings.Split(w, sep)
		if len(parts) != 3 && !(len(parts) == 2 && sep != ".") {
			continue
		}
		var v [3]int
		for i, p := range parts {
			n, err := strconv.Atoi(p)
			if err != nil || n < 0 || len(p) > 4 {
				return false
			}
			v[i] = n
		}
		return d.order(v, len(parts), len(parts[0]), sep)
	}
	return false
}

// order sets year, month and day out of three numbers: by the separator, and by what
// they can be.
func (d *dateReader) order(v [3]int, n, digits int, sep string) bool {
	switch {
	case n == 2 && sep == "/" && v[0] >= 1 && v[0] <= 12 && v[1] >= 1 && v[1] <= 31:
		d.Month, d.Day = v[0], v[1]
	case n == 2 && sep == "-" && digits == 4 && v[1] >= 1 && v[1] <= 12:
		d.Year, d.Month = v[0], v[1]
	case n == 2:
		return false
	case digits == 4:
		d.Year, d.Month, d.Day = v[0], v[1], v[2]
	case sep == "/" && v[0] <= 12 && d.lang != "de":
		d.Month, d.Day, d.Year = v[0], v[1], v[2]
	case sep == "-" && v[0] <= 12 && d.lang != "de":
		d.Month, d.Day, d.Year = v[0], v[1], v[2]
	default:
		d.Day, d.Month, d.Year = v[0], v[1], v[2]
	}
	if d.Year > 0 && d.Year < 100 {
		d.Year += 2000
	}
	return d.Month >= 1 && d.Month <= 12 && (d.Day >= 1 || n == 2) && d.Day <= 31
}

// clock reads 15:45, 3:45pm and 15:45:10.
func (d *dateReader) clock(w string) bool {
	half := ""
	for _, h := range []string{"am", "pm", "a.m", "p.m"} {
		if cut, ok := strings.CutSuffix(w, h); ok {
			w, half = cut, h[:1]+"m"
		}
	}
	parts := strings.Split(w, ":")
	if len(parts) > 3 || len(parts) == 1 && half == "" {
		return false
	}
	v := [3]int{0, 0, -1}
	for i, p := range parts {
		n, err := strconv.Atoi(p)
		if err != nil || n < 0 || n > 59 || len(p) > 2 {
			return false
		}
		v[i] = n
	}
	if v[0] > 24 {
		return false
	}
	d.Hour, d.Minute, d.Second = v[0], v[1], v[2]
	if half != "" {
		d.half(half)
	}
	return true
}

// hour reads "3 pm", "15 Uhr", "15 Uhr 30".
func (d *dateReader) hour(s span) int {
	v, err := strconv.Atoi(s[0].low)
	if err != nil || v < 0 || v > 24 || len(s) < 2 {
		return 0
	}
	code, n := d.dates.match(s[1:])
	switch code {
	case "am", "pm":
		if v > 12 {
			return 0
		}
		d.Hour, d.Minute, d.found = v, 0, true
		d.half(code)
		return 1 + n
	case "clock":
		d.Hour, d.Minute, d.found = v, 0, true
		if len(s) > 1+n {
			if m, err := strconv.Atoi(s[1+n].low); err == nil && m < 60 {
				d.Minute = m
				return 2 + n
			}
		}
		return 1 + n
	}
	return 0
}

// relative reads "today", "in three days", "next Monday", "2 weeks ago".
func (d *dateReader) relative(s span) int {
	code, n := d.dates.match(s)
	kind, value, _ := strings.Cut(code, " ")
	v, _ := strconv.Atoi(value)
	switch kind {
	case "day":
		d.Relative, d.Days, d.found = "day", v, true
		return n
	case "now":
		d.Relative, d.found = "now", true
		return n
	case "in":
		if c, m := d.count(s[n:]); m > 0 {
			if days, u := d.unitOf(s[n+m:]); u > 0 {
				d.Relative, d.Days, d.found = "day", c*days, true
				return n + m + u
			}
		}
		return 0
	case "next", "last", "this":
		unit, u := d.dates.match(s[n:])
		if day, ok := strings.CutPrefix(unit, "weekday "); ok {
			d.Weekday, _ = strconv.Atoi(day)
			d.Relative, d.found = kind+" weekday", true
			return n + u
		}
		if days, ok := strings.CutPrefix(unit, "unit "); ok {
			v, _ := strconv.Atoi(days)
			if kind == "last" {
				v = -v
			} else if kind == "this" {
				v = 0
			}
			d.Relative, d.Days, d.found = "day", v, true
			return n + u
		}
		return 0
	case "weekday":
		if len(s) == n && !d.found {
			d.Weekday, d.Relative, d.found = v, "next weekday", true
			return n
		}
		return 0
	}
	if c, m := d.count(s); m > 0 {
		days, u := d.unitOf(s[m:])
		if ago, a := d.dates.match(s[min(len(s), m+u):]); u > 0 && ago == "ago" {
			d.Relative, d.Days, d.found = "day", -c*days, true
			return m + u + a
		}
		if from, f := d.dates.match(s[min(len(s), m+u):]); u > 0 && from == "from" && m+u+f < len(s) {
			if now, k := d.dates.match(s[m+u+f:]); now == "now" || now == "day 0" {
				d.Relative, d.Days, d.found = "day", c*days, true
				return m + u + f + k
			}
		}
	}
	return 0
}

func (d *dateReader) unitOf(s span) (int, int) {
	code, n := d.dates.match(s)
	days, ok := strings.CutPrefix(code, "unit ")
	if !ok {
		return 0, 0
	}
	v, err := strconv.Atoi(days)
	if err != nil {
		return 0, 0
	}
	return v, n
}
