package run_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/cmd/localservice/servicetest/fixture"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/authoring"
	"github.com/slipway-qa/slipway/storage/ledger"
	"github.com/slipway-qa/slipway/storage/rows"
	. "github.com/slipway-qa/slipway/storage/run"
	"github.com/slipway-qa/slipway/storage/run/reading"
	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/storage/step/capability"
)

// users are so many data rows of a user and a secret password.
func users(t *testing.T, n int) *rows.Sealed {
	t.Helper()
	text := "user,password\n"
	for i := range n {
		text += fmt.Sprintf("user%d,secret-%d\n", i, i)
	}
	body, err := json.Marshal(map[string]any{"csv": text, "secret": []string{"password"}})
	require.NoError(t, err)
	d, err := rows.Read(body)
	require.NoError(t, err)
	sealed, err := rows.Seal(fixture.SealKey, d)
	require.NoError(t, err)
	return sealed
}

func (w *room) caseOfRows(n int) *authoring.Case {
	w.T.Helper()
	made := fixture.LoginCase("log in", 1)
	made.Data = users(w.T.(*testing.T), n)
	c, err := w.TryCase(w.Org.Member.Writer, made)
	require.NoError(w.T, err)
	return c
}

// startRows starts a run with its tasks.
func (w *room) startRows(c *authoring.Case, targets int, picked ...int) (run *Run, err error) {
	err = w.Do(func(ctx context.Context, tx *storage.Tx) error {
		revision, err := authoring.RevisionByID(ctx, tx, c.ID, "")
		if err != nil {
			return err
		}
		if run, err = Start(ctx, tx, w.Org.Member.Writer, NewRun{Case: c, Revision: revision, Targets: fixture.Targets(targets),
			Rows: picked}); err != nil {
			return err
		}
		for i := range run.Jobs {
			if _, err := ledger.Insert(ctx, tx, w.RunTask("test:job", run.Jobs[i].ID)); err != nil {
				return err
			}
		}
		if run.Unfinished() {
			_, err = ledger.Insert(ctx, tx, w.RunTask("run:rows", run.ID))
		}
		return err
	})
	return run, err
}

func (w *room) moreJobs(run *Run, limit int) (jobs []uuid.UUID, more bool) {
	w.T.Helper()
	w.Must(func(ctx context.Context, tx *storage.Tx) (err error) {
		jobs, more, err = FanOutRows(ctx, tx, run.ID, limit)
		for _, id := range jobs {
			if _, err := ledger.Insert(ctx, tx, w.RunTask("test:job", id)); err != nil {
				return err
			}
		}
		return err
	})
	return jobs, more
}

