package effect

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/slipway-qa/slipway/worker/generation/find"
	"github.com/slipway-qa/slipway/worker/generation/intent"
	"github.com/slipway-qa/slipway/worker/generation/page"
	"github.com/slipway-qa/slipway/worker/snapshot"
)

type nodeOf = snapshot.Node

// judgeSort: the typed attribute stands in the order, in the direction that was asked for.
func judgeSort(j *judged) Verdict {
	for i := range j.target {
		t := &j.target[i]
		if t.What != find.Column {
			continue
		}
		g := j.Group(t.Index)
		if g < 0 {
			continue
		}
		values := ColumnValues(j.After, g, t.Sub, columnName(j.Before, t))
		switch {
		case len(values) < 2:
		case InOrder(values, j.goal.Descending) && j.goal.Descending && alike(values) && paged(j.After, g):
			return undirected(reached("what is seen is the same by "+columnName(j.Before, t), j.used("in order")...))
		case InOrder(values, j.goal.Descending):
			return reached("in order by "+columnName(j.Before, t), j.used("in order")...)
		case j.Nothing:
			return Verdict{State: Unseen, Why: "the order is as before"}
		case len(j.Reordered) > 0 && grouped(values):
			return reached("what is the same stands together by "+columnName(j.Before, t), j.used("in order")...)
		case len(j.Fields) > 0 && !counted(values):
			return undirected(reached("the order was chosen", j.used("the order was chosen")...))
		default:
			return Verdict{State: Unseen, Why: "in another order"}
		}
	}
	if j.hasColumn() {
		return j.partly()
	}
	switch {
	case len(j.Reordered) > 0:
		return undirected(reached("the order changed", j.used("the order changed")...))
	case len(j.Fields) > 0: // a select of orders; of a list that is in order already
		return undirected(reached("the order was chosen", j.used("the order was chosen")...))
	}
	return j.partly()
}

// alike reports whether values are all the same: they stand in either order.
func alike(values []page.Attribute) bool {
	return !slices.ContainsFunc(values, func(v page.Attribute) bool { return Fold(v.Text) != Fold(values[0].Text) })
}

// paged reports whether a list has further pages.
func paged(m *page.Model, group int) bool {
	return m.Groups[group].Pager >= 0 && !m.Groups[group].OnePage
}

func undirected(v Verdict) Verdict {
	v.Undirected = true
	return v
}

func (j *judged) hasColumn() bool {
	return slices.ContainsFunc(j.target, func(c find.Candidate) bool { return c.What == find.Column })
}

func columnName(m *page.Model, t *find.Candidate) string {
	if t.Index >= 0 && t.Index < len(m.Groups) && t.Sub >= 0 && t.Sub < len(m.Groups[t.Index].Columns) {
		return m.Groups[t.Index].Columns[t.Sub].Name
	}
	return ""
}

// ColumnValues returns what the records of a group show in a column, in their order.
func ColumnValues(m *page.Model, group, column int, name string) []page.Attribute {
	if group < 0 || group >= len(m.Groups) {
		return nil
	}
	var kind page.Type
	if column >= 0 && column < len(m.Groups[group].Columns) {
		kind = m.Groups[group].Columns[column].Type
	}
	var list []page.Attribute
	for _, r := range m.Groups[group].Records {
		attributes := m.Records[r].Attributes
		at := -1
		if name != "" {
			at = slices.IndexFunc(attributes, func(a page.Attribute) bool { return a.Name == name })
		}
		if at < 0 && name == "" && kind != "" && kind != page.Text {
			at = slices.IndexFunc(attributes, func(a page.Attribute) bool { return a.Type == kind && !a.Struck })
		}
		if at < 0 && name == "" && column < len(attributes) {
			at = column
		}
		if at >= 0 {
			list = append(list, attributes[at])
		}
	}
	return list
}

