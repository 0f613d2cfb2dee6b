package plan_test

import (
	"strings"
	"testing"

	"github.com/slipway-qa/slipway/worker/snapshot"
)

// What was put somewhere is opened, where it can be, and the place only where it cannot.
func TestOpensWhatWasMade(t *testing.T) {
	for _, c := range []struct {
		text, lang, role, opened string
	}{
		{"Put Salt into Groceries and open it.", "en", "link", "Salt"},
		{"Put Salt into Groceries and open it.", "en", "text", "Groceries"},
		{"Add Salt to the Groceries list, then open it.", "en", "link", "Salt"},
		{"Add an item called Salt to Groceries and open it.", "en", "link", "Salt"},
		{"Füge Salt zu Groceries hinzu und öffne es.", "de", "link", "Salt"},
		{"Put Salt into Groceries and open it.", "en", "button", "Salt"},
	} {
		t.Run(c.text+" "+c.role, func(t *testing.T) {
			titles, opened, value := []string{"Tea", "Rye"}, "", ""
			s := &scene{lang: c.lang}
			s.nodes = func() []snapshot.Node {
				list := []snapshot.Node{pressable("open Groceries", "link", "Groceries"), pressable("open Work", "link", "Work"),
					typable("new", "New item", value), pressable("add", "button", "Add"),
					{Ref: "ul", Parent: -1, Tag: "ul", Role: "list", Name: "Groceries"}}
				for _, title := range titles {
					li := len(list)
					name := snapshot.Node{Ref: "open " + title, Tag: "span", Role: "text", Name: title}
					if c.role != "text" {
						name = pressable("open "+title, c.role, title)
					}
					name.Parent = li
					list = append(list, snapshot.Node{Ref: "li " + title, Parent: 4, Tag: "li", Role: "listitem"}, name)
				}
				if opened != "" {
					list = append(list, snapshot.Node{Ref: "opened", Parent: -1, Tag: "h2", Role: "heading", Name: "Opened " + opened, Level: 2},
						snapshot.Node{Ref: "about", Parent: -1, Tag: "p", Role: "text", Name: "All about " + opened})
				}
				return list
			}
			s.on = func(tool, ref, text string) {
				title, opens := strings.CutPrefix(ref, "open ")
				switch {
				case ref == "new" && tool == "input_text":
					value = text
				case (ref == "add" || tool == "press_key" && ref == "new") && value != "":
					titles, value = append(titles, value), ""
				case opens:
					opened = title
				}
			}
			if err := s.run(t, c.text); err != nil || opened != c.opened {
				t.Errorf("opened %q, want %q: %v", opened, c.opened, err)
			}
		})
	}
}
