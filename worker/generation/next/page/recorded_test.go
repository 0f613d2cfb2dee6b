package page

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/worker/snapshot"
)

func readSnapshot(t testing.TB, path string) *snapshot.Snapshot {
	t.Helper()
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	var s snapshot.Snapshot
	require.NoError(t, json.Unmarshal(text, &s))
	return &s
}

// TestOutlines writes the outlines of recorded snapshots, for people to read:
// PAGE_SNAPSHOTS=folder PAGE_OUTLINES=folder.
func TestOutlines(t *testing.T) {
	in, out := os.Getenv("PAGE_SNAPSHOTS"), os.Getenv("PAGE_OUTLINES")
	if in == "" || out == "" {
		t.Skip("PAGE_SNAPSHOTS and PAGE_OUTLINES are not set")
	}
	files, err := filepath.Glob(filepath.Join(in, "*", "*.json"))
	require.NoError(t, err)
	require.NoError(t, os.MkdirAll(out, 0o755))
	for _, file := range files {
		m := New(readSnapshot(t, file))
		name := filepath.Base(filepath.Dir(file)) + "-" + filepath.Base(file)
		require.NoError(t, os.WriteFile(filepath.Join(out, name+".txt"), []byte(m.Outline()), 0o644))
	}
}
