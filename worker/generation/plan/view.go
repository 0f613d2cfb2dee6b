package plan

import (
	"slices"
	"strings"

	"github.com/slipway-qa/slipway/worker/snapshot"
)

// view is a snapshot with what is asked of it again and again computed once. Nodes
// are named by their index; refs stay the same from one view to the next.
type view struct {
	*snapshot.Snapshot
	children [][]int
	top      []int // the nodes without a parent
	byRef    map[string]int
	// last is the index of the last node inside of each one: the nodes of a subtree
	// stand together, because they are in the order of the document.
	last []int
	// shows caches what nodes show with everything inside of them (see shown).
	shows map[int]string
	// names caches by what nodes are called (see namings), and near the texts that may
	// name a control (see labels).
	names map[int][]naming
	near  []int
	// front is the dialog in front (see modal), once frontKnown.
	front      int
	frontKnown bool
	// echo are the nodes that repeat the intent (see echoes).
	echo map[int]bool
}

func newView(s *snapshot.Snapshot) *view {
	v := &view{Snapshot: s, children: make([][]int, len(s.Nodes)), byRef: make(map[string]int, len(s.Nodes)),
		last: make([]int, len(s.Nodes)), shows: map[int]string{}, names: map[int][]naming{}}
	for i := range s.Nodes {
		n := &s.Nodes[i]
		v.last[i] = i
		if n.Parent >= i { // only a broken snapshot has children before their parents
			n.Parent = -1
		}
		if n.Parent >= 0 {
			v.children[n.Parent] = append(v.children[n.Parent], i)
		} else {
			v.top = append(v.top, i)
		}
		if _, taken := v.byRef[n.Ref]; !taken || n.Role != "text" && s.Nodes[v.byRef[n.Ref]].Role == "text" {
			v.byRef[n.Ref] = i
		}
	}
	for i := len(s.Nodes) - 1; i >= 0; i-- {
		if parent := s.Nodes[i].Parent; parent >= 0 {
			v.last[parent] = max(v.last[parent], v.last[i])
		}
	}
	return v
}

// find returns the index of a ref; -1 when the page does not have it any more.
func (v *view) find(ref string) int {
	if i, ok := v.byRef[ref]; ok {
		return i
	}
	return -1
}

// node returns the node of a ref; nil when the page does not have it any more.
func (v *view) node(ref string) *snapshot.Node {
	i := v.find(ref)
	if i < 0 {
		return nil
	}
	return &v.Nodes[i]
}

// inside reports whether a node is in another one, or is it.
func (v *view) inside(i, container int) bool {
	if container < 0 {
		return true
	}
	for i > container {
		i = v.Nodes[i].Parent
	}
	return i == container
}

// ancestor returns the nearest node around another one for which ok holds; -1
// without one.
func (v *view) ancestor(i int, ok func(n *snapshot.Node) bool) int {
	for i = v.Nodes[i].Parent; i >= 0; i = v.Nodes[i].Parent {
		if ok(&v.Nodes[i]) {
			return i
		}
	}
	return -1
}

// around returns the nearest node around another one that has one of the roles; -1
// without one.
func (v *view) around(i int, roles ...string) int {
	return v.ancestor(i, func(n *snapshot.Node) bool { return slices.Contains(roles, n.Role) })
}

// within returns the nodes inside of a container for which ok holds, in the order of
// the document. Container -1 is the page.
func (v *view) within(container int, ok func(n *snapshot.Node) bool) []int {
	first, last := 0, len(v.Nodes)-1
	if container >= 0 {
		first, last = container+1, v.last[container]
	}
	var list []int
	for i := first; i <= last; i++ {
		if ok(&v.Nodes[i]) && v.inside(i, container) {
			list = append(list, i)
		}
	}
	return list
}

// maxShown bounds the text of a container that is compared.
const maxShown = 2000

// shown returns the text that a node and everything in it shows, with single spaces,
// at most some thousand characters of it.
func (v *view) shown(i int) string {
	if text, ok := v.shows[i]; ok {
		return text
	}
	var b strings.Builder
	gather(v, i, &b)
	text := strings.Join(strings.Fields(b.String()), " ")
	v.shows[i] = text
	return text
}

func gather(v *view, i int, b *strings.Builder) {
	n := &v.Nodes[i]
	switch {
	case n.Hidden || b.Len() > maxShown:
		return
	case n.Text != "":
		b.WriteString(n.Text)
		b.WriteByte(' ')
		return
	case len(v.children[i]) == 0:
		b.WriteString(n.Name)
		b.WriteByte(' ')
		return
	}
	for _, child := range v.children[i] {
		gather(v, child, b)
	}
}
