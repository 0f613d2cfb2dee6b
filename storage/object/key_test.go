package object

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func sorted(keys []string) []string {
	out := slices.Clone(keys)
	slices.Sort(out)
	return out
}

func TestValidKey(t *testing.T) {
	t.Parallel()
	for _, key := range invalidKeys() {
		require.False(t, ValidKey(key), "%q", key)
	}
	for _, key := range []string{"a", "0", "a/b", "a/B_c-d.e", "a..b", strings.Repeat("a", maxSegment)} {
		require.True(t, ValidKey(key), "%q", key)
	}
}

func FuzzKey(f *testing.F) {
	for _, key := range append(invalidKeys(), "a", "a/b", "abcdef/ghijkl.x") {
		f.Add(key)
	}
	f.Fuzz(func(t *testing.T, key string) {
		if !ValidKey(key) {
			return
		}
		path := objectPath(key)
		if !filepath.IsLocal(path) || filepath.Clean(path) != path || !strings.HasPrefix(path, objectsDir+"/") {
			t.Fatalf("key %q leads to %q", key, path)
		}
		for part := range strings.SplitSeq(path, "/") {
			if len(part) > 255 {
				t.Fatalf("key %q has a file name of %d bytes", key, len(part))
			}
		}
		if len(path) > 3500 {
			t.Fatalf("key %q has a path of %d bytes", key, len(path))
		}
	})
}
