package plan

import (
	"testing"

	"github.com/slipway-qa/slipway/worker/generation/intent"
	"github.com/slipway-qa/slipway/worker/generation/page"
	"github.com/slipway-qa/slipway/worker/snapshot"
)

// "Do not publish" forbids each control whose name begins so, and none that saves.
func TestForbiddenBegins(t *testing.T) {
	for name, want := range map[string]bool{"Publish": true, "Publish rota": true, "Send out": true, "Save": false,
		"Rota to publish": false, "": false} {
		m := page.New(&snapshot.Snapshot{Lang: "en", Nodes: []snapshot.Node{{Ref: "b", Parent: -1, Tag: "button",
			Role: "button", Name: name, Text: name, Interactive: true}}})
		if got := begins(m, 0, &intent.Goal{Effect: intent.Submit, Lemma: "publish", Concept: "send"}); got != want {
			t.Errorf("%q: %v, want %v", name, got, want)
		}
	}
}

// A German noun is no name to type anywhere, and a name is.
func TestIsWord(t *testing.T) {
	for _, c := range []struct {
		lang, text string
		want       bool
	}{{"de", "Stern", true}, {"de", "Grabowski", false}, {"en", "Star", false}, {"en", "star", true}} {
		p := &planner{text: &intent.Text{Lang: c.lang}}
		if got := p.isWord(c.text); got != c.want {
			t.Errorf("%s %q: %v, want %v", c.lang, c.text, got, c.want)
		}
	}
}