// InOrder reports whether values stand in an order: by their amounts where all but some have
// one, else by their texts. Empty ones may stand anywhere at the ends.
func InOrder(values []page.Attribute, descending bool) bool {
	numbers := 0
	var filled []page.Attribute
	for _, v := range values {
		if strings.TrimSpace(v.Text) == "" {
			continue
		}
		filled = append(filled, v)
		if v.Number != nil {
			numbers++
		}
	}
	byNumber := numbers*10 >= len(filled)*8 && numbers > 0
	var last *page.Attribute
	for i := range filled {
		v := &filled[i]
		if byNumber && v.Number == nil {
			continue
		}
		if last != nil {
			order := 0
			if byNumber {
				order = cmp.Compare(*last.Number, *v.Number)
			} else {
				order = strings.Compare(sortKey(last.Text), sortKey(v.Text))
			}
			if descending && order < 0 || !descending && order > 0 {
				return false
			}
		}
		last = v
	}
	return true
}

// counted reports whether values have amounts, by which they are in order or not.
func counted(values []page.Attribute) bool {
	return slices.ContainsFunc(values, func(v page.Attribute) bool { return v.Number != nil })
}

// grouped reports whether words of a few kinds (high, normal, low) stand together: in which order
// they are meant no text says.
func grouped(values []page.Attribute) bool {
	seen := map[string]bool{}
	last := ""
	for i, v := range values {
		key := Fold(v.Text)
		if v.Number != nil || i > 0 && key != last && seen[key] {
			return false
		}
		seen[key], last = true, key
	}
	return len(seen) < len(values)
}

var sortFold = strings.NewReplacer("ä", "a", "ö", "o", "ü", "u", "ß", "ss", "é", "e", "è", "e", "ê", "e", "á", "a", "à", "a", "â", "a",
	"í", "i", "ì", "i", "ó", "o", "ò", "o", "ô", "o", "ú", "u", "ù", "u", "ñ", "n", "ç", "c", "-", " ", "’", "", "'", "")

func sortKey(text string) string { return sortFold.Replace(Fold(text)) }

// judgeSet: another set of records is shown, or what narrows it is set and the set was right.
func judgeSet(j *judged) Verdict {
	switch {
	case j.Nothing:
		return Verdict{State: Unseen, Why: "nothing changed"}
	case j.Set, j.Change.URL:
		return reached("another set is shown", j.used("another set is shown")...)
	}
	if v := j.partly(); v.State == Partly {
		return v
	}
	switch {
	case len(j.NewLines) > 0 || len(j.GoneLines) > 0:
		return reached("another text is shown", j.used("another set is shown")...)
	case j.goal.Effect == intent.Search && !slices.ContainsFunc(j.Fields, func(p Pair) bool { return j.After.Fields[p.After].Kind != "text" }):
		return Verdict{State: Unseen, Why: "it is typed, and nothing was searched"}
	case len(j.Fields) > 0, len(j.Controls) > 0:
		return reached("the choice is set", j.used("the choice is set")...)
	}
	return j.partly()
}

// judgePage: other records of the list are shown, or as many as were asked for; where a page was
// asked for by its number, the page says that it is this one.
func judgePage(j *judged) Verdict {
	if j.Nothing {
		return Verdict{State: Unseen, Why: "nothing changed"}
	}
	amount := PageAmount(j.goal)
	if amount != nil && amount.Number != nil && !PageSize(j.goal) && !j.saysPage(*amount.Number) {
		return Verdict{State: Unseen, Why: "the page does not say that it is this one"}
	}
	used := j.used("the place in the list")
	if amount != nil {
		used = append(used, find.Use{Span: amount.Span, By: "the page or its size"})
	}
	switch {
	case j.Set, j.Change.URL, len(j.NewLines) > 0:
		return reached("other records are shown", used...)
	case len(j.Controls) > 0, len(j.Fields) > 0, len(j.Looks) > 0, len(j.Opened) > 0:
		return reached("the place in the list changed", used...)
	}
	return j.partly()
}

