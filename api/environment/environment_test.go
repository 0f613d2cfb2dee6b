package environment_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/gin-gonic/gin"
	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/api/auth"
	handlers "github.com/slipway-qa/slipway/api/environment"
	"github.com/slipway-qa/slipway/api/route/routetest"
	"github.com/slipway-qa/slipway/cmd/localservice/servicetest"
	"github.com/slipway-qa/slipway/cmd/localservice/servicetest/fixture"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/authoring"
)

func TestMain(m *testing.M) {
	gin.SetMode(gin.ReleaseMode)
	os.Exit(servicetest.Main(m))
}

const base = "/v1/ai-authoring/environments"

// secret is in no answer.
const secret = "hunter2-secret"

type object = map[string]any

// world is an organization behind the handlers, with keys of its people.
type world struct {
	*fixture.Tests
	engine                           *gin.Engine
	owner, member, neighbor, outside string
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{Tests: fixture.NewTests(t)}
	authenticator, err := auth.New(auth.Config{DB: w.DB, Region: fixture.Region})
	require.NoError(t, err)
	h, err := handlers.New(handlers.Config{DB: w.DB, SealKeys: fixture.SealKey, Vendor: "slipway",
		CheckURL: func(_ context.Context, address string) error {
			if strings.Contains(address, "metadata") {
				return errors.New("the address is refused")
			}
			return nil
		}})
	require.NoError(t, err)
	w.engine = routetest.Engine(routetest.ByCredentials(authenticator), h.Routes()...)
	w.owner, w.member = w.Org.Owner.Key(account.KindAPI), w.Org.Member.Key(account.KindAPI)
	w.neighbor, w.outside = w.Org.Neighbor.Key(account.KindAPI), w.Rival.Owner.Key(account.KindAPI)
	return w
}

func (w *world) call(want int, key, method, path string, body any, header ...string) (object, http.Header) {
	w.T.Helper()
	var reader io.Reader = http.NoBody
	if body != nil {
		doc, err := json.Marshal(body)
		require.NoError(w.T, err)
		reader = bytes.NewReader(doc)
	}
	r := httptest.NewRequestWithContext(w.T.Context(), method, path, reader)
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("X-API-Key", key)
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	rec := httptest.NewRecorder()
	w.engine.ServeHTTP(rec, r)
	require.Equal(w.T, want, rec.Code, "%s %s %v: %s", method, path, body, rec.Body)
	require.NotContains(w.T, rec.Body.String(), secret)
	answer := object{}
	if rec.Body.Len() > 0 {
		require.NoError(w.T, json.Unmarshal(rec.Body.Bytes(), &answer), rec.Body)
	}
	if data, ok := answer["data"].(object); ok {
		return data, rec.Header()
	}
	return answer, rec.Header()
}

// refused makes a call that is refused with a code, for what the text names.
func (w *world) refused(want int, code, says, key, method, path string, body any, header ...string) {
	w.T.Helper()
	answer, _ := w.call(want, key, method, path, body, header...)
	failure := answer["error"].(object)
	require.Equal(w.T, code, failure["code"], "%v", answer)
	require.Contains(w.T, failure["detail"], says)
}

