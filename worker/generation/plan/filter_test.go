package plan_test

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/worker/snapshot"
)

// cookery is a page of dishes with a form for new ones: a box that is called as a property of a dish is
// in its form, or narrows the list.
func cookery(narrows bool) (*scene, *[]string) {
	dishes := []string{"Goulash", "Lentils (vegetarian)", "Roast"}
	title, on := "", false
	s := &scene{lang: "en"}
	s.nodes = func() []snapshot.Node {
		list := []snapshot.Node{{Ref: "ul", Parent: -1, Tag: "ul", Role: "list"}}
		for _, d := range dishes {
			if narrows && on && !strings.HasSuffix(d, "(vegetarian)") {
				continue
			}
			li := len(list)
			list = append(list, snapshot.Node{Ref: "li " + d, Tag: "li", Role: "listitem"}, snapshot.Node{Ref: "t " + d,
				Parent: li, Tag: "span", Role: "text", Name: d})
		}
		return append(list, typable("title", "Dish", title), box("veg", "Vegetarian", on), pressable("add", "button", "Add"))
	}
	s.on = func(tool, ref, text string) {
		switch {
		case tool == step.InputText:
			title = text
		case tool == step.Click && ref == "veg":
			on = !on
		case tool == step.Click && ref == "add" && title != "":
			if on && !narrows {
				title += " (vegetarian)"
			}
			dishes, title = append(slices.Clone(dishes), title), ""
		}
	}
	return s, &dishes
}

func TestAFilterTakesNoValueOfAnAddition(t *testing.T) {
	for _, narrows := range []bool{true, false} {
		t.Run(fmt.Sprint(narrows), func(t *testing.T) {
			s, dishes := cookery(narrows)
			err := s.run(t, `Add the dish "Pie", vegetarian`)
			want := "Goulash,Lentils (vegetarian),Roast"
			if !narrows {
				want += ",Pie (vegetarian)"
			}
			if got := strings.Join(*dishes, ","); got != want || (err != nil) != narrows {
				t.Errorf("dishes %q, want %q, error %v", got, want, err)
			}
		})
	}
}

// TestWhereAnAdditionGoesIsChosen holds "in the section Plants" to the choice of that name.
func TestWhereAnAdditionGoesIsChosen(t *testing.T) {
	section, title := "Birds", ""
	var made []string
	s := &scene{lang: "en"}
	s.nodes = func() []snapshot.Node {
		choice := snapshot.Node{Ref: "section", Parent: -1, Tag: "select", Role: "combobox", Name: "Section", Label: "Section",
			Value: section, HasValue: true, Interactive: true}
		for _, o := range []string{"Birds", "Plants"} {
			choice.Options = append(choice.Options, snapshot.Option{Label: o, Value: o, Selected: o == section})
		}
		list := []snapshot.Node{typable("title", "Title", title), choice, pressable("add", "button", "Add note"),
			{Ref: "ul", Parent: -1, Tag: "ul", Role: "list"}}
		ul := len(list) - 1
		for _, d := range append([]string{"Storks", "Geese"}, made...) {
			li := len(list)
			list = append(list, snapshot.Node{Ref: "li " + d, Parent: ul, Tag: "li", Role: "listitem"},
				snapshot.Node{Ref: "t " + d, Parent: li, Tag: "span", Role: "text", Name: d})
		}
		return list
	}
	s.on = func(tool, ref, text string) {
		switch {
		case tool == step.InputText:
			title = text
		case tool == step.Select:
			section = "Plants"
		case tool == step.Click && ref == "add":
			made, title = append(made, title+" in "+section), ""
		}
	}
	if err := s.run(t, `Add a note "Snowdrops" in the section Plants`); err != nil || strings.Join(made, ",") != "Snowdrops in Plants" {
		t.Errorf("made %q, error %v", made, err)
	}
}

