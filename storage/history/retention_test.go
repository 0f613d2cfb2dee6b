package history_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/cmd/localservice/servicetest/fixture"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/authoring"
	. "github.com/slipway-qa/slipway/storage/history"
	"github.com/slipway-qa/slipway/storage/run"
)

// retain does all steps of retention, each with so many jobs, and returns the keys of files.
func (w *world) retain(days, limit int) (keys []string, runs int) {
	w.T.Helper()
	at := Position{}
	for steps, more := 0, true; more; steps++ {
		require.Less(w.T, steps, 200)
		require.NoError(w.T, w.Do(func(ctx context.Context, tx *storage.Tx) error {
			r, err := Retain(ctx, tx, time.Now(), days, at, limit)
			at, more, runs, keys = r.Next, r.More, runs+r.Runs, append(keys, r.Keys...)
			return err
		}))
	}
	require.Equal(w.T, Position{}, at)
	return keys, runs
}

// left are those of the runs that are still there.
func (w *world) left(ids ...uuid.UUID) (left []uuid.UUID) {
	w.T.Helper()
	require.NoError(w.T, w.DB.SelectContext(fixture.Context(w.T), &left, `select w.id from unnest($1::uuid[]) with ordinality as w(id, n)
		where exists (select from test_runs r where r.id = w.id) or exists (select from suite_runs s where s.id = w.id)
		order by n`, storage.UUIDs(ids)))
	return left
}

func TestRetentionByAge(t *testing.T) {
	t.Parallel()
	w := open(t)
	ids := w.ended(run.Passed, run.Failed, run.Passed, run.Failed, run.Failed)
	pinned := ids[1]
	require.NoError(t, w.pin(w.Org.Member.Writer, pinned))
	running := w.NewRun(w.c, 1)
	w.Exec(`update test_runs set created_at = created_at - interval '100 days'`)
	_, n := w.retain(101, 100)
	require.Zero(t, n)
	_, n = w.retain(90, 1)
	require.Equal(t, 3, n)
	require.Equal(t, []uuid.UUID{pinned, ids[2], running.ID}, w.left(append(ids, running.ID)...),
		"what is pinned, the last good one, and the newest, which has not ended")
	// An organization's own days.
	w.Exec(`update organizations set run_retention_days = 200`)
	require.NoError(t, w.unpin(w.Org.Member.Writer, pinned))
	_, n = w.retain(90, 100)
	require.Zero(t, n)
	w.Exec(`update organizations set run_retention_days = 99`)
	_, n = w.retain(3000, 100)
	require.Equal(t, 1, n)
}

func TestRetentionByCount(t *testing.T) {
	t.Parallel()
	w := open(t)
	ids := w.ended(run.Passed, run.Failed, run.Failed, run.Failed, run.Failed)
	w.Exec(`update organizations set run_retention_runs = 2`)
	_, n := w.retain(90, 100)
	require.Equal(t, 2, n)
	require.Equal(t, []uuid.UUID{ids[0], ids[3], ids[4]}, w.left(ids...), "the last good one is not among the newest")
}

// The files of what is removed are named, all of them once.
func TestRetentionNamesFiles(t *testing.T) {
	t.Parallel()
	w := open(t)
	var want []string
	for range 5 {
		r := w.NewRun(w.c, 2)
		for _, job := range r.Jobs {
			file := uuid.Must(uuid.NewV7())
			key := run.FileKey(job.ID, file)
			_, err := w.End(job.ID, run.JobEnd{Status: run.Passed, Files: []run.NewFile{{ID: file, Kind: run.Screenshot,
				Key: key, ContentType: "image/png", Size: 1}}})
			require.NoError(t, err)
			want = append(want, key)
		}
	}
	w.Exec(`update test_runs set created_at = created_at - interval '100 days'`)
	keys, n := w.retain(90, 3)
	require.Equal(t, 4, n)
	require.ElementsMatch(t, want[:8], keys)
}

