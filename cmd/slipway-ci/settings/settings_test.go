package settings

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/cmd/slipway-ci/outcome"
)

func TestSettingsAreStrict(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ text, want string }{
		"unknown":        {"server: https://qa\ngruop: QA\n", `line 2: unknown member "gruop", did you mean "group"?`},
		"far from all":   {"zzzzzzzzzz: 1\n", `line 1: unknown member "zzzzzzzzzz"`},
		"unknown inside": {"oidc:\n  kee: oidc_1\n", `line 2: unknown member "oidc.kee", did you mean "oidc.key"?`},
		"a secret": {"server: https://qa\napi_key: slp_1\n",
			`line 2: "api_key" does not belong into a repository: use the variable SLIPWAY_KEY, or --key-file`},
		"twice":              {"app: a\nserver: s\napp: b\n", `line 3: "app" stands there twice`},
		"a list for a text":  {"app: [a]\n", "line 1: it must be a text"},
		"a text for a gate":  {"gate: closed\n", "line 1: gate must be a mapping: the policy"},
		"a list in metadata": {"metadata:\n  a: [1]\n", "line 2: metadata.a must be a text"},
		"a list":             {"- a\n", "line 1: the document must be a mapping"},
		"no YAML":            {"a: [\n", "line"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), Name)
			require.NoError(t, os.WriteFile(path, []byte(c.text), 0o600))
			_, err := Read(path)
			require.Error(t, err)
			require.Equal(t, outcome.Misused, outcome.CodeOf(err))
			require.Contains(t, err.Error(), path+": ")
			require.Contains(t, err.Error(), c.want)
			require.NotContains(t, err.Error(), "slp_1")
		})
	}
}

func TestSettingsAreRead(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), Name)
	require.NoError(t, os.WriteFile(path, []byte(`
server: https://qa.example.com
app: Shop
groups: [QA, "12"]
channel: beta
notes: CHANGELOG.md
tests: tests
suite: Smoke
metadata: {arch: arm64, build: 1e3}
oidc: {key: oidc_1, audience: slipway}
gate:
  conditions: [{name: crashes, type: crash_groups, reports: 5}]
`), 0o600))
	f, err := Read(path)
	require.NoError(t, err)
	require.Equal(t, "https://qa.example.com", f.Server)
	require.Equal(t, "Shop", f.App)
	require.Equal(t, []string{"QA", "12"}, f.Groups)
	require.Equal(t, map[string]string{"arch": "arm64", "build": "1e3"}, f.Metadata, "as they are written")
	require.Equal(t, "oidc_1", f.OIDC.Key)
	require.Len(t, f.Gate.Content, 2, "its one member, as it stands")

	require.NoError(t, os.WriteFile(path, nil, 0o600))
	f, err = Read(path)
	require.NoError(t, err)
	require.Equal(t, &File{Path: path}, f)

	require.NoError(t, os.WriteFile(path, []byte(strings.Repeat("#\n", maxFile)), 0o600))
	_, err = Read(path)
	require.ErrorContains(t, err, "more than 1 MiB")
}

func TestSettingsAreFoundUpToTheRepository(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	deep := filepath.Join(root, "repository", "app", "src")
	require.NoError(t, os.MkdirAll(deep, 0o700))
	write := func(folder string) string {
		path := filepath.Join(root, folder, Name)
		require.NoError(t, os.WriteFile(path, nil, 0o600))
		return path
	}
	find := func(dir string) string {
		path, err := Find(dir)
		require.NoError(t, err)
		return path
	}
	write(".")
	require.Empty(t, find(deep), "outside of a repository only the folder itself counts")
	require.Equal(t, filepath.Join(root, Name), find(root))
	require.NoError(t, os.WriteFile(filepath.Join(root, "repository", ".git"), []byte("gitdir: elsewhere"), 0o600))
	require.Empty(t, find(deep), "what is above the repository is not its own")
	upper := write("repository")
	require.Equal(t, upper, find(deep))
	require.Equal(t, write("repository/app"), find(deep))
}