// TestASearchGoesIntoNoFormForNewThings holds the text of a search to the field of a search.
func TestASearchGoesIntoNoFormForNewThings(t *testing.T) {
	for _, searches := range []bool{true, false} {
		typed := map[string]string{}
		s := &scene{lang: "en"}
		s.nodes = func() []snapshot.Node {
			list := []snapshot.Node{typable("new", "New task", typed["new"]), {Ref: "ul", Parent: -1, Tag: "ul", Role: "list"}}
			for _, d := range []string{"Walk the dog", "Wash the car", "Feed the cat"} {
				if q := typed["find"]; !strings.Contains(d, q) {
					continue
				}
				li := len(list)
				list = append(list, snapshot.Node{Ref: "li " + d, Parent: 1, Tag: "li", Role: "listitem"},
					snapshot.Node{Ref: "t " + d, Parent: li, Tag: "span", Role: "text", Name: d})
			}
			if searches {
				list = append(list, typable("find", "Search tasks", typed["find"]))
			}
			return list
		}
		s.on = func(tool, ref, text string) {
			if tool == step.InputText {
				typed[ref] = text
			}
		}
		if err := s.run(t, "Search for dog"); searches && err != nil || typed["new"] != "" || typed["find"] != "" != searches {
			t.Errorf("searches %v: typed %q, error %v", searches, typed, err)
		}
	}
}

// TestTheColumnOfAnAdditionIsChosen holds an addition to a column of a board to the choice of the form that has the
// columns, and refuses it where the form puts it into another one.
func TestTheColumnOfAnAdditionIsChosen(t *testing.T) {
	for _, offers := range []bool{true, false} {
		lane, title := "Backlog", ""
		cards := map[string][]string{"Backlog": {"Guest form", "Old cart"}, "In progress": {"Coupon codes", "Address check"}}
		s := &scene{lang: "en"}
		s.nodes = func() []snapshot.Node {
			list := []snapshot.Node{{Ref: "board", Parent: -1, Tag: "div", Box: [4]int{10, 10, 500, 300}}}
			for i, name := range []string{"Backlog", "In progress"} {
				x, column := 10+250*i, len(list)
				list = append(list, snapshot.Node{Ref: "column " + name, Tag: "section", Box: [4]int{x, 10, 240, 300}},
					snapshot.Node{Ref: "h " + name, Parent: column, Tag: "h2", Role: "heading", Level: 2, Name: name, Box: [4]int{x, 10, 240, 20}})
				for k, card := range cards[name] {
					at := len(list)
					list = append(list, snapshot.Node{Ref: "card " + card, Parent: column, Tag: "article", Role: "article",
						Box: [4]int{x, 40 + 50*k, 240, 40}}, snapshot.Node{Ref: "t " + card, Parent: at, Tag: "span", Role: "text", Name: card,
						Box: [4]int{x, 40 + 50*k, 240, 20}})
				}
			}
			form := len(list)
			list = append(list, snapshot.Node{Ref: "form", Parent: -1, Tag: "form", Box: [4]int{10, 400, 500, 100}},
				inside(form, typable("title", "What has to be done", title)))
			if offers {
				choice := snapshot.Node{Ref: "lane", Parent: form, Tag: "select", Role: "combobox", Name: "Lane", Label: "Lane",
					Value: lane, HasValue: true, Interactive: true}
				for _, o := range []string{"Backlog", "In progress"} {
					choice.Options = append(choice.Options, snapshot.Option{Label: o, Value: o, Selected: o == lane})
				}
				list = append(list, choice)
			}
			return append(list, inside(form, pressable("add", "button", "Add card")))
		}
		s.on = func(tool, ref, text string) {
			switch {
			case tool == step.InputText:
				title = text
			case tool == step.Select:
				lane = text
			case tool == step.Click && ref == "add" && title != "":
				cards[lane], title = append(slices.Clone(cards[lane]), title), ""
			}
		}
		err := s.run(t, `Add a card "Load test" to In progress`)
		if done := slices.Contains(cards["In progress"], "Load test"); done != offers || (err == nil) != offers {
			t.Errorf("offers %v: %v, %v", offers, cards, err)
		}
	}
}

