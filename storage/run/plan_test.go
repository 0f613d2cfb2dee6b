package run_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/cmd/localservice/servicetest/fixture"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/authoring"
	. "github.com/slipway-qa/slipway/storage/run"
	"github.com/slipway-qa/slipway/storage/run/need"
	"github.com/slipway-qa/slipway/storage/run/reading"
	"github.com/slipway-qa/slipway/storage/suiteplan"
)

// tagged creates a case with tags and one target.
func (w *room) tagged(by account.Writer, name string, tags ...string) string {
	w.T.Helper()
	n := fixture.LoginCase(name, 1)
	n.Tags = tags
	c, err := w.TryCase(by, n)
	require.NoError(w.T, err)
	return c.ID
}

// made returns the cases of which a suite run has runs, in the order that they were made in.
func (w *room) made(run *SuiteRun) (ids []string) {
	w.T.Helper()
	for more := true; more; {
		var err error
		_, more, err = w.NextRuns(run.ID, 2)
		require.NoError(w.T, err)
	}
	require.NoError(w.T, w.DB.SelectContext(fixture.Context(w.T), &ids,
		`select case_id from test_runs where suite_run_id = $1 order by created_at, id`, run.ID))
	return ids
}

func (w *room) start(n NewSuiteRun) *SuiteRun {
	w.T.Helper()
	run, err := w.TrySuiteRun(w.Org.Member.Writer, n)
	require.NoError(w.T, err)
	return run
}

func (w *room) change(id uuid.UUID, c authoring.SuiteChange) *authoring.Suite {
	w.T.Helper()
	suite, err := w.UpdateSuite(w.Org.Member.Writer, id, c)
	require.NoError(w.T, err)
	return suite
}

func TestSuiteIsAFilter(t *testing.T) {
	t.Parallel()
	w := open(t)
	by := w.Org.Member.Writer
	smoke := w.tagged(by, "smoke", "smoke", "fast")
	w.tagged(by, "slow", "smoke", "slow")
	w.tagged(by, "other")
	beside := w.tagged(w.Org.Neighbor.Writer, "beside", "smoke")
	filter := suiteplan.Filter{Tags: []string{"smoke"}, NotTags: []string{"slow"}}
	suite, err := w.TrySuite(by, authoring.NewSuite{Name: "Smoke", Plan: suiteplan.Change{Filter: &filter}})
	require.NoError(t, err)
	require.Equal(t, 1, suite.CaseCount)
	run := w.start(NewSuiteRun{SuiteID: suite.ID})
	require.Equal(t, 1, run.RunCount)
	require.Equal(t, []string{smoke}, w.made(run))

	later := w.tagged(by, "later", "smoke")
	require.Equal(t, 2, w.start(NewSuiteRun{SuiteID: suite.ID}).RunCount, "a case that has the tags now")
	listed, total, err := authoring.Cases(fixture.Context(t), w.DB, authoring.CaseFilter{OrganizationID: w.Org.ID,
		RunBy: &suite.ID, Page: storage.Page{Limit: 10}})
	require.NoError(t, err)
	require.Equal(t, 2, total)
	require.ElementsMatch(t, []string{smoke, later}, []string{listed[0].ID, listed[1].ID})

	all := suiteplan.Filter{Tags: []string{"smoke"}, AllTeams: true}
	_, err = w.UpdateSuite(by, suite.ID, authoring.SuiteChange{Plan: suiteplan.Change{Filter: &all}})
	require.ErrorIs(t, err, authoring.ErrForbidden, "cases of other teams are run with their variables")
	changed, err := w.UpdateSuite(w.Org.Owner.Writer, suite.ID, authoring.SuiteChange{Plan: suiteplan.Change{Filter: &all}})
	require.NoError(t, err)
	require.Equal(t, 4, changed.CaseCount)
	require.Contains(t, w.made(w.start(NewSuiteRun{SuiteID: suite.ID})), beside)

	_, err = w.UpdateSuite(by, suite.ID, authoring.SuiteChange{Add: []string{smoke}})
	require.Equal(t, "filter", fixture.InvalidField(t, err))
	_, err = w.UpdateSuite(by, suite.ID, authoring.SuiteChange{AddShared: []string{smoke}})
	require.Equal(t, "filter", fixture.InvalidField(t, err))
	n := fixture.LoginCase("new", 1)
	n.SuiteID = &suite.ID
	_, err = w.TryCase(by, n)
	require.Equal(t, "testSuiteId", fixture.InvalidField(t, err))
	own := w.NewSuite(by, "own", smoke)
	_, err = w.UpdateSuite(by, own.ID, authoring.SuiteChange{Plan: suiteplan.Change{Filter: &filter}})
	require.Equal(t, "filter", fixture.InvalidField(t, err))
	require.Nil(t, w.change(suite.ID, authoring.SuiteChange{Plan: suiteplan.Change{Filter: &suiteplan.Filter{}},
		Add: []string{smoke}}).Plan.Filter)
}

