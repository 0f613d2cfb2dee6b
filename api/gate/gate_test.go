package gate_test

import (
	"bytes"
	"context"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/api/auth"
	handlers "github.com/slipway-qa/slipway/api/gate"
	"github.com/slipway-qa/slipway/api/route/routetest"
	"github.com/slipway-qa/slipway/cmd/localservice/servicetest"
	"github.com/slipway-qa/slipway/cmd/localservice/servicetest/fixture"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/distribution"
	"github.com/slipway-qa/slipway/storage/gate"
	"github.com/slipway-qa/slipway/tasks/gatechange"
	"github.com/slipway-qa/slipway/tasks/letter"
	"github.com/slipway-qa/slipway/tasks/link"
)

func TestMain(m *testing.M) {
	gin.SetMode(gin.ReleaseMode)
	os.Exit(servicetest.Main(m))
}

// world is two organizations behind the handlers, with authentication.
type world struct {
	*fixture.Fixture
	engine                            *gin.Engine
	follower                          *gatechange.Follower
	owner, member, rival, lead, other string // keys
	project                           int64
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{Fixture: fixture.New(t)}
	w.Org.AddSide()
	authenticator, err := auth.New(auth.Config{DB: w.DB, Region: fixture.Region})
	require.NoError(t, err)
	links := link.New("https://qa.example.com")
	w.follower = &gatechange.Follower{Letters: letter.New(letter.Config{Links: links}), Links: links}
	h, err := handlers.New(handlers.Config{DB: w.DB, Links: links, Follower: w.follower})
	require.NoError(t, err)
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		h.Watcher().Run(ctx)
	}()
	t.Cleanup(func() {
		stop()
		<-done
	})
	w.engine = routetest.Engine(routetest.ByCredentials(authenticator), h.Routes()...)
	w.owner, w.member, w.rival = w.Org.Owner.Key(account.KindAPI), w.Org.Member.Key(account.KindAPI), w.Rival.Owner.Key(account.KindAPI)
	w.other = w.Org.Neighbor.Key(account.KindAPI)
	lead := w.Org.NewUser("lead", account.Member, w.Org.Team)
	w.Exec(`update team_memberships set admin = true where user_id = $1`, lead.ID)
	w.lead = lead.Key(account.KindAPI)
	w.project = w.build("1.0")
	return w
}

// build uploads a version and returns the id of the app for the first, else of the build.
func (w *world) build(version string) int64 {
	made := w.Upload(w.NewUpload(fixture.APK("com.example.shop", version, version)))
	if made.NewProject {
		return made.Project.ID
	}
	return made.Build.ID
}

// evaluate evaluates what is due, as the worker does.
func (w *world) evaluate() {
	w.T.Helper()
	for again := true; again; {
		w.Must(func(ctx context.Context, tx *storage.Tx) error {
			round, err := gate.Evaluate(ctx, tx, 100)
			if err != nil {
				return err
			}
			again = round.Recounts
			return w.follower.Follow(ctx, tx, round.Changes)
		})
		if again {
			w.Must(func(ctx context.Context, tx *storage.Tx) error {
				_, err := gate.Recount(ctx, tx)
				return err
			})
		}
	}
}

type object = map[string]any

func (w *world) request(key, method, path, body string) *httptest.ResponseRecorder {
	w.T.Helper()
	r := httptest.NewRequestWithContext(w.T.Context(), method, path, bytes.NewReader([]byte(body)))
	r.Header.Set("Content-Type", "application/json")
	if key != "" {
		r.Header.Set("X-API-Key", key)
	}
	rec := httptest.NewRecorder()
	w.engine.ServeHTTP(rec, r)
	return rec
}

func (w *world) must(want int, key, method, path, body string) object {
	w.T.Helper()
	rec := w.request(key, method, path, body)
	require.Equal(w.T, want, rec.Code, "%s %s %s: %s", method, path, body, rec.Body)
	answer := object{}
	if rec.Body.Len() > 0 {
		require.NoError(w.T, json.Unmarshal(rec.Body.Bytes(), &answer), rec.Body)
	}
	return answer
}

func (w *world) policyPath() string { return fmt.Sprintf("/api/v3/projects/%d/gate-policy", w.project) }

func gatePath(build int64) string { return fmt.Sprintf("/api/v3/builds/%d/gate", build) }

const (
	small = `{"conditions":[{"name":"small","type":"size","max_bytes":1}]}`
	large = `{"conditions":[{"name":"small","type":"size","max_bytes":1000000}]}`
)