// Each row has a job on each target, in the order of the rows; the first ones are made with
// the run, and it does not end before all are.
func TestRunOfRows(t *testing.T) {
	t.Parallel()
	w := open(t)
	c := w.caseOfRows(70)
	run, err := w.startRows(c, 2)
	require.NoError(t, err)
	require.Len(t, run.Jobs, 100)
	require.True(t, run.Unfinished())
	require.Equal(t, 140, run.JobCount)
	require.Equal(t, map[Status]int{Queued: 140}, run.Counts)
	for i, job := range run.Jobs {
		require.Equal(t, &Row{i / 2, fmt.Sprintf("user%d", i/2)}, job.Row)
		w.MustEnd(job.ID, Passed)
	}
	got := w.ReadRun(run)
	require.Equal(t, Running.Terminal(), got.Status.Terminal(), "jobs are still to be made")
	require.Equal(t, 100, got.Counts[Passed])
	require.Equal(t, 40, got.Counts[Queued])

	jobs, more := w.moreJobs(run, 30)
	require.Len(t, jobs, 30)
	require.True(t, more)
	second, more := w.moreJobs(run, 30)
	require.Len(t, second, 10)
	require.False(t, more)
	again, more := w.moreJobs(run, 30)
	require.Empty(t, again, "a step that is repeated")
	require.False(t, more)
	for _, id := range append(jobs, second[:9]...) {
		w.MustEnd(id, Passed)
	}
	require.False(t, w.ReadRun(run).Status.Terminal())
	w.MustEnd(second[9], Failed)
	got = w.ReadRun(run)
	require.Equal(t, Failed, got.Status)
	require.Equal(t, 140, got.JobCount)
	require.Equal(t, 139, got.Counts[Passed])
	require.Equal(t, 1, got.Counts[Failed])
	require.Equal(t, map[string]any{"total": 140.0, "passed": 139.0, "failed": 1.0, "error": 0.0, "cancelled": 0.0,
		"flaky": 0.0, "quarantined": 0.0}, w.Event(run.ID)["counts"])
	require.Equal(t, []any{map[string]any{"jobId": second[9].String(), "status": "FAILED", "code": "", "trace": false,
		"row": map[string]any{"index": 69.0, "name": "user69", "values": map[string]any{"user": "user69", "password": nil}}}},
		w.Event(run.ID)["failedJobs"])

	// By page.
	read := func(p reading.JobPage) (positions []int) {
		found, err := reading.ByIDWith(fixture.Context(t), w.DB, w.Org.ID, c.ID, run.ID, p)
		require.NoError(t, err)
		require.Equal(t, 140, found.JobCount)
		for _, job := range found.Jobs {
			positions = append(positions, job.Position)
		}
		return positions
	}
	require.Equal(t, []int{98, 99, 100}, read(reading.JobPage{Skip: 98, Limit: 3}))
	require.Equal(t, []int{139}, read(reading.JobPage{Limit: 10, Status: Failed}))
	require.Len(t, read(reading.JobPage{Limit: reading.DefaultJobs}), 100)
	require.Empty(t, read(reading.JobPage{Skip: 140, Limit: 10}))
	failing, header, err := FailingRows(fixture.Context(t), w.DB, &Run{DataID: got.DataID,
		Jobs: []Job{{ID: second[9], Status: Failed, Row: &Row{69, "user69"}}}})
	require.NoError(t, err)
	require.Equal(t, []string{"user69", ""}, failing[second[9]])
	require.True(t, header.IsSecret("password"))
}

func TestPickedRows(t *testing.T) {
	t.Parallel()
	w := open(t)
	c := w.caseOfRows(70)
	run, err := w.startRows(c, 2, 60, 3, 60)
	require.NoError(t, err)
	require.Len(t, run.Jobs, 4)
	require.False(t, run.Unfinished())
	for i, want := range []int{3, 3, 60, 60} {
		require.Equal(t, want, run.Jobs[i].Row.Index)
	}
	work, _, err := w.Begin(run.Jobs[2].ID)
	require.NoError(t, err)
	require.Equal(t, &Row{60, "user60"}, work.Job.Row)
	values, err := work.RowValues(fixture.SealKey)
	require.NoError(t, err)
	require.Equal(t, []rows.Cell{{Column: "user", Text: "user60"}, {Column: "password", Text: "secret-60", Secret: true}}, values)
	_, err = w.startRows(c, 1, 0, 70)
	require.ErrorContains(t, err, "rows[1]: must be 0 to 69: the data have 70 rows")
	_, err = w.startRows(w.NewCase(w.Org.Member.Writer, "plain"), 1, 0)
	require.ErrorContains(t, err, "rows: names data rows, and the test case has none")
}

