package find

import (
	"strconv"
	"time"

	"github.com/slipway-qa/slipway/worker/generation/intent"
	"github.com/slipway-qa/slipway/worker/generation/page"
	"github.com/slipway-qa/slipway/worker/generation/word/token"
)

// explain returns how far a record explains words, also those that say a date which the record
// shows in another way: "from May" and 2031-05-12.
func (s *searcher) explain(p *phrase, r int, refs []ref) proof {
	best, from, shape := p.weigh(refs)
	for i := range p.atoms {
		if best[i] > 0 {
			continue
		}
		if d, ok := s.ix.words.dateOf(p.atoms[i].text); ok && s.onDate(r, &d) {
			best[i], from[i] = 0.95*weight[value], value
			shape = max(shape, shapeScattered)
		}
	}
	return p.prove(best, from, shape)
}

// onDate reports whether an attribute of a record is a date that agrees with d as far as d is
// said.
func (s *searcher) onDate(r int, d *intent.Date) bool {
	rec := &s.m.Records[r]
	for i := range rec.Attributes {
		a := &rec.Attributes[i]
		if a.Type == page.Date && a.Number != nil && agrees(*a.Number, d) {
			return true
		}
	}
	return false
}

// agrees reports whether a moment is on a date as far as the date is said.
func agrees(seconds float64, d *intent.Date) bool {
	t := time.Unix(int64(seconds), 0).UTC()
	return (d.Year == 0 || t.Year() == d.Year) && (d.Month == 0 || int(t.Month()) == d.Month) && (d.Day == 0 || t.Day() == d.Day)
}

// dateOf reads a date as far as a few words say one: "May", "2 May", "14/04/2031".
func (w *words) dateOf(s string) (intent.Date, bool) {
	var d intent.Date
	ts := split(s)
	if len(ts) == 0 || len(ts) > 6 {
		return d, false
	}
	var numbers []int
	for _, t := range ts {
		if m := w.month(t); m > 0 {
			d.Month = m
			continue
		}
		if v := token.Values(t); len(v) > 0 && v[0] == float64(int(v[0])) {
			numbers = append(numbers, int(v[0]))
		}
	}
	for _, n := range numbers {
		switch {
		case n >= 1900 && n <= 2200:
			d.Year = n
		case n >= 1 && n <= 31 && d.Day == 0 && d.Month > 0:
			d.Day = n
		}
	}
	ok := d.Month > 0 || isoDate(ts, &d)
	return d, ok
}

// isoDate reads three numbers with the year first or last and the day before the month.
func isoDate(ts []string, d *intent.Date) bool {
	if len(ts) != 3 {
		return false
	}
	var n [3]int
	for i, t := range ts {
		v, err := strconv.Atoi(t)
		if err != nil {
			return false
		}
		n[i] = v
	}
	switch {
	case n[0] >= 1900:
		d.Year, d.Month, d.Day = n[0], n[1], n[2]
	case n[2] >= 1900:
		d.Year, d.Month, d.Day = n[2], n[1], n[0]
	default:
		return false
	}
	return d.Month >= 1 && d.Month <= 12 && d.Day >= 1 && d.Day <= 31
}
