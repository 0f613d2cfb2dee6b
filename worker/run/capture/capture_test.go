package capture

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// A page that never stops failing does not fill the store.
func TestFilesAreBounded(t *testing.T) {
	t.Parallel()
	var f Files
	for range maxFiles {
		require.True(t, f.begin())
	}
	require.False(t, f.begin())
	require.Empty(t, f.List())
	require.Empty(t, f.Keys())
}