func TestEnvironments(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	made, header := w.call(201, w.owner, "POST", base, object{"name": "staging", "testUrl": "https://staging.example.com", "tunnel": "office",
		"variables": object{"country": "de"}, "secrets": object{"password": secret},
		"headers": object{"X-Tenant": "{{country}}", "Authorization": "Bearer " + secret},
		"targets": []object{{"capabilities": object{"browserName": "firefox"}}}})
	require.Equal(t, `"1"`, header.Get("ETag"))
	for member, want := range map[string]any{"name": "staging", "teamId": nil, "testUrl": "https://staging.example.com", "tunnel": "office",
		"variables": object{"country": "de"}, "secretNames": []any{"password"}, "headers": object{"x-tenant": "{{country}}"},
		"secretHeaders": []any{"authorization"}, "version": 1.0,
		"targets": []any{object{"capabilities": object{"browserName": "firefox"}, "isRdc": false}}} {
		require.Equal(t, want, made[member], member)
	}
	path := base + "/" + made["id"].(string)
	read, _ := w.call(200, w.neighbor, "GET", path, nil)
	require.Equal(t, made, read)
	w.refused(404, "ENVIRONMENT_NOT_FOUND", "", w.outside, "GET", path, nil)
	list, _ := w.call(200, w.member, "GET", base+"?search=stag&limit=5", nil)
	require.Equal(t, []any{1.0, made}, []any{list["total"], list["items"].([]any)[0]})

	w.refused(412, "ENVIRONMENT_VERSION_CONFLICT", "", w.owner, "PATCH", path, object{"testUrl": "https://x.example.com", "version": 2})
	w.refused(412, "ENVIRONMENT_VERSION_CONFLICT", "", w.owner, "PATCH", path, object{"testUrl": "https://x.example.com"}, "If-Match", `"9"`)
	changed, header := w.call(200, w.owner, "PATCH", path, object{"name": "staging", "secrets": object{"password": nil, "pin": secret},
		"headers": object{"authorization": nil}, "targets": []object{}}, "If-Match", `"1"`)
	require.Equal(t, `"2"`, header.Get("ETag"))
	require.Equal(t, []any{[]any{"pin"}, []any{}, []any{}, object{"country": "de"}},
		[]any{changed["secretNames"], changed["secretHeaders"], changed["targets"], changed["variables"]})

	team := w.Org.Team.UUID.String()
	ours, _ := w.call(201, w.member, "POST", base, object{"name": "ours", "teamId": team})
	require.Equal(t, team, ours["teamId"])
	w.refused(403, "ENVIRONMENT_FORBIDDEN", "", w.member, "POST", base, object{"name": "everybodys"})
	w.refused(403, "ENVIRONMENT_FORBIDDEN", "", w.neighbor, "PATCH", base+"/"+ours["id"].(string), object{"testUrl": ""})
	w.refused(403, "ENVIRONMENT_FORBIDDEN", "", w.member, "DELETE", path, nil)
	w.refused(409, "ENVIRONMENT_NAME_CONFLICT", "", w.owner, "POST", base, object{"name": "ours"})
	ofTeam, _ := w.call(200, w.member, "GET", base+"?teamId="+team, nil)
	require.Equal(t, 1.0, ofTeam["total"])

	w.call(204, w.owner, "DELETE", path, nil)
	w.refused(404, "ENVIRONMENT_NOT_FOUND", "", w.owner, "PATCH", path, object{})
	require.Zero(t, w.Count(`select count(*) from audit_events where position($1 in detail::text) > 0`, secret))
}

// The default of a suite is not deleted before the suite has another.
func TestDefaultIsNotDeleted(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	made, _ := w.call(201, w.owner, "POST", base, object{"name": "staging"})
	path := base + "/" + made["id"].(string)
	suite := w.NewSuite(w.Org.Member.Writer, "smoke")
	for _, name := range []string{"staging", ""} {
		w.UpdateSuite(w.Org.Member.Writer, suite.ID, authoring.SuiteChange{DefaultEnvironment: &name})
		if name != "" {
			w.refused(409, "ENVIRONMENT_IN_USE", `the default environment of "smoke" (`+suite.ID.String()+`)`, w.owner, "DELETE", path, nil)
		}
	}
	w.call(204, w.owner, "DELETE", path, nil)
}

func TestRefusedBodies(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	made, _ := w.call(201, w.owner, "POST", base, object{"name": "staging"})
	path := base + "/" + made["id"].(string)
	for _, c := range []struct {
		says string
		body object
	}{
		{"name", object{}},
		{"name", object{"name": "Two Words"}},
		{"version", object{"name": "a", "version": 1}},
		{"teamId", object{"name": "a", "teamId": "x"}},
		{"teamId", object{"name": "a", "teamId": uuid.NewString()}},
		{"testUrl", object{"name": "a", "testUrl": "http://metadata.example.com"}},
		{"testUrl", object{"name": "a", "testUrl": "ftp://example.com"}},
		{"retries", object{"name": "a", "retries": 3}},
		{"targets[0].capabilities", object{"name": "a", "targets": []object{{}}}},
		{"targets[0].browser", object{"name": "a", "targets": []object{{"browser": "chrome"}}}},
		{"targets[1]", object{"name": "a", "targets": []object{{"capabilities": object{"browserName": "chrome"}},
			{"capabilities": object{"browserName": "chrome", "goog:chromeOptions": object{"binary": "/bin/sh"}}}}}},
		{"variables", object{"name": "a", "variables": []string{"x"}}},
		{"headers.host", object{"name": "a", "testUrl": "https://a.example.com", "headers": object{"Host": "b"}}},
	} {
		w.refused(400, "INVALID_BODY", c.says, w.owner, "POST", base, c.body)
	}
	w.refused(400, "INVALID_BODY", "name", w.owner, "PATCH", path, object{"name": "other"})
	w.refused(400, "INVALID_BODY", "teamId", w.owner, "PATCH", path, object{"teamId": w.Org.Team.UUID.String()})
	w.refused(400, "INVALID_BODY", "version", w.owner, "PATCH", path, object{"version": 0})
	w.refused(400, "INVALID_PARAMS", "id", w.owner, "GET", base+"/x", nil)
	for _, query := range []string{"limit=x", "skip=-1", "skip=1000001", "teamId=x"} {
		w.refused(400, "INVALID_QUERY", strings.Split(query, "=")[0], w.owner, "GET", base+"?"+query, nil)
	}
}
