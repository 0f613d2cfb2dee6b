package crash_test

import (
	"fmt"
	"net/url"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
)

func TestChangeMany(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, key := range []string{"a", "b"} {
		w.crash(w.project, key, true)
	}
	send := func(query, body string, status int) map[string]any {
		t.Helper()
		return w.tree(w.call(w.org, "POST", "/crash-groups/change"+query, body), status)
	}
	made := func() (n int) {
		require.NoError(t, w.db.GetContext(t.Context(), &n, `select count(*) from tasks where kind = 'crash:change'`))
		return n
	}
	counted := send("?dry_run=1&state=open&version=1.2", `{"state":"resolved"}`, 200)
	until, err := time.Parse(time.RFC3339, fmt.Sprint(counted["made_until"]))
	require.NoError(t, err)
	require.WithinDuration(t, time.Now(), until, time.Hour)
	delete(counted, "made_until")
	require.Equal(t, map[string]any{"matching": 2.0, "matching_is_exact": true}, counted)
	require.Equal(t, 1.0, send("?dry_run=true&search=title+b", `{"state":"ignored","until_count":3}`, 200)["matching"])
	require.Equal(t, 0.0, send("?dry_run=1&regressed_from=2001-01-01", `{"state":"open"}`, 200)["matching"])
	require.Equal(t, 2.0, send("?dry_run=1&first_seen_from=2001-01-01", `{"state":"open"}`, 200)["matching"])
	require.Equal(t, 0.0, w.tree(w.call(w.other, "POST", "/crash-groups/change?dry_run=1", `{"state":"open"}`), 200)["matching"])
	for query, body := range map[string]string{"": `{}`, "?state=broken": `{"state":"open"}`, "?sort=count": `{"state":"open"}`,
		"?dry_run=maybe":       `{"state":"open"}`,
		"?dry_run=1&dry_run=0": `{"state":"open"}`, "?version=1": `{"merge_into":1}`,
		"?version=2": `{"issue_url":"https://x.example.com"}`, "?version=3": `{"state":"gone"}`,
		"?version=4": `{"in_version":"1"}`, "?version=5": `{"state":"ignored","until":"2001-01-01"}`,
		"?version=6": `{"assignee":"nobody@example.com"}`, "?version=7": `{"assignee":987}`} {
		send(query, body, 400)
	}
	require.Zero(t, made())
	answer := send("?state=open", `{"state":"resolved","in_version":"2.1"}`, 202)
	require.NotEmpty(t, answer["task_id"])
	require.Equal(t, 1, made())

	// What is made between the count and the change is left alone.
	w.crash(w.project, "later", true)
	at := "&made_until=" + url.QueryEscape(until.Format(time.RFC3339Nano))
	require.Equal(t, 2.0, send("?state=open"+at, `{"state":"resolved"}`, 202)["matching"])
	require.Equal(t, 3.0, send("?dry_run=1&state=open", `{"state":"resolved"}`, 200)["matching"])
	for _, wrong := range []string{"soon", "", "2001-01-01", until.Add(-25 * time.Hour).Format(time.RFC3339),
		until.Add(time.Hour).Format(time.RFC3339)} {
		send("?dry_run=1&made_until="+url.QueryEscape(wrong), `{"state":"resolved"}`, 400)
	}
}

func TestHistoryAndFacets(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.crash(w.project, "a", true)
	w.crash(w.project, "a", true)
	w.crash(w.project, "b", true)
	group := fmt.Sprint("/crash-groups/", w.groupID("a"))
	w.tree(w.call(w.org, "PATCH", group, `{"state":"ignored","until_count":100}`), 200)
	w.tree(w.call(w.org, "PATCH", group, `{"state":"resolved","in_version":"2.1"}`), 200)
	changes := w.get(group + "/history?per_page=1")
	require.Equal(t, 2.0, changes["pagination"].(map[string]any)["total"])
	one := changes["changes"].([]any)[0].(map[string]any)
	require.Equal(t, "resolved", one["state"])
	require.Equal(t, map[string]any{"state": "resolved", "former_state": "ignored", "in_version": "2.1"}, one["detail"])
	require.NotNil(t, one["actor"])
	require.Nil(t, one["task_id"])
	require.Equal(t, 404, w.call(w.other, "GET", group+"/history", "").Code)

	facets := w.get("/crash-groups/facets?first_seen_from=2001-01-01")
	require.Equal(t, map[string]any{"groups": 2.0, "complete": true}, facets["counted"])
	both := w.get("/crash-groups?first_seen_from=2001-01-01&facets=true")
	require.Equal(t, facets["facets"], both["facets"], "the list has them, too")
	require.Equal(t, facets["counted"], both["counted"])
	require.Len(t, both["crash_groups"], 2)
	require.NotContains(t, w.get("/crash-groups"), "facets")
	require.Equal(t, 400, w.call(w.org, "GET", "/crash-groups?facets=yes", "").Code)
	values := map[string]any{}
	for _, f := range facets["facets"].([]any) {
		for _, v := range f.(map[string]any)["values"].([]any) {
			values[fmt.Sprint(f.(map[string]any)["name"], "=", v.(map[string]any)["value"])] = v.(map[string]any)["groups"]
		}
	}
	require.Equal(t, 1.0, values["state=open"])
	require.Equal(t, 1.0, values["state=resolved"])
	require.Equal(t, 2.0, values["version=1.2"])
	require.Equal(t, 2.0, values["assignee=none"])
	require.Equal(t, 0.0, w.tree(w.call(w.other, "GET", "/crash-groups/facets", ""), 200)["counted"].(map[string]any)["groups"])
	require.Equal(t, 400, w.call(w.org, "GET", "/crash-groups/facets?sort=count", "").Code)

	list := w.get("/crash-groups?search=title+a")["crash_groups"].([]any)[0].(map[string]any)["recent_days"].([]any)
	require.Len(t, list, 14)
	require.Equal(t, 2.0, list[13].(float64)+list[12].(float64), "today, or yesterday where it is midnight by now")

	w.patch(fmt.Sprint("/crash-groups/", w.groupID("b")), fmt.Sprintf(`{"merge_into":%d}`, w.groupID("a")))
	merged := w.get("/crash-groups/facets")
	require.Equal(t, map[string]any{"groups": 1.0, "complete": true}, merged["counted"])
	for _, f := range merged["facets"].([]any) {
		for _, v := range f.(map[string]any)["values"].([]any) {
			require.Equal(t, 1.0, v.(map[string]any)["groups"], "a version of two parts is one of their group")
		}
	}
}

// The neighbours of a crash are those of its whole group, by the time of the crash.
func TestNeighbours(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ids := []uuid.UUID{w.crash(w.project, "a", true), w.crash(w.project, "b", true), w.crash(w.project, "a", true),
		w.crash(w.project, "c", true)}
	for i, id := range ids {
		_, err := w.db.ExecContext(t.Context(), `update crashes set occurred_at = now() - $2 * interval '1 h' where id = $1`, id, 10-i)
		require.NoError(t, err)
	}
	w.tree(w.call(w.org, "PATCH", fmt.Sprint("/crash-groups/", w.groupID("b")), fmt.Sprintf(`{"merge_into":%d}`, w.groupID("a"))), 200)
	for i, want := range [][2]any{{nil, ids[1].String()}, {ids[0].String(), ids[2].String()}, {ids[1].String(), nil}, {nil, nil}} {
		crash := w.get(fmt.Sprint("/crashes/", ids[i]))["crash"].(map[string]any)
		require.Equal(t, want, [2]any{crash["previous_id"], crash["next_id"]}, i)
	}
}
