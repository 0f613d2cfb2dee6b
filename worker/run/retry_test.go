package run

import (
	"context"
	"fmt"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage/ledger"
	store "github.com/slipway-qa/slipway/storage/run"
	retry "github.com/slipway-qa/slipway/storage/run/attempt"
	"github.com/slipway-qa/slipway/storage/step/playback"
	"github.com/slipway-qa/slipway/tasks"
	"github.com/slipway-qa/slipway/worker/run/replay"
)

func number(n int) *int { return &n }

// retried starts a run whose jobs are played again so often.
func (w *world) retried(retries int) (*store.Run, uuid.UUID) {
	w.t.Helper()
	run := w.newRun(w.newCase("log in", "dev"), store.NewRun{Inputs: store.Inputs{Retries: number(retries)}}, chrome)
	return run, run.Jobs[0].ID
}

// plays has the attempts of a test end as they are listed, with a screenshot each. "" passes.
func (w *world) plays(codes ...string) (played *int) {
	played = new(int)
	w.handler.Play = func(ctx context.Context, cfg replay.Config) replay.Result {
		code := codes[*played]
		*played++
		result := passes(ctx, cfg)
		result.Records[0].ScreenshotID = cfg.Capture(ctx, shot(*played))
		if code != "" {
			result.Status, result.Code, result.Message = playback.Failed, code, fmt.Sprintf("failure %d", *played)
			result.Records[0].Status = playback.Failed
			if code != store.CodeStepFailed && code != store.CodeAssertionFailed && code != store.CodeDrifted {
				result.Status = string(store.Errored)
			}
		}
		return result
	}
	return played
}

// whole reads a run with the attempts of its jobs.
func (w *world) whole(run *store.Run) *store.Run {
	w.t.Helper()
	got := w.read(run)
	jobs := make([]*store.Job, len(got.Jobs))
	for i := range jobs {
		jobs[i] = &got.Jobs[i]
	}
	require.NoError(w.t, retry.Read(w.t.Context(), w.db, jobs))
	return got
}

func TestFailedTestPassesWhenPlayedAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	run, id := w.retried(2)
	w.plays(store.CodeAssertionFailed, "")
	claim := w.claim(tasks.TestJob, id)
	err := w.handler.Handle(t.Context(), claim)
	between := w.read(run)
	require.Equal(t, store.Running, between.Status, "it goes on")
	require.Equal(t, store.Running, between.Jobs[0].Status)
	require.Zero(t, w.number(`select count(*) from events`))
	require.NoError(t, w.handler.Handle(t.Context(), w.snoozed(claim, err, 0)))

	got := w.whole(run)
	require.Equal(t, store.Passed, got.Status)
	require.Equal(t, 1, got.Flaky)
	job := got.Jobs[0]
	require.Equal(t, store.Flaky, job.Status)
	require.Empty(t, job.ErrorCode)
	require.Equal(t, 1, job.Ended)
	require.Len(t, job.Earlier, 1)
	first := job.Earlier[0]
	require.Equal(t, 1, first.Number)
	require.Equal(t, store.Failed, first.Status)
	require.Equal(t, store.CodeAssertionFailed, first.ErrorCode)
	require.Equal(t, "failure 1", first.Error)
	require.Equal(t, playback.Failed, first.Records[0].Status)
	require.Equal(t, first.Files[0].ID.String(), first.Records[0].ScreenshotID)
	require.Equal(t, playback.Passed, job.Records[0].Status)
	require.Len(t, job.Files, 1)
	require.Equal(t, job.Files[0].ID.String(), job.Records[0].ScreenshotID)
	require.ElementsMatch(t, []string{first.Files[0].Key, job.Files[0].Key}, w.stored())
	require.False(t, first.StartedAt.After(first.FinishedAt))
	require.Equal(t, first.StartedAt, *job.StartedAt, "the job began with its first attempt")
	require.True(t, job.AttemptAt.After(first.StartedAt))
	require.Equal(t, 2, w.browser.released, "each attempt has a browser of its own")
	require.Equal(t, 1, w.number(`select (body -> 'counts' ->> 'flaky')::int from events`))
	require.Equal(t, 1, w.number(`select (body -> 'counts' ->> 'passed')::int from events`))
}

