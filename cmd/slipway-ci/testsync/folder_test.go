package testsync

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/cmd/slipway-ci/client"
	"github.com/slipway-qa/slipway/storage/step/testfile"
)

func put(t *testing.T, dir, name, text string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(t, os.WriteFile(path, []byte(text), 0o640))
	return path
}

func TestFoldersAreRead(t *testing.T) {
	t.Parallel()
	show := func(path string) string { return filepath.Base(path) }
	none, err := ReadFolder(filepath.Join(t.TempDir(), "none"), nil, show)
	require.NoError(t, err)
	require.Empty(t, none.Files)

	dir := t.TempDir()
	const id = "6924f0c2a7b1d0e5f3a1b2c4"
	put(t, dir, "a.yaml", "id: "+id+"\nname: A\n")
	put(t, dir, "deep/b.yaml", "name: B\n")
	put(t, dir, ".git/c.yaml", "not: a test\n")
	put(t, dir, "notes.txt", "not: a test\n")
	settings := put(t, dir, "slipway.yaml", "server: https://qa.example.com\n")
	require.NoError(t, os.Symlink(filepath.Join(dir, "a.yaml"), filepath.Join(dir, "link.yaml")))
	f, err := ReadFolder(dir, []string{settings}, show)
	require.NoError(t, err)
	require.Len(t, f.Files, 2)
	require.Equal(t, "A", f.ByID(id).Case.Name)
	require.Nil(t, f.ByID(""))
	require.Equal(t, "B", f.byName("B").Case.Name)
	require.Equal(t, filepath.Join(dir, "a-2.yaml"), f.add(&testfile.Case{Name: "A"}).Path, "no file is taken twice")
	require.Equal(t, filepath.Join(dir, "link-2.yaml"), f.add(&testfile.Case{Name: "Link"}).Path, "nor another entry of the folder")

	put(t, dir, "copy.yaml", "id: "+id+"\nname: Copy\n")
	put(t, dir, "wrong.yaml", "name: a\nurls: b\n")
	_, err = ReadFolder(dir, []string{settings}, show)
	var usage *UsageError
	require.ErrorAs(t, err, &usage)
	require.Contains(t, usage.Text, "wrong.yaml: line 2: urls is unknown here")
	require.Contains(t, usage.Text, "copy.yaml: has the id of a.yaml")
}

func TestFilesAreWrittenWhole(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := put(t, dir, "a.yaml", "old")
	require.NoError(t, WriteFile(path, []byte("new")))
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, "new", string(text))
	info, err := os.Stat(path)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o640), info.Mode().Perm(), "a file keeps its mode")
	require.NoError(t, WriteFile(filepath.Join(dir, "deep", "b.yaml"), []byte("b")))
	require.Error(t, WriteFile(filepath.Join(path, "below-a-file.yaml"), []byte("b")))
	link := filepath.Join(t.TempDir(), "link.yaml")
	require.NoError(t, os.Symlink(path, link))
	require.NoError(t, WriteFile(link, []byte("by a link")))
	text, err = os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, "by a link", string(text), "a link stays one")
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, entries, 2, "nothing is left beside")
}

func TestSuitesByNameOrID(t *testing.T) {
	t.Parallel()
	s := &suites{[]client.TestSuite{{ID: "1", Name: "Shop"}, {ID: "2", Name: "Twice"}, {ID: "3", Name: "Twice"}}}
	require.Equal(t, "Shop", s.label("1"))
	require.Equal(t, "2", s.label("2"), "a name of several is no label")
	require.Equal(t, "9", s.label("9"))
	one, err := s.only("3")
	require.NoError(t, err)
	require.Equal(t, "3", one.ID)
	var usage *UsageError
	_, err = s.only("Twice")
	require.ErrorAs(t, err, &usage)
	require.Contains(t, usage.Text, "3  Twice")
	_, err = s.only("None")
	require.ErrorAs(t, err, &usage)
}
