package replay_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var topLevel = regexp.MustCompile(`(?m)^(?:async )?(?:function\*?|const|let|class) ([A-Za-z_]\w*)`)

// The files of the page scripts are joined, so a name that two of them declare means
// one of both things everywhere, without any error. Only files that begin a script of
// their own are never joined with each other.
func TestPageScriptNames(t *testing.T) {
	t.Parallel()
	mains := []string{"act", "heal", "observe", "mask", "drag"}
	files, err := filepath.Glob("page/*.js")
	require.NoError(t, err)
	declared := map[string]string{}
	for _, path := range files {
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		file := strings.TrimSuffix(filepath.Base(path), ".js")
		for _, found := range topLevel.FindAllStringSubmatch(string(text), -1) {
			name := found[1]
			before := declared[name]
			if before != "" && !(slices.Contains(mains, before) && slices.Contains(mains, file)) {
				t.Errorf("%s.js and %s.js both declare %s", before, file, name)
			}
			declared[name] = file
		}
	}
	require.Greater(t, len(declared), 100)
}
