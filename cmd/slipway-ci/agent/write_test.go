package agent

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestParseWrites(t *testing.T) {
	t.Parallel()
	kinds, err := ParseWrites([]string{"tests", " runs", "tests"})
	require.NoError(t, err)
	require.Equal(t, []Write{Tests, Runs}, kinds)
	_, err = ParseWrites([]string{"all"})
	require.ErrorContains(t, err, "tests, runs, builds and crashes")
}
