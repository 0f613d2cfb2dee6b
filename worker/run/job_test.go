package run

import (
	"context"
	"errors"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/authoring"
	"github.com/slipway-qa/slipway/storage/ledger"
	store "github.com/slipway-qa/slipway/storage/run"
	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/storage/step/capability"
	"github.com/slipway-qa/slipway/storage/step/playback"
	"github.com/slipway-qa/slipway/tasks"
	"github.com/slipway-qa/slipway/worker/run/replay"
)

func TestJobPasses(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	run, id := w.simpleRun()
	w.handler.Play = func(ctx context.Context, cfg replay.Config) replay.Result {
		require.Equal(t, "https://shop.example.com/", cfg.TestURL)
		require.NotNil(t, cfg.Lease)
		result := passes(ctx, cfg)
		result.Records[0].ScreenshotID = cfg.Capture(ctx, shot(0))
		result.Fingerprints = map[string]step.Fingerprint{"s1": {Role: "textbox"}}
		return result
	}
	require.NoError(t, w.handler.Handle(t.Context(), w.claim(tasks.TestJob, id)))
	got := w.read(run)
	require.Equal(t, store.Passed, got.Status)
	job := got.Jobs[0]
	require.Empty(t, job.ErrorCode)
	require.Len(t, job.Files, 1)
	require.Equal(t, job.Files[0].ID.String(), job.Records[0].ScreenshotID)
	require.Equal(t, []string{job.Files[0].Key}, w.stored())
	unnamed, err := store.UnnamedObjects(t.Context(), w.db, w.stored())
	require.NoError(t, err)
	require.Empty(t, unnamed)
	require.Equal(t, ledger.Succeeded, w.task(id).State)
	require.JSONEq(t, `{"status":"PASSED"}`, string(*w.task(id).Result))
	require.Equal(t, 1, w.browser.released)
	require.Zero(t, w.browser.broken)
	revision, err := authoring.RevisionByID(t.Context(), w.db, run.CaseID, "")
	require.NoError(t, err)
	require.Equal(t, "textbox", revision.Steps[0].Tool.Args.Selector.Fingerprint.Role)
}

func TestJobFails(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		result replay.Result
		status store.Status
		code   string
	}{
		"assertion": {replay.Result{Status: playback.Failed, Code: store.CodeAssertionFailed, Message: "not there"},
			store.Failed, store.CodeAssertionFailed},
		"broken": {replay.Result{Status: "ERROR", Code: store.CodeBrowserLost, Message: "gone", Broken: true},
			store.Errored, store.CodeBrowserLost},
		"no result": {replay.Result{}, store.Errored, store.CodeInternal},
		"odd":       {replay.Result{Status: "QUEUED"}, store.Errored, store.CodeInternal},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			run, id := w.simpleRun()
			w.handler.Play = func(context.Context, replay.Config) replay.Result { return tt.result }
			require.NoError(t, w.handler.Handle(t.Context(), w.claim(tasks.TestJob, id)))
			got := w.read(run)
			require.Equal(t, tt.status, got.Status)
			require.Equal(t, tt.code, got.Jobs[0].ErrorCode)
			require.NotEmpty(t, got.Jobs[0].Error)
			require.Equal(t, ledger.Succeeded, w.task(id).State, "a test that fails is a result")
			require.Equal(t, tt.result.Broken, w.browser.broken > 0)
		})
	}
}

