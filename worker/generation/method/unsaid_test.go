package method_test

import (
	"testing"

	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/worker/generation/intent"
	"github.com/slipway-qa/slipway/worker/generation/method"
	"github.com/slipway-qa/slipway/worker/snapshot"
)

func TestUnsaid(t *testing.T) {
	for _, c := range []struct {
		button string
		effect intent.Effect
		word   string // its concept
		text   string
		unsaid bool
	}{
		{"Throw away Walk", intent.Complete, "publish", "Publish the note about the walk", true},
		{"Delete Walk the dog", intent.Open, "", "Open the second one", true},
		{"Wirf Walk the dog weg", intent.Complete, "", "Finish it", true},
		{"Walk the dog löschen", intent.Complete, "", "Finish it", true},
		{"Supprimer", intent.Act, "", "Mark it", true},
		{"×", intent.Complete, "", "Finish it", true},
		{"Throw away Walk", intent.Remove, "delete", "Delete the note about the walk", false},
		{"Drop", intent.Decrease, "decrease", "Drop the oat flakes", true},
		{"Drop", intent.Remove, "delete", "Drop the oat flakes", false},
		{"Log out", intent.Add, "", "Log Nadia out", true},
		{"Log out", intent.SignOut, "", "Log Nadia out", false},
		{"Start over", intent.Add, "", "Add Lenny", true},
		{"Start over", intent.Act, "", "Start over", false},
		{"Throw away Walk", intent.Press, "", "Press Throw away Walk", false},
		{"Delete Walk the dog", intent.Complete, "reject", "Reject Walk the dog", false},
		{"Publish Walk the dog", intent.Complete, "publish", "Publish it", false},
		{"Walk the dog", intent.Open, "", "Open the second one", false},
		{"Buy Walk the dog", intent.Open, "", "Open the second one", true},
		{"Buy Walk the dog", intent.Add, "", "Get it", false},
		{"Commander", intent.Add, "", "Mets la lampe dans le panier", true},
		{"Bestellen", intent.Add, "", "Leg die Lampe in den Korb", true},
		{"Bestellen", intent.Add, "order", "Bestelle die Lampe", false},
		{"Place order", intent.Add, "", "Put the lamp into the cart", true},
		{"Kaufen", intent.Add, "", "Leg die Lampe in den Korb", false},
		{"Clear completed", intent.Add, "", "Put Salt on the list", true},
		{"Clear completed", intent.Clear, "clear", "Clear what is completed", false},
		{"Erledigte leeren", intent.Complete, "", "Hak Salz ab", true},
		{"Reset", intent.Edit, "", "Change the second one", true},
		{"Start over", intent.Select, "", "Mark the second one", true},
		{"Zurücksetzen", intent.Search, "", "Suche Salz", true},
		{"Clear all", intent.Edit, "", "Change the second one", true},
		{"Clear", intent.Edit, "", "Change the second one", false},
		{"Clear", intent.Search, "", "Search for Salt", false},
		{"Reset", intent.Filter, "", "Show all", false},
		{"Throw a party", intent.Act, "", "Mark it", false},
	} {
		m := tasks(func(ref string) []snapshot.Node { return []snapshot.Node{button(ref+"x", ref, c.button)} })
		r := second(t, m)
		node := m.Controls[m.Records[r.Index].Controls[0]].Node
		w := method.Way{Acts: []method.Act{{Tool: step.Click, Node: node, To: -1}}}
		got := method.Unsaid(m, &w, &intent.Goal{Effect: c.effect, Concept: c.word}, c.text)
		if (got != "") != c.unsaid {
			t.Errorf("%q for %q (%s): %q, want unsaid %v", c.button, c.text, c.effect, got, c.unsaid)
		}
	}
}

// What is written to somebody is not sent by a goal that does not say so.
func TestUnsaidSending(t *testing.T) {
	for _, c := range []struct {
		label, button string
		effect        intent.Effect
		text          string
		unsaid        bool
	}{
		{"To", "Send", intent.Add, "Put Bennet in Cc as well", true},
		{"An:", "Senden", intent.Set, "Setze Bennet auf Kopie", true},
		{"To", "Send", intent.Submit, "Hand it in", false},
		{"To", "Send", intent.Add, "Send a letter", false},
		{"To", "Send", intent.Add, "Add the message Well done", false},
		{"Drink", "Send", intent.Add, "Put tea on the list", false},
	} {
		m := nodes(snapshot.Node{Ref: "f", Parent: -1, Tag: "input", Role: "textbox", Name: c.label, Editable: true,
			Interactive: true}, button("x", "", c.button))
		w := method.Way{Acts: []method.Act{{Tool: step.Click, Node: 1, To: -1}}}
		got := method.Unsaid(m, &w, &intent.Goal{Effect: c.effect}, c.text)
		if (got != "") != c.unsaid {
			t.Errorf("%q for %q (%s): %q, want unsaid %v", c.button, c.text, c.effect, got, c.unsaid)
		}
	}
}

func TestNarrows(t *testing.T) {
	for name, want := range map[string]bool{"Show drafts only": true, "Nur Entwürfe": true, "Sort by": true, "Filter": true,
		"Rows per page": true, "Find a page": true,
		"Show my address": false, "Draft": false, "Category": false, "Vegetarian": false, "Entwurf": false} {
		n := snapshot.Node{Ref: "f", Parent: -1, Tag: "input", Type: "checkbox", Role: "checkbox", Name: name,
			Checked: "false", Interactive: true}
		m := nodes(n)
		if len(m.Fields) != 1 {
			t.Fatalf("%d fields", len(m.Fields))
		}
		if got := method.Narrows(m, 0); got != want {
			t.Errorf("%q: %v, want %v", name, got, want)
		}
	}
}
