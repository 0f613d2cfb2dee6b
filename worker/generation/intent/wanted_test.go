package intent

import "testing"

// first returns the likeliest reading of a sentence, with what it leaves.
func first(sentence, lang string) string {
	text := ReadIn(sentence, lang)
	if len(text.Readings) == 0 {
		return "nothing"
	}
	if left := text.Readings[0].Left(sentence); left != "" {
		return text.Readings[0].String() + " ? " + left
	}
	return text.Readings[0].String()
}

// readsAs holds sentences to what is read of them.
func readsAs(t *testing.T, list [][3]string) {
	t.Helper()
	for _, c := range list {
		if got := first(c[1], c[0]); got != c[2] {
			t.Errorf("%s\n got %s\nwant %s", c[1], got, c[2])
		}
	}
}

// TestUnwished turns off what somebody does not want, and does nothing that he does not want done.
func TestUnwished(t *testing.T) {
	readsAs(t, [][3]string{
		{"en", "I don't want the newsletter", "toggle[newsletter, off]"},
		{"en", "I no longer want SMS alerts", "toggle[SMS <message/alerts>, off]"},
		{"en", "I do not want to get the newsletter any more", "toggle[newsletter, off]"},
		{"de", "Ich möchte den Newsletter nicht mehr bekommen", "toggle[Newsletter, off]"},
		{"de", "Ich will keine SMS mehr", "toggle[SMS, off]"},
		{"fr", "Je ne veux plus recevoir les alertes, enregistre", "toggle[<message/alertes>, off] | submit[]"},
		{"es", "Ya no quiero recibir el boletín", "toggle[boletín, off]"},
		{"en", "Receive order 2005", "act[~receive, order 2005]"},
		{"de", "Bekomme die Bestellung 2005", "act[~bekomme, 2005 <Bestellung>]"},
		{"en", "I want to receive SMS alerts too", "toggle[SMS <message/alerts>, on]"},
		{"en", "I don't want to delete the note", "!remove[note]"},
		{"de", "Ich will die Notiz nicht löschen", "!remove[Notiz]"},
		{"es", "No quiero borrar la nota", "!remove[<text/nota>]"},
		{"fr", "Je ne veux pas supprimer la note", "!remove[note]"},
	})
	if text := ReadIn("I don't want to see completed tasks", "en"); text.Readings[0].Left(text.Source) == "" {
		t.Error("what is not to be seen was read as a deed: " + text.Readings[0].String())
	}
}

// TestBelongings reads whose a thing is as what it is of.
func TestBelongings(t *testing.T) {
	readsAs(t, [][3]string{
		{"en", "Delete the note that belongs to Ben", "remove[note of(Ben)]"},
		{"en", "Star the one that belongs to Ben", "complete[PRO of(Ben)]"},
		{"de", "Lösche die Notiz, die Ben gehört", "remove[Notiz having(Ben)]"},
		{"de", "Lösche die Notiz, die nicht Ben gehört", "remove[Notiz lacking(Ben)]"},
		{"de", "Prüfe, dass das Rad Ben gehört", "check[shown: Ben gehört <Rad>]"},
		{"fr", "Supprime la note qui appartient à Ben", "remove[note of(Ben)]"},
		{"es", "Borra la nota que pertenece a Ben", "remove[<text/nota> of(Ben)]"},
	})
}

// TestElided gives what is only told apart from the thing before it what else that is.
func TestElided(t *testing.T) {
	readsAs(t, [][3]string{
		{"en", "Delete the oldest mail of Ann and the newest", "remove[max:age <mail> of(Ann) + max:date <mail> of(Ann)]"},
		{"en", "Delete the first mail in Archive and the last one in Inbox", "remove[#1 <mail> in(Archive) + #-1 <mail> in(Inbox)]"},
	})
}

