package page

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// Things without a role are told by their tag or class, where no other element that is seen has it.
func TestAlike(t *testing.T) {
	t.Parallel()
	m := New(draw(`
		div.board
			x-item "Ann" reacts=cursor
			x-item "Bo" reacts=cursor
		div.cards
			div.card.wide "Tea" reacts=cursor
			div.card "Salt" reacts=cursor
			div.note "Two of them" reacts=cursor
		div.other
			div.wide "Rice" reacts=cursor`))
	require.Equal(t, "x-item", Alike(m, -1, []int{2, 1}))
	require.Equal(t, "div.card", Alike(m, 3, []int{4, 5}))
	require.Empty(t, Alike(m, 3, []int{4, 6}))
	require.Empty(t, Alike(m, 3, []int{4}), "wide is no kind of thing")
	require.Empty(t, Alike(m, -1, []int{4}), "another one is called so on the page")
}

// A class tells things apart only where it says what they are.
func TestClassesThatSayAKind(t *testing.T) {
	t.Parallel()
	for class, want := range map[string]bool{
		"card": true, "cart-item": true, "cart__item": true, "cartItem": true, "MessageBox": true, "karte": true,
		"bdVaJa": false, "kvptjb": false, "Card-sc-bdVaJa": false, "cardXQ": false, "done": false, "item-done": false, "paid": false,
		"archived": false, "wide": false, "even": false,
	} {
		require.Equal(t, want, saysKind(class), class)
	}
}

// A bubble with a text and two buttons asks something; one with things to choose is a menu.
func TestBubbleThatAsks(t *testing.T) {
	t.Parallel()
	kind := func(inside string) string {
		m := New(draw("\np heading \"Tickets\"\nbutton button \"Remove\"\ndiv.popover layer=absolute\n" + inside))
		for i := range m.Containers {
			if m.Nodes[m.Containers[i].Node].Class == "popover" {
				return m.Containers[i].Kind
			}
		}
		return ""
	}
	for _, c := range []struct {
		text, first, second, want string
	}{
		{"Really remove it?", "No", "Yes", "dialog"},
		{"Really remove it?", "Cancel", "Remove", "dialog"},
		{"Really remove it?", "Remove", "No, keep it", "dialog"},
		{"Wirklich löschen?", "Ja, löschen", "Behalten", "dialog"},
		{"¿Borrar la nota?", "Borrar", "Cancelar", "dialog"},
		{"Signed in as Ann", "Profile", "Sign out", "menu"},
		{"1 item in your cart", "View cart", "Checkout", "menu"},
		{"Ann Smith", "Rename", "Delete", "menu"},
		{"Order 12 was placed", "Open order", "Cancel order", "menu"},
	} {
		got := kind("\tspan \"" + c.text + "\"\n\tbutton button \"" + c.first + "\"\n\tbutton button \"" + c.second + "\"")
		require.Equal(t, c.want, got, "%s: %s, %s", c.text, c.first, c.second)
	}
	require.Equal(t, "menu", kind("\tbutton button \"Rename\"\n\tbutton button \"Copy\""))
	require.Equal(t, "menu", kind("\tspan \"What to do\"\n\tbutton button \"Rename\"\n\tbutton button \"Copy\"\n\tbutton button \"Move\""))
	require.Equal(t, "menu", kind("\tspan \"What to do\"\n\tbutton button \"Rename\"\n\tbutton button \"Copy\"\n\tinput textbox \"Name\""))
}
