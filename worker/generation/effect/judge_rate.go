package effect

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/slipway-qa/slipway/worker/generation/find"
	"github.com/slipway-qa/slipway/worker/generation/lexicon"
	"github.com/slipway-qa/slipway/worker/generation/page"
)

// judgeRate: the rating of the target is the one that was asked for: by a field, an attribute, a
// chosen control or a new text with the number, or so many of a row of stars that look different.
func judgeRate(j *judged) Verdict {
	if j.Nothing {
		return Verdict{State: Unseen, Why: "nothing changed"}
	}
	if o := j.otherChanges(); len(o) > 0 && len(j.records) > 0 {
		return Verdict{State: Wrong, Why: "another one changed", Harm: shown(j.Before, o[0])}
	}
	used := j.used("the rating changed")
	if j.goal.Amount == nil || j.goal.Amount.Number == nil {
		if len(j.Fields)+len(j.Controls)+len(j.NewLines)+len(j.Looks)+len(j.Changed) > 0 {
			return reached("the rating changed", used...)
		}
		return j.partly()
	}
	used = append(used, find.Use{Span: j.goal.Amount.Span, By: "the rating"})
	if j.rated(*j.goal.Amount.Number) {
		return reached("the rating is the one that was asked for", used...)
	}
	if len(j.Fields)+len(j.Changed)+len(j.NewLines) == 0 && j.looksCount(int(*j.goal.Amount.Number)) {
		return reached("so many stars look different", used...)
	}
	if v := j.partly(); v.State == Partly {
		return v
	}
	return Verdict{State: Unseen, Why: "the rating is another one"}
}

// rated reports whether what changed says a number of stars.
func (j *judged) rated(want float64) bool {
	is := func(text string) bool { n, ok := Number(text); return ok && n == want }
	for _, p := range j.Fields {
		f := &j.After.Fields[p.After]
		if is(f.Value) || slices.ContainsFunc(f.Options, func(o page.Option) bool {
			return o.Selected &&
				(is(o.Label) || o.Value != "" && is(o.Value))
		}) {
			return true
		}
		for _, o := range j.After.Nodes[f.Node].Options {
			if o.Selected && is(o.Value) {
				return true
			}
		}
		if n := len(f.Options); int(want) <= n && f.Kind == "rating" && want >= 1 && f.Options[int(want)-1].Selected {
			return true
		}
	}
	for _, p := range j.Changed {
		was := j.Before.Records[p.Before].Attributes
		for _, a := range j.After.Records[p.After].Attributes {
			if a.Number != nil && *a.Number == want && becameRating(was, &a, want) {
				return true
			}
		}
	}
	for _, p := range j.Controls {
		if Selected(j.Change, p.After) && is(ControlName(j.After, p.After)) {
			return true
		}
	}
	return slices.ContainsFunc(j.NewLines, func(i int) bool { return saysRating(j.After.Lines[i].Text, want) })
}

// becameRating reports whether an attribute of a record is a rating that it was not before: a number that
// is only seen since the record is open must say that it is one.
func becameRating(was []page.Attribute, a *page.Attribute, want float64) bool {
	same := func(o page.Attribute) bool { return o.Name == a.Name && o.Number != nil && *o.Number == want }
	if a.Type != page.Rating && a.Type != page.Number || slices.ContainsFunc(was, same) {
		return false
	}
	other := a.Name != "" && slices.ContainsFunc(was, func(o page.Attribute) bool { return o.Name == a.Name && o.Number != nil })
	return other || a.Type == page.Rating || saysRating(a.Name+" "+a.Text, want)
}

// saysRating reports whether a text says a number of stars: it is the number ("4", "4/5"), or speaks of
// a rating in any language. "4 eggs" is none.
func saysRating(text string, want float64) bool {
	numbers := numbersIn(text)
	if !slices.Contains(numbers, want) {
		return false
	}
	words := strings.FieldsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) })
	if len(words) == 0 {
		return numbers[0] == want && len(numbers) <= 2
	}
	return slices.ContainsFunc(words, func(word string) bool { return lexicon.Means(word, "", "rate") })
}

