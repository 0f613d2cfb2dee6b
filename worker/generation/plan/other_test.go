package plan_test

import (
	"strings"
	"testing"

	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/worker/snapshot"
)

// shelves is a page with a list of goods, each of which can be ordered, a field for the name of who
// buys, and a menu of an account.
func shelves() *scene {
	name, menu := "", false
	s := &scene{lang: "en"}
	s.nodes = func() []snapshot.Node {
		list := []snapshot.Node{{Ref: "ul", Parent: -1, Tag: "ul", Role: "list"}}
		for _, t := range []string{"Black tea 60", "Green tea 9", "Cocoa 44"} {
			li := len(list)
			order := pressable("order "+t, "button", "Order")
			order.Parent = li
			list = append(list, snapshot.Node{Ref: "li " + t, Tag: "li", Role: "listitem"}, snapshot.Node{Ref: "t " + t,
				Parent: li, Tag: "span", Role: "text", Name: t}, order)
		}
		list = append(list, typable("name", "Your name", name), pressable("account", "button", "Nadia"))
		if menu {
			list = append(list, pressable("out", "button", "Sign out"))
		}
		return list
	}
	s.on = func(tool, ref, text string) {
		if tool == step.InputText {
			name = text
		}
		menu = menu || ref == "account"
	}
	return s
}

// What is not found is done to nothing else.
func TestNothingIsDoneToAnother(t *testing.T) {
	for _, text := range []string{"Order 30 of the oat flakes", "Order the tea that is nearly sold out", "Apply the code GINO10"} {
		s := shelves()
		if err := s.run(t, text); err == nil {
			t.Errorf("%s: it was done", text)
		}
		for _, d := range s.did {
			if strings.HasPrefix(d, step.Click+" order") || strings.HasPrefix(d, step.InputText) {
				t.Errorf("%s: %s", text, d)
			}
		}
	}
}

// What only sets something sends nothing for it.
func TestNothingIsSentToSetAValue(t *testing.T) {
	sent := false
	s := &scene{lang: "en"}
	s.nodes = func() []snapshot.Node {
		return []snapshot.Node{typable("name", "Your name", ""), pressable("publish", "button", "Publish review")}
	}
	s.on = func(tool, ref, _ string) { sent = sent || tool == step.Click && ref == "publish" }
	if err := s.run(t, "Rate the quietness as Silent"); err == nil || sent {
		t.Errorf("sent %v, error %v", sent, err)
	}
}

// Each row has a field for remarks: whose it is must be said.
func TestWhoseFieldItIs(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"Enter 'new coach' as the remark", ""},
		{"Enter 'new coach' as the remark for Eastbridge", "Eastbridge: new coach"},
		{"Enter 'new coach' as the remark for Westbridge", ""},
	} {
		got := ""
		s := &scene{lang: "en"}
		remarks := map[string]string{}
		s.nodes = func() []snapshot.Node {
			list := []snapshot.Node{{Ref: "ul", Parent: -1, Tag: "ul", Role: "list"}}
			for _, t := range []string{"Ashford", "Eastbridge", "Glenside"} {
				li := len(list)
				remark := typable("remark "+t, "Remark", remarks[t])
				remark.Parent = li
				list = append(list, snapshot.Node{Ref: "li " + t, Tag: "li", Role: "listitem"},
					snapshot.Node{Ref: "t " + t, Parent: li, Tag: "span", Role: "text", Name: t}, remark)
			}
			return list
		}
		s.on = func(tool, ref, text string) {
			if name, ok := strings.CutPrefix(ref, "remark "); ok && tool == step.InputText {
				remarks[name], got = text, name+": "+text
			}
		}
		if err := s.run(t, c.text); (err == nil) != (c.want != "") || got != c.want {
			t.Errorf("%s: %s, %v", c.text, got, err)
		}
	}
}

// What becomes of a thing must be seen at it, and not only somewhere on the page.
func TestWhatAThingBecomes(t *testing.T) {
	for _, ships := range []bool{true, false} {
		state, picked := "open", false
		s := &scene{lang: "en"}
		s.nodes = func() []snapshot.Node {
			list := []snapshot.Node{{Ref: "ul", Parent: -1, Tag: "ul", Role: "list"}}
			for _, t := range []string{"Ben Okoro", "Ann Lee", "Cy Roy"} {
				li := len(list)
				is := map[string]string{"Ben Okoro": state, "Ann Lee": "shipped", "Cy Roy": "paid"}[t]
				mark := box("pick "+t, "Select", picked && t == "Ben Okoro")
				mark.Parent = li
				list = append(list, snapshot.Node{Ref: "li " + t, Tag: "li", Role: "listitem"}, mark,
					snapshot.Node{Ref: "t " + t, Parent: li, Tag: "span", Role: "text", Name: t},
					snapshot.Node{Ref: "s " + t, Parent: li, Tag: "span", Role: "text", Name: is})
				if ships {
					ship := pressable("ship "+t, "button", "Mark as shipped")
					ship.Parent = li
					list = append(list, ship)
				}
			}
			return list
		}
		s.on = func(tool, ref, _ string) {
			if ref == "ship Ben Okoro" {
				state = "shipped"
			}
			if ref == "pick Ben Okoro" {
				picked = !picked
			}
		}
		if err := s.run(t, "Mark Ben Okoro as shipped"); (err == nil) != ships || ships && state != "shipped" {
			t.Errorf("ships %v: %s, %v", ships, state, err)
		}
	}
}
