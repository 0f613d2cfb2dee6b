package authoring_test

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
)

func TestScheduleRefusesBodies(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	suite := w.newSuite(w.member, "suite")
	made := w.newSchedule(w.member, tree{"name": "kept", "settings": w.nightly(nil), "testSuiteIds": []string{suite}})
	path := "/test-schedules/" + made["id"].(string)
	long := strings.Repeat("x", 256)
	with := func(name string, value any) string { return asJSON(t, tree{"settings": w.nightly(tree{name: value})}) }
	for text, says := range map[string]string{
		`[]`: "object", `{`: "object", `{"name":["x"]}`: "name: must be a string", `{"name":"` + long + `"}`: "name", `{"name":" "}`: "name",
		`{"name":"a\nb"}`: "name", `{"stateName":"PAUSED"}`: "stateName", `{"stateName":"RUNNING"}`: "stateName",
		`{"settings":7}`: "settings: must be an object", `{"testSuiteIds":[7]}`: "testSuiteIds[0]: must be a string",
		with("maxRuns", 0): "settings.maxRuns", with("maxRuns", -1): "settings.maxRuns", with("maxRuns", 1e12): "settings.maxRuns",
		with("maxRuns", 1.5): "settings.maxRuns", with("runningUserId", "7"): "settings.runningUserId",
		with("cron", 7): "settings.cron: must be a string", with("cron", nil): "settings.cron", with("timezone", nil): "settings.timezone",
		with("runningUserId", nil): "settings.runningUserId",
		with("timezone", ""):       "settings.timezone", with("timezone", "Mars/Olympus"): "settings.timezone",
		with("timezone", "Local"):               "settings.timezone",
		with("timezone", "../../etc/localtime"): "settings.timezone", with("timezone", "/etc/localtime"): "settings.timezone",
		with("timezone", long):     "settings.timezone",
		with("startDate", "soon"):  "settings.startDate",
		with("buildName", long):    "settings.buildName",
		with("buildName", "a\tb"):  "settings.buildName",
		with("scTunnelName", long): "settings.scTunnelName",
		asJSON(t, tree{"settings": w.nightly(tree{"startDate": "2026-03-02", "endDate": "2026-03-01"})}): "settings.endDate",
	} {
		w.refused(w.member, 400, "INVALID_BODY", "POST", "/test-schedules", text, says)
		w.refused(w.member, 400, "INVALID_BODY", "POST", path, text, says)
	}
	for text, says := range map[string]string{
		`{"settings":{"maxRuns":7}}`: "settings.cron", `{"settings":{"cron":"@daily"}}`: "settings.timezone",
		`{"settings":{"cron":"@daily","timezone":"UTC"}}`: "settings.runningUserId",
		`{"stateName":"ENABLED"}`:                         "settings", `{"teamId":"7"}`: "teamId", `{"teamId":"` +
			noUUID + `"}`: "teamId", `{"name":""}`: "name",
		asJSON(t, tree{"settings": w.nightly(nil),
			"stateName": "ENABLED"}): "testSuiteIds",
		asJSON(t, tree{"settings": w.nightly(tree{"endDate": "2026-01-01"}), "testSuiteIds": []string{suite},
			"stateName": "ENABLED"}): "settings.endDate",
	} {
		w.refused(w.member, 400, "INVALID_BODY", "POST", "/test-schedules", text, says)
	}
	require.Equal(t, made, w.ok(w.member, 200, "GET", path, ""), "what is refused changes nothing")
	require.Equal(t, 1, w.count(`select count(*) from test_schedules`))
}

// badCrons are malformed expressions, and where.
var badCrons = map[string]string{
	"": "5 fields", "* * * *": "5 fields", "* * * * * * *": "5 fields", "@nightly": "@yearly", strings.Repeat("* ", 129): "at most 256",
	"60 * * * * *": "second (position 1)", "* 60 * * * *": "minute (position 3)", "60 * * * *": "minute (position 1)",
	"x * * * *": "minute (position 1)", "*/0 * * * *": "minute (position 3)", "*/60 * * * *": "minute (position 3)",
	"1-70 * * * *": "minute (position 3)",
	"1,,2 * * * *": "minute (position 3)", "1, * * * *": "minute (position 3)", "? * * * *": "minute (position 1)",
	"-1 * * * *": "minute (position 1)", "0 24 * * *": "hour (position 3)", "0  24 * * *": "hour (position 4)",
	"0 0 0 * *": "day of month (position 5)", "0 0 32 * *": "day of month (position 5)", "0 0 1,L-31 * *": "day of month (position 9)",
	"0 0 32W * *": "day of month (position 5)", "0 0 * 13 *": "month (position 7)", "0 0 * FOO *": "month (position 7)",
	"0 0 * JAN-XYZ *": "month (position 11)", "0 0 * * 8": "day of week (position 9)", "0 0 * * MOON": "day of week (position 9)",
	"0 0 * * 5#6": "day of week (position 11)", "0 0 * * 9L": "day of week (position 9)", "0 0 * * MON,,": "day of week (position 13)",
	"0 0 31 2 *": "five years", "0 0 30 FEB ?": "five years",
}

