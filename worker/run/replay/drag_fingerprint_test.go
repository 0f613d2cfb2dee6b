package replay_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/storage/step/capability"
	"github.com/slipway-qa/slipway/worker/run/replay"
)

// What a drag learns is its element, though an import left hints of its target too.
func TestDragLearnsWhatIsDragged(t *testing.T) {
	t.Parallel()
	move := do(step.Drag, step.Args{Selector: css("#a"), Target: printed("#z", step.Fingerprint{Text: "Bin"})})
	r := pass(t, `<p id=a>Letter</p><p id=z>Bin</p>`, move)
	require.Len(t, r.Fingerprints, 1)
	for _, learned := range r.Fingerprints {
		require.Equal(t, "a", learned.Attributes["id"])
	}
}

// With the value of a variable a target is another element than the recorded one.
func TestDragDoesNotHealVariableTarget(t *testing.T) {
	t.Parallel()
	bin := step.Fingerprint{Tag: "button", Role: "button", Name: "Bin", Text: "Bin"}
	page := site(t, map[string]string{"/": `<p id=a>Letter</p><button id=new>Bin</button>`})
	for target, healed := range map[string]int{"#bin": 1, "#{{bin}}": 0} {
		r := play(t, replay.Config{TestURL: page, Healing: capability.HealApply,
			Steps:  []step.Step{within(1000, do(step.Drag, step.Args{Selector: css("#a"), Target: printed(target, bin)}))},
			Lookup: func(step.Reference) (string, bool, bool) { return "bin", false, true }})
		require.Equal(t, healed, r.Healed, r.Message)
	}
}