func TestCaseIsRunByTwoSuites(t *testing.T) {
	t.Parallel()
	w := open(t)
	by := w.Org.Member.Writer
	ids := w.cases("home", "shared")
	home, err := w.TrySuite(by, authoring.NewSuite{Name: "home", Cases: ids, Healing: "off", Retries: fixture.Ptr(0)})
	require.NoError(t, err)
	suite, err := w.TrySuite(by, authoring.NewSuite{Name: "both", Shared: ids[1:], Healing: "apply", Retries: fixture.Ptr(2)})
	require.NoError(t, err)
	require.Equal(t, 1, suite.CaseCount)
	require.Equal(t, ids[1:], suite.Shared)
	for id, want := range map[uuid.UUID]struct {
		healing string
		retries int
		cases   []string
	}{home.ID: {"off", 0, ids}, suite.ID: {"apply", 2, ids[1:]}} {
		run := w.start(NewSuiteRun{SuiteID: id})
		jobs := w.jobsOf(run)
		require.Len(t, jobs, len(want.cases))
		work, _, err := w.Begin(jobs[ids[1]][0])
		require.NoError(t, err)
		require.Equal(t, want.healing, work.Healing, "the settings of the suite that runs")
		require.Equal(t, want.retries, work.Retries)
		require.Equal(t, id, *work.SuiteID, "and its variables")
	}
	_, err = w.UpdateSuite(by, suite.ID, authoring.SuiteChange{AddShared: []string{"0123456789abcdef01234567"}})
	var missing *authoring.MissingError
	require.ErrorAs(t, err, &missing)
	neighbor, err := w.TryCase(w.Org.Neighbor.Writer, fixture.LoginCase("beside", 1))
	require.NoError(t, err)
	_, err = w.UpdateSuite(by, suite.ID, authoring.SuiteChange{AddShared: []string{neighbor.ID}})
	require.ErrorIs(t, err, authoring.ErrForbidden)

	require.Equal(t, 2, w.change(suite.ID, authoring.SuiteChange{AddShared: ids[:1]}).CaseCount)
	require.Equal(t, ids[:1], w.change(suite.ID, authoring.SuiteChange{RemoveShared: ids[1:]}).Shared)
	require.Equal(t, ids[1:], w.change(suite.ID, authoring.SuiteChange{Shared: fixture.Ptr(ids[1:])}).Shared)
	require.NoError(t, w.DeleteSuite(by, suite.ID, true))
	require.Equal(t, 2, w.Count(`select count(*) from test_cases where suite_id = $1`, home.ID), "only cases of its own go with a suite")
}

// needing starts a run of cases with dependencies, and returns their jobs.
func (w *room) needing(needs map[string][]string, ids ...string) (*SuiteRun, map[string][]uuid.UUID) {
	w.T.Helper()
	suite := w.NewSuite(w.Org.Member.Writer, "needing", ids...)
	w.change(suite.ID, authoring.SuiteChange{Plan: suiteplan.Change{DependsOn: &needs}})
	run := w.start(NewSuiteRun{SuiteID: suite.ID})
	return run, w.jobsOf(run)
}

// waits reports whether the task of a job is not due yet.
func (w *room) waits(job uuid.UUID) bool {
	w.T.Helper()
	return w.Count(`select count(*) from tasks where id = $1 and run_at > now()`, job) == 1
}

// skip is the error of a job that is not to begin.
func (w *room) skip(job uuid.UUID) *need.SkipError {
	w.T.Helper()
	_, _, err := w.Begin(job)
	var skip *need.SkipError
	require.ErrorAs(w.T, err, &skip)
	return skip
}

func (w *room) skipped(job uuid.UUID) {
	w.T.Helper()
	skip := w.skip(job)
	end := JobEnd{Status: Cancelled, ErrorCode: CodeNeeds, Error: skip.Reason}
	if skip.Quarantine != "" {
		end.Quarantine = &Quarantine{Reason: skip.Quarantine, Until: skip.Until}
	}
	did, err := w.End(job, end)
	require.NoError(w.T, err)
	require.True(w.T, did)
}

