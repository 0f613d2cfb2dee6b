package main

import (
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage"
)

// past writes runs of a case that are over, oldest first, a letter for each: P, F, E, C, or H
// for a healed one. They are of one revision, a minute apart, and returned newest first.
func (w *surface) past(caseID, revision, results string) (ids []uuid.UUID) {
	w.t.Helper()
	states := map[rune]string{'P': "PASSED", 'H': "PASSED", 'F': "FAILED", 'E': "ERROR", 'C': "CANCELLED"}
	for i, letter := range results {
		id := storage.NewID()
		ids = append([]uuid.UUID{id}, ids...)
		_, err := w.db.ExecContext(w.t.Context(),
			`insert into test_runs (id, organization_id, team_id, case_id, revision_id, user_uuid, case_name, build_name, state,
				created_at, started_at, finished_at)
			select $1, organization_id, team_id, id, $3, creator_uuid, name, 'build ' || $5::int, $4, at.at, at.at, at.at + $5::int * interval '1 second'
			from test_cases, (select now() - (100 - $5::int) * interval '1 minute' as at) at where id = $2`, id, caseID, revision,
			states[letter], i+1)
		require.NoError(w.t, err)
		healed := 0
		if letter == 'H' {
			healed = 1
		}
		_, err = w.db.ExecContext(w.t.Context(), `insert into test_jobs (id, organization_id, run_id, position, target, state, healed, records)
			select gen_random_uuid(), organization_id, id, 0, '{"capabilities":{"browserName":"chrome"}}', state, $2,
				jsonb_build_array(jsonb_build_object('id', 's1', 'tool', jsonb_build_object('type', 'click', 'args', '{}'::jsonb), 'status',
					case when state = 'PASSED' then 'PASSED' else 'FAILED' end, 'startMs', 0, 'tookMs', 100,
					'result', jsonb_build_object('success', state = 'PASSED', 'message', case when state = 'PASSED' then '' else $3::text end),
					'screenshotId', gen_random_uuid()))
			from test_runs where id = $1`, id, healed, "no button "+hostile)
		require.NoError(w.t, err)
	}
	return ids
}

func TestConsoleTestsHistory(t *testing.T) {
	t.Parallel()
	w := newSurface(t)
	c := w.console(w.boot.Owner.Username, w.boot.Owner.AccessKey)
	_, id := c.importedCase(hostile)
	_, never := c.importedCase("never run")
	at := "/console/tests/cases/" + id
	c.open(at).says(t, "There is no history yet")
	revision := w.one(`select id from test_revisions where case_id = $1`, id)
	ids := w.past(id, revision, "FHPCPFF")

	// The list: the last result with its run, the strip in words, filters and the order.
	p := c.open("/console/tests")
	p.says(t, at+"/runs/"+ids[0].String())
	p.says(t, "The last runs: 2 passed, 1 healed, 3 failed, 1 cancelled, 2 with a changed result; the newest: failed")
	for query, shown := range map[string][2]bool{
		"lastStatus=FAILED": {true, false}, "lastStatus=NONE": {false, true}, "lastStatus=PASSED": {false, false}, "content=alert": {true, false},
		"content=" + url.QueryEscape("save"): {true, true}, "tag=smoke": {false, false}, "sort=lastRun": {true, true},
	} {
		p := c.open("/console/tests?" + query)
		require.Equal(t, http.StatusOK, p.status, query)
		require.Equal(t, shown[0], strings.Contains(p.text, hostileShown), query)
		require.Equal(t, shown[1], strings.Contains(p.text, ">never run</a>"), query)
	}
	sorted := c.open("/console/tests?sort=lastRun").text
	require.Less(t, strings.Index(sorted, at+`"`), strings.Index(sorted, never+`"`), "what was run is before what was not")
	for query, word := range map[string]string{"lastStatus=odd": "lastStatus", "content=ab": "content", "sort=odd": "sort"} {
		p := c.open("/console/tests?" + query)
		require.Equal(t, http.StatusBadRequest, p.status)
		p.says(t, word)
	}

	// The case: since when it fails, with links to the first bad and the last good run.
	p = c.open(at)
	for _, words := range []string{"Last 7 runs", "3 passed, 3 failed, 1 cancelled; 1 with healed steps", "Fails since",
		"40 %", "2 of 5 ended otherwise",
		`href="` + at + "/runs/" + ids[1].String() + `"`, `href="` + at + "/runs/" + ids[2].String() + `"`, "Show data", "4.0 s on average"} {
		p.says(t, words)
	}
	checkPage(t, at, p)

	// A run that failed beside the last good one; what the page shows is text.
	p = c.open(at + "/runs/" + ids[0].String())
	for _, words := range []string{"Compared with the last good run", at + "/runs/" + ids[2].String(), "Both ran the same steps.",
		"Differs: status, message",
		"no button " + hostileShown, `alt="The page after this step in the good run"`} {
		p.says(t, words)
	}
	require.NotContains(t, p.text, hostile)
	checkPage(t, p.path, p)
	require.NotContains(t, c.open(at+"/runs/"+ids[2].String()).text, "Compared with the last good run", "of a run that passed")
	c.open(at+"/runs/"+ids[6].String()).says(t, "None of the 200 runs before this one passed")

	// A run names its environment, and stays in it when it is run again.
	w.one(`insert into test_environments (id, organization_id, name, creator_uuid, modifier_uuid)
		select gen_random_uuid(), organization_id, 'staging', gen_random_uuid(), gen_random_uuid() from test_cases where id = $1 returning name`,
		id)
	w.one(`update test_runs set environment = 'staging' where id = $1 returning environment`, ids[0])
	c.open(at+"/runs/"+ids[0].String()).says(t, "<dt>Environment</dt><dd>staging</dd>")

	// All runs: filter, and run again.
	c.targeted(id, "https://shop.example.com/")
	p = c.open("/console/tests/runs?status=FAILED")
	p.says(t, ids[0].String())
	require.NotContains(t, p.text, ids[2].String())
	require.Equal(t, http.StatusBadRequest, c.open("/console/tests/runs?status=odd").status)
	p = c.submit(p, ids[0].String()+"/again", nil)
	p.says(t, "The run was started.")
	require.Equal(t, "1", w.one(`select count(*)::text from test_runs where case_id = $1 and state = 'QUEUED'`, id))
	require.Equal(t, "staging", w.one(`select environment from test_runs where case_id = $1 and state = 'QUEUED'`, id))
	require.Equal(t, "QUEUED", w.one(`select state from test_case_results where case_id = $1`, id))
}

