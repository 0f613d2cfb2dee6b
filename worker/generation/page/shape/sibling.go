package shape

import (
	"slices"
	"strings"

	"github.com/slipway-qa/slipway/worker/generation/page/value"
	"github.com/slipway-qa/slipway/worker/snapshot"
)

// siblings returns the sets of things beside each other that look alike.
func (b *Page) siblings(taken map[int]bool) []*Cluster {
	var list []*Cluster
	for i := -1; i < len(b.Nodes); i++ {
		kids := b.X.Children(i)
		if i >= 0 && (b.Nodes[i].Editable || CodeEditor(&b.Nodes[i])) {
			i = b.X.End(i) - 1
			continue
		}
		if len(kids) < 2 || i >= 0 && !b.mayHold(i) {
			continue
		}
		list = append(list, b.alike(i, kids, taken)...)
		if c := b.textStack(i, kids); c != nil {
			list = append(list, c)
		}
	}
	return list
}

// mayHold reports whether a node may have things in it.
func (b *Page) mayHold(i int) bool {
	switch b.Nodes[i].Role {
	case "menu", "menubar", "tablist", "toolbar", "listbox", "radiogroup", "img", "button", "combobox", "row", "text",
		"option", "menuitem", "select":
		return false
	}
	return !b.Nodes[i].Hidden
}

// CodeEditor reports whether a node is an editor that draws its text out of many elements.
func CodeEditor(n *snapshot.Node) bool {
	for token := range strings.FieldsSeq(n.Class) {
		switch token {
		case "CodeMirror", "cm-editor", "monaco-editor", "ace_editor", "ql-editor", "ProseMirror", "CodeMirror-scroll":
			return true
		}
	}
	return false
}

// alike returns the sets of children of one pattern.
func (b *Page) alike(around int, kids []int, taken map[int]bool) []*Cluster {
	by := map[Pattern]*Cluster{}
	var order []*Cluster
	for _, i := range kids {
		if taken[i] || !b.thing(i) {
			continue
		}
		p := b.PatternOf(i)
		c := by[p]
		if c == nil {
			c = &Cluster{Node: around, Kind: "cards", Header: -1, Pattern: p}
			by[p] = c
			order = append(order, c)
		}
		c.Members = append(c.Members, i)
	}
	for _, c := range order {
		b.joinPoor(c, kids, taken)
	}
	return slices.DeleteFunc(order, func(c *Cluster) bool {
		return len(c.Members) < 2 || !b.wordy(c) || b.formRows(c) || b.onlyControls(c) || !b.similar(c)
	})
}

// joinPoor adds to a set of two or more those of its class that say less: the row of a tree
// that only has a name.
func (b *Page) joinPoor(c *Cluster, kids []int, taken map[int]bool) {
	if len(c.Members) < 2 || c.Pattern.Class == "" {
		return
	}
	added := false
	for _, i := range kids {
		n := &b.Nodes[i]
		if taken[i] || n.Hidden || n.Role == "text" || n.Class == "" || b.thing(i) || b.PatternOf(i) != c.Pattern {
			continue
		}
		if list := b.LeavesIn(i, b.X.End(i), 3); len(list) > 0 && Worded(b.Leaf[list[0]]) && !ClassWord(n, headWords) {
			c.Members = append(c.Members, i)
			added = true
		}
	}
	if added {
		slices.Sort(c.Members)
	}
}

// thing reports whether a node has what a thing has: a text, and another part.
func (b *Page) thing(i int) bool {
	n := &b.Nodes[i]
	if n.Hidden || !plainRoles[n.Role] || n.Role == "text" || b.X.End(i)-i > maxThing {
		return false
	}
	switch n.Tag {
	case "label", "fieldset", "form", "p", "header", "footer", "nav", "main", "table", "svg", "legend", "dl":
		return false
	}
	if ClassWord(n, headWords) || b.holdsRows(i) {
		return false
	}
	texts := 0
	for _, j := range b.LeavesIn(i, b.X.End(i), MaxLeaves) {
		if Lettered(b.Leaf[j]) && !b.Nodes[j].Hidden && !b.InButton(j, i) {
			texts++
		}
	}
	if n.Role == "button" && texts < 2 {
		return false
	}
	return texts > 0 && (texts >= 2 || b.Parts(i) >= 2 && !b.SingleControl(i)) || b.richButton(i)
}

var headWords = Words("header thead colheader heads optgroup")