func TestJobWaitsForWhatItNeeds(t *testing.T) {
	t.Parallel()
	w := open(t)
	ids := w.cases("login", "cart", "pay", "alone")
	login, cart, pay, alone := ids[0], ids[1], ids[2], ids[3]
	run, jobs := w.needing(map[string][]string{pay: {cart}, cart: {login}}, pay, cart, login, alone)
	for id, want := range map[string]bool{login: false, cart: true, pay: true, alone: false} {
		require.Equal(t, want, w.waits(jobs[id][0]), id)
	}
	_, _, err := w.Begin(jobs[cart][0])
	require.ErrorIs(t, err, need.ErrHeld)
	require.Zero(t, w.Count(`select count(*) from test_jobs where state = 'RUNNING'`))

	// On Chrome it passed, at the second attempt; on Firefox it failed.
	w.flaky(jobs[login][0])
	_, _, err = w.Begin(jobs[cart][0])
	require.ErrorIs(t, err, need.ErrHeld, "the other target may still fail")
	w.MustEnd(jobs[login][1], Failed)
	require.False(t, w.waits(jobs[cart][0]), "it is woken")
	require.False(t, w.waits(jobs[cart][1]))
	require.True(t, w.waits(jobs[pay][0]), "what it needs itself is open")

	_, _, err = w.Begin(jobs[cart][0])
	require.NoError(t, err)
	require.Equal(t, `skipped: it needs "login", which failed`, w.skip(jobs[cart][1]).Reason)
	w.skipped(jobs[cart][1])
	w.MustEnd(jobs[cart][0], Passed)
	require.False(t, w.waits(jobs[pay][1]))
	_, _, err = w.Begin(jobs[pay][0])
	require.NoError(t, err)
	require.Equal(t, `skipped: it needs "cart", which did not run to its end`, w.skip(jobs[pay][1]).Reason, "in turn")
	w.skipped(jobs[pay][1])
	w.MustEnd(jobs[pay][0], Passed)
	for _, job := range jobs[alone] {
		w.MustEnd(job, Passed)
	}
	got := w.ReadSuiteRun(run)
	require.Equal(t, Failed, got.Status)
	require.Equal(t, 2, got.Counts[Cancelled])

	again := w.start(NewSuiteRun{SuiteID: run.SuiteID, Rerun: &SuiteRerun{Of: run.ID, Only: OnlyFailed}})
	require.Equal(t, 3, again.RunCount, "what was skipped is run again with what failed")
	repeated := w.jobsOf(again)
	require.Len(t, repeated[pay], 1, "on the targets alone where it was")
	require.True(t, w.waits(repeated[pay][0]))
	require.False(t, w.waits(repeated[login][0]))
}

func TestQuarantinedDependency(t *testing.T) {
	t.Parallel()
	w := open(t)
	ids := w.cases("flickers", "next")
	w.quarantined(ids[0], "1 day")
	run, jobs := w.needing(map[string][]string{ids[1]: {ids[0]}}, ids...)
	for _, job := range jobs[ids[0]] {
		w.MustEnd(job, Failed)
	}
	for _, job := range jobs[ids[1]] {
		w.skipped(job)
	}
	got := w.ReadSuiteRun(run)
	require.Equal(t, Passed, got.Status, "a failure that fails nothing does not do so by what is skipped for it")
	require.Equal(t, 1, got.Quarantined)
	require.Equal(t, 1, got.Counts[Cancelled])
}

