package page

import (
	"strings"

	"github.com/slipway-qa/slipway/worker/generation/page/shape"
)

// maxLine bounds the text of a line.
const maxLine = 600

// readLines joins texts that are read as one: what stands beside each other in one block.
func (b *builder) readLines() {
	for k := 0; k < len(b.Leaves); {
		first := b.Leaves[k]
		if b.noLine(first) {
			k++
			continue
		}
		end := k + 1
		parts := []string{b.Leaf[first]}
		length := len(parts[0])
		for end < len(b.Leaves) && b.continues(b.Leaves[end-1], b.Leaves[end]) && length < maxLine {
			parts = append(parts, b.Leaf[b.Leaves[end]])
			length += len(b.Leaf[b.Leaves[end]])
			end++
		}
		node := first
		if up := b.X.Parent(first); end-k > 1 && up >= 0 && len(b.LeavesIn(up, b.X.End(up), end-k+1)) == end-k && b.Nodes[up].Role != "cell" {
			node = up
		}
		b.addLine(node, first, strings.Join(parts, " "))
		k = end
	}
}

func (b *builder) addLine(node, first int, text string) {
	l := Line{Node: node, Text: text, Record: b.record[first], Container: b.holder[first]}
	for up, k := first, 0; up >= 0; up, k = b.X.Parent(up), k+1 {
		n := &b.Nodes[up]
		if n.Role == "heading" && k < 3 {
			l.Heading = max(n.Level, 1)
		}
		l.Live = l.Live || lives(n)
		if k > 12 {
			break
		}
	}
	b.Lines = append(b.Lines, l)
}

// noLine reports whether a text is what a control is called, or not seen.
func (b *builder) noLine(l int) bool {
	n := &b.Nodes[l]
	if n.Hidden || len(n.Options) > 0 || !shape.Lettered(b.Leaf[l]) {
		return true
	}
	for up, k := l, 0; up >= 0 && k < 5; up, k = b.X.Parent(up), k+1 {
		switch b.Nodes[up].Role {
		case "button", "tab", "menuitem", "option":
			return true
		}
	}
	return false
}

// continues reports whether a text goes on where another one ends: in the same block, on the
// same line, with no more than a space between.
func (b *builder) continues(a, c int) bool {
	if b.noLine(c) || b.X.Parent(a) != b.X.Parent(c) || b.record[a] != b.record[c] || !b.SameLine(a, c) {
		return false
	}
	if shape.CellRoles[b.Nodes[a].Role] || b.Nodes[a].Role == "heading" || b.Nodes[c].Role == "heading" {
		return false
	}
	_, _, right, _ := b.Box(a)
	left, _, _, _ := b.Box(c)
	gap := left - right
	return gap >= -2 && gap <= max(8, b.Nodes[a].Size/2) && (inline(b.Nodes[a].Tag) || inline(b.Nodes[c].Tag))
}

func inline(tag string) bool {
	switch tag {
	case "b", "strong", "i", "em", "span", "a", "small", "mark", "code", "time", "output", "label", "s", "del", "u",
		"sub", "sup", "abbr", "data", "kbd", "slot":
		return true
	}
	return false
}