// numbersIn returns the whole numbers of a text.
func numbersIn(text string) []float64 {
	var list []float64
	for _, f := range strings.FieldsFunc(text, func(r rune) bool { return (r < '0' || r > '9') && r != '.' && r != ',' }) {
		if n, err := strconv.ParseFloat(strings.Trim(f, ".,"), 64); err == nil {
			list = append(list, n)
		}
	}
	return list
}

// minStars is how many elements make a row of which some are lit.
const minStars = 3

// looksCount reports whether classes and colours say a number: of a row of like elements the first
// so many look alike and other than the rest, or only that one looks other than all, and not all
// looked so before.
func (j *judged) looksCount(want int) bool {
	done := map[int]bool{}
	for _, p := range j.Looks {
		for up, n := j.After.Nodes[p.After].Parent, 0; up >= 0 && n < maxListener; up, n = j.After.Nodes[up].Parent, n+1 {
			if done[up] {
				continue
			}
			done[up] = true
			if row := j.row(up); len(row) >= minStars && want >= 1 && want <= len(row) && j.lit(row, want) {
				return true
			}
		}
	}
	return false
}

// row returns the children of an element that are of its most frequent tag, from left to right.
func (j *judged) row(around int) []int {
	m, byTag, best := j.After, map[string][]int{}, ""
	for i := around + 1; i < len(m.Nodes) && m.Inside(around, i); i++ {
		n := &m.Nodes[i]
		if n.Parent != around || n.Hidden || n.Role == "text" && n.Tag == "" || n.Box[2] <= 0 {
			continue
		}
		if byTag[n.Tag] = append(byTag[n.Tag], i); len(byTag[n.Tag]) > len(byTag[best]) {
			best = n.Tag
		}
	}
	row := byTag[best]
	slices.SortStableFunc(row, func(a, b int) int { return m.Nodes[a].Box[0] - m.Nodes[b].Box[0] })
	return row
}

// lit reports whether the first of a row, as many as are wanted, are those that light up.
func (j *judged) lit(row []int, want int) bool {
	looks := make([]string, len(row))
	changed := false
	for i, n := range row {
		looks[i] = look(j.After, n)
		changed = changed || slices.ContainsFunc(j.Looks, func(p Pair) bool { return j.After.Inside(n, p.After) })
	}
	if !changed {
		return false
	}
	alike := func(list []string) bool {
		return !slices.ContainsFunc(list, func(s string) bool { return s != list[0] })
	}
	first, rest := looks[:want], looks[want:]
	if alike(first) && (len(rest) == 0 || alike(rest) && rest[0] != first[0]) {
		return true
	}
	others := slices.Delete(slices.Clone(looks), want-1, want)
	return alike(others) && others[0] != looks[want-1]
}

// look is all that classes and colours say of an element and what is in it.
func look(m *page.Model, node int) string {
	var b strings.Builder
	for i := node; i < len(m.Nodes) && m.Inside(node, i); i++ {
		n := &m.Nodes[i]
		hints := slices.DeleteFunc(slices.Clone(n.Hints), func(h string) bool { return strings.ContainsAny(h, "0123456789") })
		fmt.Fprint(&b, n.Tag, hints)
		for _, k := range slices.Sorted(maps.Keys(n.Style)) {
			fmt.Fprint(&b, k, n.Style[k])
		}
	}
	return b.String()
}

// looksShow reports whether classes and colours say that a target was chosen: they differ at it, in
// it or close around it, or are called like it now.
func (j *judged) looksShow() bool {
	for _, p := range j.Looks {
		for i := range j.target {
			if n := j.target[i].Node; near(j.Before, p.Before, n) || near(j.Before, n, p.Before) {
				return true
			}
		}
		for i := range j.goal.Target {
			for _, w := range j.goal.Target[i].Words {
				if slices.Contains(j.After.Nodes[p.After].Hints, Fold(w.Text)) && !slices.Contains(j.Before.Nodes[p.Before].Hints, Fold(w.Text)) {
					return true
				}
			}
		}
	}
	return false
}

// near reports whether a node is another one, or at most maxListener above it.
func near(m *page.Model, outer, inner int) bool {
	for i, n := inner, 0; i >= 0 && n <= maxListener; i, n = m.Nodes[i].Parent, n+1 {
		if i == outer {
			return true
		}
	}
	return false
}
