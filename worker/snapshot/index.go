package snapshot

import "strings"

// Index finds its way through the nodes of a snapshot. Nodes are named by their index in
// Snapshot.Nodes; -1 is none.
type Index struct {
	*Snapshot
	children [][]int
	top      []int
	end      []int // the index after the last node inside of each
	byRef    map[string]int
}

// NewIndex returns the index of a snapshot, which must not change afterwards.
func NewIndex(s *Snapshot) *Index {
	x := &Index{Snapshot: s, children: make([][]int, len(s.Nodes)), end: make([]int, len(s.Nodes)), byRef: map[string]int{}}
	for i := range s.Nodes {
		n := &s.Nodes[i]
		x.end[i] = i + 1
		if n.Parent >= 0 && n.Parent < i {
			x.children[n.Parent] = append(x.children[n.Parent], i)
		} else {
			x.top = append(x.top, i)
		}
		if _, known := x.byRef[n.Ref]; !known {
			x.byRef[n.Ref] = i
		}
	}
	for i := len(s.Nodes) - 1; i >= 0; i-- {
		if p := x.Parent(i); p >= 0 {
			x.end[p] = max(x.end[p], x.end[i])
		}
	}
	return x
}

// ByRef returns the node of a ref: the element, else the first of its texts.
func (x *Index) ByRef(ref string) int {
	if i, ok := x.byRef[ref]; ok {
		return i
	}
	return -1
}

// Parent returns the node that a node is in.
func (x *Index) Parent(i int) int {
	if i < 0 || x.Nodes[i].Parent >= i {
		return -1
	}
	return x.Nodes[i].Parent
}

// Children returns the nodes right inside of a node; those at the top for -1.
func (x *Index) Children(i int) []int {
	if i < 0 {
		return x.top
	}
	return x.children[i]
}

// End returns the index after the last node inside of a node: those inside of it are
// between i and End(i).
func (x *Index) End(i int) int {
	if i < 0 {
		return len(x.Nodes)
	}
	return x.end[i]
}

// Contains reports whether a node is in another one, or is it.
func (x *Index) Contains(outer, inner int) bool {
	return outer < 0 || (inner >= outer && inner < x.end[outer])
}

// Ancestors returns the nodes around a node, from inside out.
func (x *Index) Ancestors(i int) []int {
	var list []int
	for up := x.Parent(i); up >= 0; up = x.Parent(up) {
		list = append(list, up)
	}
	return list
}

// Common returns the innermost node that holds two nodes, -1 where only the page does.
func (x *Index) Common(a, b int) int {
	for a >= 0 && !x.Contains(a, b) {
		a = x.Parent(a)
	}
	return a
}

// Around returns the innermost node around a node, or itself, of one of some roles.
func (x *Index) Around(i int, roles ...string) int {
	for ; i >= 0; i = x.Parent(i) {
		for _, role := range roles {
			if x.Nodes[i].Role == role {
				return i
			}
		}
	}
	return -1
}

// Texts returns what is written in a node, in the order of the document: its texts, and
// the names of what is called by its content. Hidden ones are left out unless the node
// itself is hidden.
func (x *Index) Texts(i int) []string {
	var list []string
	add := func(n *Node) {
		if n.Name != "" && (len(list) == 0 || list[len(list)-1] != n.Name) {
			list = append(list, n.Name)
		}
	}
	hidden := i >= 0 && x.Nodes[i].Hidden
	for j := max(i, 0); j < x.End(i); j++ {
		n := &x.Nodes[j]
		leaf := len(x.children[j]) == 0
		if n.Hidden && !hidden || !leaf {
			continue
		}
		add(n)
	}
	return list
}

// Text returns what is written in a node as one line.
func (x *Index) Text(i int) string { return strings.Join(x.Texts(i), " ") }

// rowRoles are those of entries among their like.
var rowRoles = map[string]bool{"row": true, "listitem": true, "treeitem": true, "article": true, "option": true}

// Row returns the innermost entry of a table or list around a node. Where the page does
// not say which these are, it is the outermost element that has siblings of its own
// shape: the same tag, and as many parts.
func (x *Index) Row(i int) int {
	for j := i; j >= 0; j = x.Parent(j) {
		if rowRoles[x.Nodes[j].Role] {
			return j
		}
	}
	for j := i; j >= 0; j = x.Parent(j) {
		if j != i && x.repeated(j) {
			return j
		}
	}
	return -1
}

// repeated reports whether a node has siblings of its own shape.
func (x *Index) repeated(i int) bool {
	n := &x.Nodes[i]
	if n.Role == "text" || len(x.children[i]) < 2 {
		return false
	}
	alike := 0
	for _, j := range x.Children(x.Parent(i)) {
		m := &x.Nodes[j]
		if m.Role == n.Role && m.Tag == n.Tag && len(x.children[j]) == len(x.children[i]) {
			alike++
		}
	}
	return alike > 1
}

// Heading returns the heading that a node is under: the last one before it, in what is
// around it, of the innermost section. A heading is under the one of the level above.
func (x *Index) Heading(i int) int {
	level := 100
	if i >= 0 && x.Nodes[i].Role == "heading" {
		level = x.Nodes[i].Level
	}
	for inner := i; inner >= 0; inner = x.Parent(inner) {
		before := x.Children(x.Parent(inner))
		for k := len(before) - 1; k >= 0; k-- {
			if before[k] >= inner {
				continue
			}
			if found := x.lastHeading(before[k], level); found >= 0 {
				return found
			}
		}
	}
	return -1
}

// lastHeading returns a node when it is a heading above a level, or the heading that is
// its only content.
func (x *Index) lastHeading(i, level int) int {
	for n := &x.Nodes[i]; ; n = &x.Nodes[i] {
		if n.Role == "heading" {
			if n.Level < level || n.Level == 0 {
				return i
			}
			return -1
		}
		if n.Role != "" && n.Role != "banner" || len(x.children[i]) == 0 {
			return -1
		}
		i = x.children[i][0]
	}
}
