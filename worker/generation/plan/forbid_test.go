package plan

import (
	"testing"

	"github.com/slipway-qa/slipway/worker/generation/intent"
	"github.com/slipway-qa/slipway/worker/generation/page"
	"github.com/slipway-qa/slipway/worker/snapshot"
)

// "Do not publish" forbids each control whose name begins so, and none that saves.
func TestForbiddenBegins(t *testing.T) {
	for name, want := range map[string]bool{"Publish": true, "Publish rota": true, "Send out": true, "Save": false, "Rota to publish": false, "": false} {
		m := page.New(&snapshot.Snapshot{Lang: "en", Nodes: []snapshot.Node{{Ref: "b", Parent: -1, Tag: "button", Role: "button", Name: name, Text: name, Interactive: true}}})
		if got := begins(m, 0, &intent.Goal{Effect: intent.Submit, Lemma: "publish", Concept: "send"}); got != want {
			t.Errorf("%q: %v, want %v", name, got, want)
		}
	}
}