// TestBackTo moves things back, and takes out what is taken out again.
func TestBackTo(t *testing.T) {
	readsAs(t, [][3]string{
		{"en", `Move the card "Fix login" from Review back to In progress`, `move["Fix login" <card/card>, to=In progress, from=Review]`},
		{"en", "Move the mail from Inbox back to Drafts", "move[mail, to=Drafts, from=Inbox]"},
		{"en", "Skip forward two weeks", "page[amount=2_weeks, at=next]"},
		{"en", "Take the lamp out again", "remove[lamp]"},
		{"en", "Mark it as paid and make sure nothing else changed", "complete[PRO, become=paid] | check[unchanged: other PRO]"},
		{"en", "Turn on mentions by e-mail", "toggle[mentions having(e-mail), on]"},
		{"en", "Turn off mentions and comments", "toggle[mentions + comments, off]"},
		{"en", "Turn off sounds, nothing else", "toggle[sounds, off] | !toggle[other PRO, off]"},
	})
}

// TestEinstellen sets what is to be so, and adds nothing.
func TestEinstellen(t *testing.T) {
	list := ReadIn("Mindestens 7 Sitze einstellen.", "de")
	for i := range list.Readings {
		for _, g := range list.Readings[i].Goals {
			if g.Effect == Add {
				t.Errorf("reading %d: %s", i, list.Readings[i].String())
			}
		}
	}
	t.Log(list.Readings[0].String())
}

// TestTold leaves a tour that is skipped, takes what something says as it stands, and bounds as ends of a range.
func TestTold(t *testing.T) {
	readsAs(t, [][3]string{
		{"en", "Skip the tour", "abandon[tour]"},
		{"de", "Überspring die Einführung", "abandon[Einführung]"},
		{"es", "Sáltate la visita guiada", "abandon[visita guiada]"},
		{"en", "Skip the song", "act[~skip, song]"},
		{"en", "Open the mail. It says that it comes on Monday.", "open[mail] | check[is: PRO =it comes on Monday]"},
		{"en", "Set at least 7 seats", "set[seats:7]"},
		{"de", "Stell höchstens 4 Sitze ein", "set[Sitze:4]"},
	})
}

// TestObligations does what somebody wishes in the form of an obligation, and only checks what must hold.
func TestObligations(t *testing.T) {
	readsAs(t, [][3]string{
		{"en", "The old invoice has to go", "remove[old invoice]"},
		{"en", "The old invoice needs to be deleted", "remove[old invoice]"},
		{"en", "The old invoice should be deleted, please", "remove[old invoice]"},
		{"en", "The poem should go online, please", "complete[poem, become=online]"},
		{"en", "The note has to go from the list", "remove[note, from=<list/list>]"},
		{"en", "Tasks have to be sorted by date", "sort[Tasks, by=date]"},
		{"de", "Die alte Rechnung muss weg", "remove[alte Rechnung]"},
		{"de", "Die alten Rechnungen können aus der Liste raus", "remove[alten Rechnungen, from=<list/Liste>]"},
		{"de", "Die alte Rechnung soll gelöscht werden", "remove[alte Rechnung]"},
		{"de", "Die Rechnung soll nach Archiv verschoben werden", "move[Rechnung, to=Archiv]"},
		{"es", "Hay que borrar la factura", "remove[factura]"},
		{"es", "La factura tiene que desaparecer", "remove[factura]"},
		{"fr", "Il faut supprimer la facture", "remove[facture]"},
		{"en", "The card has to move to Done", "move[<card/card>, to=Done]"},
		{"de", "Die Karte soll nach Archiv wandern", "move[<card/Karte>, to=Archiv]"},
		{"de", "Bo kann aus der Liste raus, aber Ann nicht", "remove[Bo, from=<list/Liste>] | !remove[Ann]"},
		// What must hold is no wish.
		{"en", "The old invoice should be gone", "check[vanishes: old invoice]"},
		{"en", "The note has to go first", "check[at: note =1]"},
		{"en", "The note has to go to the archive", "check[vanishes: note having(archive)]"},
		{"en", "The error message has to be visible", "check[shown: <message/error message>]"},
		{"en", "Delete Bo. The row has to be deleted", "remove[Bo] | check[not shown: <row/row>]"},
		{"de", "Die alte Rechnung muss weg sein", "check[vanishes: alte Rechnung]"},
		{"es", "La lista debe estar vacía", "check[shown: <list/lista> is:empty]"},
		{"fr", "La facture doit disparaître", "check[vanishes: facture]"},
		{"fr", "Il faut voir le total", "check[shown: <total/total>]"},
	})
	both := ReadIn("The old invoice has to go", "en").Readings
	if len(both) < 2 || both[1].String() != "check[vanishes: old invoice]" {
		t.Error("what may be so already is no check")
	}
}

