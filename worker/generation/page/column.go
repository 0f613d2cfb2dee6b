package page

import (
	"slices"
	"strings"

	"github.com/slipway-qa/slipway/worker/generation/page/shape"
	"github.com/slipway-qa/slipway/worker/snapshot"
)

const maxColumns = 30

// slotColumns returns the attributes that things without a table have in common, and sets the
// column of each.
func (b *builder) slotColumns(c *shape.Cluster, seen [][]seenAttribute) []Column {
	index := map[slot]int{}
	var columns []Column
	var nodes []int
	for k := range seen {
		for i := range seen[k] {
			a := &seen[k][i]
			at, known := index[a.slot]
			if !known {
				if len(columns) >= maxColumns {
					continue
				}
				at = len(columns)
				index[a.slot] = at
				columns = append(columns, Column{Node: -1})
				nodes = append(nodes, a.Node)
			}
			a.column = at
			if columns[at].Name == "" {
				columns[at].Name = a.Name
			}
		}
	}
	b.repeatedLabels(columns, seen)
	for at := range columns {
		if columns[at].Name == "" {
			columns[at].Name = classHint(&b.Nodes[nodes[at]])
		}
	}
	b.headedAbove(c, columns, seen)
	for k := range seen {
		seen[k] = slices.DeleteFunc(seen[k], func(a seenAttribute) bool { return a.column >= 0 && a.score < dropped/2 })
		for i := range seen[k] {
			if a := &seen[k][i]; a.Name == "" && a.column >= 0 {
				a.Name = columns[a.column].Name
			}
		}
	}
	return columns
}

// dropped is the score of a text that is the label of another one.
const dropped = -100

// repeatedLabels finds texts that are the same in all things and stand right before one that
// is not: they are its label.
func (b *builder) repeatedLabels(columns []Column, seen [][]seenAttribute) {
	if len(seen) < 3 {
		return
	}
	same := make([]string, len(columns))
	count, varied := make([]int, len(columns)), make([]bool, len(columns))
	for k := range seen {
		for _, a := range seen[k] {
			if a.column < 0 {
				continue
			}
			if count[a.column]++; count[a.column] == 1 {
				same[a.column] = a.Text
			} else if same[a.column] != a.Text {
				varied[a.column] = true
			}
		}
	}
	constant := func(c int) bool {
		return c >= 0 && count[c] == len(seen) && !varied[c] && shape.Worded(same[c]) && len(same[c]) <= 30
	}
	for k := range seen {
		for i := range seen[k] { // what can be done with each
			if a := &seen[k][i]; constant(a.column) && b.control[a.Node] >= 0 && b.Nodes[a.Node].Role != "link" {
				a.score = dropped
			}
		}
		for i := 0; i+1 < len(seen[k]); i++ {
			a, next := &seen[k][i], &seen[k][i+1]
			if !constant(a.column) || next.column < 0 || constant(next.column) || !b.labels(a, next) {
				continue
			}
			next.Name = shape.Label(a.Text)
			columns[next.column].Name = next.Name
			a.score = dropped
		}
		for i := 0; i+1 < len(seen[k]); i++ { // "4 found this helpful"
			a, next := &seen[k][i], &seen[k][i+1]
			if a.Name == "" && a.Type == Number && a.Unit == "" && constant(next.column) && a.column >= 0 && b.SameLine(a.Node, next.Node) {
				a.Name = shape.Label(next.Text)
				columns[a.column].Name = a.Name
			}
		}
	}
}

// labels reports whether a text is drawn as the label of the next one.
func (b *builder) labels(a, next *seenAttribute) bool {
	n := &b.Nodes[a.Node]
	if strings.HasSuffix(n.Name, ":") || n.Tag == "dt" || shape.ClassWord(n, titleWords) || shape.ClassWord(n, shape.Words("key term")) {
		return true
	}
	l1, _, r1, b1 := b.Box(a.Node)
	l2, t2, _, _ := b.Box(next.Node)
	beside := b.SameLine(a.Node, next.Node) && l2 >= r1 && l2-r1 < 40
	above := shape.Abs(l1-l2) < 6 && t2 >= b1-4 && t2-b1 < 16 && n.Size <= b.Nodes[next.Node].Size
	return (beside || above) && next.Type != Text
}