func TestTwoJobsOfARun(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	run := w.newRun(w.newCase("log in", "dev"), store.NewRun{}, chrome, capability.Capabilities{"browserName": "firefox"})
	var both sync.WaitGroup
	both.Add(2)
	w.handler.Play = func(ctx context.Context, cfg replay.Config) replay.Result {
		both.Done()
		both.Wait()
		return passes(ctx, cfg)
	}
	var wg sync.WaitGroup
	for _, job := range run.Jobs {
		claimed := w.claim(tasks.TestJob, job.ID)
		wg.Go(func() {
			if err := w.handler.Handle(t.Context(), claimed); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	require.Equal(t, store.Passed, w.read(run).Status)
	require.Equal(t, 1, w.number(`select count(*) from events`))
}

// A worker that was taken for dead reports after another one has done the job.
func TestStaleWorkerChangesNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	run, id := w.simpleRun()
	first := w.claim(tasks.TestJob, id)
	play := w.handler.Play
	w.handler.Play = func(ctx context.Context, cfg replay.Config) replay.Result {
		require.NotEmpty(t, cfg.Capture(ctx, shot(1)))
		w.handler.Play = play
		require.NoError(t, w.handler.Handle(t.Context(), w.again(tasks.TestJob, id)))
		return replay.Result{Status: playback.Failed, Code: store.CodeStepFailed}
	}
	require.ErrorIs(t, w.handler.Handle(t.Context(), first), storage.ErrStale)
	require.Equal(t, store.Passed, w.read(run).Status)
	require.Empty(t, w.stored(), "what the first one stored is deleted")
	require.Equal(t, 2, w.browser.released)
	require.ErrorIs(t, w.handler.Handle(t.Context(), first), storage.ErrStale, "once more")
	require.Len(t, w.browser.requests, 2, "it did not begin")
}

func TestCancelledBeforeItBegan(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	run, id := w.simpleRun()
	claimed := w.claim(tasks.TestJob, id)
	w.cancel(run)
	require.NoError(t, w.handler.Handle(t.Context(), claimed))
	require.Equal(t, store.Cancelled, w.read(run).Status)
	require.Empty(t, w.browser.requests)
	require.Equal(t, ledger.Succeeded, w.task(id).State)
}

func TestCancelledWhilePlaying(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	run, id := w.simpleRun()
	w.handler.Play = func(ctx context.Context, cfg replay.Config) replay.Result {
		require.NotEmpty(t, cfg.Capture(ctx, shot(1)))
		w.cancel(run)
		cfg.Progress([]playback.Record{{StepID: "s1", Status: playback.Passed}})
		<-ctx.Done() // the keeping of the progress finds the end
		return replay.Result{Status: "ERROR", Code: store.CodeInternal}
	}
	require.NoError(t, w.handler.Handle(t.Context(), w.claim(tasks.TestJob, id)))
	got := w.read(run)
	require.Equal(t, store.Cancelled, got.Status)
	require.Empty(t, got.Jobs[0].Records)
	require.Empty(t, w.stored())
	require.Equal(t, 1, w.browser.broken)
}

// The run is cancelled in the moment in which the test ends.
func TestCancelledAtTheEnd(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	run, id := w.simpleRun()
	w.handler.Play = func(ctx context.Context, cfg replay.Config) replay.Result {
		require.NotEmpty(t, cfg.Capture(ctx, shot(1)))
		w.cancel(run)
		return passes(ctx, cfg)
	}
	require.NoError(t, w.handler.Handle(t.Context(), w.claim(tasks.TestJob, id)))
	require.Equal(t, store.Cancelled, w.read(run).Status)
	require.Empty(t, w.stored())
}

func TestCaseIsGone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	run, id := w.simpleRun()
	w.exec(`delete from test_cases`) // as it happens while a suite run is fanned out
	require.NoError(t, w.handler.Handle(t.Context(), w.claim(tasks.TestJob, id)))
	got := w.read(run)
	require.Equal(t, store.Cancelled, got.Status)
	require.Contains(t, got.Jobs[0].Error, "deleted")
}

// The worker stops: the attempt leaves nothing behind, and the next one begins
// anew.
func TestWorkerStops(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	run, id := w.simpleRun()
	ctx, stop := context.WithCancel(t.Context())
	play := w.handler.Play
	w.handler.Play = func(ctx context.Context, cfg replay.Config) replay.Result {
		require.NotEmpty(t, cfg.Capture(ctx, shot(1)))
		stop()
		<-ctx.Done()
		return replay.Result{Status: "ERROR", Code: store.CodeInternal, Records: []playback.Record{{StepID: "s1"}}}
	}
	claim := w.claim(tasks.TestJob, id)
	require.ErrorIs(t, w.handler.Handle(ctx, claim), context.Canceled)
	require.Empty(t, w.stored())
	require.Equal(t, 1, w.browser.broken)
	require.Equal(t, store.Running, w.read(run).Status)
	states, err := w.ledger.Release(t.Context(), []ledger.Token{claim.Tasks[0].Token()}, 0)
	require.NoError(t, err)
	require.Equal(t, []ledger.State{ledger.Queued}, states)
	w.handler.Play = play
	// However often workers stop, the test is not given up for it.
	for range 3 {
		claim := w.claim(tasks.TestJob, id)
		_, err := w.ledger.Release(t.Context(), []ledger.Token{claim.Tasks[0].Token()}, 0)
		require.NoError(t, err)
	}
	require.NoError(t, w.handler.Handle(t.Context(), w.claim(tasks.TestJob, id)))
	require.Equal(t, store.Passed, w.read(run).Status)
}

// Workers that are killed a few times do not fail a healthy test, nor do they use up what
// errors may cost.
func TestRestartsDoNotFailATest(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	run, id := w.simpleRun()
	claim := w.claim(tasks.TestJob, id)
	for range maxLosses - 1 {
		claim = w.again(tasks.TestJob, id)
	}
	w.browser.fail = errors.New("no memory")
	claim = w.failed(claim, w.handler.Handle(t.Context(), claim))
	w.browser.fail = nil
	require.NoError(t, w.handler.Handle(t.Context(), claim))
	require.Equal(t, store.Passed, w.read(run).Status)
	require.Equal(t, maxLosses-1, w.task(id).Losses)
}

func TestWorkersAreLost(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	run, id := w.simpleRun()
	claim := w.claim(tasks.TestJob, id)
	for range maxLosses {
		claim = w.again(tasks.TestJob, id)
	}
	require.NoError(t, w.handler.Handle(t.Context(), claim))
	got := w.read(run)
	require.Equal(t, store.Errored, got.Status)
	require.Equal(t, store.CodeWorkerLost, got.Jobs[0].ErrorCode)
	require.Contains(t, got.Jobs[0].Error, "8 times")
	require.Empty(t, w.browser.requests)
}
