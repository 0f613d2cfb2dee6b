package commitstatus_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/gin-gonic/gin"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/api/auth"
	handlers "github.com/slipway-qa/slipway/api/commitstatus"
	"github.com/slipway-qa/slipway/api/route/routetest"
	"github.com/slipway-qa/slipway/cmd/localservice/servicetest"
	"github.com/slipway-qa/slipway/cmd/localservice/servicetest/fixture"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/seal"
	"github.com/slipway-qa/slipway/tasks/outbound"
	"github.com/slipway-qa/slipway/tasks/statuscall"
)

func TestMain(m *testing.M) {
	gin.SetMode(gin.ReleaseMode)
	os.Exit(servicetest.Main(m))
}

const token = "tok_0123456789-secret"

// world is an app of an organization behind the handlers.
type world struct {
	*fixture.Fixture
	engine                   *gin.Engine
	owner, member, lead      string // keys
	stranger, rival, another string // lead of another team; another organization; its path
	path                     string
}

func newWorld(t *testing.T, private bool, keys seal.Ring) *world {
	t.Helper()
	w := &world{Fixture: fixture.New(t)}
	authenticator, err := auth.New(auth.Config{DB: w.DB, Region: fixture.Region})
	require.NoError(t, err)
	guard, err := outbound.New(outbound.Config{AllowPrivate: private})
	require.NoError(t, err)
	t.Cleanup(guard.CloseIdleConnections)
	h, err := handlers.New(handlers.Config{DB: w.DB, Guard: guard, Caller: statuscall.NewSender(guard), SealKeys: keys})
	require.NoError(t, err)
	w.engine = routetest.Engine(routetest.ByCredentials(authenticator), h.Routes()...)
	w.owner, w.member, w.rival = w.Org.Owner.Key(account.KindAPI), w.Org.Member.Key(account.KindAPI), w.Rival.Owner.Key(account.KindAPI)
	admin := func(name string, team *account.Team) string {
		user := w.Org.NewUser(name, account.Member, team)
		w.Exec(`update team_memberships set admin = true where user_id = $1`, user.ID)
		return user.Key(account.KindAPI)
	}
	w.lead, w.stranger = admin("lead", w.Org.Team), admin("stranger", w.Org.NewTeam("side"))
	w.path = fmt.Sprintf("/api/v3/projects/%d/commit-status", w.App("com.example.shop").Project.ID)
	w.another = fmt.Sprintf("/api/v3/projects/%d/commit-status", w.App("com.example.other").Project.ID)
	return w
}

type object = map[string]any

// must sends JSON with a key, and returns the answer, in which the token never is.
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
	require.NotContains(w.T, rec.Body.String(), token)
	answer := object{}
	if rec.Body.Len() > 0 {
		require.NoError(w.T, json.Unmarshal(rec.Body.Bytes(), &answer), rec.Body)
	}
	return answer
}

func TestSetting(t *testing.T) {
	t.Parallel()
	w := newWorld(t, true, fixture.SealKey)
	w.must(404, w.owner, "GET", w.path, nil)
	w.must(404, w.owner, "DELETE", w.path, nil)
	w.must(404, w.owner, "POST", w.path+"/test", nil)
	first := w.must(200, w.owner, "PUT", w.path, object{"provider": "github", "repository": "acme/app",
		"token": token})["commit_status"].(object)
	for member, want := range map[string]any{"provider": "github", "url": "https://api.github.com", "repository": "acme/app",
		"context":   first["context"],
		"has_token": true, "last_error": "", "last_sent_at": nil, "last_error_at": nil} {
		require.Contains(t, first, member)
		require.Equal(t, want, first[member], member)
	}
	require.NotContains(t, first, "token")
	require.Regexp(t, `^slipway/gate: .+ \(Android\)$`, first["context"])
	require.Equal(t, first, w.must(200, w.lead, "GET", w.path, nil)["commit_status"])

	after := w.must(200, w.lead, "PUT", w.path, object{"provider": "github", "repository": "acme/shop",
		"context": "qa"})["commit_status"].(object)
	require.Equal(t, []any{"acme/shop", "qa", true}, []any{after["repository"], after["context"], after["has_token"]})
	var sealed []byte
	require.NoError(t, w.DB.GetContext(t.Context(), &sealed, `select sealed_token from commit_status_settings`))
	require.NotContains(t, string(sealed), token)
	text, err := seal.Unseal(fixture.SealKey, seal.CommitStatus, sealed)
	require.NoError(t, err)
	require.Equal(t, token, text)

	w.must(204, w.owner, "DELETE", w.path, nil)
	w.must(404, w.owner, "GET", w.path, nil)
	require.Equal(t, 3, w.Audited(account.CommitStatusChanged))
	require.Zero(t, w.Count(`select count(*) from audit_events where detail::text like $1`, "%"+token+"%"))
}

