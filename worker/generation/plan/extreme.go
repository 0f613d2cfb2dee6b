package plan

import (
	"slices"
	"strings"

	"github.com/slipway-qa/slipway/worker/generation/intent"
)

// extremeOf returns which of some texts is the least or the greatest of something that
// each of them shows exactly once.
func extremeOf(texts []string, e *intent.Extreme) (int, bool) {
	numbers := extremeMeasures(texts, e.Of)
	if len(numbers) < 2 {
		return 0, false
	}
	best := 0
	for i, n := range numbers {
		if n < numbers[best] != e.Max && n != numbers[best] {
			best = i
		}
	}
	equal := 0
	for _, n := range numbers {
		if n == numbers[best] {
			equal++
		}
	}
	return best, equal == 1
}

// extremeMeasures reads from each text the one value of a kind; nil unless each has one.
func extremeMeasures(texts []string, of string) []float64 {
	reads := map[string][]func(string) (float64, bool){
		"price":    {readPrice, readNumber},
		"duration": {readDuration, readPlain},
		"date":     {readDateNumber},
		"rating":   {readPlain},
		"size":     {readNumber},
		"number":   {readNumber, readPrice},
	}[of]
	for _, read := range reads {
		var list []float64
		for _, text := range texts {
			n, ok := read(text)
			if !ok {
				break
			}
			list = append(list, n)
		}
		if len(list) == len(texts) {
			return list
		}
	}
	return nil
}

// readPlain reads the only number of a text that has no amount of money.
func readPlain(text string) (float64, bool) {
	if strings.ContainsAny(text, "$€£¥") {
		return 0, false
	}
	return readNumber(text)
}

// readPrice reads the only amount of money of a text, among other numbers.
func readPrice(text string) (float64, bool) {
	runes := []rune(text)
	var amounts []string
	for i, r := range runes {
		if !slices.Contains([]rune("$€£¥"), r) {
			continue
		}
		if amount := amountAt(runes[i+1:], false); amount != "" {
			amounts = append(amounts, amount)
		} else if amount := amountAt(runes[:i], true); amount != "" {
			amounts = append(amounts, amount)
		}
	}
	if len(amounts) != 1 {
		return 0, false
	}
	return readNumber(amounts[0])
}

// amountAt returns the number at the beginning or the end of a text.
func amountAt(runes []rune, end bool) string {
	isPart := func(r rune) bool { return '0' <= r && r <= '9' || r == '.' || r == ',' }
	if end {
		for len(runes) > 0 && (runes[len(runes)-1] == ' ' || runes[len(runes)-1] == '\u00a0') {
			runes = runes[:len(runes)-1]
		}
		at := len(runes)
		for at > 0 && isPart(runes[at-1]) {
			at--
		}
		return string(runes[at:])
	}
	for len(runes) > 0 && (runes[0] == ' ' || runes[0] == '\u00a0') {
		runes = runes[1:]
	}
	at := 0
	for at < len(runes) && isPart(runes[at]) {
		at++
	}
	return string(runes[:at])
}
