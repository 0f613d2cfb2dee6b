package page

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/worker/generation/page/shape"
	"github.com/slipway-qa/slipway/worker/snapshot"
)

// draw returns the snapshot of a page that is drawn as indented lines:
//
//	tag.class role "text" @left,top,width,height key=value...
//
// A line without a role and with a text and no lines in it is a text of its tag. Without a place
// each line stands below the one before it.
func draw(text string) *snapshot.Snapshot {
	s := &snapshot.Snapshot{URL: "http://x/", Lang: "en", Width: 1280, Height: 757}
	lines := strings.Split(strings.Trim(text, "\n"), "\n")
	depth := func(line string) int { return len(line) - len(strings.TrimLeft(line, "\t")) }
	base := depth(lines[0])
	var open []int
	for k, line := range lines {
		if strings.TrimSpace(line) == "" {
			continue
		}
		d := depth(line) - base
		open = open[:min(d, len(open))]
		n := drawnNode(strings.TrimSpace(line), k)
		n.Ref, n.Parent, n.InView = fmt.Sprint("e", k), -1, true
		if d > 0 {
			n.Parent = open[d-1]
		}
		inner := k+1 < len(lines) && depth(lines[k+1])-base > d
		if n.Role == "" && n.Name != "" && !inner && n.Reacts == "" {
			n.Role, n.Text = "text", ""
		}
		open = append(open, len(s.Nodes))
		s.Nodes = append(s.Nodes, n)
	}
	return s
}

func drawnNode(line string, k int) snapshot.Node {
	n := snapshot.Node{Box: [4]int{20, 30 * k, 400, 24}, Size: 14}
	before, after, quoted := strings.Cut(line, `"`)
	if quoted {
		n.Name, after, _ = strings.Cut(after, `"`)
		n.Text = n.Name
	} else {
		before, after = line, ""
	}
	for i, word := range strings.Fields(before + " " + after) {
		key, value, pair := strings.Cut(word, "=")
		switch {
		case i == 0:
			n.Tag, n.Class, _ = strings.Cut(word, ".")
			n.Class = strings.ReplaceAll(n.Class, ".", " ")
		case strings.HasPrefix(word, "@"):
			_, _ = fmt.Sscanf(word, "@%d,%d,%d,%d", &n.Box[0], &n.Box[1], &n.Box[2], &n.Box[3])
		case !pair:
			n.Role = word
		default:
			set(&n, key, strings.ReplaceAll(value, "_", " "))
		}
	}
	if shape.StrongRoles[n.Role] {
		n.Interactive = true
	}
	if shape.TypedRoles[n.Role] {
		n.HasValue, n.Text = true, ""
	}
	return n
}

func set(n *snapshot.Node, key, value string) {
	switch key {
	case "label":
		n.Label = value
	case "value":
		n.Value = value
	case "placeholder":
		n.Placeholder = value
	case "checked":
		n.Checked = value
	case "disabled":
		n.Disabled = value == "true"
	case "selected":
		n.Selected = value
	case "expanded":
		n.Expanded = value
	case "type":
		n.Type = value
	case "hints":
		n.Hints = strings.Fields(value)
	case "reacts":
		n.Reacts, n.Interactive = value, true
	case "bold":
		n.Bold = true
	case "size":
		_, _ = fmt.Sscan(value, &n.Size)
	case "struck":
		n.Struck = true
	case "layer":
		n.Layer = value
	case "modal":
		n.Modal = true
	case "hidden":
		n.Hidden, n.Opener = true, value
	case "nameattr":
		n.NameAttr = value
	case "href":
		n.Href = value
	case "column":
		_, _ = fmt.Sscan(value, &n.Column)
	case "level":
		_, _ = fmt.Sscan(value, &n.Level)
	case "options":
		for i, label := range strings.Split(value, "|") {
			n.Options = append(n.Options, snapshot.Option{Label: label, Value: label, Selected: i == 0})
		}
	default:
		panic("no key " + key)
	}
}

