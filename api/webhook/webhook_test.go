package webhook_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/gin-gonic/gin"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/api/auth"
	"github.com/slipway-qa/slipway/api/route/routetest"
	handlers "github.com/slipway-qa/slipway/api/webhook"
	"github.com/slipway-qa/slipway/cmd/localservice/servicetest"
	"github.com/slipway-qa/slipway/cmd/localservice/servicetest/fixture"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/webhook"
	"github.com/slipway-qa/slipway/tasks/outbound"
	"github.com/slipway-qa/slipway/tasks/webhookcall"
)

func TestMain(m *testing.M) {
	gin.SetMode(gin.ReleaseMode)
	os.Exit(servicetest.Main(m))
}

// world is two organizations behind the handlers, with authentication.
type world struct {
	*fixture.Fixture
	engine                *gin.Engine
	owner, member, rival  string // keys
	teamAdmin             string
	project, rivalProject int64
}

func newWorld(t *testing.T, private bool) *world {
	t.Helper()
	w := &world{Fixture: fixture.New(t)}
	authenticator, err := auth.New(auth.Config{DB: w.DB, Region: fixture.Region})
	require.NoError(t, err)
	guard, err := outbound.New(outbound.Config{AllowPrivate: private})
	require.NoError(t, err)
	t.Cleanup(guard.CloseIdleConnections)
	h, err := handlers.New(handlers.Config{DB: w.DB, Guard: guard, Caller: webhookcall.NewSender(guard), SealKeys: fixture.SealKey})
	require.NoError(t, err)
	w.engine = routetest.Engine(routetest.ByCredentials(authenticator), h.Routes()...)
	w.owner, w.member, w.rival = w.Org.Owner.Key(account.KindAPI), w.Org.Member.Key(account.KindAPI), w.Rival.Owner.Key(account.KindAPI)
	lead := w.Org.NewUser("lead", account.Member, w.Org.Team)
	w.Exec(`update team_memberships set admin = true where user_id = $1`, lead.ID)
	w.teamAdmin = lead.Key(account.KindAPI)
	w.project = w.Upload(w.NewUpload(fixture.APK("com.example.shop", "1.2", "12"))).Project.ID
	u := w.NewUpload(fixture.APK("com.example.rival", "1", "1"))
	u.Writer = w.Rival.Member.Writer
	w.rivalProject = w.Upload(u).Project.ID
	return w
}

type object = map[string]any

// do sends JSON, or a form, with a key.
func (w *world) do(key, method, path string, body any) (int, object) {
	w.T.Helper()
	var reader io.Reader = http.NoBody
	kind := "application/json"
	switch b := body.(type) {
	case nil:
	case url.Values:
		reader, kind = strings.NewReader(b.Encode()), "application/x-www-form-urlencoded"
	default:
		doc, err := json.Marshal(body)
		require.NoError(w.T, err)
		reader = bytes.NewReader(doc)
	}
	r := httptest.NewRequestWithContext(w.T.Context(), method, path, reader)
	r.Header.Set("Content-Type", kind)
	r.Header.Set("X-API-Key", key)
	rec := httptest.NewRecorder()
	w.engine.ServeHTTP(rec, r)
	answer := object{}
	if rec.Body.Len() > 0 {
		require.NoError(w.T, json.Unmarshal(rec.Body.Bytes(), &answer), rec.Body)
	}
	return rec.Code, answer
}

func (w *world) must(want int, key, method, path string, body any) object {
	w.T.Helper()
	code, answer := w.do(key, method, path, body)
	require.Equal(w.T, want, code, "%s %s %v: %v", method, path, body, answer)
	return answer
}

// hook makes a webhook and returns its path in version 3.
func (w *world) hook(body object) string {
	w.T.Helper()
	made := w.must(201, w.owner, "POST", "/api/v3/webhooks", body)
	return fmt.Sprintf("/api/v3/webhooks/%v", made["webhook"].(object)["id"])
}