// A needed case that is cancelled alone, given up, or deleted, holds nobody back for ever.
func TestNeededRunThatIsNotPlayed(t *testing.T) {
	t.Parallel()
	for name, stop := range map[string]func(w *room, run *SuiteRun, id string, jobs []uuid.UUID){
		"cancelled": func(w *room, run *SuiteRun, id string, _ []uuid.UUID) {
			runs, err := reading.OfSuiteRun(fixture.Context(w.T), w.DB, run.ID)
			require.NoError(w.T, err)
			w.Must(func(ctx context.Context, tx *storage.Tx) error {
				i := slices.IndexFunc(runs, func(r Run) bool { return r.CaseID == id })
				open, err := Cancel(ctx, tx, w.Org.Member.Writer, id, runs[i].ID)
				if err != nil {
					return err
				}
				return fixture.CancelTasks(ctx, tx, open)
			})
		},
		"deleted": func(w *room, _ *SuiteRun, id string, _ []uuid.UUID) {
			w.Must(func(ctx context.Context, tx *storage.Tx) error {
				open, err := DeleteCaseWithRuns(ctx, tx, w.Org.Member.Writer, id)
				if err != nil {
					return err
				}
				return fixture.CancelTasks(ctx, tx, open)
			})
		},
		"lost": func(w *room, _ *SuiteRun, _ string, jobs []uuid.UUID) {
			for _, job := range jobs {
				w.Exec(`update tasks set state = 'dead', finished_at = now() where id = $1`, job)
			}
			w.Must(func(ctx context.Context, tx *storage.Tx) error {
				_, err := EndLostJobs(ctx, tx, 10)
				return err
			})
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := open(t)
			ids := w.cases("first", "second")
			run, jobs := w.needing(map[string][]string{ids[1]: {ids[0]}}, ids...)
			require.True(t, w.waits(jobs[ids[1]][0]))
			stop(w, run, ids[0], jobs[ids[0]])
			require.False(t, w.waits(jobs[ids[1]][0]))
			w.skipped(jobs[ids[1]][0])
			w.skipped(jobs[ids[1]][1])
			require.True(t, w.ReadSuiteRun(run).Status.Terminal())
		})
	}
}

func TestShardsShareASuiteOut(t *testing.T) {
	t.Parallel()
	w := open(t)
	var ids []string
	for i := range 9 {
		ids = append(ids, w.tagged(w.Org.Member.Writer, fmt.Sprintf("case %d", i)))
	}
	suite := w.NewSuite(w.Org.Member.Writer, "sharded", ids...)
	w.change(suite.ID, authoring.SuiteChange{Plan: suiteplan.Change{DependsOn: &map[string][]string{ids[8]: {ids[0]}}}})
	took := func(id string, seconds int) {
		run := w.start(NewSuiteRun{SuiteID: w.NewSuite(w.Org.Member.Writer, "one", w.tagged(w.Org.Member.Writer, "x")).ID})
		w.made(run)
		w.Exec(`update test_runs set case_id = $1, suite_run_id = null, state = 'PASSED', started_at = now(), finished_at = now() + make_interval(secs => $2)
			where suite_run_id = $3`, id, seconds, run.ID)
	}
	took(ids[1], 600)
	shard := func(key string, number, of int) []string {
		run, err := w.TrySuiteRun(w.Org.Member.Writer, NewSuiteRun{SuiteID: suite.ID, Shard: &suiteplan.Shard{Number: number, Of: of, Key: key}})
		require.NoError(t, err)
		require.Equal(t, of, w.ReadSuiteRun(run).Shard.Of)
		list := w.made(run)
		require.Len(t, list, run.RunCount)
		return list
	}
	first := shard("pipeline 1", 1, 3)
	require.Subset(t, first, []string{ids[0], ids[8]}, "the longest first: two that need one another")
	took(ids[2], 3000) // what is run meanwhile changes nothing
	later := w.tagged(w.Org.Member.Writer, "later")
	w.change(suite.ID, authoring.SuiteChange{Add: []string{later}})
	second, third := shard("pipeline 1", 2, 3), shard("pipeline 1", 3, 3)
	require.ElementsMatch(t, ids, slices.Concat(first, second, third), "each in one shard")
	require.Equal(t, first, shard("pipeline 1", 1, 3), "as long as the key is known")
	for _, part := range [][]string{first, second, third} {
		require.Equal(t, slices.Contains(part, ids[0]), slices.Contains(part, ids[8]), "what needs one another is together")
	}
	anew := slices.Concat(shard("pipeline 2", 1, 2), shard("pipeline 2", 2, 2))
	require.ElementsMatch(t, append(ids, later), anew)
	_, err := w.TrySuiteRun(w.Org.Member.Writer, NewSuiteRun{SuiteID: suite.ID, Shard: &suiteplan.Shard{Number: 11, Of: 11, Key: "many"}})
	require.ErrorIs(t, err, authoring.ErrNoJobs)
	_, err = w.TrySuiteRun(w.Org.Member.Writer, NewSuiteRun{SuiteID: suite.ID, Shard: &suiteplan.Shard{Number: 1, Of: 2}})
	require.Equal(t, "shard.key", fixture.InvalidField(t, err))

	w.Exec(`update test_suite_shards set created_at = now() - interval '25 hours' where key = 'pipeline 1'`)
	require.ElementsMatch(t, append(ids, later), slices.Concat(shard("pipeline 1", 1, 3), shard("pipeline 1", 2, 3),
		shard("pipeline 1", 3, 3)),
		"a day later the key is a new one")
}

