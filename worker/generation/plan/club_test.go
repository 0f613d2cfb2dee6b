package plan_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/worker/snapshot"
)

// club is a page of members that is searched, sorted by its header and shown in pages of some rows, with
// a form beside it.
type club struct {
	scene
	search, name, size string
	page               string
	open               bool
	order              int // 1 from the least, -1 from the greatest
	remind             bool
	asked              bool
	// paged: below the list stand its pages. One of them only is sorted where inPage is set.
	paged, inPage bool
	sorts         bool // a button sorts by age
	at            int  // the page that is seen, from 0
	gone, paid    []string
}

func newClub() *club {
	c := &club{size: "2", page: "1", remind: true}
	c.lang = "en"
	c.nodes, c.on = c.draw, c.do
	return c
}

func (c *club) draw() []snapshot.Node {
	list := []snapshot.Node{{Ref: "query", Parent: -1, Tag: "input", Type: "search", Role: "searchbox", Name: "Search members",
		Label: "Search members", Value: c.search, Interactive: true, Editable: true, HasValue: true},
		{Ref: "table", Parent: -1, Tag: "table", Role: "table"}}
	row := func(ref string, header bool, cells ...string) {
		at := len(list)
		list = append(list, snapshot.Node{Ref: ref, Parent: 1, Tag: "tr", Role: "row", Name: strings.Join(cells, " ")})
		for i, text := range cells {
			n := snapshot.Node{Ref: fmt.Sprint(ref, "-", i), Parent: at, Tag: "td", Role: "cell", Name: text, Text: text}
			if header {
				n.Tag, n.Role, n.Interactive = "th", "columnheader", true
			}
			list = append(list, n)
		}
	}
	row("head", true, "Name", "Town", "Age", "Fee", "")
	for _, m := range c.seen() {
		fee := "due"
		if slices.Contains(c.paid, m[0]) {
			fee = "paid"
		}
		row(m[0], false, append(m, fee)...)
		cell := len(list)
		list = append(list, snapshot.Node{Ref: m[0] + "-deeds", Parent: len(list) - 5, Tag: "td", Role: "cell"},
			pressable("expel "+m[0], "button", "Expel"), pressable("cash "+m[0], "button", "Collect the fee"))
		list[cell+1].Parent, list[cell+2].Parent = cell, cell
	}
	if c.paged && c.search == "" {
		pager := len(list)
		list = append(list, snapshot.Node{Ref: "pager", Parent: -1, Tag: "nav", Role: "navigation", Name: "Pages", Class: "pagination"})
		for i := range 2 {
			number := inside(pager, pressable(fmt.Sprint("to ", i), "button", fmt.Sprint(i+1)))
			number.Selected = fmt.Sprint(i == c.at)
			list = append(list, number)
		}
		list = append(list, inside(pager, pressable("to 1 next", "button", "Next page")))
	}
	list = append(list, typable("page", "Page number", c.page),
		snapshot.Node{Ref: "size", Parent: -1, Tag: "div", Role: "combobox", Name: "Rows per page", Label: "Rows per page",
			Value: c.size, HasValue: true, Interactive: true, Expanded: fmt.Sprint(c.open)})
	if c.open {
		at := len(list)
		list = append(list, snapshot.Node{Ref: "sizes", Parent: -1, Tag: "div", Role: "listbox", Layer: "absolute"})
		for _, size := range []string{"2", "20"} {
			list = append(list, snapshot.Node{Ref: "size " + size, Parent: at, Tag: "div", Role: "option", Name: size, Interactive: true})
		}
	}
	list = append(list, typable("name", "Full name", c.name), box("remind", "Reminder by mail", c.remind),
		pressable("next", "button", "Next step"))
	if c.sorts {
		list = append(list, pressable("sort", "button", "Sort"))
	}
	if c.asked {
		list = append(list, snapshot.Node{Ref: "says", Parent: -1, Tag: "p", Role: "text", Name: "A full name is needed."})
	}
	return list
}

// seen are the members of the page that is seen.
func (c *club) seen() [][]string {
	members := [][]string{{"Mona", "Leeds", "34"}, {"Otto", "Cork", "61"}, {"Rita", "Cork", "23"}}
	members = slices.DeleteFunc(members, func(m []string) bool {
		return slices.Contains(c.gone, m[0]) || !strings.Contains(strings.Join(m, " "), c.search)
	})
	sort := func(list [][]string) {
		if c.order != 0 {
			slices.SortFunc(list, func(a, b []string) int { return c.order * strings.Compare(a[2], b[2]) })
		}
	}
	if !c.inPage {
		sort(members)
	}
	if c.size == "2" {
		members = members[min(2*c.at, len(members)):min(2*c.at+2, len(members))]
	}
	sort(members)
	return members
}