func TestScheduleNamesWhatIsWrongWithCron(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	path := "/test-schedules/" + w.newSchedule(w.member, tree{"settings": w.nightly(nil)})["id"].(string)
	for text, says := range badCrons {
		w.refused(w.member, 400, "INVALID_BODY", "POST", "/test-schedules", asJSON(t, tree{"settings": w.nightly(tree{"cron": text})}),
			"settings.cron: ", says)
		w.refused(w.member, 400, "INVALID_BODY", "POST", path, asJSON(t, tree{"settings": tree{"cron": text}}), "settings.cron: ", says)
	}
}

func TestScheduleRefusesWhatIsNotThere(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	tester := w.person(w.ours, "tester", account.Tester, w.one)
	suite, others := w.newSuite(w.member, "suite"), w.newSuite(w.neighbor, "others")
	abroad := w.newSuite(w.stranger, "abroad")
	path := "/test-schedules/" + w.newSchedule(w.member, tree{"settings": w.nightly(nil), "testSuiteIds": []string{suite}})["id"].(string)
	suites := func(ids ...string) tree { return tree{"testSuiteIds": ids} }
	many := make([]string, 51)
	for i := range many {
		many[i] = p("01890000-0000-7000-8000-%012d", i)
	}
	for _, tc := range []struct {
		body       tree
		code, says string
	}{
		{suites(suite, noUUID), "TEST_SUITES_NOT_FOUND", noUUID},
		{suites(abroad), "TEST_SUITES_NOT_FOUND", abroad},
		{suites(suite, others), "INVALID_TEST_SUITES", others},
		{suites(suite, "7"), "INVALID_TEST_SUITES", "testSuiteIds[1]"},
		{suites(""), "INVALID_TEST_SUITES", "testSuiteIds[0]"},
		{suites(many...), "INVALID_TEST_SUITES", "at most 50"},
		{tree{"settings": w.nightly(tree{"runningUserId": noUUID})}, "RUNNING_USER_NOT_FOUND", "running user"},
		{tree{"settings": w.nightly(tree{"runningUserId": w.stranger.UserUUID})}, "RUNNING_USER_NOT_FOUND", "running user"},
		{tree{"settings": w.nightly(tree{"runningUserId": tester.UserUUID})}, "RUNNING_USER_NOT_FOUND", "may run tests"},
		{tree{"settings": w.nightly(tree{"scTunnelName": "nowhere"})}, "SC_TUNNEL_NOT_FOUND", "tunnel"},
	} {
		w.refused(w.member, 400, tc.code, "POST", "/test-schedules", asJSON(t, tc.body), tc.says)
		w.refused(w.member, 400, tc.code, "POST", path, asJSON(t, tc.body), tc.says)
	}
	// A person is named by that person and by admins.
	other := tree{"settings": w.nightly(tree{"runningUserId": w.both.UserUUID})}
	w.refused(w.member, 403, "FORBIDDEN", "POST", "/test-schedules", asJSON(t, other), "settings.runningUserId", "another person")
	w.refused(w.member, 403, "FORBIDDEN", "POST", path, asJSON(t, other), "settings.runningUserId", "another person")
	w.ok(w.owner, 200, "POST", path, asJSON(t, other))
	w.ok(w.member, 200, "POST", path, asJSON(t, tree{"name": "renamed", "settings": tree{"runningUserId": w.both.UserUUID, "cron": "@daily"}}))
	w.refused(w.member, 403, "FORBIDDEN", "POST", path, asJSON(t, tree{"settings": tree{"runningUserId": w.owner.UserUUID}}), "another person")
	var robot *account.User
	w.tx(func(ctx context.Context, tx *storage.Tx) (err error) {
		robot, err = account.CreateServiceAccount(ctx, tx, account.CLI(), account.NewServiceAccount{OrganizationID: w.ours.ID,
			Name: "robot", Role: account.Member, TeamID: w.one.ID, Username: "robot"})
		return err
	})
	got := w.ok(w.member, 200, "POST", path, asJSON(t, tree{"settings": tree{"runningUserId": robot.UUID}}))
	require.Equal(t, robot.UUID.String(), got["settings"].(tree)["runningUserId"], "a service account may run tests")
}
