package intent

import (
	"strings"
	"testing"
)

// TestWhatIsDeniedIsNotTurnedRound holds what a text denies or leaves out: it is read so, or not at all.
func TestWhatIsDeniedIsNotTurnedRound(t *testing.T) {
	for text, want := range map[string]string{
		"Delete all contacts not from Berlin.":                    "remove[all <contacts> lacking(Berlin)]",
		"Delete all contacts that are not from Berlin":            "remove[all <contacts> lacking(Berlin)]",
		"Delete all contacts not more expensive than 20 euros":    "<=20",
		"Delete all contacts that do not cost more than 20 euros": "?",
		"Delete all contacts but keep Ann.":                       "except(Ann)",
		"Lösche alle Kontakte bis auf Ann":                        "except(Ann)",
		"Lösche Ann, Bob nicht.":                                  "remove[Ann] | !remove[Bob]",
		"Lösche Ann, aber Bob nicht.":                             "remove[Ann] | !remove[Bob]",
		"Turn the light off and the heating not.":                 "| !toggle[heating",
		"Instead of deleting Ann, archive Bob.":                   "!remove[Ann] | act[~archive, Bob]",
		"Au lieu de supprimer Ann, archive Bob":                   "!remove[Ann] | act[~archiver, Bob]",
		"En vez de borrar a Ann, archiva a Bob":                   "!remove[",
		"Before sending the form, enter Ann as the name.":         "?",
		"Before you delete Ann, open Bob.":                        "?",
		"Stop before sending the form.":                           "?",
		"Delete Ann if not paid.":                                 "?",
		"Lösche Ann, wenn nicht bezahlt":                          "?",
		"Sort by date, oldest first.":                             "sort[by=date]",
		"Sortiere nach Datum, älteste zuerst.":                    "sort[by=Datum]",
		"Sort by age, oldest first.":                              "sort[by=age, desc]",
		"Sort by date, but not descending.":                       "sort[by=date]",
		"Enter 12:30 am as the start.":                            "T0:30",
		"Fill in Ann as the name, but without sending the form.":  "set[name:Ann] | !submit",
	} {
		read := Read(text)
		if len(read.Readings) == 0 {
			t.Errorf("%s: nothing was read", text)
			continue
		}
		best := &read.Readings[0]
		if unread := len(best.Unread) > 0; unread != (want == "?") || !unread && !strings.Contains(best.String(), want) {
			t.Errorf("%s: %s, left %q, want %s", text, best, best.Left(text), want)
		}
	}
}
