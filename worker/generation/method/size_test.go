package method_test

import (
	"testing"

	"github.com/slipway-qa/slipway/worker/generation/find"
	"github.com/slipway-qa/slipway/worker/generation/intent"
	"github.com/slipway-qa/slipway/worker/generation/method"
	"github.com/slipway-qa/slipway/worker/snapshot"
)

// TestListOfSizesIsOpened opens the list of how many rows a page has, where its options come with it.
func TestListOfSizesIsOpened(t *testing.T) {
	combo := func(ref, name, value string) snapshot.Node {
		return snapshot.Node{Ref: ref, Tag: "div", Role: "combobox", Name: name, Value: value, HasValue: true,
			Interactive: true, Expanded: "false", Popup: "listbox"}
	}
	m := nodes(combo("floor", "Floor", "All floors"), combo("size", "Items per page", "10"))
	n := 5.0
	goal := &intent.Goal{Effect: intent.Page, Lemma: "show", Amount: &intent.Value{Number: &n, UnitClass: "count"}}
	ways := method.Ways(&method.Task{Model: m, Goal: goal, Lang: "en", Inside: -1, Near: -1})
	if len(ways) != 1 || told(m, &ways[0]) != "click size" || !ways[0].Reveals {
		t.Errorf("%+v", ways)
	}
}

// TestFilterIsCalledByTheState presses what is called after the state of what is to be seen, whatever the
// list is of, and nothing else.
func TestFilterIsCalledByTheState(t *testing.T) {
	m := nodes(button("all", "", "All"), button("open", "", "Open"), button("done", "", "Finished"))
	target := intent.Description{Noun: "tasks", State: []intent.State{{Text: "finished", Name: "done"}}}
	told1 := func(d intent.Description) string {
		goal := &intent.Goal{Effect: intent.Filter, Lemma: "show", Target: []intent.Description{d}}
		ways := method.Ways(&method.Task{Model: m, Goal: goal, Lang: "en", Inside: -1, Near: -1})
		if len(ways) == 0 {
			return ""
		}
		return told(m, &ways[0])
	}
	if got := told1(target); got != "click done" {
		t.Errorf("first %q", got)
	}
	target.In = &intent.Description{Words: []intent.Word{{Text: "cellar"}}}
	if got := told1(target); got != "" {
		t.Errorf("%q does a part of it only", got)
	}
}

// TestDrawnEditorTakesKeys types over what an editor draws, and presses no key behind it.
func TestDrawnEditorTakesKeys(t *testing.T) {
	m := nodes(snapshot.Node{Ref: "code", Tag: "div", Class: "CodeMirror cm-s-default", Text: "let a", Reacts: "listener", Interactive: true},
		snapshot.Node{Ref: "line", Label: "code", Tag: "pre", Role: "text", Name: "let a"})
	if len(m.Fields) != 1 || m.Fields[0].Kind != "editor" {
		t.Fatalf("%+v", m.Fields)
	}
	f := find.Candidate{What: find.Field, Node: m.Fields[0].Node, Sub: -1}
	ways := method.FillWays(&method.Task{Model: m, Goal: &intent.Goal{Effect: intent.Edit}, Lang: "en", Inside: -1, Near: -1},
		&f, &intent.Value{Text: "let b"}, false)
	if len(ways) != 1 || told(m, &ways[0]) != "click code, press_key Control+a, type_keys" {
		t.Errorf("%d ways, %s", len(ways), told(m, &ways[0]))
	}
}
