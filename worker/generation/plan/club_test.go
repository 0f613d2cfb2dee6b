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
	row("head", true, "Name", "Town", "Age")
	members := [][]string{{"Mona", "Leeds", "34"}, {"Otto", "Cork", "61"}, {"Rita", "Cork", "23"}}
	if c.order != 0 {
		slices.SortFunc(members, func(a, b []string) int { return c.order * strings.Compare(a[2], b[2]) })
	}
	shown := 0
	for _, m := range members {
		if !strings.Contains(strings.Join(m, " "), c.search) || c.size == "2" && shown == 2 {
			continue
		}
		shown++
		row(m[0], false, m...)
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
	if c.asked {
		list = append(list, snapshot.Node{Ref: "says", Parent: -1, Tag: "p", Role: "text", Name: "A full name is needed."})
	}
	return list
}

func (c *club) do(tool, ref, text string) {
	switch {
	case tool == step.InputText:
		*map[string]*string{"query": &c.search, "name": &c.name, "page": &c.page}[ref] = text
	case tool == step.Click && ref == "head-2":
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
	page.name = "Ann"
	if err := page.run(t, "Press Next step without a full name."); err == nil {
		t.Errorf("a name that is there is no name: %v", page.did)
	}
}
