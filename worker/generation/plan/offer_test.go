package plan_test

import (
	"fmt"
	"testing"

	"github.com/slipway-qa/slipway/worker/snapshot"
)

// What was pressed for a value is the value of its field where it is all that the field holds, and where
// the value is no date or number.
func TestPickedIsHeld(t *testing.T) {
	for _, c := range []struct {
		text, field, title string
		offers             []string
		write              func(offer string) string // what the field holds after a press
		done               bool
	}{
		{"Select 12 May 2031 as the date.", "Date", "May 2031", days(),
			func(day string) string { return fmt.Sprintf("%02s/04/2031", day) }, false},
		{"Select 12 May 2031 as the date.", "Date", "May 2031", days(),
			func(day string) string { return fmt.Sprintf("2031-05-%02s", day) }, true},
		{"Set the size to M.", "Size", "", []string{"S", "M", "L"}, func(offer string) string { return offer }, true},
		{"Set the size to M.", "Size", "", []string{"S", "M", "L"}, func(string) string { return "Small" }, false},
	} {
		t.Run(c.text+c.write("12"), func(t *testing.T) {
			open, value := false, ""
			s := &scene{lang: "en"}
			s.nodes = func() []snapshot.Node {
				f := typable("field", c.field, value)
				f.ReadOnly, f.Reacts = true, "cursor listener"
				popup, role := snapshot.Node{Ref: "popup", Parent: -1, Tag: "div", Role: "dialog", Class: "picker", Layer: "absolute"}, "button"
				if c.title == "" {
					f.Role, f.Tag, f.Type, f.Editable, f.ReadOnly = "combobox", "div", "", false, false
					popup.Role, role = "listbox", "option"
				}
				list := []snapshot.Node{{Ref: "head", Parent: -1, Tag: "h2", Role: "heading", Level: 2, Name: "Order"}, f}
				if !open {
					return list
				}
				list = append(list, popup)
				if c.title != "" {
					list = append(list, snapshot.Node{Ref: "title", Parent: 2, Tag: "span", Role: "text", Name: c.title})
				}
				for _, offer := range c.offers {
					n := pressable("offer "+offer, role, offer)
					n.Parent = 2
					list = append(list, n)
				}
				return list
			}
			s.on = func(tool, ref, _ string) {
				var offer string
				if n, _ := fmt.Sscanf(ref, "offer %s", &offer); n == 1 {
					open, value = false, c.write(offer)
				}
				open = open || ref == "field" && tool == "click"
			}
			if err := s.run(t, c.text); (err == nil) != c.done {
				t.Errorf("the field holds %q: %v", value, err)
			}
		})
	}
}

// days are the days of a month of 31.
func days() []string {
	var list []string
	for day := range 31 {
		list = append(list, fmt.Sprint(day+1))
	}
	return list
}
