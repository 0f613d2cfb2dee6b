package testsync

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// A test reads its CSV file from anywhere in the repository, and from nowhere else.
func TestCSVOfTheRepository(t *testing.T) {
	t.Parallel()
	base := t.TempDir()
	root := filepath.Join(base, "repository")
	tests := filepath.Join(root, "tests", "shop")
	for _, dir := range []string{filepath.Join(root, ".git"), tests, filepath.Join(root, "data")} {
		require.NoError(t, os.MkdirAll(dir, 0o755))
	}
	write := func(path, text string) {
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	}
	write(filepath.Join(base, "outside.csv"), "user\neve\n")
	write(filepath.Join(root, "data", "users.csv"), "user\nann\n")
	write(filepath.Join(tests, "near.csv"), "user\nbob\n")
	require.NoError(t, os.Symlink(filepath.Join(base, "outside.csv"), filepath.Join(tests, "link.csv")))
	for name, want := range map[string]string{
		"near.csv": "", "./near.csv": "", "../../data/users.csv": "",
		"../../../outside.csv": "data: ../../../outside.csv is outside of the repository",
		"link.csv":             "data: link.csv: path escapes from parent", "none.csv": "data: none.csv: no such file",
		"../shop": "data: ../shop is no file",
	} {
		path := filepath.Join(tests, "sign-in.yaml")
		write(path, "name: Sign in\ndata: {csv: "+name+"}\n")
		file, err := readFile(path)
		if want != "" {
			require.ErrorContains(t, err, want)
			continue
		}
		require.NoError(t, err)
		require.Len(t, file.Case.Data.Rows, 1)
	}

	// Another state of the server goes into the CSV file, and the test keeps naming it.
	path := filepath.Join(tests, "sign-in.yaml")
	write(path, "name: Sign in\ndata: {csv: near.csv}\n")
	file, err := readFile(path)
	require.NoError(t, err)
	server := *file.Case
	data := *file.Case.Data
	data.CSV, data.Rows = "", [][]string{{"carol"}, {"dave, jr."}}
	server.Data = &data
	require.NoError(t, file.write(&server))
	text, err := os.ReadFile(filepath.Join(tests, "near.csv"))
	require.NoError(t, err)
	require.Equal(t, "user\ncarol\n\"dave, jr.\"\n", string(text))
	require.Equal(t, "near.csv", file.Case.Data.CSV)
	require.Equal(t, data.Rows, file.Case.Data.Rows)
}