func TestVersion3(t *testing.T) {
	t.Parallel()
	w := newWorld(t, true)
	made := w.must(201, w.owner, "POST", "/api/v3/webhooks", object{"name": "CI", "url": "https://ci.example.invalid/x",
		"actions": []string{"upload", "run"}, "project_ids": []int64{w.project}})
	require.Regexp(t, "^whsec_", made["secret"])
	hook := made["webhook"].(object)
	require.Equal(t, "active", hook["status"])
	require.Equal(t, []any{"upload", "run"}, hook["actions"])
	require.Equal(t, []any{float64(w.project)}, hook["project_ids"])
	for _, member := range []string{"suspended_reason", "suspended_at", "failing_since", "created_at", "updated_at",
		"skipped_events", "former_secret_until"} {
		require.Contains(t, hook, member)
	}
	path := fmt.Sprintf("/api/v3/webhooks/%v", hook["id"])
	require.NotContains(t, w.must(200, w.member, "GET", path, nil), "secret")
	require.Equal(t, hook, w.must(200, w.member, "GET", path+"-slug", nil)["webhook"])
	after := w.must(200, w.owner, "PUT", path, object{"status": "suspended"})["webhook"].(object)
	require.Equal(t, "suspended", after["status"])
	require.NotNil(t, after["suspended_at"])
	failing := func() any {
		answer := w.must(200, w.member, "GET", "/api/v3/webhooks?failing=true", nil)
		require.Len(t, answer["webhooks"], int(answer["pagination"].(object)["total"].(float64)))
		require.Empty(t, w.must(200, w.member, "GET", "/api/v3/webhooks?failing=true&page=2", nil)["webhooks"])
		require.Empty(t, w.must(200, w.rival, "GET", "/api/v3/webhooks?failing=true", nil)["webhooks"])
		return answer["pagination"].(object)["total"]
	}
	require.Equal(t, 1.0, failing())
	require.Equal(t, "CI", after["name"], "only what is sent is changed")
	after = w.must(200, w.owner, "PUT", path, object{"status": "active", "name": "CI 2", "actions": "crash",
		"project_ids": []int64{}})["webhook"].(object)
	require.Equal(t, []any{[]any{"crash"}, []any{}, "CI 2", nil}, []any{after["actions"], after["project_ids"],
		after["name"], after["suspended_at"]})
	require.Equal(t, 0.0, failing())
	w.must(400, w.member, "GET", "/api/v3/webhooks?failing=maybe", nil)
	list := w.must(200, w.member, "GET", "/api/v3/webhooks?per_page=1", nil)
	require.Len(t, list["webhooks"], 1)
	require.Equal(t, 1.0, list["pagination"].(object)["total"])
	w.must(204, w.owner, "DELETE", path, nil)
	w.must(404, w.owner, "GET", path, nil)
	require.Equal(t, []int{1, 2, 1}, []int{w.Audited(account.WebhookCreated), w.Audited(account.WebhookUpdated),
		w.Audited(account.WebhookDeleted)})
	require.Zero(t, w.Count(`select count(*) from audit_events where detail::text like '%whsec_%' or detail::text like '%/x%'`))
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	w := newWorld(t, false)
	good := "https://ci.example.invalid/x"
	for name, c := range map[string]struct {
		body  object
		field string
	}{
		"no name":        {object{"url": good}, "name"},
		"no url":         {object{"name": "a"}, "url"},
		"name with line": {object{"name": "a\r\nX-Header: b", "url": good}, "name"},
		"long name":      {object{"name": strings.Repeat("a", 256), "url": good}, "name"},
		"credentials":    {object{"name": "a", "url": "https://user:pw@ci.example.invalid/"}, "url"},
		"ftp":            {object{"name": "a", "url": "ftp://ci.example.invalid/"}, "url"},
		"line end":       {object{"name": "a", "url": "https://ci.example.invalid/\r\nX: y"}, "url"},
		"long url":       {object{"name": "a", "url": good + strings.Repeat("a", 2048)}, "url"},
		"loopback":       {object{"name": "a", "url": "http://127.0.0.1:8080/"}, "url"},
		"mapped":         {object{"name": "a", "url": "http://[::ffff:10.0.0.1]/"}, "url"},
		"number":         {object{"name": "a", "url": "http://2130706433/"}, "url"},
		"metadata":       {object{"name": "a", "url": "http://169.254.169.254/latest"}, "url"},
		"action":         {object{"name": "a", "url": good, "actions": []string{"upload", "explode"}}, "actions"},
		"status":         {object{"name": "a", "url": good, "status": "paused"}, "status"},
		"foreign app":    {object{"name": "a", "url": good, "project_ids": []int64{w.rivalProject}}, "project_ids"},
		"no app":         {object{"name": "a", "url": good, "project_ids": []string{"x"}}, "project_ids"},
		"short secret":   {object{"name": "a", "url": good, "secret": "whsec_YWJj"}, "secret"},
		"plain secret":   {object{"name": "a", "url": good, "secret": "hunter2"}, "secret"},
	} {
		code, answer := w.do(w.owner, "POST", "/api/v3/webhooks", c.body)
		require.Equal(t, 400, code, name)
		require.True(t, strings.HasPrefix(answer["error"].(string), c.field+":"), "%s: %v", name, answer)
		require.NotContains(t, answer["error"], "pw@")
	}
	require.Zero(t, w.Count(`select count(*) from webhooks`))
	w.must(403, w.member, "POST", "/api/v3/webhooks", object{"name": "a", "url": good})
}

