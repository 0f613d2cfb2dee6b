package run_test

import (
	"context"
	"strings"
	"sync"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/cmd/localservice/servicetest/fixture"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/authoring"
	"github.com/slipway-qa/slipway/storage/idempotency"
	. "github.com/slipway-qa/slipway/storage/run"
)

func TestStartRun(t *testing.T) {
	t.Parallel()
	w := open(t)
	c := w.NewCase(w.Org.Member.Writer, "log in")
	run := w.NewRun(c, 2)
	require.Equal(t, Queued, run.Status)
	require.Len(t, run.Jobs, 2)

	got := w.ReadRun(run)
	require.Equal(t, "nightly", got.BuildName)
	require.Equal(t, "log in", got.CaseName)
	require.Equal(t, "https://shop.example.com/", got.TestURL)
	require.Equal(t, w.Org.Member.UUID, got.UserUUID)
	require.Equal(t, w.Org.Team.UUID, got.TeamUUID)
	require.Equal(t, c.OrganizationUUID, got.OrganizationUUID)
	require.Equal(t, run.CreatedAt.UTC(), got.CreatedAt.UTC())
	require.Nil(t, got.StartedAt)
	require.Equal(t, run.Jobs[1].ID, got.Jobs[1].ID)
	require.Equal(t, fixture.Targets(1)[0], got.Jobs[1].Target)
	require.Equal(t, 1, w.Audited(account.TestRunStarted))
	again, err := authoring.CaseByID(fixture.Context(t), w.DB, w.Org.ID, c.ID)
	require.NoError(t, err)
	require.Equal(t, "nightly", again.Settings.LastBuildName)
}

func TestStartRunRefuses(t *testing.T) {
	t.Parallel()
	w := open(t)
	c := w.NewCase(w.Org.Member.Writer, "log in")
	revision, err := authoring.RevisionByID(fixture.Context(t), w.DB, c.ID, "")
	require.NoError(t, err)
	start := func(by account.Writer, n NewRun) error {
		n.Case, n.Revision = c, revision
		return w.Do(func(ctx context.Context, tx *storage.Tx) error {
			_, err := Start(ctx, tx, by, n)
			return err
		})
	}
	require.ErrorIs(t, start(w.Org.Neighbor.Writer, NewRun{Targets: fixture.Targets(1)}), authoring.ErrForbidden)
	require.ErrorIs(t, start(w.Rival.Member.Writer, NewRun{Targets: fixture.Targets(1)}), storage.ErrNotFound)
	require.Equal(t, "targets", fixture.InvalidField(t, start(w.Org.Member.Writer, NewRun{})))
	require.Equal(t, "targets", fixture.InvalidField(t, start(w.Org.Member.Writer,
		NewRun{Targets: fixture.Targets(authoring.MaxTargets + 1)})))
	require.Equal(t, "buildName", fixture.InvalidField(t, start(w.Org.Member.Writer, NewRun{Targets: fixture.Targets(1),
		BuildName: strings.Repeat("b", 101)})))
	require.Equal(t, "Idempotency-Key", fixture.InvalidField(t, start(w.Org.Member.Writer,
		NewRun{Targets: fixture.Targets(1), Key: strings.Repeat("k", 256)})))
	w.Must(func(ctx context.Context, tx *storage.Tx) error {
		_, err := DeleteCaseWithRuns(ctx, tx, w.Org.Member.Writer, c.ID)
		return err
	})
	require.ErrorIs(t, start(w.Org.Member.Writer, NewRun{Targets: fixture.Targets(1)}), storage.ErrNotFound)
	require.Zero(t, w.Count(`select count(*) from test_runs`))
}

// A case or suite may have a longer name than builds: their runs have as much of it
// as fits.
func TestLongNameIsABuildName(t *testing.T) {
	t.Parallel()
	w := open(t)
	c := w.NewCase(w.Org.Member.Writer, strings.Repeat("ä", authoring.MaxName))
	revision, err := authoring.RevisionByID(fixture.Context(t), w.DB, c.ID, "")
	require.NoError(t, err)
	start := func(build string) (run *Run, err error) {
		err = w.Do(func(ctx context.Context, tx *storage.Tx) error {
			run, err = Start(ctx, tx, w.Org.Member.Writer, NewRun{Case: c, Revision: revision, BuildName: build, Targets: fixture.Targets(1)})
			return err
		})
		return run, err
	}
	run, err := start("")
	require.NoError(t, err)
	require.Equal(t, strings.Repeat("ä", authoring.MaxBuildName), run.BuildName)
	_, err = start(c.Name)
	require.Equal(t, "buildName", fixture.InvalidField(t, err), "who gives a name keeps to the limit")

	suite := w.NewSuite(w.Org.Member.Writer, strings.Repeat("b", authoring.MaxBuildName-1)+" "+strings.Repeat("c", 9), c.ID)
	of, err := w.TrySuiteRun(w.Org.Member.Writer, NewSuiteRun{SuiteID: suite.ID})
	require.NoError(t, err)
	require.Equal(t, strings.Repeat("b", authoring.MaxBuildName-1), of.BuildName)
	_, err = w.TrySuiteRun(w.Org.Member.Writer, NewSuiteRun{SuiteID: suite.ID, BuildName: suite.Name})
	require.Equal(t, "buildName", fixture.InvalidField(t, err))
}

