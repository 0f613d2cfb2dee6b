package effect_test

import (
	"testing"

	"github.com/slipway-qa/slipway/worker/generation/effect"
	"github.com/slipway-qa/slipway/worker/generation/intent"
	"github.com/slipway-qa/slipway/worker/generation/page"
	"github.com/slipway-qa/slipway/worker/snapshot"
)

// bar is a page with links and buttons, and lines of text.
func bar(menu bool, names []string, lines ...string) *page.Model {
	s := &snapshot.Snapshot{URL: "http://page/", Lang: "en", Quiet: true, Width: 1000, Height: 800}
	add := func(n snapshot.Node) {
		n.Ref, n.Box = n.Tag+n.Name, [4]int{10, 10 + 40*len(s.Nodes), 200, 20}
		s.Nodes = append(s.Nodes, n)
	}
	for _, name := range names {
		add(snapshot.Node{Parent: -1, Tag: "button", Role: "button", Name: name, Text: name, Interactive: true})
	}
	for _, line := range lines {
		add(snapshot.Node{Parent: -1, Tag: "p", Role: "text", Name: line})
	}
	if menu {
		add(snapshot.Node{Parent: -1, Tag: "div", Role: "menu", Name: "Account"})
		add(snapshot.Node{Parent: len(s.Nodes) - 1, Tag: "a", Role: "menuitem", Name: "Sign out", Text: "Sign out", Interactive: true})
	}
	return page.New(s)
}

func TestJudgeSignOut(t *testing.T) {
	in := []string{"Nadia", "Help", "Sign out"}
	for _, c := range []struct {
		name          string
		before, after *page.Model
		want          effect.State
	}{
		{"a menu opened", bar(false, in[:2]), bar(true, in[:2]), effect.Partly},
		{"what signs in came", bar(false, in[:2]), bar(false, []string{"Help", "Log in"}), effect.Reached},
		{"what signs out is gone", bar(false, in), bar(false, []string{"Nadia", "Help"}), effect.Reached},
		{"the name is gone", bar(false, in[:2]), bar(false, in[1:2]), effect.Reached},
		{"the page says it", bar(false, in), bar(false, in, "You are signed out"), effect.Reached},
		{"the page says something else", bar(false, in), bar(false, in, "You have 3 bookings"), effect.Unseen},
	} {
		g := intent.Goal{Effect: intent.SignOut, Target: named("Nadia")}
		if v := effect.Judge(effect.Between(c.before, c.after), &g, nil); v.State != c.want {
			t.Errorf("%s: %s (%s), want %s", c.name, v.State, v.Why, c.want)
		}
	}
}
