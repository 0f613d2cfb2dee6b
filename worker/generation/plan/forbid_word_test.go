package plan_test

import (
	"testing"

	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/worker/generation/intent"
	"github.com/slipway-qa/slipway/worker/generation/plan"
	"github.com/slipway-qa/slipway/worker/snapshot"
)

// TestWhatIsForbiddenIsNotPressedInAnyReading holds a deed that a text forbids to its word, whatever effect
// a reading takes it for: the name can only be changed by what publishes here.
func TestWhatIsForbiddenIsNotPressedInAnyReading(t *testing.T) {
	published, name := false, ""
	s := &scene{lang: "en", nodes: func() []snapshot.Node {
		return []snapshot.Node{typable("name", "Name", name), pressable("publish", "button", "Publish rota"), pressable("help", "button", "Help")}
	}, on: func(tool, ref, text string) {
		published = published || tool == step.Click && ref == "publish"
		if tool == step.InputText {
			name = text
		}
	}}
	read := intent.Read("Enter Tom as the name and save, but do not publish.")
	for i := range read.Readings {
		for k := range read.Readings[i].Goals {
			if g := &read.Readings[i].Goals[k]; g.Forbidden {
				g.Effect, g.Risk, g.Concept = intent.Complete, "", "publish"
			}
		}
	}
	_, err := plan.Run(t.Context(), plan.Config{Page: s, Text: &read, NoSuggestion: true, Trace: func(line string) { t.Log(line) }})
	if published {
		t.Errorf("it was published: %v", err)
	}
}
