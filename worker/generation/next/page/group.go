package page

import (
	"slices"
)

// cluster is a set of nodes that may be things of one kind.
type cluster struct {
	node    int // around them
	kind    string
	members []int
	pattern pattern
	header  int   // the row that heads them, -1
	heads   []int // its cells, once asked for
	titled  int   // its members are containers with a title, of this kind of layout
	sure    bool  // by role
}

// entryRoles are those of things among their like.
var entryRoles = map[string]bool{"row": true, "listitem": true, "treeitem": true, "article": true, "figure": true}

// plainRoles are of nodes that may be things: what has another role is a part or control.
var plainRoles = map[string]bool{"": true, "listitem": true, "article": true, "group": true, "link": true, "button": true, "region": true, "figure": true,
	"treeitem": true, "row": true, "gridcell": true, "status": true, "alert": true, "text": true}

var navRoles = []string{"navigation", "menu", "menubar", "tablist", "toolbar", "listbox", "radiogroup", "menuitem"}

var navWords = words(`nav navbar menu tabs tab pagination pager breadcrumb breadcrumbs toolbar paginator dropdown`)

const (
	maxMembers   = 5000
	maxThing     = 250 // nodes of one thing: more is a part of the page
	maxTextThing = 60
)

// findGroups finds the things of the page: by role, else by repeated structure.
func (b *builder) findGroups() {
	b.member = filled(len(b.Nodes))
	b.record = filled(len(b.Nodes))
	if b.patterns == nil {
		b.patterns = map[pattern]bool{}
	}
	known := b.patterns
	b.Model.patterns = map[pattern]bool{}
	for p := range known {
		b.Model.patterns[p] = true
	}
	list := append(b.tables(), b.entries()...)
	taken := map[int]bool{}
	for _, c := range list {
		for _, i := range c.members {
			taken[i] = true
		}
	}
	calendars := b.months(taken)
	for _, c := range calendars {
		for _, i := range c.members {
			taken[i] = true
		}
	}
	list = append(list, calendars...)
	list = append(list, b.siblings(taken)...)
	list = append(list, b.cousins(list, known)...)
	slices.SortStableFunc(list, func(a, c *cluster) int { return a.members[0] - c.members[0] })
	list = b.withoutWrappers(list)
	for _, c := range list {
		b.addGroup(c)
	}
	b.nestRecords()
}

// addGroup makes records of the members of a cluster.
func (b *builder) addGroup(c *cluster) {
	g := len(b.Groups)
	group := Group{Node: c.node, Kind: c.kind, Pager: -1, Counter: -1}
	for k, i := range c.members {
		if b.member[i] >= 0 || len(b.Records) >= maxMembers {
			continue
		}
		b.member[i] = len(b.Records)
		group.Records = append(group.Records, len(b.Records))
		b.Records = append(b.Records, Record{Group: g, Node: i, Index: k, Parent: -1})
	}
	if len(group.Records) == 0 {
		return
	}
	for k, r := range group.Records {
		b.Records[r].Index = k
	}
	b.Groups = append(b.Groups, group)
	b.groups = append(b.groups, c)
	if c.pattern.class != "" {
		b.Model.patterns[c.pattern] = true
	}
}

// nestRecords notes the record around each node and each record.
func (b *builder) nestRecords() {
	for i := range b.Nodes {
		up := b.x.Parent(i)
		around := at(b.record, up)
		if r := b.member[i]; r >= 0 {
			b.Records[r].Parent = around
			around = r
		}
		b.record[i] = around
	}
}

// entries returns the lists and trees whose entries have roles.
func (b *builder) entries() []*cluster {
	by := map[int]*cluster{}
	var order []*cluster
	for i := range b.Nodes {
		role := b.Nodes[i].Role
		if role != "listitem" && role != "treeitem" && role != "article" || b.Nodes[i].Hidden || classWord(&b.Nodes[i], emptyWords) {
			continue
		}
		around, kind := b.x.Parent(i), "list"
		if role == "treeitem" {
			around, kind = b.x.Around(i, "tree", "treegrid"), "tree"
		}
		if role == "article" {
			kind = "cards"
		}
		key := around*4 + len(kind)%4
		c := by[key]
		if c == nil {
			c = &cluster{node: around, kind: kind, header: -1, sure: true, pattern: b.patternOf(i)}
			by[key] = c
			order = append(order, c)
		}
		c.members = append(c.members, i)
	}
	return slices.DeleteFunc(order, b.onlyControls)
}

// stepWords are of the steps of a form and the path to a page.
var stepWords = words("steps stepper wizard breadcrumb breadcrumbs pagination progressbar")

