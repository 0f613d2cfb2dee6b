package storage_test

import (
	"archive/tar"
	"bytes"
	"context"
	"encoding/json"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/klauspost/compress/zstd"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/migrations"
)

// TestLanded compares the steps of the program with the newest schema that landed, which is
// theirs: a step that has landed never changes, and a new one is recorded. With -update, in a clone that has the history, it records
// the schemas that are not recorded yet: those of the commits on the main line which
// changed a step.
func TestLanded(t *testing.T) {
	t.Parallel()
	list := readLanded(t)
	if *update {
		list = recordLanded(t, list)
	}
	require.NotEmpty(t, list)
	newest := list[len(list)-1].steps
	for name, file := range newest {
		now, err := fs.ReadFile(migrations.Files, name)
		require.NoError(t, err, "a step that has landed is never removed")
		require.Equal(t, string(file.Data), string(now), "%s has landed: change it by a new step", name)
	}
	steps, err := fs.Glob(migrations.Files, "*.sql")
	require.NoError(t, err)
	require.Equal(t, slices.Sorted(maps.Keys(newest)), steps,
		"a step is not recorded: commit it, then go test ./storage -run TestLanded -update")
	early, err := fs.Glob(migrations.EarlySteps(), "*.sql")
	require.NoError(t, err)
	require.Len(t, list[3].steps, len(early))
	for _, name := range early {
		now, err := fs.ReadFile(migrations.EarlySteps(), name)
		require.NoError(t, err)
		require.Equal(t, string(list[3].steps[name].Data), string(now), name)
	}
}

// recordLanded adds what the history has and the list has not, and writes the file.
func recordLanded(t *testing.T, known []*landed) []*landed {
	t.Helper()
	var list []*landed
	for _, commit := range strings.Fields(git(t, "log", "--first-parent", "--reverse", "--format=%H", "--", "migrations")) {
		l := &landed{commit: commit[:10], steps: fstest.MapFS{}}
		for _, file := range strings.Fields(git(t, "ls-tree", "--name-only", commit, "migrations/")) {
			if path.Ext(file) == ".sql" {
				l.steps[path.Base(file)] = &fstest.MapFile{Data: []byte(git(t, "show", commit+":"+file))}
			}
		}
		if len(list) > 0 && maps.EqualFunc(l.steps, list[len(list)-1].steps, sameFile) {
			continue
		}
		if at := slices.IndexFunc(known, func(k *landed) bool { return k.complete() && maps.EqualFunc(k.steps, l.steps, sameFile) }); at >= 0 {
			list = append(list, known[at])
			continue
		}
		l.fill(t)
		list = append(list, l)
	}
	writeLanded(t, list)
	return list
}

// complete reports whether each table has a row.
func (l *landed) complete() bool {
	return !slices.ContainsFunc(l.rows, func(of tableRows) bool { return len(of.Rows) == 0 })
}

func sameFile(a, b *fstest.MapFile) bool { return bytes.Equal(a.Data, b.Data) }

func git(t *testing.T, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = ".."
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	require.NoError(t, err, "git %v", args)
	return string(out)
}

// fill makes a few rows of each table.
func (l *landed) fill(t *testing.T) {
	t.Helper()
	db := emptyDB(t)
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	l.apply(ctx, t, db)
	for _, table := range seed(ctx, t, db) {
		of := tableRows{Table: table}
		var rows []string
		require.NoError(t, db.SelectContext(ctx, &rows, `select to_jsonb(t) from `+table+` t`))
		for _, row := range rows {
			of.Rows = append(of.Rows, json.RawMessage(row))
		}
		l.rows = append(l.rows, of)
	}
	t.Logf("%s: %d tables", l.commit, len(l.rows))
}

func writeLanded(t *testing.T, list []*landed) {
	t.Helper()
	require.NoError(t, os.MkdirAll(path.Dir(landedFile), 0o755))
	var packed bytes.Buffer
	const window = 8 << 20 // several schemas, so that each is written as what differs
	compressed, err := zstd.NewWriter(&packed, zstd.WithEncoderLevel(zstd.SpeedBestCompression), zstd.WithWindowSize(window))
	require.NoError(t, err)
	archive := tar.NewWriter(compressed)
	add := func(name string, content []byte) {
		require.NoError(t, archive.WriteHeader(&tar.Header{Name: name, Mode: 0o644, Size: int64(len(content))}))
		_, err := archive.Write(content)
		require.NoError(t, err)
	}
	for _, l := range list {
		for _, name := range slices.Sorted(maps.Keys(l.steps)) {
			add(l.commit+"/"+name, l.steps[name].Data)
		}
		rows, err := json.Marshal(l.rows)
		require.NoError(t, err)
		add(l.commit+"/"+rowsFile, rows)
	}
	require.NoError(t, archive.Close())
	require.NoError(t, compressed.Close())
	require.NoError(t, os.WriteFile(landedFile, packed.Bytes(), 0o644))
}
