package schedule

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/api/authoring/problem"
	"github.com/slipway-qa/slipway/api/authoring/request"
	"github.com/slipway-qa/slipway/api/respond"
	"github.com/slipway-qa/slipway/storage/schedule"
)

// bodyOf reads a text as the body of a request.
func bodyOf(t testing.TB, text string) (in scheduleBody, err error) {
	t.Helper()
	c, _ := gin.CreateTestContext(httptest.NewRecorder())
	c.Request = httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/", strings.NewReader(text))
	err = request.Read(c, &in, request.NewWords(Vocabulary()))
	return in, err
}

// requireRefusal: what strangers send is either taken or refused with a 4xx that
// says why.
func requireRefusal(t *testing.T, err error) {
	t.Helper()
	p := respond.Explain(problem.Coded(err, problem.TestSchedule))
	if p.Status >= http.StatusInternalServerError || p.Text == "" {
		t.Fatalf("answered with %d %q: %v", p.Status, p.Text, err)
	}
}

func given[T any](value T) schedule.Member[T] {
	return schedule.Member[T]{Given: true, Value: &value}
}

func TestScheduleSettingsAreRead(t *testing.T) {
	t.Parallel()
	user := uuid.MustParse("01890000-0000-7000-8000-00000000000f")
	day := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	lastOfDay := day.Add(24*time.Hour - time.Microsecond)
	for text, want := range map[string]*schedule.SettingsChange{
		`{}`:                {},
		`{"cron":null}`:     {Cron: schedule.Member[string]{Given: true}},
		`{"CRON":"@daily"}`: {Cron: given("@daily")}, // names of members are taken in any case, as everywhere
		`{"cron":"a","cron":"b","timezone":"UTC","timezone":null}`: {Cron: given("b"), Timezone: schedule.Member[string]{Given: true}},
		`{"runningUserId":"0189000000007000800000000000000F"}`:     {RunningUser: given(user)},
		`{"runningUserId":"` + user.String() + `","maxRuns":3}`:    {RunningUser: given(user), MaxRuns: given(3)},
		`{"startDate":"2026-03-01","endDate":"2026-03-01"}`:        {StartAt: given(day), EndAt: given(lastOfDay)},
		`{"startDate":"2026-03-01T02:00:00+02:00","endDate":null}`: {StartAt: given(day), EndAt: schedule.Member[time.Time]{Given: true}},
		`{"endDate":"2026-03-01T00:00:00Z"}`:                       {EndAt: given(day)},
		`{"endDate":"9999-12-31"}`:                                 {EndAt: given(time.Date(9999, 12, 31, 23, 59, 59, 999999000, time.UTC))},
		`{"scTunnelName":"office","buildName":"","maxRuns":-1}`:    {Tunnel: given("office"), BuildName: given(""), MaxRuns: given(-1)},
		`null`: {Remove: true},
	} {
		got, err := readScheduleSettings(json.RawMessage(text))
		require.NoError(t, err, text)
		require.Equal(t, want, got, text)
	}
	got, err := readScheduleSettings(nil)
	require.NoError(t, err)
	require.Nil(t, got)
}

// badSettings are settings of the wrong type or form, and how they are refused.
var badSettings = map[string]string{
	`7`: "settings: must be an object", `[]`: "settings: must be an object", `"x"`: "settings: must be an object",
	`{"cron":7}`: "settings.cron: must be a string", `{"cron":["* * * * *"]}`: "settings.cron: must be a string",
	`{"cron":"* * * * *\u0000"}`: "settings: must not hold", `{"timezone":{}}`: "settings.timezone: must be a string",
	`{"maxRuns":1.5}`: "settings.maxRuns: must be a whole number", `{"maxRuns":"3"}`: "settings.maxRuns: must be a whole number",
	`{"maxRuns":1e400}`: "settings.maxRuns: must be a whole number", `{"maxRuns":true}`: "settings.maxRuns: must be a whole number",
	`{"maxRuns":99999999999999999999}`:                           "settings.maxRuns: must be a whole number",
	`{"runningUserId":"7"}`:                                      "settings.runningUserId: must be a UUID",
	`{"runningUserId":""}`:                                       "settings.runningUserId: must be a UUID",
	`{"runningUserId":"{01890000-0000-7000-8000-000000000000}"}`: "settings.runningUserId: must be a UUID",
	`{"runningUserId":7}`:                                        "settings.runningUserId: must be a string",
	`{"startDate":"tomorrow"}`:                                   "settings.startDate: must be a date",
	`{"startDate":""}`:                                           "settings.startDate: must be a date",
	`{"startDate":1772323200}`:                                   "settings.startDate: must be a string",
	`{"endDate":"2026-02-30"}`:                                   "settings.endDate: must be a date",
	`{"endDate":"2026-03-01T25:00Z"}`:                            "settings.endDate: must be a date",
	`{"endDate":["2026-03-01"]}`:                                 "settings.endDate: must be a string",
	`{"scTunnelName":false}`:                                     "settings.scTunnelName: must be a string",
	`{"buildName":{}}`:                                           "settings.buildName: must be a string",
	`{"maxRuns":1,"maxRuns":"2"}`:                                "settings.maxRuns: must be a whole number",
}

