package symbol_test

import (
	"context"
	"net/url"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/crash"
	"github.com/slipway-qa/slipway/storage/crash/need"
	symbolid "github.com/slipway-qa/slipway/storage/symbol"
)

// lack records a crash of a key that lacks files, as the worker does.
func (w *world) lack(organization, project int64, key byte, received time.Time, needs ...need.Need) uuid.UUID {
	w.t.Helper()
	id := storage.NewID()
	c := crash.Crash{ID: id, ProjectID: project, UUID: uuid.New(), State: crash.Processed, Format: "json", OccurredAt: received,
		ReceivedAt: received, Duplicates: 1, Attributes: "{}", Group: &crash.Grouping{Key: [32]byte{key}, Algorithm: 1,
			Title: "group " + string(rune('a'+key))},
		Symbols: &crash.Symbolication{State: crash.SymbolsMissing, Missing: len(needs), At: received, Needs: needs}}
	w.tx(func(ctx context.Context, tx *storage.Tx) error {
		return crash.Record(ctx, tx, organization, []crash.Crash{c})
	})
	return id
}

func (w *world) missing(query, key string) (list []map[string]any, page map[string]any) {
	w.t.Helper()
	status, doc := w.json("GET", "/api/v3/symbols/missing"+query, key)
	require.Equal(w.t, 200, status, doc)
	for _, n := range doc["missing"].([]any) {
		list = append(list, n.(map[string]any))
	}
	return list, doc["pagination"].(map[string]any)
}

func TestMissing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	org, project := w.ours.Organization.ID, w.ours.Crash.Project
	identifiers := []symbolid.Identifier{{Type: symbolid.DebugID, Value: "497b72f6390a44fc878e5a2d63b6cc4b0"},
		{Type: symbolid.CodeID, Value: buildID}}
	library := need.Need{Kind: "native", Name: "libapp.so", Arch: "arm64", LookedFor: identifiers}
	mapping := need.Need{Kind: "proguard", Name: "com.example", Version: "1.2",
		LookedFor: []symbolid.Identifier{{Type: symbolid.MappingID, Value: "abc", Release: ""}}}
	script := need.Need{Kind: "sourcemap", Name: "app_100%.js", LookedFor: []symbolid.Identifier{{Type: symbolid.URL,
		Value: "~/app.js", Release: "7"}}}
	at := time.Now().Add(-time.Hour).UTC().Truncate(time.Second)
	w.lack(org, project, 1, at, library)
	w.lack(org, project, 1, at.Add(10*time.Second), library)
	w.lack(org, project, 2, at.Add(20*time.Second), library, mapping)
	gone := w.lack(org, project, 3, at.Add(30*time.Second), script)
	w.lack(w.theirs.Organization.ID, w.theirs.Crash.Project, 1, at, library)

	names := func(query string) (list []any) {
		needs, _ := w.missing(query, w.member)
		for _, n := range needs {
			list = append(list, n["name"])
		}
		return list
	}
	list, page := w.missing("?sort=crashes", w.member)
	require.Len(t, list, 3)
	require.EqualValues(t, 3, page["total"])
	first := list[0]
	require.Equal(t, []any{"libapp.so", "native", "arm64", "", 3.0, true, true, float64(project)},
		[]any{first["name"], first["kind"], first["arch"],
			first["version"], first["crashes"], first["crashes_exact"], first["groups_exact"], first["crash_project_id"]})
	require.Equal(t, []any{map[string]any{"type": "debug_id", "value": identifiers[0].Value},
		map[string]any{"type": "code_id", "value": buildID}}, first["looked_for"])
	require.Equal(t, at.Format(time.RFC3339), first["first_seen"])
	var titles, crashes []any
	for _, g := range first["groups"].([]any) {
		titles, crashes = append(titles, g.(map[string]any)["title"]), append(crashes, g.(map[string]any)["crashes"])
	}
	require.Equal(t, []any{"group b", "group c"}, titles, "the group with the most crashes first")
	require.Equal(t, []any{2.0, 1.0}, crashes)

	require.Equal(t, []any{"app_100%.js", "com.example", "libapp.so"}, names(""), "the one seen last first")
	require.Equal(t, []any{"com.example"}, names("?page=2&per_page=1"))
	require.Equal(t, []any{"com.example", "libapp.so"}, names("?kind=native,proguard"))
	require.Equal(t, []any{"app_100%.js"}, names("?search=100%25"))
	require.Empty(t, names("?search=x%25"))
	group := itoa(int64(first["groups"].([]any)[1].(map[string]any)["id"].(float64)))
	require.Equal(t, []any{"com.example", "libapp.so"}, names("?crash_group_id="+group))
	require.Empty(t, names("?crash_project_id="+itoa(w.theirs.Crash.Project)))
	var name string
	require.NoError(t, w.db.GetContext(t.Context(), &name, `select name from crash_projects where id = $1`, project))
	require.Len(t, names("?crash_project="+url.QueryEscape(name)), 3)
	theirs, _ := w.missing("", w.theirs.Owner.APIKey)
	require.Len(t, theirs, 1)
	require.Equal(t, 1.0, theirs[0]["crashes"])
	theirs, _ = w.missing("?crash_group_id="+group, w.theirs.Owner.APIKey)
	require.Empty(t, theirs, "another organization's group names nothing")

	_, err := w.db.ExecContext(t.Context(), `update crash_symbolications set need_set_id = null where crash_id = $1`, gone)
	require.NoError(t, err)
	require.Equal(t, []any{"com.example", "libapp.so"}, names(""), "a file that no crash lacks any more is not missing")

	for _, query := range []string{"?sort=name", "?kind=elf", "?crash_group_id=0", "?group=1", "?page=0", "?crash_project=none"} {
		status, _ := w.json("GET", "/api/v3/symbols/missing"+query, w.member)
		require.Equal(t, 400, status, query)
	}
	status, _ := w.json("GET", "/api/v3/symbols/missing", "")
	require.Equal(t, 401, status)
}

func TestMissingCountsToABound(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	org, project := w.ours.Organization.ID, w.ours.Crash.Project
	lack := need.Need{Kind: "native", Name: "libmany.so", LookedFor: []symbolid.Identifier{{Type: symbolid.CodeID, Value: buildID}}}
	w.lack(org, project, 1, time.Now(), lack)
	for range 12 {
		w.lack(org, project, byte(w.count(`select count(*) from crash_groups`))+1, time.Now(), lack)
	}
	_, err := w.db.ExecContext(t.Context(), `insert into crash_needs select id, ('00000000-0000-7000-8000-' || lpad(n::text, 12, '0'))::uuid
		from symbol_needs, generate_series(1, 10100) n`)
	require.NoError(t, err)
	list, _ := w.missing("", w.member)
	require.Len(t, list, 1)
	require.Equal(t, []any{10000.0, false, false}, []any{list[0]["crashes"], list[0]["crashes_exact"], list[0]["groups_exact"]})
	require.Len(t, list[0]["groups"], 10)
}
