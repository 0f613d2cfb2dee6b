package refine

import (
	"slices"
	"strconv"
	"strings"

	"github.com/slipway-qa/slipway/worker/generation/intent"
	"github.com/slipway-qa/slipway/worker/generation/word"
)

const (
	// maxOrigins bounds the goals of the base's intent that steps are matched with, and
	// maxAligned the pairs of both that are compared.
	maxOrigins = 300
	maxAligned = 60_000
)

// origin is a goal of the base's intent, with the steps that it became.
type origin struct {
	goal  intent.Goal
	of    string   // the whole intent
	text  string   // its own part of it
	days  []string // numbers that may be the day of the date that it is about
	steps []int
}

// newOrigins returns the goals of an intent.
func newOrigins(source, lang string, goals []intent.Goal, most int) []origin {
	var list []origin
	for _, g := range goals[:min(len(goals), most)] {
		if !inside(source, g.Span) {
			continue
		}
		o := origin{goal: g, of: source, text: source[g.Span.From:g.Span.To]}
		// A verb that several goals share stands before the first.
		if inside(source, g.Verb) && (g.Verb.To <= g.Span.From || g.Verb.From >= g.Span.To) {
			o.text = source[g.Verb.From:g.Verb.To] + " " + o.text
		}
		if v, ok := o.value(); ok && inside(source, v.span) {
			o.days = daysOf(intent.ValueAt(source, lang, v.span))
		}
		list = append(list, o)
	}
	return list
}

// daysOf returns the numbers of a date that may be its day: which one is, the page decides.
func daysOf(v intent.Value) []string {
	const most = 31
	if v.Date == nil {
		return nil
	}
	days := []string{strconv.Itoa(v.Date.Day)}
	for _, part := range strings.FieldsFunc(v.Text, func(r rune) bool { return r < '0' || r > '9' }) {
		if n, err := strconv.Atoi(part); err == nil && n > 0 && n <= most {
			days = append(days, strconv.Itoa(n))
		}
	}
	return days
}

// isDay reports whether a step presses a day of a calendar that a goal is about.
func (o *origin) isDay(p *profile) bool {
	return len(o.days) > 0 && slices.ContainsFunc(p.names[:min(len(p.names), 6)], func(n string) bool {
		return slices.ContainsFunc(o.days, func(day string) bool { return word.Contains(cut(n, 60), day) })
	})
}

func inside(source string, s intent.Span) bool {
	return s.From >= 0 && s.From < s.To && s.To <= len(source)
}

// value returns the one value that a goal is about.
func (o *origin) value() (value, bool) { return valueIn(o.of, &o.goal) }

// align matches steps with the goals that they came from. Both are in the same order, so
// that this is the assignment that keeps the order and has the most words in common. A
// step with no word in common belongs to what follows it, as what opens a list does, and
// one that submits to what it follows.
func align(profiles []profile, origins []origin, likeness func(p *profile, o *origin) float64) {
	n, m := len(profiles), len(origins)
	if n == 0 || m == 0 {
		return
	}
	common := make([][]float64, n)
	total := make([][]float64, n+1)
	total[0] = make([]float64, m)
	for i := range profiles {
		common[i], total[i+1] = make([]float64, m), make([]float64, m)
		for j := range origins {
			common[i][j] = likeness(&profiles[i], &origins[j])
			total[i+1][j] = total[i][j] + common[i][j]
			if j > 0 {
				total[i+1][j] = max(total[i+1][j], total[i+1][j-1])
			}
		}
	}
	assigned := make([]int, n)
	for i, j := n-1, m-1; i >= 0; i-- {
		for j > 0 && total[i+1][j] == total[i+1][j-1] {
			j--
		}
		assigned[i] = -1
		if common[i][j] > 0 {
			assigned[i] = j
		}
	}
	settle(profiles, assigned)
	for i, j := range assigned {
		if j >= 0 {
			origins[j].steps = append(origins[j].steps, i)
		}
	}
}

// settle assigns the steps that share no word with a goal.
func settle(profiles []profile, assigned []int) {
	for i := range assigned {
		if assigned[i] < 0 && i > 0 && profiles[i].submits {
			assigned[i] = assigned[i-1]
		}
	}
	next := -1
	for i, j := range slices.Backward(assigned) {
		if j >= 0 {
			next = j
		} else if next >= 0 {
			assigned[i] = next
		}
	}
}

// likely returns how much a step and a goal have in common: 2 for all words of a value, and
// nearly so for those of a name.
func likely(c *word.Comparer) func(p *profile, o *origin) float64 {
	most := func(texts []string, of string) (found float64) {
		for _, t := range texts[:min(len(texts), 6)] {
			found = max(found, word.Match(c.Phrase(cut(t, 100), false), c.Text(of)).Phrase)
		}
		return found
	}
	return func(p *profile, o *origin) float64 {
		of := cut(o.text, 300)
		result := 2*most(p.values, of) + 1.8*most(p.names, of)
		if o.isDay(p) {
			result += 1.5
		}
		if p.submits && most([]string{"submit"}, of) > 0.5 {
			result++
		}
		if result == 0 && p.said != "" {
			result = 0.5 * most([]string{p.said}, of)
		}
		return result
	}
}

// meant returns the steps of the goals of the base's intent that a description means, best
// first; those that are as good are all returned.
func (d *inventory) meant(desc *description) [][]int {
	if desc.words == nil {
		return nil
	}
	list := d.origins()
	scores := make([]float64, len(list))
	for j := range list {
		if !d.present(list[j].steps) {
			continue
		}
		if s := word.Match(desc.words, d.compare.Text(cut(list[j].text, 400))); s.Matched(desc.words) && s.Kind > word.Part {
			scores[j] = 1 + s.Text*s.Kind.Quality()
		}
	}
	var groups [][]int
	for _, j := range best(scores) {
		groups = append(groups, list[j].steps)
	}
	return groups
}

// present reports whether there are steps, and none of them has gone.
func (d *inventory) present(steps []int) bool {
	return len(steps) > 0 && !slices.ContainsFunc(steps, d.gone)
}

// origins returns the goals of the base's intent with their steps.
func (d *inventory) origins() []origin {
	if d.aligned {
		return d.from
	}
	d.aligned = true
	t := d.readBase.text(d.intent)
	if len(t.Readings) == 0 || len(d.base) == 0 {
		return nil
	}
	d.from = newOrigins(t.Source, t.Lang, t.Readings[0].Goals, min(maxOrigins, maxAligned/len(d.base)))
	align(d.profiles, d.from, likely(word.New("en", t.Lang, "en")))
	return d.from
}

// originOf returns the goal that a step came from; nil without one.
func (d *inventory) originOf(i int) *origin {
	list := d.origins()
	for j := range list {
		if slices.Contains(list[j].steps, i) {
			return &list[j]
		}
	}
	return nil
}
