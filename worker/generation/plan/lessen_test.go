package plan_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/slipway-qa/slipway/worker/snapshot"
)

// basket is a page with a basket of things, as many of each as its counts say; each has a cross, and a
// minus where minus is set.
type basket struct {
	names []string
	count map[string]int
	minus bool
}

func (b *basket) scene(lang, title string) *scene {
	s := &scene{lang: lang}
	s.nodes = func() []snapshot.Node {
		list := []snapshot.Node{{Ref: "part", Parent: -1, Tag: "section", Role: "region", Name: title},
			{Ref: "title", Parent: 0, Tag: "h2", Role: "heading", Level: 2, Name: title},
			{Ref: "ul", Parent: 0, Tag: "ul", Role: "list"}}
		for _, name := range b.names {
			if b.count[name] == 0 {
				continue
			}
			li, y := len(list), 40*len(list)
			list = append(list, snapshot.Node{Ref: "li " + name, Parent: 2, Tag: "li", Role: "listitem", Box: [4]int{10, y, 300, 20}},
				snapshot.Node{Ref: "name " + name, Parent: li, Tag: "span", Role: "text", Name: fmt.Sprintf("%d × %s", b.count[name], name), Box: [4]int{10, y, 100, 20}})
			if b.minus {
				list = append(list, snapshot.Node{Ref: "less " + name, Parent: li, Tag: "button", Role: "button", Name: "−", Interactive: true, Box: [4]int{120, y, 20, 20}})
			}
			list = append(list, snapshot.Node{Ref: "out " + name, Parent: li, Tag: "button", Role: "button", Name: "×", Interactive: true, Box: [4]int{150, y, 20, 20}})
		}
		return append(list, snapshot.Node{Ref: "other", Parent: -1, Tag: "button", Role: "button", Name: "Print", Interactive: true})
	}
	s.on = func(_, ref, _ string) {
		switch what, name, _ := strings.Cut(ref, " "); what {
		case "less":
			b.count[name]--
		case "out":
			b.count[name] = 0
		}
	}
	return s
}

// One of several goes by the minus, and all that a part of the page holds goes entry by entry.
func TestLessen(t *testing.T) {
	for _, c := range []struct {
		lang, title, text string
		minus, done       bool
		want              string
	}{
		{"en", "Basket", "Take one lemon cake out of the basket", true, true, "1 3"},
		{"en", "Basket", "Take one lemon cake out of the basket so that one is left", true, true, "1 3"},
		{"en", "Basket", "Take one lemon cake out of the basket so that two are left", true, false, "1 3"},
		{"en", "Basket", "Remove two rye loaves from the basket", true, true, "2 1"},
		{"en", "Basket", "Take one lemon cake out of the basket", false, false, "2 3"},
		{"en", "Basket", "Empty the basket", true, true, "0 0"},
		{"en", "Basket", "Delete the basket", true, false, "2 3"},
		{"de", "Warenkorb", "Leere den Warenkorb", false, true, "0 0"},
	} {
		t.Run(c.lang+" "+c.text, func(t *testing.T) {
			b := &basket{names: []string{"Lemon cake", "Rye loaf"}, count: map[string]int{"Lemon cake": 2, "Rye loaf": 3}, minus: c.minus}
			err := b.scene(c.lang, c.title).run(t, c.text)
			if got := fmt.Sprintf("%d %d", b.count["Lemon cake"], b.count["Rye loaf"]); (err == nil) != c.done || got != c.want {
				t.Errorf("%s, want %s: %v", got, c.want, err)
			}
		})
	}
}
