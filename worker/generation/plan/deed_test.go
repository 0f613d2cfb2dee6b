package plan_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/worker/generation/plan"
	"github.com/slipway-qa/slipway/worker/snapshot"
)

// inside puts a node into another one.
func inside(parent int, n snapshot.Node) snapshot.Node {
	n.Parent = parent
	return n
}

// stock is a list of articles. What drops one asks in a window of the page, and does it where works
// is set.
func stock(works bool) (*scene, *[]string) {
	articles, asked := []string{"Oat flakes", "Oat flakes organic", "Rye flour"}, ""
	s := &scene{lang: "en"}
	s.nodes = func() []snapshot.Node {
		list := []snapshot.Node{{Ref: "ul", Parent: -1, Tag: "ul", Role: "list"}}
		for _, a := range articles {
			li := len(list)
			list = append(list, snapshot.Node{Ref: "li " + a, Parent: 0, Tag: "li", Role: "listitem"},
				snapshot.Node{Ref: "name " + a, Parent: li, Tag: "span", Role: "text", Name: a},
				snapshot.Node{Ref: "stock " + a, Parent: li, Tag: "span", Role: "text", Name: "12"},
				inside(li, pressable("drop "+a, "button", "Drop")))
		}
		if asked != "" {
			at := len(list)
			list = append(list, snapshot.Node{Ref: "ask", Parent: -1, Tag: "div", Role: "dialog", Name: "Please confirm", Modal: true},
				snapshot.Node{Ref: "question", Parent: at, Tag: "p", Role: "text", Name: "Drop " + asked + " from the range?"},
				inside(at, pressable("yes", "button", "Yes")), inside(at, pressable("no", "button", "No")))
		}
		return list
	}
	s.on = func(tool, ref, _ string) {
		switch a, drops := strings.CutPrefix(ref, "drop "); {
		case tool != step.Click:
		case drops:
			asked = a
		case ref == "yes" && works:
			articles = slices.DeleteFunc(articles, func(o string) bool { return o == asked })
			asked = ""
		case ref == "yes", ref == "no":
			asked = ""
		}
	}
	return s, &articles
}

// TestAQuestionOfThePageIsAnswered holds the answer of a question to the deed that asked it: it is a
// part of it, and pressed once. Where nothing came of it no other class of deed presses it again.
func TestAQuestionOfThePageIsAnswered(t *testing.T) {
	for _, works := range []bool{true, false} {
		s, articles := stock(works)
		err := s.run(t, "Drop the rye flour.")
		if (err == nil) != works || works && len(*articles) != 2 || !works && len(*articles) != 3 {
			t.Errorf("works %v: left %v, error %v", works, *articles, err)
		}
		for _, ref := range []string{"click drop Rye flour", "click yes"} {
			if n := len(slices.DeleteFunc(slices.Clone(s.did), func(d string) bool { return d != ref })); n != 1 {
				t.Errorf("works %v: %q %d times", works, ref, n)
			}
		}
	}
}

func TestRunPressesOnlyWhatTheDeedIsCalled(t *testing.T) {
	button := func(name string) snapshot.Node { return node(-1, "button", "button", name) }
	field := func(name string) snapshot.Node {
		n := node(-1, "input", "textbox", name)
		n.Label = name
		return n
	}
	box := func(name string) snapshot.Node {
		return snapshot.Node{Parent: -1, Tag: "input", Type: "checkbox", Role: "checkbox", Name: name, Checked: "false", Interactive: true}
	}
	for _, c := range []struct {
		text  string
		nodes []snapshot.Node
		never string // what must not be done
	}{
		{"Apply the promo code GINO10", []snapshot.Node{field("Name"), button("Add to cart")}, "i"},
		{"Apply the promo code GINO10", []snapshot.Node{field("Promo code"), button("Add to cart")}, "click"},
		{`Rename "Dentist for Clara" to "Dentist for Ben"`, []snapshot.Node{box("Dentist for Clara"), box("Fix the swing")},
			"click input Dentist for Clara"},
		{"Order what is in the cart", []snapshot.Node{node(-1, "h2", "heading", "Cart"), button("+"), button("−")}, "click"},
		{"Log Nadia out", []snapshot.Node{node(-1, "a", "link", "Nadia"), button("Log the hours")}, "click button Log the hours"},
	} {
		s := &still{nodes: c.nodes}
		if err := runOn(t, s, c.text); err == nil {
			t.Errorf("%s: no error", c.text)
		}
		if slices.ContainsFunc(s.did, func(d string) bool { return strings.HasPrefix(d, c.never) }) {
			t.Errorf("%s: did %q", c.text, s.did)
		}
	}
}

// account is a page with the name of who is signed in, which opens a menu.
func account(entries ...string) *scene {
	open, in := false, true
	s := &scene{lang: "en"}
	s.nodes = func() []snapshot.Node {
		list := []snapshot.Node{{Ref: "h", Parent: -1, Tag: "h1", Role: "heading", Level: 1, Name: "Depot"}}
		if !in {
			return append(list, pressable("in", "button", "Log in"))
		}
		who := pressable("who", "button", "Nadia")
		who.Popup, who.Expanded = "menu", "false"
		list = append(list, who)
		if open {
			list[1].Expanded = "true"
			list = append(list, snapshot.Node{Ref: "menu", Parent: -1, Tag: "div", Role: "menu", Name: "Nadia"})
			for _, e := range entries {
				list = append(list, inside(2, pressable("entry "+e, "menuitem", e)))
			}
		}
		return list
	}
	s.on = func(tool, ref, _ string) {
		switch {
		case tool == step.PressKey:
			open = false
		case tool != step.Click:
		case ref == "who":
			open = !open
		case ref == "entry Log out":
			in = false
		}
	}
	return s
}

