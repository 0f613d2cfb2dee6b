package run

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/authoring"
	"github.com/slipway-qa/slipway/storage/ledger"
	"github.com/slipway-qa/slipway/tasks"
	"github.com/slipway-qa/slipway/worker/run/replay"
)

// tidy runs the upkeep once and gives its numbers.
func (w *world) tidy(u *Upkeep) (sum map[string]int64) {
	w.t.Helper()
	task := tasks.NewUpkeep(tasks.RunUpkeep)
	_, err := ledger.Insert(w.t.Context(), w.db, task)
	require.NoError(w.t, err)
	require.NoError(w.t, u.Handle(w.t.Context(), w.claim(tasks.RunUpkeep, task.ID)))
	require.NoError(w.t, json.Unmarshal(*w.task(task.ID).Result, &sum))
	return sum
}

func TestUpkeep(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.handler.Play = func(ctx context.Context, cfg replay.Config) replay.Result {
		cfg.Capture(ctx, shot(1))
		return passes(ctx, cfg)
	}
	var runs []*authoring.Run
	for range 3 {
		run, id := w.simpleRun()
		require.NoError(t, w.handler.Handle(t.Context(), w.claim(tasks.TestJob, id)))
		runs = append(runs, run)
	}
	w.exec(`update test_runs set created_at = now() - interval '91 days' where id <> $1`, runs[0].ID)
	w.exec(`update events set created_at = now() - interval '31 days' where subject <> $1`, runs[0].ID.String())
	w.exec(`insert into authoring_keys (organization_id, operation, key, result, created_at)
		select $1, 'testcase.run:x', n, '', now() - interval '25 hours' from generate_series(1, $2) n`, w.org, upkeepStep+5)
	lost, lostJob := w.simpleRun()
	w.exec(`update tasks set state = 'dead' where id = $1`, lostJob)

	u, err := NewUpkeep(w.db, w.objects, DefaultKeep, w.handler.Log)
	require.NoError(t, err)
	require.Equal(t, map[string]int64{"jobs_lost": 1, "run_files": 2, "events": 2, "idempotency_keys": upkeepStep + 5}, w.tidy(u))
	require.Equal(t, authoring.CodeWorkerLost, w.read(lost).Jobs[0].ErrorCode)
	require.Equal(t, 2, w.number(`select count(*) from test_runs`))
	require.Equal(t, []string{w.read(runs[0]).Jobs[0].Files[0].Key}, w.stored())

	// What is not urgent rests for a while, lost jobs are ended each time.
	w.exec(`update test_runs set created_at = now() - interval '91 days'`)
	_, second := w.simpleRun()
	w.exec(`update tasks set state = 'dead' where id = $1`, second)
	require.Equal(t, map[string]int64{"jobs_lost": 1}, w.tidy(u))
	now := time.Now()
	u.now = func() time.Time { return now.Add(forgetEvery + time.Minute) }
	require.EqualValues(t, 1, w.tidy(u)["run_files"])
	require.Empty(t, w.stored())

	task := tasks.NewUpkeep(tasks.RunUpkeep)
	_, err = ledger.Insert(t.Context(), w.db, task)
	require.NoError(t, err)
	first := w.claim(tasks.RunUpkeep, task.ID)
	next := w.again(tasks.RunUpkeep, task.ID)
	require.ErrorIs(t, u.Handle(t.Context(), first), storage.ErrStale)
	require.NoError(t, u.Handle(t.Context(), next))
}

// What a killed worker stored, and nobody names, is left to the sweep.
func TestObjectsOfALostAttemptAreUnnamed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	run, id := w.simpleRun()
	p := performance{attempt: &attempt{Job: w.handler, id: id}}
	require.NotEmpty(t, p.capture(t.Context(), shot(1))) // and then it was killed
	lost := p.files.keys()
	w.handler.Play = func(ctx context.Context, cfg replay.Config) replay.Result {
		cfg.Capture(ctx, shot(1))
		return passes(ctx, cfg)
	}
	require.NoError(t, w.handler.Handle(t.Context(), w.claim(tasks.TestJob, id)))
	require.Len(t, w.stored(), 2)
	unnamed, err := authoring.UnnamedObjects(t.Context(), w.db, w.stored())
	require.NoError(t, err)
	require.Equal(t, lost, unnamed)
	require.Len(t, w.read(run).Jobs[0].Files, 1)
}

func TestNewUpkeepRefuses(t *testing.T) {
	t.Parallel()
	_, err := NewUpkeep(nil, nil, 0, nil)
	require.Error(t, err)
}
