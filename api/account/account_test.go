package account_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/stretchr/testify/require"

	handlers "github.com/slipway-qa/slipway/api/account"
	"github.com/slipway-qa/slipway/api/auth"
	"github.com/slipway-qa/slipway/api/route/routetest"
	"github.com/slipway-qa/slipway/cmd/localservice/servicetest"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/crash/crashproject"
	"github.com/slipway-qa/slipway/storage/seal"
	"github.com/slipway-qa/slipway/storage/setting"
	"github.com/slipway-qa/slipway/tasks/outbound"
)

func TestMain(m *testing.M) {
	gin.SetMode(gin.ReleaseMode)
	os.Exit(servicetest.Main(m))
}

var signingKey = seal.Ring{[]byte("0123456789abcdef0123456789abcdef")}

// world is two organizations behind the handlers, with authentication.
type world struct {
	db           *storage.DB
	ours, theirs *account.Bootstrap
	keys         *account.Issuer
	engine       *gin.Engine
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{db: servicetest.DB(t)}
	var err error
	w.keys, err = account.NewIssuer("local", nil)
	require.NoError(t, err)
	w.ours, w.theirs = w.bootstrap(t, "ours"), w.bootstrap(t, "theirs")
	authenticator, err := auth.New(auth.Config{DB: w.db, Region: "local"})
	require.NoError(t, err)
	guard, err := outbound.New(outbound.Config{})
	require.NoError(t, err)
	h, err := handlers.New(handlers.Config{DB: w.db, Keys: w.keys, Guard: guard, SealKeys: signingKey})
	require.NoError(t, err)
	w.engine = routetest.Engine(routetest.ByCredentials(authenticator), h.Routes()...)
	return w
}

func (w *world) bootstrap(t *testing.T, slug string) *account.Bootstrap {
	t.Helper()
	b, err := account.NewBootstrap(w.keys, "")
	require.NoError(t, err)
	b.Organization.Slug, b.Owner.Email, b.Owner.Username, b.Operator.Username = slug, slug+"@example.com", slug, slug
	w.tx(t, func(ctx context.Context, tx *storage.Tx) error {
		return crashproject.ApplyBootstrap(ctx, tx, b, "local")
	})
	return b
}

func (w *world) tx(t *testing.T, fn func(context.Context, *storage.Tx) error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	require.NoError(t, w.db.InTx(ctx, func(tx *storage.Tx) error { return fn(ctx, tx) }))
}

// member creates a member of ours with a key.
func (w *world) member(t *testing.T, name string, role account.Role) (key string) {
	t.Helper()
	w.tx(t, func(ctx context.Context, tx *storage.Tx) error {
		u, err := account.CreateUser(ctx, tx, account.CLI(), account.NewUser{OrganizationID: w.ours.Organization.ID,
			Email: name + "@example.com", Role: role, TeamID: w.ours.Team.ID})
		if err != nil {
			return err
		}
		_, s, err := account.CreateKey(ctx, tx, account.CLI(), w.keys, account.NewKey{
			OrganizationID: w.ours.Organization.ID, UserID: u.ID, Kind: account.KindAPI})
		key = s.Text
		return err
	})
	return key
}

type object = map[string]any

// do sends a request with a key and reads the answer.
func (w *world) do(t *testing.T, key, method, path string, body any) (int, object) {
	t.Helper()
	var buf bytes.Buffer
	if body != nil {
		require.NoError(t, json.NewEncoder(&buf).Encode(body))
	}
	r := httptest.NewRequestWithContext(t.Context(), method, "/api/v3"+path, &buf)
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("X-API-Key", key)
	rec := httptest.NewRecorder()
	w.engine.ServeHTTP(rec, r)
	answer := object{}
	if rec.Body.Len() > 0 {
		require.NoError(t, json.Unmarshal(rec.Body.Bytes(), &answer), rec.Body)
	}
	return rec.Code, answer
}

