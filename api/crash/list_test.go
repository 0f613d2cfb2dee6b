package crash_test

import (
	"fmt"
	"net/http"
	"net/url"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// titles lists the titles of a list of groups.
func (w *world) titles(query string) (titles []string) {
	w.t.Helper()
	for _, g := range w.get("/crash-groups?sort=first_seen&order=asc&" + query)["crash_groups"].([]any) {
		titles = append(titles, g.(map[string]any)["title"].(string))
	}
	return titles
}

func TestArraysOfQueries(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	second := w.newProject("second")
	for i, key := range []string{"a", "b", "c"} {
		project := w.project
		if key == "c" {
			project = second
		}
		w.crash(project, key, true)
		_, err := w.db.ExecContext(t.Context(), `update crash_groups set first_seen = now() - $2 * interval '1 h' where title = $1`,
			"title "+key, 10-i)
		require.NoError(t, err)
	}
	w.tree(w.call(w.org, "PATCH", fmt.Sprint("/crash-groups/", w.groupID("b")), `{"state":"ignored"}`), 200)
	all := []string{"title a", "title b", "title c"}
	for query, want := range map[string][]string{
		"state=open&state=ignored": all, "state[]=open&state[]=ignored": all, "state=open,ignored": all, "state[0]=ignored": {"title b"},
		fmt.Sprintf("project=%d,%d", w.project, second): all, fmt.Sprintf("project[]=%d", second): {"title c"},
		"assignee=none": all, "assignee=7": nil, "assignee=7,none": all,
		"version=1.2": all, "version=2.0": nil, "version[]=2.0&version[]=1.2": all,
	} {
		require.Equal(t, want, w.titles(query), query)
	}
	for query, total := range map[string]float64{
		"state=processed,failed": 3, "state[]=stored": 0, fmt.Sprintf("project=%d&project=%d", w.project, second): 3,
		"version=1.2": 3, "version=9": 0,
	} {
		require.Equal(t, total, w.get("/crashes?" + query)["pagination"].(map[string]any)["total"], query)
	}
	for _, path := range []string{"/crash-groups?state=open,closed", "/crash-groups?project=x", "/crash-groups?project=1,0",
		"/crash-groups?assignee=x",
		"/crash-groups?version=%ff", "/crashes?state=pending"} {
		require.Equal(t, http.StatusBadRequest, w.call(w.org, "GET", path, "").Code, path)
	}
}

func TestUnknownParametersAreRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.crash(w.project, "a", true)
	group := fmt.Sprint("/crash-groups/", w.groupID("a"))
	for path, name := range map[string]string{
		"/crash-groups?stat=open": "stat", "/crash-groups?page[]=1": "page[]", "/crash-groups?attributes.user=ann": "attributes.user",
		group + "?page=1": "page", group + "/crashes?state=open": "state", group + "/attributes?attribute=x": "attribute",
		"/crashes?attribute=x": "attribute", fmt.Sprint("/crashes/", id, "?full=1"): "full", fmt.Sprint("/crashes/", id, "/raw?full=1"): "full",
		fmt.Sprint("/crashes/", id, "/attachments?page=1"): "page", "/crash-attributes?group=1": "group",
	} {
		rec := w.call(w.org, "GET", path, "")
		require.Equal(t, http.StatusBadRequest, rec.Code, path)
		require.Contains(t, rec.Body.String(), `{"error":"`+name+`: is no parameter`, path)
	}
	rec := w.call(w.org, "DELETE", "/crashes?attribute.user=ann&projct=1", "")
	require.Equal(t, http.StatusBadRequest, rec.Code, "a misspelt condition must not widen a removal")
	require.Equal(t, http.StatusBadRequest, w.call(w.org, "PATCH", group+"?state=open", `{"state":"open"}`).Code)
}

func TestWindowOfGroups(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.crash(w.project, "a", true)
	w.crash(w.project, "a", true)
	today := time.Now().UTC().Format(time.DateOnly)
	tomorrow := time.Now().UTC().AddDate(0, 0, 1).Format(time.DateOnly)
	for query, want := range map[string]float64{"from=" + today + "&to=" + tomorrow: 2, "to=" + tomorrow: 2, "from=1999-01-01": 2} {
		groups := w.get("/crash-groups?" + query)["crash_groups"].([]any)
		require.Len(t, groups, 1, query)
		require.Equal(t, want, groups[0].(map[string]any)["count"], query)
		require.Equal(t, 2.0, groups[0].(map[string]any)["total_count"], query)
	}
	require.Empty(t, w.get("/crash-groups?to=1999-01-01")["crash_groups"])
	path := fmt.Sprint("/crash-groups/", w.groupID("a"))
	old := w.get(path + "?from=1999-01-01&to=1999-12-31")["crash_group"].(map[string]any)
	require.Equal(t, 0.0, old["count"])
	require.Equal(t, 2.0, old["total_count"])
	require.Empty(t, old["days"])
	now := w.get(path)["crash_group"].(map[string]any)
	require.Equal(t, 2.0, now["count"])
	require.Empty(t, now["messages"])
	require.NotEmpty(t, now["days"])
	require.Equal(t, http.StatusBadRequest, w.call(w.org, "GET", path+"?from=soon", "").Code)
}

