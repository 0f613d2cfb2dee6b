package conventions

import (
	"bufio"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// docs/dependencies.md says of each direct requirement why it is there.
func TestDependenciesAreExplained(t *testing.T) {
	t.Parallel()
	doc, err := os.ReadFile(filepath.Join(moduleRoot, "docs/dependencies.md"))
	require.NoError(t, err)
	modules, tools, found := strings.Cut(string(doc), "\n## Tools\n")
	require.True(t, found)
	line := regexp.MustCompile("(?m)^- `([^`]+)`: \\S.*\\.$")
	var explained []string
	for _, match := range line.FindAllStringSubmatch(modules, -1) {
		explained = append(explained, match[1])
	}
	require.True(t, slices.IsSorted(explained), "in the order of go.mod")
	require.Equal(t, directRequirements(t), explained)

	for _, tool := range []struct{ file, name string }{
		{".ci/test", "github.com/golangci/golangci-lint/v2/cmd/golangci-lint"}, {".ci/test", "gotest.tools/gotestsum"},
		{".ci/deps", "github.com/minio/minio"}, {"cmd/slipway/processtest/testdata/npm/package.json", "@backtrace/node"},
		{"cmd/slipway/processtest/testdata/generated/go/go.mod", "github.com/oapi-codegen/oapi-codegen/v2"},
		{"cmd/slipway/processtest/testdata/generated/typescript/package.json", "openapi-typescript"},
	} {
		b, err := os.ReadFile(filepath.Join(moduleRoot, tool.file))
		require.NoError(t, err)
		require.Contains(t, string(b), tool.name)
		require.Contains(t, tools, "- `"+tool.name+"`: ")
	}
}

// directRequirements are the modules of go.mod without the mark "indirect".
func directRequirements(t *testing.T) []string {
	t.Helper()
	f, err := os.Open(filepath.Join(moduleRoot, "go.mod"))
	require.NoError(t, err)
	defer f.Close()
	requirement := regexp.MustCompile(`^\s*(?:require\s+)?([a-z0-9.-]+\.[a-z]+/\S+) v\S+$`)
	var direct []string
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if match := requirement.FindStringSubmatch(lines.Text()); match != nil {
			direct = append(direct, match[1])
		}
	}
	slices.Sort(direct)
	return direct
}
