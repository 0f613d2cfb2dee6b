package main

import (
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A run is pinned on its page, which says who did; histories show what was tested, and which tests
// of a suite stand out; settings say how long runs are kept.
func TestConsoleKeepsRuns(t *testing.T) {
	t.Parallel()
	w := newSurface(t)
	c := w.console(w.boot.Owner.Username, w.boot.Owner.AccessKey)
	_, id := c.importedCase(hostile)
	at := "/console/tests/cases/" + id
	ids := w.past(id, w.one(`select id from test_revisions where case_id = $1`, id), "PFF")
	run := at + "/runs/" + ids[0].String()
	p := c.does(c.open(run), "/pin", nil, "The run is kept.")
	p.says(t, "<dt>Pinned</dt>")
	checkPage(t, run, p)
	require.Equal(t, "1", w.one(`select count(*)::text from test_runs where pinned_at is not null`))
	c.open(at).says(t, "pinned</span>")
	c.does(c.open(run), "/unpin", nil, "The run is no longer kept.")
	require.NotContains(t, c.open(run).text, "<dt>Pinned</dt>")

	// The history names the groups that flakiness is of.
	w.one(`update test_runs set flaky = 1 where id = $1 returning id::text`, ids[2])
	p = c.open(at)
	p.says(t, "(1 of 3 names of builds saw a run that passed and one that failed)")
	p.says(t, "The runs in a table")
	checkPage(t, at, p)

	suite := c.post("/console/tests/suites", c.filled(c.open("/console/tests/suites"), "name", url.Values{"name": {"smoke"}})).path
	sid := suite[strings.LastIndexByte(suite, '/')+1:]
	ofSuite := "00000000-0000-7000-8000-000000000001"
	w.one(`insert into suite_runs (id, organization_id, team_id, suite_id, suite_name, user_uuid, build_name, state, run_count, fanned_out, created_at, started_at, finished_at)
		select $1::uuid, organization_id, team_id, $2::uuid, 'smoke', user_uuid, 'nightly', 'PASSED', 1, true, created_at, started_at, finished_at
		from test_runs where id = $3 returning id::text`, ofSuite, sid, ids[2])
	w.one(`update test_runs set suite_run_id = $1::uuid where id = $2 returning id::text`, ofSuite, ids[2])
	p = c.open(suite)
	for _, words := range []string{"Flakiest tests", "Slowest tests", hostileShown, "1 of 1"} {
		p.says(t, words)
	}
	require.NotContains(t, p.text, hostile)
	checkPage(t, suite, p)
	c.does(c.open(suite+"/runs/"+ofSuite), "/pin", nil, "The run is kept.")
	c.does(c.open(suite+"/runs/"+ofSuite), "/unpin", nil, "The run is no longer kept.")

	settings := "/console/settings/organization"
	c.does(c.open(settings), settings, url.Values{"run_retention_days": {"30"}, "run_retention_runs": {"500"}}, "The settings were changed.")
	require.Equal(t, "30 500", w.one(`select run_retention_days || ' ' || run_retention_runs from organizations where id = $1`,
		w.boot.Organization.ID))
	c.does(c.open(settings), settings, url.Values{"run_retention_days": {"0"}}, "run_retention_days")
}
