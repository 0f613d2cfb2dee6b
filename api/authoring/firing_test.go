package authoring_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	store "github.com/slipway-qa/slipway/storage/run"
	"github.com/slipway-qa/slipway/storage/schedule"
)

func TestRunSchedule(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	one, two := w.newSuite(w.member, "one", w.newCase(w.member, "a", nil)), w.newSuite(w.member, "two", w.newCase(w.member, "b", nil))
	made := w.newSchedule(w.member, tree{"settings": w.nightly(tree{"buildName": "nightly", "maxRuns": 3}), "testSuiteIds": []string{two, one},
		"stateName": "DISABLED"})
	path := "/test-schedules/" + made["id"].(string)
	fire := w.ok(w.both, 200, "POST", path+"/run", `{}`)
	requireUUID(t, fire["id"])
	requireTime(t, fire["fireDate"])
	requireTime(t, fire["creationDate"])
	requireMembers(t, fire, tree{"scheduleId": made["id"], "trigger": "MANUAL", "outcome": "STARTED", "userId": w.member.UserUUID.String()})
	require.Len(t, fire, 8, members(fire))
	runs := fire["suiteRuns"].([]any)
	require.Len(t, runs, 2)
	for _, item := range runs {
		run := item.(tree)
		requireMembers(t, run, tree{"status": "QUEUED", "buildName": "nightly", "runCount": 1.0, "userId": w.member.UserUUID.String(),
			"orgId": w.ours.UUID.String(), "teamId": w.one.UUID.String()})
		require.Equal(t, []any{run}, w.ok(w.member, 200, "GET", "/testsuites/"+run["testSuiteId"].(string)+"/runs", "")["items"])
		require.Equal(t, "queued", w.taskState(idOf(run)), "the task has the run's id")
	}
	require.Equal(t, 1, w.count(`select count(*) from audit_events where type = $1`, account.ScheduleRun))
	require.Equal(t, []any{fire}, w.ok(w.neighbor, 200, "GET", path+"/runs", "")["items"])

	state := w.ok(w.member, 200, "GET", path, "")["state"].(tree)
	requireMembers(t, state, tree{"stateName": "DISABLED", "runCount": 0.0})
	requireTime(t, state["lastRunDate"])
	state = w.ok(w.member, 200, "POST", path+"/enable", "")["state"].(tree)
	requireMembers(t, state, tree{"stateName": "RUNNING", "remainingRuns": 3.0})
	requireFuture(t, state["nextRunDate"])

	again := w.ok(w.both, 200, "POST", path+"/run", ``)
	requireMembers(t, again, tree{"trigger": "MANUAL", "outcome": "SKIPPED", "suiteRuns": []any{}})
	require.NotEmpty(t, again["reason"])
	require.Equal(t, 2, w.count(`select count(*) from suite_runs`))
	require.Equal(t, 2, w.count(`select count(*) from tasks where kind = 'suite:run'`))

	for _, item := range runs {
		for _, job := range w.fanOut(idOf(item.(tree))) {
			w.end(job, store.JobEnd{Status: store.Passed})
		}
	}
	require.Equal(t, "ENABLED", w.ok(w.member, 200, "GET", path, "")["state"].(tree)["stateName"])
	require.Equal(t, []string{"SKIPPED", "STARTED"}, names(w.ok(w.member, 200, "GET", path+"/runs", ""), "outcome"))
	require.Equal(t, "STARTED", w.ok(w.both, 200, "POST", path+"/run", ``)["outcome"])
}

