package plan_test

import (
	"fmt"
	"maps"
	"slices"
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
				snapshot.Node{Ref: "name " + name, Parent: li, Tag: "span", Role: "text", Name: fmt.Sprintf("%d × %s",
					b.count[name], name), Box: [4]int{10, y, 100, 20}})
			if b.minus {
				list = append(list, snapshot.Node{Ref: "less " + name, Parent: li, Tag: "button", Role: "button",
					Name: "−", Interactive: true, Box: [4]int{120, y, 20, 20}})
			}
			list = append(list, snapshot.Node{Ref: "out " + name, Parent: li, Tag: "button", Role: "button", Name: "×",
				Interactive: true, Box: [4]int{150, y, 20, 20}})
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

// A part of the page is emptied where it is clear which, and each thing in it can be taken out: else
// nothing is pressed.
func TestEmpty(t *testing.T) {
	for _, c := range []struct {
		lang, text string
		parts      map[string][]string // the things of each; those in brackets cannot be taken out
		want       string              // what is left
	}{
		{"en", "Empty the cart.", map[string][]string{"Cart": {"Tea", "Salt"}, "Saved": {"Rye"}}, "map[Cart:[] Saved:[Rye]]"},
		{"en", "Empty the cart.", map[string][]string{"Cart of Ann": {"Tea"}, "Cart of Bo": {"Rice"}}, "not understood"},
		{"de", "Leere den Warenkorb.", map[string][]string{"Warenkorb von Ann": {"Tee"}, "Warenkorb von Bo": {"Reis"}}, "not understood"},
		{"en", "Empty the cart of Bo.", map[string][]string{"Cart of Ann": {"Tea"}, "Cart of Bo": {"Rice", "Oil"}},
			"map[Cart of Ann:[Tea] Cart of Bo:[]]"},
		{"en", "Empty the cart.", map[string][]string{"Cart": {"Tea", "Salt", "[Gift card]"}}, "not understood"},
		{"en", "Empty the cart.", map[string][]string{"Cart": strings.Fields("a1 b2 c3 d4 e5 f6 g7 h8 i9 j1 k2 l3 m4 n5 o6 p7 q8")},
			"not understood"},
	} {
		t.Run(c.text+fmt.Sprint(c.parts), func(t *testing.T) {
			s := &scene{lang: c.lang}
			s.nodes = func() []snapshot.Node {
				var list []snapshot.Node
				for _, name := range slices.Sorted(maps.Keys(c.parts)) {
					at := len(list)
					list = append(list, snapshot.Node{Ref: "part " + name, Parent: -1, Tag: "section", Role: "region", Name: name},
						snapshot.Node{Ref: "title " + name, Parent: at, Tag: "h2", Role: "heading", Level: 2, Name: name},
						snapshot.Node{Ref: "list " + name, Parent: at, Tag: "ul", Role: "list"})
					for _, thing := range c.parts[name] {
						li := len(list)
						list = append(list, snapshot.Node{Ref: "li " + thing, Parent: at + 2, Tag: "li", Role: "listitem"},
							snapshot.Node{Ref: "name " + thing, Parent: li, Tag: "span", Role: "text", Name: strings.Trim(thing, "[]")})
						if !strings.HasPrefix(thing, "[") {
							list = append(list, snapshot.Node{Ref: "out " + thing, Parent: li, Tag: "button", Role: "button", Name: "×", Interactive: true})
						}
					}
				}
				return list
			}
			s.on = func(_, ref, _ string) {
				for name, list := range c.parts {
					c.parts[name] = slices.DeleteFunc(list, func(thing string) bool { return ref == "out "+thing })
				}
			}
			if err := s.run(t, c.text); c.want == "not understood" {
				if err == nil || len(s.did) > 0 {
					t.Errorf("did %v: %v", s.did, err)
				}
			} else if got := fmt.Sprint(c.parts); got != c.want || err != nil {
				t.Errorf("%s: %v", got, err)
			}
		})
	}
}

// Some of a thing goes out of what holds it: the counter of an offer says how many are to be added.
func TestLessenNoOffer(t *testing.T) {
	for _, c := range []struct {
		text   string
		offers bool // the list with the counter has buttons that add
		done   bool
	}{
		{"Remove one apple cake.", true, false},
		{"Take one apple cake out of the bag.", true, false},
		{"Take one apple cake out of the bag.", false, false},
		{"Remove one apple cake from the bag.", true, false},
		{"Remove one apple cake from the bag.", false, false},
		{"Take one apple cake out of the menu.", false, true},
	} {
		t.Run(fmt.Sprint(c.text, c.offers), func(t *testing.T) {
			count := 3
			s := &scene{lang: "en"}
			s.nodes = func() []snapshot.Node {
				var list []snapshot.Node
				part := func(name string, parts func(thing string) []snapshot.Node) {
					at := len(list)
					list = append(list, snapshot.Node{Ref: name, Parent: -1, Tag: "section", Role: "region", Name: name},
						snapshot.Node{Ref: "title " + name, Parent: at, Tag: "h2", Role: "heading", Level: 2, Name: name},
						snapshot.Node{Ref: "list " + name, Parent: at, Tag: "ul", Role: "list"})
					for _, thing := range []string{"Apple cake", "Plum cake"} {
						li := len(list)
						list = append(list, snapshot.Node{Ref: name + thing, Parent: at + 2, Tag: "li", Role: "listitem"},
							snapshot.Node{Ref: "name " + name + thing, Parent: li, Tag: "span", Role: "text", Name: thing})
						for _, n := range parts(thing) {
							n.Parent = li
							list = append(list, n)
						}
					}
				}
				part("Menu", func(thing string) []snapshot.Node {
					number := typable("count "+thing, "Quantity", "3")
					if number.Type = "number"; thing == "Apple cake" {
						number.Value = fmt.Sprint(count)
					}
					list := []snapshot.Node{pressable("less "+thing, "button", "-"), number, pressable("more "+thing, "button", "+")}
					if c.offers {
						list = append(list, pressable("add "+thing, "button", "Add to bag"))
					}
					return list
				})
				part("Bag", func(string) []snapshot.Node { return nil })
				return list
			}
			s.on = func(_, ref, _ string) {
				if ref == "less Apple cake" {
					count--
				}
			}
			err := s.run(t, c.text)
			if want := map[bool]int{true: 2, false: 3}[c.done]; (err == nil) != c.done || count != want {
				t.Errorf("there are %d: %v", count, err)
			}
		})
	}
}
