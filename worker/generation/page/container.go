package page

import (
	"cmp"
	"slices"
	"strings"

	"github.com/slipway-qa/slipway/worker/generation/page/shape"
	"github.com/slipway-qa/slipway/worker/snapshot"
)

// containerKinds are the kinds of containers by role.
var containerKinds = map[string]string{"dialog": "dialog", "alertdialog": "dialog", "form": "form", "tabpanel": "panel",
	"menu": "menu", "menubar": "menu",
	"listbox": "menu", "navigation": "region", "region": "region", "complementary": "region", "main": "region", "banner": "region",
	"contentinfo": "region", "search": "form", "toolbar": "toolbar", "table": "table", "grid": "table", "treegrid": "table", "tree": "list",
	"list": "list", "feed": "list", "group": "section", "radiogroup": "section", "figure": "card", "alert": "region",
	"status": "region", "tooltip": "region"}

var tagKinds = map[string]string{"form": "form", "fieldset": "section", "details": "section", "iframe": "frame",
	"frame": "frame", "section": "section", "aside": "region", "dialog": "dialog"}

// namedKinds are of containers that are one only with a title.
var namedKinds = map[string]bool{"section": true, "card": true, "column": true}

var (
	dialogWords = shape.Words("dialog modal drawer sheet popup popover offcanvas lightbox swal overlay")
	menuWords   = shape.Words("menu dropdown submenu popover contextmenu autocomplete suggestions options")
	toastWords  = shape.Words("toast toasts snackbar notification notifications notyf toastify alert flash notice message growl")
	cardWords   = shape.Words("card panel section box widget tile block pane accordion column lane portlet fieldset")
	titleWords  = shape.Words("title header heading head caption legend name label")
)

// findContainers finds what holds other things and has a name.
func (b *builder) findContainers() {
	for i := range b.Nodes {
		n := &b.Nodes[i]
		if n.Hidden && n.Opener == "" || n.Role == "text" {
			continue
		}
		if kind := b.containerKind(i); kind != "" {
			b.addContainer(i, b.X.End(i), kind)
		}
		if n.Role == "heading" && !n.Hidden {
			if end := b.underHeading(i); end > 0 {
				b.Containers = append(b.Containers, Container{Node: i, End: end, Kind: "section", Title: shape.Label(b.TextOf(i)),
					Parent: -1, Opener: -1})
			}
		}
	}
	slices.SortStableFunc(b.Containers, func(a, c Container) int {
		if a.Node != c.Node {
			return a.Node - c.Node
		}
		return c.End - a.End
	})
	b.nestContainers()
	b.markColumns()
}

func (b *builder) addContainer(i, end int, kind string) {
	n := &b.Nodes[i]
	title := b.titleOf(i)
	if namedKinds[kind] && title == "" {
		return
	}
	if k := len(b.Containers) - 1; k >= 0 && kind == "section" && b.Containers[k].Title == title && end <= b.Containers[k].End &&
		b.Containers[k].Kind == kind {
		return // a wrapper in a wrapper
	}
	b.Containers = append(b.Containers, Container{Node: i, End: end, Kind: kind, Title: title, Parent: -1, Opener: -1,
		Hidden: n.Hidden, Modal: n.Modal})
}

// containerKind returns the kind of container that a node is, "" for none.
func (b *builder) containerKind(i int) string {
	n := &b.Nodes[i]
	if n.Modal && n.Role != "banner" && b.Parts(i) > 0 && !b.wholePage(i) {
		return "dialog"
	}
	if kind := containerKinds[n.Role]; kind != "" {
		if kind == "section" && b.member[i] >= 0 {
			return ""
		}
		return kind
	}
	if kind := tagKinds[n.Tag]; kind != "" && (kind != "section" || b.record[i] < 0 || n.Tag == "fieldset" || n.Tag == "details") {
		return kind
	}
	if n.Role != "" && n.Role != "article" && n.Role != "listitem" || len(b.X.Children(i)) < 1 {
		return ""
	}
	if n.Layer != "" && b.Parts(i) > 0 {
		switch {
		case shape.Hinted(n, toastWords):
			return "region"
		case shape.ClassWord(n, menuWords) && !b.asks(i):
			return "menu"
		case shape.ClassWord(n, dialogWords) && !b.wholePage(i):
			return "dialog"
		}
	}
	if b.member[i] >= 0 {
		return ""
	}
	if b.record[i] >= 0 {
		return "" // a part of a thing
	}
	if b.leads(i) >= 0 && b.beyondTitle(i) || shape.ClassWord(n, cardWords) && b.shortLead(i) != "" && b.beyondTitle(i) {
		return "section"
	}
	return ""
}

// beyondTitle reports whether a node holds more than its title, and is no head of a column.
func (b *builder) beyondTitle(i int) bool {
	parts := 0
	for j := i + 1; j < b.Stop(i) && parts < 2; j++ {
		if b.Leaf[j] != "" || shape.StrongRoles[b.Nodes[j].Role] {
			parts++
			j = b.X.End(j) - 1
		}
	}
	return parts > 1 && b.X.Around(i, "columnheader", "row") < 0
}

