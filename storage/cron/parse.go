package cron

import (
	"fmt"
	"strconv"
	"strings"
)

// maxText is far above any expression that means something; a list of all
// minutes has 169 characters.
const maxText = 512

// field says what a field takes.
type field struct {
	name     string
	min, max int
	names    []string // the first stands for min
}

// The fields of an expression, the second first.
var fields = [6]field{
	{"second", 0, 59, nil}, {"minute", 0, 59, nil}, {"hour", 0, 23, nil}, {"day of month", 1, 31, nil},
	{"month", 1, 12, []string{"JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"}},
	{"day of week", 0, 7, []string{"SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"}},
}

const (
	secondField = iota
	minuteField
	hourField
	dayField
	monthField
	weekdayField
)

// top is the largest value that * goes to: Sunday is not meant twice.
func top(index int) int {
	if index == weekdayField {
		return 6
	}
	return fields[index].max
}

func macro(name string) (string, bool) {
	switch name {
	case "@YEARLY", "@ANNUALLY":
		return "0 0 1 1 *", true
	case "@MONTHLY":
		return "0 0 1 * *", true
	case "@WEEKLY":
		return "0 0 * * 0", true
	case "@DAILY", "@MIDNIGHT":
		return "0 0 * * *", true
	case "@HOURLY":
		return "0 * * * *", true
	}
	return "", false
}

// Parse reads an expression. The error is an *Error.
func Parse(text string) (*Expression, error) {
	if len(text) > maxText {
		return nil, &Error{Position: maxText + 1, Msg: fmt.Sprintf("an expression has at most %d characters", maxText)}
	}
	whole := text
	if name := fold(strings.TrimSpace(text)); strings.HasPrefix(name, "@") {
		expanded, ok := macro(name)
		if !ok {
			return nil, &Error{Position: 1 + strings.IndexByte(text, '@'),
				Msg: fmt.Sprintf("%q is none of @yearly, @annually, @monthly, @weekly, @daily, @midnight, @hourly", shorten(strings.TrimSpace(text)))}
		}
		whole = expanded
	}
	words, places := split(whole)
	switch len(words) {
	case 5:
		words, places = append([]string{"0"}, words...), append([]int{0}, places...)
	case 6:
	default:
		return nil, miscounted(whole, places)
	}
	e := &Expression{text: strings.TrimSpace(text), parts: words}
	for i, word := range words {
		p := parser{field: fields[i], index: i, place: places[i], rule: &e.days, wraps: &e.wraps[i]}
		set, err := p.list(word)
		if err != nil {
			return nil, err
		}
		free := word == "*" || word == "?" || word == "*/1"
		switch i {
		case secondField:
			e.second = set
		case minuteField:
			e.minute = set
		case hourField:
			e.hour = set
			e.hourIsWild = strings.HasPrefix(word, "*") || set == 1<<24-1
		case dayField:
			e.days.days, e.days.anyDay = set, free
		case monthField:
			e.month = set
		case weekdayField:
			set |= set >> 7 & 1 // Sunday as 7
			e.days.weekdays, e.days.anyWeekday = set&(1<<7-1), free
		}
	}
	return e, nil
}

// miscounted is the error of an expression with too few fields, of which it names
// the first that is missing, or with too many.
func miscounted(text string, places []int) error {
	const most = len(fields)
	if n := len(places); n > most {
		return &Error{Position: places[most], Msg: fmt.Sprintf("an expression has 5 fields, or 6 with the second first; this one has %d", n)}
	}
	missing := fields[minuteField+len(places)]
	return &Error{Field: missing.name, Position: len(text) + 1,
		Msg: fmt.Sprintf("is missing: an expression has 5 fields, or 6 with the second first; this one has %d", len(places))}
}

// split returns the words of a text and their positions, from 1.
func split(text string) (words []string, places []int) {
	for i := 0; i < len(text); {
		if text[i] == ' ' || text[i] == '\t' {
			i++
			continue
		}
		start := i
		for i < len(text) && text[i] != ' ' && text[i] != '\t' {
			i++
		}
		words, places = append(words, text[start:i]), append(places, start+1)
	}
	return words, places
}

// parser reads one field.
type parser struct {
	field
	index int
	place int // of the field in the text, from 1; 0 for one that was not written
	rule  *dayRule
	wraps *bool // set by a range that ends before it begins
}

func (p *parser) fail(at int, format string, args ...any) error {
	return &Error{Field: p.name, Position: max(p.place, 1) + at, Msg: fmt.Sprintf(format, args...)}
}

func (p *parser) list(word string) (uint64, error) {
	var set uint64
	at := 0
	for item := range strings.SplitSeq(word, ",") {
		values, err := p.item(fold(item), at)
		if err != nil {
			return 0, err
		}
		set |= values
		at += len(item) + 1
	}
	return set, nil
}

