package main

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestConsoleOverview(t *testing.T) {
	t.Parallel()
	w := newSurface(t)
	fresh := w.organization("fresh")
	c := w.console("fresh", fresh.Owner.AccessKey)
	p := c.open("/console")
	require.Equal(t, http.StatusOK, p.status, "%.2000s", p.text)
	for _, said := range []string{"No crash in the last 14 days", "No webhook fails", "No task has been due", "No new crash since yesterday", "There is no build yet", "No suite has run", "No schedule is due", "No task failed"} {
		require.Contains(t, p.text, said)
	}
	require.NotContains(t, p.text, "could not be read")

	w.makeAll()
	w.addTask("build:notify", "dead", w.boot.Organization.ID, "<script>alert(1)</script>")
	for _, statement := range []string{
		`insert into crash_version_days (crash_project_id, version, day, crashes) values ($1, '9.8.7', current_date, 41) on conflict do nothing`,
		`insert into crash_versions (crash_project_id, version, first_seen, last_seen, crashes) values ($1, '9.8.7', now(), now(), 41) on conflict do nothing`,
		`update crash_groups set first_seen = now(), last_seen = now(), title = '<img src=x>' where crash_project_id = $1`,
		`insert into crash_group_days (group_id, day, count) select id, current_date, 3 from crash_groups where crash_project_id = $1 on conflict do nothing`,
	} {
		_, err := w.db.ExecContext(t.Context(), statement, w.boot.Crash.Project)
		require.NoError(t, err)
	}
	c = w.console("main", w.boot.Owner.AccessKey)
	p = c.open("/console")
	require.Equal(t, http.StatusOK, p.status, "%.2000s", p.text)
	require.NotContains(t, p.text, "could not be read")
	require.NotContains(t, p.text, "<script>alert")
	require.Contains(t, p.text, "&lt;script&gt;alert(1)")
	for _, shown := range []string{"9.8.7", "Crashes by day", "Schedules due next", "build:notify"} {
		require.Contains(t, p.text, shown)
	}
	for _, said := range []string{"No crash in the last", "There is no build yet", "No suite has run", "No new crash since yesterday"} {
		require.NotContains(t, p.text, said)
	}
	seen := map[string]bool{}
	for _, link := range p.links() {
		if strings.HasPrefix(link, "/console/") && !seen[link] && !strings.Contains(link, "_from=") {
			seen[link] = true
			require.Equal(t, http.StatusOK, c.open(link).status, link)
		}
	}
	require.Greater(t, len(seen), 25)
	for _, filter := range []string{"/crashes?first_seen_from=", "/crashes?regressed_from="} {
		require.True(t, slices.ContainsFunc(p.links(), func(link string) bool { return strings.HasPrefix(link, "/console"+filter) }), filter)
	}

	require.Contains(t, p.text, "No group that was resolved came back")
	_, err := w.db.ExecContext(t.Context(), `update crash_groups set first_seen = '2026-01-01', reopened_at = now() where crash_project_id = $1`,
		w.boot.Crash.Project)
	require.NoError(t, err)
	p = c.open("/console")
	require.Contains(t, p.text, "No new crash since yesterday")
	require.NotContains(t, p.text, "No group that was resolved came back")
	require.Contains(t, p.text, "&lt;img src=x&gt;")
}