// headedAbove names the columns of rows that are no table by the line of texts above them.
func (b *builder) headedAbove(c *shape.Cluster, columns []Column, seen [][]seenAttribute) {
	if len(seen) == 0 || len(columns) < 2 || c.Members[0] == 0 {
		return
	}
	first := c.Members[0]
	head := b.Sibling(first, -1)
	if head < 0 && c.Node >= 0 && b.X.Parent(first) == c.Node {
		head = b.Sibling(c.Node, -1)
	}
	if head < 0 || b.member[head] >= 0 {
		return
	}
	heads := b.LeavesIn(head, b.X.End(head), 20)
	if len(heads) < 2 {
		return
	}
	for _, h := range heads {
		if b.record[h] >= 0 || len(b.Nodes[h].Options) > 0 || len(b.Leaf[h]) > 40 {
			return
		}
	}
	for j := head; j < b.Stop(head); j++ {
		if shape.TypedRoles[b.Nodes[j].Role] {
			return
		}
	}
	type match struct{ column, head int }
	var found []match
	for _, a := range seen[0] {
		if a.column < 0 || columns[a.column].Name != "" && columns[a.column].Name != classHint(&b.Nodes[a.Node]) {
			continue
		}
		l1, t1, r1, _ := b.Box(a.Node)
		for _, h := range heads {
			l2, _, r2, bottom := b.Box(h)
			near := shape.Abs(l1-l2) < 12 || shape.Abs(r1-r2) < 12
			if near && bottom <= t1+2 && shape.Worded(b.Leaf[h]) && !b.heads(h) &&
				!slices.ContainsFunc(found, func(m match) bool { return m.head == h }) {
				found = append(found, match{a.column, h})
				break
			}
		}
	}
	if len(found) < 2 {
		return
	}
	for _, m := range found {
		columns[m.column] = Column{Name: shape.Label(b.Leaf[m.head]), Node: m.head, Sorts: b.Nodes[m.head].Interactive}
	}
}

// typeColumns sets the type of columns by most of their values, and of values by their column
// where they alone leave it open.
func (b *builder) typeColumns(columns []Column, seen [][]seenAttribute) {
	counts := make([]map[Type]int, len(columns))
	distinct := make([]map[string]bool, len(columns))
	bare := make([]int, len(columns))      // numbers with words before them
	prefix := make([]string, len(columns)) // the first of these words, where all have the same
	for k := range seen {
		for _, a := range seen[k] {
			if a.column < 0 || a.column >= len(columns) {
				continue
			}
			if counts[a.column] == nil {
				counts[a.column], distinct[a.column] = map[Type]int{}, map[string]bool{}
			}
			if a.Text == "" {
				continue
			}
			counts[a.column][a.Type]++
			distinct[a.column][a.Text] = true
			if a.Type == Text && a.Number != nil {
				bare[a.column]++
				first, _, _ := strings.Cut(a.Text, " ")
				if bare[a.column] == 1 {
					prefix[a.column] = first
				} else if prefix[a.column] != first {
					prefix[a.column] = ""
				}
			}
		}
	}
	for at := range columns {
		total, best := 0, Text
		for _, t := range []Type{Text, Number, Money, Date, Time, Duration, Rating} {
			total += counts[at][t]
			if counts[at][t] > counts[at][best] {
				best = t
			}
		}
		if best == Text && bare[at] > 1 && bare[at] == total && prefix[at] != "" {
			best = Number // "Stock 12", "Stock 7"
		}
		columns[at].Type = best
		few := len(distinct[at]) > 0 && len(distinct[at])*2 <= total && total >= 4 && len(distinct[at]) <= 6
		if best == Text && few && shortAll(distinct[at]) {
			columns[at].Type = State
		}
	}
	for k := range seen {
		for i := range seen[k] {
			a := &seen[k][i]
			if a.Type != Text || a.column < 0 || a.column >= len(columns) {
				continue
			}
			if t := columns[a.column].Type; t == State || t == Number && a.Number != nil {
				a.Type = t
			}
		}
	}
}

func shortAll(set map[string]bool) bool {
	for text := range set {
		if len(text) > 24 {
			return false
		}
	}
	return true
}

// noHints are classes that say how a text looks or that it is one.
var noHints = shape.Words(`text label span item value content title name cell col body main info meta sub subtitle small muted badge tag chip inner wrapper
	center left right row primary secondary light strong bold description desc caption heading header head link btn button icon box line
	gray grey green red blue teal orange yellow black white dark pink purple bolder bold fw fs expand grow fill ellipsis truncate component hover ant css card list wide narrow data group block the and`)

// classHint returns the word by which the code names an attribute: "price" of "item-price".
func classHint(n *snapshot.Node) string {
	for token := range strings.FieldsSeq(n.Class) {
		parts := strings.FieldsFunc(token, func(r rune) bool { return r == '-' || r == '_' })
		if len(parts) == 0 || shape.LayoutWords[parts[0]] || !shape.Kindly(token) {
			continue
		}
		last := shape.Lower(parts[len(parts)-1])
		if len(last) >= 3 && !noHints[last] && !shape.StateWords[last] &&
			strings.IndexFunc(last, func(r rune) bool { return r < 'a' || r > 'z' }) < 0 {
			return last
		}
	}
	return ""
}
