package token

import (
	"strconv"
	"strings"
)

// Values returns what a number that people write may be, likeliest first: one value, or two
// where a mark before three digits may stand for thousands or for decimals ("1.234"). None
// where s is no number.
func Values(s string) []float64 {
	neg := false
	if rest, ok := strings.CutPrefix(strings.Replace(s, "−", "-", 1), "-"); ok {
		s, neg = rest, true
	}
	if s == "" || !isDigit(rune(s[0])) || len(s) > 30 {
		return nil
	}
	s = strings.NewReplacer("'", "", "’", "", "\u00a0", "", "\u202f", "", "\u2009", "", " ", "").Replace(s)
	var out []float64
	for _, t := range readings(s) {
		v, err := strconv.ParseFloat(t, 64)
		if err != nil {
			return nil
		}
		if neg {
			v = -v
		}
		out = append(out, v)
	}
	return out
}

// readings are the decimal notations of a number with marks.
func readings(s string) []string {
	mark := strings.LastIndexAny(s, ".,")
	if mark < 0 {
		return []string{s}
	}
	strip := strings.NewReplacer(".", "", ",", "")
	decimal := strip.Replace(s[:mark]) + "." + s[mark+1:]
	marks := strings.Count(s, ".") + strings.Count(s, ",")
	same := marks == strings.Count(s, s[mark:mark+1])
	switch {
	case marks > 1 && same:
		return []string{strip.Replace(s)}
	case marks == 1 && len(s)-mark == 4 && mark <= 3 && s[0] != '0':
		return []string{strip.Replace(s), decimal}
	}
	return []string{decimal}
}
