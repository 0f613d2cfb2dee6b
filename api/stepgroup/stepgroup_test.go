package stepgroup_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"testing"

	"github.com/gin-gonic/gin"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/api/auth"
	"github.com/slipway-qa/slipway/api/authoring"
	"github.com/slipway-qa/slipway/api/authoring/handler"
	"github.com/slipway-qa/slipway/api/route/routetest"
	handlers "github.com/slipway-qa/slipway/api/stepgroup"
	"github.com/slipway-qa/slipway/cmd/localservice/servicetest"
	"github.com/slipway-qa/slipway/cmd/localservice/servicetest/fixture"
	"github.com/slipway-qa/slipway/storage/account"
)

func TestMain(m *testing.M) {
	gin.SetMode(gin.ReleaseMode)
	os.Exit(servicetest.Main(m))
}

// world is an organization behind the handlers of tests and of their groups.
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
	h, err := handlers.New(handlers.Config{DB: w.DB, Tests: tests.Base()})
	require.NoError(t, err)
	w.engine = routetest.Engine(routetest.ByCredentials(authenticator), append(h.Routes(), tests.Routes()...)...)
	w.member, w.neighbor, w.rival = w.Org.Member.Key(account.KindAPI), w.Org.Neighbor.Key(account.KindAPI), w.Rival.Owner.Key(account.KindAPI)
	return w
}

type object = map[string]any

const (
	groups = "/v1/ai-authoring/step-groups"
	cases  = "/v1/ai-authoring/testcases"
	suites = "/v1/ai-authoring/testsuites"
)

// must sends JSON with a key, and returns what the answer holds.
func (w *world) must(want int, key, method, path string, body any) object {
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
	rec := httptest.NewRecorder()
	w.engine.ServeHTTP(rec, r)
	require.Equal(w.T, want, rec.Code, "%s %s %v: %s", method, path, body, rec.Body)
	answer := object{}
	if rec.Body.Len() > 0 {
		require.NoError(w.T, json.Unmarshal(rec.Body.Bytes(), &answer), rec.Body)
	}
	if data, ok := answer["data"].(object); ok {
		return data
	}
	if problem, ok := answer["error"].(object); ok {
		return problem
	}
	return answer
}

func opens(address string) object {
	return object{"tool": object{"type": "go_to_url", "args": object{"url": address}}}
}

func runs(id any, with object) object {
	return object{"tool": object{"type": "run_group", "args": object{"groupId": id, "with": with}}}
}

