package authoring_test

import (
	"context"
	"strings"
	"sync"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	. "github.com/slipway-qa/slipway/storage/authoring"
)

func TestStartRun(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c := w.newCase(w.w, "log in")
	run := w.newRun(c, 2)
	require.Equal(t, Queued, run.Status)
	require.Len(t, run.Jobs, 2)

	got := w.readRun(run)
	require.Equal(t, "nightly", got.BuildName)
	require.Equal(t, "log in", got.CaseName)
	require.Equal(t, "https://shop.example.com/", got.TestURL)
	require.Equal(t, w.dev.UUID, got.UserUUID)
	require.Equal(t, w.team.UUID, got.TeamUUID)
	require.Equal(t, c.OrganizationUUID, got.OrganizationUUID)
	require.Equal(t, run.CreatedAt.UTC(), got.CreatedAt.UTC())
	require.Nil(t, got.StartedAt)
	require.Equal(t, run.Jobs[1].ID, got.Jobs[1].ID)
	require.Equal(t, targets(1)[0], got.Jobs[1].Target)
	require.Equal(t, 1, w.audited(account.TestRunStarted))
	again, err := CaseByID(testContext(t), w.db, w.org, c.ID)
	require.NoError(t, err)
	require.Equal(t, "nightly", again.Settings.LastBuildName)
}

func TestStartRunRefuses(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c := w.newCase(w.w, "log in")
	revision, err := RevisionByID(testContext(t), w.db, c.ID, "")
	require.NoError(t, err)
	start := func(by account.Writer, n NewRun) error {
		n.Case, n.Revision = c, revision
		return w.do(func(ctx context.Context, tx *storage.Tx) error {
			_, err := StartRun(ctx, tx, by, n)
			return err
		})
	}
	require.ErrorIs(t, start(w.sideW, NewRun{Targets: targets(1)}), ErrForbidden)
	require.ErrorIs(t, start(w.rival, NewRun{Targets: targets(1)}), storage.ErrNotFound)
	require.Equal(t, "targets", invalidField(t, start(w.w, NewRun{})))
	require.Equal(t, "targets", invalidField(t, start(w.w, NewRun{Targets: targets(MaxTargets + 1)})))
	require.Equal(t, "buildName", invalidField(t, start(w.w, NewRun{Targets: targets(1), BuildName: strings.Repeat("b", 101)})))
	require.Equal(t, "Idempotency-Key", invalidField(t, start(w.w, NewRun{Targets: targets(1), Key: strings.Repeat("k", 256)})))
	w.must(func(ctx context.Context, tx *storage.Tx) error {
		_, err := DeleteCase(ctx, tx, w.w, c.ID)
		return err
	})
	require.ErrorIs(t, start(w.w, NewRun{Targets: targets(1)}), storage.ErrNotFound)
	require.Zero(t, w.count(`select count(*) from test_runs`))
}

// A case or suite may have a longer name than builds: their runs have as much of it
// as fits.
func TestLongNameIsABuildName(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c := w.newCase(w.w, strings.Repeat("ä", MaxName))
	revision, err := RevisionByID(testContext(t), w.db, c.ID, "")
	require.NoError(t, err)
	start := func(build string) (run *Run, err error) {
		err = w.do(func(ctx context.Context, tx *storage.Tx) error {
			run, err = StartRun(ctx, tx, w.w, NewRun{Case: c, Revision: revision, BuildName: build, Targets: targets(1)})
			return err
		})
		return run, err
	}
	run, err := start("")
	require.NoError(t, err)
	require.Equal(t, strings.Repeat("ä", MaxBuildName), run.BuildName)
	_, err = start(c.Name)
	require.Equal(t, "buildName", invalidField(t, err), "who gives a name keeps to the limit")

	suite := w.newSuite(w.w, strings.Repeat("b", MaxBuildName-1)+" "+strings.Repeat("c", 9), c.ID)
	of, err := w.trySuiteRun(w.w, NewSuiteRun{SuiteID: suite.ID})
	require.NoError(t, err)
	require.Equal(t, strings.Repeat("b", MaxBuildName-1), of.BuildName)
	_, err = w.trySuiteRun(w.w, NewSuiteRun{SuiteID: suite.ID, BuildName: suite.Name})
	require.Equal(t, "buildName", invalidField(t, err))
}

