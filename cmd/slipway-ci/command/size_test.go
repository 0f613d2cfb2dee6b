package command

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestSizesAndTimes(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int64{"64MB": 64 << 20, "1 GiB": 1 << 30, "512k": 512 << 10, "100": 100, "7b": 7} {
		var s size
		require.NoError(t, s.UnmarshalText([]byte(text)), text)
		require.EqualValues(t, want, s, text)
	}
	for _, text := range []string{"", "MB", "-1", "0", "1.5GB", "99999999999G", "x"} {
		require.Error(t, new(size).UnmarshalText([]byte(text)), text)
	}
	for _, text := range []string{"2026-01-31", "2026-01-31T12:00:00Z", "24h"} {
		require.NoError(t, new(instant).UnmarshalText([]byte(text)), text)
	}
	for _, text := range []string{"", "-1h", "yesterday"} {
		require.Error(t, new(instant).UnmarshalText([]byte(text)), text)
	}
}
