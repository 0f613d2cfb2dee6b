package plan_test

import (
	"fmt"
	"testing"

	"github.com/slipway-qa/slipway/worker/snapshot"
)

// rooms is a page that lists hotels of a town and a day after a search, and offers towns for what is
// typed.
type rooms struct {
	scene
	town, day string
	offered   []string
	listed    bool
	reserved  bool
}

func newRooms(offered ...string) *rooms {
	r := &rooms{offered: offered}
	r.lang = "en"
	r.nodes = func() []snapshot.Node {
		list := []snapshot.Node{{Ref: "form", Parent: -1, Tag: "form", Role: "form", Box: [4]int{0, 0, 400, 300}},
			{Ref: "h", Parent: 0, Tag: "h1", Role: "heading", Level: 1, Name: "Find hotels"}}
		field := func(ref, name, value string) {
			list = append(list, snapshot.Node{Ref: ref, Parent: 0, Tag: "input", Type: "text", Role: "textbox", Name: name,
				Label: name, Value: value, HasValue: true, Editable: true, Interactive: true})
		}
		field("town", "To", r.town)
		field("day", "Date", r.day)
		for _, name := range []string{"Book now", "Search"} {
			list = append(list, snapshot.Node{Ref: name, Parent: 0, Tag: "button", Role: "button", Name: name, Interactive: true})
		}
		if r.town == "Rome" && !r.listed {
			ul := len(list)
			list = append(list, snapshot.Node{Ref: "ul", Parent: -1, Tag: "ul", Role: "listbox", Layer: "absolute"})
			for _, o := range r.offered {
				list = append(list, snapshot.Node{Ref: "offer " + o, Parent: ul, Tag: "li", Role: "option", Name: o, Interactive: true})
			}
		}
		if r.listed {
			for i, price := range []int{90, 40, 65} {
				row := len(list)
				list = append(list, snapshot.Node{Ref: fmt.Sprint("row", i), Parent: -1, Tag: "article", Role: "article"},
					snapshot.Node{Ref: fmt.Sprint("name", i), Parent: row, Tag: "h2", Role: "text", Name: []string{"Astor", "Bristol", "Carlton"}[i]},
					snapshot.Node{Ref: fmt.Sprint("book", i), Parent: row, Tag: "button", Role: "button",
						Name: fmt.Sprintf("Book for $%d", price), Interactive: true})
			}
		}
		if r.reserved {
			list = append(list, snapshot.Node{Ref: "thanks", Parent: -1, Tag: "p", Role: "text", Name: "Your hotel is reserved."})
		}
		return list
	}
	r.on = func(tool, ref, text string) {
		switch {
		case tool == "input_text" && ref == "town":
			r.town = text
		case tool == "input_text" && ref == "day":
			r.day = text
		case tool == "click" && ref == "Search":
			r.listed = r.town == "Rome, IT" && r.day != ""
		case tool == "click" && len(ref) > 6 && ref[:6] == "offer ":
			r.town = ref[6:]
		case tool == "click" && len(ref) == 5 && ref[:4] == "book":
			r.reserved = true
		}
	}
	return r
}

// What is picked by an extreme is searched for by what the text says of it, and nothing is reserved
// where the search found nothing.
func TestQuery(t *testing.T) {
	for _, c := range []struct {
		text   string
		offers []string
		want   string
	}{
		{"Book the cheapest hotel to: Rome date: 12/05/2031", []string{"Rome, IT", "Oslo, NO"}, "click book1"},
		{"Book the cheapest hotel to: Rome date: 12/05/2031", []string{"Rome, IT", "Rome, US"}, ""},
		{"Book the cheapest hotel to: Oslo date: 12/05/2031", nil, ""},
		{"Book the cheapest hotel to: Rome colour: blue", nil, ""},
	} {
		r := newRooms(c.offers...)
		err := r.run(t, c.text)
		reserved := ""
		for _, did := range r.did {
			if did == "click Book now" || len(did) > 10 && did[:10] == "click book" {
				reserved = did
			}
		}
		if reserved != c.want || (err == nil) != (c.want != "") {
			t.Errorf("%s: %v, %v", c.text, r.did, err)
		}
	}
}
