package effect

import (
	"testing"

	"github.com/slipway-qa/slipway/worker/generation/find"
	"github.com/slipway-qa/slipway/worker/generation/intent"
	"github.com/slipway-qa/slipway/worker/generation/page"
	"github.com/slipway-qa/slipway/worker/snapshot"
)

// pages is the model of a page with links, the text of one, and a field.
func pages(made string, text string, links ...string) *page.Model {
	s := &snapshot.Snapshot{URL: "http://page/", Width: 800, Height: 600,
		Nodes: []snapshot.Node{{Ref: "nav", Parent: -1, Tag: "div", Box: [4]int{0, 0, 300, 200}}}}
	for i, l := range links {
		s.Nodes = append(s.Nodes, snapshot.Node{Ref: made + l, Parent: 0, Tag: "a", Role: "link", Href: "#", Name: l,
			Text: l, Interactive: true, Box: [4]int{0, 20 * i, 200, 18}})
	}
	s.Nodes = append(s.Nodes, snapshot.Node{Ref: "text", Parent: -1, Tag: "input", Type: "text", Role: "textbox",
		Name: "Text", Label: "Text", Value: text, HasValue: true, Editable: true, Interactive: true, Box: [4]int{0, 300, 200, 20}})
	return page.New(s)
}

// A thing that is no record is gone when it is not seen any more and its neighbours are; that a field
// holds another text is no removal of anything.
func TestGone(t *testing.T) {
	before := pages("a", "Welcome", "Welcome", "Notes", "Holidays")
	control := find.Candidate{What: find.Control, Index: len(before.Controls) - 1, Sub: -1, Score: 1}
	for i := range before.Controls {
		if ControlName(before, i) == "Holidays" {
			control.Index, control.Node = i, before.Controls[i].Node
		}
	}
	field := find.Candidate{What: find.Field, Index: 0, Node: before.Fields[0].Node, Sub: -1, Score: 1}
	for _, c := range []struct {
		name   string
		effect intent.Effect
		target find.Candidate
		after  *page.Model
		want   State
	}{
		{"its link is gone", intent.Remove, control, pages("a", "Welcome", "Welcome", "Notes"), Reached},
		{"its link is gone, and the others are made anew", intent.Remove, control, pages("b", "Welcome", "Welcome", "Notes"), Reached},
		{"all links are made anew", intent.Remove, control, pages("b", "Welcome", "Welcome", "Notes", "Holidays"), Unseen},
		{"another page is open", intent.Remove, control, pages("a", "See the calendar", "Welcome", "Notes", "Holidays"), Unseen},
		{"all links are gone", intent.Remove, control, pages("a", "Welcome"), Unseen},
		{"the text is gone", intent.Remove, field, pages("a", "", "Welcome", "Notes", "Holidays"), Reached},
		{"the text is another one", intent.Remove, field, pages("a", "See the whole calendar", "Welcome", "Notes", "Holidays"), Unseen},
		{"the field is empty", intent.Clear, field, pages("a", "", "Welcome", "Notes", "Holidays"), Reached},
		{"the field holds another text", intent.Clear, field, pages("a", "See", "Welcome", "Notes", "Holidays"), Unseen},
	} {
		if v := Judge(Between(before, c.after), &intent.Goal{Effect: c.effect}, []find.Candidate{c.target}); v.State != c.want {
			t.Errorf("%s: %s (%s), want %s", c.name, v.State, v.Why, c.want)
		}
	}
}