func (w *world) must(t *testing.T, want int, key, method, path string, body any) object {
	t.Helper()
	code, answer := w.do(t, key, method, path, body)
	require.Equal(t, want, code, "%s %s: %v", method, path, answer)
	return answer
}

func number(t *testing.T, of object, members ...string) string {
	t.Helper()
	var v any = of
	for _, m := range members {
		v = v.(object)[m]
	}
	return fmt.Sprint(int64(v.(float64)))
}

func TestTokenExchange(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	answer := w.must(t, 200, w.ours.Owner.APIKey, "POST", "/auth/token", nil)
	expires, err := time.Parse(time.RFC3339, answer["expires_at"].(string))
	require.NoError(t, err)
	require.WithinDuration(t, time.Now().Add(time.Hour), expires, 10*time.Second)
	r := httptest.NewRequestWithContext(t.Context(), "GET", "/api/v3/me/keys", http.NoBody)
	r.Header.Set("Authorization", "Bearer "+answer["token"].(string))
	rec := httptest.NewRecorder()
	w.engine.ServeHTTP(rec, r)
	require.Equal(t, 200, rec.Code, rec.Body)
	// A token is no way to a further token.
	r = httptest.NewRequestWithContext(t.Context(), "POST", "/api/v3/auth/token", http.NoBody)
	r.Header.Set("Authorization", "Bearer "+answer["token"].(string))
	rec = httptest.NewRecorder()
	w.engine.ServeHTTP(rec, r)
	require.Equal(t, 403, rec.Code)
}

func TestOwnKeys(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	key := w.member(t, "dev", account.Member)
	second := w.must(t, 201, key, "POST", "/me/keys", object{"name": "ci"})
	require.True(t, strings.HasPrefix(second["secret"].(string), "slp_local_api_"))
	access := w.must(t, 201, key, "POST", "/me/keys", object{"kind": "access"})
	require.True(t, strings.HasPrefix(access["secret"].(string), "slp_local_acc_"))
	w.must(t, 400, key, "POST", "/me/keys", object{"kind": "root"})

	list := w.must(t, 200, second["secret"].(string), "GET", "/me/keys?per_page=2", nil)
	require.Len(t, list["keys"], 2)
	require.EqualValues(t, 3, list["pagination"].(object)["total"])
	require.NotContains(t, fmt.Sprint(list), second["secret"])
	w.must(t, 400, key, "GET", "/me/keys?per_page=0", nil)

	id := number(t, second, "key", "id")
	w.must(t, 404, w.ours.Owner.APIKey, "DELETE", "/me/keys/"+id, nil) // another user's
	w.must(t, 404, w.theirs.Owner.APIKey, "DELETE", "/me/keys/"+id, nil)
	w.must(t, 404, key, "DELETE", "/me/keys/x", nil)
	w.must(t, 204, key, "DELETE", "/me/keys/"+id, nil)
	w.must(t, 404, key, "DELETE", "/me/keys/"+id, nil)
	w.must(t, 401, second["secret"].(string), "GET", "/me/keys", nil)

	// Regenerating ends the former key at once, and keeps the other kind.
	renewed := w.must(t, 201, key, "POST", "/me/keys", object{"regenerate": true})
	w.must(t, 401, key, "GET", "/me/keys", nil)
	list = w.must(t, 200, renewed["secret"].(string), "GET", "/me/keys", nil)
	var live int
	for _, k := range list["keys"].([]any) {
		if k.(object)["revoked_at"] == nil {
			live++
		}
	}
	require.Equal(t, 2, live)
}

