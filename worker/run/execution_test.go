package run

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/authoring"
	"github.com/slipway-qa/slipway/storage/ledger"
	store "github.com/slipway-qa/slipway/storage/run"
	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/storage/step/capability"
	"github.com/slipway-qa/slipway/storage/step/playback"
	"github.com/slipway-qa/slipway/tasks"
	"github.com/slipway-qa/slipway/worker/browser"
	"github.com/slipway-qa/slipway/worker/run/replay"
)

func TestNoSession(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	run, id := w.simpleRun()
	w.browser.fail = &browser.SessionError{Text: "no hub serves netscape", Err: errors.New("inside")}
	require.NoError(t, w.handler.Handle(t.Context(), w.claim(tasks.TestJob, id)))
	job := w.read(run).Jobs[0]
	require.Equal(t, store.Errored, job.Status)
	require.Equal(t, store.CodeNoSession, job.ErrorCode)
	require.Equal(t, "no hub serves netscape", job.Error)
}

func TestNoSessionForNow(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	run, id := w.simpleRun()
	w.browser.fail = &browser.SessionError{Text: "the hub is away", Retry: true}
	claim := w.claim(tasks.TestJob, id)
	for _, seconds := range []time.Duration{5, 10, 20, 30, 30, 30} {
		claim = w.snoozed(claim, w.handler.Handle(t.Context(), claim), seconds*time.Second)
		require.Equal(t, store.Running, w.read(run).Status)
	}
	w.exec(`update tasks set result = jsonb_set(result, '{no_session_since}', to_jsonb(now() - interval '9 minutes'))`)
	claim = w.snoozed(claim, w.handler.Handle(t.Context(), claim), 30*time.Second)
	w.exec(`update tasks set result = jsonb_set(result, '{no_session_since}', to_jsonb(now() - interval '11 minutes'))`)
	claim = w.snoozed(claim, &tasks.SnoozeError{}, 0)
	require.NoError(t, w.handler.Handle(t.Context(), claim))
	got := w.read(run).Jobs[0]
	require.Equal(t, store.Errored, got.Status)
	require.Equal(t, store.CodeNoSession, got.ErrorCode)
	require.Equal(t, "the hub is away", got.Error)
	require.Len(t, w.browser.requests, 8)
	require.Equal(t, ledger.Succeeded, w.task(id).State)
}

// However often a hub was away, workers that are lost and errors of the service
// are counted as ever, and the test passes when it is back.
func TestSessionsComeBack(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	run, id := w.simpleRun()
	away := &browser.SessionError{Text: "the hub is away", Retry: true}
	w.browser.fail = away
	claim := w.claim(tasks.TestJob, id)
	for _, seconds := range []time.Duration{5, 10, 20} {
		claim = w.snoozed(claim, w.handler.Handle(t.Context(), claim), seconds*time.Second)
	}
	w.browser.fail = errors.New("no memory")
	claim = w.failed(claim, w.handler.Handle(t.Context(), claim))
	w.browser.fail = away
	claim = w.snoozed(claim, w.handler.Handle(t.Context(), claim), 30*time.Second)
	require.Equal(t, id, claim.Tasks[0].ID)
	claim = w.again(tasks.TestJob, id) // one worker is lost
	w.browser.fail = nil
	require.NoError(t, w.handler.Handle(t.Context(), claim))
	require.Equal(t, store.Passed, w.read(run).Status)
	require.JSONEq(t, `{"status":"PASSED","failed_attempts":1}`, string(*w.task(id).Result))
}

// Errors of the service are tried again, and given up with a text that tells
// nothing of the inside.
func TestServiceFails(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	run, id := w.simpleRun()
	w.browser.fail = errors.New("driver at 10.0.0.1 has no memory")
	claim := w.claim(tasks.TestJob, id)
	for range 2 {
		claim = w.failed(claim, w.handler.Handle(t.Context(), claim))
	}
	require.NoError(t, w.handler.Handle(t.Context(), claim))
	got := w.read(run).Jobs[0]
	require.Equal(t, store.CodeInternal, got.ErrorCode)
	require.NotContains(t, got.Error, "10.0.0.1")
	require.Contains(t, w.log.String(), "10.0.0.1")

	run, id = w.simpleRun()
	claim = w.claim(tasks.TestJob, id)
	claim = w.failed(claim, w.handler.Handle(t.Context(), claim))
	w.browser.fail = nil
	require.NoError(t, w.handler.Handle(t.Context(), claim))
	require.Equal(t, store.Passed, w.read(run).Status)
}

