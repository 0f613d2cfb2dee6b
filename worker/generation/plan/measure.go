package plan

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
)

// isSorted reports whether texts are in order: by number or date where each has one, else
// as text.
func isSorted(texts []string, descending bool) bool {
	order := sortedOrder(texts, descending)
	for i := range order {
		if i > 0 && compareTexts(texts, i-1, i, descending) > 0 {
			return false
		}
	}
	return true
}

func compareTexts(texts []string, i, j int, descending bool) int {
	a, b := measures(texts), 0
	if a != nil {
		b = cmp.Compare(a[i], a[j])
	} else {
		b = strings.Compare(foldText(texts[i]), foldText(texts[j]))
	}
	if descending {
		return -b
	}
	return b
}

// sortedOrder returns the indices of texts in their order; equal ones stay as they are.
func sortedOrder(texts []string, descending bool) []int {
	numbers := measures(texts)
	order := make([]int, len(texts))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int {
		n := strings.Compare(foldText(texts[i]), foldText(texts[j]))
		if numbers != nil {
			n = cmp.Compare(numbers[i], numbers[j])
		}
		if descending {
			return -n
		}
		return n
	})
	return order
}

// measures returns the one number, date or duration that each text has; nil unless all
// have one of the same kind.
func measures(texts []string) []float64 {
	for _, read := range []func(string) (float64, bool){readDateNumber, readDuration, readNumber} {
		var list []float64
		for _, text := range texts {
			n, ok := read(text)
			if !ok {
				break
			}
			list = append(list, n)
		}
		if len(list) == len(texts) && len(list) > 0 {
			return list
		}
	}
	return nil
}

func readDateNumber(text string) (float64, bool) {
	m, ok := readDay(text, false)
	if !ok {
		return 0, false
	}
	return float64(m.time().Unix()), true
}

// durationUnits are units of durations, in seconds; a text with one of these words behind its
// numbers is a duration.
var durationUnits = map[string]float64{
	"s": 1, "sec": 1, "second": 1, "sekunde": 1, "m": 60, "min": 60, "minute": 60, "h": 3600, "hr": 3600, "hour": 3600, "std": 3600, "stunde": 3600,
	"d": 86400, "day": 86400, "tag": 86400, "week": 604800, "woche": 604800,
}

// readDuration reads a duration such as 2h 35m or 1 hour 5 minutes, in seconds.
func readDuration(text string) (float64, bool) {
	total, found := 0.0, false
	number, has := 0.0, false
	for _, part := range splitUnits(text) {
		if n, err := strconv.ParseFloat(part, 64); err == nil {
			if has {
				return 0, false
			}
			number, has = n, true
			continue
		}
		word := strings.TrimSuffix(strings.TrimSuffix(strings.ToLower(part), "n"), "s")
		if word == "" {
			word = strings.ToLower(part)
		}
		unit, ok := durationUnits[word]
		if !ok || !has {
			continue
		}
		total, found, has = total+number*unit, true, false
	}
	if has && found || has {
		return 0, false
	}
	if d, err := time.ParseDuration(strings.TrimSpace(text)); err == nil && !found {
		return d.Seconds(), true
	}
	return total, found
}

// splitUnits splits a text where digits and letters meet.
func splitUnits(text string) []string {
	var parts []string
	kind := 0
	for _, r := range text {
		now := 0
		switch {
		case unicode.IsDigit(r), r == '.' && kind == 1:
			now = 1
		case unicode.IsLetter(r):
			now = 2
		}
		if now != 0 && now == kind {
			parts[len(parts)-1] += string(r)
		} else if now != 0 {
			parts = append(parts, string(r))
		}
		kind = now
	}
	return parts
}

// readNumber reads the only number of a text: $1,299.00 or 1.299,00 €.
func readNumber(text string) (float64, bool) {
	found := numbersIn(text)
	if len(found) != 1 {
		return 0, false
	}
	number := found[0]
	point, comma := strings.LastIndexByte(number, '.'), strings.LastIndexByte(number, ',')
	switch {
	case point >= 0 && comma > point: // 1.299,00
		number = strings.ReplaceAll(number[:comma], ".", "") + "." + number[comma+1:]
	case comma >= 0 && point < 0 && len(number)-comma-1 != 3:
		number = strings.Replace(number, ",", ".", 1)
	default:
		number = strings.ReplaceAll(number, ",", "")
	}
	n, err := strconv.ParseFloat(number, 64)
	if err != nil {
		return 0, false
	}
	at := strings.Index(text, found[0])
	before := strings.TrimRight(text[:at], "$€£ ")
	if strings.HasSuffix(before, "-") || strings.HasSuffix(before, "−") {
		if rest := strings.TrimRight(strings.TrimRight(before, "-−"), " "); rest == "" || strings.HasSuffix(before, " -") {
			n = -n
		}
	}
	return n, true
}
