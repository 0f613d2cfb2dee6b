package conventions

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// guarantee is a row of the list in docs/architecture.md, with its tests as folder.name.
type guarantee struct {
	what       string
	tests      []string
	soak       []string
	everything []string
}

// programTests is where the built program is killed.
const programTests = "cmd/slipway/processtest"

// readGuarantees reads the list.
func readGuarantees(t *testing.T) []guarantee {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(moduleRoot, "docs/architecture.md"))
	require.NoError(t, err)
	_, section, found := strings.Cut(string(text), "\n## Guarantees and their tests\n")
	require.True(t, found, "the list")
	section, _, _ = strings.Cut(section, "\n## ")
	var all []guarantee
	for line := range strings.Lines(section) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		if !strings.HasPrefix(line, "| ") || strings.HasPrefix(line, "| What holds ") {
			continue
		}
		require.Len(t, cells, 3, line)
		g := guarantee{what: strings.TrimSpace(cells[0]), tests: namedTests(t, cells[1]), soak: namedTests(t, cells[2])}
		g.everything = append(append(g.everything, g.tests...), g.soak...)
		all = append(all, g)
	}
	return all
}

// namedTests reads a cell: `folder` TestOne, TestTwo; `folder` TestThree.
func namedTests(t *testing.T, cell string) []string {
	t.Helper()
	var tests []string
	for part := range strings.SplitSeq(cell, ";") {
		if strings.TrimSpace(part) == "" {
			continue
		}
		found := regexp.MustCompile("^`([a-z/]+)` (Test\\w+(?:, Test\\w+)*)$").FindStringSubmatch(strings.TrimSpace(part))
		require.NotNil(t, found, "%q is not a folder and names of tests", part)
		for name := range strings.SplitSeq(found[2], ", ") {
			tests = append(tests, found[1]+"."+name)
		}
	}
	return tests
}

// testFunctions returns the tests of a folder as folder.name, and whether each needs the tag
// soak.
func testFunctions(t *testing.T, folder string) map[string]bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(moduleRoot, folder, "*_test.go"))
	require.NoError(t, err)
	functions := map[string]bool{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		soak := strings.HasPrefix(string(text), "//go:build soak\n")
		require.Equal(t, strings.HasSuffix(file, "_soak_test.go"), soak, "%s: the name says what the build tag does", file)
		for _, found := range regexp.MustCompile(`(?m)^func (Test\w+)\(t \*testing\.T\)`).FindAllStringSubmatch(string(text), -1) {
			functions[folder+"."+found[1]] = soak
		}
	}
	return functions
}

// The list of guarantees names tests that exist: at least one of every run for each
// guarantee, and every soak test of the program.
func TestGuaranteesHaveTests(t *testing.T) {
	t.Parallel()
	guarantees := readGuarantees(t)
	require.Greater(t, len(guarantees), 15)
	functions, listed := map[string]bool{}, map[string]bool{}
	for _, folder := range testFolders(t) {
		for name, soak := range testFunctions(t, folder) {
			functions[name] = soak
		}
	}
	for _, g := range guarantees {
		require.NotEmpty(t, g.tests, "%s: no test of every run", g.what)
		for _, name := range g.everything {
			_, exists := functions[name]
			require.True(t, exists, "%s: there is no %s", g.what, name)
			listed[name] = true
		}
		for _, name := range g.tests {
			require.False(t, functions[name], "%s: %s is no test of every run", g.what, name)
		}
		for _, name := range g.soak {
			require.True(t, functions[name], "%s: %s is no soak test", g.what, name)
		}
	}
	for name, soak := range functions {
		require.True(t, !soak || listed[name] || !strings.HasPrefix(name, programTests+"."),
			"%s holds no guarantee of docs/architecture.md", name)
	}
}

// testFolders returns the folders with tests.
func testFolders(t *testing.T) []string {
	t.Helper()
	var folders []string
	require.NoError(t, filepath.WalkDir(moduleRoot, func(path string, entry os.DirEntry, err error) error {
		if err != nil || !entry.IsDir() {
			return err
		}
		if name := entry.Name(); path != moduleRoot && (strings.HasPrefix(name, ".") || name == "testdata" ||
			name == "node_modules" || name == "data") {
			return filepath.SkipDir
		}
		tests, err := filepath.Glob(filepath.Join(path, "*_test.go"))
		if len(tests) > 0 {
			folder, relative := filepath.Rel(moduleRoot, path)
			if relative != nil {
				return relative
			}
			folders = append(folders, filepath.ToSlash(folder))
		}
		return err
	}))
	return folders
}
