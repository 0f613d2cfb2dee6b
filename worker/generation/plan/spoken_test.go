package plan_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/slipway-qa/slipway/worker/snapshot"
)

// shelf is a page with things to put into a cart, which a button opens: its total, and what is in it. A
// thing of the list is returned by its link.
type shelf struct {
	names []string
	gone  string
	cart  int
	open  bool
}

func (h *shelf) scene() *scene {
	s := &scene{lang: "en"}
	s.nodes = func() []snapshot.Node {
		list := []snapshot.Node{pressable("cart", "button", fmt.Sprint("Cart ", h.cart)), {Ref: "ul", Parent: -1, Tag: "ul", Role: "list"}}
		for i, name := range h.names {
			if name == h.gone {
				continue
			}
			li, y := len(list), 60+30*i
			list = append(list, snapshot.Node{Ref: fmt.Sprint("li ", name, h.gone), Parent: 1, Tag: "li", Role: "listitem",
				Box: [4]int{10, y, 400, 20}},
				snapshot.Node{Ref: fmt.Sprint("name ", name, h.gone), Parent: li, Tag: "span", Role: "text", Name: name, Box: [4]int{10, y, 100, 20}},
				snapshot.Node{Ref: "add " + name, Parent: li, Tag: "button", Role: "button", Name: "Add to cart",
					Interactive: true, Box: [4]int{120, y, 80, 20}},
				snapshot.Node{Ref: "back " + name, Parent: li, Tag: "a", Role: "link", Name: "Return", Interactive: true, Box: [4]int{210, y, 60, 20}})
		}
		field := typable("how many", "How many of it", "1") // of the cart, which is closed
		field.Hidden = !h.open
		if h.cart > 0 {
			list = append(list, field)
		}
		total := fmt.Sprintf("Total: %d.50", h.cart) // with what it costs to send them
		if h.open {
			total = fmt.Sprintf("Total: %d.00", 5*h.cart)
		}
		list = append(list, snapshot.Node{Ref: "total", Parent: -1, Tag: "p", Role: "text", Name: total})
		return list
	}
	s.on = func(_, ref, _ string) {
		switch what, name, _ := strings.Cut(ref, " "); what {
		case "add":
			h.cart++
		case "back":
			h.gone = name
		case "cart":
			h.open = true
		}
	}
	return s
}

// What a text speaks of goes on: the cart that a thing was put into, what is gone, and a claim that is
// written as the page writes it.
func TestSpokenOf(t *testing.T) {
	for text, done := range map[string]bool{
		"Put two tea pots and the cup into the cart, then open it: the total must be 15.00": true,
		"Put two tea pots and the cup into the cart, then open it: the total must be 10.00": false,
		"Put a cup into the cart. Total: 1.50":                                              true,
		"Put a cup into the cart. Total: 2.50":                                              false,
		"Return the cup, then it should not be in the list any more":                        true,
		"Return the cup. The tea pot should not be in the list any more":                    false,
	} {
		t.Run(text, func(t *testing.T) {
			h := &shelf{names: []string{"Tea pot", "Cup", "Bowl"}}
			if err := h.scene().run(t, text); (err == nil) != done {
				t.Errorf("done %v, want %v: %v", err == nil, done, err)
			}
		})
	}
}