// A team admin has the webhooks of the team's apps, and no others.
func TestTeamAdmin(t *testing.T) {
	t.Parallel()
	w := newWorld(t, false)
	good := "https://ci.example.invalid/x"
	w.must(403, w.teamAdmin, "POST", "/api/v3/webhooks", object{"name": "a", "url": good})
	made := w.must(201, w.teamAdmin, "POST", "/api/v3/webhooks", object{"name": "a", "url": good, "project_ids": []int64{w.project}})
	path := fmt.Sprintf("/api/v3/webhooks/%v", made["webhook"].(object)["id"])
	w.must(403, w.teamAdmin, "PUT", path, object{"project_ids": []int64{}})
	w.must(200, w.teamAdmin, "PUT", path, object{"name": "b"})
	all := w.hook(object{"name": "all", "url": good})
	w.must(403, w.teamAdmin, "PUT", all, object{"name": "b"})
	w.must(403, w.teamAdmin, "DELETE", all, nil)
	w.must(400, w.teamAdmin, "DELETE", all, object{"name": "b"})
	w.must(403, w.teamAdmin, "POST", all+"/test", nil)
}

func TestOtherOrganizationsFindNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t, false)
	path := w.hook(object{"name": "a", "url": "https://ci.example.invalid/x", "actions": []string{"run"}})
	w.Must(func(ctx context.Context, tx *storage.Tx) error {
		return webhook.Emit(ctx, tx, webhook.Event{OrganizationID: w.Org.ID, Action: webhook.Run})
	})
	delivery := path + "/deliveries/" + w.must(200, w.owner, "GET", path+"/deliveries", nil)["deliveries"].([]any)[0].(object)["id"].(string)
	v1 := strings.Replace(path, "/api/v3/webhooks", "/api/1/webhook", 1)
	form := url.Values{"webhook-name": {"b"}, "webhook-url": {"https://ci.example.invalid/x"}}
	for _, c := range []struct {
		method, path string
		body         any
	}{
		{"GET", path, nil}, {"PUT", path, object{"name": "b"}}, {"DELETE", path, nil}, {"POST", path + "/secret", nil},
		{"DELETE", path + "/secret", nil},
		{"POST", path + "/test", nil}, {"POST", path + "/replay", object{"from": "2026-01-01"}}, {"GET", path + "/deliveries", nil},
		{"GET", delivery, nil}, {"POST", delivery + "/replay", nil}, {"GET", v1, nil}, {"POST", v1, form}, {"DELETE", v1, nil},
	} {
		w.must(404, w.rival, c.method, c.path, c.body)
	}
	require.Empty(t, w.must(200, w.rival, "GET", "/api/v3/webhooks", nil)["webhooks"])
	require.Empty(t, w.must(200, w.rival, "GET", "/api/1/webhooks", nil)["webhooks"])
	w.must(200, w.owner, "GET", path, nil)
}

