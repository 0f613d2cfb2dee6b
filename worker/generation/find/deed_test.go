package find

import (
	"testing"

	"github.com/slipway-qa/slipway/worker/generation/intent"
	"github.com/slipway-qa/slipway/worker/generation/page"
	"github.com/slipway-qa/slipway/worker/snapshot"
)

// A form is handed in by "Next", and a calendar is turned by "Next week".
func TestDeedOfNext(t *testing.T) {
	t.Parallel()
	w := wordsOf(page.New(&snapshot.Snapshot{Lang: "en"}))
	for name, submits := range map[string]bool{"Next": true, "Next step": true, "Save": true, "Next week": false,
		"Next month": false, "Next page": false} {
		if got := w.deed(name, intent.Submit, "", "en", false, false).score > 0; got != submits {
			t.Errorf("%q submits: %v, want %v", name, got, submits)
		}
	}
	if w.deed("next", intent.Submit, "", "en", true, false).score > 0 {
		t.Error("an icon of an arrow submits")
	}
}