// emptyWords are of entries that say that there are none.
var emptyWords = words("empty nodata placeholder nothing norecords")

// onlyControls reports whether the entries are the controls of a menu, a bar or a pager, and
// no things: each is one control, in what serves to go about.
func (b *builder) onlyControls(c *cluster) bool {
	for up, k := c.node, 0; up >= 0 && k < 2; up, k = b.x.Parent(up), k+1 {
		if classWord(&b.Nodes[up], stepWords) {
			return true
		}
	}
	if c.node >= 0 && b.goesAbout(c) {
		return true
	}
	poor := c.node >= 0 && b.x.Around(c.node, "navigation", "banner") >= 0
	for _, i := range c.members {
		poor = poor && len(b.leavesIn(i, b.x.End(i), 2)) < 2
	}
	if poor {
		return true
	}
	tabs := 0
	for _, i := range c.members {
		if classWord(&b.Nodes[i], tabWords) {
			tabs++
		}
	}
	if tabs == len(c.members) {
		return true
	}
	single, chosen := 0, 0
	for _, i := range c.members {
		if b.singleControl(i) && len(b.leavesIn(i, b.x.End(i), 3)) < 2 {
			single++
			if b.chosen(i) {
				chosen++
			}
		}
	}
	if single*3 < len(c.members)*2 {
		return false
	}
	if chosen == 1 && single == len(c.members) && len(c.members) <= 12 {
		return true // one of several: a choice
	}
	if c.node < 0 {
		return true
	}
	if b.x.Around(c.node, navRoles...) >= 0 || b.x.Around(c.node, "banner", "contentinfo") >= 0 {
		return true
	}
	for up, k := c.node, 0; up >= 0 && k < 3; up, k = b.x.Parent(up), k+1 {
		if classWord(&b.Nodes[up], navWords) {
			return true
		}
	}
	return false
}

var aboutWords = words("sidebar sidenav navbar topbar sidemenu nav navigation menu footer")

// goesAbout reports whether the members are what leads to other pages: links, and nothing
// beside them but a title.
func (b *builder) goesAbout(c *cluster) bool {
	about := b.x.Around(c.node, "navigation", "banner", "contentinfo") >= 0
	for up, k := c.node, 0; up >= 0 && k < 5 && !about; up, k = b.x.Parent(up), k+1 {
		about = classWord(&b.Nodes[up], aboutWords)
	}
	if !about {
		return false
	}
	links := 0
	for _, i := range c.members {
		texts, linked := 0, 0
		for j := i; j < b.stop(i); j++ {
			n := &b.Nodes[j]
			switch {
			case n.Hidden:
			case n.Role == "link" || n.Role == "button" && n.Expanded != "":
				linked = 1
				j = b.x.End(j) - 1
			case n.Role == "checkbox" || typedRoles[n.Role] && b.x.Around(i, "banner") < 0:
				return false
			case worded(b.leaf[j]):
				texts++
			}
		}
		if texts > 1 {
			return false
		}
		links += linked
	}
	return links*2 >= len(c.members)
}

// chosen reports whether a control, or the one in a node, is marked as the chosen one.
func (b *builder) chosen(i int) bool {
	for j := i; j < b.stop(i); j++ {
		if n := &b.Nodes[j]; n.Selected == "true" || n.Checked == "true" || classWord(n, chosenWords) {
			return true
		}
	}
	return false
}

// singleControl reports whether a node is nothing but one control.
func (b *builder) singleControl(i int) bool {
	controls, outside := 0, 0
	for j := i + 1; j < b.stop(i) && j < i+20; j++ {
		n := &b.Nodes[j]
		if n.Hidden {
			continue
		}
		switch {
		case strongRoles[n.Role] || n.Tag == "summary" || n.Interactive && b.reactsStrongly(n) && len(b.leavesIn(j, b.x.End(j), 2)) == 1:
			controls++
			j = b.x.End(j) - 1
		case b.leaf[j] != "":
			outside++
		}
	}
	return controls == 1 && outside == 0 || controls == 0 && b.Nodes[i].Interactive && len(b.leavesIn(i, b.x.End(i), 3)) == 1
}

// strongRoles are those of controls by role.
var strongRoles = map[string]bool{"button": true, "link": true, "checkbox": true, "radio": true, "switch": true, "tab": true, "menuitem": true,
	"menuitemcheckbox": true, "menuitemradio": true, "combobox": true, "textbox": true, "searchbox": true, "spinbutton": true, "slider": true, "option": true}
