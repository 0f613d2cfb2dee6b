package effect_test

import (
	"strings"
	"testing"

	"github.com/slipway-qa/slipway/worker/generation/effect"
	"github.com/slipway-qa/slipway/worker/generation/intent"
	"github.com/slipway-qa/slipway/worker/generation/page"
	"github.com/slipway-qa/slipway/worker/snapshot"
)

// buttons returns the model of a page with some buttons, apart by "|".
func buttons(names string) *page.Model {
	s := &snapshot.Snapshot{URL: "http://page/"}
	m := &page.Model{Snapshot: s, Front: -1}
	for _, name := range strings.Split(names, "|") {
		m.Controls = append(m.Controls, page.Control{Node: len(s.Nodes), Role: "button", Record: -1,
			Names: []page.Name{{Text: name, From: "name"}}})
		m.Lines = append(m.Lines, page.Line{Node: len(s.Nodes), Text: name, Record: -1, Container: -1})
		s.Nodes = append(s.Nodes, snapshot.Node{Ref: name, Parent: -1, Tag: "button", Role: "button", Name: name, Text: name, Interactive: true})
	}
	return m
}

func TestSignOut(t *testing.T) {
	for _, c := range []struct {
		before, after string
		want          effect.State
	}{
		{"Nadia|Help", "Nadia|Help|My profile|Sign out", effect.Partly},
		{"Nadia|Sign out", "Sign in|Help", effect.Reached},
		{"Nadia|Help", "Sign in|Help", effect.Reached},
		{"Nadia|Sign out", "Nadia|Sign out", effect.Unseen},
		{"Nadia|Sign out", "Nadia|Sign out|Welcome", effect.Unseen},
	} {
		v := effect.Judge(effect.Between(buttons(c.before), buttons(c.after)), &intent.Goal{Effect: intent.SignOut}, nil)
		if v.State != c.want {
			t.Errorf("%s to %s: %s, %s", c.before, c.after, v.State, v.Why)
		}
	}
}
