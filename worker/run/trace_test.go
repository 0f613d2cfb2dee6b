package run

import (
	"archive/zip"
	"bytes"
	"context"
	"io"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage/object"
	store "github.com/slipway-qa/slipway/storage/run"
	"github.com/slipway-qa/slipway/storage/step/playback"
	"github.com/slipway-qa/slipway/tasks"
	"github.com/slipway-qa/slipway/worker/run/replay"
	"github.com/slipway-qa/slipway/worker/run/trace"
)

// traces plays a test that ends so and records what it did.
func traces(status, code string) func(context.Context, replay.Config) replay.Result {
	return func(_ context.Context, cfg replay.Config) replay.Result {
		cfg.Trace.End(cfg.Trace.Begin(trace.Action{Title: "Say " + secret}), "", false)
		return replay.Result{Status: status, Code: code, Message: "it did", Records: []playback.Record{{StepID: "s1", Status: status}}}
	}
}

// traceOf returns the trace of the only job of a run, "" without one.
func (w *world) traceOf(run *store.Run) string {
	w.t.Helper()
	text := ""
	for _, f := range w.read(run).Jobs[0].Files {
		if f.Kind != store.Trace {
			continue
		}
		require.Empty(w.t, text, "one trace")
		require.Equal(w.t, "application/zip", f.ContentType)
		r, info, err := w.objects.Open(w.t.Context(), f.Key, 0, object.MaxList<<20)
		require.NoError(w.t, err)
		data, err := io.ReadAll(r)
		require.NoError(w.t, err)
		require.NoError(w.t, r.Close())
		require.Equal(w.t, f.Size, info.Size)
		z, err := zip.NewReader(bytes.NewReader(data), info.Size)
		require.NoError(w.t, err)
		events, err := z.Open("trace.trace")
		require.NoError(w.t, err)
		all, err := io.ReadAll(events)
		require.NoError(w.t, err)
		text = string(all)
	}
	return text
}

func TestTraceIsKept(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c := w.newCase("log in", "{{password}}")
	w.variable("password", secret, true)
	for _, test := range []struct {
		run, ofCase, organization string
		status                    string
		kept                      bool
	}{
		{status: playback.Passed},
		{status: playback.Failed, kept: true},
		{status: string(store.Errored), kept: true},
		{organization: "off", status: playback.Failed},
		{organization: "on", status: playback.Passed, kept: true},
		{ofCase: "off", organization: "on", status: playback.Failed},
		{ofCase: "on", organization: "off", status: playback.Passed, kept: true},
		{run: "off", ofCase: "on", organization: "on", status: playback.Failed},
		{run: "on", ofCase: "off", status: playback.Passed, kept: true},
		{run: "on_failure", ofCase: "on", status: playback.Passed},
	} {
		w.exec(`update organizations set trace = $1`, test.organization)
		w.exec(`update test_cases set run_settings = run_settings - 'trace' || case when $1 = '' then '{}'
			else jsonb_build_object('trace', $1::text) end`, test.ofCase)
		w.handler.Play = traces(test.status, store.CodeStepFailed)
		run := w.newRun(c, store.NewRun{Inputs: store.Inputs{Trace: test.run}}, chrome)
		require.NoError(t, w.handler.Handle(t.Context(), w.claim(tasks.TestJob, run.Jobs[0].ID)))
		text := w.traceOf(run)
		require.Equal(t, test.kept, text != "", "%+v", test)
		require.NotContains(t, text, secret)
		if test.kept {
			require.Contains(t, text, "Say ***")
		}
	}
}

// What was recorded before a browser was lost is in the trace of the repetition.
func TestTraceOutlivesALostBrowser(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	played := 0
	w.handler.Play = func(ctx context.Context, cfg replay.Config) replay.Result {
		if played++; played == 1 {
			return traces(string(store.Errored), store.CodeBrowserLost)(ctx, cfg)
		}
		return traces(playback.Failed, store.CodeStepFailed)(ctx, cfg)
	}
	run, job := w.simpleRun()
	require.NoError(t, w.handler.Handle(t.Context(), w.claim(tasks.TestJob, job)))
	text := w.traceOf(run)
	require.Contains(t, text, `"callId":"call@3"`, "two actions and the loss between them")
	require.Contains(t, text, "The browser was lost")
}

// A run that was cancelled keeps no trace, and no object of one.
func TestTraceOfCancelledRun(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	run, job := w.simpleRun()
	claim := w.claim(tasks.TestJob, job)
	w.handler.Play = func(ctx context.Context, cfg replay.Config) replay.Result {
		w.cancel(run)
		return traces(playback.Failed, store.CodeStepFailed)(ctx, cfg)
	}
	_ = w.handler.Handle(t.Context(), claim)
	require.Equal(t, store.Cancelled, w.read(run).Status)
	require.Empty(t, w.traceOf(run))
	require.Empty(t, w.stored())
}
