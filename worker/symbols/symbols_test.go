package symbols

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/ledger"
	"github.com/slipway-qa/slipway/storage/symbol"
	"github.com/slipway-qa/slipway/storage/symbolfile"
	"github.com/slipway-qa/slipway/tasks"
	"github.com/slipway-qa/slipway/worker"
	"github.com/slipway-qa/slipway/worker/symbols/parse"
)

func zipped(t *testing.T, files ...string) string {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for i := 0; i < len(files); i += 2 {
		e, err := w.Create(files[i])
		require.NoError(t, err)
		_, err = io.WriteString(e, files[i+1])
		require.NoError(t, err)
	}
	require.NoError(t, w.Close())
	return b.String()
}

func TestIndexOfMapping(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	u := w.upload(aMapping, func(n *symbolfile.New) { n.GivenID, n.ProjectID = "My-Build-7", w.project })
	claim := w.claim(tasks.SymbolIndex, *u.TaskID)
	require.NoError(t, w.handler.Handle(t.Context(), claim))
	require.ErrorIs(t, w.handler.Handle(t.Context(), claim), storage.ErrStale, "a stale token ends nothing")
	u = w.reread(u)
	require.Equal(t, symbolfile.Indexed, u.State)
	files := w.files(u)
	require.Len(t, files, 1)
	require.Equal(t, symbol.ProGuard, files[0].Kind)
	require.Equal(t, parse.Version(symbol.ProGuard), files[0].IndexVersion)
	require.Equal(t, []string{files[0].IndexKey}, w.indexes())
	require.Equal(t, []string{" mapping_id=7a3f5c1", " mapping_id=7a3f5c1d2e", " mapping_id=my-build-7"}, w.identifiers(u))
	require.Equal(t, IndexResult{Files: 1, Done: 1}, w.result(u))
	content, info, err := w.objects.Open(t.Context(), files[0].IndexKey, 0, -1)
	require.NoError(t, err)
	all, err := io.ReadAll(content)
	require.NoError(t, errors.Join(err, content.Close()))
	require.Equal(t, files[0].IndexSize, info.Size)
	x, err := symbol.Open(bytes.NewReader(all), info.Size)
	require.NoError(t, err)
	require.Equal(t, "proguard", x.Kind)
	left, err := os.ReadDir(w.handler.Folder)
	require.NoError(t, err)
	require.Empty(t, left, "temporary files are gone")
}

// Each hostile file is a row that says why, and the next file is read.
func TestHostileUploads(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for name, c := range map[string]struct{ data, format, code, reason string }{
		"text":          {"hello", "", symbol.Unsupported, "neither a mapping"},
		"empty":         {"", "", symbol.Unsupported, "empty"},
		"no mapping":    {"hello -> world", "proguard", symbol.Truncated, "line 1"},
		"cut ELF":       {"\x7fELF\x02\x01\x01", "", symbol.Truncated, ""},
		"cut archive":   {zipped(t, "mapping.txt", aMapping)[:60], "", symbol.Malformed, "zip"},
		"empty archive": {zipped(t), "", symbol.Unsupported, "none of the 0 files"},
		"climbing":      {zipped(t, "../mapping.txt", aMapping), "", symbol.Malformed, "out of the archive"},
		"two wrong":     {zipped(t, "a.so", "\x7fELF", "b.so", "\x7fELFx"), "", symbol.Truncated, "none of the 2 symbol files"},
	} {
		u := w.index(w.upload(c.data, func(n *symbolfile.New) { n.Format = c.format }))
		require.Equal(t, symbolfile.Failed, u.State, name)
		require.Equal(t, c.code, u.ErrorCode, "%s: %s", name, u.Error)
		require.Contains(t, u.Error, c.reason, name)
		require.NotEmpty(t, u.Error, name)
		require.Empty(t, w.indexes(), name)
	}
	// One that fails keeps no other of the archive.
	u := w.index(w.upload(zipped(t, "x/../../evil.map", "{}", "bad.so", "\x7fELF", "mapping.txt", aMapping, "inner.zip",
		zipped(t), "readme", "-"), nil))
	require.Equal(t, symbolfile.Indexed, u.State)
	require.Empty(t, u.Error)
	states := map[string]string{}
	for _, f := range w.files(u) {
		states[f.Path] = f.ErrorCode
	}
	require.Equal(t, map[string]string{"x/../../evil.map": symbol.Malformed, "bad.so": symbol.Truncated, "mapping.txt": "",
		"inner.zip": symbol.Unsupported}, states)
	require.Equal(t, IndexResult{Files: 4, Done: 4, Failed: 3, Ignored: 1}, w.result(u))
}

