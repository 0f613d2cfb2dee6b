package main

import (
	"net/url"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
)

// The page of a suite run accepts the pictures of all its tests at once.
func TestConsoleAcceptsThePicturesOfASuiteRun(t *testing.T) {
	t.Parallel()
	w := newSurface(t)
	c := w.console(w.boot.Owner.Username, w.boot.Owner.AccessKey)
	_, id := c.importedCase("cart")
	run := w.past(id, w.one(`select id from test_revisions where case_id = $1`, id), "F")[0]
	suite := c.post("/console/tests/suites", c.filled(c.open("/console/tests/suites"), "name", url.Values{"name": {"smoke"}})).path
	of := uuid.NewString()
	w.one(`insert into suite_runs (id, organization_id, team_id, suite_id, suite_name, user_uuid, build_name, state, run_count, fanned_out, created_at, started_at, finished_at)
		select $1::uuid, organization_id, team_id, $2::uuid, 'smoke', user_uuid, 'nightly', 'FAILED', 1, true, created_at, started_at, finished_at
		from test_runs where id = $3 returning id::text`, of, suite[strings.LastIndexByte(suite, '/')+1:], run)
	w.one(`update test_runs set suite_run_id = $1::uuid where id = $2 returning id::text`, of, run)
	at := suite + "/runs/" + of
	require.NotContains(t, c.open(at).text, "Accept its pictures")

	picture := uuid.NewString()
	w.one(`insert into test_baselines (id, organization_id, case_id, step_id, target, state, digest, width, height, object_key, size, run_id)
		select $1::uuid, organization_id, case_id, 's1', 'chrome/linux/1280x757@1', 'CANDIDATE', 'd', 2, 2, 'baselines/x/z', 0, id
		from test_runs where id = $2 returning id::text`, picture, run)
	w.one(`update test_jobs set records = jsonb_build_array(jsonb_build_object('id', 's1', 'tool', jsonb_build_object('type', 'assert', 'args', '{}'::jsonb),
		'status', 'FAILED', 'result', jsonb_build_object('success', false, 'message', 'it differs'), 'startMs', 0, 'tookMs', 1,
		'look', jsonb_build_object('state', 'DIFFERENT', 'candidateId', $2::text, 'share', 1, 'width', 2, 'height', 2)))
		where run_id = $1 returning id::text`, run, picture)
	p := c.open(at)
	p.says(t, "Accept its pictures")
	checkPage(t, at, p)
	c.does(p, "/looks", nil, "The pictures of the run were accepted.")
	require.Equal(t, "ACCEPTED", w.one(`select state from test_baselines where id::text = $1`, picture))
}
