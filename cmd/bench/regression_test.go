package main

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/cmd/bench/regression"
)

func TestEveryBoundHasABench(t *testing.T) {
	t.Parallel()
	benches, err := (&regressionCommand{}).choose()
	require.NoError(t, err)
	var names, measuring []string
	for _, b := range benches {
		require.NotNil(t, b.Run, b.Name)
		names = append(names, b.Name)
	}
	for _, b := range regression.Bounds() {
		require.Contains(t, names, b.Bench, b.Figure)
		measuring = append(measuring, b.Bench)
	}
	require.Subset(t, measuring, names, "a bench without a bound")
	some, err := (&regressionCommand{Only: []string{regression.Upload}}).choose()
	require.NoError(t, err)
	require.Len(t, some, 1)
	require.ErrorContains(t, (&regressionCommand{Only: []string{"nonsense"}}).Run(t.Context()), "nonsense")
	require.Contains(t, describeMachine(t.Context()), " cores")
}
