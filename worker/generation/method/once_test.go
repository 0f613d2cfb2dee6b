package method_test

import (
	"testing"

	"github.com/slipway-qa/slipway/worker/generation/intent"
	"github.com/slipway-qa/slipway/worker/generation/method"
	"github.com/slipway-qa/slipway/worker/snapshot"
)

// TestWhatHandsInIsDoneOnce holds each way that hands in, and each that does what cannot be taken back,
// to once, and none that only shows more.
func TestWhatHandsInIsDoneOnce(t *testing.T) {
	send := button("send", "form", "Send")
	send.Type = "submit"
	form := func(value string) []snapshot.Node {
		return []snapshot.Node{{Ref: "form", Tag: "form"},
			{Ref: "text", Label: "form", Tag: "input", Type: "text", Role: "textbox", Name: "Message", Interactive: true,
				Editable: true, HasValue: true, Value: value}, send}
	}
	task := &method.Task{Model: nodes(form("See you")...), Goal: &intent.Goal{Effect: intent.Add}, Lang: "en", Inside: -1, Near: -1}
	handIn := method.HandIn(task, nodes(form("")...))
	if len(handIn) < 2 {
		t.Fatalf("%d ways", len(handIn))
	}
	for _, w := range handIn {
		if !w.Once {
			t.Errorf("%s may be done twice", w.Name)
		}
	}
	m := tasks(func(ref string) []snapshot.Node {
		return []snapshot.Node{button(ref+"m", ref, "More"), button(ref+"d", ref, "Remind")}
	})
	for _, risk := range []string{"", "send"} {
		task := &method.Task{Model: m, Goal: &intent.Goal{Effect: intent.Act, Lemma: "remind", Concept: "remind", Risk: risk},
			Lang: "en", Target: second(t, m), Inside: -1, Near: -1}
		list := method.Ways(task)
		if len(list) == 0 {
			t.Fatal("no ways")
		}
		for _, w := range list {
			if w.Once != (risk != "" && !w.Reveals) {
				t.Errorf("risk %q: %s: once %v", risk, w.Name, w.Once)
			}
		}
	}
}
