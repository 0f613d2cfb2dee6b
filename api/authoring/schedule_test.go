package authoring_test

import (
	"maps"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/api/auth"
	"github.com/slipway-qa/slipway/storage/account"
)

// nightly are settings that fire every night; the members are added to them, or
// take the place of those of their name.
func (w *world) nightly(members tree) tree {
	all := tree{"cron": "30 2 * * *", "timezone": "Europe/Berlin", "runningUserId": w.member.UserUUID.String()}
	for name, value := range members {
		all[name] = value
	}
	return all
}

// newSchedule returns a schedule.
func (w *world) newSchedule(as *auth.Caller, members tree) tree {
	w.t.Helper()
	if members == nil {
		members = tree{}
	}
	return w.ok(as, 201, "POST", "/test-schedules", asJSON(w.t, members))
}

func requireFuture(t testing.TB, value any) {
	t.Helper()
	at, err := time.Parse("2006-01-02T15:04:05.000Z", value.(string))
	require.NoError(t, err)
	require.True(t, at.After(time.Now()), value)
}

func TestScheduleIsShownWhole(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.newTunnel("office")
	one, two := w.newSuite(w.member, "one"), w.newSuite(w.member, "two")
	settings := w.nightly(tree{"startDate": "2026-01-01", "endDate": "9000-12-31", "maxRuns": 7.0, "scTunnelName": "office",
		"buildName":     "nightly",
		"runningUserId": bare(w.member.UserUUID)})
	made := w.newSchedule(w.member, tree{"name": "every night", "settings": settings, "testSuiteIds": []any{bare(two), one, two},
		"stateName": "ENABLED"})
	requireUUID(t, made["id"])
	requireTime(t, made["creationDate"])
	requireTime(t, made["lastUpdateDate"])
	requireMembers(t, made, tree{"orgId": w.ours.UUID.String(), "teamId": w.one.UUID.String(), "name": "every night",
		"creatorUserId": w.member.UserUUID.String(), "creatorUserName": "Person member",
		"lastModifierUserId": w.member.UserUUID.String(), "lastModifierUserName": "Person member",
		"testSuiteIds": []any{two, one}, "cronDescription": "At 02:30",
		"settings": tree{"cron": "30 2 * * *", "timezone": "Europe/Berlin", "runningUserId": w.member.UserUUID.String(),
			"startDate": "2026-01-01T00:00:00.000Z", "endDate": "9000-12-31T23:59:59.999Z", "maxRuns": 7.0,
			"scTunnelName": "office", "buildName": "nightly"}})
	require.Len(t, made, 15, members(made))
	require.Len(t, made["nextRunDates"], 5)
	state := made["state"].(tree)
	requireMembers(t, state, tree{"stateName": "ENABLED", "runCount": 0.0, "remainingRuns": 7.0})
	requireFuture(t, state["nextRunDate"])
	require.Equal(t, state["nextRunDate"], made["nextRunDates"].([]any)[0])
	require.Len(t, state, 4, members(state))

	path := "/test-schedules/" + made["id"].(string)
	require.Equal(t, made, w.ok(w.neighbor, 200, "GET", path, ""))
	require.Equal(t, made, w.ok(w.member, 200, "GET", "/test-schedules/"+bare(made["id"]), ""))
	listed := maps.Clone(made)
	listed["nextRunDates"] = []any{state["nextRunDate"]}
	require.Equal(t, []any{listed}, w.ok(w.member, 200, "GET", "/test-schedules", "")["items"], "a list has the next time alone")
	require.Equal(t, 1, w.count(`select count(*) from audit_events where type = $1`, account.ScheduleCreated))
}