func TestModel(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		page     string
		has, not []string
	}{
		"a table with a head": {`
			table table
				tr row @0,0,900,30
					th columnheader "No." @0,0,100,30
					th columnheader "Name" @100,0,200,30 reacts=cursor column=1
					th columnheader "Price" @300,0,100,30 column=2
				tr row @0,30,900,30
					td cell "1001" @0,30,100,30
					td cell "Blue van" @100,30,200,30 column=1
					td cell "79.00 €" @300,30,100,30 column=2
				tr row @0,60,900,30
					td cell "1002" @0,60,100,30
					td cell "Red van" @100,60,200,30 column=1
					td cell "42.00 €" @300,60,100,30 column=2`,
			[]string{`group table "" 2 [No.:number | Name:text↕ | Price:money]`,
				`record "Blue van" [] {No.=1001<number 1001>; Name=Blue van; Price=79.00 €<money 79>}`}, nil},
		"a row that sums up is no thing": {`
			table table
				tr row
					td cell "Oats"
					td cell "1.20"
					td cell
						button button "Drop"
				tr row
					td cell "Rye"
					td cell "0.90"
					td cell
						button button "Drop"
				tr row
					td cell "Total"
					td cell`,
			[]string{`record "Oats"`, `record "Rye"`}, []string{`record "Total"`}},
		"a row that sums up one thing": {`
			table table
				tr row
					td cell "Oats"
					td cell "1.20"
					td cell
						button button "Drop"
				tr row
					td cell "Total"
					td cell "1.20"`,
			nil, []string{`record "Total"`}},
		"cards": {`
			div.cards
				div.card
					b "Bluebird" bold=1 size=18
					span.price "$79.00"
					button button "Choose"
				div.card
					b "Sandy" bold=1 size=18
					span.price "$64.00" struck=1
					span.price "$60.00"
					button button "Choose"`,
			[]string{`record "Bluebird" [] {Bluebird; price=$79.00<money 79>}`,
				`record "Sandy" [] {Sandy; ~price=$64.00<money 64>~; price=$60.00<money 60>}`,
				`control button "Choose"(name) record "Sandy"`}, nil},
		"rows of a form are no things": {`
			div.form
				div.form-group
					label "Name"
					input textbox "Name" label=Name
				div.form-group
					label "Mail"
					input textbox "Mail" label=Mail`,
			[]string{`field text "Name" = ""`, `field text "Mail" = ""`}, []string{"record"}},
		"a bar of links is no list of things": {`
			nav navigation "Main"
				ul list
					li listitem
						a link "Stock" href=/stock
					li listitem
						a link "Suppliers" href=/suppliers`,
			[]string{`control link "Stock"(name)`}, []string{"record"}},
		"a list with a hidden tool": {`
			ul list
				li listitem
					input checkbox "Walk the dog" checked=true @0,0,13,13
					span "Walk the dog" struck=1
					button button "×" hidden=e1
				li listitem
					input checkbox "Bring out the bins" checked=false @0,60,13,13
					span "Bring out the bins"
					button button "×" hidden=e4`,
			[]string{`record "Walk the dog" [checked struck done]`, `record "Bring out the bins" [unchecked]`,
				`"delete"(icon)`, `record "Walk the dog" (hidden) (reveal)`}, nil},
		"a tree": {`
			div tree
				div treeitem expanded=true
					span "Papers"
					div group
						div treeitem
							span "March"
				div treeitem expanded=false
					span "Money"`,
			[]string{`group tree "" 3`, `record "Papers" [expanded] {Papers}`, `record "March" in "Papers"`, `record "Money" [collapsed]`}, nil},
		"a board": {`
			div.board
				div.lane @0,0,200,400
					h3 heading "Doing" @0,0,200,20 level=3
					div.ticket @0,30,200,50
						p "Coupon codes" bold=1 @0,30,200,20
						small "3 pts" @0,50,200,20
					div.ticket @0,90,200,50
						p "Address check" bold=1 @0,90,200,20
						small "8 pts" @0,110,200,20
				div.lane @220,0,200,400
					h3 heading "Done" @220,0,200,20 level=3
					div.ticket @220,30,200,50
						p "Cookie banner" bold=1 @220,30,200,20
						small "2 pts" @220,50,200,20`,
			[]string{`column "Doing"`, `column "Done"`, `group cards "Doing" 2`, `group cards "Done" 1`, `record "Cookie banner"`},
			[]string{`record "Doing"`}},
		"fields by nearness": {`
			div
				div "Street" @0,0,60,20
				input textbox "" @80,0,200,20
				div "Town" @0,40,200,20
				input textbox "" @0,62,200,20
				label
					input checkbox "" checked=false @0,100,13,13
					label "Gift wrap" @20,100,100,20`,
			[]string{`field text "Street" = ""`, `field text "Town" = ""`, `field switch "Gift wrap" = "false"`}, nil},
		"radio buttons": {`
			fieldset group "Shipping"
				label
					input radio "Standard" checked=true nameattr=ship
				label
					input radio "Express" checked=false nameattr=ship`,
			[]string{`field choice "Shipping"/"ship" = "Standard" of ["Standard" "Express"]`}, nil},
		"a segmented choice": {`
			div.filter
				span.chip.active "All" reacts=cursor
				span.chip "Open" reacts=cursor
				span.chip "Paid" reacts=cursor`,
			[]string{`field choice  = "All" of ["All" "Open" "Paid"]`}, []string{"record"}},
		"a stepper": {`
			div
				span "Adults" @0,0,60,20
				div.qty @80,0,120,20
					button button "−" @80,0,20,20
					span "2" @110,0,20,20
					button button "+" @140,0,20,20`,
			[]string{`field number "Adults" = "2" (stepper)`, `"decrease"(icon)`, `"increase"(icon)`}, nil},
		"stars": {`
			div.rating
				span.star.on "★" @0,0,20,20 reacts=cursor
				span.star.on "★" @20,0,20,20 reacts=cursor
				span.star "☆" @40,0,20,20 reacts=cursor`,
			[]string{`field rating  = "2" of ["1" "2" "3"]`}, nil},
		"a dialog in front": {`
			main main
				button button "Add"
			div.modal dialog "New member" modal=1 layer=fixed
				input textbox "Name" label=Name
				button button "Save"`,
			[]string{"front 1", `dialog "New member"`, `field text "Name" = "" group "New member"`}, nil},
		"a toast": {`
			main main
				p "Hello"
			div.toast "Saved" alert layer=fixed`,
			[]string{`line (live) "Saved"`}, []string{"front"}},
		"a pager and a counter": {`
			div
				table table
					tr row
						td cell "Ann"
						td cell "12"
					tr row
						td cell "Ben"
						td cell "13"
				p "1–2 of 57"
				div.pagination
					button button "1" selected=true
					button button "2"
					button button "3"`,
			[]string{`(pager) (counter)`}, nil},
		"several values in one text": {`
			ul list
				li listitem
					b "Orbit 9" bold=1
					span "Comedy · 94 min · rated 7.1"
				li listitem
					b "Deep Snow" bold=1
					span "Thriller · 121 min · rated 8.3"`,
			[]string{`94 min<duration 5640>; rated=7.1<number 7.1>`}, nil},
		"definitions": {`
			dl
				dt "Nights"
				dd "3"`,
			[]string{`field shown "Nights" = "3"`}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := New(draw(c.page)).Outline()
			for _, text := range c.has {
				require.Contains(t, got, text)
			}
			for _, text := range c.not {
				require.NotContains(t, got, text)
			}
		})
	}
}

