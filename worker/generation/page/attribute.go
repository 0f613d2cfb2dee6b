package page

import (
	"slices"
	"strings"

	"github.com/slipway-qa/slipway/worker/generation/page/shape"
	"github.com/slipway-qa/slipway/worker/generation/page/value"
)

// slot is where in things of one kind an attribute stands.
type slot struct {
	tag, class, parent string
	count              int
}

// seenAttribute is an attribute while the columns of its group are not known.
type seenAttribute struct {
	Attribute
	slot   slot
	column int
	score  float64 // as a title, by how it is drawn
}

// describeRecords reads the attributes, titles and states of all records.
func (b *builder) describeRecords() {
	b.findDayOrder()
	for g := range b.Groups {
		b.describeGroup(g)
	}
}

func (b *builder) describeGroup(g int) {
	group, c := &b.Groups[g], b.groups[g]
	seen := make([][]seenAttribute, len(group.Records))
	if c.Kind == "table" {
		group.Columns = b.tableColumns(c)
		for k, r := range group.Records {
			seen[k] = b.cellAttributes(r, group.Columns)
		}
	} else {
		for k, r := range group.Records {
			seen[k] = b.leafAttributes(r)
		}
		group.Columns = b.slotColumns(c, seen)
	}
	if c.Kind == "table" {
		withoutActions(group.Columns, seen)
	}
	b.typeColumns(group.Columns, seen)
	title := b.titleColumn(group.Columns, seen)
	for k, r := range group.Records {
		record := &b.Records[r]
		for _, a := range seen[k] {
			record.Attributes = append(record.Attributes, a.Attribute)
		}
		record.Title = b.recordTitle(r, seen[k], title)
		record.States = b.statesOf(r, seen[k], title)
	}
	if c.Kind == "calendar" && len(group.Records) > 0 {
		b.describeDays(g)
	}
	group.Title = b.groupTitle(g)
}

// withoutActions leaves out what is the same in all rows and has no header: it is what can be
// done with each.
func withoutActions(columns []Column, seen [][]seenAttribute) {
	if len(seen) < 3 {
		return
	}
	for at := range columns {
		if columns[at].Name != "" {
			continue
		}
		text, same := "", true
		for k := range seen {
			found := ""
			for _, a := range seen[k] {
				if a.column == at {
					found = a.Text
				}
			}
			if k == 0 {
				text = found
			}
			same = same && found == text
		}
		if !same || text == "" {
			continue
		}
		for k := range seen {
			node := -1
			for _, a := range seen[k] {
				if a.column == at {
					node = a.Node
				}
			}
			seen[k] = slices.DeleteFunc(seen[k], func(a seenAttribute) bool {
				return a.column == at || a.column == -1-at || a.Node == node
			})
		}
	}
}

// groupTitle returns what a group is called: by its own element, else by what is around it.
func (b *builder) groupTitle(g int) string {
	node := b.Groups[g].Node
	if node < 0 {
		return ""
	}
	if title := b.titleOf(node); title != "" && b.member[node] < 0 {
		return title
	}
	for c := at(b.holder, node); c >= 0; c = b.Containers[c].Parent {
		if t := b.Containers[c].Title; t != "" {
			return t
		}
	}
	return ""
}