func TestPolicy(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.must(404, w.member, "GET", w.policyPath(), "")
	for body, text := range map[string]string{
		`{"conditions":[]}`: "conditions: must have " +
			"at least one",
		`{"conditions":[{"name":"a","type":"size"}]}`: "conditions[0]: needs max_bytes",
		`{"conditions":[{"name":"a","type":"size","max_bytes":1,"hours":2}]}`: "conditions[0].hours: is no " +
			"member of the type size",
		`{"conditions":[{"name":"a","type":"size","max_byte":1}]}`:        "max_byte",
		`{"conditions":[{"name":"a","type":"size","max_bytes":1}],"x":1}`: "x",
		`{"conditions":[{"name":"a","type":"suites","suite_ids":["6f1d3a3e-0b1f-4f67-9a0b-0f6a9d3e8c11"]}]}`: "conditions[0].suite_ids[0]: " +
			"is no suite",
	} {
		answer := w.must(400, w.owner, "PUT", w.policyPath(), body)
		require.Contains(t, answer["error"], text)
	}
	w.must(403, w.member, "PUT", w.policyPath(), small)
	w.must(403, w.other, "PUT", w.policyPath(), small)
	w.must(404, w.rival, "PUT", w.policyPath(), small)
	saved := w.must(200, w.lead, "PUT", w.policyPath(), small)["gate_policy"].(object)
	require.EqualValues(t, 1, saved["version"])
	require.Equal(t, []any{object{"name": "small", "type": "size", "max_bytes": 1.0}}, saved["conditions"])
	require.Equal(t, saved, w.must(200, w.member, "GET", w.policyPath(), "")["gate_policy"])
	w.must(404, w.rival, "GET", w.policyPath(), "")
	w.must(403, w.member, "DELETE", w.policyPath(), "")
	w.must(204, w.owner, "DELETE", w.policyPath(), "")
	w.must(404, w.owner, "DELETE", w.policyPath(), "")
}

func TestGate(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	b := w.build("1.1")
	g := w.must(200, w.member, "GET", gatePath(b), "")["gate"].(object)
	require.Equal(t, "unknown", g["state"])
	require.Equal(t, "no policy", g["reason"])
	require.Equal(t, []any{}, g["conditions"])
	require.Nil(t, g["evaluated_at"])
	w.must(404, w.rival, "GET", gatePath(b), "")
	w.must(400, w.member, "GET", gatePath(b)+"?wait=61", "")
	w.must(200, w.owner, "PUT", w.policyPath(), small)
	require.Equal(t, "not evaluated yet", w.must(200, w.member, "GET", gatePath(b), "")["gate"].(object)["reason"])
	w.evaluate()
	g = w.must(200, w.member, "GET", gatePath(b)+"?wait=60", "")["gate"].(object)
	require.Equal(t, "fail", g["state"], "who waits for what is decided does not wait")
	c := g["conditions"].([]any)[0].(object)
	require.Equal(t, []any{"small", "size", "fail", "at most 1 byte"}, []any{c["name"], c["type"], c["state"], c["wanted"]})
	require.Contains(t, c["reason"], "too large")
	require.Equal(t, false, g["pending"])
	require.Equal(t, fmt.Sprintf("https://qa.example.com/console/builds/builds/%d", b), g["url"])

	w.must(403, w.member, "POST", gatePath(b)+"/override", `{"state":"pass","reason":"go"}`)
	w.must(403, w.other, "POST", gatePath(b)+"/override", `{"state":"pass","reason":"go"}`)
	w.must(404, w.rival, "POST", gatePath(b)+"/override", `{"state":"pass","reason":"go"}`)
	for _, body := range []string{`{"state":"pass"}`, `{"state":"unknown","reason":"go"}`, `{"state":"pass","reason":"go","x":1}`} {
		w.must(400, w.owner, "POST", gatePath(b)+"/override", body)
	}
	g = w.must(200, w.lead, "POST", gatePath(b)+"/override", `{"state":"pass","reason":"the shop needs it"}`)["gate"].(object)
	require.Equal(t, []any{"pass", "fail"}, []any{g["state"], g["evaluated_state"]})
	require.Equal(t, "the shop needs it", g["overridden"].(object)["reason"])
	w.must(204, w.owner, "DELETE", gatePath(b)+"/override", "")
	w.must(404, w.owner, "DELETE", gatePath(b)+"/override", "")
	history := w.must(200, w.member, "GET", gatePath(b)+"/history?per_page=2", "")
	require.Len(t, history["changes"], 2)
	require.EqualValues(t, 3, history["pagination"].(object)["total"])
	require.Equal(t, "override_removed", history["changes"].([]any)[0].(object)["cause"])
	w.must(404, w.rival, "GET", gatePath(b)+"/history", "")
	w.must(204, w.owner, "DELETE", w.policyPath(), "")
}