func TestGroupsOverTheAPI(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	made := w.must(201, w.member, "POST", groups, object{"name": "Log in", "teamId": w.Org.Team.UUID,
		"parameters": []object{{"name": "user"}, {"name": "lang", "default": "en"}}, "steps": []object{opens("/{{param:lang}}/{{param:user}}")}})
	path := groups + "/" + made["id"].(string)
	require.Equal(t, []any{"Log in", "", 1.0, 1.0, 0.0}, []any{made["name"], made["description"], made["revisionNumber"],
		made["stepCount"], made["userCount"]})
	require.Equal(t, []any{object{"name": "user"}, object{"name": "lang", "default": "en"}}, made["parameters"])
	require.Equal(t, "s1", made["steps"].([]any)[0].(object)["id"])
	require.Equal(t, object{"testCases": []any{}, "testSuites": []any{}, "stepGroups": []any{}, "total": 0.0}, made["usedBy"])
	require.Equal(t, made, w.must(200, w.neighbor, "GET", path, nil), "everybody of the organization reads it")
	require.Equal(t, "STEP_GROUP_NOT_FOUND", w.must(404, w.rival, "GET", path, nil)["code"])

	c := w.must(201, w.neighbor, "POST", cases, object{"name": "shop", "teamId": w.Org.Side.UUID,
		"steps": []object{runs(made["id"], object{"user": 7})}, "setUp": []object{opens("/before")}, "tearDown": []object{opens("/after")}})
	revision := c["revisions"].([]any)[0].(object)
	require.Equal(t, object{"groupId": made["id"], "with": object{"user": "7"}},
		revision["steps"].([]any)[0].(object)["tool"].(object)["args"])
	require.Len(t, revision["setUp"], 1)
	require.Len(t, revision["tearDown"], 1)
	s := w.must(201, w.member, "POST", suites, object{"name": "all", "teamId": w.Org.Team.UUID,
		"setUp": []object{runs(made["id"], object{"user": "x"})}})
	require.Len(t, s["setUp"], 1)
	require.NotContains(t, s, "tearDown")

	changed := w.must(200, w.member, "PATCH", path, object{"description": "as a user", "id": made["id"]})
	require.Equal(t, []any{"as a user", 2.0, 2.0}, []any{changed["description"], changed["revisionNumber"], changed["userCount"]})
	require.Equal(t, object{"testCases": []any{object{"id": c["id"], "name": "shop"}},
		"testSuites": []any{object{"id": s["id"], "name": "all"}},
		"stepGroups": []any{}, "total": 2.0}, changed["usedBy"])
	require.Equal(t, 2.0, w.must(200, w.member, "GET", path+"/revisions", nil)["total"])
	require.Equal(t, 1.0, w.must(200, w.member, "GET", groups+"?search=LOG", nil)["total"])
	listed := w.must(200, w.member, "GET", groups, nil)["items"].([]any)[0].(object)
	require.NotContains(t, listed, "steps")

	used := w.must(409, w.member, "DELETE", path, nil)
	require.Equal(t, "STEP_GROUP_IN_USE", used["code"])
	require.Contains(t, used["detail"], `test cases "shop" (`+c["id"].(string)+`); test suites "all" (`)
	w.must(403, w.neighbor, "DELETE", path, nil)
	w.must(200, w.neighbor, "POST", cases+"/"+c["id"].(string), object{"steps": []object{opens("/")}, "setUp": nil})
	w.must(200, w.member, "POST", suites+"/"+s["id"].(string), object{"setUp": nil})
	w.must(204, w.member, "DELETE", path, nil)
	w.must(404, w.member, "DELETE", path, nil)
}

func TestRefusalsNameThePath(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	team := w.Org.Team.UUID
	made := w.must(201, w.member, "POST", groups, object{"name": "one", "teamId": team, "steps": []object{opens("/")}})
	for want, body := range map[string]object{
		"steps: is required":        {"name": "g"},
		"name: is required":         {"steps": []object{}},
		"steps[0].tool.type":        {"name": "g", "steps": []object{{"tool": object{"type": "nothing"}}}},
		"steps[0].tool.args.with.a": {"name": "g", "steps": []object{runs(made["id"], object{"a": "b"})}},
		"steps[0].tool.args.groupId: must be the id of a step group: a UUID": {"name": "g", "steps": []object{runs("x", nil)}},
		"steps[0].tool.args.url: is no argument of run_group": {"name": "g",
			"steps": []object{{"tool": object{"type": "run_group", "args": object{"groupId": made["id"], "url": "/"}}}}},
		"steps[0].timeoutMs": {"name": "g",
			"steps": []object{{"timeoutMs": 5, "tool": object{"type": "run_group", "args": object{"groupId": made["id"]}}}}},
		"steps[0].tool.args.with: must be a string": {"name": "g", "steps": []object{runs(made["id"], object{"a": object{}})}},
		"parameters[0].kind":                        {"name": "g", "steps": []object{}, "parameters": []object{{"name": "a", "kind": "x"}}},
		"setUp":                                     {"name": "g", "steps": []object{}, "setUp": []object{}},
	} {
		body["teamId"] = team
		problem := w.must(400, w.member, "POST", groups, body)
		require.Equal(t, "INVALID_BODY", problem["code"])
		require.Contains(t, problem["detail"], want)
	}
	problem := w.must(400, w.member, "POST", cases, object{"name": "c", "teamId": team, "steps": []object{opens("/")},
		"tearDown": []object{opens("/"), runs(made["id"], object{"a": "b"})}})
	require.Equal(t, `tearDown[1].tool.args.with.a: is no parameter of the step group "one", which has none`, problem["detail"])
}
