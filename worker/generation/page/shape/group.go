// Package shape says what of a snapshot is read, and which of its parts are alike: the rows of
// tables, the entries of lists and trees, the days of calendars, and, where no role says it,
// siblings of one structure. What these are called and hold is not its business (package page).
//
// Two elements are alike when their tags, roles and inner structure agree but for some parts that
// may be missing; wrappers with one child are looked through. The order is that of the document.
package shape

import (
	"slices"

	"github.com/slipway-qa/slipway/worker/snapshot"
)

// Cluster is a set of nodes that may be things of one kind.
type Cluster struct {
	Node    int    // around them
	Kind    string // table, list, cards, tree, calendar
	Members []int
	Pattern Pattern
	Header  int  // the row that heads them, -1
	Sure    bool // by role
}

// EntryRoles are those of things among their like.
var EntryRoles = map[string]bool{"row": true, "listitem": true, "treeitem": true, "article": true, "figure": true}

// plainRoles are of nodes that may be things: what has another role is a part or control.
var plainRoles = map[string]bool{"": true, "listitem": true, "article": true, "group": true, "link": true, "button": true,
	"region": true, "figure": true,
	"treeitem": true, "row": true, "gridcell": true, "status": true, "alert": true, "text": true}

var navRoles = []string{"navigation", "menu", "menubar", "tablist", "toolbar", "listbox", "radiogroup", "menuitem"}

// NavWords are classes of what serves to go about.
var NavWords = Words(`nav navbar menu tabs tab pagination pager breadcrumb breadcrumbs toolbar paginator dropdown`)

const (
	// MaxMembers bounds the things of a set.
	MaxMembers   = 5000
	maxThing     = 250 // nodes of one thing: more is a part of the page
	maxTextThing = 60
)

// entries returns the lists and trees whose entries have roles.
func (b *Page) entries() []*Cluster {
	by := map[int]*Cluster{}
	var order []*Cluster
	for i := range b.Nodes {
		role := b.Nodes[i].Role
		if role != "listitem" && role != "treeitem" && role != "article" || b.Nodes[i].Hidden || ClassWord(&b.Nodes[i], emptyWords) {
			continue
		}
		around, kind := b.X.Parent(i), "list"
		if role == "treeitem" {
			around, kind = b.X.Around(i, "tree", "treegrid"), "tree"
		}
		if role == "article" {
			kind = "cards"
		}
		key := around*4 + len(kind)%4
		c := by[key]
		if c == nil {
			c = &Cluster{Node: around, Kind: kind, Header: -1, Sure: true, Pattern: b.PatternOf(i)}
			by[key] = c
			order = append(order, c)
		}
		c.Members = append(c.Members, i)
	}
	return slices.DeleteFunc(order, b.onlyControls)
}

// stepWords are of the steps of a form and the path to a page.
var stepWords = Words("steps stepper wizard breadcrumb breadcrumbs pagination progressbar")

// emptyWords are of entries that say that there are none.
var emptyWords = Words("empty nodata placeholder nothing norecords")

// onlyControls reports whether the entries are the controls of a menu, a bar or a pager, and
// no things: each is one control, in what serves to go about.
func (b *Page) onlyControls(c *Cluster) bool {
	for up, k := c.Node, 0; up >= 0 && k < 2; up, k = b.X.Parent(up), k+1 {
		if ClassWord(&b.Nodes[up], stepWords) {
			return true
		}
	}
	if c.Node >= 0 && b.goesAbout(c) {
		return true
	}
	poor := c.Node >= 0 && b.X.Around(c.Node, "navigation", "banner") >= 0
	for _, i := range c.Members {
		poor = poor && len(b.LeavesIn(i, b.X.End(i), 2)) < 2
	}
	if poor {
		return true
	}
	tabs := 0
	for _, i := range c.Members {
		if ClassWord(&b.Nodes[i], TabWords) {
			tabs++
		}
	}
	if tabs == len(c.Members) {
		return true
	}
	single, chosen := 0, 0
	for _, i := range c.Members {
		if b.SingleControl(i) && len(b.LeavesIn(i, b.X.End(i), 3)) < 2 {
			single++
			if b.chosen(i) {
				chosen++
			}
		}
	}
	if single*3 < len(c.Members)*2 {
		return false
	}
	if chosen == 1 && single == len(c.Members) && len(c.Members) <= 12 {
		return true // one of several: a choice
	}
	if c.Node < 0 {
		return true
	}
	if b.X.Around(c.Node, navRoles...) >= 0 || b.X.Around(c.Node, "banner", "contentinfo") >= 0 {
		return true
	}
	for up, k := c.Node, 0; up >= 0 && k < 3; up, k = b.X.Parent(up), k+1 {
		if ClassWord(&b.Nodes[up], NavWords) {
			return true
		}
	}
	return false
}

