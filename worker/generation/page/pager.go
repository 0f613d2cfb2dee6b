package page

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/slipway-qa/slipway/worker/generation/lexicon"
	"github.com/slipway-qa/slipway/worker/generation/page/shape"
	"github.com/slipway-qa/slipway/worker/generation/page/value"
)

// findPagers finds for each set of things what leads to its further pages, and what says how
// many there are.
func (b *builder) findPagers() {
	var pagers []int
	for i := range b.Nodes {
		n := &b.Nodes[i]
		if n.Hidden || n.Role == "text" || len(b.X.Children(i)) < 2 {
			continue
		}
		if len(pagers) > 0 && b.X.Contains(pagers[len(pagers)-1], i) {
			continue
		}
		if shape.ClassWord(n, shape.PagerWords) || n.Role == "navigation" && b.numbered(i) || b.X.End(i)-i < 40 && (b.numbered(i) || b.turns(i)) {
			pagers = append(pagers, i)
		}
	}
	taken := map[int]bool{} // by the group in front of it
	for g := range b.Groups {
		group := &b.Groups[g]
		if len(group.Records) == 0 || group.Kind == "calendar" {
			continue
		}
		last := b.Records[group.Records[len(group.Records)-1]].Node
		for _, p := range pagers {
			if taken[p] && p < last {
				continue
			}
			if b.near(group, last, p) {
				group.Pager, group.OnePage = p, onePage(b.X.Text(p)) || b.hasAll(p)
				taken[p] = taken[p] || p > last
				break
			}
		}
		group.Counter = b.counter(group, last)
		group.FirstPage = group.Pager >= 0 && b.atFirst(group.Pager) || group.Counter >= 0 && fromFirst(b.Leaf[group.Counter])
	}
}

// fromFirst reports whether a text says what is seen, from the first on: "1–10 of 57".
func fromFirst(text string) bool { return ranged(text) && numbersOf(text)[0] == 1 }

// atFirst reports whether a pager says that the first page is seen: it is the one that is marked, nothing goes back from
// it, or the things of it are counted from the first.
func (b *builder) atFirst(pager int) bool {
	for j := pager + 1; j < b.Stop(pager); j++ {
		if fromFirst(b.Leaf[j]) {
			return true
		}
		if b.control[j] < 0 {
			continue
		}
		n, names := &b.Nodes[j], b.Controls[b.control[j]].Names
		marked := n.Selected == "true" || b.X.Parent(j) != pager && b.Nodes[b.X.Parent(j)].Selected == "true"
		if marked && strings.TrimSpace(b.TextOf(j)) == "1" {
			return true
		}
		if n.Disabled && len(names) > 0 && lexicon.Means(names[0].Text, b.Code, "previous") {
			return true
		}
	}
	return false
}

// numbered reports whether a node holds the controls of pages: numbers in order.
func (b *builder) numbered(i int) bool {
	want, count := 0, 0
	for j := i + 1; j < b.Stop(i) && j < i+60; j++ {
		if b.control[j] < 0 {
			continue
		}
		text := strings.TrimSpace(b.TextOf(j))
		n, err := strconv.Atoi(text)
		switch {
		case err != nil:
			if shape.Worded(text) && len(text) > 12 {
				return false
			}
		case want == 0 || n == want:
			want = n + 1
			count++
		}
	}
	return count >= 2
}

// turns reports whether a node holds what leads to the next and to the previous page of a list, and
// they are called so or stand beside the number of the page.
func (b *builder) turns(i int) bool {
	next, previous, said := false, false, false
	for j := i + 1; j < b.Stop(i); j++ {
		if b.control[j] >= 0 {
			names := b.Controls[b.control[j]].Names
			if len(names) == 0 {
				continue
			}
			is := lexicon.Means(names[0].Text, b.Code, "next")
			next, previous = next || is, previous || !is && lexicon.Means(names[0].Text, b.Code, "previous")
			said = said || is && len(strings.Fields(names[0].Text)) > 1 && b.speaksOfPages(names[0].Text)
		} else if text := b.Leaf[j]; len(text) <= 40 {
			said = said || ranged(text) || len(numbersOf(text)) > 1 && b.speaksOfPages(text) // and not "step 1 of 3"
		}
	}
	return next && previous && said
}

