package symbol_test

import (
	"context"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/distribution/storedfile"
	symbolid "github.com/slipway-qa/slipway/storage/symbol"
	"github.com/slipway-qa/slipway/storage/symbolfile"
)

func TestFailedIsTriedAnewAndOthersAreTheSame(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	org := w.ours.Organization.ID
	same := func(n *symbolfile.New) { n.File.SHA256 = strings.Repeat("ab", 32) }
	first := w.add(org, "a", []byte("x"), same)
	again := w.add(org, "a", []byte("x"), same)
	require.Equal(t, []bool{true, true, false}, []bool{first.Created, first.Pending, first.Unused})
	require.Equal(t, []bool{false, false, true}, []bool{again.Created, again.Pending, again.Unused})
	require.Equal(t, first.Upload.ID, again.Upload.ID)
	w.tx(func(ctx context.Context, tx *storage.Tx) error {
		return symbolfile.RecordFiles(ctx, tx, first.Upload.ID, nil, "truncated", "it ends early")
	})
	third := w.add(org, "a", []byte("x"), same)
	require.Equal(t, []bool{false, true, true}, []bool{third.Created, third.Pending, third.Unused})
	require.NotEqual(t, first.Upload.TaskID, third.Upload.TaskID)
	require.Equal(t, 2, w.count(`select count(*) from tasks where kind = 'symbol:index'`))
}

func TestSentAgainWithAnotherAddress(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	org := w.ours.Organization.ID
	send := func(name, format, prefix string) *symbolfile.Stored {
		return w.add(org, name, []byte("x"), func(n *symbolfile.New) {
			n.File.SHA256, n.Format, n.URLPrefix = strings.Repeat("ab", 32), format, prefix
		})
	}
	said := func(s *symbolfile.Stored) []any {
		return []any{s.Pending, s.Upload.State, s.Upload.Name, s.Upload.Format, s.Upload.URLPrefix}
	}
	const pending, indexed = symbolfile.Pending, symbolfile.Indexed
	first := send("app.js.map", "proguard", "~/wrong")
	w.tx(func(ctx context.Context, tx *storage.Tx) error {
		return symbolfile.RecordFiles(ctx, tx, first.Upload.ID, nil, "malformed", "line 1: no mapping")
	})
	require.Equal(t, []any{true, pending, "app.js.map", "sourcemap", "~/wrong"}, said(send("app.js.map", "sourcemap", "")),
		"a failed file is read as what it is said to be now")
	w.index(first.Upload.ID, symbolfile.File{Kind: symbolid.SourceMap, SHA256: "x"})
	require.Equal(t, []any{false, indexed, "app.js.map", "sourcemap", "~/wrong"}, said(send("app.js.map", "symbols", "")),
		"nothing new is said")
	corrected := send("app.js.map", "sourcemap", "https://cdn.example.com/")
	require.Equal(t, []any{true, pending, "app.js.map", "sourcemap", "https://cdn.example.com/"}, said(corrected))
	require.Equal(t, 1, w.count(`select count(*) from tasks where id = $1 and kind = 'symbol:index'`, corrected.Upload.TaskID))
	renamed := send("main.js.map", "", "")
	require.Equal(t, []any{true, pending, "main.js.map", "sourcemap", "https://cdn.example.com/"}, said(renamed), "one that is pending, too")
	require.NotEqual(t, corrected.Upload.TaskID, renamed.Upload.TaskID)
	require.Equal(t, first.Upload.ID, renamed.Upload.ID)
	require.False(t, renamed.Created)
	require.True(t, renamed.Unused)

	mapping := w.add(org, "mapping.txt", []byte("x"), func(n *symbolfile.New) { n.File.SHA256 = strings.Repeat("cd", 32) })
	other := w.add(org, "copy.txt", []byte("x"), func(n *symbolfile.New) { n.File.SHA256 = strings.Repeat("cd", 32) })
	require.Equal(t, []any{false, mapping.Upload.ID, "mapping.txt"}, []any{other.Pending, other.Upload.ID, other.Upload.Name},
		"the name of another file is no address")
}

func TestSentAtOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	org := w.ours.Organization.ID
	const senders = 12
	all := make(chan *symbolfile.Stored, senders)
	var wait sync.WaitGroup
	for range senders {
		wait.Go(func() {
			n := symbolfile.New{OrganizationID: org, ProjectID: w.ours.Crash.Project, Name: "a", Source: symbolfile.SourceAPI, Actor: account.CLI(),
				File: storedfile.NewFile{Key: storedfile.Prefix + storage.NewID().String(), Size: 1,
					SHA256: strings.Repeat("ab", 32), ContentType: "application/octet-stream"}}
			stored, err := w.store.Add(t.Context(), n)
			if assert.NoError(t, err) {
				all <- stored
			}
		})
	}
	wait.Wait()
	close(all)
	created, ids := 0, map[int64]bool{}
	for s := range all {
		ids[s.Upload.ID] = true
		if s.Created {
			created++
		}
		require.Equal(t, s.Created, s.Pending)
		require.Equal(t, !s.Created, s.Unused)
	}
	require.Equal(t, []int{1, 1}, []int{created, len(ids)})
	require.Equal(t, 1, w.count(`select count(*) from symbols`))
	require.Equal(t, 1, w.count(`select count(*) from files`))
	require.Equal(t, 1, w.count(`select count(*) from tasks where kind = 'symbol:index'`))
}
