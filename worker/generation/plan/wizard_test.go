package plan_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/storage/step/playback"
	"github.com/slipway-qa/slipway/worker/generation/plan"
	"github.com/slipway-qa/slipway/worker/snapshot"
)

// wizard is a form of three pages whose tabs cannot be pressed: the first asks for one of three plans,
// and the second is not left without a name.
type wizard struct {
	at     int
	chosen string
}

var plans = [][2]string{{"Solo", "19.90 €"}, {"Duo", "29.90 €"}, {"Club", "39.90 €"}}

func (c *wizard) Snapshot(context.Context) (*snapshot.Snapshot, error) {
	s := &snapshot.Snapshot{URL: "http://page/", Title: "Join", Lang: "en", Quiet: true, Width: 1000, Height: 800}
	add := func(parent int, n snapshot.Node) int {
		n.Parent, n.Box = parent, [4]int{10, 30 * len(s.Nodes), 300, 24}
		s.Nodes = append(s.Nodes, n)
		return len(s.Nodes) - 1
	}
	text := func(parent int, tag, ref, words string) {
		add(parent, snapshot.Node{Ref: ref, Tag: tag, Role: "text", Name: words, Text: words})
	}
	list := add(-1, snapshot.Node{Ref: "tabs", Tag: "div", Role: "tablist"})
	for i, name := range []string{"Plan", "Person", "Summary"} {
		add(list, snapshot.Node{Ref: "tab " + name, Tag: "button", Role: "tab", Name: name, Text: name, Interactive: true,
			Disabled: i != c.at, Selected: fmt.Sprint(i == c.at)})
	}
	switch c.at {
	case 0:
		table := add(-1, snapshot.Node{Ref: "table", Tag: "table", Role: "table"})
		head := add(table, snapshot.Node{Ref: "head", Tag: "tr", Role: "row"})
		for k, name := range []string{"", "Plan", "A month"} {
			add(head, snapshot.Node{Ref: "head " + name, Tag: "th", Role: "columnheader", Name: name, Text: name, Column: k})
		}
		for _, p := range plans {
			row := add(table, snapshot.Node{Ref: "row " + p[0], Tag: "tr", Role: "row"})
			box := add(row, snapshot.Node{Ref: "box " + p[0], Tag: "td", Role: "cell"})
			add(box, snapshot.Node{Ref: "radio " + p[0], Tag: "input", Type: "radio", Role: "radio", Name: p[0],
				NameAttr: "plan", Value: p[0], Interactive: true, Checked: fmt.Sprint(c.chosen == p[0])})
			for k, cell := range p {
				add(row, snapshot.Node{Ref: p[0] + cell, Tag: "td", Role: "cell", Name: cell, Text: cell, Column: k + 1})
			}
		}
	case 1:
		text(-1, "p", "who", "Who are you?")
		add(-1, snapshot.Node{Ref: "name", Tag: "input", Role: "textbox", Name: "Name", Label: "Name", Interactive: true,
			Editable: true, HasValue: true})
	case 2:
		text(-1, "p", "end", "Thank you for your order")
	}
	add(-1, snapshot.Node{Ref: "next", Tag: "button", Role: "button", Name: "Next", Text: "Next", Interactive: true})
	return s, nil
}

func (c *wizard) Locate(_ context.Context, refs ...string) ([]snapshot.Located, error) {
	out := make([]snapshot.Located, len(refs))
	for i, ref := range refs {
		out[i].Selector = step.Selector{Type: step.TestID, Value: ref}
	}
	return out, nil
}

func (c *wizard) Do(_ context.Context, s step.Step) (playback.Record, error) {
	record := playback.Record{StepID: s.ID, Tool: s.Tool, Status: playback.Passed, Result: step.Outcome{Success: true}}
	if s.Tool.Args.Selector == nil {
		return record, nil
	}
	ref := s.Tool.Args.Selector.Value
	switch name, radio := strings.CutPrefix(ref, "radio "); {
	case radio:
		c.chosen = name
	case ref == "next" && c.at == 0:
		c.at = 1
	case strings.HasPrefix(ref, "tab "):
		record.Status = playback.Failed
	}
	return record, nil
}

