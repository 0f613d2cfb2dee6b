package shape

import (
	"hash/fnv"
	"slices"
	"strings"
	"unicode"

	"github.com/slipway-qa/slipway/worker/snapshot"
)

// Pattern is how a node looks as one of several: things of one kind have one pattern.
type Pattern struct {
	Tag, Role, Class string
	Shape            uint64 // of its children, where it has no class that says more
}

// PatternOf returns the pattern of a node.
func (b *Page) PatternOf(i int) Pattern {
	n := &b.Nodes[i]
	p := Pattern{Tag: n.Tag, Role: n.Role, Class: KindClass(n.Class)}
	if p.Class == "" && !EntryRoles[n.Role] && !strings.Contains(n.Tag, "-") {
		p.Shape = b.shapeOf(i)
	}
	return p
}

// shapeOf returns what kinds of children a node has, each once, in any order.
func (b *Page) shapeOf(i int) uint64 {
	kinds := make([]string, 0, 8)
	for _, j := range b.X.Children(i) {
		n := &b.Nodes[j]
		kind := n.Tag + ":" + n.Role
		if n.Hidden || slices.Contains(kinds, kind) {
			continue
		}
		if kinds = append(kinds, kind); len(kinds) >= 12 {
			break
		}
	}
	slices.Sort(kinds)
	h := fnv.New64a()
	for _, kind := range kinds {
		_, _ = h.Write([]byte(kind))
		_, _ = h.Write([]byte{0})
	}
	return h.Sum64()
}

// KindClass returns the class that says of what kind an element is: the first that is no
// state, no layout and not made by a machine.
func KindClass(class string) string {
	for token := range strings.FieldsSeq(class) {
		if Kindly(token) {
			return token
		}
	}
	return ""
}

// Kindly reports whether a class says of what kind an element is.
func Kindly(token string) bool {
	if len(token) < 3 || len(token) > 40 || strings.ContainsAny(token, "[]():/!%.") {
		return false
	}
	parts := strings.FieldsFunc(token, func(r rune) bool { return r == '-' || r == '_' })
	if len(parts) == 0 || LayoutWords[parts[0]] {
		return false
	}
	digits := 0
	for _, r := range token {
		if unicode.IsDigit(r) {
			digits++
		}
	}
	last := parts[len(parts)-1]
	return digits < 3 && !StateWords[token] && !(parts[0] == "is" && len(parts) > 1) &&
		!(len(parts) == 2 && StateWords[last] && len(parts[0]) < 3)
}

// LayoutWords begin classes that place an element and say nothing of what it is;
// StateWords are classes for how it is now. Both are words of code, as people who write pages
// use them in all countries.
var (
	LayoutWords = Words(`flex grid block inline hidden d p m px py mx my pt pb pl pr mt mb ml mr w h gap col row container items justify text bg
		border rounded shadow font align float position overflow min max space order sm md lg xl xs relative absolute fixed static sticky z opacity
		css clearfix pull offset display cursor transition duration ease self place content leading tracking divide ring u l g`)
	StateWords = Words(`active selected current checked done completed complete finished open opened closed collapsed expanded disabled enabled
		hover focus focused odd even first last on off show shown hide visible invisible new unread read draft late overdue highlighted
		dragging draggable sortable editing loading loaded error success warning danger info primary secondary default featured pinned starred alt`)
)

// Words returns the words of a text as a set.
func Words(text string) map[string]bool {
	set := map[string]bool{}
	for word := range strings.FieldsSeq(text) {
		set[word] = true
	}
	return set
}

// ClassWord reports whether the code calls a node so: one of its classes has the word in it.
func ClassWord(n *snapshot.Node, set map[string]bool) bool {
	for _, token := range strings.FieldsFunc(Lower(n.Class), func(r rune) bool { return r == ' ' || r == '-' || r == '_' }) {
		if set[token] {
			return true
		}
	}
	return false
}

// Hinted reports whether one of the hints of a node is in a set.
func Hinted(n *snapshot.Node, set map[string]bool) bool {
	for _, h := range n.Hints {
		if set[h] {
			return true
		}
	}
	return ClassWord(n, set)
}
