package plan_test

import (
	"strings"
	"testing"

	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/worker/generation/plan"
	"github.com/slipway-qa/slipway/worker/snapshot"
)

// TestTheMostOfAPartOfAListIsNotTaken holds a deed on the greatest of a list to a list that is seen whole.
func TestTheMostOfAPartOfAListIsNotTaken(t *testing.T) {
	for _, paged := range []bool{false, true} {
		archived := ""
		s := &scene{lang: "en", nodes: func() []snapshot.Node {
			list := prices("row")
			for i, name := range []string{"Cake", "Bread", "Buns"} {
				row, y := len(list), 60+30*i
				list = append(list, snapshot.Node{Ref: "row " + name, Parent: 0, Tag: "tr", Role: "row", Box: [4]int{10, y, 400, 20}},
					snapshot.Node{Ref: "name " + name, Parent: row, Tag: "td", Role: "cell", Name: name, Box: [4]int{10, y, 150, 20}},
					snapshot.Node{Ref: "price " + name, Parent: row, Tag: "td", Role: "cell", Name: []string{"5", "9", "7"}[i],
						Box: [4]int{160, y, 150, 20}})
				if name != archived {
					button := inside(row, pressable("archive "+name, "button", "Archive"))
					button.Box = [4]int{320, y, 60, 20}
					list = append(list, button)
				}
			}
			if archived != "" {
				list = append(list, node(-1, "p", "text", archived+" is archived."))
			}
			if paged {
				pager := len(list)
				list = append(list, snapshot.Node{Ref: "pager", Parent: -1, Tag: "nav", Role: "navigation", Name: "Pages", Class: "pagination"})
				for _, name := range []string{"previous", "1", "2", "next"} {
					list = append(list, inside(pager, pressable(name, "button", name)))
				}
			}
			return list
		}, on: func(tool, ref, _ string) {
			if name, ok := strings.CutPrefix(ref, "archive "); ok && tool == step.Click {
				archived = name
			}
		}}
		_, err := plan.Run(t.Context(), plan.Config{Page: s, Intent: "Archive the most expensive one", NoSuggestion: true})
		if want := map[bool]string{false: "Bread"}[paged]; archived != want || (err == nil) == paged {
			t.Errorf("paged %v: archived %q: %v", paged, archived, err)
		}
	}
}

// A word for how a thing is that no thing of a list shows is met by a box of the page that shows only such things.
func TestAFilterSaysHowThingsAre(t *testing.T) {
	for _, c := range []struct{ lang, text, box, want string }{
		{"en", "Archive the cheapest vacant room", "Only vacant rooms", "Garden"},
		{"de", "Archiviere das billigste freie Zimmer", "Nur freie Zimmer", "Garden"},
		{"en", "Archive the cheapest vacant room", "Hide vacant rooms", ""},
		{"en", "Archive the cheapest vacant room", "Show prices", ""},
		{"en", "Archive the cheapest vacant room", "Filter out vacant rooms", ""},
		{"en", "Archive the cheapest vacant room", "Only rooms that are not vacant", ""},
		{"de", "Archiviere das billigste freie Zimmer", "Nur Zimmer ohne freie Betten", ""},
	} {
		archived, narrowed := "", false
		s := &scene{lang: c.lang, nodes: func() []snapshot.Node {
			list := []snapshot.Node{box("box", c.box, narrowed), {Ref: "ul", Parent: -1, Tag: "ul", Role: "list"}}
			for i, name := range []string{"Attic", "Garden", "Tower", "Cellar"} {
				if name == archived || narrowed && (i == 0 || i == 3) {
					continue
				}
				li := len(list)
				list = append(list, snapshot.Node{Ref: "li " + name, Parent: 1, Tag: "li", Role: "listitem"},
					snapshot.Node{Ref: "t " + name, Parent: li, Tag: "span", Role: "text", Name: name},
					snapshot.Node{Ref: "p " + name, Parent: li, Tag: "span", Role: "text", Name: []string{"49 €", "62 €", "189 €", "51 €"}[i]},
					inside(li, pressable("archive "+name, "button", map[string]string{"en": "Archive", "de": "Archivieren"}[c.lang])))
			}
			return list
		}}
		s.on = func(tool, ref, _ string) {
			switch name, ok := strings.CutPrefix(ref, "archive "); {
			case ok:
				archived = name
			case ref == "box" && tool == step.Click:
				narrowed = !narrowed
			}
		}
		if err := s.run(t, c.text); archived != c.want || (err == nil) != (c.want != "") {
			t.Errorf("%s, %s: archived %q, %v", c.text, c.box, archived, err)
		}
	}
}