// A run under way keeps its rows, whatever its case gets; older data go.
func TestDataOfARunStay(t *testing.T) {
	t.Parallel()
	w := open(t)
	c := w.caseOfRows(150)
	run, err := w.startRows(c, 1)
	require.NoError(t, err)
	change := func(to *rows.Sealed) {
		w.Must(func(ctx context.Context, tx *storage.Tx) error {
			_, err := authoring.UpdateCase(ctx, tx, w.Org.Member.Writer, c.ID, authoring.CaseChange{Data: &authoring.DataChange{Rows: to}})
			return err
		})
	}
	count := func() (n int) {
		require.NoError(t, w.DB.GetContext(fixture.Context(t), &n, `select count(*) from test_data where case_id = $1`, c.ID))
		return n
	}
	for i := range 14 {
		change(users(t, i+1))
	}
	require.Equal(t, 11, count(), "the newest ten, and those of the run")
	jobs, more := w.moreJobs(run, 100)
	require.False(t, more)
	work, _, err := w.Begin(jobs[49])
	require.NoError(t, err)
	require.Equal(t, "user149", work.Job.Row.Name)
	values, err := work.RowValues(fixture.SealKey)
	require.NoError(t, err)
	require.Equal(t, "secret-149", values[1].Text)
	change(nil)
	latest, err := authoring.RevisionByID(fixture.Context(t), w.DB, c.ID, "")
	require.NoError(t, err)
	require.Nil(t, latest.DataID)
}

// Whoever cancels a run cancels the task that makes its jobs, and nothing is made after.
func TestCancelRunOfRows(t *testing.T) {
	t.Parallel()
	w := open(t)
	run, err := w.startRows(w.caseOfRows(150), 1)
	require.NoError(t, err)
	w.Must(func(ctx context.Context, tx *storage.Tx) error {
		ids, err := Cancel(ctx, tx, w.Org.Member.Writer, run.CaseID, run.ID)
		require.Len(t, ids, 101)
		require.Contains(t, ids, run.ID, "the task of further jobs")
		return err
	})
	require.ErrorIs(t, w.Do(func(ctx context.Context, tx *storage.Tx) error {
		_, _, err := FanOutRows(ctx, tx, run.ID, 100)
		return err
	}), storage.ErrConflict)
	got := w.ReadRun(run)
	require.Equal(t, Cancelled, got.Status)
	require.Equal(t, map[Status]int{Cancelled: 150, Queued: 0, Running: 0, Passed: 0, Failed: 0, Errored: 0}, got.Counts)
}

// A run whose task has ended without all jobs ends, and a job says why.
func TestLostFanOutOfRows(t *testing.T) {
	t.Parallel()
	w := open(t)
	run, err := w.startRows(w.caseOfRows(120), 1)
	require.NoError(t, err)
	for _, job := range run.Jobs {
		w.MustEnd(job.ID, Passed)
	}
	_, err = w.DB.ExecContext(fixture.Context(t), `update tasks set state = 'dead' where id = $1`, run.ID)
	require.NoError(t, err)
	w.Must(func(ctx context.Context, tx *storage.Tx) error {
		n, err := EndLostJobs(ctx, tx, 10)
		require.EqualValues(t, 1, n)
		return err
	})
	got, err := reading.ByIDWith(fixture.Context(t), w.DB, w.Org.ID, run.CaseID, run.ID, reading.JobPage{Skip: 100, Limit: 10})
	require.NoError(t, err)
	require.Equal(t, Errored, got.Status)
	require.Len(t, got.Jobs, 1)
	require.Equal(t, CodeWorkerLost, got.Jobs[0].ErrorCode)
	require.Contains(t, got.Jobs[0].Error, "further data rows")
}

// A case of many rows in a suite has its first jobs at once, and the suite run does not end
// before all of them have.
func TestSuiteRunOfRows(t *testing.T) {
	t.Parallel()
	w := open(t)
	c := w.caseOfRows(45)
	suite := w.NewSuite(w.Org.Member.Writer, "smoke", c.ID)
	run, err := w.TrySuiteRun(w.Org.Member.Writer, NewSuiteRun{SuiteID: suite.ID})
	require.NoError(t, err)
	var made FannedOut
	w.Must(func(ctx context.Context, tx *storage.Tx) (err error) {
		made, err = FanOut(ctx, tx, run.ID, "slipway", 100)
		return err
	})
	require.Len(t, made.Jobs, 20)
	require.Len(t, made.Unfinished, 1)
	for _, id := range made.Jobs {
		w.MustEnd(id, Passed)
	}
	require.False(t, w.ReadSuiteRun(run).Status.Terminal())
	jobs, more := w.moreJobs(&Run{ID: made.Unfinished[0]}, 100)
	require.False(t, more)
	require.Len(t, jobs, 25)
	for _, id := range jobs {
		w.MustEnd(id, Passed)
	}
	require.Equal(t, Passed, w.ReadSuiteRun(run).Status)
}

