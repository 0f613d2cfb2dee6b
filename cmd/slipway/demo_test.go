package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/cmd/slipway/demo"
	"github.com/slipway-qa/slipway/cmd/slipway/setting"
)

// demoLists are what the demo fills, and how many rows each list then has.
var demoLists = map[string]int{
	"/api/v3/projects": 2, "/api/v3/groups": 2, "/api/v3/testers": 6, "/api/v3/devices": 3, "/api/v3/webhooks": 1,
	"/api/v3/saved-searches?area=crash-groups": 1, "/api/v3/feedbacks": 5, "/api/v3/symbols": 7 + 7 + 6,
	"/api/v3/crash-projects": 6, // the one of the first start is there before and after
	"/api/v3/crash-groups":   12, "/api/v3/crash-groups?state=resolved": 1, "/api/v3/crash-groups?state=ignored": 1,
}

// authoredLists are those of tests.
var authoredLists = map[string]int{"testcases": 4, "testsuites": 1, "test-schedules": 1}

// counted is how many rows the API says that there are.
func (w *surface) counted() map[string]int {
	w.t.Helper()
	got := map[string]int{}
	for path := range demoLists {
		var answer struct {
			Pagination struct {
				Total int `json:"total"`
			} `json:"pagination"`
		}
		w.ask(path, &answer)
		got[path] = answer.Pagination.Total
	}
	for name := range authoredLists {
		var answer struct {
			Data struct {
				Total int `json:"total"`
			} `json:"data"`
		}
		w.ask("/v1/ai-authoring/"+name, &answer)
		got[name] = answer.Data.Total
	}
	return got
}

// ask reads an address as the owner.
func (w *surface) ask(path string, out any) {
	w.t.Helper()
	r, err := http.NewRequestWithContext(w.t.Context(), http.MethodGet, w.base+path, http.NoBody)
	require.NoError(w.t, err)
	r.SetBasicAuth(w.user[0], w.user[1])
	if path[:4] == "/api" {
		r.Header.Del("Authorization")
		r.Header.Set("X-API-Key", w.key)
	}
	res, err := http.DefaultClient.Do(r)
	require.NoError(w.t, err)
	defer res.Body.Close()
	require.Equal(w.t, http.StatusOK, res.StatusCode, path)
	require.NoError(w.t, json.NewDecoder(res.Body).Decode(out), path)
}

// The demo fills what it promises, adds nothing when it is filled again, and leaves nothing
// when it is removed; then it can be filled again.
func TestDemo(t *testing.T) {
	t.Parallel()
	w := newSurface(t, func(s *setting.Settings) { s.WorkerPools += ";1:bulk=1;1:run=1;4:webhook=1;1:webhook-slow=1;1:sync=1" })
	w.relay()
	// With several teams an upload has to say which one a new app is for.
	code, answer := w.send(request{method: http.MethodPost, path: v3 + "/teams", body: `{"name":"Another"}`})
	require.Equal(t, http.StatusCreated, code, "%s", answer)
	before := w.counted()
	access := demo.AccessOf(w.boot)
	access.Server = w.base
	fill := func(seed uint64) string {
		var out bytes.Buffer
		require.NoError(t, demo.Fill(t.Context(), demo.Config{Access: access, Seed: seed, Out: &out}), "%s", &out)
		t.Log(out.String())
		return out.String()
	}
	text := fill(1)
	require.NotContains(t, text, "not done")
	require.Contains(t, text, "10 builds of 2 apps")
	want := map[string]int{}
	for path, n := range demoLists {
		want[path] = n
	}
	for name, n := range authoredLists {
		want[name] = n
	}
	require.Equal(t, want, w.counted())
	w.demoCrashes()
	w.demoBuilds()

	// Again: whether it is complete, or its last step is missing.
	require.Contains(t, fill(2), "nothing was added")
	require.Equal(t, want, w.counted())
	reports := w.one(`select count(*)::text from crashes`)
	w.removeSaved()
	fill(1)
	require.Equal(t, want, w.counted())
	require.Equal(t, reports, w.one(`select count(*)::text from crashes`))
	require.Equal(t, "48", w.one(`select count(*)::text from app_sessions`))

	// What is not of the demo stays, and keeps nothing else.
	token := w.foreign("demo-lamps-web", crashReport("foreign", "KeyError", "1.0", time.Now(), func(report map[string]any) {
		report["attributes"].(map[string]any)["whose"] = "foreign"
	}))
	var out bytes.Buffer
	err := demo.Remove(t.Context(), access, &out)
	require.ErrorContains(t, err, "crash project demo-lamps-web stays")
	require.Equal(t, before["/api/v3/crash-projects"]+1, w.counted()["/api/v3/crash-projects"])
	for _, path := range []string{"/api/v3/projects", "/api/v3/groups", "/api/v3/testers", "testcases"} {
		require.Equal(t, before[path], w.counted()[path], path)
	}
	code, answer = w.send(request{method: http.MethodDelete, path: v3 + "/crashes", query: "?attribute.whose=foreign"})
	require.Equal(t, http.StatusAccepted, code, "%s", answer)
	code, answer = w.send(request{method: http.MethodDelete, path: token})
	require.Equal(t, http.StatusNoContent, code, "%s", answer)
	w.wait("the foreign report is gone", `select 'none' where not exists (select from crashes)`)
	require.NoError(t, demo.Remove(t.Context(), access, &out))
	require.Equal(t, before, w.counted())
	for _, table := range []string{"crashes", "crash_uuids", "crash_purged", "builds", "app_sessions", "symbols"} {
		w.wait("nothing is left in "+table, `select 'none' where not exists (select from `+table+`)`)
	}
	require.NoError(t, demo.Remove(t.Context(), access, &out), "what is gone is no error")
}

