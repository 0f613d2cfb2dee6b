package measure

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/cmd/bench/progress"
)

func TestPartsAreChosen(t *testing.T) {
	t.Parallel()
	var ran []string
	note := func(name string) func(context.Context) error {
		return func(context.Context) error {
			ran = append(ran, name)
			return nil
		}
	}
	parts := []Part{{Name: "first", Run: note("first")}, {Name: "long", Run: note("long"), Asked: true}, {Name: "last", Run: note("last")}}
	require.NoError(t, RunParts(t.Context(), nil, parts))
	require.Equal(t, []string{"first", "last"}, ran)
	ran = nil
	require.NoError(t, RunParts(t.Context(), []string{"last", "long"}, parts))
	require.Equal(t, []string{"long", "last"}, ran)
	require.ErrorContains(t, RunParts(t.Context(), []string{"nonsense"}, parts), `"nonsense"`)
}

func TestAPartThatHangsEnds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		err := RunParts(t.Context(), nil, []Part{{Name: "cases", Limit: time.Minute, Run: func(ctx context.Context) error {
			defer progress.Waits(ctx, "12 of 40 runs")()
			<-ctx.Done()
			return ctx.Err()
		}}})
		require.EqualError(t, err, "cases: not done within 1m0s, waited for 12 of 40 runs")
	})
}
