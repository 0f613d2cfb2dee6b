package run

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/ledger"
	store "github.com/slipway-qa/slipway/storage/run"
	"github.com/slipway-qa/slipway/tasks"
	"github.com/slipway-qa/slipway/worker/run/replay"
)

// maintain runs maintenance once and gives its numbers.
func (w *world) maintain(u *MaintenanceHandler) (sum map[string]int64) {
	w.t.Helper()
	task := tasks.NewMaintenance(tasks.RunMaintenance)
	_, err := ledger.Insert(w.t.Context(), w.db, task)
	require.NoError(w.t, err)
	require.NoError(w.t, u.Handle(w.t.Context(), w.claim(tasks.RunMaintenance, task.ID)))
	require.NoError(w.t, json.Unmarshal(*w.task(task.ID).Result, &sum))
	return sum
}

// firings inserts n firings of an age, each of a schedule that is gone.
func (w *world) firings(n int, age string) {
	w.t.Helper()
	w.exec(`insert into test_schedule_firings (id, organization_id, schedule_id, fire_at, trigger, outcome, user_uuid, created_at)
		select gen_random_uuid(), $1, gen_random_uuid(), now(), 'CRON', 'STARTED', gen_random_uuid(), now() - $3::interval
		from generate_series(1, $2)`, w.org, n, age)
}

// schedules makes n of them that fire each day at noon, and of which the database's
// clock was wrong when it was counted.
func (w *world) schedules(n int) {
	w.t.Helper()
	w.exec(`insert into test_schedules (id, organization_id, team_id, name, cron, timezone, running_user_uuid, state, next_run_at,
			creator_uuid, modifier_uuid)
		select gen_random_uuid(), o.id, t.id, 'nightly', '0 12 * * *', 'UTC', gen_random_uuid(), 'ENABLED', now() + interval '5 years',
			gen_random_uuid(), gen_random_uuid()
		from organizations o join teams t on t.organization_id = o.id, generate_series(1, $2) where o.id = $1`, w.org, n)
}

// oldEvents inserts events beyond their age.
func (w *world) oldEvents(n int) {
	w.exec(`insert into events (id, organization_id, action, subject, body, created_at)
		select gen_random_uuid(), $1, 'testRun.finished', 'old', '{}', now() - interval '31 days' from generate_series(1, $2)`, w.org, n)
}

// What is not urgent has a share of the time, and goes on with the next task.
func TestMaintenanceIsNeverLong(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	u, err := NewMaintenanceHandler(w.db, w.objects, DefaultKeep, w.handler.Log)
	require.NoError(t, err)
	// Each look at the clock takes half of the share.
	now := time.Now()
	u.now = func() time.Time {
		now = now.Add(unhurriedShare / 2)
		return now
	}
	const steps = 3
	w.schedules(steps*maintenanceStep - 1)
	w.firings(steps*maintenanceStep-1, "1 hour")
	w.oldEvents(2 * maintenanceStep)
	left := func() []int {
		return []int{w.number(`select count(*) from test_schedules where next_run_at > now() + interval '1 year'`),
			w.number(`select count(*) from test_schedule_firings`), w.number(`select count(*) from events where subject = 'old'`)}
	}
	before := left()
	for n := 1; n <= steps; n++ {
		lost, job := w.simpleRun()
		w.exec(`update tasks set state = 'dead' where id = $1`, job)
		sum := w.maintain(u)
		require.EqualValues(t, 1, sum["jobs_lost"])
		require.Equal(t, store.CodeWorkerLost, w.read(lost).Jobs[0].ErrorCode)
		require.Equal(t, []int{max(before[0]-n*maintenanceStep, 0), max(before[1]-n*maintenanceStep, 0),
			max(before[2]-n*maintenanceStep, 0)}, left())
		_, again := sum["run_files"]
		require.Equal(t, n == 1, again, "what came to its end rests")
	}
	require.Equal(t, map[string]int64{"jobs_lost": 0}, w.maintain(u))

	// The next round begins at the beginning again.
	w.firings(5, "1 hour")
	w.schedules(5)
	now = now.Add(forgetEvery)
	sum := w.maintain(u)
	require.EqualValues(t, 5, sum["orphan_firings"])
	require.NotContains(t, sum, "schedules_recounted")
	now = now.Add(recountEvery)
	var recounted int64
	for range 4 { // one for each step; the five may be anywhere
		recounted += w.maintain(u)["schedules_recounted"]
	}
	require.EqualValues(t, 5, recounted)
	require.Equal(t, []int{0, 0, 0}, left())
}

