package intent

import "testing"

// TestUnmarked takes the mark away from what is taken out of the favourites, and keeps the thing.
func TestUnmarked(t *testing.T) {
	readsAs(t, [][3]string{
		{"en", "Remove the lamp from my favourites", "reopen[lamp]"},
		{"en", "Unstar the note", "reopen[note]"},
		{"de", "Nimm den Vito aus den Favoriten", "reopen[Vito]"},
		{"fr", "Retire le Vito des favoris", "reopen[Vito]"},
		{"es", "Quita la lámpara de favoritos", "remove[lámpara of(is:favoritos)]"}, // or the lamp of the favourites
		{"en", "Remove the photo of my favourites", "remove[<image/photo> of(favourites)]"},
		{"en", "Cancel the order of the favourite", "remove[order of(is:favourite)]"},
		{"en", "Delete the mail from Star", "remove[mail, from=Star]"},
		{"de", "Nimm Express vom Menü", "choose[Express having(<menu/Menü>)]"},
		{"en", `Remove the note "Favourites"`, `remove["Favourites" <note>]`},
		{"de", "Nimm die Jacke wieder aus dem Warenkorb", "remove[Jacke, from=Warenkorb]"},
		{"de", "Nimm das zweite aus der Liste", "choose[#2 PRO, from=<list/Liste>]"},
	})
}
