package method_test

import (
	"testing"

	"github.com/slipway-qa/slipway/worker/generation/intent"
	"github.com/slipway-qa/slipway/worker/generation/method"
	"github.com/slipway-qa/slipway/worker/snapshot"
)

// TestSearchTakesItsButtonFirst holds a search to its own field and, where one stands beside it, to its
// button: what is only typed may have searched nothing.
func TestSearchTakesItsButtonFirst(t *testing.T) {
	field := func(ref, parent, name string) snapshot.Node {
		return snapshot.Node{Ref: ref, Label: parent, Tag: "input", Type: "text", Role: "textbox", Name: name,
			Placeholder: name, Interactive: true, Editable: true, HasValue: true}
	}
	m := nodes(field("new", "", "New task"), snapshot.Node{Ref: "form", Tag: "form", Role: "form"},
		field("q", "form", "Find a task"), button("go", "form", "Search"))
	ways := method.Search(&method.Task{Model: m, Goal: &intent.Goal{Effect: intent.Search}, Lang: "en", Inside: -1, Near: -1}, "dog")
	if len(ways) == 0 || told(m, &ways[0]) != "input_text q, click go" {
		t.Errorf("ways %+v", ways)
	}
	for i := range ways {
		if m.Nodes[ways[i].Acts[0].Node].Ref == "new" {
			t.Error("the field for new tasks is searched in")
		}
	}
}