func TestVersion1(t *testing.T) {
	t.Parallel()
	w := newWorld(t, false)
	form := url.Values{"webhook-name": {"CI"}, "webhook-url": {"https://ci.example.invalid/x"}}
	require.Equal(t, object{"status": "ok"}, w.must(200, w.owner, "POST", "/api/1/webhook", form))
	list := w.must(200, w.member, "GET", "/api/1/webhooks", nil)
	first := list["webhooks"].([]any)[0].(object)
	require.Equal(t, object{"id": first["id"], "status": "0", "name": "CI", "url": "https://ci.example.invalid/x",
		"actions": "", "projectIds": ""}, first)
	require.Equal(t, "ok", list["status"])
	for i, base := range []string{"/api/1/webhook", "/api/1/webhhook", "/api/1/webhooks"} {
		path := fmt.Sprintf("%s/%v", base, first["id"])
		form.Set("webhook-status", []string{"true", "on", "1"}[i])
		form.Set("actions", "upload, crash")
		form.Set("webhook-project-ids", fmt.Sprint(w.project))
		w.must(200, w.owner, "POST", path, form)
		require.Equal(t, object{"id": first["id"], "status": "1", "name": "CI", "url": "https://ci.example.invalid/x", "actions": "upload,crash",
			"projectIds": fmt.Sprint(w.project)}, w.must(200, w.member, "GET", path, nil)["webhook"])
	}
	path := fmt.Sprintf("/api/1/webhook/%v", first["id"])
	w.must(200, w.owner, "POST", path, object{"webhook-name": "CI 2", "webhook-url": "https://ci.example.invalid/y",
		"webhook-status": "false"})
	after := w.must(200, w.owner, "GET", path, nil)["webhook"].(object)
	require.Equal(t, []any{"0", "CI 2", "upload,crash"}, []any{after["status"], after["name"], after["actions"]}, "what is optional stays")
	for field, change := range map[string]url.Values{
		"webhook-name": {"webhook-name": {""}}, "webhook-url": {"webhook-url": {"http://10.0.0.1/"}},
		"webhook-status": {"webhook-status": {"maybe"}},
		"actions":        {"actions": {"upload,nope"}}, "webhook-project-ids": {"webhook-project-ids": {fmt.Sprint(w.rivalProject)}},
	} {
		bad := url.Values{"webhook-name": {"a"}, "webhook-url": {"https://ci.example.invalid/x"}}
		for k, v := range change {
			bad[k] = v
		}
		for _, at := range []string{"/api/1/webhook", path} {
			answer := w.must(400, w.owner, "POST", at, bad)
			require.Equal(t, []any{"fail", 1.0}, []any{answer["status"], answer["code"]})
			require.Contains(t, answer["message"], field+":")
		}
	}
	for _, missing := range []string{"webhook-name", "webhook-url"} {
		bad := url.Values{"webhook-name": {"a"}, "webhook-url": {"https://ci.example.invalid/x"}}
		bad.Del(missing)
		require.Contains(t, w.must(400, w.owner, "POST", path, bad)["message"], missing)
	}
	require.Equal(t, object{"status": "ok"}, w.must(200, w.owner, "DELETE", path, nil))
	require.Equal(t, 404.0, w.must(404, w.owner, "GET", path, nil)["code"])
	require.Equal(t, 5.0, w.must(403, w.member, "POST", "/api/1/webhook", form)["code"])
}

func TestSecrets(t *testing.T) {
	t.Parallel()
	w := newWorld(t, false)
	const given = "whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY="
	made := w.must(201, w.owner, "POST", "/api/v3/webhooks", object{"name": "a", "url": "https://ci.example.invalid/x", "secret": given})
	require.Equal(t, given, made["secret"])
	path := fmt.Sprintf("/api/v3/webhooks/%v", made["webhook"].(object)["id"])
	w.must(404, w.owner, "DELETE", path+"/secret", nil)
	rotated := w.must(200, w.owner, "POST", path+"/secret", nil)
	require.NotEqual(t, given, rotated["secret"])
	require.NotNil(t, rotated["webhook"].(object)["former_secret_until"])
	w.must(204, w.owner, "DELETE", path+"/secret", nil)
	require.Nil(t, w.must(200, w.owner, "GET", path, nil)["webhook"].(object)["former_secret_until"])
	for _, bad := range []object{{"valid_hours": 169}, {"valid_hours": -1}, {"secret": "x"}} {
		w.must(400, w.owner, "POST", path+"/secret", bad)
	}
	w.must(400, w.owner, "PUT", path, object{"secret": given})
	require.Equal(t, 2, w.Audited(account.WebhookSecretRotated))
}

