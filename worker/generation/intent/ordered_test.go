package intent

import "testing"

// TestSortedBy makes a goal of its own of how what is shown is sorted.
func TestSortedBy(t *testing.T) {
	readsAs(t, [][3]string{
		{"en", "Show only the direct flights sorted by price", "filter[direct flights] | sort[by=price]"},
		{"de", "Zeige nur Direktflüge nach Preis sortiert", "filter[Direktflüge] | sort[by=Preis]"},
		{"es", "Muestra solo los vuelos directos ordenados por precio", "filter[vuelos directos] | sort[by=precio]"},
		{"fr", "Affiche uniquement les vols directs triés par prix", "filter[vols directs] | sort[by=prix]"},
		{"en", "Show only the notes that are sorted", "filter[is:sorted notes]"},
	})
}

// TestThenTheOther gives what is only told apart from the thing before it the noun of that.
func TestThenTheOther(t *testing.T) {
	readsAs(t, [][3]string{
		{"en", "Open the first question, then the last one", "open[#1 <message/question> + #-1 <message/question>]"},
		{"es", "Abre la primera pregunta y luego la última", "open[#1 <message/pregunta> + #-1 <message/pregunta>]"},
		{"fr", "Ouvre la première question, puis la dernière", "open[#1 <message/question> + #-1 <message/question>]"},
		{"de", "Öffne die erste Frage und dann die letzte", "open[#1 <message/Frage> + #-1 <message/Frage>]"},
		{"en", "Delete the oldest mail of Ann and the newest", "remove[max:age <mail> of(Ann) + max:date <mail> of(Ann)]"},
		{"de", "Lösche die älteste Mail von Ann und die neueste", "remove[max:age <Mail> having(Ann) + max:date <Mail> having(Ann)]"},
		{"en", "Delete the first mail from Ann and the last one from Bo", "remove[#1 <mail> having(Ann) + #-1 <mail> having(Bo)]"},
		{"en", "Delete the first mail in Archive and the last one", "remove[#1 <mail> in(Archive) + #-1 <mail> in(Archive)]"},
		{"en", "Delete the first mail in Archive and the last one in Inbox", "remove[#1 <mail> in(Archive) + #-1 <mail> in(Inbox)]"},
		{"fr", "Déplie Europe puis Italie", "expand[Europe + Italie]"},
		{"en", "Select the cheapest room, then the second one", "choose[min:price <room> + #2 <room>]"},
	})
}

// TestWhatSaysTheOrder keeps what of a phrase says the order apart from what else stands in it.
func TestWhatSaysTheOrder(t *testing.T) {
	for _, c := range []struct{ lang, text, order string }{
		{"en", "Sort the rooms by the best breakfast first", "best"},
		{"en", "Sort by cheapest parking first", "cheapest"},
		{"en", "Show the cheapest first", "the cheapest first"},
		{"en", "Sort the rooms, best first", "best first"},
		{"de", "Zeige die billigsten zuerst", "die billigsten zuerst"},
		{"de", "Sortiere nach dem besten Frühstück zuerst", "besten"},
	} {
		text := ReadIn(c.text, c.lang)
		goals := text.Readings[0].Goals
		m := goals[len(goals)-1].Measure
		if m == nil || m.Extreme == nil {
			t.Errorf("%s: no measure: %s", c.text, text.Readings[0])
			continue
		}
		if got := text.Source[m.Extreme.Span.From:m.Extreme.Span.To]; got != c.order {
			t.Errorf("%s: %q, want %q", c.text, got, c.order)
		}
	}
}