// A child that dies with a file fails that file alone.
func TestKilledChild(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.handler.Children = &tampered{Children: w.handler.Children, do: func(operation string, args any) error {
		if a, ok := args.(parse.IndexArgs); ok && strings.HasSuffix(path.Base(a.File), "2") {
			return fmt.Errorf("index: %w", invalid(symbol.Timeout, "reading this file takes too long"))
		}
		return nil
	}}
	u := w.index(w.upload(zipped(t, "1", aMapping, "2", aMapping+"\n", "3", aMapping+"#\n"), nil))
	var got []string
	for _, f := range w.files(u) {
		got = append(got, f.Path+":"+string(f.State)+":"+f.ErrorCode)
	}
	require.Equal(t, []string{"1:indexed:", "2:failed:timeout", "3:indexed:"}, got)
	// One that dies while unpacking fails the upload.
	w.handler.Children = &tampered{Children: w.handler.Children, do: func(operation string, _ any) error {
		return invalid(symbol.TooLarge, "too much memory")
	}}
	u = w.index(w.upload("x", nil))
	require.Equal(t, "too much memory", u.Error)
	require.Equal(t, symbolfile.Failed, u.State)
}

// Troubles of the machine are not the file's: the task is tried again, and leaves nothing.
func TestTroubles(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	u := w.upload(zipped(t, "1", aMapping, "2", aMapping+"\n"), nil)
	children := w.handler.Children
	n := 0
	w.handler.Children = &tampered{Children: children, do: func(operation string, _ any) error {
		if n++; n == 3 {
			return errors.New("no process")
		}
		return nil
	}}
	claim := w.claim(tasks.SymbolIndex, *u.TaskID)
	require.ErrorContains(t, w.handler.Handle(t.Context(), claim), "no process")
	require.Equal(t, symbolfile.Pending, w.reread(u).State)
	require.Empty(t, w.indexes(), "what was written is removed")
	left, err := os.ReadDir(w.handler.Folder)
	require.NoError(t, err)
	require.Empty(t, left)
	// A worker that is stopped in the middle: its context ends.
	ctx, cancel := context.WithCancel(t.Context())
	w.handler.Children = &tampered{Children: children, do: func(string, any) error { cancel(); return nil }}
	require.ErrorIs(t, w.handler.Handle(ctx, claim), context.Canceled)
	require.Equal(t, symbolfile.Pending, w.reread(u).State)
	w.handler.Children = children
	require.NoError(t, w.handler.Handle(t.Context(), claim))
	require.Equal(t, symbolfile.Indexed, w.reread(u).State)
	require.Len(t, w.indexes(), 2)
}

func TestGone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	// The object is gone.
	u := w.upload(aMapping, nil)
	require.NoError(t, w.objects.Delete(t.Context(), u.ObjectKey))
	u = w.index(u)
	require.Equal(t, symbolfile.Failed, u.State)
	require.Contains(t, u.Error, "object store")
	// The row is gone: before, and in the middle.
	u = w.upload("two", nil)
	claim := w.claim(tasks.SymbolIndex, *u.TaskID)
	w.exec(`delete from symbols where id = $1`, u.ID)
	require.NoError(t, w.handler.Handle(t.Context(), claim))
	u = w.upload(aMapping+"#", nil)
	w.handler.Children = &tampered{Children: w.handler.Children, do: func(string, any) error {
		w.exec(`delete from symbols where id = $1`, u.ID)
		return nil
	}}
	claim = w.claim(tasks.SymbolIndex, *u.TaskID)
	require.NoError(t, w.handler.Handle(t.Context(), claim))
	require.Empty(t, w.indexes())
}

