package plan

import (
	"math"
	"slices"
	"strings"

	"github.com/slipway-qa/slipway/worker/generation/intent"
	"github.com/slipway-qa/slipway/worker/snapshot"
)

// hasStates reports whether a node is in each of the states.
func hasStates(n *snapshot.Node, states map[string]bool) bool {
	for state, want := range states {
		var is bool
		switch state {
		case "checked":
			is = n.Checked == "true" || n.Checked == "" && n.Selected == "true"
		case "selected":
			is = n.Selected == "true" || n.Selected == "" && n.Checked == "true"
		case "expanded":
			is = n.Expanded == "true"
		case "disabled":
			is = n.Disabled
		case "enabled":
			is = !n.Disabled
		case "focused":
			is = n.Focused
		case "empty":
			is = n.Value == "" && (n.HasValue || n.Editable || n.Text == "")
		case "required":
			is = n.Required
		case "invalid":
			is = n.Invalid
		case "readonly":
			is = n.ReadOnly
		default:
			continue
		}
		if is != want {
			return false
		}
	}
	return true
}

// looksOf reports whether a node is seen as a phrase says: of a colour, shape or size. What is
// said of extremes (the cheapest) is not seen on one node.
func looksOf(v *view, i int, looks map[string]string) bool {
	n := &v.Nodes[i]
	for kind, want := range looks {
		switch kind {
		case "color", "colour":
			if !slices.ContainsFunc([]string{n.Style["background"], n.Style["color"], n.Style["fill"]}, func(c string) bool { return sameColor(c, want) }) &&
				!slices.ContainsFunc(n.Hints, func(h string) bool { return sameColor(h, want) }) &&
				!slices.Contains(splitWords(fold(n.Name+" "+n.Text)), want) {
				return false
			}
		case "shape":
			if n.Style["shape"] != want && !(want == "rectangle" && n.Style["shape"] == "square") && !(want == "square" && squarish(n)) && !slices.Contains(n.Hints, want) {
				return false
			}
		}
	}
	return true
}

// sameColor compares names of colours; gray is grey.
func sameColor(a, b string) bool {
	a, b = strings.ReplaceAll(strings.ToLower(a), "grey", "gray"), strings.ReplaceAll(strings.ToLower(b), "grey", "gray")
	return a != "" && a == b
}

// area returns how large a node is on the screen.
func (v *view) area(i int) int { return v.Nodes[i].Box[2] * v.Nodes[i].Box[3] }

// bySize leaves the large or the small ones of a list; all when they are much the same.
func bySize(v *view, list []scored, size string) []scored {
	if size == "" || len(list) < 2 {
		return list
	}
	least, most := math.MaxInt, 0
	for _, s := range list {
		least, most = min(least, v.area(s.index)), max(most, v.area(s.index))
	}
	if least <= 0 || float64(most) < 1.3*float64(least) {
		return list
	}
	middle := int(math.Sqrt(float64(least) * float64(most)))
	return slices.DeleteFunc(list, func(s scored) bool {
		return (v.area(s.index) >= middle) != (size == "large")
	})
}

// pickExtreme returns the one of several elements that has the least or most of
// something that each of them shows.
func pickExtreme(p *planner, v *view, phrase *intent.Phrase, list []scored) (match, error) {
	one := *phrase
	one.Ordinal, one.Extreme = 0, nil
	top := inOrder(v, v.each(meant(v, list, &one)))
	if len(top) == 0 {
		return match{}, p.missing(v, phrase, list)
	}
	if phrase.Ordinal != 0 && phrase.Ordinal != 1 {
		return match{}, p.notUnderstood("which one of the order is meant is not known", p.candidates(v, top)...)
	}
	at, ok := extremeAmong(v, top, phrase.Extreme)
	if !ok {
		return match{}, p.notUnderstood("they do not all show one "+phrase.Extreme.Of+" to compare, or two the same", p.candidates(v, top)...)
	}
	return v.matchOf(top[at], "the one with the "+either(phrase.Extreme.Max, "most ", "least ")+phrase.Extreme.Of), nil
}

// extremeAmong returns which of several elements has the least or most of something.
func extremeAmong(v *view, list []scored, e *intent.Extreme) (int, bool) {
	if e.Of != "size" {
		texts := make([]string, 0, len(list))
		for _, s := range list {
			texts = append(texts, v.shown(itemOf(v, s.index)))
		}
		return extremeOf(texts, e)
	}
	best, same := 0, false
	for i := 1; i < len(list); i++ {
		a, b := v.area(list[i].index), v.area(list[best].index)
		switch {
		case a == b:
			same = true
		case (a > b) == e.Max:
			best, same = i, false
		}
	}
	return best, len(list) > 0 && !same
}

// itemOf returns the row or item that a node is in, or the node.
func itemOf(v *view, i int) int {
	for at := i; at >= 0; at = v.Nodes[at].Parent {
		if isItem(&v.Nodes[at]) || v.itemLike(at) {
			return at
		}
	}
	return i
}

// squarish reports whether an element is a coloured box as wide as it is high.
func squarish(n *snapshot.Node) bool {
	return n.Style["shape"] == "" && n.Style["background"] != "" && n.Name == "" && n.Box[2] > 4 && abs(n.Box[2]-n.Box[3])*25 <= n.Box[2]
}
