package method_test

import (
	"testing"

	"github.com/slipway-qa/slipway/worker/generation/intent"
	"github.com/slipway-qa/slipway/worker/generation/method"
	"github.com/slipway-qa/slipway/worker/generation/page"
	"github.com/slipway-qa/slipway/worker/snapshot"
)

// TestBulkOfWhatIsSelected prefers the control that says that it is for what is selected to a place of
// the name of the deed.
func TestBulkOfWhatIsSelected(t *testing.T) {
	for _, names := range [][2]string{{"Archive", "Archive selected"}, {"Archive selected", "Archive"},
		{"Archive", "Ausgewählte archivieren"}} {
		s := &snapshot.Snapshot{Lang: "en", Width: 1000, Height: 800}
		for _, name := range names {
			b := button(name, "", name)
			b.Parent = -1
			s.Nodes = append(s.Nodes, b)
		}
		m := page.New(s)
		g := &intent.Goal{Effect: intent.Act, Lemma: "archive", Concept: "archive", Target: []intent.Description{{Pronoun: true}}}
		list := method.Bulk(&method.Task{Model: m, Goal: g, Lang: "en", Inside: -1, Near: -1, Marked: true})
		if len(list) == 0 || told(m, &list[0]) == "click Archive" {
			t.Errorf("%v: %d ways", names, len(list))
		}
	}
}
