package plan_test

import (
	"strings"
	"testing"

	"github.com/slipway-qa/slipway/worker/snapshot"
)

// TestTheKindBeforeANameCounts runs "X named Y" on lists whose heading says what their records are: where
// nothing says that a record is an X, it is not meant, and no other kind of thing is made.
func TestTheKindBeforeANameCounts(t *testing.T) {
	for _, c := range []struct{ lang, heading, add, text, want string }{
		{"en", "Contacts", "New contact", "Open the invoice named Otto.", ""},
		{"en", "Contacts", "New contact", "Delete the invoice named Otto.", ""},
		{"en", "Contacts", "New contact", `Delete the invoice named "Otto".`, ""},
		{"en", "Contacts", "New contact", "Create an invoice named Zoe.", ""},
		{"de", "Kontakte", "Neuer Kontakt", "Lösche die Rechnung namens Otto.", ""},
		{"de", "Kontakte", "Neuer Kontakt", "Öffne Rot namens Otto.", ""},
		{"en", "Contacts", "New contact", "Open the contact named Otto.", "open Otto"},
		{"en", "Invoices", "New invoice", "Delete the invoice named Otto.", "delete Otto"},
		{"en", "Invoices", "New invoice", "Create an invoice named Zoe.", "add Zoe"},
		{"en", "Invoices", "New invoice", `Create an invoice called "Zoe".`, "add Zoe"},
		{"de", "Kontakte", "Neuer Kontakt", "Öffne den Kontakt namens Otto.", "open Otto"},
	} {
		t.Run(c.text+" on "+c.heading, func(t *testing.T) {
			titles, did := []string{"Otto", "Bo", "Cy"}, ""
			s := &scene{lang: c.lang}
			s.nodes = func() []snapshot.Node {
				list := []snapshot.Node{{Ref: "h", Parent: -1, Tag: "h2", Role: "heading", Name: c.heading, Level: 2},
					pressable("add", "button", c.add), {Ref: "ul", Parent: -1, Tag: "ul", Role: "list"}}
				for _, title := range titles {
					at := len(list)
					open, remove := pressable("open "+title, "link", title), pressable("delete "+title, "button", "Delete")
					open.Parent, remove.Parent = at, at
					list = append(list, snapshot.Node{Ref: title, Parent: 2, Tag: "li", Role: "listitem"}, open, remove)
				}
				if name, ok := strings.CutPrefix(did, "open "); ok {
					list = append(list, snapshot.Node{Ref: "detail", Parent: -1, Tag: "h3", Role: "heading", Name: name, Level: 3},
						snapshot.Node{Ref: "about", Parent: -1, Tag: "span", Role: "text", Name: "All about " + name})
				}
				return list
			}
			s.on = func(tool, ref, _ string) {
				switch {
				case ref == "add" && tool == "click":
					s.asked = "What is it called?"
				case strings.HasPrefix(ref, "open "):
					did = ref
				case strings.HasPrefix(ref, "delete "):
					did, titles = ref, titles[1:]
				}
			}
			s.answered = func(text string) {
				if text != "" {
					titles, did = append(titles, text), "add "+text
				}
			}
			err := s.run(t, c.text)
			if (err == nil) != (c.want != "") || err == nil && did != c.want {
				t.Errorf("did %q, %v", did, err)
			}
		})
	}
}