// What fails is tried again by the next task, and keeps nothing else from being done.
func TestMaintenanceFails(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	u, err := NewMaintenanceHandler(w.db, w.objects, DefaultKeep, w.handler.Log)
	require.NoError(t, err)
	w.firings(5, "1 hour")
	w.schedules(5)
	w.exec(`alter table events rename to lost_events`)
	w.exec(`alter table test_schedule_firings rename to lost_firings`)
	task := tasks.NewMaintenance(tasks.RunMaintenance)
	_, err = ledger.Insert(t.Context(), w.db, task)
	require.NoError(t, err)
	err = u.Handle(t.Context(), w.claim(tasks.RunMaintenance, task.ID))
	for _, name := range []string{"events: ", "schedule_firings: ", "orphan_firings: "} {
		require.ErrorContains(t, err, name)
	}
	require.Zero(t, w.number(`select count(*) from test_schedules where next_run_at > now() + interval '1 year'`))
	w.exec(`alter table lost_events rename to events`)
	w.exec(`alter table lost_firings rename to test_schedule_firings`)
	w.exec(`delete from tasks`)
	require.Equal(t, map[string]int64{"jobs_lost": 0, "events": 0, "schedule_firings": 0, "orphan_firings": 5}, w.maintain(u))
}

func TestMaintenance(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.handler.Play = func(ctx context.Context, cfg replay.Config) replay.Result {
		cfg.Capture(ctx, shot(1))
		return passes(ctx, cfg)
	}
	var runs []*store.Run
	for range 3 {
		run, id := w.simpleRun()
		require.NoError(t, w.handler.Handle(t.Context(), w.claim(tasks.TestJob, id)))
		runs = append(runs, run)
	}
	w.exec(`update test_runs set created_at = now() - interval '91 days', case_id = $2 where id <> $1`, runs[0].ID, runs[0].CaseID)
	w.exec(`update events set created_at = now() - interval '31 days' where subject <> $1`, runs[0].ID.String())
	w.oldEvents(maintenanceStep + 5)
	w.firings(maintenanceStep+3, "91 days")
	lost, lostJob := w.simpleRun()
	w.exec(`update tasks set state = 'dead' where id = $1`, lostJob)

	u, err := NewMaintenanceHandler(w.db, w.objects, DefaultKeep, w.handler.Log)
	require.NoError(t, err)
	sum := w.maintain(u)
	require.EqualValues(t, maintenanceStep+3, sum["schedule_firings"]+sum["orphan_firings"], "those beyond their age, and the same as orphans")
	delete(sum, "schedule_firings")
	delete(sum, "orphan_firings")
	require.Equal(t, map[string]int64{"jobs_lost": 1, "run_files": 0, "runs_removed": 2, "events": maintenanceStep + 7,
		"schedules_recounted": 0}, sum)
	require.Equal(t, store.CodeWorkerLost, w.read(lost).Jobs[0].ErrorCode)
	require.Equal(t, 2, w.number(`select count(*) from test_runs`))
	require.Equal(t, []string{w.read(runs[0]).Jobs[0].Files[0].Key}, w.stored())

	// What is not urgent rests for a while, lost jobs are ended each time.
	w.exec(`update test_runs set created_at = now() - interval '91 days', state = 'FAILED', case_id = $1`, lost.CaseID)
	_, second := w.simpleRun()
	w.exec(`update tasks set state = 'dead' where id = $1`, second)
	require.Equal(t, map[string]int64{"jobs_lost": 1}, w.maintain(u))
	now := time.Now()
	u.now = func() time.Time { return now.Add(forgetEvery + time.Minute) }
	require.EqualValues(t, 1, w.maintain(u)["runs_removed"])
	require.Empty(t, w.stored())

	task := tasks.NewMaintenance(tasks.RunMaintenance)
	_, err = ledger.Insert(t.Context(), w.db, task)
	require.NoError(t, err)
	first := w.claim(tasks.RunMaintenance, task.ID)
	next := w.again(tasks.RunMaintenance, task.ID)
	require.ErrorIs(t, u.Handle(t.Context(), first), storage.ErrStale)
	require.NoError(t, u.Handle(t.Context(), next))
}

// What a killed worker stored, and nobody names, is left to the sweep.
func TestObjectsOfALostAttemptAreUnnamed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	run, id := w.simpleRun()
	files := (&attempt{JobHandler: w.handler, id: id}).newFiles()
	require.NotEmpty(t, files.Capture(t.Context(), shot(1))) // and then it was killed
	lost := files.Keys()
	w.handler.Play = func(ctx context.Context, cfg replay.Config) replay.Result {
		cfg.Capture(ctx, shot(1))
		return passes(ctx, cfg)
	}
	require.NoError(t, w.handler.Handle(t.Context(), w.claim(tasks.TestJob, id)))
	require.Len(t, w.stored(), 2)
	unnamed, err := store.UnnamedObjects(t.Context(), w.db, w.stored())
	require.NoError(t, err)
	require.Equal(t, lost, unnamed)
	require.Len(t, w.read(run).Jobs[0].Files, 1)
}

func TestNewMaintenanceRefuses(t *testing.T) {
	t.Parallel()
	_, err := NewMaintenanceHandler(nil, nil, 0, nil)
	require.Error(t, err)
}
