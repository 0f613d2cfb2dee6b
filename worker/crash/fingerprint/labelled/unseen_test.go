package labelled_test

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/worker/crash/fingerprint"
	"github.com/slipway-qa/slipway/worker/crash/fingerprint/labelled"
)

// Bounds on the pairs of testdata/unseen. Somebody who did not know the rules wrote them, of 20
// languages and in the words in which platforms print crashes; clients would send the frames.
const (
	leastUnseenSame  = 0.92
	leastUnseenOther = 0.97
)

func TestGroupingOfUnseenPairs(t *testing.T) {
	t.Parallel()
	set, err := labelled.Read(os.DirFS("testdata/unseen"))
	require.NoError(t, err)
	res := labelled.Measure(set.Pairs, key)
	for _, p := range res.Wrong {
		t.Logf("wrong: %s: %s (one bug: %t): %q and %q", p.Name, p.Why, p.Same,
			fingerprint.Compute(p.A.Report).Explanation.Material, fingerprint.Compute(p.B.Report).Explanation.Material)
	}
	s := res.Total
	require.GreaterOrEqual(t, s.Same, 40)
	require.GreaterOrEqual(t, s.Other, 40)
	require.GreaterOrEqual(t, float64(s.Joined)/float64(s.Same), leastUnseenSame)
	require.GreaterOrEqual(t, float64(s.Apart)/float64(s.Other), leastUnseenOther)
}