// Who waits hears as soon as the gate is decided, and as soon as it is overridden.
func TestWait(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.must(200, w.owner, "PUT", w.policyPath(), `{"conditions":[{"name":"people","type":"testers"}]}`)
	b, c := w.build("1.1"), w.build("1.2")
	answers := make(chan *httptest.ResponseRecorder, 2)
	for _, build := range []int64{b, c} {
		go func() { answers <- w.request(w.member, "GET", gatePath(build)+"?wait=60", "") }()
	}
	w.evaluate()
	w.Exec(`insert into build_installs (organization_id, build_id, user_id, channel) values ($1, $2, $3, 'page')`,
		w.Org.ID, b, w.Org.Member.ID)
	w.evaluate()
	w.must(200, w.owner, "POST", gatePath(c)+"/override", `{"state":"fail","reason":"no"}`)
	states := map[float64]any{}
	for range 2 {
		select {
		case rec := <-answers:
			var answer object
			require.NoError(t, json.Unmarshal(rec.Body.Bytes(), &answer), rec.Body)
			g := answer["gate"].(object)
			states[g["build_id"].(float64)] = g["state"]
		case <-time.After(45 * time.Second):
			t.Fatal("who waits hears nothing")
		}
	}
	require.Equal(t, map[float64]any{float64(b): "pass", float64(c): "fail"}, states)
}

// A badge needs its token and no key; it is a picture that may be kept for a moment.
func TestBadge(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	b, other := w.build("1.1"), w.build("1.2")
	address := func(build int64) string {
		g := w.must(200, w.member, "GET", gatePath(build), "")["gate"].(object)
		return strings.TrimPrefix(g["badge_url"].(string), "https://qa.example.com")
	}
	see := func(want string) {
		t.Helper()
		rec := w.request("", "GET", address(b), "")
		require.Equal(t, http.StatusOK, rec.Code, rec.Body)
		require.Equal(t, "image/svg+xml", rec.Header().Get("Content-Type"))
		require.Equal(t, "public, max-age=30", rec.Header().Get("Cache-Control"))
		require.Contains(t, rec.Body.String(), "gate: "+want)
		require.NoError(t, xml.Unmarshal(rec.Body.Bytes(), new(struct{})))
	}
	see("unknown")
	w.must(200, w.owner, "PUT", w.policyPath(), small)
	w.evaluate()
	see("fail")
	w.must(200, w.owner, "PUT", w.policyPath(), large)
	w.evaluate()
	see("pass")
	_, token, _ := strings.Cut(address(b), "?token=")
	for _, path := range []string{gatePath(b) + "/badge.svg", gatePath(b) + "/badge.svg?token=x", gatePath(other) +
		"/badge.svg?token=" + token} {
		require.Equal(t, http.StatusNotFound, w.request(w.owner, "GET", path, "").Code, path)
	}
	gone := address(b)
	w.Exec(`update builds set deleted_at = now() where id = $1`, b)
	require.Equal(t, http.StatusNotFound, w.request("", "GET", gone, "").Code, "the build was deleted")
	require.Equal(t, http.StatusOK, w.request("", "GET", address(other), "").Code)
}

// What is held goes out once the gate passes, and who uploaded the build hears when it fails.
func TestHeldNotification(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	hold := func(policy string) string { return strings.Replace(policy, "{", `{"hold_notifications":true,`, 1) }
	w.must(200, w.owner, "PUT", w.policyPath(), hold(small))
	var b int64
	w.Must(func(ctx context.Context, tx *storage.Tx) error {
		made, err := distribution.CreateBuild(ctx, tx, w.NewUpload(fixture.APK("com.example.shop", "1.1", "2")))
		if err != nil {
			return err
		}
		b = made.Build.ID
		require.True(t, made.Policy)
		begun, err := gate.Begin(ctx, tx, w.Org.Member.Writer, made.Build, true, "request-1")
		require.True(t, begun.Held)
		return err
	})
	w.evaluate()
	g := w.must(200, w.member, "GET", gatePath(b), "")["gate"].(object)
	require.Equal(t, true, g["notification_held"])
	require.Equal(t, 1, w.Count(`select count(*) from mails where kind = 'gate-failed' and text_body like '%too large%' and user_id = $1`,
		w.Org.Member.ID))
	require.Zero(t, w.Count(`select count(*) from tasks where kind = 'build:notify'`))
	w.evaluate()
	w.must(200, w.owner, "PUT", w.policyPath(), hold(large))
	w.evaluate()
	require.Equal(t, 1, w.Count(`select count(*) from tasks where kind = 'build:notify' and (payload->>'build_id')::bigint = $1
		and request_id = 'request-1'`, b))
	require.Equal(t, 1, w.Audited(account.TestersNotified))
	g = w.must(200, w.member, "GET", gatePath(b), "")["gate"].(object)
	require.Equal(t, false, g["notification_held"])
	w.must(200, w.owner, "PUT", w.policyPath(), hold(small))
	w.evaluate()
	require.Equal(t, 1, w.Count(`select count(*) from mails where kind = 'gate-failed'`), "nothing is held any more")
}