func TestAttributes(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.crash(w.project, "a", true)
	w.crash(w.project, "b", true)
	group := fmt.Sprint("/crash-groups/", w.groupID("a"), "/attributes")
	for path, reports := range map[string]float64{group: 1, "/crash-attributes": 2, fmt.Sprint("/crash-attributes?project=",
		w.project): 2, "/crash-attributes?to=1999-01-01": 0} {
		tree := w.get(path)
		require.Equal(t, map[string]any{"reports": reports, "occurrences": reports, "complete": true}, tree["counted"], path)
		require.NotContains(t, tree, "attribute")
	}
	view := w.get(group + "?key=user")["attribute"].(map[string]any)
	require.Equal(t, "user", view["key"])
	require.Equal(t, 1.0, view["distinct"])
	value := view["values"].([]any)[0].(map[string]any)
	require.Equal(t, "ann", value["value"])
	require.Equal(t, 1.0, value["count"])
	require.Equal(t, 1.0, value["share"])
	require.Empty(t, w.get(group + "?key=" + url.QueryEscape("no\"such"))["attribute"].(map[string]any)["values"])
	require.Equal(t, http.StatusNotFound, w.call(w.other, "GET", group, "").Code)
	require.Empty(t, w.tree(w.call(w.other, "GET", "/crash-attributes", ""), 200)["attributes"])
	for _, bad := range []string{"key=", "key=%ff", "key=%00"} {
		require.Equal(t, http.StatusBadRequest, w.call(w.org, "GET", group+"?"+bad, "").Code, bad)
	}
}

// Who asks for fewer reports is told over how many the attributes were counted.
func TestFewerReportsAreCounted(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for range 3 {
		w.crash(w.project, "a", true)
	}
	group := fmt.Sprint("/crash-groups/", w.groupID("a"), "/attributes")
	for _, path := range []string{group, "/crash-attributes"} {
		for query, want := range map[string]map[string]any{
			"?reports=2":          {"reports": 2.0, "occurrences": 2.0, "complete": false},
			"?reports=2&key=user": {"reports": 2.0, "occurrences": 2.0, "complete": false},
			"?reports=3":          {"reports": 3.0, "occurrences": 3.0, "complete": true},
			"?reports=3&key=user": {"reports": 3.0, "occurrences": 3.0, "complete": true},
			"?reports=10000":      {"reports": 3.0, "occurrences": 3.0, "complete": true},
		} {
			require.Equal(t, want, w.get(path + query)["counted"], path+query)
		}
		view := w.get(path + "?reports=2&key=user")["attribute"].(map[string]any)["values"].([]any)[0].(map[string]any)
		require.Equal(t, 2.0, view["count"], path)
		for _, bad := range []string{"", "0", "-1", "10001", "many", "1e3"} {
			rec := w.call(w.org, "GET", path+"?reports="+bad, "")
			require.Equal(t, http.StatusBadRequest, rec.Code, bad)
			require.Contains(t, rec.Body.String(), "reports", bad)
		}
	}
}

// What a list leaves out is absent, and not nothing.
func TestGroupsWithoutHosts(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.crash(w.project, "a", true)
	first := func(query string) map[string]any {
		return w.get("/crash-groups" + query)["crash_groups"].([]any)[0].(map[string]any)
	}
	whole := first("")
	require.Contains(t, whole, "hosts")
	require.NotNil(t, whole["latest_crash"])
	require.IsType(t, 0.0, whole["hosts_affected"])
	for _, query := range []string{"?omit=hosts,latest_crash", "?omit=hosts&omit=latest_crash", "?omit[]=hosts&omit[]=latest_crash"} {
		rest := first(query)
		require.NotContains(t, rest, "hosts", query)
		require.NotContains(t, rest, "hosts_affected", query)
		require.Nil(t, rest["latest_crash"], query)
		require.Equal(t, whole["versions"], rest["versions"], query)
		require.Equal(t, whole["recent_days"], rest["recent_days"], query)
	}
	require.Equal(t, whole["hosts"], first("?omit=latest_crash")["hosts"])
	require.Equal(t, whole["latest_crash"], first("?omit=hosts")["latest_crash"])
	require.Contains(t, w.call(w.org, "GET", "/crash-groups?omit=versions", "").Body.String(), `{"error":"omit: must be hosts or latest_crash`)
}