func TestRunScheduleRefuses(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.newTunnel("office")
	leaver := w.person(w.ours, "leaver", account.Member, w.one)
	suite := w.newSuite(w.member, "suite", w.newCase(w.member, "case", nil))
	untargeted := w.newSuite(w.member, "untargeted", w.newCase(w.member, "none", tree{"runSettings": tree{}}))
	for _, tc := range []struct {
		name       string
		body       tree
		code, says string
		before     func()
	}{
		{"no settings", tree{"teamId": w.one.UUID, "testSuiteIds": []string{suite}}, "INVALID_BODY", "settings", func() {}},
		{"no suites", tree{"teamId": w.one.UUID, "settings": w.nightly(nil)}, "INVALID_BODY", "testSuiteIds", func() {}},
		{"no targets", tree{"teamId": w.one.UUID, "settings": w.nightly(nil), "testSuiteIds": []string{untargeted}},
			"TEST_SUITE_NO_RUN_JOBS", "target", func() {}},
		{"no tunnel", tree{"teamId": w.one.UUID, "settings": w.nightly(tree{"scTunnelName": "office"}),
			"testSuiteIds": []string{suite}}, "SC_TUNNEL_NOT_FOUND", "tunnel",
			func() { w.ok(w.owner, 204, "DELETE", "/tunnels/office", "") }},
		{"no user", tree{"settings": w.nightly(tree{"runningUserId": leaver.UserUUID}), "teamId": w.one.UUID,
			"testSuiteIds": []string{suite}}, "RUNNING_USER_NOT_FOUND", "user",
			func() {
				w.tx(func(ctx context.Context, tx *storage.Tx) error {
					_, err := tx.ExecContext(ctx, `delete from memberships where user_id = $1`, leaver.UserID)
					return err
				})
			}},
	} {
		path := "/test-schedules/" + w.newSchedule(w.owner, tc.body)["id"].(string)
		tc.before()
		w.refused(w.member, 400, tc.code, "POST", path+"/run", ``, tc.says)
		require.Empty(t, w.ok(w.member, 200, "GET", path+"/runs", "")["items"], "%s: nothing is written", tc.name)
	}
	require.Zero(t, w.count(`select count(*) from suite_runs`))
	require.Zero(t, w.count(`select count(*) from tasks where kind = 'suite:run'`))
}

// due fires what is due at the last whole second, which the schedule was waiting
// for, and gives that time.
func (w *world) due(id string) (at time.Time) {
	w.t.Helper()
	w.tx(func(ctx context.Context, tx *storage.Tx) error {
		err := tx.GetContext(ctx, &at, `
			update test_schedules set next_run_at = date_trunc('second', now()) where id::text = $1 returning next_run_at`, id)
		require.NoError(w.t, err)
		_, err = schedule.FireDue(ctx, tx, schedule.DueStep{At: at, Limit: 10})
		return err
	})
	return at.UTC()
}

func TestScheduleShowsWhatTheClockDid(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	suite := w.newSuite(w.member, "suite", w.newCase(w.member, "case", nil))
	often := w.nightly(tree{"cron": "* * * * * *", "maxRuns": 2})
	made := w.newSchedule(w.member, tree{"settings": often, "testSuiteIds": []string{suite}})
	require.Equal(t, "Every second", made["cronDescription"])
	path := "/test-schedules/" + made["id"].(string)
	at := w.due(made["id"].(string)).Format("2006-01-02T15:04:05.000Z")
	state := w.ok(w.member, 200, "GET", path, "")["state"].(tree)
	requireMembers(t, state, tree{"stateName": "RUNNING", "runCount": 1.0, "remainingRuns": 1.0})
	requireTime(t, state["lastRunDate"])
	require.NotContains(t, state, "lastRunError")
	fire := w.ok(w.member, 200, "GET", path+"/runs", "")["items"].([]any)[0].(tree)
	requireMembers(t, fire, tree{"trigger": "CRON", "outcome": "STARTED", "fireDate": at, "userId": w.member.UserUUID.String()})
	require.Equal(t, suite, fire["suiteRuns"].([]any)[0].(tree)["testSuiteId"])

	untargeted := w.newSuite(w.member, "untargeted", w.newCase(w.member, "none", tree{"runSettings": tree{}}))
	failing := w.newSchedule(w.member, tree{"settings": often, "testSuiteIds": []string{untargeted}})["id"].(string)
	w.due(failing)
	state = w.ok(w.member, 200, "GET", "/test-schedules/"+failing, "")["state"].(tree)
	requireMembers(t, state, tree{"stateName": "ENABLED", "runCount": 0.0, "remainingRuns": 2.0})
	require.NotContains(t, state, "lastRunDate")
	require.NotEmpty(t, state["lastRunError"])
	fire = w.ok(w.member, 200, "GET", "/test-schedules/"+failing+"/runs", "")["items"].([]any)[0].(tree)
	requireMembers(t, fire, tree{"trigger": "CRON", "outcome": "FAILED", "reason": state["lastRunError"], "suiteRuns": []any{}})
}