// TestBoxesHideWhatTheyShow holds "hide" to the ticked boxes of that name, whatever else is called so.
func TestBoxesHideWhatTheyShow(t *testing.T) {
	for _, c := range []struct{ lang, text, left string }{
		{"en", "Hide the rooms Amber and Birch. Only Yoga and Board should be left in the calendar.", "Cedar"},
		{"de", "Blende Amber und Birch aus.", "Cedar"},
		{"fr", "Masque Birch.", "Amber,Cedar"},
		{"en", "Hide Dunlin.", ""},
	} {
		on := map[string]bool{"Amber": true, "Birch": true, "Cedar": true}
		s := &scene{lang: "en"}
		s.nodes = func() []snapshot.Node {
			list := []snapshot.Node{{Ref: "h", Parent: -1, Tag: "h2", Role: "heading", Level: 2, Name: "Rooms"}}
			for _, room := range []string{"Amber", "Birch", "Cedar"} {
				list = append(list, box(room, room, on[room]))
			}
			ul := len(list)
			list = append(list, snapshot.Node{Ref: "ul", Parent: -1, Tag: "ul", Role: "list"})
			for _, event := range []string{"Retro (Amber)", "Review (Amber)", "Interview (Birch)", "Yoga (Cedar)", "Board (Cedar)"} {
				if _, room, _ := strings.Cut(strings.Trim(event, ")"), "("); on[room] {
					li := len(list)
					list = append(list, snapshot.Node{Ref: "li " + event, Parent: ul, Tag: "li", Role: "listitem"},
						snapshot.Node{Ref: "t " + event, Parent: li, Tag: "span", Role: "text", Name: event})
				}
			}
			return list
		}
		s.on = func(tool, ref, _ string) {
			if _, is := on[ref]; is && tool == step.Click {
				on[ref] = !on[ref]
			}
		}
		err := s.run(t, c.text)
		var left []string
		for _, room := range []string{"Amber", "Birch", "Cedar"} {
			if on[room] {
				left = append(left, room)
			}
		}
		if want := cmp.Or(c.left, "Amber,Birch,Cedar"); strings.Join(left, ",") != want || (err == nil) != (c.left != "") {
			t.Errorf("%s: %v and not %s, %v", c.text, left, want, err)
		}
	}
}

// TestAnEntryOfAMenuIsChosen holds what is chosen in a menu to an entry of a closed one, where a row shows the word too.
func TestAnEntryOfAMenuIsChosen(t *testing.T) {
	for _, text := range []string{"Choose the Cork office in the menu", "Wähle Cork im Menü", "Choisis Cork dans le menu"} {
		chosen, open := "", false
		s := &scene{lang: "en"}
		s.nodes = func() []snapshot.Node {
			opener := pressable("offices", "button", "Office")
			opener.Expanded = fmt.Sprint(open)
			list := []snapshot.Node{opener, {Ref: "menu", Parent: -1, Tag: "ul", Role: "list", Hidden: !open, Opener: "offices"}}
			for _, name := range []string{"Leeds", "Cork"} {
				link := inside(1, pressable("go "+name, "link", name))
				link.Hidden, link.Opener = !open, "offices"
				list = append(list, link)
			}
			rows := prices("row", "Sofia|Cork", "Olga|Leeds")
			for i := range rows {
				if rows[i].Parent >= 0 {
					rows[i].Parent += len(list)
				}
			}
			return append(append(list, rows...), node(-1, "p", "text", "Office "+chosen))
		}
		s.on = func(tool, ref, _ string) {
			name, entry := strings.CutPrefix(ref, "go ")
			switch {
			case tool != step.Click:
			case ref == "offices":
				open = !open
			case entry && open:
				chosen, open = name, false
			}
		}
		if err := s.run(t, text); err != nil || chosen != "Cork" {
			t.Errorf("%s: chosen %q, %v", text, chosen, err)
		}
	}
}
