package main

import (
	"context"
	"net/url"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage"
	testrun "github.com/slipway-qa/slipway/storage/run"
	"github.com/slipway-qa/slipway/storage/run/attempt"
	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/storage/step/playback"
)

// played begins a job, keeps an attempt of it that failed, and ends it.
func (w *surface) played(job string, end testrun.JobEnd) {
	w.t.Helper()
	id := uuid.MustParse(job)
	require.NoError(w.t, w.db.InTx(w.t.Context(), func(tx *storage.Tx) error {
		if _, _, err := testrun.BeginJob(w.t.Context(), tx, id); err != nil {
			return err
		}
		_, err := attempt.End(w.t.Context(), tx, id, testrun.JobEnd{Status: testrun.Failed, ErrorCode: testrun.CodeAssertionFailed,
			Error: "the first time " + hostile, Records: []playback.Record{{StepID: "s1", Tool: step.Tool{Type: step.Click},
				Status: playback.Failed,
				Result: step.Outcome{Message: "no map " + hostile}}}})
		return err
	}))
	require.NoError(w.t, w.db.InTx(w.t.Context(), func(tx *storage.Tx) error {
		if _, _, err := testrun.BeginJob(w.t.Context(), tx, id); err != nil {
			return err
		}
		_, err := testrun.EndJob(w.t.Context(), tx, id, end)
		return err
	}))
}

func TestConsoleRetriesAndQuarantine(t *testing.T) {
	t.Parallel()
	w := newSurface(t)
	c := w.console(w.boot.Owner.Username, w.boot.Owner.AccessKey)
	_, id := c.importedCase(hostile)
	at := "/console/tests/cases/" + id
	c.targeted(id, "https://shop.example.com/")
	c.does(c.open(at+"/edit"), "/edit", url.Values{"retries": {"2"}}, "at most 2 times, when it fails")
	require.Equal(t, "2", w.one(`select run_settings ->> 'retries' from test_cases where id = $1`, id))
	c.does(c.open(at+"/edit"), "/edit", url.Values{"retries": {""}}, "as the suite or organization")

	// Into quarantine, as a person.
	c.does(c.open(at), "/quarantine", url.Values{"reason": {"late " + hostile}, "until": {"soon"}}, "is a date")
	c.does(c.open(at), "/quarantine", url.Values{"reason": {"late"}, "until": {"2020-01-01"}}, "until")
	last := time.Now().AddDate(0, 0, 14).UTC().Format(time.DateOnly)
	p := c.does(c.open(at), "/quarantine", url.Values{"reason": {"late " + hostile}, "until": {last}}, "The test is in quarantine.")
	p.says(t, "late "+hostileShown)
	c.shows("/console/tests?quarantined=true", ">quarantine</span>", hostileShown)

	// A run of its suite: one target flickers, the other fails.
	suite := c.post("/console/tests/suites", c.filled(c.open("/console/tests/suites"), "name", url.Values{"name": {"smoke"}})).path
	c.submit(c.open(suite), "/add", url.Values{"case": {id}})
	c.does(c.open(suite), "/change", url.Values{"retries": {"1"}}, "The suite was changed.")
	require.Equal(t, "1", w.one(`select retries::text from test_suites`))
	ofSuite := c.does(c.open(suite), "/run", nil, "The run was started.").path
	w.wait("first", `select id::text from test_jobs where state = 'QUEUED' and position = 0`)
	w.wait("second", `select id::text from test_jobs where state = 'QUEUED' and position = 1`)
	w.played(w.ids["first"], testrun.JobEnd{Status: testrun.Passed})
	w.played(w.ids["second"], testrun.JobEnd{Status: testrun.Failed, ErrorCode: testrun.CodeStepFailed, Error: "the second time"})
	c.shows(ofSuite, "failed in quarantine", ">quarantine</span>", ">flaky</span>", "Run what failed again")
	run := at + "/runs/" + w.one(`select id::text from test_runs`)
	p = c.shows(run, "Attempt 1", "the first time "+hostileShown, "no map "+hostileShown, "the second time", "1 flaky",
		"Run what failed again",
		"Run what was flaky again", "late "+hostileShown)
	require.NotContains(t, p.text, hostile)

	// What failed is run again, with values for what the run was given.
	_, err := w.db.ExecContext(context.WithoutCancel(t.Context()), `update suite_runs set variable_names = '{user}'`)
	require.NoError(t, err)
	p = c.open(ofSuite)
	p.says(t, `name="variable-user"`)
	c.does(p, "/rerun", url.Values{"only": {"failed"}}, "must have user")
	p = c.does(c.open(ofSuite), "/rerun", url.Values{"only": {"failed"}, "variable-user": {"ann"}}, "The run was started.")
	require.NotEqual(t, ofSuite, p.path)
	p.says(t, "an earlier run")
	w.wait("again", `select j.id::text from test_jobs j join test_runs r on r.id = j.run_id join suite_runs s on s.id = r.suite_run_id
		where s.rerun_of is not null and j.target -> 'capabilities' ->> 'browserName' = 'firefox'`)
	_, err = w.db.ExecContext(context.WithoutCancel(t.Context()), `update suite_runs set variable_names = '{}'`)
	require.NoError(t, err)
	c.does(c.open(run), "/rerun", url.Values{"only": {"flaky"}}, "The run was started.")
	c.does(c.open(at), "/quarantine/end", nil, "The quarantine has ended.")
	require.Equal(t, "0", w.one(`select count(*)::text from test_quarantines`))
}
