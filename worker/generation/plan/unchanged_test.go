package plan_test

import (
	"context"
	"errors"
	"testing"

	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/storage/step/playback"
	"github.com/slipway-qa/slipway/worker/generation/plan"
	"github.com/slipway-qa/slipway/worker/snapshot"
)

// disagreeing is a scene in which one element does not hold what the snapshot said of it.
type disagreeing struct {
	*scene
	ref string
}

func (d *disagreeing) Do(ctx context.Context, st step.Step) (playback.Record, error) {
	record, err := d.scene.Do(ctx, st)
	if st.Tool.Type == step.Assert && st.Tool.Args.Selector != nil && st.Tool.Args.Selector.Value == d.ref {
		record.Status, record.Result = playback.Failed, step.Outcome{Message: "it holds something else"}
	}
	return record, err
}

// TestUnchangedFailsWhereOneCheckFails fails what is said to be unchanged where one of the steps that
// compare it fails, though another passes.
func TestUnchangedFailsWhereOneCheckFails(t *testing.T) {
	for ref, fails := range map[string]bool{"": false, "name": true, "town": true} {
		on := false
		s := &scene{lang: "en"}
		s.nodes = func() []snapshot.Node {
			return []snapshot.Node{box("mail", "Mail", on), typable("name", "Name", "Ann"), typable("town", "Town", "Ulm")}
		}
		s.on = func(_, ref, _ string) { on = on || ref == "mail" }
		out, err := plan.Run(t.Context(), plan.Config{Page: &disagreeing{s, ref},
			Intent: "Tick Mail. Check that the name and the town are unchanged.", NoSuggestion: true})
		var failed *plan.FailedError
		if errors.As(err, &failed) != fails || !fails && err != nil {
			t.Errorf("%q: %v, %s", ref, err, asserted(out))
		}
	}
}