// item reads an element of a list. The special forms go into the rule.
func (p *parser) item(item string, at int) (uint64, error) {
	if item == "" {
		return 0, p.fail(at, "a value is missing")
	}
	if item == "?" {
		if p.index != dayField && p.index != weekdayField {
			return 0, p.fail(at, "? stands in the two day fields only")
		}
		return spread(p.min, p.max, 1), nil
	}
	if special, err := p.special(item, at); special || err != nil {
		return 0, err
	}
	body, step, hasStep := strings.Cut(item, "/")
	n := 1
	if hasStep {
		var err error
		if n, err = strconv.Atoi(step); err != nil || !digits(step) || n < 1 {
			return 0, p.fail(at+len(body)+1, "a step is a number of at least 1")
		}
		if n > p.max {
			return 0, p.fail(at+len(body)+1, "the step %d is larger than the field's %d", n, p.max)
		}
	}
	if body == "*" {
		return spread(p.min, top(p.index), n), nil
	}
	from, to, isRange := strings.Cut(body, "-")
	low, err := p.value(from, at)
	if err != nil {
		return 0, err
	}
	switch {
	case isRange:
		high, err := p.value(to, at+len(from)+1)
		if err != nil {
			return 0, err
		}
		return p.between(low, high, n), nil
	case hasStep:
		return spread(low, top(p.index), n), nil
	}
	return 1 << uint(low), nil
}

// between is the set of a range. One that ends before it begins goes on with the
// field's first value after its last, with the same step: 22-2/2 is 22, 0 and 2.
func (p *parser) between(low, high, step int) uint64 {
	size := top(p.index) - p.min + 1
	if high < low && p.index == weekdayField {
		low %= size // Sunday as 7
	}
	if high >= low {
		return spread(low, high, step)
	}
	*p.wraps = true
	set := uint64(0)
	for n := low; n <= high+size; n += step {
		set |= 1 << uint(p.min+(n-p.min)%size)
	}
	return set
}

func (p *parser) value(text string, at int) (int, error) {
	for i, name := range p.names {
		if text == name {
			return p.min + i, nil
		}
	}
	n, err := strconv.Atoi(text)
	if err != nil || !digits(text) {
		if len(p.names) > 0 {
			return 0, p.fail(at, "%q is neither a number nor one of %s to %s", shorten(text), p.names[0], p.names[len(p.names)-1])
		}
		return 0, p.fail(at, "%q is not a number", shorten(text))
	}
	if n < p.min || n > p.max {
		return 0, p.fail(at, "%d is not from %d to %d", n, p.min, p.max)
	}
	return n, nil
}

// special reads L, L-n, LW, nW of the day of month and n#k, nL of the day of week.
func (p *parser) special(item string, at int) (bool, error) {
	switch {
	case p.index == dayField && item == "L":
		p.rule.last = append(p.rule.last, 0)
	case p.index == dayField && item == "LW":
		p.rule.nearest = append(p.rule.nearest, 0)
	case p.index == dayField && strings.HasPrefix(item, "L-"):
		n, err := strconv.Atoi(item[2:])
		if err != nil || !digits(item[2:]) || n < 1 || n > 30 {
			return false, p.fail(at+2, "L- takes a number from 1 to 30")
		}
		p.rule.last = append(p.rule.last, n)
	case p.index == dayField && strings.HasSuffix(item, "W"):
		n, err := p.value(strings.TrimSuffix(item, "W"), at)
		if err != nil {
			return false, err
		}
		p.rule.nearest = append(p.rule.nearest, n)
	case p.index == weekdayField && strings.Contains(item, "#"):
		day, k, _ := strings.Cut(item, "#")
		n, err := p.value(day, at)
		if err != nil {
			return false, err
		}
		if len(k) != 1 || k[0] < '1' || k[0] > '5' {
			return false, p.fail(at+len(day)+1, "# takes a number from 1 to 5")
		}
		p.rule.nth = append(p.rule.nth, [2]int{n % 7, int(k[0] - '0')})
	case p.index == weekdayField && len(item) > 1 && strings.HasSuffix(item, "L"):
		n, err := p.value(strings.TrimSuffix(item, "L"), at)
		if err != nil {
			return false, err
		}
		p.rule.lastOf = append(p.rule.lastOf, n%7)
	default:
		return false, nil
	}
	return true, nil
}

// fold returns the text with ASCII letters as capitals. Others stay what they are: to Unicode a
// dotless i is another form of I, to this package no part of a name.
func fold(text string) string {
	letters := []byte(text)
	for i, c := range letters {
		if 'a' <= c && c <= 'z' {
			letters[i] = c - 'a' + 'A'
		}
	}
	return string(letters)
}

func digits(text string) bool {
	return text != "" && strings.Trim(text, "0123456789") == ""
}

func shorten(text string) string {
	if len(text) > 20 {
		return text[:20] + "..."
	}
	return text
}
