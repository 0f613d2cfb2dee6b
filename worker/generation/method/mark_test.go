package method_test

import (
	"testing"

	"github.com/slipway-qa/slipway/worker/generation/find"
	"github.com/slipway-qa/slipway/worker/generation/intent"
	"github.com/slipway-qa/slipway/worker/generation/method"
	"github.com/slipway-qa/slipway/worker/snapshot"
)

// TestThingIsChosenByItsBox holds what is chosen of a list to the box that marks it, and not to one that
// says something else of it.
func TestThingIsChosenByItsBox(t *testing.T) {
	for name, marks := range map[string]bool{"": true, "Row unselected": true, "Zeile auswählen": true, "Walk the dog": true,
		"Select Walk the dog": true, "Paid": false,
		"Mark Walk the dog as done": false, "Delete Walk the dog": false, "Walk the dog als erledigt markieren": false,
		"Select Walk the dog to delete": false} {
		m := tasks(func(ref string) []snapshot.Node {
			return []snapshot.Node{{Ref: ref + "b", Label: ref, Tag: "input", Type: "checkbox", Role: "checkbox",
				Name: name, Checked: "false", Interactive: true},
				button(ref+"e", ref, "Edit")}
		})
		ways := method.Ways(&method.Task{Model: m, Goal: &intent.Goal{Effect: intent.Choose, Lemma: "select"}, Lang: "en",
			Target: second(t, m), Inside: -1})
		if len(ways) == 0 || (told(m, &ways[0]) == "click bb" && !ways[0].Reveals) != marks {
			t.Errorf("%q: first %v", name, ways)
		}
	}
}

// TestWayIsTheSameOnAFreshPage holds a way to one name on a page whose elements were made anew.
func TestWayIsTheSameOnAFreshPage(t *testing.T) {
	var keys [2]string
	for i, prefix := range []string{"", "new "} {
		m := tasks(func(ref string) []snapshot.Node { return []snapshot.Node{button(prefix+ref+"x", ref, "Delete")} })
		ways := method.Ways(&method.Task{Model: m, Goal: &intent.Goal{Effect: intent.Remove, Lemma: "delete"}, Lang: "en",
			Target: second(t, m), Inside: -1})
		keys[i] = ways[0].Key
		other := find.Candidate{What: find.Record, Index: 2, Node: m.Records[2].Node, Sub: -1, Score: 1}
		ways = method.Ways(&method.Task{Model: m, Goal: &intent.Goal{Effect: intent.Remove, Lemma: "delete"}, Lang: "en",
			Target: &other, Inside: -1})
		if ways[0].Key == keys[i] {
			t.Errorf("%s is the way of another thing too", keys[i])
		}
	}
	if keys[0] != keys[1] {
		t.Errorf("%s, then %s", keys[0], keys[1])
	}
}
