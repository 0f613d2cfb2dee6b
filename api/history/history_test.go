package history_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/gin-gonic/gin"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/api/auth"
	"github.com/slipway-qa/slipway/api/authoring"
	"github.com/slipway-qa/slipway/api/authoring/handler"
	handlers "github.com/slipway-qa/slipway/api/history"
	"github.com/slipway-qa/slipway/api/route/routetest"
	"github.com/slipway-qa/slipway/cmd/localservice/servicetest"
	"github.com/slipway-qa/slipway/cmd/localservice/servicetest/fixture"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/run"
)

func TestMain(m *testing.M) {
	gin.SetMode(gin.ReleaseMode)
	os.Exit(servicetest.Main(m))
}

// world is an organization behind the handlers of tests and of their histories.
type world struct {
	*fixture.Tests
	engine                  *gin.Engine
	member, neighbor, rival string // keys
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{Tests: fixture.NewTests(t)}
	authenticator, err := auth.New(auth.Config{DB: w.DB, Region: fixture.Region})
	require.NoError(t, err)
	tests, err := authoring.New(handler.Config{DB: w.DB, SealKeys: fixture.SealKey, PublicURL: "https://slipway.example.com",
		Vendor:   "slipway",
		CheckURL: func(context.Context, string) error { return nil }})
	require.NoError(t, err)
	h, err := handlers.New(handlers.Config{DB: w.DB, Tests: tests.Base(), PublicURL: "https://slipway.example.com/"})
	require.NoError(t, err)
	w.engine = routetest.Engine(routetest.ByCredentials(authenticator), append(h.Routes(), tests.Routes()...)...)
	w.member, w.neighbor, w.rival = w.Org.Member.Key(account.KindAPI), w.Org.Neighbor.Key(account.KindAPI), w.Rival.Owner.Key(account.KindAPI)
	return w
}

type object = map[string]any

const (
	cases  = "/v1/ai-authoring/testcases/"
	suites = "/v1/ai-authoring/testsuites/"
)

// must sends a request with a key, and returns what the answer holds.
func (w *world) must(want int, key, method, path, body string) object {
	w.T.Helper()
	var reader io.Reader = http.NoBody
	if body != "" {
		reader = bytes.NewReader([]byte(body))
	}
	r := httptest.NewRequestWithContext(w.T.Context(), method, path, reader)
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("X-API-Key", key)
	rec := httptest.NewRecorder()
	w.engine.ServeHTTP(rec, r)
	require.Equal(w.T, want, rec.Code, "%s %s %s: %s", method, path, body, rec.Body)
	answer := object{}
	if rec.Body.Len() > 0 {
		require.NoError(w.T, json.Unmarshal(rec.Body.Bytes(), &answer), rec.Body)
	}
	for _, member := range []string{"data", "error"} {
		if inner, ok := answer[member].(object); ok {
			return inner
		}
	}
	return answer
}

func TestHistoryOfACase(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c := w.NewCase(w.Org.Member.Writer, "log in")
	path := cases + c.ID + "/history"
	got := w.must(200, w.member, "GET", path, "")
	require.Equal(t, []any{}, got["items"])
	require.Equal(t, false, got["more"])
	require.NotContains(t, got, "next")
	summary := got["summary"].(object)
	for member, want := range (object{"runs": 0.0, "flakyShare": nil, "passRate": nil, "meanMs": nil, "lastGood": nil, "failingSince": nil,
		"flakiness": object{"builds": 0.0, "buildNames": 0.0, "days": 0.0, "both": 0.0, "share": nil}}) {
		require.Equal(t, want, summary[member], member)
	}
	require.NotContains(t, summary, "cases")
	var ids []any
	for _, status := range []run.Status{run.Passed, run.Failed, run.Failed} {
		r := w.NewRun(c, 1)
		w.MustEnd(r.Jobs[0].ID, status)
		ids = append([]any{r.ID.String()}, ids...)
	}
	first := w.must(200, w.neighbor, "GET", path+"?limit=2", "")
	second := w.must(200, w.member, "GET", path+"?limit=2&cursor="+first["next"].(string), "")
	require.Equal(t, []any{true, false}, []any{first["more"], second["more"]})
	var seen []any
	for _, item := range append(first["items"].([]any), second["items"].([]any)...) {
		seen = append(seen, item.(object)["id"])
	}
	require.Equal(t, ids, seen)
	item := first["items"].([]any)[0].(object)
	for member, want := range (object{"status": "FAILED", "attempts": 1.0, "healed": 0.0, "flaky": 0.0, "build": "nightly",
		"link": "https://slipway.example.com/console/tests/cases/" + c.ID + "/runs/" + ids[0].(string)}) {
		require.Equal(t, want, item[member], member)
	}
	summary = first["summary"].(object)
	require.Equal(t, ids[1], summary["failingSince"].(object)["id"])
	require.Equal(t, ids[2], summary["lastGood"].(object)["id"])
	require.Equal(t, object{"builds": 0.0, "buildNames": 1.0, "days": 0.0, "both": 1.0, "share": 1.0}, summary["flakiness"])
	require.InDelta(t, 1.0/3, summary["passRate"], 0.001)
	require.Empty(t, w.must(200, w.member, "GET", path+"?target=firefox", "")["items"])
	require.Empty(t, w.must(200, w.member, "GET", path+"?environment=staging", "")["items"])
	require.Empty(t, w.must(200, w.member, "GET", path+"?endDate=2020-01-01", "")["items"])

	require.Equal(t, "TEST_CASE_NOT_FOUND", w.must(404, w.rival, "GET", path, "")["code"])
	for _, query := range []string{"skip=10001", "before=1", "cursor=x", "cursor=" + strings.Repeat("_", 32),
		"target=" + strings.Repeat("x", 101), "target=%00",
		"buildId=x", "startDate=x"} {
		name, _, _ := strings.Cut(query, "=")
		refused := w.must(400, w.member, "GET", path+"?"+query, "")
		require.Equal(t, "INVALID_QUERY", refused["code"], query)
		require.Contains(t, refused["detail"], name, query)
	}
}

