package crash_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/crash"
	"github.com/slipway-qa/slipway/storage/crash/usage"
)

func TestVersions(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	today := time.Now().UTC().Truncate(24 * time.Hour)
	var events []usage.Event
	for i, version := range []string{"1.9.0", "1.9.0", "1.10.0", "1.10.0", "1.10.0-rc.1", "1.10.0"} {
		at := today.AddDate(0, 0, -min(i, 4)).Add(time.Second)
		events = append(events, usage.Event{Version: version, At: at, Launch: true, Session: fmt.Sprint("s", i)},
			usage.Event{Version: version, At: at, User: fmt.Sprint("u", i%2)})
	}
	require.NoError(t, w.store.RecordUsage(t.Context(), w.project, events))
	path := fmt.Sprintf("/crash-projects/%d/versions", w.project)

	list := w.must(200, w.org, "GET", path, nil)
	require.Equal(t, []string{"1.10.0", "1.10.0-rc.1", "1.9.0"}, versionNames(list))
	require.EqualValues(t, 3, list["pagination"].(tree)["total"])
	first := list["versions"].([]any)[0].(tree)
	require.EqualValues(t, 3, first["sessions"])
	require.EqualValues(t, 2, first["users"])
	require.EqualValues(t, 0, first["crashed_sessions"])
	require.EqualValues(t, 1, first["crash_free_sessions"])
	require.EqualValues(t, 1, first["crash_free_users"])
	require.NotContains(t, first, "days")
	require.Equal(t, []string{"1.10.0-rc.1"}, versionNames(w.must(200, w.org, "GET", path+"?per_page=1&page=2", nil)))

	list = w.must(200, w.org, "GET", path+"?days=3", nil)
	require.Equal(t, []string{"1.10.0", "1.9.0"}, versionNames(list))
	last := list["versions"].([]any)[1].(tree)
	require.EqualValues(t, 2, last["sessions"])
	days := last["days"].([]any)
	require.Len(t, days, 2)
	require.Equal(t, today.AddDate(0, 0, -1).Format(time.DateOnly), days[0].(tree)["day"])
	require.EqualValues(t, 1, days[0].(tree)["sessions"])
	require.EqualValues(t, 1, days[0].(tree)["crash_free_users"])

	day := today.AddDate(0, 0, -4).Format(time.DateOnly)
	require.Equal(t, []string{"1.10.0", "1.10.0-rc.1"}, versionNames(w.must(200, w.org, "GET", path+"?from="+day+"&to="+day, nil)))
	require.Equal(t, []string{"1.10.0", "1.10.0-rc.1"}, versionNames(w.must(200, w.org, "GET", path+"?to="+day, nil)))
	require.Empty(t, versionNames(w.must(200, w.org, "GET", path+"?to=2020-01-01", nil)))

	for _, query := range []string{"?days=0", "?days=x", "?days=367", "?days=3&from=" + day, "?from=x", "?page=0", "?day=3"} {
		w.must(400, w.org, "GET", path+query, nil)
	}
	w.must(404, w.other, "GET", path, nil)
	require.Equal(t, 200, w.callAs(w.org, account.Member, "GET", path, "").Code, "members read it, as they read crashes")
	require.Equal(t, 400, w.callAs(w.org, account.Member, "GET", path+"?day=7", "").Code, "a misspelt parameter would select other days")
}

// A group shows what is known of the versions that it affects.
func TestVersionsOfGroups(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	require.NoError(t, w.store.RecordUsage(t.Context(), w.project, []usage.Event{
		{Version: "1.0", At: time.Now(), Launch: true, Session: "a"}, {Version: "1.0", At: time.Now(), Launch: true, Session: "b"},
		{Version: "1.0", At: time.Now(), User: "u"}}))
	require.NoError(t, w.db.InTx(t.Context(), func(tx *storage.Tx) error {
		return crash.Record(t.Context(), tx, w.org, []crash.Crash{{ID: uuid.New(), ProjectID: w.project, UUID: uuid.New(),
			State: crash.Processed, Format: "json", OccurredAt: time.Now(), ReceivedAt: time.Now(), Duplicates: 1, Attributes: "{}",
			Version: "1.0", Session: "a", User: "v", Host: "h", Group: &crash.Grouping{Key: [32]byte{1}, Algorithm: 1, Title: "t"}}})
	}))
	groups := w.must(200, w.org, "GET", "/crash-groups", nil)["crash_groups"].([]any)
	group := w.must(200, w.org, "GET", "/crash-groups/"+number(groups[0].(tree), "id"), nil)["crash_group"].(tree)
	for _, g := range []tree{groups[0].(tree), group} {
		v := g["versions"].([]any)[0].(tree)
		require.Equal(t, "1.0", v["value"])
		require.InDelta(t, 0.5, v["crash_free_sessions"], 1e-9)
		require.InDelta(t, 0, v["crash_free_users"], 1e-9)
		require.NotContains(t, g["hosts"].([]any)[0], "crash_free_sessions")
	}
}

func versionNames(list tree) (names []string) {
	for _, v := range list["versions"].([]any) {
		names = append(names, v.(tree)["version"].(string))
	}
	return names
}