func TestIdempotencyKeyOfARun(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c, other := w.newCase(w.w, "log in"), w.newCase(w.w, "log out")
	var wg sync.WaitGroup
	made := make(chan uuid.UUID, 8)
	for range 8 {
		wg.Go(func() {
			run, err := w.tryRun(w.w, c, 1, "key-1")
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
	seen, err := SeenKey(testContext(t), w.db, w.org, RunOperation(c.ID), "key-1")
	require.NoError(t, err)
	require.Equal(t, first, seen)
	_, err = SeenKey(testContext(t), w.db, w.rivalOrg, RunOperation(c.ID), "key-1")
	require.ErrorIs(t, err, storage.ErrNotFound)
	_, err = w.tryRun(w.w, other, 1, "key-1")
	require.NoError(t, err, "the key counts for one case")

	w.exec(`update authoring_keys set created_at = now() - interval '25 hours'`)
	_, err = SeenKey(testContext(t), w.db, w.org, RunOperation(c.ID), "key-1")
	require.ErrorIs(t, err, storage.ErrNotFound)
	run, err := w.tryRun(w.w, c, 1, "key-1")
	require.NoError(t, err)
	seen, err = SeenKey(testContext(t), w.db, w.org, RunOperation(c.ID), "key-1")
	require.NoError(t, err)
	require.Equal(t, run.ID, seen)
}

func isSeen(err error) bool { return strings.Contains(err.Error(), ErrSeen.Error()) }

func TestStartSuiteRun(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	bare, err := w.tryCase(w.w, loginCase("without a target", 0))
	require.NoError(t, err)
	empty := w.newSuite(w.w, "empty", bare.ID)
	_, err = w.trySuiteRun(w.w, NewSuiteRun{SuiteID: empty.ID, Key: "k"})
	require.ErrorIs(t, err, ErrNoJobs)
	_, err = SeenKey(testContext(t), w.db, w.org, SuiteRunOperation(empty.ID), "k")
	require.ErrorIs(t, err, storage.ErrNotFound, "what failed is not remembered")
	_, err = w.trySuiteRun(w.w, NewSuiteRun{SuiteID: noUUID})
	require.ErrorIs(t, err, storage.ErrNotFound)

	n := loginCase("without steps", 1)
	n.Revision.Steps = nil
	stepless, err := w.tryCase(w.w, n)
	require.NoError(t, err)
	require.True(t, stepless.Runnable(), "it has a target")
	unwritten := w.newSuite(w.w, "unwritten", stepless.ID)
	_, err = w.trySuiteRun(w.w, NewSuiteRun{SuiteID: unwritten.ID})
	require.ErrorIs(t, err, ErrNoJobs, "there is nothing that could pass")

	suite := w.newSuite(w.w, "smoke", w.newCase(w.w, "a").ID, w.newCase(w.w, "b").ID, bare.ID, stepless.ID)
	for _, tt := range []struct {
		by account.Writer
		is error
	}{{w.sideW, ErrForbidden}, {w.rival, storage.ErrNotFound}} {
		_, err = w.trySuiteRun(tt.by, NewSuiteRun{SuiteID: suite.ID})
		require.ErrorIs(t, err, tt.is)
	}
	run, err := w.trySuiteRun(w.w, NewSuiteRun{SuiteID: suite.ID, Key: "k"})
	require.NoError(t, err)
	require.Equal(t, "smoke", run.BuildName)
	require.Equal(t, 2, run.RunCount)
	_, err = w.trySuiteRun(w.w, NewSuiteRun{SuiteID: suite.ID, Key: "k"})
	require.ErrorIs(t, err, ErrSeen)

	jobs, more, err := w.next(run.ID, 9)
	require.NoError(t, err)
	require.False(t, more)
	require.Len(t, jobs, 2)
	got := w.readSuiteRun(run)
	require.Equal(t, Queued, got.Status)
	require.Equal(t, 2, got.Counts[Queued])
	require.Equal(t, w.team.UUID, got.TeamUUID)
	again, err := SuiteByID(testContext(t), w.db, w.org, suite.ID)
	require.NoError(t, err)
	require.Equal(t, 1, again.RunCount)
	require.Equal(t, 1, w.audited(account.TestSuiteRunStarted))
}