func (c *club) do(tool, ref, text string) {
	kind, of, _ := strings.Cut(ref, " ")
	switch {
	case tool == step.Click && kind == "expel":
		c.gone = append(c.gone, of)
	case tool == step.Click && kind == "cash":
		c.paid, c.at = append(c.paid, of), 0
	case tool == step.Click && kind == "to":
		c.at = int(of[0] - '0')
	case tool == step.InputText:
		*map[string]*string{"query": &c.search, "name": &c.name, "page": &c.page}[ref] = text
	case tool == step.Click && (ref == "head-2" || ref == "sort"):
		if c.order = -c.order; c.order == 0 {
			c.order = 1
		}
	case tool == step.Click && ref == "size":
		c.open = !c.open
	case tool == step.Click && strings.HasPrefix(ref, "size "):
		c.size, c.open = ref[5:], false
	case tool == step.Click && ref == "remind":
		c.remind = !c.remind
	case tool == step.Click && ref == "next":
		c.asked = c.name == ""
	}
}

func TestWhatAListIsToShow(t *testing.T) {
	for _, c := range []struct {
		text string
		so   func(*club) bool
	}{
		{"Search for Cork: Rita should be listed.", func(c *club) bool { return c.search == "Cork" }},
		{"Busca Cork y comprueba que Rita aparece.", func(c *club) bool { return c.search == "Cork" }},
		{"Sort by age. The first row is Otto.", func(c *club) bool { return c.order == -1 }},
		{"Sort by age. The first row is Rita.", func(c *club) bool { return c.order == 1 }},
		{"Sortiere nach Age, sodass Otto in der ersten Zeile steht.", func(c *club) bool { return c.order == -1 }},
		{"Show 20 rows per page", func(c *club) bool { return c.size == "20" && c.page == "1" }},
		{"Zeige 20 Zeilen pro Seite", func(c *club) bool { return c.size == "20" && c.page == "1" }},
		{"Remove the reminder by mail", func(c *club) bool { return !c.remind }},
		{"Press Next step without a full name. The page should show \"A full name is needed.\"", func(c *club) bool { return c.asked }},
	} {
		page := newClub()
		if err := page.run(t, c.text); err != nil || !c.so(page) {
			t.Errorf("%s: %v, %v", c.text, page.did, err)
		}
	}
	page := newClub()
	page.size = "20"
	if err := page.run(t, "Search for Cork and expel the one that belongs to Rita."); err != nil || !slices.Equal(page.gone, []string{"Rita"}) {
		t.Errorf("one of those that are found is meant: %v, %v", page.did, err)
	}
	for text, done := range map[string]bool{
		"Sort the members.": true, "Order the table.": true,
		"Order 30 of the members that are nearly due.": false, "Order Rita.": false, "Sort the first member.": false,
	} {
		page := newClub()
		page.size, page.sorts = "20", true
		if err := page.run(t, text); (err == nil) != done || (page.order != 0) != done {
			t.Errorf("%s: a list is sorted %v, want %v: %v, %v", text, page.order != 0, done, page.did, err)
		}
	}
	page = newClub()
	page.name = "Ann"
	if err := page.run(t, "Press Next step without a full name."); err == nil {
		t.Errorf("a name that is there is no name: %v", page.did)
	}
}

func TestWhoIsMeantOfAListOfSeveralPages(t *testing.T) {
	for _, c := range []struct {
		text   string
		inPage bool
		want   string // who is gone, and who has paid
	}{
		{text: "Search for Cork, then expel the youngest of them.", want: "Rita|"},
		{text: "Suche nach Cork und schließe den Ältesten von ihnen aus.", want: "Otto|"},
		{text: "Expel the youngest one.", want: "Rita|"}, // who is on the other page before
		{text: "Expel the youngest one.", inPage: true, want: "|"},
		{text: "Sort by age and expel the youngest one.", want: "Rita|"},
		{text: "Sort by age and expel the oldest one.", want: "|"},
		{text: "Sort by age and expel the youngest one.", inPage: true, want: "|"},
		{text: "Go to page 2. Collect the fee of Rita. Her fee should be paid.", want: "|Rita"},
	} {
		page := newClub()
		page.paged, page.inPage = true, c.inPage
		err := page.run(t, c.text)
		if got := strings.Join(page.gone, ",") + "|" + strings.Join(page.paid, ","); got != c.want || (err == nil) != (c.want != "|") {
			t.Errorf("%s (in the page only: %v): %s and not %s, %v", c.text, c.inPage, got, c.want, err)
		}
	}
}