// Fifty uploads of the same file at once make one index, and each has its identifiers.
func TestSameFileAtOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var uploads []*symbolfile.Upload
	for i := range 50 {
		uploads = append(uploads, w.upload(aMapping, func(n *symbolfile.New) { n.GivenID = fmt.Sprint("build-", i) }))
	}
	// Four workers that are handed tasks again and again. One of the key runs at a time; the
	// others are put off, and time passes.
	var all sync.WaitGroup
	for n := range 4 {
		all.Go(func() {
			for round := range 100 {
				for i := range uploads {
					u := uploads[(n*13+round+i)%len(uploads)]
					claimed, err := w.ledger.Claim(t.Context(), ledger.ClaimRequest{ID: *u.TaskID, Kind: tasks.SymbolIndex.Name,
						OrganizationID: w.org, Worker: "w", KeyLimit: tasks.SymbolIndex.KeyLimit})
					if err == nil && len(claimed) > 0 {
						err = w.handler.Handle(t.Context(), worker.NewClaim(w.db, claimed))
					}
					if !assert.NoError(t, err) {
						return
					}
				}
				// In one order, and none that another worker holds: four of these must not wait for each other.
				_, err := w.db.ExecContext(t.Context(), `update tasks set run_at = now() where id = any(array(
					select id from tasks where state = 'queued' order by id for update skip locked))`)
				open := int64(0)
				found := w.db.GetContext(t.Context(), &open, `select count(*) from tasks where state = 'queued'`)
				if !assert.NoError(t, errors.Join(err, found)) || open == 0 {
					return
				}
			}
		})
	}
	all.Wait()
	require.Len(t, w.indexes(), 1)
	require.EqualValues(t, 1, w.number(`select count(distinct index_key) from symbol_files`))
	require.EqualValues(t, 50, w.number(`select count(*) from symbol_files`))
	for i, u := range uploads {
		require.Contains(t, w.identifiers(u), fmt.Sprint(" mapping_id=build-", i))
		require.NotContains(t, w.identifiers(u), fmt.Sprint(" mapping_id=build-", i+1))
		require.Contains(t, w.identifiers(u), " mapping_id=7a3f5c1")
	}
}

// The same bytes within different archives have one index, in an organization.
func TestSameMember(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	first := w.index(w.upload(zipped(t, "a/mapping.txt", aMapping), nil))
	second := w.index(w.upload(zipped(t, "b/mapping.txt", aMapping, "c.txt", aMapping), nil))
	require.Len(t, w.indexes(), 1)
	require.Equal(t, IndexResult{Files: 2, Done: 2, Reused: 2}, w.result(second))
	require.Equal(t, []string{"b/mapping.txt mapping_id=7a3f5c1", "b/mapping.txt mapping_id=7a3f5c1d2e",
		"c.txt mapping_id=7a3f5c1", "c.txt mapping_id=7a3f5c1d2e"}, w.identifiers(second))
	// The first goes: the index stays, until the last one is removed too.
	w.exec(`delete from symbols where id = $1`, first.ID)
	unnamed, err := symbolfile.UnnamedIndexes(t.Context(), w.db, w.indexes())
	require.NoError(t, err)
	require.Empty(t, unnamed)
	other := w.organization("other")
	w.index(w.upload(aMapping, func(n *symbolfile.New) { n.OrganizationID = other }))
	require.Len(t, w.indexes(), 2, "another organization has its own")
}

// An index that is removed while it is about to be reused is not named by a row.
func TestReuseMeetsRemoval(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	first := w.index(w.upload(zipped(t, "a", aMapping), nil))
	second := w.upload(zipped(t, "b", aMapping), nil)
	claim := w.claim(tasks.SymbolIndex, *second.TaskID)
	r := &run{Index: w.handler, claim: claim, upload: second, kept: []string{w.indexes()[0]}}
	w.exec(`delete from symbols where id = $1`, first.ID)
	require.ErrorIs(t, r.finish(t.Context()), storage.ErrConflict)
	require.Equal(t, symbolfile.Pending, w.reread(second).State)
	require.NoError(t, w.handler.Handle(t.Context(), claim), "the next attempt reads the file")
	require.Equal(t, symbolfile.Indexed, w.reread(second).State)
}