// PageAmount is the number of a page or of rows that a goal says; nil without one.
func PageAmount(g *intent.Goal) *intent.Value {
	if g.Amount != nil {
		return g.Amount
	}
	for i := range g.Target {
		d := &g.Target[i]
		if d.Ordinal > 0 {
			n := float64(d.Ordinal)
			return &intent.Value{Span: d.Span, Number: &n}
		}
		for _, w := range d.Words {
			if n, ok := Number(w.Text); ok {
				return &intent.Value{Span: w.Span, Text: w.Text, Number: &n}
			}
		}
	}
	return nil
}

// PageSize reports whether the number of a goal is one of rows and not of a page.
func PageSize(g *intent.Goal) bool {
	return g.Amount != nil && (g.Amount.Unit != "" || g.Amount.UnitClass == "count" || len(g.Fields) > 0)
}

// Number returns the number that a text is, but for a word beside it.
func Number(text string) (float64, bool) {
	fields := strings.FieldsFunc(text, func(r rune) bool { return r < '0' || r > '9' })
	if len(fields) != 1 || len(strings.Fields(text)) > 3 {
		return 0, false
	}
	n, err := strconv.ParseFloat(fields[0], 64)
	return n, err == nil
}

// digits are the digits of a text.
func digits(text string) string {
	return strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' {
			return r
		}
		return -1
	}, text)
}

// saysPage reports whether the page says that it shows the page of a number: by the control that
// is chosen, a field, or a new text with the number first.
func (j *judged) saysPage(want float64) bool {
	is := func(text string) bool { n, ok := Number(text); return ok && n == want }
	for i := range j.After.Controls {
		c := &j.After.Controls[i]
		n := &j.After.Nodes[c.Node]
		if is(ControlName(j.After, i)) && (n.Selected == "true" || c.State == "selected" || c.State == "pressed" ||
			n.Disabled || j.looksNew(c.Node)) {
			return true
		}
	}
	for _, p := range j.Fields {
		if is(j.After.Fields[p.After].Value) {
			return true
		}
	}
	for i := range j.After.Nodes {
		n := &j.After.Nodes[i]
		if n.Hidden || len(n.Name) > 60 || n.Role != "text" && n.Text == "" {
			continue
		}
		numbers := strings.FieldsFunc(n.Name, func(r rune) bool { return r < '0' || r > '9' })
		if len(numbers) > 0 && len(numbers) <= 4 && len(n.Name) > len(numbers[0]) && (is(numbers[0]) || j.Change.URL) {
			return true
		}
	}
	return j.Change.URL || j.saysRange(int(want))
}

// saysRange reports whether the page counts the records that it shows ("6-10 of 42"), and these are those
// of a page, by how many there were on the page before.
func (j *judged) saysRange(want int) bool {
	for _, was := range ranges(j.Before) {
		for _, is := range ranges(j.After) {
			if size := was[1] - was[0] + 1; is[2] == was[2] && is != was && is[0] == (want-1)*size+1 {
				return true
			}
		}
	}
	return false
}

// ranges are the first, the last and the number of all, where a text of the page says so.
func ranges(m *page.Model) [][3]int {
	var list [][3]int
	for i := range m.Nodes {
		n := &m.Nodes[i]
		if n.Hidden || len(n.Name) > maxRange || n.Role != "text" && n.Text == "" {
			continue
		}
		numbers := strings.FieldsFunc(n.Name, func(r rune) bool { return r < '0' || r > '9' })
		if len(numbers) != 3 {
			continue
		}
		var r [3]int
		for k := range r {
			r[k], _ = strconv.Atoi(numbers[k])
		}
		if r[0] > 0 && r[0] <= r[1] && r[1] <= r[2] {
			list = append(list, r)
		}
	}
	return list
}

// maxRange is how long a text is that counts what is shown.
const maxRange = 60

// looksNew reports whether an element has other classes or colours than before.
func (j *judged) looksNew(node int) bool {
	return slices.ContainsFunc(j.Looks, func(p Pair) bool { return p.After == node || j.After.Inside(p.After, node) && node-p.After < 3 })
}
