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
	for _, said := range []string{"No crash in the last 14 days", "No webhook fails", "No task has been due",
		"No new crash since yesterday", "There is no build yet", "No suite has run", "No schedule is due", "No task failed"} {
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
	_, err := w.db.ExecContext(t.Context(), `update webhooks set failing_since = now() where organization_id = $1`, w.boot.Organization.ID)
	require.NoError(t, err)
	links := c.open("/console").links()
	given := slices.IndexFunc(links, func(link string) bool {
		return strings.HasPrefix(link, "/console/settings/webhooks/") && strings.Contains(link, "from=") &&
			strings.Contains(link, "status=failed")
	})
	require.GreaterOrEqual(t, given, 0, "what was given up since yesterday leads to these deliveries alone: %v", links)
	require.Equal(t, http.StatusOK, c.open(links[given]).status, links[given])
	// Two tasks that were due long ago, one of them of somebody else, in a queue where no worker
	// takes them.
	for organization, id := range map[int64]string{w.boot.Organization.ID: "01900000-0000-7000-8000-000000000001",
		fresh.Organization.ID: "01900000-0000-7000-8000-000000000002"} {
		_, err = w.db.ExecContext(t.Context(), `insert into tasks (id, kind, queue, organization_id, payload, max_attempts, state, run_at)
			values ($1, 'test:nobody', 'bulk', $2, '{}', 1, 'queued', now() - interval '1 hour')`, id, organization)
		require.NoError(t, err)
	}
	for link, shown := range map[string]string{"/console/operate?late=true": "01900000-0000-7000-8000-000000000001",
		"/console/settings/webhooks?failing=true": "/console/settings/webhooks/"} {
		require.Contains(t, c.open("/console").links(), link)
		p := c.open(link)
		require.Equal(t, http.StatusOK, p.status, "%s: %.1000s", link, p.text)
		require.Contains(t, p.main(), shown, link)
		require.NotContains(t, p.text, "01900000-0000-7000-8000-000000000002")
	}
	require.Contains(t, w.console("fresh", fresh.Owner.AccessKey).open("/console/settings/webhooks?failing=true").text, "No webhook fails")
	require.Equal(t, http.StatusBadRequest, c.open("/console/settings/webhooks?failing=maybe").status)
	_, err = w.db.ExecContext(t.Context(),
		`update crash_groups set first_seen = '2026-01-01', reopened_at = now() where crash_project_id = $1`,
		w.boot.Crash.Project)
	require.NoError(t, err)
	p = c.open("/console")
	require.Contains(t, p.text, "No new crash since yesterday")
	require.NotContains(t, p.text, "No group that was resolved came back")
	require.Contains(t, p.text, "&lt;img src=x&gt;")
}