func TestOwnSessions(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	begin := func(b *account.Bootstrap, device string, at time.Time) {
		w.tx(t, func(ctx context.Context, tx *storage.Tx) error {
			return account.BeginConsoleSession(ctx, tx, account.CLI(), account.DigestOf(b.Organization.Slug+device), account.NewConsoleSession{
				OrganizationID: b.Organization.ID, UserID: b.Owner.ID, Device: device, Address: "192.0.2.1"}, at)
		})
	}
	key := w.ours.Owner.APIKey
	require.Empty(t, w.must(t, 200, key, "GET", "/me/sessions", nil)["sessions"])
	begin(w.ours, "phone", time.Now().Add(-time.Hour))
	begin(w.ours, "desk", time.Now())
	begin(w.ours, "old", time.Now().Add(-account.ConsoleLife-time.Hour))
	begin(w.theirs, "theirs", time.Now())

	list := w.must(t, 200, key, "GET", "/me/sessions", nil)["sessions"].([]any)
	require.Len(t, list, 2, "those that have not ended")
	desk, phone := list[0].(object), list[1].(object)
	require.Equal(t, "desk", desk["device"], "the one used last is first")
	require.Equal(t, "192.0.2.1", phone["address"])
	require.Equal(t, false, desk["current"], "the request came with a key")
	w.must(t, 400, key, "GET", "/me/sessions?page=1", nil)

	id := number(t, phone, "id")
	w.must(t, 404, w.theirs.Owner.APIKey, "DELETE", "/me/sessions/"+id, nil)
	w.must(t, 404, w.member(t, "dev", account.Member), "DELETE", "/me/sessions/"+id, nil)
	w.must(t, 404, key, "DELETE", "/me/sessions/x", nil)
	w.must(t, 204, key, "DELETE", "/me/sessions/"+id, nil)
	w.must(t, 404, key, "DELETE", "/me/sessions/"+id, nil)
	require.Len(t, w.must(t, 200, key, "GET", "/me/sessions", nil)["sessions"], 1)
	var ended int
	require.NoError(t, w.db.GetContext(t.Context(), &ended,
		`select count(*) from audit_events where type = $1 and organization_id = $2 and subject = $3`,
		account.ConsoleSessionEnded, w.ours.Organization.ID, "session "+id))
	require.Equal(t, 1, ended)
}

func TestServiceAccounts(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	owner, admin, member := w.ours.Owner.APIKey, w.member(t, "admin", account.Admin), w.member(t, "dev", account.Member)
	w.must(t, 403, member, "GET", "/service-accounts", nil)
	w.must(t, 403, admin, "POST", "/service-accounts", object{"username": "root", "role": "owner"})
	w.must(t, 400, admin, "POST", "/service-accounts", object{"username": "ci", "role": "tester"})
	w.must(t, 400, admin, "POST", "/service-accounts", object{"username": "Not A Name"})
	made := w.must(t, 201, admin, "POST", "/service-accounts", object{"username": "ci", "name": "CI", "team_id": w.ours.Team.ID})
	require.Equal(t, "member", made["service_account"].(object)["role"])
	w.must(t, 409, admin, "POST", "/service-accounts", object{"username": "ci"})
	id := number(t, made, "service_account", "id")
	bot := made["secret"].(string)
	w.must(t, 200, bot, "GET", "/me/keys", nil)

	list := w.must(t, 200, admin, "GET", "/service-accounts", nil)
	require.Len(t, list["service_accounts"], 1)
	require.Empty(t, w.must(t, 200, w.theirs.Owner.APIKey, "GET", "/service-accounts", nil)["service_accounts"])

	path := "/service-accounts/" + id
	second := w.must(t, 201, admin, "POST", path+"/keys", object{"regenerate": true})
	w.must(t, 401, bot, "GET", "/me/keys", nil)
	require.Len(t, w.must(t, 200, admin, "GET", path+"/keys", nil)["keys"], 2)
	w.must(t, 404, w.theirs.Owner.APIKey, "GET", path+"/keys", nil)
	w.must(t, 204, admin, "DELETE", path+"/keys/"+number(t, second, "key", "id"), nil)
	w.must(t, 401, second["secret"].(string), "GET", "/me/keys", nil)

	// An admin does not reach up to an owner's service account.
	boss := w.must(t, 201, owner, "POST", "/service-accounts", object{"username": "boss", "role": "owner"})
	above := "/service-accounts/" + number(t, boss, "service_account", "id")
	w.must(t, 403, admin, "POST", above+"/keys", object{})
	w.must(t, 403, admin, "DELETE", above, nil)
	w.must(t, 204, owner, "DELETE", above, nil)
	w.must(t, 401, boss["secret"].(string), "GET", "/me/keys", nil)

	w.must(t, 404, w.theirs.Owner.APIKey, "DELETE", path, nil)
	w.must(t, 204, admin, "DELETE", path, nil)
	w.must(t, 404, admin, "DELETE", path, nil)
	var audited int
	require.NoError(t, w.db.Get(&audited, `select count(*) from audit_events where type = $1`, account.ServiceAccountDeleted))
	require.Equal(t, 2, audited)
}