// fired records a time at which a schedule was due.
func (w *world) fired(schedule, at, trigger, outcome, reason string, missed int, until any) {
	w.t.Helper()
	_, err := w.db.ExecContext(w.t.Context(), `
		insert into test_schedule_firings (id, organization_id, schedule_id, fire_at, trigger, outcome, reason, missed, missed_until, user_uuid)
		values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
		uuid.Must(uuid.NewV7()), w.ours.ID, schedule, at, trigger, outcome, reason, missed, until, w.member.UserUUID)
	require.NoError(w.t, err)
}

func TestScheduleRuns(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id, other := w.newSchedule(w.member, nil)["id"].(string), w.newSchedule(w.member, nil)["id"].(string)
	w.fired(id, "2026-01-01T02:30:00Z", "CRON", "STARTED", "", 0, nil)
	w.fired(id, "2026-01-02T02:30:00Z", "CRON", "SKIPPED", "missed", 1000, "2026-01-03T02:30:00Z")
	w.fired(id, "2026-01-04T02:30:00Z", "CATCH_UP", "FAILED", "no case", 0, nil)
	w.fired(other, "2026-01-05T02:30:00Z", "CRON", "STARTED", "", 0, nil)
	path := "/test-schedules/" + id + "/runs"
	all := w.ok(w.neighbor, 200, "GET", path, "")
	require.Equal(t, 3.0, all["total"])
	items := all["items"].([]any)
	requireMembers(t, items[0].(tree), tree{"scheduleId": id, "fireDate": "2026-01-04T02:30:00.000Z", "trigger": "CATCH_UP",
		"outcome": "FAILED",
		"reason":  "no case", "suiteRuns": []any{}, "userId": w.member.UserUUID.String()})
	requireMembers(t, items[1].(tree), tree{"outcome": "SKIPPED", "missedCount": 1000.0, "missedUntilDate": "2026-01-03T02:30:00.000Z"})
	require.Len(t, items[1].(tree), 11, members(items[1].(tree)))
	for _, name := range []string{"missedCount", "missedUntilDate"} {
		require.NotContains(t, items[0], name)
	}
	require.NotContains(t, items[2], "reason")
	for query, want := range map[string][]string{
		"startDate=2026-01-02":         {"FAILED", "SKIPPED"},
		"endDate=2026-01-01":           {"STARTED"},
		"endDate=2026-01-02T02:30:00Z": {"SKIPPED", "STARTED"},
		"endDate=2026-01-02T02:29:59Z": {"STARTED"},
		"startDate=2026-02-01":         {},
	} {
		got := w.ok(w.member, 200, "GET", path+"?"+query, "")
		require.Equal(t, want, names(got, "outcome"), query)
		require.EqualValues(t, len(want), got["total"], query)
	}
	for query, want := range map[string][]string{"limit=1&skip=1": {"SKIPPED"}, "limit=0": {}, "skip=3": {}} {
		got := w.ok(w.member, 200, "GET", path+"?"+query, "")
		require.Equal(t, want, names(got, "outcome"), query)
		require.Equal(t, 3.0, got["total"], query)
	}
	for query, field := range badQueries {
		if field != "userId" && field != "teamId" && field != "search" {
			w.refused(w.member, 400, "INVALID_QUERY", "GET", path+"?"+query, "", field)
		}
	}
}
