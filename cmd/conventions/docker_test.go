package conventions

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// What an image copies is there, and all folders of code are copied.
func TestDockerfileCopiesTheCode(t *testing.T) {
	t.Parallel()
	var copied []string
	for _, match := range regexp.MustCompile(`(?m)^COPY ([^-].*) \S+$`).FindAllStringSubmatch(readRoot(t, "Dockerfile"), -1) {
		copied = append(copied, strings.Fields(match[1])...)
	}
	for _, name := range copied {
		_, err := os.Stat(filepath.Join(moduleRoot, name))
		require.NoError(t, err)
	}
	for top := range tiers {
		if top != "cmd" {
			require.Contains(t, copied, top)
		}
	}
	require.Subset(t, copied, []string{"cmd/localservice", "cmd/slipway"})
}

// MinIO is built in three places, which must build the same one.
func TestMinIOVersion(t *testing.T) {
	t.Parallel()
	version := regexp.MustCompile(`v0\.0\.0-\d{14}-[0-9a-f]{12}`)
	want := version.FindString(readRoot(t, "cmd/localservice/find.go"))
	require.NotEmpty(t, want)
	for _, name := range []string{"Dockerfile", ".ci/deps"} {
		require.Equal(t, []string{want}, version.FindAllString(readRoot(t, name), -1), name)
	}
}

func readRoot(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(moduleRoot, name))
	require.NoError(t, err)
	return string(b)
}