func TestScheduleBodyIsRefused(t *testing.T) {
	t.Parallel()
	bad := map[string]string{
		`[]`: "object", `{`: "object", `{"name":7}`: "name: must be a string", `{"name":"x\u0000"}`: "name",
		`{"stateName":1}`: "stateName: must be a string", `{"stateName":"RUNNING"}`: "stateName: must be ENABLED or DISABLED",
		`{"stateName":"ERRORED"}`: "stateName", `{"stateName":"enabled"}`: "stateName", `{"stateName":""}`: "stateName",
		`{"testSuiteIds":"7"}`: "testSuiteIds: must be an array", `{"testSuiteIds":[7]}`: "testSuiteIds[0]: must be a string",
		`{"testSuiteIds":{}}`: "testSuiteIds: must be an array",
		`{"testSuiteIds":["01890000-0000-7000-8000-000000000000",[]]}`: "testSuiteIds[1]: must be a string",
	}
	for text, says := range badSettings {
		bad[`{"settings":`+text+`}`] = says
	}
	for text, says := range bad {
		in, err := bodyOf(t, text)
		if err == nil {
			_, err = in.change()
		}
		p := respond.Explain(problem.Coded(err, problem.TestSchedule))
		require.Equal(t, http.StatusBadRequest, p.Status, text)
		require.Empty(t, p.Authoring, "%s is INVALID_BODY", text)
		require.Contains(t, p.Text, says, text)
	}
	for text, says := range map[string]string{`{"name":" "}`: "name", `{"name":""}`: "name", `{"teamId":"7"}`: "teamId",
		`{"teamId":[]}`: "teamId"} {
		in, err := bodyOf(t, text)
		if err == nil {
			_, err = in.create()
		}
		require.ErrorContains(t, err, says, text)
	}
}

func TestSuitesOfScheduleAreRead(t *testing.T) {
	t.Parallel()
	one, two := uuid.Max, uuid.MustParse("01890000-0000-7000-8000-000000000000")
	for text, want := range map[string][]uuid.UUID{
		`null`: {}, `[]`: {},
		`["` + two.String() + `","FFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFF","` + one.String() + `"]`: {two, one},
	} {
		got, err := readSuiteIDs(json.RawMessage(text))
		require.NoError(t, err, text)
		require.Equal(t, &want, got, text)
	}
	got, err := readSuiteIDs(nil)
	require.NoError(t, err)
	require.Nil(t, got)

	many := make([]string, schedule.MaxSuites+1)
	for i := range many {
		many[i] = fmt.Sprintf(`"01890000-0000-7000-8000-%012d"`, i)
	}
	got, err = readSuiteIDs(json.RawMessage("[" + strings.Join(many[1:], ",") + "," + many[1] + "]"))
	require.NoError(t, err)
	require.Len(t, *got, schedule.MaxSuites)
	for text, says := range map[string]string{
		`["7"]`: "testSuiteIds[0]: must be a UUID", `["` + one.String() + `",""]`: "testSuiteIds[1]: must be a UUID",
		`[null]`: "testSuiteIds[0]", "[" + strings.Join(many, ",") + "]": "at most 50 elements",
	} {
		_, err := readSuiteIDs(json.RawMessage(text))
		p := respond.Explain(problem.Coded(err, problem.TestSchedule))
		require.Equal(t, http.StatusBadRequest, p.Status, text)
		require.Equal(t, problem.CodeInvalidSuites, p.Authoring, text)
		require.Contains(t, p.Text, says, text)
	}
}

func FuzzSchedule(f *testing.F) {
	for text := range badSettings {
		f.Add(`{"settings":` + text + `}`)
	}
	f.Add(`{"name":"a","stateName":"ENABLED","testSuiteIds":["01890000-0000-7000-8000-000000000000"],"settings":{"cron":"@daily",` +
		`"timezone":"UTC",` +
		`"runningUserId":"01890000000070008000000000000000","startDate":"2026-01-01","endDate":"99991231T235959-2359","maxRuns":1}}`)
	f.Add(`{"settings":null,"testSuiteIds":null,"name":null,"teamId":null,"stateName":null}`)
	f.Fuzz(func(t *testing.T, text string) {
		in, err := bodyOf(t, text)
		var n schedule.NewSchedule
		if err == nil {
			n, err = in.create()
		}
		if err != nil {
			requireRefusal(t, err)
			return
		}
		if n.Suites == nil || len(n.Suites) > schedule.MaxSuites {
			t.Fatalf("%q has %d suites", text, len(n.Suites))
		}
		if s := n.Settings; s != nil {
			for _, at := range []*time.Time{s.StartAt.Value, s.EndAt.Value} {
				if at != nil && (at.Year() < 1970 || at.Year() > 9999) {
					t.Fatalf("%q has the time %v", text, at)
				}
			}
		}
	})
}