func TestCreateSchedule(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	suite := w.newSuite(w.member, "suite")
	for _, text := range []string{``, `{}`, `{"name":null,"settings":null,"testSuiteIds":null,"stateName":null,"teamId":null}`} {
		made := w.ok(w.member, 201, "POST", "/test-schedules", text)
		require.Contains(t, made["name"], "Schedule "+time.Now().UTC().Format("2006-"))
		requireMembers(t, made, tree{"settings": tree{}, "testSuiteIds": []any{}, "state": tree{"stateName": "DISABLED", "runCount": 0.0}})
		require.Len(t, made, 14, "nothing to describe: %v", members(made))
	}
	for state, members := range map[string]tree{
		"ENABLED": {"settings": w.nightly(tree{"startDate": nil, "endDate": nil, "maxRuns": nil,
			"scTunnelName": nil, "buildName": nil}), "testSuiteIds": []string{suite}},
		"DISABLED": {"settings": w.nightly(nil), "testSuiteIds": []string{suite}, "stateName": "DISABLED"},
	} {
		made := w.newSchedule(w.member, members)
		require.Equal(t, state, made["state"].(tree)["stateName"])
		require.Equal(t, state == "ENABLED", made["state"].(tree)["nextRunDate"] != nil)
		require.NotContains(t, made["state"], "remainingRuns", "only with maxRuns")
		require.Equal(t, w.nightly(nil), made["settings"])
	}
	made := w.newSchedule(w.member, tree{"settings": w.nightly(nil)})
	require.Equal(t, "DISABLED", made["state"].(tree)["stateName"], "without suites")
	require.Equal(t, "At 02:30", made["cronDescription"])
	require.Equal(t, w.two.UUID.String(), w.newSchedule(w.both, tree{"teamId": bare(w.two.UUID)})["teamId"])
	w.refused(w.member, 403, "FORBIDDEN", "POST", "/test-schedules", p(`{"teamId":%q}`, w.two.UUID))
	require.Equal(t, 1, w.count(`select count(*) from test_schedules where state = 'ENABLED'`))
}

func TestSchedulesAreFiltered(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	one, two := w.newSuite(w.both, "one"), w.newSuite(w.both, "two")
	ids := map[string]string{}
	for _, s := range []struct {
		name, at string
		by       *auth.Caller
		suites   []string
	}{
		{"Smoke", "2026-01-01T00:00:00Z", w.member, []string{one}},
		{"SMOKE deep", "2026-01-02T12:00:00Z", w.neighbor, nil},
		{"Nightly", "2026-01-03T00:00:00.123456Z", w.member, []string{two, one}},
	} {
		ids[s.name] = w.newSchedule(s.by, tree{"name": s.name, "testSuiteIds": s.suites})["id"].(string)
		w.created("test_schedules", ids[s.name], s.at)
	}
	abroad := w.newSchedule(w.stranger, tree{"name": "abroad"})["id"].(string)
	shown := w.ok(w.member, 200, "GET", "/test-schedules/"+ids["Nightly"], "")["creationDate"].(string)
	for query, want := range map[string][]string{
		"":                    {"Nightly", "SMOKE deep", "Smoke"},
		"search=smoke":        {"SMOKE deep", "Smoke"},
		"ids=" + ids["Smoke"]: {"Smoke"},
		"ids=" + bare(ids["Smoke"]) + "," + noUUID:   {"Smoke"},
		p("ids[]=%s&ids[]=%s", ids["Smoke"], abroad): {"Smoke"},
		"ids=":                                   {"Nightly", "SMOKE deep", "Smoke"},
		"startDate=2026-01-02":                   {"Nightly", "SMOKE deep"},
		"endDate=2026-01-02":                     {"SMOKE deep", "Smoke"},
		"endDate=2026-01-02T11:59:59Z":           {"Smoke"},
		"endDate=" + shown:                       {"Nightly", "SMOKE deep", "Smoke"},
		p("startDate=%s&endDate=%[1]s", shown):   {"Nightly"},
		"endDate=2026-01-03T00:00:00.122Z":       {"SMOKE deep", "Smoke"},
		"userId=" + w.neighbor.UserUUID.String(): {"SMOKE deep"},
		"teamId=" + bare(w.one.UUID):             {"Nightly", "Smoke"},
		"testSuiteIds=" + one:                    {"Nightly", "Smoke"},
		"testSuiteIds=" + bare(two):              {"Nightly"},
		p("testSuiteIds=%s,%s", one, two):        {"Nightly", "Smoke"},
		"testSuiteIds=" + noUUID:                 {},
		"testSuiteIds=" + one + "&search=night&teamId=" + w.one.UUID.String(): {"Nightly"},
	} {
		got := w.ok(w.member, 200, "GET", "/test-schedules?"+query, "")
		require.Equal(t, want, names(got, "name"), query)
		require.EqualValues(t, len(want), got["total"], query)
	}
	for query, want := range map[string][]string{"skip=1&limit=1": {"SMOKE deep"}, "limit=0": {}, "skip=3": {}} {
		got := w.ok(w.member, 200, "GET", "/test-schedules?"+query, "")
		require.Equal(t, want, names(got, "name"), query)
		require.EqualValues(t, 3, got["total"], query)
	}
	for query, field := range badQueries {
		w.refused(w.member, 400, "INVALID_QUERY", "GET", "/test-schedules?"+query, "", field)
	}
	for _, name := range []string{"ids", "testSuiteIds"} {
		for _, value := range []string{"7", "null", noCase} {
			w.refused(w.member, 400, "INVALID_QUERY", "GET", "/test-schedules?"+name+"="+value, "", name)
		}
	}
}

