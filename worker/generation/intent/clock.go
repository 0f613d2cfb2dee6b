package intent

import (
	"strconv"
	"strings"

	"github.com/slipway-qa/slipway/worker/generation/lexicon"
)

// hour reads a time: "10:30", "3:45 pm", "9 am", "9 Uhr", "12 h", "half past seven"; after a
// date also "at 9".
func (r *reader) hour(d *Date, toks []token, i int, dated bool) int {
	shift, before := r.clockWord(toks, i, false)
	if i += before; i >= len(toks) {
		return 0
	}
	t := toks[i]
	h, m, ok := clock(t)
	n := 1
	if e := r.word(toks, i, lexicon.Number); !ok && e != nil && e.Value >= 1 && e.Value <= 12 {
		h, m = int(e.Value), 0
	} else if !ok && t.class == numberToken && t.num >= 0 && t.num <= 24 && !strings.ContainsAny(t.text, ".,") {
		h, m, ok = int(t.num), 0, false
	} else if !ok {
		return 0
	}
	if i+1 < len(toks) {
		next := toks[i+1]
		switch {
		case next.is("am", "pm") && r.lang != "de":
			if next.fold == "pm" && h < 12 {
				h += 12
			} else if next.fold == "am" && h == 12 {
				h = 0
			}
			n, ok = 2, true
		case next.is("uhr", "o'clock") || next.is("heures", "horas", "h") && dated:
			n, ok = 2, true
		}
	}
	if before == 0 {
		at := i + n
		if at < len(toks) && toks[at].is("heures", "heure", "h") {
			at++
		}
		minutes, k := r.clockWord(toks, at, true)
		if k == 0 && toks[at-1].is("h", "heures") && at < len(toks) && toks[at].class == numberToken && len(toks[at].text) == 2 &&
			toks[at].num < 60 {
			minutes, k = int(toks[at].num), 1 // fr "9 h 30"
		}
		if k > 0 {
			shift, n, ok = minutes, at+k-i, true
		}
	}
	ok = ok || before > 0
	if late, k := r.partOfDay(toks, i+n, false); k > 0 {
		if late && h < 12 {
			h += 12
		}
		n, ok = n+k, true
	}
	if !ok {
		return 0
	}
	at := (h*60 + m + shift + 24*60) % (24 * 60)
	d.Hour, d.Minute = at/60, at%60
	return before + n
}

// clockWord reads minutes in words, before the hour or behind it: "half past", "viertel vor",
// "et demie", "menos cuarto".
func (r *reader) clockWord(toks []token, i int, behind bool) (minutes, n int) {
	var words []string
	for j := i; j < len(toks) && j < i+3 && toks[j].class == wordToken && !toks[j].line; j++ {
		words = append(words, toks[j].text)
	}
	for n = len(words); n > 0; n-- {
		e := r.lex.Entry(strings.Join(words[:n], " "), lexicon.Clock)
		if e == nil || (e.Name == "behind") != behind {
			continue
		}
		if !behind && (i+n >= len(toks) || !r.hourNumber(toks[i+n])) {
			continue
		}
		return int(e.Value), n
	}
	return 0, 0
}

// hourNumber reports whether a token is an hour of a dial: 1 to 12.
func (r *reader) hourNumber(t token) bool {
	if t.class == numberToken {
		return t.num >= 1 && t.num <= 12 && !strings.ContainsAny(t.text, ".,")
	}
	e := r.lex.Entry(t.text, lexicon.Number)
	return t.class == wordToken && e != nil && e.Value >= 1 && e.Value <= 12
}

// partOfDay reads "in the evening", "abends", "de la mañana", "heures du soir" behind an hour;
// behind a day also the bare word: "morgen Abend".
func (r *reader) partOfDay(toks []token, i int, day bool) (late bool, n int) {
	j := i
	if j < len(toks) && toks[j].is("o'clock", "uhr", "heures", "horas") {
		j++
	}
	k := j
	for k < len(toks) && k < j+3 && toks[k].class == wordToken && (r.lex.Is(toks[k].text, lexicon.Preposition) ||
		r.lex.Is(toks[k].text, lexicon.Article)) {
		k++
	}
	if k >= len(toks) || toks[k].class != wordToken || k == j && !day && (r.lang != "de" || toks[k].cap) {
		return false, 0
	}
	for _, id := range r.lex.Concepts(toks[k].text) {
		switch id.Name() {
		case "morning":
			return false, k + 1 - i
		case "afternoon", "evening":
			return true, k + 1 - i
		}
	}
	return false, 0
}

// clock reads "10:30" and "9h30".
func clock(t token) (h, m int, ok bool) {
	hour, minute, found := strings.Cut(t.text, ":")
	if t.class == wordToken {
		hour, minute, found = strings.Cut(t.fold, "h")
	} else if t.class != codeToken {
		return 0, 0, false
	}
	if !found || len(minute) != 2 {
		return 0, 0, false
	}
	h, err := strconv.Atoi(hour)
	m, err2 := strconv.Atoi(minute)
	return h, m, err == nil && err2 == nil && h >= 0 && h < 25 && m >= 0 && m < 60
}