// A page of a form whose tab cannot be pressed is reached by what leads on, and a thing with a button of a
// choice in it is chosen by that.
func TestRunGoesOnInAWizard(t *testing.T) {
	for _, c := range []struct {
		text, chosen string
		at           int
		done         bool
	}{
		{"Go to Person.", "", 1, true},
		{"Choose the cheapest plan and go to Person.", "Solo", 1, true},
		{"Choose the most expensive plan.", "Club", 0, true},
		{"Go to Summary.", "", 1, false},
	} {
		page := &wizard{}
		_, err := plan.Run(context.Background(), plan.Config{Page: page, Intent: c.text, NoSuggestion: true})
		if (err == nil) != c.done || page.chosen != c.chosen || c.done && page.at != c.at {
			t.Errorf("%s: chose %q, at %d, %v", c.text, page.chosen, page.at, err)
		}
	}
}

// Going on to a page of a form neither pays nor sends on the way, and nothing is tried where nothing is to
// be explored.
func TestRunPaysNotToGoOn(t *testing.T) {
	for _, c := range []struct {
		second, explore string
		done            bool
	}{
		{"Continue", "", true},
		{"Continue", plan.ExploreOff, false},
		{"Pay and continue", "", false},
		{"Continue and buy", "", false},
		{"Send and go to the next step", "", false},
	} {
		at, paid := 0, 0
		s := &scene{lang: "en"}
		pages := []string{"Address", "Payment", "Review"}
		s.nodes = func() []snapshot.Node {
			list := []snapshot.Node{{Ref: "tabs", Parent: -1, Tag: "div", Role: "tablist"}}
			for i, name := range pages {
				tab := pressable("tab "+name, "tab", name)
				tab.Parent, tab.Selected, tab.Disabled = 0, fmt.Sprint(i == at), i > at
				list = append(list, tab)
			}
			list = append(list, snapshot.Node{Ref: "heading", Parent: -1, Tag: "h2", Role: "heading", Name: pages[at], Level: 2},
				typable("field "+pages[at], "Field of "+pages[at], ""))
			return append(list, pressable("next", "button", []string{"Next", c.second, "Finish"}[at]))
		}
		s.on = func(_, ref, _ string) {
			if ref != "next" || at == 2 {
				return
			}
			if at++; at == 2 && c.second != "Continue" {
				paid++
			}
		}
		_, err := plan.Run(t.Context(), plan.Config{Page: s, Intent: "Open the Review tab.", NoSuggestion: true, Explore: c.explore})
		if (err == nil) != c.done || paid > 0 {
			t.Errorf("%q, explore %q: paid %d, %v, did %v", c.second, c.explore, paid, err, s.did)
		}
	}
}

// A form of several pages is filled in as it goes on, also where its first page asks for nothing that is
// said, and what leads on is no handing in.
func TestAdditionOnSeveralPages(t *testing.T) {
	for _, c := range []struct {
		text  string
		added string
		done  bool
	}{
		{"Sign up Lou Hart with lou@example.com, goal Strength.", "Lou/Hart/lou@example.com/Strength", true},
		{"Trage Lou Hart mit lou@example.com und dem Ziel Strength ein.", "Lou/Hart/lou@example.com/Strength", true},
		{"Sign up Lou Hart with lou@example.com, goal Flying.", "", false},
	} {
		t.Run(c.text, func(t *testing.T) {
			at, added := 0, ""
			held := map[string]string{"plan": "Basic", "goal": "Stamina"}
			s := &scene{lang: "en"}
			s.nodes = func() []snapshot.Node {
				list := []snapshot.Node{{Ref: "head", Parent: -1, Tag: "h1", Role: "heading", Level: 1, Name: "Become a member"},
					{Ref: "form", Parent: -1, Tag: "form", Role: "form"}}
				page := func(i int, nodes ...snapshot.Node) {
					div := len(list)
					list = append(list, snapshot.Node{Ref: fmt.Sprint("page", i), Parent: 1, Tag: "div", Hidden: i != at,
						Opener: map[bool]string{true: "tab"}[i != at]})
					for _, n := range nodes {
						n.Parent, n.Hidden, n.Opener = div, i != at, list[div].Opener
						list = append(list, n)
					}
				}
				choice := func(ref, name string, options ...string) snapshot.Node {
					n := snapshot.Node{Ref: ref, Tag: "select", Role: "combobox", Name: name, Label: name, Value: held[ref],
						Interactive: true, HasValue: true}
					for _, o := range options {
						n.Options = append(n.Options, snapshot.Option{Label: o, Value: o, Selected: o == held[ref]})
					}
					return n
				}
				page(0, choice("plan", "Plan", "Basic", "Full"), pressable("next0", "button", "Next"))
				page(1, typable("first", "First name", held["first"]), typable("last", "Last name", held["last"]),
					typable("mail", "E-mail", held["mail"]),
					choice("goal", "Goal", "Stamina", "Strength"), pressable("next1", "button", "Next"))
				page(2, pressable("sign", "button", "Sign up"))
				if added != "" {
					list = append(list, snapshot.Node{Ref: "done", Parent: -1, Tag: "p", Role: "status", Live: true,
						Name: "Welcome, Lou!", Text: "Welcome, Lou!"})
				}
				return list
			}
			s.on = func(tool, ref, text string) {
				switch {
				case strings.HasPrefix(ref, "next") && tool == "click":
					at++
				case ref == "sign" && tool == "click":
					added = strings.Join([]string{held["first"], held["last"], held["mail"], held["goal"]}, "/")
				case tool == "input_text":
					held[ref] = text
				case tool == "select":
					held[ref] = text
				}
			}
			err := s.run(t, c.text)
			if added != c.added || (err == nil) != c.done {
				t.Errorf("%q was added: %v", added, err)
			}
		})
	}
}