func TestUpdateSchedule(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.newTunnel("office")
	one, two := w.newSuite(w.member, "one"), w.newSuite(w.member, "two")
	whole := w.nightly(tree{"startDate": "2026-01-01", "endDate": "9000-12-31", "maxRuns": 7, "scTunnelName": "office",
		"buildName": "nightly"})
	made := w.newSchedule(w.member, tree{"name": "old", "settings": whole, "testSuiteIds": []string{one}})
	path := "/test-schedules/" + made["id"].(string)
	for _, text := range []string{``, `{}`, `{"name":null,"stateName":null}`, `{"settings":{}}`, `{"settings":{"maxRuns":7}}`} {
		require.Equal(t, made, w.ok(w.both, 200, "POST", path, text), "%s changes nothing", text)
	}
	bare := w.ok(w.member, 201, "POST", "/test-schedules", `{"name":"bare","settings":{}}`)
	require.Empty(t, bare["settings"])
	require.Equal(t, bare, w.ok(w.both, 200, "POST", "/test-schedules/"+bare["id"].(string),
		asJSON(t, tree{"settings": bare["settings"]})), "as it was read")
	settings := made["settings"].(tree)
	for _, step := range []struct {
		text  string
		name  string
		after func()
		state string
		suite []any
	}{
		{`{"name":"new"}`, "new", func() {}, "ENABLED", []any{one}},
		{`{"settings":{"maxRuns":null,"buildName":null,"scTunnelName":null}}`, "new",
			func() { delete(settings, "maxRuns"); delete(settings, "buildName"); delete(settings, "scTunnelName") }, "ENABLED", []any{one}},
		{`{"settings":{"startDate":null,"endDate":null,"cron":"@hourly"}}`, "new",
			func() { delete(settings, "startDate"); delete(settings, "endDate"); settings["cron"] = "@hourly" }, "ENABLED", []any{one}},
		{p(`{"testSuiteIds":[%q,%q],"stateName":"DISABLED"}`, two, one), "new", func() {}, "DISABLED", []any{two, one}},
		{`{"settings":{"maxRuns":2},"stateName":"ENABLED","name":"newer"}`, "newer", func() { settings["maxRuns"] = 2.0 },
			"ENABLED", []any{two, one}},
		{`{"testSuiteIds":null}`, "newer", func() {}, "DISABLED", []any{}},
		{p(`{"testSuiteIds":[%q]}`, one), "newer", func() {}, "DISABLED", []any{one}},
		{`{"settings":null}`, "newer", func() { clear(settings) }, "DISABLED", []any{one}},
	} {
		got := w.ok(w.both, 200, "POST", path, step.text)
		step.after()
		requireMembers(t, got, tree{"name": step.name, "settings": settings, "testSuiteIds": step.suite,
			"creatorUserId": w.member.UserUUID.String(), "lastModifierUserId": w.both.UserUUID.String()})
		require.Equal(t, step.state, got["state"].(tree)["stateName"], step.text)
		require.Equal(t, step.state == "ENABLED", got["state"].(tree)["nextRunDate"] != nil, step.text)
		require.Equal(t, got, w.ok(w.neighbor, 200, "GET", path, ""), step.text)
	}
	for text, says := range map[string]string{`{"settings":{"cron":"@daily"}}`: "settings.timezone", `{"stateName":"ENABLED"}`: "settings",
		`{"name":""}`: "name"} {
		w.refused(w.member, 400, "INVALID_BODY", "POST", path, text, says)
	}
	w.ok(w.member, 200, "POST", path, asJSON(t, tree{"settings": whole, "stateName": "ENABLED"}))
	for _, name := range []string{"cron", "timezone", "runningUserId"} {
		w.refused(w.member, 400, "INVALID_BODY", "POST", path, p(`{"settings":{%q:null}}`, name), "settings."+name+": is required")
	}
}

