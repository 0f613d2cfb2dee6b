package page

import (
	"compress/gzip"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/worker/snapshot"
)

// The outlines of recorded pages are as somebody has read and found right. PAGE_GOLDEN=write
// writes them anew.
func TestGolden(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/*.json.gz")
	require.NoError(t, err)
	require.Len(t, files, 15)
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".json.gz"), func(t *testing.T) {
			t.Parallel()
			s := readCompressed(t, file)
			got := New(s).Outline()
			golden := strings.TrimSuffix(file, ".json.gz") + ".txt"
			if os.Getenv("PAGE_GOLDEN") == "write" {
				require.NoError(t, os.WriteFile(golden, []byte(got), 0o644))
			}
			want, err := os.ReadFile(golden)
			require.NoError(t, err)
			require.Equal(t, string(want), got)
			require.Equal(t, got, New(s).Outline(), "the same snapshot gives the same model")
		})
	}
}

func readCompressed(t *testing.T, file string) *snapshot.Snapshot {
	t.Helper()
	f, err := os.Open(file)
	require.NoError(t, err)
	defer f.Close()
	text, err := gzip.NewReader(f)
	require.NoError(t, err)
	var s snapshot.Snapshot
	require.NoError(t, json.NewDecoder(text).Decode(&s))
	return &s
}