// wholePage reports whether a node is all that there is: the page, and no dialog on it.
func (b *builder) wholePage(i int) bool {
	if shape.ClassWord(&b.Nodes[i], dialogWords) || b.Nodes[i].Role == "dialog" || b.Nodes[i].Role == "alertdialog" {
		return false
	}
	for _, l := range b.Leaves {
		if n := &b.Nodes[l]; !n.Hidden && n.InView && !b.X.Contains(i, l) {
			return false
		}
	}
	return true
}

// leads returns the heading that a node begins with, -1 without one.
func (b *builder) leads(i int) int {
	for k, j := 0, i+1; j < b.Stop(i) && k < 8; k, j = k+1, j+1 {
		n := &b.Nodes[j]
		if b.member[j] >= 0 {
			return -1 // what follows is of one of the things in it
		}
		if n.Role == "heading" || n.Tag == "legend" || n.Tag == "summary" || n.Tag == "caption" {
			if b.ofFirstOnly(i, j) {
				return -1
			}
			return j
		}
		if n.Role != "" && !strings.Contains("img text banner group", n.Role) || n.Interactive {
			return -1
		}
	}
	return -1
}

// ofFirstOnly reports whether a heading is that of the first of several parts of a node which
// look alike: the first column of a board.
func (b *builder) ofFirstOnly(i, heading int) bool {
	part := heading
	for b.X.Parent(part) != i && b.X.Parent(part) >= 0 {
		part = b.X.Parent(part)
	}
	next := b.Sibling(part, 1)
	return part != heading && next >= 0 && b.PatternOf(next) == b.PatternOf(part) && b.PatternOf(part).Class != ""
}

// shortLead returns the text that a node begins with where that is drawn or classed as a title.
func (b *builder) shortLead(i int) string {
	list := b.LeavesIn(i, b.X.End(i), 2)
	if len(list) == 0 || b.X.Parent(list[0]) < 0 || b.record[list[0]] != b.record[i] {
		return ""
	}
	n := &b.Nodes[list[0]]
	rest := b.LeavesIn(list[0]+1, b.X.End(i), 30)
	if next := list[0] + 1; n.Tag == "label" || next < len(b.Nodes) && shape.TypedRoles[b.Nodes[next].Role] {
		return "" // the label of a field
	}
	if len(rest) == 0 && b.Parts(i) < 2 || n.Interactive || n.Role != "text" && n.Role != "" {
		return ""
	}
	larger := n.Bold
	for _, j := range rest {
		if m := &b.Nodes[j]; m.Size > n.Size || m.Bold && !n.Bold {
			larger = false
			break
		}
		if b.Nodes[j].Size < n.Size {
			larger = true
		}
	}
	up := &b.Nodes[b.X.Parent(list[0])]
	if (larger || shape.ClassWord(n, titleWords) || shape.ClassWord(up, titleWords)) && len(b.Leaf[list[0]]) <= 60 &&
		shape.Worded(b.Leaf[list[0]]) {
		return b.Leaf[list[0]]
	}
	return ""
}

// dialogTitle returns what in a dialog is its title: a heading, or what is classed so.
func (b *builder) dialogTitle(i int) int {
	for j := i + 1; j < b.Stop(i) && j < i+14; j++ {
		n := &b.Nodes[j]
		if text := b.TextOf(j); (n.Role == "heading" || shape.ClassWord(n, shape.Words("title heading"))) &&
			shape.Worded(text) && len(text) <= maxLabel {
			return j
		}
	}
	return -1
}

// listKinds are of containers that begin with things, and with no title.
var listKinds = map[string]bool{"table": true, "grid": true, "treegrid": true, "list": true, "tree": true, "menu": true,
	"listbox": true, "menubar": true}

var namedByContent = map[string]bool{"alert": true, "status": true, "tooltip": true}

// titleOf returns what a container is called.
func (b *builder) titleOf(i int) string {
	title := b.longTitle(i)
	if len(title) > maxLabel {
		return ""
	}
	if k := strings.LastIndexByte(title, '('); k > 0 && !shape.Worded(title[k:]) {
		title = strings.TrimSpace(title[:k]) // how many there are
	}
	return title
}