func TestOrderOfASuite(t *testing.T) {
	t.Parallel()
	w := open(t)
	ids := w.cases("a", "b", "c")
	slices.Sort(ids)
	suite := w.NewSuite(w.Org.Member.Writer, "ordered", ids...)
	w.change(suite.ID, authoring.SuiteChange{Plan: suiteplan.Change{Order: &[]string{ids[2], ids[0]}}})
	run := w.start(NewSuiteRun{SuiteID: suite.ID})
	require.Equal(t, []string{ids[2], ids[0], ids[1]}, w.planned(run))
	_, err := w.UpdateSuite(w.Org.Member.Writer, suite.ID,
		authoring.SuiteChange{Plan: suiteplan.Change{Order: &[]string{"0123456789abcdef01234567"}}})
	require.Equal(t, "order", fixture.InvalidField(t, err))
	_, err = w.UpdateSuite(w.Org.Member.Writer, suite.ID, authoring.SuiteChange{Plan: suiteplan.Change{DependsOn: &map[string][]string{
		ids[0]: {ids[1]}, ids[1]: {ids[0]}}}})
	require.ErrorContains(t, err, "has a cycle: \"")

	// An id of a case that is gone means nothing, and may be sent back.
	w.Must(func(ctx context.Context, tx *storage.Tx) error {
		return authoring.DeleteCase(ctx, tx, w.Org.Member.Writer, ids[2])
	})
	w.change(suite.ID, authoring.SuiteChange{Plan: suiteplan.Change{Order: &[]string{ids[2], ids[1]}}})
	require.Equal(t, []string{ids[1], ids[0]}, w.planned(w.start(NewSuiteRun{SuiteID: suite.ID})))
}

// planned are the cases of a plan of which no run is made yet.
func (w *room) planned(run *SuiteRun) (ids []string) {
	w.T.Helper()
	require.NoError(w.T, w.DB.SelectContext(fixture.Context(w.T), &ids,
		`select case_id from suite_run_cases where suite_run_id = $1 order by place`, run.ID))
	return ids
}

func TestTimeOfASuiteIsOver(t *testing.T) {
	t.Parallel()
	w := open(t)
	ids := w.cases("runs", "waits")
	suite := w.NewSuite(w.Org.Member.Writer, "bounded", ids...)
	require.Equal(t, 600, *w.change(suite.ID, authoring.SuiteChange{Plan: suiteplan.Change{MaxDuration: fixture.Ptr(600)}}).Plan.MaxDuration)
	run := w.start(NewSuiteRun{SuiteID: suite.ID})
	require.Equal(t, 600, *run.MaxDuration)
	var left *time.Duration
	var jobs []uuid.UUID
	w.Must(func(ctx context.Context, tx *storage.Tx) error {
		made, err := FanOut(ctx, tx, run.ID, "slipway", 1)
		left, jobs = made.Left, made.Jobs
		return err
	})
	require.InDelta(t, 600, left.Seconds(), 60)
	_, _, err := w.Begin(jobs[0])
	require.NoError(t, err)
	expire := func() (ended []uuid.UUID) {
		w.Must(func(ctx context.Context, tx *storage.Tx) (err error) {
			ended, err = Expire(ctx, tx, run.ID)
			return err
		})
		return ended
	}
	require.Empty(t, expire(), "it has time left")
	w.Exec(`update suite_runs set created_at = now() - interval '10 minutes'`)
	require.ElementsMatch(t, append(jobs, run.ID), expire())
	got := w.ReadSuiteRun(run)
	require.Equal(t, Cancelled, got.Status)
	require.Equal(t, "the maximum time of 10m0s was over", got.Error)
	require.Equal(t, 2, got.Counts[Cancelled], "the one that was not made yet as well")
	runs, err := reading.OfSuiteRun(fixture.Context(t), w.DB, run.ID)
	require.NoError(t, err)
	require.Len(t, runs, 1)
	require.Equal(t, CodeMaxDuration, runs[0].Jobs[0].ErrorCode)
	require.Equal(t, "stopped: the maximum time of the suite's run, 10m0s, was over", runs[0].Jobs[0].Error)
	require.Equal(t, "skipped: the maximum time of the suite's run, 10m0s, was over before the test began", runs[0].Jobs[1].Error)
	require.Empty(t, expire())
	other := w.start(NewSuiteRun{SuiteID: suite.ID, MaxDuration: fixture.Ptr(5)})
	require.Equal(t, 5, *w.ReadSuiteRun(other).MaxDuration, "the run's own stands above that of the suite")
}