func TestTooManyJobs(t *testing.T) {
	t.Parallel()
	w := open(t)
	c := w.caseOfRows(MaxJobs/20 + 1)
	_, err := w.startRows(c, 20)
	require.ErrorContains(t, err, "targets: \"log in\" would have 50020 jobs, of 2501 data rows on 20 targets: a run has at most 50000")
}

// Steps name columns that there are, also after a change of the data, a restored revision
// and a copy.
func TestStepsNameColumns(t *testing.T) {
	t.Parallel()
	w := open(t)
	by := w.Org.Member.Writer
	typed := func(text string) []step.Step {
		return []step.Step{{ID: "s1", Tool: step.Tool{Type: step.GoToURL, Args: step.Args{URL: "https://example.com/"}}},
			{ID: "s2", Tool: step.Tool{Type: step.TypeKeys, Args: step.Args{Text: &text, Selector: &step.Selector{Type: step.CSS, Value: "input"}}}}}
	}
	n := fixture.LoginCase("log in", 1)
	n.Revision.Steps = typed("{{row:user}}")
	_, err := w.TryCase(by, n)
	require.ErrorContains(t, err, "steps[1]: names {{row:user}}, and the test case has no data")
	n.Data = users(t, 3)
	c, err := w.TryCase(by, n)
	require.NoError(t, err)
	update := func(change authoring.CaseChange) error {
		return w.Do(func(ctx context.Context, tx *storage.Tx) error {
			_, err := authoring.UpdateCase(ctx, tx, by, c.ID, change)
			return err
		})
	}
	require.ErrorContains(t, update(authoring.CaseChange{Data: &authoring.DataChange{}}),
		"steps[1]: names {{row:user}}, and the test case has no data")
	other := typed("{{row:total}}")
	require.ErrorContains(t, update(authoring.CaseChange{Steps: &other}), "steps[1]: names {{row:total}}, and the data have no column total")
	address := func(s capability.RunSettings) capability.RunSettings {
		s.TestURL = "https://{{row:host}}/"
		return s
	}
	require.ErrorContains(t, update(authoring.CaseChange{Settings: address}), "runSettings.testUrl: names {{row:host}}")
	first, err := authoring.RevisionByID(fixture.Context(t), w.DB, c.ID, "")
	require.NoError(t, err)
	plain := typed("ann")
	require.NoError(t, update(authoring.CaseChange{Steps: &plain, Data: &authoring.DataChange{}}))
	w.Must(func(ctx context.Context, tx *storage.Tx) error {
		_, err := authoring.DuplicateCase(ctx, tx, by, c.ID, authoring.NewCase{Name: "copy"})
		require.NoError(t, err)
		_, err = authoring.RestoreRevision(ctx, tx, by, c.ID, first.ID)
		require.NoError(t, err)
		again, err := authoring.RevisionByID(ctx, tx, c.ID, "")
		require.NoError(t, err)
		require.Equal(t, first.DataID, again.DataID)
		copied, err := authoring.DuplicateCase(ctx, tx, by, c.ID, authoring.NewCase{Name: strings.Repeat("copy ", 2)})
		require.NoError(t, err)
		theirs, err := authoring.RevisionByID(ctx, tx, copied.ID, "")
		require.NoError(t, err)
		require.NotEqual(t, first.DataID, theirs.DataID)
		list, err := rows.List(ctx, tx, *theirs.DataID, 1, 5)
		require.Equal(t, [][]string{{"user1", ""}, {"user2", ""}}, list)
		return err
	})
}