// TestDeedsFirst does what stands behind its result.
func TestDeedsFirst(t *testing.T) {
	readsAs(t, [][3]string{
		{"en", "There should be 3 rows left after you delete Bo", "remove[Bo] | check[counts: <row/rows> =3]"},
		{"en", "There should be 3 rows left once you have deleted Bo and said yes",
			"remove[Bo] | confirm[] | check[counts: <row/rows> =3]"},
		{"en", `"Saved" should appear after turning the alarm on and saving`, `toggle[alarm, on] | submit[] | check[appears: "Saved"]`},
		{"de", "In der Liste sollte Bo stehen, nachdem du Ann gelöscht hast", "remove[Ann] | check[shown: Bo where=<list/Liste>]"},
		{"es", "Deben quedar 3 filas después de borrar la nota", "remove[<text/nota>] | check[counts: <row/filas> =3]"},
		{"fr", "Il doit rester 3 lignes une fois que tu as supprimé Bo", "remove[Bo] | check[counts: <row/lignes> =3]"},
		{"en", "You should find Ann and Bo on the list, but no Cy",
			"check[shown: Ann + Bo where=<list/list>] | check[not shown: Cy where=<list/list>]"},
		{"en", "On the third page you should see Ann", "page[amount=3] | check[shown: Ann]"},
		{"en", "On the third page you should see Ann. On the third page you should see Bo.",
			"page[amount=3] | check[shown: Ann] | check[shown: Bo]"},
		{"en", "On the second page you should see Ann and on the third page you should see Bo",
			"page[amount=2] | check[shown: Ann] | page[amount=3] | check[shown: Bo]"},
		{"en", "You should see the header. On the third page you should see Bo.",
			"check[shown: <heading/header>] | page[amount=3] | check[shown: Bo]"},
		{"en", "You should open the folder", "open[folder]"},
		{"de", "Öffne Archiv, dort müssen drei Karten sein", "open[Archiv] | check[counts: <card/Karten> =3]"},
		{"de", "Die Küche ist geputzt, bitte als erledigt markieren.", "complete[Küche geputzt, become=erledigt]"},
	})
}

// TestCourtesy reads a deed the same with what is polite around it, wherever it stands.
func TestCourtesy(t *testing.T) {
	readsAs(t, [][3]string{
		{"fr", "Supprime la note s'il te plaît", "remove[note]"},
		{"fr", "Supprime la note, s’il vous plaît", "remove[note]"},
		{"fr", "S'il vous plaît, supprime la note", "remove[note]"},
		{"fr", "Prolonge-le s'il te plaît", "increase[PRO]"},
		{"fr", "Si la note est ouverte, supprime la note", "remove[note, if=(is: note is:open)]"},
		{"en", "Have a look at the invoice", "open[invoice]"},
		{"en", "Take a look into the cart", "open[cart]"},
		{"fr", "Jette un coup d'œil à la facture", "open[facture]"},
		{"fr", "Jette un coup d’œil au panier", "open[panier]"},
		{"en", "Please have a look in the cart", "open[cart]"},
		{"en", "Look into the cart", "open[cart]"},
		{"es", "Borra la nota, haz el favor", "remove[<text/nota>]"},
	})
}
