package method_test

import (
	"strings"
	"testing"

	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/worker/generation/intent"
	"github.com/slipway-qa/slipway/worker/generation/method"
	"github.com/slipway-qa/slipway/worker/snapshot"
)

// TestAPlusCountsItsOwn holds the plus of a plus and a minus to one more of a thing that the text names.
func TestAPlusCountsItsOwn(t *testing.T) {
	both := func(ref string) []snapshot.Node {
		return []snapshot.Node{button(ref+"+", ref, "+"), button(ref+"-", ref, "−")}
	}
	closed := func(ref string) []snapshot.Node {
		list := append(both(ref), button(ref+"more", ref, "More"))
		for i := range 2 {
			list[i].Hidden, list[i].Opener = true, ref+"more"
		}
		return list
	}
	plus := func(ref string) []snapshot.Node { return []snapshot.Node{button(ref+"+", ref, "+")} }
	for _, c := range []struct {
		name     string
		controls func(ref string) []snapshot.Node
		target   intent.Description
		want     bool
	}{
		{"of a thing that is named", both, intent.Description{Words: []intent.Word{{Text: "Walk"}}}, true},
		{"of what was spoken of", both, intent.Description{Pronoun: true}, false},
		{"of what was spoken of, in a closed part", closed, intent.Description{Pronoun: true}, false},
		{"of a thing that is named, in a closed part", closed, intent.Description{Words: []intent.Word{{Text: "Walk"}}}, true},
		{"a plus alone", plus, intent.Description{Pronoun: true}, true},
	} {
		m := tasks(c.controls)
		g := &intent.Goal{Effect: intent.Add, Lemma: "add", Target: []intent.Description{c.target}}
		got := false
		for _, w := range method.Ways(&method.Task{Model: m, Goal: g, Lang: "en", Target: second(t, m), Inside: -1, Near: -1}) {
			got = got || strings.HasSuffix(told(m, &w), "click b+")
		}
		if got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

// TestAStarShowsNothing holds what is shown by pointing at a thing to that: a star before it is
// another deed.
func TestAStarShowsNothing(t *testing.T) {
	for name, want := range map[string]string{"☆": step.Hover, "More": step.Click} {
		m := tasks(func(ref string) []snapshot.Node {
			edit := button(ref+"e", ref, "Edit")
			edit.Hidden, edit.Opener = true, ref+"s"
			return []snapshot.Node{button(ref+"s", ref, name), edit}
		})
		second(t, m)
		for i := range m.Nodes {
			if m.Nodes[i].Ref != "be" {
				continue
			}
			if a, ok := method.Unhide(m, i); !ok || a.Tool != want {
				t.Errorf("%q: %v %s, want %s", name, ok, a.Tool, want)
			}
		}
	}
}

// TestManyThatDoNotServe holds what adds something new to the page to be found below any number of plus signs
// that only count.
func TestManyThatDoNotServe(t *testing.T) {
	list := []snapshot.Node{{Ref: "ul", Tag: "ul", Role: "list"}}
	for i, name := range []string{"Single scull", "Double scull", "Four", "Eight", "Canoe", "Raft"} {
		ref := string(rune('a' + i))
		list = append(list, item(ref, name)...)
		list = append(list, button(ref+"+", ref, "+"), button(ref+"-", ref, "−"))
	}
	m := nodes(append(list, button("enrol", "", "Enrol"))...)
	g := &intent.Goal{Effect: intent.Add, Lemma: "aufnehmen", Target: []intent.Description{{Words: []intent.Word{{Text: "Finn"}}}}}
	got := false
	for _, w := range method.Ways(&method.Task{Model: m, Goal: g, Lang: "de", Inside: -1, Near: -1}) {
		got = got || told(m, &w) == "click enrol"
	}
	if !got {
		t.Error("what enrols somebody is no way to add one")
	}
}