func (b *builder) speaksOfPages(text string) bool {
	return slices.ContainsFunc(strings.Fields(text), func(w string) bool {
		return lexicon.Means(w, b.Code, "page")
	})
}

// near reports whether a pager is one of a group: no other group stands between, and both are
// in one block.
func (b *builder) near(group *Group, last, pager int) bool {
	common := b.X.Common(max(group.Node, 0), pager)
	depth := 0
	for up := pager; up != common && up >= 0; up = b.X.Parent(up) {
		depth++
	}
	if depth > 5 {
		return false
	}
	from, to := last, pager
	if pager < last {
		from, to = pager, b.Records[group.Records[0]].Node
	}
	for j := from + 1; j < to; j++ {
		if r := b.member[j]; r >= 0 && b.Records[r].Parent < 0 && &b.Groups[b.Records[r].Group] != group {
			return false
		}
	}
	return true
}

// counter returns the text beside a group that says how many things there are; -1.
func (b *builder) counter(group *Group, last int) int {
	first := b.Records[group.Records[0]].Node
	number := strconv.Itoa(len(group.Records))
	holder := b.holder[first]
	best := -1
	for _, k := range []int{b.LeafFrom[first] - 1, b.LeafFrom[b.X.End(last)]} {
		step := 1
		if k < b.LeafFrom[first] {
			step = -1
		}
		for tries := 0; tries < 12 && k >= 0 && k < len(b.Leaves); tries, k = tries+1, k+step {
			l := b.Leaves[k]
			if b.record[l] >= 0 && b.Records[b.record[l]].Group == b.Records[group.Records[0]].Group || b.Nodes[l].Hidden || len(b.Leaf[l]) > 60 {
				continue
			}
			if holder >= 0 && !b.sameBlock(holder, l) {
				break
			}
			for _, p := range value.Scan(b.Leaf[l], b.Code) {
				if p.Digits == number && best < 0 {
					best = l
				}
			}
			if ranged(b.Leaf[l]) {
				return l
			}
		}
	}
	return best
}

func (b *builder) sameBlock(holder, l int) bool {
	for holder >= 0 && (b.Containers[holder].Kind == "table" || b.Containers[holder].Kind == "list") {
		holder = b.Containers[holder].Parent
	}
	if holder >= 0 && b.Containers[holder].Parent >= 0 {
		holder = b.Containers[holder].Parent
	}
	return b.Holds(holder, l)
}

// ranged reports whether a text says "1–10 of 57".
func ranged(text string) bool {
	numbers := numbersOf(text)
	return len(numbers) == 3 && numbers[0] <= numbers[1] && numbers[1] <= numbers[2]
}

// hasAll reports whether a pager says that the list has no more than is seen: "1–7 of 7", or nothing in it
// leads to another page.
func (b *builder) hasAll(pager int) bool {
	turns := 0
	for j := pager + 1; j < b.Stop(pager); j++ {
		if n := numbersOf(b.Leaf[j]); ranged(b.Leaf[j]) && n[0] == 1 && n[1] == n[2] {
			return true
		}
		if b.control[j] < 0 {
			continue
		}
		name := b.Controls[b.control[j]].Names
		if len(name) == 0 || !lexicon.Means(name[0].Text, b.Code, "next", "previous") {
			continue
		}
		if turns++; !b.Nodes[j].Disabled {
			return false
		}
	}
	return turns > 1
}

// onePage reports whether the text of a pager says that it has one page.
func onePage(text string) bool {
	n := numbersOf(text)
	return len(n) == 2 && n[0] == 1 && n[1] == 1
}

// numbersOf returns the numbers of a text; a dash before one is none of its sign.
func numbersOf(text string) []float64 {
	numbers := value.Numbers(text)
	for i, n := range numbers {
		numbers[i] = math.Abs(n)
	}
	return numbers
}
