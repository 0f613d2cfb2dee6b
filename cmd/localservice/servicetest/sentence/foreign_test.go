package sentence

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The sets on pages of packages can be read, and each pair says what is right: an oracle
// with steps that show it, or how it must be refused.
func TestForeign(t *testing.T) {
	t.Parallel()
	folders, err := filepath.Glob("foreign/*/*/pairs")
	require.NoError(t, err)
	require.Len(t, folders, 8, "open and sealed of each")
	seen := map[string]bool{}
	sentences, languages, refused, traps := 0, map[string]int{}, 0, 0
	for _, folder := range folders {
		set, err := Load(os.DirFS(filepath.Dir(folder)))
		require.NoError(t, err, folder)
		for _, p := range set.Pairs {
			require.False(t, seen[p.Name], "%s: a second pair of this name", p.Name)
			seen[p.Name] = true
			// What can be done is said a second time in the open sets, by another person, and some of it a third.
			least, most := 1, 1
			if strings.Contains(folder, "/open/") && len(p.Codes) == 0 {
				least, most = 2, 3
			}
			require.GreaterOrEqual(t, len(p.Sentences), least, p.Name)
			require.LessOrEqual(t, len(p.Sentences), most, p.Name)
			require.NotEmpty(t, p.Page, p.Name)
			require.NotEmpty(t, p.Oracle, p.Name)
			require.True(t, slices.Contains([]string{"en", "de", "es", "fr"}, p.Lang), p.Name)
			require.Equal(t, len(p.Codes) > 0, len(p.Solution) == 0, "%s: what can be done has steps, and what cannot has codes", p.Name)
			sentences++ // not the other wordings: they are of the same wishes
			languages[p.Lang]++
			if len(p.Codes) > 0 {
				refused++
				require.NotEmpty(t, p.Names, p.Name)
			}
			if p.Trap {
				traps++
			}
		}
	}
	require.Greater(t, sentences, 500)
	require.Greater(t, languages["en"], 300)
	require.Greater(t, min(languages["de"], languages["es"]*2, languages["fr"]*2), 90)
	require.Greater(t, min(refused, traps), sentences/8)
}