// holdsRows reports whether a node is around rows of a table.
func (b *Page) holdsRows(i int) bool {
	for j := i + 1; j < b.Stop(i); j++ {
		if b.Nodes[j].Role == "row" {
			return true
		}
	}
	return false
}

// richButton reports whether a node is around one button that says several things: the head
// of a thing that opens.
func (b *Page) richButton(i int) bool {
	first, count := b.ControlsInside(i)
	return count == 1 && b.Nodes[first].Role != "tab" && len(b.LeavesIn(first, b.X.End(first), 4)) >= 2 && b.SingleControl(i) &&
		b.Nodes[i].Role != "button"
}

// Parts counts what a node shows: texts, images and controls, each once.
func (b *Page) Parts(i int) int {
	count := 0
	for j := i + 1; j < b.Stop(i) && count < 10; j++ {
		n := &b.Nodes[j]
		switch {
		case n.Hidden:
		case StrongRoles[n.Role] || n.Role == "img" || n.Tag == "svg" || n.Tag == "img":
			count++
			j = b.X.End(j) - 1
		case b.Leaf[j] != "":
			count++
		}
	}
	return count
}

// formRows reports whether the members are the rows of a form: a label and a field each.
func (b *Page) formRows(c *Cluster) bool {
	rows := 0
	for _, i := range c.Members {
		if b.formRow(i) {
			rows++
		}
	}
	return rows*2 > len(c.Members)
}

func (b *Page) formRow(i int) bool {
	fields, buttons, texts, choices, labels, hidden := 0, 0, 0, 0, 0, 0
	signs, digits := 0, 0
	for j := i + 1; j < b.Stop(i); j++ {
		n := &b.Nodes[j]
		if n.Hidden {
			if n.Role == "checkbox" || n.Role == "radio" {
				hidden++ // pages draw these anew, and hide them
			}
			continue
		}
		if b.Tokens(j) {
			fields++
			j = b.X.End(j) - 1
			continue
		}
		switch {
		case TypedRoles[n.Role] || n.Editable || n.Role == "" && n.Interactive && ClassWord(n, SelectWords):
			fields++
			if !StrongRoles[n.Role] {
				j = b.X.End(j) - 1
			}
		case n.Role == "radio":
			choices++
		case n.Role == "checkbox" || n.Role == "switch":
			labels++
		case n.Role == "button" || n.Role == "link":
			buttons++
			if !Lettered(b.TextOf(j)) {
				signs++
			}
		case b.Leaf[j] != "" && Lettered(b.Leaf[j]):
			texts++
			if _, plain := value.Parse(b.Leaf[j], "en"); plain {
				digits++
			}
		}
		if StrongRoles[n.Role] {
			j = b.X.End(j) - 1
		}
	}
	if signs == 2 && buttons == 2 && texts-digits == 1 && fields+digits <= 1 {
		return true // a number between a minus and a plus
	}
	if buttons == 0 && fields == 0 && hidden > 0 && choices+labels == 0 {
		return texts <= hidden+1
	}
	if choices >= 2 || labels > 0 && buttons == 0 && fields == 0 && texts <= labels+1 && labels > 1 {
		return true
	}
	return fields == 1 && buttons == 0 && labels == 0 && texts <= 1 || fields >= 2 && buttons == 0 && texts <= fields
}

// TypedRoles are the roles of fields that take a value.
var TypedRoles = map[string]bool{"textbox": true, "searchbox": true, "spinbutton": true, "combobox": true, "slider": true, "listbox": true}

// wordy reports whether the members say something in words: the marks of a scale are no things.
func (b *Page) wordy(c *Cluster) bool {
	count := 0
	for _, i := range c.Members {
		for _, l := range b.LeavesIn(i, b.X.End(i), 12) {
			if Worded(b.Leaf[l]) {
				count++
				break
			}
		}
	}
	return count*2 >= len(c.Members)
}

// similar reports whether the members are made of the same parts: the sections of a page may
// have one class and nothing else in common.
func (b *Page) similar(c *Cluster) bool {
	sets := make([]map[string]bool, 0, 20)
	count := map[string]int{}
	for _, i := range c.Members[:min(len(c.Members), 20)] {
		set := map[string]bool{}
		for j := i + 1; j < b.Stop(i) && j < i+60; j++ {
			if n := &b.Nodes[j]; !n.Hidden {
				set[n.Tag+":"+n.Role+":"+KindClass(n.Class)] = true
			}
		}
		for kind := range set {
			count[kind]++
		}
		sets = append(sets, set)
	}
	share := 0.0
	for _, set := range sets {
		common := 0
		for kind := range set {
			if count[kind]*2 > len(sets) || len(sets) == 2 && count[kind] == 2 {
				common++
			}
		}
		share += float64(common) / float64(max(len(set), 1))
	}
	return share/float64(len(sets)) >= 0.45
}

