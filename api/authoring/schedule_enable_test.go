package authoring_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
)

func (w *world) exec(query string, args ...any) {
	w.t.Helper()
	w.tx(func(ctx context.Context, tx *storage.Tx) error {
		_, err := tx.ExecContext(ctx, query, args...)
		return err
	})
}

// A schedule whose suites were deleted is not enabled, from that moment on.
func TestScheduleWithoutItsSuites(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	suite, other := w.newSuite(w.member, "suite"), w.newSuite(w.member, "other")
	id := w.newSchedule(w.member, tree{"settings": w.nightly(tree{"maxRuns": 3}), "testSuiteIds": []string{suite, other}})["id"].(string)
	path := "/test-schedules/" + id
	w.ok(w.member, 204, "DELETE", "/testsuites/"+suite, "")
	got := w.ok(w.member, 200, "GET", path, "")
	require.Equal(t, []any{other}, got["testSuiteIds"])
	requireMembers(t, got["state"].(tree), tree{"stateName": "ENABLED", "remainingRuns": 3.0})
	w.ok(w.member, 204, "DELETE", "/testsuites/"+other, "")
	got = w.ok(w.member, 200, "GET", path, "")
	require.Equal(t, []any{}, got["testSuiteIds"])
	require.Equal(t, tree{"stateName": "DISABLED", "runCount": 0.0}, got["state"])
	listed := w.ok(w.member, 200, "GET", "/test-schedules?ids="+id, "")["items"].([]any)[0].(tree)
	require.Equal(t, got["state"], listed["state"])
	w.refused(w.member, 400, "INVALID_BODY", "POST", path+"/enable", ``, "testSuiteIds")
	require.Equal(t, got["state"], w.ok(w.member, 200, "POST", path, `{"name":"without"}`)["state"])
	got = w.ok(w.member, 200, "POST", path, asJSON(t, tree{"testSuiteIds": []string{w.newSuite(w.member, "new")}, "stateName": "ENABLED"}))
	requireMembers(t, got["state"].(tree), tree{"stateName": "ENABLED", "remainingRuns": 3.0})
	requireFuture(t, got["state"].(tree)["nextRunDate"])

	// Suites alone do not enable it again.
	third := w.newSuite(w.member, "third")
	id = w.newSchedule(w.member, tree{"settings": w.nightly(nil), "testSuiteIds": []string{third}})["id"].(string)
	w.ok(w.member, 204, "DELETE", "/testsuites/"+third, "")
	got = w.ok(w.member, 200, "POST", "/test-schedules/"+id, asJSON(t, tree{"testSuiteIds": []string{w.newSuite(w.member, "fourth")}}))
	require.Equal(t, "DISABLED", got["state"].(tree)["stateName"])
}

func TestErroredScheduleWithoutSuitesIsDisabled(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	suites := tree{"settings": w.nightly(nil), "testSuiteIds": []string{w.newSuite(w.member, "suite")}}
	for text, state := range map[string]string{`{"name":"new"}`: "ERRORED", `{"settings":{"cron":"@daily"}}`: "ERRORED",
		`{"testSuiteIds":[]}`: "DISABLED", `{"testSuiteIds":null}`: "DISABLED", `{"settings":null}`: "DISABLED"} {
		id := w.newSchedule(w.member, suites)["id"].(string)
		w.exec(`update test_schedules set state = 'ERRORED', next_run_at = null, last_error = 'broken', failures = 5 where id::text = $1`, id)
		got := w.ok(w.member, 200, "POST", "/test-schedules/"+id, text)["state"].(tree)
		require.Equal(t, state, got["stateName"], text)
		require.NotContains(t, got, "nextRunDate", text)
	}
}

// Who or what the settings name may be gone: that refuses the schedule to be
// enabled, and nothing else.
func TestScheduleWhoseUserOrTunnelIsGone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.newTunnel("office")
	leaver := w.person(w.ours, "leaver", account.Member, w.one)
	suites := []string{w.newSuite(w.member, "suite")}
	user := "/test-schedules/" + w.newSchedule(w.owner, tree{"teamId": w.one.UUID, "testSuiteIds": suites,
		"settings": w.nightly(tree{"runningUserId": leaver.UserUUID})})["id"].(string)
	tunnel := "/test-schedules/" + w.newSchedule(w.member, tree{"testSuiteIds": suites,
		"settings": w.nightly(tree{"scTunnelName": "office"})})["id"].(string)
	w.exec(`delete from memberships where user_id = $1`, leaver.UserID)
	w.ok(w.owner, 204, "DELETE", "/tunnels/office", "")
	for _, s := range []struct{ path, member, gone, code, says string }{
		{user, "runningUserId", leaver.UserUUID.String(), "RUNNING_USER_NOT_FOUND", "running user"},
		{tunnel, "scTunnelName", "office", "SC_TUNNEL_NOT_FOUND", "tunnel"},
	} {
		for _, text := range []string{`{"name":"new"}`, `{"settings":{"cron":"@daily","maxRuns":2}}`,
			p(`{"settings":{%q:%q}}`, s.member, s.gone)} {
			require.Equal(t, "ENABLED", w.ok(w.member, 200, "POST", s.path, text)["state"].(tree)["stateName"], text)
		}
		w.refused(w.member, 400, s.code, "POST", s.path, `{"stateName":"ENABLED"}`, s.says)
		w.refused(w.member, 400, s.code, "POST", s.path+"/enable", ``, s.says)
		require.Equal(t, "DISABLED", w.ok(w.member, 200, "POST", s.path+"/disable", ``)["state"].(tree)["stateName"])
		w.refused(w.member, 400, s.code, "POST", s.path+"/enable", ``, s.says)
		require.Equal(t, "other", w.ok(w.member, 200, "POST", s.path, `{"name":"other"}`)["name"])
	}
	// Another one is looked for.
	w.refused(w.member, 400, "SC_TUNNEL_NOT_FOUND", "POST", user, `{"settings":{"scTunnelName":"office"}}`, "tunnel")
	w.refused(w.member, 400, "RUNNING_USER_NOT_FOUND", "POST", tunnel, p(`{"settings":{"runningUserId":%q}}`, leaver.UserUUID), "running user")
	w.ok(w.member, 200, "POST", user, p(`{"settings":{"runningUserId":%q},"stateName":"ENABLED"}`, w.member.UserUUID))
	w.ok(w.member, 200, "POST", tunnel, `{"settings":{"scTunnelName":null},"stateName":"ENABLED"}`)
}

func TestScheduleThatIsOverIsNotEnabled(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.newSchedule(w.member, tree{"testSuiteIds": []string{w.newSuite(w.member, "suite")}, "stateName": "DISABLED",
		"settings": w.nightly(tree{"maxRuns": 2, "endDate": "9000-01-01"})})["id"].(string)
	path := "/test-schedules/" + id
	w.exec(`update test_schedules set run_count = 2 where id::text = $1`, id)
	w.refused(w.member, 400, "INVALID_BODY", "POST", path+"/enable", ``, "settings.maxRuns")
	w.exec(`update test_schedules set run_count = 1, end_at = $2 where id::text = $1`, id, time.Now().Add(-time.Minute))
	w.refused(w.member, 400, "INVALID_BODY", "POST", path+"/enable", ``, "settings.endDate")
	state := w.ok(w.member, 200, "POST", path, `{"settings":{"endDate":null},"stateName":"ENABLED"}`)["state"].(tree)
	requireMembers(t, state, tree{"stateName": "ENABLED", "remainingRuns": 1.0})
}
