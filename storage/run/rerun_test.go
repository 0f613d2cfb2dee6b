package run_test

import (
	"context"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/cmd/localservice/servicetest/fixture"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/authoring"
	. "github.com/slipway-qa/slipway/storage/run"
	"github.com/slipway-qa/slipway/storage/run/attempt"
	"github.com/slipway-qa/slipway/storage/run/reading"
)

// flaky begins a job, keeps an attempt of it that failed, and ends it as passed.
func (w *room) flaky(job uuid.UUID) {
	w.T.Helper()
	_, _, err := w.Begin(job)
	require.NoError(w.T, err)
	w.Must(func(ctx context.Context, tx *storage.Tx) error {
		_, err := attempt.End(ctx, tx, job, JobEnd{Status: Failed, ErrorCode: CodeStepFailed})
		return err
	})
	w.MustEnd(job, Passed)
}

// quarantined puts a case into quarantine.
func (w *room) quarantined(caseID, until string) {
	w.T.Helper()
	w.Exec(`insert into test_quarantines (case_id, organization_id, reason, until, user_uuid) values ($1, $2, 'late map', now() + $3::interval, $4)`,
		caseID, w.Org.ID, until, fixture.NoUUID)
}

// suiteOf starts a run of a suite of cases on two targets each, and returns the jobs of each.
func (w *room) suiteOf(ids ...string) (*SuiteRun, map[string][]uuid.UUID) {
	w.T.Helper()
	suite := w.NewSuite(w.Org.Member.Writer, "smoke", ids...)
	run, err := w.TrySuiteRun(w.Org.Member.Writer, NewSuiteRun{SuiteID: suite.ID})
	require.NoError(w.T, err)
	return run, w.jobsOf(run)
}

func (w *room) jobsOf(run *SuiteRun) map[string][]uuid.UUID {
	w.T.Helper()
	_, _, err := w.NextRuns(run.ID, 100)
	require.NoError(w.T, err)
	runs, err := reading.OfSuiteRun(fixture.Context(w.T), w.DB, run.ID)
	require.NoError(w.T, err)
	jobs := map[string][]uuid.UUID{}
	for _, r := range runs {
		for _, j := range r.Jobs {
			jobs[r.CaseID] = append(jobs[r.CaseID], j.ID)
		}
	}
	return jobs
}

func (w *room) cases(names ...string) (ids []string) {
	w.T.Helper()
	for _, name := range names {
		n := fixture.LoginCase(name, 2)
		n.Settings.RunTargets[1] = fixture.Browser("firefox")
		c, err := w.TryCase(w.Org.Member.Writer, n)
		require.NoError(w.T, err)
		ids = append(ids, c.ID)
	}
	return ids
}

func TestSuiteRunIsRepeated(t *testing.T) {
	t.Parallel()
	w := open(t)
	ids := w.cases("fails", "flickers", "passes")
	run, jobs := w.suiteOf(ids...)
	w.MustEnd(jobs[ids[0]][0], Passed)
	w.MustEnd(jobs[ids[0]][1], Errored)
	w.flaky(jobs[ids[1]][0])
	w.MustEnd(jobs[ids[1]][1], Passed)
	w.MustEnd(jobs[ids[2]][0], Passed)
	w.MustEnd(jobs[ids[2]][1], Passed)
	got := w.ReadSuiteRun(run)
	require.Equal(t, Errored, got.Status)
	require.Equal(t, 1, got.Flaky)
	require.Equal(t, 2, got.Counts[Passed], "a flaky one has passed")
	require.EqualValues(t, 1, w.Event(run.ID)["counts"].(map[string]any)["flaky"])

	for _, tt := range []struct {
		only    Selection
		targets map[string][]string // by case
	}{
		{OnlyFailed, map[string][]string{ids[0]: {"firefox"}}},
		{OnlyFlaky, map[string][]string{ids[1]: {"chrome"}}},
		{OnlyAll, map[string][]string{ids[0]: {"chrome", "firefox"}, ids[1]: {"chrome", "firefox"}, ids[2]: {"chrome", "firefox"}}},
	} {
		again, err := w.TrySuiteRun(w.Org.Member.Writer, NewSuiteRun{SuiteID: run.SuiteID, Rerun: &SuiteRerun{Of: run.ID, Only: tt.only}})
		require.NoError(t, err)
		require.Equal(t, len(tt.targets), again.RunCount)
		for more := true; more; {
			_, more, err = w.NextRuns(again.ID, 1)
			require.NoError(t, err)
		}
		runs, err := reading.OfSuiteRun(fixture.Context(t), w.DB, again.ID)
		require.NoError(t, err)
		targets := map[string][]string{}
		for _, r := range runs {
			for _, j := range r.Jobs {
				targets[r.CaseID] = append(targets[r.CaseID], j.Target.Capabilities["browserName"].(string))
			}
		}
		require.Equal(t, tt.targets, targets, tt.only)
		got := w.ReadSuiteRun(again)
		require.Equal(t, run.ID, *got.RerunOf)
		require.Equal(t, tt.only, got.RerunOnly)
		require.Equal(t, len(tt.targets), got.RunCount)
	}

	// A case that left the suite, or has no steps any more, is not run again.
	w.Exec(`update test_cases set suite_id = null where id = $1`, ids[0])
	_, err := w.TrySuiteRun(w.Org.Member.Writer, NewSuiteRun{SuiteID: run.SuiteID, Rerun: &SuiteRerun{Of: run.ID, Only: OnlyFailed}})
	require.ErrorIs(t, err, authoring.ErrNoJobs)
	_, err = w.TrySuiteRun(w.Org.Member.Writer, NewSuiteRun{SuiteID: run.SuiteID, Rerun: &SuiteRerun{Of: uuid.New()}})
	require.ErrorIs(t, err, authoring.ErrNoJobs)
}

