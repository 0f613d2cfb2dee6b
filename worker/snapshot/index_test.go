package snapshot_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/worker/snapshot"
)

// page is a heading, two rows without a role and a form.
var page = &snapshot.Snapshot{URL: "http://shop/", Title: "Shop", Nodes: []snapshot.Node{
	{Ref: "e1", Parent: -1, Tag: "h1", Role: "heading", Name: "Orders", Level: 1},
	{Ref: "e2", Parent: -1, Tag: "div"},
	{Ref: "e3", Parent: 1, Tag: "div"},
	{Ref: "e4", Parent: 2, Tag: "b", Role: "text", Name: "Ann"},
	{Ref: "e5", Parent: 2, Tag: "button", Role: "button", Name: "Open", Interactive: true},
	{Ref: "e6", Parent: 1, Tag: "div"},
	{Ref: "e7", Parent: 5, Tag: "b", Role: "text", Name: "Bob"},
	{Ref: "e8", Parent: 5, Tag: "button", Role: "button", Name: "Open", Interactive: true, Disabled: true},
	{Ref: "e9", Parent: -1, Tag: "h2", Role: "heading", Name: "New", Level: 2},
	{Ref: "e10", Parent: -1, Tag: "form", Role: "form", Name: "New order"},
	{Ref: "e11", Parent: 9, Tag: "input", Role: "textbox", Name: "Password", Password: true, HasValue: true, Value: "hunter2"},
	{Ref: "e12", Parent: 9, Tag: "i", Reacts: "cursor", Interactive: true, Hints: []string{"trash"}},
	{Ref: "e13", Parent: 9, Tag: "select", Role: "combobox", Name: "Size", HasValue: true, Value: "m",
		Options: []snapshot.Option{{Label: "S"}, {Label: "M", Selected: true}}},
}}

func TestIndex(t *testing.T) {
	t.Parallel()
	x := snapshot.NewIndex(page)
	require.Equal(t, []int{0, 1, 8, 9}, x.Children(-1))
	require.Equal(t, []int{2, 5}, x.Children(1))
	require.Equal(t, 8, x.End(1))
	require.Equal(t, []int{5, 1}, x.Ancestors(7))
	require.Equal(t, 1, x.Common(4, 7))
	require.Equal(t, -1, x.Common(4, 10))
	require.True(t, x.Contains(1, 7))
	require.False(t, x.Contains(2, 7))
	require.Equal(t, 5, x.Row(7))
	require.Equal(t, -1, x.Row(10))
	require.Equal(t, 0, x.Heading(7))
	require.Equal(t, 8, x.Heading(10))
	require.Equal(t, 0, x.Heading(8))
	require.Equal(t, -1, x.Heading(0))
	require.Equal(t, []string{"Bob", "Open"}, x.Texts(5))
	require.Equal(t, "Ann Open", x.Text(2))
	require.Equal(t, 9, x.Around(11, "form", "dialog"))
	require.Equal(t, 4, x.ByRef("e5"))
	require.Equal(t, -1, x.ByRef("e99"))
}

func TestOutline(t *testing.T) {
	t.Parallel()
	require.Equal(t, `page http://shop/ "Shop"
- heading "Orders" [ref=e1] [level=1]
- text "Ann" [ref=e4]
- button "Open" [ref=e5]
- text "Bob" [ref=e7]
- button "Open" [ref=e8] [disabled]
- heading "New" [ref=e9] [level=2]
- form "New order" [ref=e10]
  - textbox "Password" [ref=e11]
  - i [ref=e12] [clickable] hints="trash"
  - combobox "Size" [ref=e13] value="m" options: "S" "M"*
`, page.Outline())
	dialog := snapshot.Snapshot{URL: "http://shop/", Dialog: &snapshot.Dialog{Text: "Sure?\n- button"}}
	require.Contains(t, dialog.Outline(), `- dialog of the browser "Sure?\n- button"`)
}

// An outline is bounded, whatever the page has.
func TestOutlineIsBounded(t *testing.T) {
	t.Parallel()
	var many snapshot.Snapshot
	for i := range 3000 {
		n := snapshot.Node{Ref: "e" + strconv.Itoa(i), Parent: -1, Role: "listitem", Name: strings.Repeat("x", 300)}
		if i%2 == 0 {
			n.Role = "row"
		}
		if i >= 2000 {
			n.Role, n.Name = "option", "o"
		}
		many.Nodes = append(many.Nodes, n)
	}
	require.Less(t, len(many.Outline()), 32<<10)
	require.Contains(t, many.Outline(), "the page has more")
	options := snapshot.Snapshot{Nodes: many.Nodes[2000:]}
	require.Contains(t, options.Outline(), "- ... 970 more of these")
	require.Less(t, len(options.Outline()), 2000)
}