// cellAttributes returns what the cells of a row say.
func (b *builder) cellAttributes(r int, columns []Column) []seenAttribute {
	var list []seenAttribute
	next := 0
	for _, j := range b.Cells(b.Records[r].Node) {
		column := next
		if at := b.Nodes[j].Column; b.Nodes[j].Table != "" && at < len(columns) {
			column = at
		}
		next = column + 1
		name := ""
		if column < len(columns) {
			name = columns[column].Name
		}
		leaves := b.ownLeaves(r, j, b.X.End(j))
		if slices.ContainsFunc(leaves, func(l int) bool { return shape.Lettered(b.Leaf[l]) }) { // without signs
			leaves = slices.DeleteFunc(leaves, func(l int) bool { return !shape.Lettered(b.Leaf[l]) })
		}
		text := b.joined(leaves)
		held, field := b.valueIn(j)
		if text == "" {
			text = held
		}
		stars := b.ratingIn(j)
		if text == "" && !field && stars == nil {
			continue
		}
		a := b.attribute(j, name, text)
		if stars != nil {
			n, _ := value.Parse(stars.Value, "en")
			a.Text, a.Type, a.Number, a.Unit = stars.Value, Rating, &n, "★"
		}
		a.column = column
		if b.Nodes[j].Role == "rowheader" {
			a.score += 3
		}
		if len(leaves) > 0 {
			a.score += b.drawnScore(leaves[0])
			a.Struck = b.Nodes[leaves[0]].Struck
		}
		list = append(list, a)
		list = append(list, b.partsOf(a)...)
		if len(leaves) > 1 {
			for _, l := range leaves {
				part := b.attribute(l, "", b.Leaf[l])
				part.Name, part.column = classHint(&b.Nodes[l]), -1-column
				list = append(list, part)
			}
		}
	}
	return list
}

// joined returns the texts of leaves in one.
func (b *builder) joined(leaves []int) string {
	var parts []string
	for _, l := range leaves {
		if len(parts) < 20 {
			parts = append(parts, b.Leaf[l])
		}
	}
	return strings.Join(parts, " ")
}

// ownLeaves returns the texts of a part of a thing that say something of it: not what its
// buttons are called, and not what further things in it say.
func (b *builder) ownLeaves(r, from, end int) []int {
	var list []int
	hidden := b.Nodes[b.Records[r].Node].Hidden
	for _, l := range b.LeavesIn(from, end, shape.MaxLeaves) {
		if b.record[l] != r || b.Nodes[l].Hidden && !hidden || b.InButton(l, b.Records[r].Node) {
			continue
		}
		if b.control[l] >= 0 && !shape.Lettered(b.Leaf[l]) {
			continue // an icon to press
		}
		list = append(list, l)
	}
	return list
}

// ratingIn returns the row of stars in a node, nil without one.
func (b *builder) ratingIn(i int) *Field {
	for j := i; j < b.Stop(i); j++ {
		if f := b.field[j]; f >= 0 && b.Fields[f].Kind == "rating" {
			return &b.Fields[f]
		}
	}
	return nil
}

// valueIn returns the value of the field in a node, and whether there is one.
func (b *builder) valueIn(i int) (string, bool) {
	for j := i; j < b.Stop(i); j++ {
		if n := &b.Nodes[j]; shape.TypedRoles[n.Role] && n.HasValue && len(n.Options) == 0 {
			return n.Value, true
		}
	}
	return "", false
}

// leafAttributes returns what the texts and values of a thing say.
func (b *builder) leafAttributes(r int) []seenAttribute {
	node := b.Records[r].Node
	var list []seenAttribute
	counts := map[slot]int{}
	add := func(l int, a seenAttribute) {
		n := &b.Nodes[l]
		s := slot{tag: n.Tag + ":" + n.Role, class: shape.KindClass(n.Class)}
		if up := b.X.Parent(l); up > node {
			s.parent = b.Nodes[up].Tag + "." + shape.KindClass(b.Nodes[up].Class)
		}
		counts[s]++
		s.count = counts[s]
		a.slot = s
		a.score += b.drawnScore(l)
		a.Struck = n.Struck
		list = append(list, a)
		list = append(list, b.partsOf(a)...)
	}
	for _, l := range b.ownLeaves(r, node, b.X.End(node)) {
		name, text := splitLabel(b.Leaf[l])
		if f := b.field[l]; f >= 0 && len(b.Nodes[l].Options) > 0 {
			name = b.Fields[f].Label
		} else if name == "" {
			name = b.labelLeft(l, node)
		}
		if len(list) > 40 {
			break
		}
		add(l, b.attribute(l, name, text))
	}
	for j := node; j < b.Stop(node) && len(list) < 50; j++ {
		n := &b.Nodes[j]
		if b.record[j] != r || n.Hidden || len(n.Options) > 0 {
			continue
		}
		f := b.field[j]
		if f < 0 || b.Fields[f].Node != j || b.Fields[f].Value == "" || b.Fields[f].Kind == "switch" || b.Fields[f].InPlace ||
			b.Fields[f].Kind == "choice" {
			continue
		}
		a := b.attribute(j, b.Fields[f].Label, b.Fields[f].Value)
		if b.Fields[f].Kind == "rating" {
			a.Type = Rating
			v, _ := value.Parse(b.Fields[f].Value, "en")
			a.Number = &v
		}
		add(j, a)
	}
	slices.SortStableFunc(list, func(a, c seenAttribute) int { return a.Node - c.Node })
	if day := b.columnAround(node); day != "" {
		a := b.attribute(node, "", day)
		a.slot = slot{tag: "column"}
		list = append(list, a)
	}
	return list
}

