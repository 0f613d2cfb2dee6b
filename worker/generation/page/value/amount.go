package value

import (
	"strings"

	"github.com/slipway-qa/slipway/worker/generation/lexicon"
)

// around is how many words may stand before and after a number that is the value of a text:
// "from 89 € a night", "about 12 reviews".
const around = 3

var currencySigns = words("€ $ £ ¥ ₹ ₽ ₺ ₩ zł kč ft")

// currencyCodes are those that pages write beside amounts.
var currencyCodes = words("eur usd gbp chf jpy cny inr rub sek nok dkk pln czk huf try brl mxn cad aud nzd sfr fr kr")

func words(text string) map[string]bool {
	set := map[string]bool{}
	for word := range strings.FieldsSeq(text) {
		set[word] = true
	}
	return set
}

// Unit returns the class of a unit and its factor: "min" is duration, 60.
func (r *Reader) Unit(word string) (class string, factor float64) {
	low := strings.ToLower(word)
	if currencySigns[low] || currencyCodes[low] {
		return "money", 1
	}
	if class, factor := commonUnit(low); class != "" {
		return class, factor
	}
	for _, lang := range []string{r.Lang, "en"} {
		if lang == "" {
			continue
		}
		if l := lexicon.Language(lang); l != nil {
			if e := l.Entry(low, lexicon.Unit); e != nil {
				return e.Name, e.Value
			}
		}
	}
	return "", 0
}

// commonUnit knows the signs of units that all languages share.
func commonUnit(low string) (class string, factor float64) {
	switch low {
	case "s", "sec", "sek":
		return "duration", 1
	case "min", "mins":
		return "duration", 60
	case "h", "hr", "hrs", "std":
		return "duration", 3600
	case "d":
		return "duration", 86400
	}
	return "", 0
}

// money reads one amount with its currency.
func (r *Reader) money(list []Piece) (Reading, bool) {
	at, before, after, ok := lone(list)
	if !ok || before > around+1 || after > around+2 {
		return Reading{}, false
	}
	n := *list[at].Number
	for _, k := range []int{at - 1, at + 1} {
		if k < 0 || k >= len(list) {
			continue
		}
		p := list[k]
		if class, _ := r.Unit(p.Text); class == "money" && (currencySigns[strings.ToLower(p.Text)] || p.Word) {
			if k == at-1 && at >= 2 && minus(list[at-2].Text) {
				n = -n
			}
			return typed(Money, n, p.Text), true
		}
	}
	// 12,– and 5.- are amounts without a currency.
	if at+2 < len(list)+1 && at+1 < len(list) && (list[at+1].Text == "," || list[at+1].Text == ".") && at+2 < len(list) &&
		minus(list[at+2].Text) {
		return typed(Money, n, ""), true
	}
	return Reading{}, false
}

// lone returns where the only number of a text is, or the first of a range, and how many words
// are before and after it.
func lone(list []Piece) (at, before, after int, ok bool) {
	at = -1
	numbers := 0
	for k, p := range list {
		switch {
		case p.Number != nil:
			numbers++
			if at < 0 {
				at = k
			}
		case p.Word && at < 0:
			before++
		case p.Word:
			after++
		}
	}
	if numbers == 2 && at+2 < len(list) && list[at+2].Number != nil && minus(list[at+1].Text) {
		numbers = 1
	}
	return at, before, after, numbers == 1
}

// duration reads "1 h 20 min", "45 minutes", "1h20".
func (r *Reader) duration(list []Piece) (Reading, bool) {
	total, unit, parts, others := 0.0, "", 0, 0
	for k := 0; k < len(list); k++ {
		p := list[k]
		if p.Number == nil {
			if p.Word {
				others++
			}
			continue
		}
		if k+1 >= len(list) || !list[k+1].Word {
			if parts == 1 && unit == "h" && k+1 == len(list) { // 1h20
				total += *p.Number * 60
				parts++
				continue
			}
			return Reading{}, false
		}
		class, factor := r.Unit(list[k+1].Text)
		if parts > 0 && list[k+1].Text == "m" { // behind hours no metres
			class, factor = "duration", 60
		}
		if class != "duration" || factor == 0 {
			return Reading{}, false
		}
		total += *p.Number * factor
		unit = list[k+1].Text
		parts++
		k++
	}
	if parts == 0 || others > 2 {
		return Reading{}, false
	}
	return typed(Duration, total, unit), true
}

// share reads "4 of 5", "4/5" and "4.5 out of 5".
func (r *Reader) share(list []Piece) (Reading, bool) {
	var numbers []int
	for k, p := range list {
		if p.Number != nil {
			numbers = append(numbers, k)
		}
	}
	if len(numbers) != 2 || numbers[0] > 2 || len(list) > 7 {
		return Reading{}, false
	}
	first, second := list[numbers[0]], list[numbers[1]]
	gap := list[numbers[0]+1 : numbers[1]]
	if len(gap) == 0 || len(gap) > 2 || *second.Number < *first.Number {
		return Reading{}, false
	}
	slash := len(gap) == 1 && gap[0].Text == "/"
	if !slash && !gap[0].Word {
		return Reading{}, false
	}
	if class, _ := r.Unit(gap[0].Text); class != "" && class != "money" { // "7h 20m"
		return Reading{}, false
	}
	if *second.Number == 5 {
		return typed(Rating, *first.Number, "/5"), true
	}
	return typed(Number, *first.Number, "/"+second.Text), true
}

// amount reads a number with its unit, where it is what the text is about.
func (r *Reader) amount(list []Piece) (Reading, bool) {
	at, before, after, ok := lone(list)
	if !ok || before > around || after > around || before > 0 && after > 1 || len(list) > 9 {
		return Reading{}, false
	}
	n := *list[at].Number
	unit := ""
	if at+1 < len(list) && (list[at+1].Word || strings.ContainsAny(list[at+1].Text, "%°")) {
		unit = list[at+1].Text
	}
	if at+1 < len(list) && (list[at+1].Text == "×" || strings.ToLower(list[at+1].Text) == "x") && after > 0 {
		return typed(Text, n, list[at+1].Text), true // so many of what follows
	}
	if unit == "%" || before == 0 {
		return typed(Number, n, unit), true
	}
	if at > 0 && (list[at-1].Text == "#" || list[at-1].Text == "-" && at > 1) {
		return Reading{}, false // a code: "A-12", "#204"
	}
	return typed(Text, n, unit), true // "Lab 2" is a name, "Stock 12" a number: the others of the column tell
}