func TestWhatIsPlayedAgain(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		retries int
		codes   []string // of the attempts that there are to be
		status  store.Status
	}{
		"never":                     {0, []string{store.CodeStepFailed}, store.Failed},
		"as often as it says":       {2, []string{store.CodeStepFailed, store.CodeUnreachable, store.CodeTimeout}, store.Errored},
		"until something is final":  {3, []string{store.CodeStepFailed, store.CodeVariable}, store.Errored},
		"not what is refused":       {3, []string{store.CodeForbidden}, store.Errored},
		"until it passes":           {3, []string{store.CodeDrifted, store.CodeStepFailed, ""}, store.Flaky},
		"not after it passed":       {3, []string{""}, store.Passed},
		"a browser that comes back": {1, []string{store.CodeBrowserLost, "", ""}[:2], store.Passed},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			run, id := w.retried(tt.retries)
			played := w.plays(tt.codes...)
			claim := w.claim(tasks.TestJob, id)
			err := w.handler.Handle(t.Context(), claim)
			for err != nil {
				claim = w.snoozed(claim, err, 0)
				err = w.handler.Handle(t.Context(), claim)
			}
			got := w.whole(run)
			require.Equal(t, len(tt.codes), *played)
			require.Equal(t, tt.status, got.Jobs[0].Status)
			require.True(t, got.Status.Terminal())
			require.Equal(t, ledger.Succeeded, w.task(id).State)
			require.Len(t, got.Jobs[0].Earlier, got.Jobs[0].Ended)
			unnamed, err := store.UnnamedObjects(t.Context(), w.db, w.stored())
			require.NoError(t, err)
			require.Empty(t, unnamed)
		})
	}
}

// A worker dies after it kept an attempt, before it could put the task off.
func TestWorkerDiesBetweenAttempts(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	run, id := w.retried(1)
	played := w.plays(store.CodeStepFailed, store.CodeStepFailed)
	require.Error(t, w.handler.Handle(t.Context(), w.claim(tasks.TestJob, id)))
	require.NoError(t, w.handler.Handle(t.Context(), w.again(tasks.TestJob, id)))
	got := w.whole(run)
	require.Equal(t, 2, *played, "the attempt that was kept counts")
	require.Equal(t, store.Failed, got.Status)
	require.Equal(t, "failure 2", got.Jobs[0].Error)
	require.Equal(t, "failure 1", got.Jobs[0].Earlier[0].Error)
	require.Len(t, w.stored(), 2)
}

// A worker dies while it plays the second attempt: what it kept of the first stays.
func TestWorkerDiesInALaterAttempt(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	run, id := w.retried(1)
	w.plays(store.CodeStepFailed)
	claim := w.claim(tasks.TestJob, id)
	lost := w.snoozed(claim, w.handler.Handle(t.Context(), claim), 0)
	w.handler.Play = func(ctx context.Context, cfg replay.Config) replay.Result {
		w.handler.Play = passes
		require.NoError(t, w.handler.Handle(t.Context(), w.again(tasks.TestJob, id)))
		return replay.Result{Status: playback.Failed, Code: store.CodeStepFailed}
	}
	require.Error(t, w.handler.Handle(t.Context(), lost))
	got := w.whole(run)
	require.Equal(t, store.Flaky, got.Jobs[0].Status)
	require.Len(t, got.Jobs[0].Earlier, 1)
	require.Len(t, got.Jobs[0].Earlier[0].Files, 1)
}

func TestCancelledBetweenAttempts(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	run, id := w.retried(3)
	w.handler.Play = func(ctx context.Context, cfg replay.Config) replay.Result {
		require.NotEmpty(t, cfg.Capture(ctx, shot(1)))
		w.cancel(run)
		return replay.Result{Status: playback.Failed, Code: store.CodeStepFailed}
	}
	require.NoError(t, w.handler.Handle(t.Context(), w.claim(tasks.TestJob, id)))
	got := w.whole(run)
	require.Equal(t, store.Cancelled, got.Status)
	require.Empty(t, got.Jobs[0].Earlier, "what came after the end is not kept")
	require.Empty(t, w.stored())
}

// Case, suite and organization say how often, the narrower before the wider.
func TestRetriesOfCaseSuiteAndOrganization(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		set  string
		want int
	}{
		"nobody":       {`select 1`, 1},
		"organization": {`update organizations set retries = 1`, 2},
		"suite":        {`update organizations set retries = 3; update test_suites set retries = 1`, 2},
		"case": {`update organizations set retries = 3; update test_suites set retries = 2; update test_cases
			set run_settings = run_settings || '{"retries": 0}'`, 1},
		"run": {`update test_cases set run_settings = run_settings || '{"retries": 3}'; update suite_runs set retries = 1`, 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			suite := w.newSuiteRun(1)
			require.NoError(t, w.suite().Handle(t.Context(), w.claim(tasks.SuiteRun, suite.ID)))
			w.exec(tt.set)
			played := w.plays(store.CodeStepFailed, store.CodeStepFailed, store.CodeStepFailed, store.CodeStepFailed)
			var id uuid.UUID
			require.NoError(t, w.db.GetContext(t.Context(), &id, `select id from test_jobs`))
			claim := w.claim(tasks.TestJob, id)
			err := w.handler.Handle(t.Context(), claim)
			for err != nil {
				claim = w.snoozed(claim, err, 0)
				err = w.handler.Handle(t.Context(), claim)
			}
			require.Equal(t, tt.want, *played)
		})
	}
}