func TestEnableAndDisableSchedule(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	made := w.newSchedule(w.member, tree{"settings": w.nightly(nil), "testSuiteIds": []string{w.newSuite(w.member, "suite")}})
	path := "/test-schedules/" + made["id"].(string)
	for _, text := range []string{`{"stateName":"ENABLED"}`, `{"name":"other"}`, `[`} {
		w.refused(w.member, 400, "INVALID_BODY", "POST", path+"/disable", text)
		w.refused(w.member, 400, "INVALID_BODY", "POST", path+"/enable", text)
	}
	for _, text := range []string{``, `{}`} {
		got := w.ok(w.member, 200, "POST", path+"/disable", text)
		require.Equal(t, tree{"stateName": "DISABLED", "runCount": 0.0}, got["state"])
		require.Equal(t, made["name"], got["name"], "a body says nothing")
		require.Equal(t, got, w.ok(w.member, 200, "POST", path+"/disable", text), "twice is as good as once")
		got = w.ok(w.member, 200, "POST", path+"/enable", text)
		require.Equal(t, made["state"], got["state"])
		require.Equal(t, "At 02:30", got["cronDescription"])
	}
	empty := "/test-schedules/" + w.newSchedule(w.member, nil)["id"].(string)
	w.refused(w.member, 400, "INVALID_BODY", "POST", empty+"/enable", ``, "settings")
	w.ok(w.member, 200, "POST", empty+"/disable", ``)
}

func TestDeleteSchedule(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	path := "/test-schedules/" + w.newSchedule(w.member, tree{"settings": w.nightly(nil)})["id"].(string)
	w.ok(w.member, 204, "DELETE", path, "")
	w.refused(w.member, 404, "TEST_SCHEDULE_NOT_FOUND", "GET", path, "")
	w.refused(w.member, 404, "TEST_SCHEDULE_NOT_FOUND", "DELETE", path, "")
	require.Equal(t, 1, w.count(`select count(*) from audit_events where type = $1`, account.ScheduleDeleted))
}

func TestScheduleIsOfItsTeam(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	tester := w.person(w.ours, "tester", account.Tester, w.one)
	suite := w.newSuite(w.member, "suite", w.newCase(w.member, "case", nil))
	id := w.newSchedule(w.member, tree{"settings": w.nightly(nil), "testSuiteIds": []string{suite}})["id"].(string)
	for _, r := range []struct{ method, end string }{{"GET", ""}, {"POST", ""}, {"DELETE", ""}, {"POST", "/enable"}, {"POST", "/disable"},
		{"POST", "/run"}, {"GET", "/runs"}} {
		w.refused(w.stranger, 404, "TEST_SCHEDULE_NOT_FOUND", r.method, "/test-schedules/"+id+r.end, ``)
		w.refused(w.member, 404, "TEST_SCHEDULE_NOT_FOUND", r.method, "/test-schedules/"+noUUID+r.end, ``)
		w.refused(w.member, 400, "INVALID_PARAMS", r.method, "/test-schedules/7"+r.end, ``, "id")
		w.refused(tester, 403, "FORBIDDEN", r.method, "/test-schedules/"+id+r.end, ``)
		if r.method != "GET" {
			w.refused(w.neighbor, 403, "FORBIDDEN", r.method, "/test-schedules/"+id+r.end, `{}`)
		}
	}
	w.refused(tester, 403, "FORBIDDEN", "GET", "/test-schedules", ``)
	w.refused(tester, 403, "FORBIDDEN", "POST", "/test-schedules", ``)
	require.Zero(t, w.count(`select count(*) from suite_runs`))
	w.ok(w.owner, 200, "POST", "/test-schedules/"+id, `{"name":"by an owner"}`)
}