func TestRetentionOfSuites(t *testing.T) {
	t.Parallel()
	w := open(t)
	suite := w.NewSuite(w.Org.Member.Writer, "smoke", w.c.ID)
	var ids []uuid.UUID
	for _, status := range []run.Status{run.Passed, run.Failed, run.Failed, run.Failed} {
		r, err := w.TrySuiteRun(w.Org.Member.Writer, run.NewSuiteRun{SuiteID: suite.ID, BuildName: "nightly"})
		require.NoError(t, err)
		jobs, _, err := w.NextRuns(r.ID, 5)
		require.NoError(t, err)
		w.MustEnd(jobs[0], status)
		ids = append(ids, r.ID)
	}
	age := func() {
		w.Exec(`update suite_runs set created_at = created_at - interval '100 days'`)
		w.Exec(`update test_runs set created_at = created_at - interval '100 days'`)
	}
	age()
	w.Exec(`update test_suites set run_retention_days = 150`)
	_, n := w.retain(90, 100)
	require.Zero(t, n, "the suite has its own days")
	// A pinned run of a case keeps the run of its suite.
	var caseRun uuid.UUID
	require.NoError(t, w.DB.GetContext(fixture.Context(t), &caseRun, `select id from test_runs where suite_run_id = $1`, ids[1]))
	require.NoError(t, w.pin(w.Org.Member.Writer, caseRun))
	w.Exec(`update test_suites set run_retention_days = 90`)
	_, n = w.retain(3000, 1)
	require.Equal(t, 2, n, "a suite run with its one case run")
	require.Equal(t, []uuid.UUID{ids[0], ids[1], ids[3]}, w.left(ids...))
	require.NoError(t, w.unpin(w.Org.Member.Writer, caseRun))

	// The gate of a build judges by the newest run of the suite on it.
	build := w.build("1.0", "")
	w.Exec(`update suite_runs set build_id = $2 where id = $1`, ids[1], build)
	w.Exec(`insert into gates (build_id, organization_id, project_id, version, watched_until)
		select id, organization_id, project_id, version, now() from builds where id = $1 on conflict do nothing`, build)
	_, n = w.retain(3000, 1)
	require.Zero(t, n)
	w.Exec(`delete from gates`)
	_, n = w.retain(3000, 1)
	require.Equal(t, 2, n)

	// The last good run of a case is in a run of the suite that failed.
	w.Exec(`update suite_runs set state = 'FAILED'`)
	_, n = w.retain(3000, 100)
	require.Zero(t, n)
	w.Exec(`delete from test_cases`)
	_, n = w.retain(3000, 100)
	require.Equal(t, 2, n, "there is no such case any more")
	require.Equal(t, []uuid.UUID{ids[3]}, w.left(ids...))
}

func (w *world) pin(by account.Writer, id uuid.UUID) error {
	return w.Do(func(ctx context.Context, tx *storage.Tx) error {
		_, err := PinCaseRun(ctx, tx, by, w.c.ID, id)
		return err
	})
}

func (w *world) unpin(by account.Writer, id uuid.UUID) error {
	return w.Do(func(ctx context.Context, tx *storage.Tx) error { return UnpinCaseRun(ctx, tx, by, w.c.ID, id) })
}

func TestPins(t *testing.T) {
	t.Parallel()
	w := open(t)
	by := w.Org.Member.Writer
	id := w.ended(run.Failed)[0]
	require.ErrorIs(t, w.unpin(by, id), storage.ErrConflict)
	require.ErrorIs(t, w.pin(w.Rival.Member.Writer, id), storage.ErrNotFound)
	require.ErrorIs(t, w.pin(by, uuid.New()), storage.ErrNotFound)
	other := by
	other.AllTeams, other.Teams = false, nil
	require.ErrorIs(t, w.pin(other, id), authoring.ErrForbidden)
	require.NoError(t, w.pin(by, id))
	require.NoError(t, w.pin(by, id), "it stays")
	require.Equal(t, 1, w.Audited(account.TestRunPinned))
	_, p := w.page(Filter{}, nil, 1)
	require.Equal(t, by.UserUUID, p.Runs[0].Pin.By)
	require.WithinDuration(t, time.Now(), p.Runs[0].Pin.At, time.Minute)
	require.Equal(t, p.Runs[0].Pin, w.ReadRun(&run.Run{ID: id, CaseID: w.c.ID}).Pin)
	require.NoError(t, w.unpin(by, id))
	require.Equal(t, 1, w.Audited(account.TestRunUnpinned))
	_, p = w.page(Filter{}, nil, 1)
	require.Nil(t, p.Runs[0].Pin)

	suite, jobs := w.SuiteRun(1, 1)
	w.MustEnd(jobs[0], run.Passed)
	require.NoError(t, w.Do(func(ctx context.Context, tx *storage.Tx) error {
		pin, err := PinSuiteRun(ctx, tx, by, suite.SuiteID, suite.ID)
		require.Equal(t, by.UserUUID, pin.By)
		return err
	}))
	require.NotNil(t, w.ReadSuiteRun(suite).Pin)
	require.NoError(t, w.Do(func(ctx context.Context, tx *storage.Tx) error {
		return UnpinSuiteRun(ctx, tx, by, suite.SuiteID, suite.ID)
	}))
	require.Nil(t, w.ReadSuiteRun(suite).Pin)

	// Pins are bounded.
	w.Exec(`alter table test_runs disable trigger test_runs_result_added`)
	w.Exec(`insert into test_runs (id, organization_id, team_id, case_id, revision_id, user_uuid, case_name, build_name, state, pinned_at)
		select gen_random_uuid(), organization_id, team_id, case_id, revision_id, user_uuid, case_name, build_name, state, now()
		from test_runs, generate_series(1, $2::int) where id = $1`, id, MaxPins)
	require.ErrorIs(t, w.pin(by, id), ErrTooManyPins)
}
