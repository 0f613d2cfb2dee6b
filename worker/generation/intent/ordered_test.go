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
		{"fr", "Déplie Europe puis Italie", "expand[Europe + Italie]"},
		{"en", "Select the cheapest room, then the second one", "choose[min:price <room> + #2 <room>]"},
	})
}
