package labelled_test

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/worker/crash/fingerprint"
	"github.com/slipway-qa/slipway/worker/crash/fingerprint/labelled"
)

// Bounds on the pairs of testdata/unseen and testdata/sealed. Somebody who did not know the rules
// wrote them, of 20 languages and in the words in which platforms print crashes; clients would send
// the frames. The sealed ones were measured before anybody looked at them: docs/grouping-measured.md.
const (
	leastUnseenSame  = 0.92
	leastUnseenOther = 0.97
	leastSealedSame  = 0.87
	leastSealedOther = 0.95
)

func TestGroupingOfUnseenPairs(t *testing.T) {
	t.Parallel()
	requireRates(t, "testdata/unseen", leastUnseenSame, leastUnseenOther)
}

func TestGroupingOfSealedPairs(t *testing.T) {
	t.Parallel()
	requireRates(t, "testdata/sealed", leastSealedSame, leastSealedOther)
}

// requireRates measures the pairs of a folder: at least same of those of one bug have to be joined, and
// at least other of those of two be kept apart.
func requireRates(t *testing.T, folder string, same, other float64) {
	t.Helper()
	set, err := labelled.Read(os.DirFS(folder))
	require.NoError(t, err)
	res := labelled.Measure(set.Pairs, key)
	for _, p := range res.Wrong {
		t.Logf("wrong: %s: %s (one bug: %t): %q and %q", p.Name, p.Why, p.Same,
			fingerprint.Compute(p.A.Report).Explanation.Material, fingerprint.Compute(p.B.Report).Explanation.Material)
	}
	s := res.Total
	require.GreaterOrEqual(t, s.Same, 40)
	require.GreaterOrEqual(t, s.Other, 40)
	require.GreaterOrEqual(t, float64(s.Joined)/float64(s.Same), same)
	require.GreaterOrEqual(t, float64(s.Apart)/float64(s.Other), other)
}
