package crash

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/cmd/bench/measure"
	"github.com/slipway-qa/slipway/storage/report"
	"github.com/slipway-qa/slipway/worker/crash/fingerprint"
)

func TestSamplesAreRealReports(t *testing.T) {
	t.Parallel()
	for name, goal := range crashTargets {
		groups := map[[32]byte]bool{}
		for _, s := range measure.Samples(100, goal.bytes) {
			require.InDelta(t, goal.bytes, len(s.Body), float64(goal.bytes)/10, name)
			require.Equal(t, measure.Placeholder, string(s.Body[s.UUID:][:len(measure.Placeholder)]))
			head, err := report.Check(s.Body, report.DefaultLimits())
			require.NoError(t, err)
			r, err := report.Parse(head.Document)
			require.NoError(t, err)
			groups[fingerprint.Compute(r).Key] = true
		}
		require.Greater(t, len(groups), 20, name)
		require.LessOrEqual(t, len(groups), 50, name)
	}
}
