package intent

import "testing"

// TestOrderOfTheCart holds the order of the cart to handing it in, and that of a thing to taking it.
func TestOrderOfTheCart(t *testing.T) {
	for text, want := range map[string]Effect{
		"Order what is in the cart": Submit, "Order everything in the cart": Submit, "Buy the contents of the basket": Submit,
		"Bestelle den Warenkorb": Submit, "Commande le panier": Submit,
		"Order the red lamp": Add, "Order two pizzas": Add, "Buy the picnic basket": Add, "Order a cart and a lamp": Add,
	} {
		if got := Read(text).Readings[0].Goals[0].Effect; got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}
