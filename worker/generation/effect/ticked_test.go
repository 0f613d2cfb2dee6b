package effect_test

import (
	"testing"

	"github.com/slipway-qa/slipway/worker/generation/effect"
	"github.com/slipway-qa/slipway/worker/generation/find"
	"github.com/slipway-qa/slipway/worker/generation/intent"
	"github.com/slipway-qa/slipway/worker/generation/page"
	"github.com/slipway-qa/slipway/worker/snapshot"
)

// boxed returns the model of two tasks with a box each, the first of which is ticked or not, and
// looks so.
func boxed(ticked, look string) *page.Model {
	m := table(nil, "Salt", "Milk")
	for i, is := range []string{ticked, "false"} {
		m.Nodes = append(m.Nodes, snapshot.Node{Ref: "box " + m.Records[i].Title, Parent: m.Records[i].Node, Tag: "input",
			Role: "checkbox", Checked: is, Hints: []string{look}})
		m.Fields = append(m.Fields, page.Field{Node: len(m.Nodes) - 1, Kind: "switch", Label: m.Records[i].Title,
			Record: i, Container: -1, Value: is})
	}
	m.Nodes[m.Records[0].Node].Hints = []string{look}
	return m
}

// What has a box is done when that is ticked, and not when it looks other below the pointer.
func TestTicked(t *testing.T) {
	for _, c := range []struct {
		ticked, look string
		want         effect.State
	}{{"true", "row", effect.Reached}, {"false", "hovered", effect.Unseen}, {"false", "row", effect.Unseen}} {
		before := boxed("false", "row")
		v := effect.Judge(effect.Between(before, boxed(c.ticked, c.look)), &intent.Goal{Effect: intent.Complete},
			[]find.Candidate{record(before, 0)})
		if v.State != c.want {
			t.Errorf("%v: %s, %s", c, v.State, v.Why)
		}
	}
}

// A thing that shows another state than that of its box is marked, whatever the box is for.
func TestMarkedBesideABox(t *testing.T) {
	before, after := boxed("false", "row"), boxed("false", "row")
	before.Records[0].States = []string{"unread", "unchecked"}
	after.Records[0].States = []string{"unchecked"}
	g := &intent.Goal{Effect: intent.Complete, Become: &intent.Value{Text: "read"}}
	if v := effect.Judge(effect.Between(before, after), g, []find.Candidate{record(before, 0)}); v.State != effect.Reached {
		t.Errorf("%s, %s", v.State, v.Why)
	}
}

// One box that is turned is judged by itself, also where a list opens beside it: it is not turned twice.
func TestSwitched(t *testing.T) {
	for _, c := range []struct {
		was, is string
		goal    intent.Goal
		opens   bool
		want    effect.State
	}{
		{"false", "true", intent.Goal{Effect: intent.Toggle, On: true}, false, effect.Reached},
		{"false", "true", intent.Goal{Effect: intent.Toggle, On: true}, true, effect.Reached},
		{"false", "false", intent.Goal{Effect: intent.Toggle, On: true}, false, effect.Unseen},
		{"false", "false", intent.Goal{Effect: intent.Toggle, On: true}, true, effect.Partly},
		{"true", "false", intent.Goal{Effect: intent.Toggle}, false, effect.Reached},
		{"true", "false", intent.Goal{Effect: intent.Complete}, false, effect.Unseen},
	} {
		before, after := boxed(c.was, "row"), boxed(c.is, "row")
		for _, m := range []*page.Model{before, after} {
			m.Nodes = append(m.Nodes, snapshot.Node{Ref: "more", Parent: -1, Tag: "div", Hidden: m == before || !c.opens})
			m.Containers = append(m.Containers, page.Container{Node: len(m.Nodes) - 1, Kind: "list", Title: "More",
				Hidden: m == before || !c.opens, Opener: -1, Parent: -1})
		}
		target := find.Candidate{What: find.Field, Index: 0, Sub: -1, Node: before.Fields[0].Node}
		if v := effect.Judge(effect.Between(before, after), &c.goal, []find.Candidate{target}); v.State != c.want {
			t.Errorf("%s to %s, %+v: %s, %s", c.was, c.is, c.goal.Effect, v.State, v.Why)
		}
	}
}