var tokenWords = Words("tagify tagsinput selectize tokenfield chips-input")

// Tokens reports whether a node is a field whose values stand in it as little boxes.
func (b *Page) Tokens(i int) bool {
	n := &b.Nodes[i]
	return n.Role != "text" && len(b.X.Children(i)) > 0 && (ClassWord(n, tokenWords) || n.Tag == "tags")
}

// severalTyped reports whether a node is a form.
func (b *Page) severalTyped(i int) bool {
	count := 0
	for j := i + 1; j < b.Stop(i); j++ {
		if TypedRoles[b.Nodes[j].Role] && !b.Nodes[j].Hidden {
			count++
		}
	}
	return count > 1
}

// textStack returns the lines of a list that are nothing but texts, one below the other.
func (b *Page) textStack(around int, kids []int) *Cluster {
	if len(kids) < 3 || around < 0 || len(kids) > MaxMembers {
		return nil
	}
	first := &b.Nodes[kids[0]]
	left, height := first.Box[0], first.Box[3]
	bottom := -1 << 30
	for _, i := range kids {
		n := &b.Nodes[i]
		switch {
		case n.Role != "text" || n.Tag != first.Tag || n.Tag == "p" || n.Tag == b.Nodes[around].Tag && n.Ref == b.Nodes[around].Ref:
			return nil
		case n.Box[0] != left || n.Box[3] != height || n.Box[1] < bottom || n.Hidden || n.Size != first.Size ||
			n.Bold != first.Bold || len(n.Name) > maxTextThing:
			return nil
		}
		bottom = n.Box[1] + n.Box[3]
	}
	if b.X.Around(around, navRoles...) >= 0 || first.Tag == "dt" || first.Tag == "dd" {
		return nil
	}
	return &Cluster{Node: around, Kind: "list", Header: -1, Members: slices.Clone(kids), Pattern: Pattern{Tag: first.Tag,
		Role: "text", Class: KindClass(first.Class)}}
}

// cousins returns the things that stand alone where others of their pattern have company:
// the only card of a column, the only event of a day; and what an earlier moment knew.
func (b *Page) cousins(list []*Cluster, earlier map[Pattern]bool) []*Cluster {
	taken, known := map[int]bool{}, map[Pattern]bool{}
	inside := map[int]bool{} // Members: what is in them are their parts
	for _, c := range list {
		board := len(c.Members) > 1 && !b.Stacked(c.Members) && b.Level(c.Members)
		for _, i := range c.Members {
			taken[i] = true
			inside[i] = !board
		}
		if c.Pattern.Class != "" && !c.Sure {
			known[c.Pattern] = true
		}
	}
	type alone struct {
		own, parent Pattern
	}
	count := map[alone]int{}
	var nodes []int
	for i := range b.Nodes {
		if up := b.X.Parent(i); up >= 0 && inside[up] {
			inside[i] = true
		}
		if inside[i] || taken[i] || b.Nodes[i].Class == "" || EntryRoles[b.Nodes[i].Role] || !b.thing(i) {
			continue
		}
		p := b.PatternOf(i)
		if p.Class == "" {
			continue
		}
		nodes = append(nodes, i)
		if up := b.X.Parent(i); up >= 0 {
			count[alone{p, b.PatternOf(up)}]++
		}
	}
	var found []*Cluster
	for _, i := range nodes {
		p, up := b.PatternOf(i), b.X.Parent(i)
		repeated := up >= 0 && count[alone{p, b.PatternOf(up)}] > 1 && b.PatternOf(up).Class != ""
		if !known[p] && !earlier[p] && !repeated {
			continue
		}
		c := &Cluster{Node: up, Kind: "cards", Header: -1, Members: []int{i}, Pattern: p}
		if next := b.Sibling(i, 1); next >= 0 && slices.ContainsFunc(b.X.Children(next), func(j int) bool {
			return taken[j] &&
				b.PatternOf(j) == p
		}) {
			continue // the head of the list that follows
		}
		if !b.formRows(c) && !b.SingleControl(i) && !b.severalTyped(i) && !b.goesAbout(c) {
			found = append(found, c)
		}
	}
	return found
}