func TestHistoryOfASuite(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	r, jobs := w.SuiteRun(2, 1)
	w.MustEnd(jobs[0], run.Passed)
	w.MustEnd(jobs[1], run.Failed)
	path := suites + r.SuiteID.String() + "/history"
	got := w.must(200, w.member, "GET", path, "")
	item := got["items"].([]any)[0].(object)
	require.Equal(t, object{"passed": 1.0, "failed": 1.0, "error": 0.0, "cancelled": 0.0, "open": 0.0, "quarantined": 0.0}, item["cases"])
	top := got["summary"].(object)["cases"].(object)
	require.Equal(t, 1.0, top["runs"])
	require.Len(t, top["slowest"], 2)
	require.Equal(t, []any{}, top["flakiest"])
	require.Equal(t, "INVALID_QUERY", w.must(400, w.member, "GET", path+"?target=chrome", "")["code"])
	require.Equal(t, "TEST_SUITE_NOT_FOUND", w.must(404, w.rival, "GET", path, "")["code"])
}

func TestPinsOverTheAPI(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c := w.NewCase(w.Org.Member.Writer, "log in")
	one := w.NewRun(c, 1)
	path := cases + c.ID + "/runs/" + one.ID.String()
	pinned := w.must(200, w.member, "POST", path+"/pin", "")["pinned"].(object)
	require.Equal(t, w.Org.Member.Writer.UserUUID.String(), pinned["userId"])
	require.Equal(t, pinned, w.must(200, w.member, "POST", path+"/pin", "{}")["pinned"], "it stays as it is")
	require.Equal(t, pinned, w.must(200, w.member, "GET", path, "")["pinned"])
	require.Equal(t, pinned, w.must(200, w.member, "GET", cases+c.ID+"/history", "")["items"].([]any)[0].(object)["pinned"])
	require.Equal(t, "TEST_CASE_RUN_NOT_FOUND", w.must(404, w.rival, "POST", path+"/pin", "")["code"])
	require.Equal(t, "TEST_CASE_RUN_NOT_FOUND", w.must(404, w.member, "POST", cases+strings.Repeat("0", 24)+"/runs/"+
		one.ID.String()+"/pin", "")["code"])
	require.Equal(t, "INVALID_PARAMS", w.must(400, w.member, "POST", cases+c.ID+"/runs/x/pin", "")["code"])
	w.must(204, w.member, "DELETE", path+"/pin", "")
	w.must(409, w.member, "DELETE", path+"/pin", "")
	require.NotContains(t, w.must(200, w.member, "GET", path, ""), "pinned")

	suite, _ := w.SuiteRun(1, 1)
	path = suites + suite.SuiteID.String() + "/runs/" + suite.ID.String()
	w.must(200, w.member, "POST", path+"/pin", "")
	require.Contains(t, w.must(200, w.member, "GET", path, ""), "pinned")
	require.Equal(t, "TEST_CASE_RUN_NOT_FOUND", w.must(404, w.rival, "DELETE", path+"/pin", "")["code"])
	w.must(204, w.member, "DELETE", path+"/pin", "")
}

func TestRetentionOfASuite(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	made := w.must(201, w.member, "POST", strings.TrimSuffix(suites, "/"), `{"name":"smoke","runRetention":{"days":30}}`)
	require.Equal(t, object{"days": 30.0, "runs": nil}, made["runRetention"])
	path := suites + made["id"].(string)
	for body, want := range map[string]object{`{"runRetention":{"days":7,"runs":100}}`: {"days": 7.0, "runs": 100.0},
		`{"runRetention":null}`: {"days": nil, "runs": nil}} {
		require.Equal(t, want, w.must(200, w.member, "POST", path, body)["runRetention"])
		require.Equal(t, want, w.must(200, w.member, "GET", path, "")["runRetention"])
	}
	for body, field := range map[string]string{`{"runRetention":{"days":0}}`: "runRetention.days",
		`{"runRetention":{"runs":10001}}`: "runRetention.runs",
		`{"runRetention":{"weeks":1}}`:    "runRetention.weeks", `{"runRetention":7}`: "runRetention"} {
		refused := w.must(400, w.member, "POST", path, body)
		require.Equal(t, "INVALID_BODY", refused["code"], body)
		require.Contains(t, refused["detail"], field, body)
	}
}
