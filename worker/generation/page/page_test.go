package page

import (
	"fmt"
	"testing"

	"github.com/slipway-qa/slipway/worker/snapshot"
)

// rows returns a page of so many rows of five cells, with two buttons each.
func rows(n int) *snapshot.Snapshot {
	s := &snapshot.Snapshot{URL: "http://x/", Lang: "en", Width: 1280, Height: 757}
	add := func(parent int, n snapshot.Node) int {
		n.Ref, n.Parent = fmt.Sprint("e", len(s.Nodes)), parent
		s.Nodes = append(s.Nodes, n)
		return len(s.Nodes) - 1
	}
	table := add(-1, snapshot.Node{Tag: "table", Role: "table", Box: [4]int{0, 0, 900, 30 * n}})
	head := add(table, snapshot.Node{Tag: "tr", Role: "row", Box: [4]int{0, 0, 900, 30}})
	for k, name := range []string{"Name", "Team", "Age", "Price", ""} {
		add(head, snapshot.Node{Tag: "th", Role: "columnheader", Name: name, Text: name, Box: [4]int{k * 180, 0, 180, 30}, Column: k})
	}
	for i := range n {
		y := 30 + 30*i
		row := add(table, snapshot.Node{Tag: "tr", Role: "row", Box: [4]int{0, y, 900, 30}})
		for k, text := range []string{fmt.Sprint("Person ", i), "Sales", fmt.Sprint(20 + i%50), fmt.Sprint(i, ".50 €")} {
			add(row, snapshot.Node{Tag: "td", Role: "cell", Name: text, Text: text, Box: [4]int{k * 180, y, 180, 30}, Column: k})
		}
		cell := add(row, snapshot.Node{Tag: "td", Role: "cell", Box: [4]int{720, y, 180, 30}, Column: 4})
		add(cell, snapshot.Node{Tag: "button", Role: "button", Name: "Edit", Text: "Edit", Interactive: true, Box: [4]int{720, y, 60, 30}})
		add(cell, snapshot.Node{Tag: "button", Role: "button", Name: "Delete", Text: "Delete", Interactive: true, Box: [4]int{790, y, 60, 30}})
	}
	return s
}

// cards returns a page of so many cards without roles.
func cards(n int) *snapshot.Snapshot {
	s := &snapshot.Snapshot{URL: "http://x/", Lang: "en", Width: 1280, Height: 757}
	add := func(parent int, n snapshot.Node) int {
		n.Ref, n.Parent = fmt.Sprint("e", len(s.Nodes)), parent
		s.Nodes = append(s.Nodes, n)
		return len(s.Nodes) - 1
	}
	grid := add(-1, snapshot.Node{Tag: "div", Class: "grid", Box: [4]int{0, 0, 900, 90 * n}})
	for i := range n {
		y := 90 * i
		card := add(grid, snapshot.Node{Tag: "div", Class: "product", Box: [4]int{0, y, 300, 80}})
		add(card, snapshot.Node{Tag: "b", Role: "text", Name: fmt.Sprint("Thing ", i), Bold: true, Size: 16, Box: [4]int{0, y, 100, 20}})
		add(card, snapshot.Node{Tag: "span", Role: "text", Name: fmt.Sprint("$", i, ".99"), Class: "price", Size: 14,
			Box: [4]int{0, y + 20, 100, 20}})
		add(card, snapshot.Node{Tag: "button", Role: "button", Name: "Add to cart", Text: "Add to cart", Interactive: true,
			Box: [4]int{0, y + 45, 100, 20}})
	}
	return s
}

func BenchmarkNew(b *testing.B) {
	for name, s := range map[string]*snapshot.Snapshot{"table-5000": rows(620), "cards-5000": cards(1250),
		"table-50000": rows(6200), "cards-50000": cards(12500)} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				New(s)
			}
		})
	}
}
