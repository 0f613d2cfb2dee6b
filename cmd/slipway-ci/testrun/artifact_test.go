package testrun

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/cmd/slipway-ci/client"
)

// What a step compared is stored beside the last screenshots, and displaces none.
func TestChosenFiles(t *testing.T) {
	t.Parallel()
	var files []client.TestFile
	for i, kind := range []string{"screenshot", "screenshot", "screenshot", "actual", "expected", "difference", "screenshot",
		"finding", "source", "trace"} {
		files = append(files, client.TestFile{Kind: kind, Step: i})
	}
	chosen := func(kind string) (steps []int) {
		for _, f := range (&Artifacts{Kind: kind}).chosen(files) {
			steps = append(steps, f.Step)
		}
		return steps
	}
	require.Equal(t, []int{1, 2, 6, 3, 4, 5, 7}, chosen(Screenshots))
	require.Equal(t, []int{9}, chosen(Traces))
}