func TestSettings(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	owner := w.ours.Owner.APIKey
	require.Equal(t, object{"require_login": false, "generic_files": false, "landing_page_mode": "open", "healing": nil,
		"drift": nil, "trace": nil, "retries": nil, "generation_explore": nil, "audit_retention_days": nil,
		"retention_builds": nil, "retention_days": nil, "run_retention_days": nil, "run_retention_runs": nil},
		w.must(t, 200, owner, "GET", "/settings/organization", nil)["settings"])
	changed := w.must(t, 200, owner, "PUT", "/settings/organization", object{"require_login": true, "generic_files": true})
	require.Equal(t, true, changed["settings"].(object)["require_login"])
	for _, mode := range []any{"off", "suggest", "apply", nil} {
		got := w.must(t, 200, owner, "PUT", "/settings/organization", object{"healing": mode})["settings"].(object)
		require.Equal(t, mode, got["healing"])
		require.Equal(t, true, got["require_login"], "members that are not sent stay")
		require.Equal(t, got, w.must(t, 200, owner, "PUT", "/settings/organization", object{"generic_files": true})["settings"])
	}
	for _, mode := range []any{"on", "off", nil} {
		require.Equal(t, mode, w.must(t, 200, owner, "PUT", "/settings/organization",
			object{"generation_explore": mode})["settings"].(object)["generation_explore"])
	}
	for _, mode := range []any{"fail", "report", "off", nil} {
		got := w.must(t, 200, owner, "PUT", "/settings/organization", object{"drift": mode})["settings"].(object)
		require.Equal(t, mode, got["drift"])
	}
	w.must(t, 400, owner, "PUT", "/settings/organization", object{"drift": "apply"})
	w.must(t, 400, owner, "PUT", "/settings/organization", object{"generation_explore": "maybe"})
	for _, mode := range []any{"off", "on_failure", "on", nil} {
		got := w.must(t, 200, owner, "PUT", "/settings/organization", object{"trace": mode})["settings"].(object)
		require.Equal(t, mode, got["trace"])
	}
	w.must(t, 400, owner, "PUT", "/settings/organization", object{"trace": "always"})
	shown := w.must(t, 200, owner, "GET", "/settings/quotas", nil)["quotas"].([]any)
	require.Equal(t, object{"name": "stored_bytes", "used": 0.0, "bound": nil, "period": ""}, shown[0])
	require.Equal(t, object{"name": "crashes_per_day", "used": nil, "bound": nil, "period": "day"}, shown[2])
	w.must(t, 403, w.member(t, "reader", account.Member), "GET", "/settings/quotas", nil)
	kept := w.must(t, 200, owner, "PUT", "/settings/organization", object{"retention_builds": 50, "retention_days": "90"})["settings"].(object)
	require.Equal(t, []any{50.0, 90.0}, []any{kept["retention_builds"], kept["retention_days"]})
	kept = w.must(t, 200, owner, "PUT", "/settings/organization", object{"retention_days": nil})["settings"].(object)
	require.Equal(t, []any{50.0, nil}, []any{kept["retention_builds"], kept["retention_days"]})
	for _, bad := range []any{-1, 1.5, "many", 1_000_001} {
		w.must(t, 400, owner, "PUT", "/settings/organization", object{"retention_builds": bad})
	}
	w.must(t, 400, owner, "PUT", "/settings/organization", object{"retention_days": 36501})
	w.must(t, 400, owner, "PUT", "/settings/organization", object{"healing": "always"})
	w.must(t, 400, owner, "PUT", "/settings/organization", object{"healing": true})
	w.must(t, 400, owner, "PUT", "/settings/organization", object{"landing_page_mode": "ajar"})
	w.must(t, 400, owner, "PUT", "/settings/organization", object{"require_login": true, "landing_page_mode": "open"})
	w.must(t, 400, owner, "GET", "/service-accounts?role=admin", nil)
	w.must(t, 400, owner, "PUT", "/settings/organization", object{"require_login": "perhaps"})
	w.must(t, 403, w.member(t, "dev", account.Member), "PUT", "/settings/organization", object{})
	require.Equal(t, false, w.must(t, 200, w.theirs.Owner.APIKey, "GET", "/settings/organization", nil)["settings"].(object)["require_login"])
}