// What is run again of a run of data rows are the rows that failed, on the targets on which some did.
func TestRowsAreRunAgain(t *testing.T) {
	t.Parallel()
	w := open(t)
	c := w.caseOfRows(40)
	run, err := w.startRows(c, 2)
	require.NoError(t, err)
	for i := range run.Jobs {
		status := Passed
		if i == 7 || i == 23 { // rows 3 and 11 on the second target
			status = Failed
		}
		w.MustEnd(run.Jobs[i].ID, status)
	}
	ended := w.ReadRun(run)
	require.Equal(t, Failed, ended.Status)
	again, err := AgainOf(fixture.Context(t), w.DB, ended, OnlyFailed)
	require.NoError(t, err)
	require.Equal(t, fixture.Targets(2)[1:], again.Targets)
	require.Equal(t, []int{3, 11}, again.Rows)
	again, err = AgainOf(fixture.Context(t), w.DB, ended, OnlyAll)
	require.NoError(t, err)
	require.Equal(t, fixture.Targets(2), again.Targets)
	require.Nil(t, again.Rows)
	again, err = AgainOf(fixture.Context(t), w.DB, ended, OnlyFlaky)
	require.NoError(t, err)
	require.Empty(t, again.Targets)
}

// Rows of which no column is secret have nothing to decrypt.
func TestRowsWithoutSecrets(t *testing.T) {
	t.Parallel()
	w := open(t)
	d, err := rows.Read([]byte(`{"rows": [{"user": "ann", "total": "3"}, {"user": "", "total": ""}]}`))
	require.NoError(t, err)
	made := fixture.LoginCase("log in", 1)
	made.Data, err = rows.Seal(fixture.SealKey, d)
	require.NoError(t, err)
	c, err := w.TryCase(w.Org.Member.Writer, made)
	require.NoError(t, err)
	run, err := w.startRows(c, 1)
	require.NoError(t, err)
	for i, want := range [][]rows.Cell{{{Column: "user", Text: "ann"}, {Column: "total", Text: "3"}}, {{Column: "user"}, {Column: "total"}}} {
		work, _, err := w.Begin(run.Jobs[i].ID)
		require.NoError(t, err)
		values, err := work.RowValues(fixture.SealKey)
		require.NoError(t, err)
		require.Equal(t, want, values)
	}
	require.Zero(t, w.Count(`select count(*) from test_data_rows where hidden is not null`))
}

// Who cancels a run while its jobs are made waits for these and holds the tasks of all of them: a
// worker that begins one of the last ones holds its task, and would wait for the run.
func TestCancelWhileJobsAreMade(t *testing.T) {
	t.Parallel()
	w := open(t)
	run, err := w.startRows(w.caseOfRows(130), 1)
	require.NoError(t, err)
	cancelled, held := make(chan error, 1), -1
	var late []uuid.UUID
	w.Must(func(ctx context.Context, tx *storage.Tx) error {
		if _, err := tx.ExecContext(ctx, `select from tasks where id = $1 for update`, run.ID); err != nil {
			return err
		}
		if late, _, err = FanOutRows(ctx, tx, run.ID, 100); err != nil {
			return err
		}
		for _, id := range late {
			if _, err := ledger.Insert(ctx, tx, w.RunTask("test:job", id)); err != nil {
				return err
			}
		}
		go func() {
			cancelled <- w.Do(func(ctx context.Context, tx *storage.Tx) error {
				if _, err := Cancel(ctx, tx, w.Org.Member.Writer, run.CaseID, run.ID); err != nil {
					return err
				}
				var free []uuid.UUID
				err := w.DB.SelectContext(ctx, &free, `select id from tasks where id = any($1::uuid[]) for update skip locked`, storage.UUIDs(late))
				held = len(late) - len(free)
				return err
			})
		}()
		require.Eventually(t, func() bool {
			return w.Count(`select count(*) from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`) > 0
		}, time.Minute, 5*time.Millisecond)
		return nil
	})
	require.NoError(t, <-cancelled)
	require.Len(t, late, 30)
	require.Equal(t, 30, held)
	require.Equal(t, Cancelled, w.ReadRun(run).Status)
}