// columnAround returns the header of the column that a thing stands in: the day of an event.
func (b *builder) columnAround(i int) string {
	for up, k := b.X.Parent(i), 0; up >= 0 && k < 6; up, k = b.X.Parent(up), k+1 {
		if shape.CellRoles[b.Nodes[up].Role] {
			return shape.Label(b.Nodes[up].ColumnHeader)
		}
	}
	return ""
}

// labelLeft returns the text that ends in a colon right before another one.
func (b *builder) labelLeft(l, thing int) string {
	k, _ := slices.BinarySearch(b.Leaves, l)
	if k == 0 || b.Leaves[k-1] <= thing {
		return ""
	}
	before := b.Leaves[k-1]
	text := b.Leaf[before]
	if (strings.HasSuffix(text, ":") || b.Nodes[before].Tag == "dt" && b.Nodes[l].Tag == "dd") && shape.Worded(text) && len(text) <= 40 {
		return shape.Label(text)
	}
	return ""
}

// partsOf returns the values that one text names beside each other: "Comedy · 94 min · rated
// 7.1". Commas part it only where one of its parts is a value.
func (b *builder) partsOf(a seenAttribute) []seenAttribute {
	if a.Type != Text || a.Number != nil || len(a.Text) > 120 {
		return nil
	}
	parts, sure := strings.FieldsFunc(a.Text, func(r rune) bool { return strings.ContainsRune("·•|∙", r) }), true
	if len(parts) < 2 {
		parts, sure = strings.Split(a.Text, ", "), false
	}
	if len(parts) < 2 || len(parts) > 8 {
		return nil
	}
	var list []seenAttribute
	valued := false
	for _, text := range parts {
		text = strings.TrimSpace(text)
		part := b.attribute(a.Node, "", text)
		part.column = -1 << 20
		part.slot = slot{tag: "part:" + a.slot.tag, class: a.slot.class, parent: a.slot.parent, count: a.slot.count*10 + len(list)}
		if part.Type == Text && part.Number != nil {
			if k := strings.LastIndexByte(text, ' '); k > 0 && shape.Worded(text[:k]) { // "sleeps 4"
				part.Name, part.Text, part.Type = text[:k], text[k+1:], Number
			}
		}
		valued = valued || part.Number != nil
		if text != "" {
			list = append(list, part)
		}
	}
	if !sure && !valued {
		return nil
	}
	return list
}

// splitLabel takes "Stock: 12" apart.
func splitLabel(text string) (name, rest string) {
	before, after, ok := strings.Cut(text, ": ")
	if !ok || len(before) > 30 || strings.Count(before, " ") > 2 || !shape.Worded(before) || strings.TrimSpace(after) == "" {
		return "", text
	}
	return before, strings.TrimSpace(after)
}

// attribute returns the attribute that a text is.
func (b *builder) attribute(node int, name, text string) seenAttribute {
	got := b.values.Read(text)
	return seenAttribute{Attribute: Attribute{Name: name, Node: node, Text: text, Type: got.Type, Number: got.Number,
		Unit: got.Unit}, column: -1}
}
