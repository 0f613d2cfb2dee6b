package action

import (
	"strings"
	"unicode"

	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/worker/run/replay/page"
)

// agrees reports whether a selector by role or text can be that of the fingerprint's
// element. A person who edits a selector may leave the fingerprint of the element
// before.
func agrees(s *step.Selector, f *step.Fingerprint) bool {
	has := func(text string, of ...string) bool {
		want := normalText(text)
		for _, name := range of {
			if want == "" || strings.Contains(normalText(name), want) {
				return true
			}
		}
		return false
	}
	switch s.Type {
	case step.ByRole:
		return has(s.Name, f.Name, f.Text)
	case step.ByText:
		return has(s.Value, f.Text, f.Name)
	case step.ByLabel:
		return has(s.Value, f.Label, f.Name)
	case step.Placeholder:
		return has(s.Value, f.Placeholder)
	case step.TestID:
		return s.Value == f.TestID
	case step.Title:
		return has(s.Value, f.Attributes["title"])
	case step.AltText:
		return has(s.Value, f.Attributes["alt"], f.Name)
	}
	return true
}

func normalText(text string) string { return strings.ToLower(page.CollapseSpaces(text)) }

// riskyWords are those that a press on an element of such a name cannot be taken back
// after: it deletes, pays, sends or submits. They are compared with whole words.
var riskyWords = wordSet(`
	delete remove erase destroy purge wipe discard terminate deactivate unsubscribe revoke
	pay payment buy purchase order checkout subscribe donate transfer withdraw refund
	send submit publish post confirm approve transmit
	löschen lösche entfernen entferne bezahlen zahlen kaufen bestellen bestellung zahlungspflichtig überweisen überweisung
	senden absenden abschicken verschicken veröffentlichen bestätigen kündigen abbestellen stornieren freigeben einreichen
	supprimer effacer retirer payer acheter commander commande paiement virement transférer envoyer soumettre publier confirmer
	valider résilier
	eliminar borrar quitar pagar comprar pedir pedido pago transferir enviar publicar confirmar
	elimina eliminare cancella cancellare rimuovi rimuovere paga pagare acquista acquistare ordina ordinare compra trasferisci bonifico
	invia inviare pubblica pubblicare conferma confermare disdici
	excluir apagar remover encomendar pagamento submeter
	verwijderen wissen betalen kopen bestellen overmaken verzenden versturen indienen publiceren bevestigen opzeggen`)

func wordSet(text string) map[string]bool {
	set := map[string]bool{}
	for _, word := range strings.Fields(text) {
		set[word] = true
	}
	return set
}

// risky reports whether an action cannot be taken back, as far as the name, text or
// test id of its element says so. Entering something in a field can.
func risky(want string, f *step.Fingerprint) bool {
	switch want {
	case page.WantFill, page.WantSelect, page.WantFile, page.WantScroll, page.WantHover:
		return false
	case page.WantFocus:
		if f.Tag == "input" || f.Tag == "textarea" {
			return false
		}
	}
	return hasRiskyWord(f.Name, f.Text, f.TestID)
}

func hasRiskyWord(texts ...string) bool {
	for _, text := range texts {
		for _, word := range nameWords(text) {
			if riskyWords[word] {
				return true
			}
		}
	}
	return false
}

// nameWords splits a name or a test id (delete-user, deleteUser) into words.
func nameWords(text string) []string {
	var out strings.Builder
	lower := false
	for _, r := range text {
		if unicode.IsUpper(r) && lower {
			out.WriteByte(' ')
		}
		lower = unicode.IsLower(r)
		out.WriteRune(unicode.ToLower(r))
	}
	return strings.FieldsFunc(out.String(), func(r rune) bool { return !unicode.IsLetter(r) })
}