// An event names the first jobs that failed, and whether there is a trace of their last attempt.
func TestEventNamesFailedJobs(t *testing.T) {
	t.Parallel()
	w := open(t)
	run := w.NewRun(w.NewCase(w.Org.Member.Writer, "log in"), 7)
	for i, job := range run.Jobs {
		end := JobEnd{Status: Failed, ErrorCode: CodeStepFailed}
		if id := uuid.New(); i == 1 {
			end.Files = []NewFile{{ID: id, Kind: Trace, Key: FileKey(job.ID, id), ContentType: "application/zip", Size: 7}}
		}
		_, err := w.End(job.ID, end)
		require.NoError(t, err)
	}
	failed := w.Event(run.ID)["failedJobs"].([]any)
	require.Len(t, failed, 5)
	for i, one := range failed {
		require.Equal(t, map[string]any{"jobId": run.Jobs[i].ID.String(), "status": "FAILED", "code": CodeStepFailed, "trace": i == 1}, one)
	}
}

// A process from before data rows, which does not know that jobs are still to be made, ends no
// such run.
func TestUnfinishedRunsDoNotEnd(t *testing.T) {
	t.Parallel()
	w := open(t)
	run, err := w.startRows(w.caseOfRows(130), 1)
	require.NoError(t, err)
	_, err = w.DB.ExecContext(fixture.Context(t), `update test_runs set state = 'PASSED', finished_at = now() where id = $1`, run.ID)
	require.ErrorContains(t, err, "test_runs_unfinished_check")
	w.moreJobs(run, 100)
	_, err = w.DB.ExecContext(fixture.Context(t), `update test_runs set state = 'PASSED', finished_at = now() where id = $1`, run.ID)
	require.NoError(t, err)
}

// A case of whose failed rows none is there any more is left out of a rerun: a run without jobs
// would never end.
func TestRerunOfRowsThatAreGone(t *testing.T) {
	t.Parallel()
	w := open(t)
	shrunk, kept := w.caseOfRows(5), w.caseOfRows(5)
	suite := w.NewSuite(w.Org.Member.Writer, "smoke", shrunk.ID, kept.ID)
	first, err := w.TrySuiteRun(w.Org.Member.Writer, NewSuiteRun{SuiteID: suite.ID})
	require.NoError(t, err)
	for _, jobs := range w.jobsOf(first) {
		for i, id := range jobs {
			status := Passed
			if i >= 3 {
				status = Failed
			}
			w.MustEnd(id, status)
		}
	}
	for id, n := range map[string]int{shrunk.ID: 2, kept.ID: 4} {
		w.Must(func(ctx context.Context, tx *storage.Tx) error {
			_, err := authoring.UpdateCase(ctx, tx, w.Org.Member.Writer, id, authoring.CaseChange{Data: &authoring.DataChange{Rows: users(t, n)}})
			return err
		})
	}
	again, err := w.TrySuiteRun(w.Org.Member.Writer, NewSuiteRun{SuiteID: suite.ID, Rerun: &SuiteRerun{Of: first.ID, Only: OnlyFailed}})
	require.NoError(t, err)
	jobs := w.jobsOf(again)
	require.Len(t, jobs[kept.ID], 1, "row 3 is there, row 4 is not")
	require.Empty(t, jobs[shrunk.ID])
	w.MustEnd(jobs[kept.ID][0], Passed)
	require.Equal(t, Passed, w.ReadSuiteRun(again).Status)
}