func TestStorageConnection(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	owner := w.ours.Owner.APIKey
	conn := object{"kind": "s3", "endpoint": "https://192.0.2.1", "bucket": "apps", "access_key": "AK", "secret": "hunter2"}
	w.must(t, 404, owner, "GET", "/settings/storage", nil)
	w.must(t, 400, owner, "PUT", "/settings/storage", conn) // reserved for documentation: not reachable
	conn["endpoint"] = "https://8.8.8.8"
	for name, change := range map[string]object{
		"kind":     {"kind": "ftp"},
		"no URL":   {"endpoint": "8.8.8.8"},
		"a path":   {"endpoint": "https://8.8.8.8/path"},
		"loopback": {"endpoint": "https://127.0.0.1"},
		"metadata": {"endpoint": "http://169.254.169.254"},
		"bucket":   {"bucket": ""},
		"secret":   {"secret": nil},
	} {
		bad := object{}
		for k, v := range conn {
			bad[k] = v
		}
		for k, v := range change {
			bad[k] = v
		}
		code, answer := w.do(t, owner, "PUT", "/settings/storage", bad)
		require.Equal(t, 400, code, "%s: %v", name, answer)
		require.NotContains(t, fmt.Sprint(answer), "hunter2")
	}
	answer := w.must(t, 200, owner, "PUT", "/settings/storage", conn)
	require.NotContains(t, fmt.Sprint(answer), "hunter2")
	stored, err := setting.ConnectionOf(t.Context(), w.db, w.ours.Organization.ID)
	require.NoError(t, err)
	require.NotContains(t, string(stored.Secret), "hunter2")
	secret, err := seal.Unseal(signingKey, seal.Connection, stored.Secret)
	require.NoError(t, err)
	require.Equal(t, "hunter2", secret)

	// The secret stays when it is not given, but not for another address.
	delete(conn, "secret")
	conn["prefix"] = "builds"
	w.must(t, 200, owner, "PUT", "/settings/storage", conn)
	for name, value := range map[string]string{"endpoint": "https://1.1.1.1", "kind": "http", "access_key": "other"} {
		was := conn[name]
		conn[name] = value
		code, answer := w.do(t, owner, "PUT", "/settings/storage", conn)
		require.Equal(t, 400, code, name)
		require.Contains(t, fmt.Sprint(answer), "secret: is required when "+name+" changes")
		conn[name] = was
	}
	stored, err = setting.ConnectionOf(t.Context(), w.db, w.ours.Organization.ID)
	require.NoError(t, err)
	require.Equal(t, "builds", stored.Prefix)
	secret, err = seal.Unseal(signingKey, seal.Connection, stored.Secret)
	require.NoError(t, err)
	require.Equal(t, "hunter2", secret)

	w.must(t, 404, w.theirs.Owner.APIKey, "GET", "/settings/storage", nil)
	w.must(t, 204, owner, "DELETE", "/settings/storage", nil)
	w.must(t, 404, owner, "DELETE", "/settings/storage", nil)
}