func TestIdempotencyKeyOfARun(t *testing.T) {
	t.Parallel()
	w := open(t)
	c, other := w.NewCase(w.Org.Member.Writer, "log in"), w.NewCase(w.Org.Member.Writer, "log out")
	var wg sync.WaitGroup
	made := make(chan uuid.UUID, 8)
	for range 8 {
		wg.Go(func() {
			run, err := w.TryRun(w.Org.Member.Writer, c, 1, "key-1")
			switch {
			case err == nil:
				made <- run.ID
			case !isSeen(err):
				t.Error(err)
			}
		})
	}
	wg.Wait()
	close(made)
	require.Len(t, made, 1)
	first := <-made
	seen, err := SeenKey(fixture.Context(t), w.DB, w.Org.ID, RunOperation(c.ID), "key-1")
	require.NoError(t, err)
	require.Equal(t, first, seen)
	_, err = SeenKey(fixture.Context(t), w.DB, w.Rival.ID, RunOperation(c.ID), "key-1")
	require.ErrorIs(t, err, storage.ErrNotFound)
	_, err = w.TryRun(w.Org.Member.Writer, other, 1, "key-1")
	require.NoError(t, err, "the key counts for one case")

	w.Exec(`update idempotency_keys set created_at = now() - interval '25 hours'`)
	_, err = SeenKey(fixture.Context(t), w.DB, w.Org.ID, RunOperation(c.ID), "key-1")
	require.ErrorIs(t, err, storage.ErrNotFound)
	run, err := w.TryRun(w.Org.Member.Writer, c, 1, "key-1")
	require.NoError(t, err)
	seen, err = SeenKey(fixture.Context(t), w.DB, w.Org.ID, RunOperation(c.ID), "key-1")
	require.NoError(t, err)
	require.Equal(t, run.ID, seen)
}

func isSeen(err error) bool { return strings.Contains(err.Error(), idempotency.ErrSeen.Error()) }

func TestStartSuiteRun(t *testing.T) {
	t.Parallel()
	w := open(t)
	bare, err := w.TryCase(w.Org.Member.Writer, fixture.LoginCase("without a target", 0))
	require.NoError(t, err)
	empty := w.NewSuite(w.Org.Member.Writer, "empty", bare.ID)
	_, err = w.TrySuiteRun(w.Org.Member.Writer, NewSuiteRun{SuiteID: empty.ID, Key: "k"})
	require.ErrorIs(t, err, authoring.ErrNoJobs)
	_, err = SeenKey(fixture.Context(t), w.DB, w.Org.ID, SuiteRunOperation(empty.ID), "k")
	require.ErrorIs(t, err, storage.ErrNotFound, "what failed is not remembered")
	_, err = w.TrySuiteRun(w.Org.Member.Writer, NewSuiteRun{SuiteID: fixture.NoUUID})
	require.ErrorIs(t, err, storage.ErrNotFound)

	n := fixture.LoginCase("without steps", 1)
	n.Revision.Steps = nil
	stepless, err := w.TryCase(w.Org.Member.Writer, n)
	require.NoError(t, err)
	require.True(t, stepless.Runnable(), "it has a target")
	unwritten := w.NewSuite(w.Org.Member.Writer, "unwritten", stepless.ID)
	_, err = w.TrySuiteRun(w.Org.Member.Writer, NewSuiteRun{SuiteID: unwritten.ID})
	require.ErrorIs(t, err, authoring.ErrNoJobs, "there is nothing that could pass")

	suite := w.NewSuite(w.Org.Member.Writer, "smoke", w.NewCase(w.Org.Member.Writer, "a").ID,
		w.NewCase(w.Org.Member.Writer, "b").ID, bare.ID, stepless.ID)
	for _, tt := range []struct {
		by account.Writer
		is error
	}{{w.Org.Neighbor.Writer, authoring.ErrForbidden}, {w.Rival.Member.Writer, storage.ErrNotFound}} {
		_, err = w.TrySuiteRun(tt.by, NewSuiteRun{SuiteID: suite.ID})
		require.ErrorIs(t, err, tt.is)
	}
	run, err := w.TrySuiteRun(w.Org.Member.Writer, NewSuiteRun{SuiteID: suite.ID, Key: "k"})
	require.NoError(t, err)
	require.Equal(t, "smoke", run.BuildName)
	require.Equal(t, 2, run.RunCount)
	_, err = w.TrySuiteRun(w.Org.Member.Writer, NewSuiteRun{SuiteID: suite.ID, Key: "k"})
	require.ErrorIs(t, err, idempotency.ErrSeen)

	jobs, more, err := w.NextRuns(run.ID, 9)
	require.NoError(t, err)
	require.False(t, more)
	require.Len(t, jobs, 2)
	got := w.ReadSuiteRun(run)
	require.Equal(t, Queued, got.Status)
	require.Equal(t, 2, got.Counts[Queued])
	require.Equal(t, w.Org.Team.UUID, got.TeamUUID)
	again, err := authoring.SuiteByID(fixture.Context(t), w.DB, w.Org.ID, suite.ID)
	require.NoError(t, err)
	require.Equal(t, 1, again.RunCount)
	require.Equal(t, 1, w.Audited(account.TestSuiteRunStarted))
}