// Quarantine is that of the moment in which the run of the case was made.
func TestQuarantinedRunsFailNothing(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		until       string
		ends        [2]Status // of the case in quarantine and of the other
		want        Status
		quarantined int
	}{
		"in quarantine":         {"1 hour", [2]Status{Failed, Passed}, Passed, 1},
		"an error":              {"1 hour", [2]Status{Errored, Passed}, Passed, 1},
		"both":                  {"1 hour", [2]Status{Failed, Errored}, Errored, 1},
		"it is over":            {"-1 second", [2]Status{Failed, Passed}, Failed, 0},
		"it passes":             {"1 hour", [2]Status{Passed, Passed}, Passed, 0},
		"cancelled is no error": {"1 hour", [2]Status{Cancelled, Passed}, Cancelled, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := open(t)
			ids := w.cases("flickers", "stands")
			w.quarantined(ids[0], tt.until)
			run, jobs := w.suiteOf(ids...)
			w.Exec(`delete from test_quarantines`)
			w.quarantined(ids[1], "1 hour") // too late for this run
			for i, id := range ids {
				for _, job := range jobs[id] {
					w.MustEnd(job, tt.ends[i])
				}
			}
			got := w.ReadSuiteRun(run)
			require.Equal(t, tt.want, got.Status)
			require.Equal(t, tt.quarantined, got.Quarantined)
			counted := got.Quarantined
			for _, n := range got.Counts {
				counted += n
			}
			require.Equal(t, 2, counted, "each is in one count")
			counts := w.Event(run.ID)["counts"].(map[string]any)
			require.EqualValues(t, tt.quarantined, counts["quarantined"])
			require.EqualValues(t, 2, counts["total"])
			runs, err := reading.OfSuiteRun(fixture.Context(t), w.DB, run.ID)
			require.NoError(t, err)
			require.Equal(t, tt.ends[0], runs[0].Status, "the run shows what became of it")
			require.Equal(t, tt.until == "1 hour", runs[0].Quarantine != nil)
			require.Nil(t, runs[1].Quarantine)
		})
	}
}

func TestCancelledRunCountsFlaky(t *testing.T) {
	t.Parallel()
	w := open(t)
	run := w.NewRun(w.NewCase(w.Org.Member.Writer, "log in"), 2)
	w.flaky(run.Jobs[0].ID)
	w.Must(func(ctx context.Context, tx *storage.Tx) error {
		jobs, err := Cancel(ctx, tx, w.Org.Member.Writer, run.CaseID, run.ID)
		if err != nil {
			return err
		}
		return fixture.CancelTasks(ctx, tx, jobs)
	})
	require.Equal(t, 1, w.ReadRun(run).Flaky)
	require.EqualValues(t, 1, w.Event(run.ID)["counts"].(map[string]any)["flaky"])
}