// The last card of a list is a thing to whoever knew the list.
// Labels that stand side by side above their fields are each the one's whose edge they share.
func TestLabelsInARowAboveTheirFields(t *testing.T) {
	m := New(draw(`
		body document @0,0,1280,700
			span "Floor" @20,20,40,18
			span "Room" @76,20,40,18
			input textbox @20,42,60,20
			input textbox @84,42,60,20
	`))
	var got []string
	for i := range m.Fields {
		got = append(got, m.Fields[i].Label)
	}
	require.Equal(t, []string{"Floor", "Room"}, got)
}

func TestAfter(t *testing.T) {
	t.Parallel()
	before := New(draw(`
		div.cards
			div.card
				b "Bluebird" bold=1
				button button "Remove"
			div.card
				b "Sandy" bold=1
				button button "Remove"`))
	after := draw(`
		div.cards
			p "One van"
			div.card
				b "Sandy" bold=1
				button button "Remove"`)
	require.Empty(t, New(after).Records)
	later := New(after, After(before))
	require.Len(t, later.Records, 1)
	require.Equal(t, "Sandy", later.Records[0].Title)
	require.Equal(t, before.Records[1].Key, later.Records[0].Key)
}

// Keys stay when the page makes its elements anew, and are all different.
func TestKeys(t *testing.T) {
	t.Parallel()
	page := `
		section "Cart" region
			ul list
				li listitem
					span "Oats"
					button button "Remove"
				li listitem
					span "Oats"
					button button "Remove"
			input textbox "Code" label=Code`
	first, second := draw(page), draw(page)
	for i := range second.Nodes {
		second.Nodes[i].Ref = "x" + second.Nodes[i].Ref
	}
	a, b := New(first), New(second)
	seen := map[string]bool{}
	note := func(x, y string) {
		require.Equal(t, x, y)
		require.NotEmpty(t, x)
		require.False(t, seen[x], x)
		seen[x] = true
	}
	for i := range a.Records {
		note(a.Records[i].Key, b.Records[i].Key)
	}
	for i := range a.Controls {
		note(a.Controls[i].Key, b.Controls[i].Key)
	}
	for i := range a.Fields {
		note(a.Fields[i].Key, b.Fields[i].Key)
	}
	for i := range a.Containers {
		note(a.Containers[i].Key, b.Containers[i].Key)
	}
	require.Len(t, a.Records, 2)
	require.Len(t, a.Records[1].Controls, 1)
	require.Equal(t, 1, a.RecordAt(a.Controls[1].Node))
}

// A snapshot of anything is a model.
func FuzzModel(f *testing.F) {
	f.Add("div\n\tb \"x\"\n\tbutton button \"y\"")
	f.Add("table table\n\ttr row\n\t\ttd cell \"1\"")
	f.Fuzz(func(t *testing.T, text string) {
		s := &snapshot.Snapshot{Lang: "en"}
		for k, line := range strings.Split(text, "\n") {
			tag, name, _ := strings.Cut(strings.TrimSpace(line), " ")
			parent := k - 1 - strings.Count(line, "\t")
			s.Nodes = append(s.Nodes, snapshot.Node{Ref: fmt.Sprint("e", k), Parent: min(parent, k-1), Tag: tag, Role: tag, Name: name, Text: name,
				Box: [4]int{len(line), k * 10, 50, 10}, Interactive: len(line)%2 == 0, Column: len(line) - 5, Class: name})
		}
		_ = New(s).Outline()
	})
}