func TestConsoleTestsMatrix(t *testing.T) {
	t.Parallel()
	w := newSurface(t)
	c := w.console(w.boot.Owner.Username, w.boot.Owner.AccessKey)
	_, id := c.importedCase(hostile)
	at := c.post("/console/tests/suites", c.filled(c.open("/console/tests/suites"), "name", url.Values{"name": {"smoke"}})).path
	suite := at[strings.LastIndexByte(at, '/')+1:]
	c.open(at).says(t, "There is no history yet")
	c.submit(c.open(at), "/add", url.Values{"case": {id}})
	ids := w.past(id, w.one(`select id from test_revisions where case_id = $1`, id), "PF")
	for i, run := range ids {
		_, err := w.db.ExecContext(t.Context(),
			`insert into suite_runs (id, organization_id, team_id, suite_id, suite_name, user_uuid, build_name, state, run_count,
				fanned_out, created_at, started_at, finished_at)
			select $1::uuid, organization_id, team_id, $2::uuid, 'smoke', user_uuid, 'nightly', state, 1, true, created_at, started_at, finished_at from test_runs where id = $3`,
			fmt.Sprintf("00000000-0000-7000-8000-%012d", i), suite, run)
		require.NoError(t, err)
		_, err = w.db.ExecContext(t.Context(), `update test_runs set suite_run_id = $1::uuid where id = $2`,
			fmt.Sprintf("00000000-0000-7000-8000-%012d", i), run)
		require.NoError(t, err)
	}
	p := c.open(at)
	for _, words := range []string{"Fails since", at + "/runs/00000000-0000-7000-8000-000000000000", `class="matrix"`,
		"/console/tests/cases/" + id + "/runs/" + ids[0].String(), "/console/tests/cases/" + id + "/runs/" + ids[1].String(),
		`nightly: failed"`, `nightly: passed"`} {
		p.says(t, words)
	}
	require.NotContains(t, p.text, hostile)
	checkPage(t, at, p)
	c.open("/console/tests/suites").says(t, "The last runs: 1 passed, 1 failed, 1 with a changed result; the newest: failed")

	// A schedule in words, with its next times; it is paused and goes on.
	c.post("/console/tests/schedules", c.filled(c.open("/console/tests/schedules"), "cron",
		url.Values{"name": {"nightly"}, "cron": {"30 3 * * *"}, "timezone": {"UTC"}, "suite": {suite}}))
	p = c.open("/console/tests/schedules")
	p.says(t, "At 03:30")
	require.Equal(t, 1, strings.Count(p.text, "T03:30:00Z"), "the next time in the list")
	one := c.open(regexp.MustCompile(`/console/tests/schedules/[0-9a-f-]+`).FindString(p.text))
	require.Equal(t, 5, strings.Count(one.text, "T03:30:00Z"), "the next five times")
	p = c.submit(p, "/state", nil)
	p.says(t, "The schedule is paused.")
	require.NotContains(t, p.text, "T03:30:00Z")

	p = c.open("/console/tests/generations")
	p.says(t, "No test was written from a sentence yet.")
	require.Equal(t, http.StatusBadRequest, c.open("/console/tests/generations?status=odd").status)
	c.submit(c.open("/console/tests/generate"), "/tests/generate", url.Values{"intent": {"Click on " + hostile},
		"url": {"https://shop.example.com/"}})
	p = c.open("/console/tests/generations?status=" + w.one(`select state from test_generations limit 1`))
	p.says(t, hostileShown)
	checkPage(t, p.path, p)
}