// A need of crashes that the file serves has a task in the same transaction.
func TestNeeded(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var need int64
	require.NoError(t, w.db.GetContext(t.Context(), &need, `insert into symbol_needs (organization_id, crash_project_id, kind, name, digest,
		looked_for, first_seen, last_seen) values ($1, $2, 'proguard', 'app', 'd', '[]', now(), now()) returning id`, w.org, w.project))
	w.exec(`insert into symbol_need_identifiers (organization_id, type, value, need_id) values ($1, 'mapping_id', '7a3f5c1', $2)`, w.org, need)
	count := func() int64 {
		return w.number(`select count(*) from tasks where kind = $1`, tasks.CrashResymbolicate.Name)
	}
	w.index(w.upload(strings.ReplaceAll(aMapping, "7a3f5c1", "other"), nil))
	require.Zero(t, count())
	u := w.index(w.upload(aMapping, nil))
	require.EqualValues(t, 1, count())
	require.Equal(t, u.ID, w.number(`select (payload->>'symbol_id')::bigint from tasks where kind = $1`, tasks.CrashResymbolicate.Name))
}

func TestMaintenance(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	m := &Maintenance{DB: w.db, Folder: w.handler.Folder, Now: time.Now, Log: w.handler.Log}
	round := func() (r MaintenanceResult) {
		task := tasks.NewMaintenance(tasks.SymbolMaintenance)
		_, err := ledger.Insert(t.Context(), w.db, task)
		require.NoError(t, err)
		claim := w.claim(tasks.SymbolMaintenance, task.ID)
		require.NoError(t, m.Handle(t.Context(), claim))
		require.ErrorIs(t, m.Handle(t.Context(), claim), storage.ErrStale)
		row, err := w.ledger.Get(t.Context(), ledger.Scope{}, task.ID)
		require.NoError(t, err)
		require.NoError(t, json.Unmarshal(*row.Result, &r))
		return r
	}
	old := w.index(w.upload(aMapping, nil))
	oldKey := w.indexes()[0]
	waiting := w.upload("one", nil)
	dead := w.upload("two", nil)
	w.exec(`update symbols set task_id = null where id = $1`, waiting.ID)
	w.exec(`update tasks set state = 'dead', finished_at = now() where id = $1`, *dead.TaskID)
	require.NoError(t, os.Mkdir(path.Join(m.Folder, folderPattern+"1"), 0o700))
	require.NoError(t, os.Mkdir(path.Join(m.Folder, "others"), 0o700))
	require.Equal(t, MaintenanceResult{}, round(), "nothing is old yet")

	w.exec(`update symbol_files set index_version = 1`)
	m.Now = func() time.Time { return time.Now().Add(25 * time.Hour) }
	require.Equal(t, MaintenanceResult{Outdated: 1, Waiting: 1, Failed: 1, Folders: 1}, round())
	require.Equal(t, MaintenanceResult{}, round(), "their tasks are open")
	require.Contains(t, w.reread(dead).Error, "was dead")
	require.Equal(t, symbolfile.Indexed, w.reread(old).State, "it serves meanwhile")
	old = w.index(w.reread(old))
	require.Equal(t, parse.Version(symbol.ProGuard), w.files(old)[0].IndexVersion)
	require.NotContains(t, w.indexes(), oldKey, "the old index is removed")
	require.Len(t, w.indexes(), 1)
	require.Equal(t, symbolfile.Failed, w.index(w.reread(waiting)).State)
	require.Equal(t, MaintenanceResult{}, round())
}

// Organizations have turns.
func TestMaintenanceIsFair(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	other := w.organization("other")
	for i := range anewEach + 5 {
		w.index(w.upload(aMapping+fmt.Sprint("#", i), nil))
	}
	w.index(w.upload(aMapping, func(n *symbolfile.New) { n.OrganizationID = other }))
	w.exec(`update symbol_files set index_version = 1`)
	list, err := symbolfile.OutdatedUploads(t.Context(), w.db, map[symbol.Kind]int{symbol.ProGuard: 2}, anewEach)
	require.NoError(t, err)
	require.Len(t, list, anewEach+1)
	var second bool
	for _, u := range list[:2] {
		second = second || u.OrganizationID == other
	}
	require.True(t, second, "the small one is not behind the large one")
}