func TestPanicWhilePlaying(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	run, id := w.simpleRun()
	w.handler.Play = func(_ context.Context, cfg replay.Config) replay.Result {
		cfg.Progress([]playback.Record{{StepID: "s1", Status: playback.Passed}})
		panic("index out of range")
	}
	require.NoError(t, w.handler.Handle(t.Context(), w.claim(tasks.TestJob, id)))
	got := w.read(run).Jobs[0]
	require.Equal(t, store.CodeInternal, got.ErrorCode)
	require.NotContains(t, got.Error, "index")
	require.Len(t, got.Records, 1)
	require.Equal(t, 1, w.browser.broken)
	require.Contains(t, w.log.String(), "index out of range")
}

// What a case, its suite, its organization and people decided reaches the replay.
func TestHowATestIsPlayed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c := w.newCase("log in", "dev")
	play := func() (got replay.Config) {
		t.Helper()
		w.handler.Play = func(ctx context.Context, cfg replay.Config) replay.Result {
			got = cfg
			result := passes(ctx, cfg)
			from := *cfg.Steps[0].Tool.Args.Selector
			result.Records[0].Healed = &playback.Healed{From: from, To: step.Selector{Type: step.CSS, Value: "#name"}, Reason: "same name"}
			return result
		}
		run := w.newRun(c, store.NewRun{}, chrome)
		require.NoError(t, w.handler.Handle(t.Context(), w.claim(tasks.TestJob, run.Jobs[0].ID)))
		require.Equal(t, store.Passed, w.read(run).Status)
		return got
	}
	got := play()
	require.Equal(t, []any{false, "", "", 0}, []any{got.FirstMatch, got.Healing, got.Drift, len(got.Refused)})

	healings, total, err := authoring.Healings(t.Context(), w.db, authoring.HealingFilter{CaseID: c.ID, Page: storage.FirstPage()})
	require.NoError(t, err)
	require.Equal(t, 1, total)
	w.must(func(ctx context.Context, tx *storage.Tx) error {
		_, err := authoring.RefuseHealing(ctx, tx, w.writer, c.ID, healings[0].ID)
		return err
	})
	w.exec(`update test_cases set run_settings = run_settings || '{"strict":false}'`)
	w.exec(`update organizations set healing = 'suggest', drift = 'report'`)
	got = play()
	require.True(t, got.FirstMatch)
	require.Equal(t, []any{capability.HealSuggest, capability.DriftReport}, []any{got.Healing, got.Drift})
	require.Equal(t, map[string][]step.Selector{"s1": {{Type: step.CSS, Value: "#name"}}}, got.Refused)
	w.exec(`update test_cases set run_settings = run_settings || '{"drift":"fail"}'`)
	require.Equal(t, capability.DriftFail, play().Drift)
}

// A browser that is lost says nothing of the test, which is played once more; what came
// of the first time is dropped. The second loss ends the job.
func TestLostBrowserIsReplaced(t *testing.T) {
	t.Parallel()
	for name, lost := range map[string]int{"once": 1, "twice": 2} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			run, id := w.simpleRun()
			plays := 0
			w.handler.Play = func(ctx context.Context, cfg replay.Config) replay.Result {
				plays++
				require.NotEmpty(t, cfg.Capture(ctx, shot(1)))
				result := passes(ctx, cfg)
				if plays > lost {
					return result
				}
				result.Records[0].Status = playback.Failed
				result.Status, result.Code, result.Message, result.Broken = string(store.Errored), store.CodeBrowserLost, "gone", true
				return result
			}
			require.NoError(t, w.handler.Handle(t.Context(), w.claim(tasks.TestJob, id)))
			require.Equal(t, 2, plays)
			got := w.read(run).Jobs[0]
			require.Equal(t, []int{2, lost}, []int{w.browser.released, w.browser.broken})
			require.Len(t, got.Files, 1)
			require.Len(t, w.stored(), 1)
			require.Contains(t, got.Records[0].Result.Message, "the browser was lost, and the test was played again")
			if lost == 1 {
				require.Equal(t, store.Passed, got.Status)
				return
			}
			require.Equal(t, []any{store.Errored, store.CodeBrowserLost}, []any{got.Status, got.ErrorCode})
		})
	}
}

