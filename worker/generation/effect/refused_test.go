package effect_test

import (
	"testing"

	"github.com/slipway-qa/slipway/worker/generation/effect"
	"github.com/slipway-qa/slipway/worker/generation/intent"
	"github.com/slipway-qa/slipway/worker/generation/page"
	"github.com/slipway-qa/slipway/worker/snapshot"
)

// form returns the model of a page with a field that holds a text, and a line below it.
func form(kind, value, line string) *page.Model {
	s := &snapshot.Snapshot{URL: "http://page/", Nodes: []snapshot.Node{
		{Ref: "f", Parent: -1, Tag: "input", Type: kind, Role: "textbox", Name: "Date", Editable: true, Interactive: true,
			HasValue: true, Value: value},
		{Ref: "b", Parent: -1, Tag: "button", Role: "button", Name: "Send", Text: "Send", Interactive: true}}}
	if line != "" {
		s.Nodes = append(s.Nodes, snapshot.Node{Ref: "p", Parent: -1, Tag: "p", Role: "text", Name: line})
	}
	return page.New(s)
}

func TestMessagesThatSayNo(t *testing.T) {
	for _, c := range []struct {
		name          string
		before, after *page.Model
		goal          intent.Goal
		want          effect.State
	}{
		{"refused", form("text", "x", ""), form("text", "x", "Please enter a valid date"), intent.Goal{Effect: intent.Submit}, effect.Unseen},
		{"taken", form("text", "x", ""), form("text", "x", "Thank you"), intent.Goal{Effect: intent.Submit}, effect.Reached},
		{"taken, and the next one is asked for", form("text", "x", ""), form("text", "", "The date is required for the next one"),
			intent.Goal{Effect: intent.Submit}, effect.Reached},
		{"a password goes when it is refused", form("password", "x", ""), form("password", "", "Wrong password"),
			intent.Goal{Effect: intent.SignIn}, effect.Unseen},
		{"it is expected", form("text", "x", ""), form("text", "x", "Please enter a valid date"),
			intent.Goal{Effect: intent.Submit, Expected: true}, effect.Reached},
	} {
		if v := effect.Judge(effect.Between(c.before, c.after), &c.goal, nil); v.State != c.want {
			t.Errorf("%s: %s, %s", c.name, v.State, v.Why)
		}
	}
}