func TestWhoMay(t *testing.T) {
	t.Parallel()
	w := newWorld(t, true, fixture.SealKey)
	setting := object{"provider": "github", "repository": "acme/app", "token": token}
	w.must(200, w.owner, "PUT", w.path, setting)
	for key, want := range map[string]int{w.member: 403, w.stranger: 403, w.rival: 404} {
		w.must(want, key, "GET", w.path, nil)
		w.must(want, key, "PUT", w.path, setting)
		w.must(want, key, "DELETE", w.path, nil)
		w.must(want, key, "POST", w.path+"/test", nil)
	}
	require.Zero(t, w.Audited(account.CommitStatusTested))
}

func TestRefusedSettings(t *testing.T) {
	t.Parallel()
	w := newWorld(t, false, fixture.SealKey)
	for name, c := range map[string]struct {
		body object
		text string
	}{
		"no token":       {object{"provider": "github", "repository": "acme/app"}, "token: is required"},
		"a token of two": {object{"provider": "github", "repository": "acme/app", "token": token + "\n" + token}, "token: must be printable"},
		"a private address": {object{"provider": "gitea", "url": "https://10.0.0.1", "repository": "acme/app", "token": token},
			"url: address refused"},
		"in the clear": {object{"provider": "gitea", "url": "http://8.8.8.8", "repository": "acme/app", "token": token},
			"url: must be https"},
		"in capitals": {object{"provider": "gitea", "url": "HTTP://8.8.8.8", "repository": "acme/app", "token": token},
			"url: must be https"},
		"unknown member": {object{"provider": "github", "repository": "acme/app", "token": token, "tokens": "x"}, "tokens"},
		"no provider":    {object{"repository": "acme/app", "token": token}, "provider: must be"},
	} {
		answer := w.must(400, w.owner, "PUT", w.path, c.body)
		require.Contains(t, answer["error"], c.text, name)
	}
	w.must(404, w.owner, "PUT", "/api/v3/projects/999999/commit-status", object{"provider": "github", "repository": "acme/app",
		"token": token})
	w.must(404, w.owner, "GET", w.path, nil)

	unsealed := newWorld(t, false, nil)
	answer := unsealed.must(409, unsealed.owner, "PUT", unsealed.path, object{"provider": "github", "repository": "acme/app", "token": token})
	require.Contains(t, answer["error"], "SLIPWAY_SIGNING_KEY")
}

// A test says what it saw, sends nothing, and is in the audit log.
func TestTests(t *testing.T) {
	t.Parallel()
	w := newWorld(t, true, fixture.SealKey)
	var status atomic.Int32
	status.Store(200)
	var posts atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet {
			posts.Add(1)
		}
		if r.RequestURI != "/api/v1/repos/acme/app" || r.Header.Get("Authorization") != "token "+token {
			rw.WriteHeader(http.StatusTeapot)
			return
		}
		rw.WriteHeader(int(status.Load()))
		_, _ = io.WriteString(rw, `{"full_name":"Acme/App","permissions":{"push":false},"message":"no `+token+`"}`)
	}))
	t.Cleanup(server.Close)
	w.must(200, w.owner, "PUT", w.path, object{"provider": "gitea", "url": server.URL + "/api/v1/", "repository": "acme/app", "token": token})
	require.Equal(t, object{"ok": true, "status": 200.0, "repository": "Acme/App", "push": false, "error": ""},
		w.must(200, w.lead, "POST", w.path+"/test", nil)["test"])
	status.Store(401)
	require.Equal(t, object{"ok": false, "status": 401.0, "repository": "", "push": nil,
		"error": "Gitea answered 401 (the token is not valid): no ***"},
		w.must(200, w.owner, "POST", w.path+"/test", nil)["test"])
	server.CloseClientConnections()
	server.Close()
	failed := w.must(200, w.owner, "POST", w.path+"/test", nil)["test"].(object)
	require.Equal(t, []any{false, nil, "connection refused"}, []any{failed["ok"], failed["status"], failed["error"]})
	require.Zero(t, posts.Load())
	require.Equal(t, 3, w.Audited(account.CommitStatusTested))

	// Another key than the one of before.
	sealed, err := seal.Seal(seal.Ring{bytes.Repeat([]byte("z"), 32)}, seal.CommitStatus, token)
	require.NoError(t, err)
	w.Exec(`update commit_status_settings set sealed_token = $1`, sealed)
	require.Contains(t, w.must(409, w.owner, "POST", w.path+"/test", nil)["error"], "store it again")

	// A token that is kept stays with its server.
	answer := w.must(400, w.owner, "PUT", w.path, object{"provider": "gitea", "url": strings.Replace(server.URL,
		"127.0.0.1", "localhost", 1), "repository": "acme/app"})
	require.Contains(t, answer["error"], "token: is required when provider or url change")
	w.must(404, w.owner, "GET", w.another, nil)
}
