package plan_test

import (
	"strings"
	"testing"

	"github.com/slipway-qa/slipway/worker/snapshot"
)

// TestSoManyArePutIntoACart holds what is composed and then put into a cart to as many as the text says.
func TestSoManyArePutIntoACart(t *testing.T) {
	for _, c := range []struct {
		text   string
		counts bool
		want   string // "": it is not done
	}{
		{"Compose one Margherita and put it into the cart", true, "1"},
		{"Compose two Margheritas and put them into the cart", true, "2"},
		{"Compose two Margheritas and put them into the cart", false, ""},
	} {
		amount := "1"
		var cart []string
		s := &scene{lang: "en"}
		s.nodes = func() []snapshot.Node {
			list := []snapshot.Node{{Ref: "h", Parent: -1, Tag: "h1", Role: "heading", Level: 1, Name: "Margherita"}}
			if c.counts {
				many := typable("many", "Quantity", amount)
				many.Type, many.Role = "number", "spinbutton"
				list = append(list, many)
			}
			list = append(list, pressable("add", "button", "Add to cart"))
			ul := len(list)
			list = append(list, snapshot.Node{Ref: "ul", Parent: -1, Tag: "ul", Role: "list"})
			for _, name := range append([]string{"Cola", "Water"}, cart...) {
				list = append(list, snapshot.Node{Ref: "li " + name, Parent: ul, Tag: "li", Role: "listitem", Name: name})
			}
			return list
		}
		s.on = func(_, ref, text string) {
			switch ref {
			case "many":
				amount = text
			case "add":
				cart = append(cart, "Margherita × "+amount)
			}
		}
		err := s.run(t, c.text)
		if got := strings.Join(cart, ","); (err == nil) != (c.want != "") || err == nil && got != "Margherita × "+c.want {
			t.Errorf("%s: %q and not %q, %v", c.text, got, c.want, err)
		}
	}
}
