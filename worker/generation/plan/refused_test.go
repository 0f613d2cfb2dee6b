package plan_test

import (
	"testing"

	"github.com/slipway-qa/slipway/worker/snapshot"
)

// A form that the page refuses was not sent, but where the text goes on with that it is refused.
func TestRefusedUnlessItIsChecked(t *testing.T) {
	for _, c := range []struct {
		lang, text, says string
		done             bool
	}{
		{"en", "Send the form. Verify that the total is 12.50.", "Please enter a valid date", false},
		{"en", "Send the form. The total must be 12.50.", "Please enter a valid date", false},
		{"en", "Submit the form and verify that the name is Ann.", "Please enter a valid name", false},
		{"en", "Send the form. Verify that no error is shown.", "Please enter a valid date", false},
		{"en", "Send the form and check that the list of required documents is shown.", "Please enter a valid date", false},
		{"en", "Send the form. Check that the field Failure reason is empty.", "Please enter a valid date", false},
		{"en", "Send the form. Verify that the total is 12.50.", "Thank you", true},
		{"en", "Send the form. Verify that the total is 12.50 and that \"Please enter a valid date\" is shown.",
			"Please enter a valid date", true},
		{"en", "Send the form. Verify that the message \"enter a valid date\" is shown.", "Please enter a valid date", true},
		{"en", "Submit the form and verify that the name is Ann.", "Ann is already taken", false},
		{"en", "Submit the form and verify that Ann is shown.", "Ann is already taken", false},
		{"en", "Send the form. Verify that the error message says \"Denied\".", "Denied", true},
		{"en", "Send the form. Verify that the page says \"Enter a valid date\".", "Please enter a valid date", true},
		{"de", "Sende das Formular. Prüfe, dass die Summe 12,50 ist.", "Bitte ein gültiges Datum eingeben", false},
		{"de", "Sende das Formular. Prüfe, dass die Meldung \"Bitte ein gültiges Datum eingeben\" zu sehen ist.",
			"Bitte ein gültiges Datum eingeben", true},
	} {
		t.Run(c.text+" "+c.says, func(t *testing.T) {
			sent := false
			s := &scene{lang: c.lang}
			s.nodes = func() []snapshot.Node {
				send, total := "Send", "Total: 12.50"
				if c.lang == "de" {
					send, total = "Senden", "Summe: 12,50"
				}
				list := []snapshot.Node{typable("name", "Name", "Ann"), typable("date", "Date", "31.02."),
					{Ref: "total", Parent: -1, Tag: "p", Role: "text", Name: total}, pressable("send", "button", send)}
				if sent {
					list = append(list, snapshot.Node{Ref: "says", Parent: -1, Tag: "p", Role: "text", Name: c.says})
				}
				return list
			}
			s.on = func(_, ref, _ string) { sent = sent || ref == "send" }
			if err := s.run(t, c.text); (err == nil) != c.done {
				t.Errorf("done %v, want %v: %v", err == nil, c.done, err)
			}
		})
	}
}
