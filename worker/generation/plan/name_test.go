package plan

import (
	"testing"

	"github.com/slipway-qa/slipway/worker/generation/find"
	"github.com/slipway-qa/slipway/worker/generation/intent"
	"github.com/slipway-qa/slipway/worker/generation/page"
	"github.com/slipway-qa/slipway/worker/snapshot"
)

func TestOneName(t *testing.T) {
	for _, c := range []struct {
		text, name string
		want       bool
	}{
		{"Tick the terms and conditions", "I accept the Terms and Conditions", true},
		{"Tick the terms and conditions", "I accept the terms", false},
		{"Tick salt and pepper", "salt, pepper", false},
	} {
		text := intent.Read(c.text)
		p := &planner{text: &text}
		m := page.New(&snapshot.Snapshot{Nodes: []snapshot.Node{{Ref: "1", Parent: -1, Tag: "input", Role: "checkbox",
			Name: c.name, Checked: "false", Box: [4]int{10, 10, 20, 20}}}})
		if got := p.oneName(m, &find.Candidate{Node: 0}, text.Readings[0].Goals[0].Target); got != c.want {
			t.Errorf("%q on %q is %v, want %v", c.text, c.name, got, c.want)
		}
	}
}