// A page that only says something has not gone on, whether or not the message is known to say no.
func TestAPageThatStaysHasNotGoneOn(t *testing.T) {
	for _, text := range []string{"Continue.", "Continue; the page shows Name."} {
		says := ""
		s := &scene{lang: "en"}
		s.nodes = func() []snapshot.Node {
			list := []snapshot.Node{{Ref: "form", Parent: -1, Tag: "form", Role: "form"}, typable("name", "Name", ""),
				{Ref: "says", Tag: "p", Role: "alert", Live: true, Name: says, Text: says}, pressable("next", "button", "Next")}
			for i := range list[1:] {
				list[i+1].Parent = 0
			}
			return list
		}
		s.on = func(_, ref, _ string) {
			if ref == "next" {
				says = "We need a name."
			}
		}
		if err := s.run(t, text); err == nil {
			t.Errorf("%s: done, and the page stayed", text)
		}
	}
}

// Who only asks to go on is done where the next page of a form is seen, or it refuses, however many pages follow
// before it is handed in.
func TestGoesOnAndNoFurther(t *testing.T) {
	for _, c := range []struct {
		text, name string
		at         int
		says       bool
	}{
		{`Try to continue without filling in anything: "We need a name." has to be shown.`, "", 0, true},
		{"Enter Ann as the name and continue.", "Ann", 1, false},
		{"Gib Ann als Name ein und fahre fort.", "Ann", 1, false},
		{"Escribe Ann como nombre y continúa.", "Ann", 1, false},
	} {
		t.Run(c.text, func(t *testing.T) {
			at, name, says, ordered := 0, "", "", false
			s := &scene{lang: "en"}
			s.nodes = func() []snapshot.Node {
				list := []snapshot.Node{{Ref: "form", Parent: -1, Tag: "form", Role: "form"}}
				add := func(n snapshot.Node) {
					n.Parent = 0
					list = append(list, n)
				}
				if at == 0 {
					add(typable("name", "Name", name))
				} else {
					add(snapshot.Node{Ref: "how", Tag: "p", Role: "text", Name: "You pay at the door.", Text: "You pay at the door."})
				}
				add(snapshot.Node{Ref: "says", Tag: "p", Role: "alert", Live: true, Name: says, Text: says})
				next, order := pressable("next", "button", "Next"), pressable("order", "button", "Order now")
				order.Hidden = true // it is for the last page
				add(next)
				add(order)
				return list
			}
			s.on = func(tool, ref, text string) {
				switch {
				case tool == "input_text":
					name = text
				case ref == "order":
					ordered = true
				case ref == "next" && at == 0 && name == "":
					says = "We need a name."
				case ref == "next":
					at, says = at+1, ""
				}
			}
			err := s.run(t, c.text)
			if err != nil || ordered || at != c.at || name != c.name || (says != "") != c.says {
				t.Errorf("at %d with %q, ordered %v, it says %q: %v", at, name, ordered, says, err)
			}
		})
	}
}