// TestAMenuSignsNobodyOut holds signing out to what is called so: a menu that opens is on the way.
func TestAMenuSignsNobodyOut(t *testing.T) {
	for _, c := range []struct {
		entries []string
		done    bool
	}{
		{[]string{"My profile", "Log out"}, true},
		{[]string{"My profile", "Help"}, false},
	} {
		s := account(c.entries...)
		if err := s.run(t, "Log Nadia out"); (err == nil) != c.done {
			t.Errorf("%v: error %v", c.entries, err)
		}
		if got := slices.Contains(s.did, "click entry Log out"); got != c.done {
			t.Errorf("%v: did %q", c.entries, s.did)
		}
	}
}

// runOn runs a text on a page.
func runOn(t *testing.T, page plan.Page, text string) error {
	t.Helper()
	_, err := plan.Run(t.Context(), plan.Config{Page: page, Intent: text, NoSuggestion: true, Trace: func(line string) { t.Log(line) }})
	t.Log(text, "|", err)
	return err
}

// TestWhatIsSelectedIsDoneAtOnce holds "archive them" after a selection to the one control for what is
// selected.
func TestWhatIsSelectedIsDoneAtOnce(t *testing.T) {
	mails, on := []string{"Parcel is damaged", "Parcel arrived", "News"}, map[string]bool{}
	s := &scene{lang: "en"}
	s.nodes = func() []snapshot.Node {
		list := []snapshot.Node{pressable("archive", "button", "Archive"), {Ref: "ul", Parent: -1, Tag: "ul", Role: "list"}}
		for _, m := range mails {
			li := len(list)
			list = append(list, snapshot.Node{Ref: "li " + m, Parent: 1, Tag: "li", Role: "listitem"}, inside(li, box("box "+m, "select "+m, on[m])),
				snapshot.Node{Ref: "t " + m, Parent: li, Tag: "span", Role: "text", Name: m})
		}
		return list
	}
	s.on = func(tool, ref, _ string) {
		if m, is := strings.CutPrefix(ref, "box "); is && tool == step.Click {
			on[m] = !on[m]
		}
		if ref == "archive" && tool == step.Click {
			mails = slices.DeleteFunc(slices.Clone(mails), func(m string) bool { return on[m] })
		}
	}
	err := s.run(t, "Select both parcels and archive them.")
	if pressed := slices.DeleteFunc(slices.Clone(s.did), func(d string) bool { return d != "click archive" }); err != nil ||
		len(mails) != 1 || len(pressed) != 1 {
		t.Errorf("left %q, did %q, error %v", mails, s.did, err)
	}
}

// TestOneOfTheKindBefore holds "the last one" to the kind that stands before it.
func TestOneOfTheKindBefore(t *testing.T) {
	s := &scene{lang: "en"}
	open := map[string]bool{}
	s.nodes = func() []snapshot.Node {
		list := []snapshot.Node{{Ref: "ul", Parent: -1, Tag: "ul", Role: "list"}}
		for _, q := range []string{"How do I pay?", "How do I cancel?", "How do I add a lamp?"} {
			li := len(list)
			list = append(list, snapshot.Node{Ref: "li " + q, Parent: 0, Tag: "li", Role: "listitem"}, inside(li, pressable("ask "+q, "button", q)))
			list[li+1].Expanded = map[bool]string{true: "true", false: "false"}[open[q]]
			if open[q] {
				list = append(list, snapshot.Node{Ref: "a " + q, Parent: li, Tag: "p", Role: "text", Name: "This is how: " + q})
			}
		}
		return append(list, pressable("last", "button", "Help"))
	}
	s.on = func(tool, ref, _ string) {
		if q, is := strings.CutPrefix(ref, "ask "); is && tool == step.Click {
			open[q] = !open[q]
		}
	}
	err := s.run(t, "Open the first question, then the last one.")
	if err != nil || !open["How do I pay?"] || !open["How do I add a lamp?"] || len(open) != 2 {
		t.Errorf("open %v, error %v", open, err)
	}
}

// Who is signed in is the one after whom the menu is called in which that is ended.
func TestSomebodyIsSignedOut(t *testing.T) {
	for text, want := range map[string]bool{"Log Nadia out": true, "Sign out Nadia.": true, "Log Bob out": false} {
		open, out := false, false
		s := &scene{lang: "en"}
		s.nodes = func() []snapshot.Node {
			list := []snapshot.Node{pressable("user", "button", "Nadia"),
				{Ref: "menu", Parent: -1, Tag: "div", Role: "menu", Opener: "user", Hidden: !open}}
			leave := inside(1, pressable("leave", "menuitem", "Log out"))
			leave.Hidden, leave.Opener = !open, "user"
			list = append(list, leave, pressable("bob", "link", "Bob"))
			if out {
				list = append(list, snapshot.Node{Ref: "p", Parent: -1, Tag: "p", Role: "status", Name: "You are signed out."})
			}
			return list
		}
		s.on = func(_, ref, _ string) {
			open = ref == "user"
			out = out || ref == "leave"
		}
		if err := s.run(t, text); out != want || (err == nil) != want {
			t.Errorf("%s: %v, %v", text, out, err)
		}
	}
}