var aboutWords = Words("sidebar sidenav navbar topbar sidemenu nav navigation menu footer")

// goesAbout reports whether the members are what leads to other pages: links, and nothing
// beside them but a title.
func (b *Page) goesAbout(c *Cluster) bool {
	about := b.X.Around(c.Node, "navigation", "banner", "contentinfo") >= 0
	for up, k := c.Node, 0; up >= 0 && k < 5 && !about; up, k = b.X.Parent(up), k+1 {
		about = ClassWord(&b.Nodes[up], aboutWords)
	}
	if !about {
		return false
	}
	links := 0
	for _, i := range c.Members {
		texts, linked := 0, 0
		for j := i; j < b.Stop(i); j++ {
			n := &b.Nodes[j]
			switch {
			case n.Hidden:
			case n.Role == "link" || n.Role == "button" && n.Expanded != "":
				linked = 1
				j = b.X.End(j) - 1
			case n.Role == "checkbox" || TypedRoles[n.Role] && b.X.Around(i, "banner") < 0:
				return false
			case Worded(b.Leaf[j]):
				texts++
			}
		}
		if texts > 1 {
			return false
		}
		links += linked
	}
	return links*2 >= len(c.Members)
}

// chosen reports whether a control, or the one in a node, is marked as the chosen one.
func (b *Page) chosen(i int) bool {
	for j := i; j < b.Stop(i); j++ {
		if n := &b.Nodes[j]; n.Selected == "true" || n.Checked == "true" || ClassWord(n, ChosenWords) {
			return true
		}
	}
	return false
}

// SingleControl reports whether a node is nothing but one control.
func (b *Page) SingleControl(i int) bool {
	controls, outside := 0, 0
	for j := i + 1; j < b.Stop(i) && j < i+20; j++ {
		n := &b.Nodes[j]
		if n.Hidden {
			continue
		}
		switch {
		case StrongRoles[n.Role] || n.Tag == "summary" || n.Interactive && b.ReactsStrongly(n) && len(b.LeavesIn(j, b.X.End(j), 2)) == 1:
			controls++
			j = b.X.End(j) - 1
		case b.Leaf[j] != "":
			outside++
		}
	}
	return controls == 1 && outside == 0 || controls == 0 && b.Nodes[i].Interactive && len(b.LeavesIn(i, b.X.End(i), 3)) == 1
}

// StrongRoles are those of controls by role.
var StrongRoles = map[string]bool{"button": true, "link": true, "checkbox": true, "radio": true, "switch": true,
	"tab": true, "menuitem": true,
	"menuitemcheckbox": true, "menuitemradio": true, "combobox": true, "textbox": true, "searchbox": true, "spinbutton": true,
	"slider": true, "option": true}

// Page is the nodes of a snapshot with what each of them shows.
type Page struct {
	Nodes []snapshot.Node
	X     *snapshot.Index
	// Code is that of the page's language.
	Code string
	// Leaf is what a node without children shows; Leaves are the nodes that show something, in
	// order, and LeafFrom the index into these of the first at or after each node.
	Leaf     []string
	Leaves   []int
	LeafFrom []int
	// Earlier are the patterns of things that an earlier moment of the page had.
	Earlier map[Pattern]bool
}

// New returns the page of a snapshot in a language.
func New(s *snapshot.Snapshot, code string) *Page {
	b := &Page{Nodes: s.Nodes, X: snapshot.NewIndex(s), Code: code}
	b.readTexts()
	return b
}

// Clusters returns the sets of things of the page, in the order of the document.
func (b *Page) Clusters() []*Cluster {
	list := append(b.tables(), b.entries()...)
	taken := map[int]bool{}
	take := func(clusters []*Cluster) {
		for _, c := range clusters {
			for _, i := range c.Members {
				taken[i] = true
			}
		}
	}
	take(list)
	calendars := b.months(taken)
	take(calendars)
	list = append(list, calendars...)
	list = append(list, b.siblings(taken)...)
	list = append(list, b.cousins(list, b.Earlier)...)
	slices.SortStableFunc(list, func(a, c *Cluster) int { return a.Members[0] - c.Members[0] })
	return b.withoutWrappers(list)
}
