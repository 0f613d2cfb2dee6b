package replay_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage/step"
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