func TestTestTakesTooLong(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	run, id := w.simpleRun()
	w.handler.Timeout = 8 * time.Second
	w.handler.Play = func(ctx context.Context, cfg replay.Config) replay.Result {
		require.NotEmpty(t, cfg.Capture(ctx, shot(1)))
		<-ctx.Done()
		return replay.Result{Status: "ERROR", Code: store.CodeInternal, Records: []playback.Record{{StepID: "s1", Status: playback.Failed}}}
	}
	require.NoError(t, w.handler.Handle(t.Context(), w.claim(tasks.TestJob, id)))
	got := w.read(run).Jobs[0]
	require.Equal(t, store.Errored, got.Status)
	require.Equal(t, store.CodeTimeout, got.ErrorCode)
	require.Contains(t, got.Error, "8s")
	require.Len(t, got.Records, 1)
	require.Len(t, got.Files, 1)
	require.Equal(t, 1, w.browser.broken)
}

func TestProgressCanBeSeen(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	run, id := w.simpleRun()
	w.handler.Play = func(ctx context.Context, cfg replay.Config) replay.Result {
		records := []playback.Record{{StepID: "s1", Status: playback.Passed}}
		cfg.Progress(records)
		require.Eventually(t, func() bool { return len(w.read(run).Jobs[0].Records) == 1 }, time.Minute, 10*time.Millisecond)
		// A picture can be looked at while the job runs.
		id := cfg.Capture(ctx, shot(0))
		records = append(records, playback.Record{StepID: "s2", Status: playback.Passed, ScreenshotID: id})
		cfg.Progress(records)
		require.Eventually(t, func() bool { return len(w.read(run).Jobs[0].Records) == 2 }, time.Minute, 10*time.Millisecond)
		require.Equal(t, id, w.read(run).Jobs[0].Files[0].ID.String())
		return replay.Result{Status: playback.Passed, Records: records}
	}
	require.NoError(t, w.handler.Handle(t.Context(), w.claim(tasks.TestJob, id)))
	require.Equal(t, store.Passed, w.read(run).Status)
	require.Len(t, w.read(run).Jobs[0].Files, 1, "the end names it once")
	require.Len(t, w.stored(), 1)
}

func TestArtifactsAreBounded(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	run, id := w.simpleRun()
	w.handler.Play = func(ctx context.Context, cfg replay.Config) replay.Result {
		large := shot(1)
		large.Data = make([]byte, 10<<20+1)
		require.Empty(t, cfg.Capture(ctx, large))
		require.Empty(t, cfg.Capture(ctx, replay.Artifact{Kind: store.Console}))
		odd := shot(2)
		odd.ContentType = "text/\x00"
		require.Empty(t, cfg.Capture(ctx, odd), "the store refuses it")
		require.NotEmpty(t, cfg.Capture(ctx, shot(3)))
		return passes(ctx, cfg)
	}
	require.NoError(t, w.handler.Handle(t.Context(), w.claim(tasks.TestJob, id)))
	got := w.read(run)
	require.Equal(t, store.Passed, got.Status)
	require.Len(t, got.Jobs[0].Files, 1)
}

func TestPayloadIsUnreadable(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	_, id := w.simpleRun()
	w.exec(`update tasks set payload = '{}'`)
	err := w.handler.Handle(t.Context(), w.claim(tasks.TestJob, id))
	require.True(t, tasks.IsPermanent(err))
	require.ErrorContains(t, err, "job_id")
}
