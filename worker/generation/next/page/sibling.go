package page

import (
	"github.com/slipway-qa/slipway/worker/generation/next/page/value"
	"slices"
	"strings"

	"github.com/slipway-qa/slipway/worker/snapshot"
)

// siblings returns the sets of things beside each other that look alike.
func (b *builder) siblings(taken map[int]bool) []*cluster {
	var list []*cluster
	for i := -1; i < len(b.Nodes); i++ {
		kids := b.x.Children(i)
		if i >= 0 && (b.Nodes[i].Editable || codeEditor(&b.Nodes[i])) {
			i = b.x.End(i) - 1
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
func (b *builder) mayHold(i int) bool {
	switch b.Nodes[i].Role {
	case "menu", "menubar", "tablist", "toolbar", "listbox", "radiogroup", "img", "button", "combobox", "row", "text", "option", "menuitem", "select":
		return false
	}
	return !b.Nodes[i].Hidden
}

// codeEditor reports whether a node is an editor that draws its text out of many elements.
func codeEditor(n *snapshot.Node) bool {
	for token := range strings.FieldsSeq(n.Class) {
		switch token {
		case "CodeMirror", "cm-editor", "monaco-editor", "ace_editor", "ql-editor", "ProseMirror", "CodeMirror-scroll":
			return true
		}
	}
	return false
}

// alike returns the sets of children of one pattern.
func (b *builder) alike(around int, kids []int, taken map[int]bool) []*cluster {
	by := map[pattern]*cluster{}
	var order []*cluster
	for _, i := range kids {
		if taken[i] || !b.thing(i) {
			continue
		}
		p := b.patternOf(i)
		c := by[p]
		if c == nil {
			c = &cluster{node: around, kind: "cards", header: -1, pattern: p}
			by[p] = c
			order = append(order, c)
		}
		c.members = append(c.members, i)
	}
	for _, c := range order {
		b.joinPoor(c, kids, taken)
	}
	return slices.DeleteFunc(order, func(c *cluster) bool {
		return len(c.members) < 2 || !b.wordy(c) || b.formRows(c) || b.onlyControls(c) || !b.similar(c)
	})
}

// joinPoor adds to a set of two or more those of its class that say less: the row of a tree
// that only has a name.
func (b *builder) joinPoor(c *cluster, kids []int, taken map[int]bool) {
	if len(c.members) < 2 || c.pattern.class == "" {
		return
	}
	added := false
	for _, i := range kids {
		n := &b.Nodes[i]
		if taken[i] || n.Hidden || n.Role == "text" || n.Class == "" || b.thing(i) || b.patternOf(i) != c.pattern {
			continue
		}
		if list := b.leavesIn(i, b.x.End(i), 3); len(list) > 0 && worded(b.leaf[list[0]]) && !classWord(n, headWords) {
			c.members = append(c.members, i)
			added = true
		}
	}
	if added {
		slices.Sort(c.members)
	}
}

// thing reports whether a node has what a thing has: a text, and another part.
func (b *builder) thing(i int) bool {
	n := &b.Nodes[i]
	if n.Hidden || !plainRoles[n.Role] || n.Role == "text" || b.x.End(i)-i > maxThing {
		return false
	}
	switch n.Tag {
	case "label", "fieldset", "form", "p", "header", "footer", "nav", "main", "table", "svg", "legend", "dl":
		return false
	}
	if classWord(n, headWords) || b.holdsRows(i) {
		return false
	}
	texts := 0
	for _, j := range b.leavesIn(i, b.x.End(i), maxLeaves) {
		if lettered(b.leaf[j]) && !b.Nodes[j].Hidden && !b.inButton(j, i) {
			texts++
		}
	}
	if n.Role == "button" && texts < 2 {
		return false
	}
	return texts > 0 && (texts >= 2 || b.parts(i) >= 2 && !b.singleControl(i)) || b.richButton(i)
}

var headWords = words("header thead colheader heads")

// holdsRows reports whether a node is around rows of a table.
func (b *builder) holdsRows(i int) bool {
	for j := i + 1; j < b.stop(i); j++ {
		if b.Nodes[j].Role == "row" {
			return true
		}
	}
	return false
}

// richButton reports whether a node is around one button that says several things: the head
// of a thing that opens.
func (b *builder) richButton(i int) bool {
	first, count := b.controlsInside(i)
	return count == 1 && b.Nodes[first].Role != "tab" && len(b.leavesIn(first, b.x.End(first), 4)) >= 2 && b.singleControl(i) && b.Nodes[i].Role != "button"
}

// parts counts what a node shows: texts, images and controls, each once.
func (b *builder) parts(i int) int {
	count := 0
	for j := i + 1; j < b.stop(i) && count < 10; j++ {
		n := &b.Nodes[j]
		switch {
		case n.Hidden:
		case strongRoles[n.Role] || n.Role == "img" || n.Tag == "svg" || n.Tag == "img":
			count++
			j = b.x.End(j) - 1
		case b.leaf[j] != "":
			count++
		}
	}
	return count
}

// formRows reports whether the members are the rows of a form: a label and a field each.
func (b *builder) formRows(c *cluster) bool {
	rows := 0
	for _, i := range c.members {
		if b.formRow(i) {
			rows++
		}
	}
	return rows*2 > len(c.members)
}

func (b *builder) formRow(i int) bool {
	fields, buttons, texts, choices, labels, hidden := 0, 0, 0, 0, 0, 0
	signs, digits := 0, 0
	for j := i + 1; j < b.stop(i); j++ {
		n := &b.Nodes[j]
		if n.Hidden {
			if n.Role == "checkbox" || n.Role == "radio" {
				hidden++ // pages draw these anew, and hide them
			}
			continue
		}
		if b.tokens(j) {
			fields++
			j = b.x.End(j) - 1
			continue
		}
		switch {
		case typedRoles[n.Role] || n.Editable || n.Role == "" && n.Interactive && classWord(n, selectWords):
			fields++
			if !strongRoles[n.Role] {
				j = b.x.End(j) - 1
			}
		case n.Role == "radio":
			choices++
		case n.Role == "checkbox" || n.Role == "switch":
			labels++
		case n.Role == "button" || n.Role == "link":
			buttons++
			if !lettered(b.textOf(j)) {
				signs++
			}
		case b.leaf[j] != "" && lettered(b.leaf[j]):
			texts++
			if _, plain := value.Parse(b.leaf[j], "en"); plain {
				digits++
			}
		}
		if strongRoles[n.Role] {
			j = b.x.End(j) - 1
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

var typedRoles = map[string]bool{"textbox": true, "searchbox": true, "spinbutton": true, "combobox": true, "slider": true, "listbox": true}

// wordy reports whether the members say something in words: the marks of a scale are no things.
func (b *builder) wordy(c *cluster) bool {
	count := 0
	for _, i := range c.members {
		for _, l := range b.leavesIn(i, b.x.End(i), 12) {
			if worded(b.leaf[l]) {
				count++
				break
			}
		}
	}
	return count*2 >= len(c.members)
}

// similar reports whether the members are made of the same parts: the sections of a page may
// have one class and nothing else in common.
func (b *builder) similar(c *cluster) bool {
	sets := make([]map[string]bool, 0, 20)
	count := map[string]int{}
	for _, i := range c.members[:min(len(c.members), 20)] {
		set := map[string]bool{}
		for j := i + 1; j < b.stop(i) && j < i+60; j++ {
			if n := &b.Nodes[j]; !n.Hidden {
				set[n.Tag+":"+n.Role+":"+kindClass(n.Class)] = true
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

var tokenWords = words("tagify tagsinput selectize tokenfield chips-input")

// tokens reports whether a node is a field whose values stand in it as little boxes.
func (b *builder) tokens(i int) bool {
	n := &b.Nodes[i]
	return n.Role != "text" && len(b.x.Children(i)) > 0 && (classWord(n, tokenWords) || n.Tag == "tags")
}

// severalTyped reports whether a node is a form.
func (b *builder) severalTyped(i int) bool {
	count := 0
	for j := i + 1; j < b.stop(i); j++ {
		if typedRoles[b.Nodes[j].Role] && !b.Nodes[j].Hidden {
			count++
		}
	}
	return count > 1
}

// textStack returns the lines of a list that are nothing but texts, one below the other.
func (b *builder) textStack(around int, kids []int) *cluster {
	if len(kids) < 3 || around < 0 || len(kids) > maxMembers {
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
		case n.Box[0] != left || n.Box[3] != height || n.Box[1] < bottom || n.Hidden || n.Size != first.Size || n.Bold != first.Bold || len(n.Name) > maxTextThing:
			return nil
		}
		bottom = n.Box[1] + n.Box[3]
	}
	if b.x.Around(around, navRoles...) >= 0 || first.Tag == "dt" || first.Tag == "dd" {
		return nil
	}
	return &cluster{node: around, kind: "list", header: -1, members: slices.Clone(kids), pattern: pattern{tag: first.Tag, role: "text", class: kindClass(first.Class)}}
}

// cousins returns the things that stand alone where others of their pattern have company:
// the only card of a column, the only event of a day; and what an earlier moment knew.
func (b *builder) cousins(list []*cluster, earlier map[pattern]bool) []*cluster {
	taken, known := map[int]bool{}, map[pattern]bool{}
	inside := map[int]bool{} // members: what is in them are their parts
	for _, c := range list {
		board := len(c.members) > 1 && !b.stacked(c.members) && b.level(c.members)
		for _, i := range c.members {
			taken[i] = true
			inside[i] = !board
		}
		if c.pattern.class != "" && !c.sure {
			known[c.pattern] = true
		}
	}
	type alone struct {
		own, parent pattern
	}
	count := map[alone]int{}
	var nodes []int
	for i := range b.Nodes {
		if up := b.x.Parent(i); up >= 0 && inside[up] {
			inside[i] = true
		}
		if inside[i] || taken[i] || b.Nodes[i].Class == "" || entryRoles[b.Nodes[i].Role] || !b.thing(i) {
			continue
		}
		p := b.patternOf(i)
		if p.class == "" {
			continue
		}
		nodes = append(nodes, i)
		if up := b.x.Parent(i); up >= 0 {
			count[alone{p, b.patternOf(up)}]++
		}
	}
	var found []*cluster
	for _, i := range nodes {
		p, up := b.patternOf(i), b.x.Parent(i)
		repeated := up >= 0 && count[alone{p, b.patternOf(up)}] > 1 && b.patternOf(up).class != ""
		if !known[p] && !earlier[p] && !repeated {
			continue
		}
		c := &cluster{node: up, kind: "cards", header: -1, members: []int{i}, pattern: p}
		if next := b.sibling(i, 1); next >= 0 && slices.ContainsFunc(b.x.Children(next), func(j int) bool { return taken[j] && b.patternOf(j) == p }) {
			continue // the head of the list that follows
		}
		if !b.formRows(c) && !b.singleControl(i) && !b.severalTyped(i) && !b.goesAbout(c) {
			found = append(found, c)
		}
	}
	return found
}