func (b *builder) longTitle(i int) string {
	n := &b.Nodes[i]
	if name := cmp.Or(n.Name, n.Title); tagKinds[n.Tag] == "frame" && name != "" {
		return shape.Label(shape.WithoutIcons(name))
	}
	if n.Role == "form" && n.Name != "" {
		return shape.Label(shape.WithoutIcons(n.Name))
	}
	if n.Name != "" && n.Role != "" && n.Role != "article" && n.Role != "listitem" && !namedByContent[n.Role] {
		return shape.Label(shape.WithoutIcons(n.Name))
	}
	if n.Label != "" {
		return shape.Label(n.Label)
	}
	if containerKinds[n.Role] == "dialog" || n.Modal {
		if j := b.dialogTitle(i); j >= 0 {
			return shape.Label(b.TextOf(j))
		}
	}
	if j := b.leads(i); j >= 0 && !listKinds[n.Role] {
		return shape.Label(b.TextOf(j))
	}
	if listKinds[n.Role] {
		if before := b.titleBefore(i); before >= 0 {
			return shape.Label(b.TextOf(before))
		}
		return b.branchTitle(i)
	}
	if text := b.shortLead(i); text != "" {
		return shape.Label(text)
	}
	if before := b.titleBefore(i); before >= 0 {
		return shape.Label(b.TextOf(before))
	}
	if n.Role == "tabpanel" || n.Role == "" {
		return ""
	}
	return shape.Label(n.Title)
}

// titleBefore returns the heading or short text right before a node, that is its title; -1.
func (b *builder) titleBefore(i int) int {
	if n := &b.Nodes[i]; n.Layer != "" || n.Tag == "main" || n.Role == "main" || n.Role == "banner" || n.Role == "contentinfo" ||
		n.Role == "navigation" {
		return -1
	}
	for up, k := i, 0; up >= 0 && k < 2; up, k = b.X.Parent(up), k+1 {
		before := b.Sibling(up, -1)
		if before < 0 {
			continue
		}
		n := &b.Nodes[before]
		_, top, _, _ := b.Box(i)
		_, _, _, bottom := b.Box(before)
		if bottom > top+4 || top-bottom > 60 || n.Hidden {
			return -1
		}
		short := n.Role == "text" && (n.Bold || n.Tag == "legend" || shape.ClassWord(n, titleWords)) && len(n.Name) <= 60
		if n.Role == "heading" || short {
			return before
		}
		if lead := b.lastTitle(before); lead >= 0 {
			return lead
		}
		return -1
	}
	return -1
}

// lastTitle returns the heading in a node that holds a title bar and little else.
func (b *builder) lastTitle(i int) int {
	if b.X.End(i)-i > 12 {
		return -1
	}
	for j := i + 1; j < b.Stop(i); j++ {
		if b.Nodes[j].Role == "heading" {
			return j
		}
	}
	return -1
}

// underHeading returns the end of what stands under a heading beside other sections; 0 where
// the element around it is that section itself, or nothing is under it.
func (b *builder) underHeading(i int) int {
	up := b.X.Parent(i)
	kids := b.X.Children(up)
	k, _ := slices.BinarySearch(kids, i)
	end := b.X.End(up)
	for _, j := range kids[k+1:] {
		if h := b.headingOf(j); h >= 0 && b.Nodes[h].Level <= b.Nodes[i].Level {
			end = j
			break
		}
	}
	if end <= b.X.End(i) || k == 0 && end == b.X.End(up) && up >= 0 {
		return 0
	}
	return end
}

// headingOf returns the heading that a node is, or that is the only thing in its first part.
func (b *builder) headingOf(i int) int {
	if b.Nodes[i].Role == "heading" {
		return i
	}
	return -1
}

// nestContainers notes which container is in which, and the one around each node.
func (b *builder) nestContainers() {
	b.holder = filled(len(b.Nodes))
	var open []int
	next := 0
	for i := range b.Nodes {
		for len(open) > 0 && b.Containers[open[len(open)-1]].End <= i {
			open = open[:len(open)-1]
		}
		for next < len(b.Containers) && b.Containers[next].Node == i {
			if len(open) > 0 {
				b.Containers[next].Parent = open[len(open)-1]
			}
			open = append(open, next)
			next++
		}
		if len(open) > 0 {
			b.holder[i] = open[len(open)-1]
		}
	}
}

// markColumns finds the containers that stand beside each other with things in them: the
// columns of a board.
func (b *builder) markColumns() {
	by := map[int][]int{}
	for k := range b.Containers {
		if c := &b.Containers[k]; c.Kind == "section" && c.Title != "" && b.Nodes[c.Node].Role != "heading" {
			by[b.X.Parent(c.Node)] = append(by[b.X.Parent(c.Node)], k)
		}
	}
	for _, list := range by {
		if len(list) < 2 {
			continue
		}
		nodes := make([]int, len(list))
		for k, c := range list {
			nodes[k] = b.Containers[c].Node
		}
		if b.Stacked(nodes) || !b.Level(nodes) {
			continue
		}
		for _, c := range list {
			b.Containers[c].Kind = "column"
		}
	}
}

// lives reports whether a node is one whose text is read aloud when it changes.
func lives(n *snapshot.Node) bool {
	return n.Live || n.Role == "alert" || n.Role == "status" || n.Role == "log" || n.Layer != "" && shape.Hinted(n, toastWords)
}