// foreign sends a report that is not of the demo to a crash project of it, and returns the
// address of the token that it made for that.
func (w *surface) foreign(project, report string) string {
	w.t.Helper()
	id := w.one(`select id::text from crash_projects where name = '` + project + `'`)
	code, answer := w.send(request{method: http.MethodPost, path: v3 + "/crash-projects/" + id + "/tokens", body: `{"name": "foreign"}`})
	require.Equal(w.t, http.StatusCreated, code, "%s", answer)
	var made struct {
		Token struct {
			ID int64 `json:"id"`
		} `json:"crash_token"`
		Secret string `json:"secret"`
	}
	require.NoError(w.t, json.Unmarshal(answer, &made))
	code, answer = w.send(request{method: http.MethodPost, path: "/post", query: "?format=json&token=" + made.Secret,
		body: report, as: "none"})
	require.Equal(w.t, http.StatusOK, code, "%s", answer)
	w.wait("the foreign report is read",
		`select 'read' where exists (select from crashes where state = 'processed' and attributes ->> 'whose' = 'foreign')`)
	return fmt.Sprintf("%s/crash-projects/%s/tokens/%d", v3, id, made.Token.ID)
}

// removeSaved removes the saved search by which a filling is known to be complete.
func (w *surface) removeSaved() {
	w.t.Helper()
	code, answer := w.send(request{method: http.MethodDelete, path: v3 + "/saved-searches/" + w.one(`select id::text from saved_searches`)})
	require.Equal(w.t, http.StatusNoContent, code, "%s", answer)
}

// demoCrashes checks what the groups say: the names of the source, regressions, and days.
func (w *surface) demoCrashes() {
	w.t.Helper()
	var list struct {
		Groups []struct {
			ID          int64  `json:"id"`
			Culprit     string `json:"culprit"`
			Count       int    `json:"count"`
			Regressions int    `json:"regressions"`
			Days        []any  `json:"recent_days"`
		} `json:"crash_groups"`
	}
	w.ask("/api/v3/crash-groups?per_page=100", &list)
	culprits, regressed := map[string]bool{}, 0
	for _, g := range list.Groups {
		culprits[g.Culprit] = true
		regressed += g.Regressions
		require.Positive(w.t, g.Count)
	}
	require.Equal(w.t, 2, regressed)
	require.Len(w.t, culprits, 12, "%v", culprits)
	text := fmt.Sprint(culprits)
	for _, name := range []string{"org.slipway.demo.lamps.cart.Price.cents", "Cart.total", "RoomView.place", "total (",
		"submit (", "Route.next", "average", "Mailer"} {
		require.Contains(w.t, text, name)
	}
	w.wait("all symbols were found",
		`select 'all' where not exists (select from crash_symbolications where state in ('missing', 'partial', 'pending'))`)
	require.Equal(w.t, "6", w.one(`select count(distinct lang)::text from crashes`))
	// The oldest are of thirty days ago, since the API takes the time of a report.
	require.Equal(w.t, "true", w.one(`select (min(occurred_at) < now() - interval '28 days')::text from crashes`))
}

// demoBuilds checks that the packages were read and their signatures hold.
func (w *surface) demoBuilds() {
	w.t.Helper()
	w.wait("the signatures are verified", `select 'all' where not exists (select from builds where verification is distinct from 'verified')`)
	var list struct {
		Projects []struct {
			Package string `json:"package_name"`
			Name    string `json:"name"`
			Icon    string `json:"icon"`
			Builds  int    `json:"build_count"`
		} `json:"projects"`
	}
	w.ask("/api/v3/projects", &list)
	for _, p := range list.Projects {
		require.NotEmpty(w.t, p.Icon)
		require.NotEqual(w.t, p.Package, p.Name)
		require.Equal(w.t, map[string]int{"Lamps": 7, "Lamps Courier": 3}[p.Name], p.Builds)
	}
}