func TestTestDeliveryAndLog(t *testing.T) {
	t.Parallel()
	w := newWorld(t, true)
	var mu sync.Mutex
	var ids []string
	server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		ids = append(ids, r.Header.Get("webhook-id"))
		if strings.HasSuffix(r.URL.Path, "/bad") {
			rw.WriteHeader(418)
		}
		fmt.Fprint(rw, "hello")
	}))
	t.Cleanup(server.Close)
	path := w.hook(object{"name": "a", "url": server.URL + "/good", "status": "suspended", "actions": []string{"run"}})
	d := w.must(200, w.owner, "POST", path+"/test", nil)["delivery"].(object)
	require.Equal(t, []any{"test", "delivered", 200.0, 1.0}, []any{d["event"], d["status"], d["last_status"], d["attempts"]})
	request := d["request"].(object)
	require.Equal(t, "test", request["body"].(object)["event"])
	require.Equal(t, ids[0], request["headers"].(object)["webhook-id"])
	require.NotContains(t, request["headers"], "webhook-signature")
	attempt := d["attempt_log"].([]any)[0].(object)
	require.Equal(t, []any{"hello", "", 200.0}, []any{attempt["response"], attempt["error"], attempt["status"]})
	w.must(200, w.owner, "PUT", path, object{"url": server.URL + "/bad", "status": "active"})
	d = w.must(200, w.owner, "POST", path+"/test", nil)["delivery"].(object)
	require.Equal(t, []any{"failed", "the receiver answered 418"}, []any{d["status"], d["last_error"]})
	w.Must(func(ctx context.Context, tx *storage.Tx) error {
		return webhook.Emit(ctx, tx, webhook.Event{OrganizationID: w.Org.ID, Action: webhook.Run})
	})
	for query, want := range map[string]int{"": 3, "?status=failed": 1, "?status=pending": 1, "?event=test": 2,
		"?event=run": 1, "?from=2020-01-01&to=2020-01-02": 0} {
		list := w.must(200, w.owner, "GET", path+"/deliveries"+query, nil)
		require.Len(t, list["deliveries"], want, query)
		require.Equal(t, float64(want), list["pagination"].(object)["total"])
	}
	for _, query := range []string{"?status=lost", "?event=nope", "?from=x", "?colour=red", "?page=0"} {
		w.must(400, w.owner, "GET", path+"/deliveries"+query, nil)
	}
	w.must(404, w.owner, "GET", path+"/deliveries/nope", nil)
	detail := path + "/deliveries/" + d["id"].(string)
	require.Equal(t, d, w.must(200, w.owner, "GET", detail, nil)["delivery"])
	for _, reader := range []string{w.member, w.teamAdmin} { // the webhook is of all teams
		w.must(403, reader, "GET", detail, nil)
		w.must(403, reader, "GET", path+"/deliveries", nil)
	}

	w.must(403, w.member, "POST", detail+"/replay", nil)
	again := w.must(202, w.owner, "POST", detail+"/replay", nil)["delivery"].(object)
	require.Equal(t, []any{"pending", d["id"]}, []any{again["status"], again["id"]})
	answer := w.must(202, w.owner, "POST", path+"/replay", object{"from": "2020-01-01"})
	require.Equal(t, "queued", answer["status"])
	require.NotEmpty(t, answer["task_id"])
	for _, bad := range []object{{}, {"from": "x"}, {"from": "2030-01-01"}, {"from": "2026-01-02", "to": "2026-01-01"}} {
		w.must(400, w.owner, "POST", path+"/replay", bad)
	}
	w.must(200, w.owner, "PUT", path, object{"status": "suspended"})
	w.must(409, w.owner, "POST", detail+"/replay", nil)
	w.must(409, w.owner, "POST", path+"/replay", object{"from": "2020-01-01"})
	require.Equal(t, []int{2, 2}, []int{w.Audited(account.WebhookTested), w.Audited(account.WebhookReplayed)})
}
