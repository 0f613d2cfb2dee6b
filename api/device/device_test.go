package device_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/gin-gonic/gin"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/api/auth"
	handlers "github.com/slipway-qa/slipway/api/device"
	"github.com/slipway-qa/slipway/api/route/routetest"
	"github.com/slipway-qa/slipway/cmd/localservice/servicetest"
	"github.com/slipway-qa/slipway/cmd/localservice/servicetest/fixture"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/device"
)

func TestMain(m *testing.M) {
	gin.SetMode(gin.ReleaseMode)
	os.Exit(servicetest.Main(m))
}

const (
	phone = "00008030-001A2B3C4D5E6F70"
	old   = "0123456789abcdef0123456789abcdef01234567"
)

type world struct {
	*fixture.Fixture
	engine               *gin.Engine
	admin, member, rival string // keys
	tess                 *fixture.User
	membership           int64
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{Fixture: fixture.New(t)}
	authenticator, err := auth.New(auth.Config{DB: w.DB, Region: "local"})
	require.NoError(t, err)
	w.engine = routetest.Engine(routetest.ByCredentials(authenticator), handlers.New(w.DB).Routes()...)
	w.admin = w.Org.NewUser("admin", account.Admin).Key(account.KindAPI)
	w.member = w.Org.NewUser("dev", account.Member).Key(account.KindAPI)
	w.rival = w.Rival.NewUser("boss", account.Admin).Key(account.KindAPI)
	w.tess = w.Org.NewUser("tess", account.Tester)
	w.membership = w.ID(`select id from memberships where user_id = $1`, w.tess.ID)
	return w
}

type object = map[string]any

func (w *world) raw(key, method, path, kind, body string) *httptest.ResponseRecorder {
	w.T.Helper()
	r := httptest.NewRequestWithContext(w.T.Context(), method, "/api/v3"+path, strings.NewReader(body))
	if body != "" {
		r.Header.Set("Content-Type", kind)
	}
	r.Header.Set("X-API-Key", key)
	rec := httptest.NewRecorder()
	w.engine.ServeHTTP(rec, r)
	return rec
}

func (w *world) must(status int, key, method, path, body string) object {
	w.T.Helper()
	rec := w.raw(key, method, path, "application/json", body)
	require.Equal(w.T, status, rec.Code, "%s %s %s: %s", method, path, body, rec.Body)
	answer := object{}
	if rec.Body.Len() > 0 {
		require.NoError(w.T, json.Unmarshal(rec.Body.Bytes(), &answer), rec.Body)
	}
	return answer
}

func TestDevices(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	require.Equal(t, object{"devices": []any{}, "pagination": object{"page": 1.0, "per_page": 25.0, "total": 0.0, "total_pages": 0.0}},
		w.must(200, w.admin, "GET", "/devices", ""))
	made := w.must(201, w.admin, "POST", "/devices", fmt.Sprintf(`{"udid":%q,"name":"Tess","product":"iPhone16,2","tester_id":%d}`,
		strings.ToLower(phone), w.membership))
	d := made["device"].(object)
	require.Equal(t, object{"id": float64(w.membership), "user_id": float64(w.tess.ID), "email": "tess@acme.example.com"}, d["tester"])
	for member, want := range map[string]any{"udid": phone, "name": "Tess", "product": "iPhone16,2", "os_version": "",
		"platform": "ios", "source": "admin", "verified": "none"} {
		require.Equal(t, want, d[member], member)
	}
	require.NotEmpty(t, d["created_at"])
	require.NotEmpty(t, d["updated_at"])
	path := fmt.Sprintf("/devices/%.0f", d["id"])
	require.Equal(t, d, w.must(200, w.admin, "GET", path, "")["device"])
	require.Equal(t, d, w.must(200, w.admin, "GET", path+"-iphone", "")["device"])

	// The same again, by mail address, as a form.
	rec := w.raw(w.admin, "POST", "/devices", "application/x-www-form-urlencoded", "udid="+phone+"&email=TESS@acme.example.com")
	require.Equal(t, 200, rec.Code, rec.Body)
	require.Equal(t, 1, w.Count(`select count(*) from tester_devices`))
	w.must(201, w.admin, "POST", "/devices", `{"udid":"`+old+`","platform":"mac","email":"tess@acme.example.com"}`)

	page := w.must(200, w.admin, "GET", "/devices?per_page=1&page=2", "")
	require.Equal(t, phone, page["devices"].([]any)[0].(object)["udid"], "newest first")
	require.Equal(t, object{"page": 2.0, "per_page": 1.0, "total": 2.0, "total_pages": 2.0}, page["pagination"])
	for search, want := range map[string]int{"TESS": 2, "iphone": 1, "0123": 1, "nobody": 0, "%25": 0} {
		require.Len(t, w.must(200, w.admin, "GET", "/devices?search="+search, "")["devices"], want, search)
	}
	for _, query := range []string{"page=0", "per_page=0", "per_page=x", "search=%00", "search=" + strings.Repeat("x", 300)} {
		w.must(400, w.admin, "GET", "/devices?"+query, "")
	}
	w.must(204, w.admin, "DELETE", path, "")
	w.must(404, w.admin, "DELETE", path, "")
	require.Equal(t, 3, w.Audited(account.DeviceRegistered))
	require.Equal(t, 1, w.Audited(account.DeviceRemoved))
}

func TestDevicesRefuse(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	stranger := w.ID(`select id from memberships where organization_id = $1 limit 1`, w.Rival.ID)
	const tess = `"email":"tess@acme.example.com"`
	for body, member := range map[string]string{
		`{"udid":"x","tester_id":1000000}`:                                      "tester_id",
		`{"udid":"x",` + tess + `}`:                                             "udid",
		`{` + tess + `}`:                                                        "udid",
		`{"udid":"` + phone + `"}`:                                              "tester_id",
		`{"udid":"` + phone + `","tester_id":1,` + tess + `}`:                   "tester_id",
		`{"udid":"` + phone + `","email":"nobody@example.com"}`:                 "email",
		fmt.Sprintf(`{"udid":%q,"tester_id":%d}`, phone, stranger):              "tester_id",
		`{"udid":"` + phone + `","tester_id":"many"}`:                           "tester_id",
		`{"udid":"` + phone + `",` + tess + `,"platform":"android"}`:            "platform",
		`{"udid":"` + phone + `",` + tess + `,"name":"a\tb"}`:                   "name",
		`{"udid":"` + phone + `",` + tess + `,"name":"` + long(51) + `"}`:       "name",
		`{"udid":"` + phone + `",` + tess + `,"product":"` + long(61) + `"}`:    "product",
		`{"udid":"` + phone + `",` + tess + `,"product":"` + long(1<<16) + `"}`: "product",
	} {
		answer := w.must(400, w.admin, "POST", "/devices", body)
		require.Contains(t, answer["error"], member, body)
	}
	w.Exec(`update memberships set blocked_at = now() where id = $1`, w.membership)
	w.must(400, w.admin, "POST", "/devices", fmt.Sprintf(`{"udid":%q,"tester_id":%d}`, phone, w.membership))
	w.Exec(`update memberships set blocked_at = null where id = $1`, w.membership)
	require.Zero(t, w.Count(`select count(*) from tester_devices`))

	made := w.must(201, w.admin, "POST", "/devices", fmt.Sprintf(`{"udid":%q,"tester_id":%d}`, phone, w.membership))
	path := fmt.Sprintf("/devices/%.0f", made["device"].(object)["id"])
	w.must(404, w.rival, "GET", path, "")
	w.must(404, w.rival, "DELETE", path, "")
	require.Empty(t, w.must(200, w.rival, "GET", "/devices", "")["devices"])
	require.NotContains(t, w.raw(w.rival, "GET", "/devices/export", "", "").Body.String(), phone)
	for _, id := range []string{"x", "0", "-1", "99999999999999999999"} {
		w.must(404, w.admin, "GET", "/devices/"+id, "")
		w.must(404, w.admin, "DELETE", "/devices/"+id, "")
	}
	for _, c := range [][2]string{{"GET", "/devices"}, {"POST", "/devices"}, {"GET", "/devices/export"}, {"GET", path}, {"DELETE", path}} {
		w.must(403, w.member, c[0], c[1], "")
		w.must(401, "", c[0], c[1], "")
	}
}

func long(n int) string { return strings.Repeat("n", n) }

func TestExport(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ann := w.Org.NewUser("ann", account.Tester)
	insert := func(user int64, udid, name, product string) {
		w.Must(func(ctx context.Context, tx *storage.Tx) error {
			_, _, err := device.Insert(ctx, tx, account.CLI(), device.New{OrganizationID: w.Org.ID, UserID: user,
				UDID: udid, Name: name, Product: product,
				Source: device.FromAdmin, Verified: device.Nothing})
			return err
		})
	}
	insert(w.tess.ID, phone, "=SUM(A1)", "iPhone16,2")
	insert(ann.ID, phone, "shared", "")
	insert(ann.ID, old, "", "MacBookPro18,1")
	insert(ann.ID, "00008030-000000000000000A", "+-=", "")
	blocked := w.Org.NewUser("blocked", account.Tester)
	insert(blocked.ID, "00008030-000000000000000B", "", "")
	w.Exec(`update memberships set blocked_at = now() where user_id = $1`, blocked.ID)
	rec := w.raw(w.admin, "GET", "/devices/export", "", "")
	require.Equal(t, http.StatusOK, rec.Code)
	require.Equal(t, "text/tab-separated-values; charset=utf-8", rec.Header().Get("Content-Type"))
	require.Equal(t, `attachment; filename="devices.txt"`, rec.Header().Get("Content-Disposition"))
	require.Equal(t, "Device ID\tDevice Name\tDevice Platform\n"+
		"00008030-000000000000000A\tDevice\tios\n"+
		phone+"\tSUM(A1)\tios\n"+
		old+"\tMacBookPro18,1 ann@acme.example.com\tmac\n", rec.Body.String())
	require.Equal(t, 1, w.Audited(account.DevicesExported))
	// More than one statement reads.
	w.Exec(`insert into tester_devices (organization_id, user_id, udid, platform, source, verified)
		select $1, $2, 'FF008030-' || lpad(n::text, 16, '0'), 'ios', 'admin', 'none' from generate_series(1, 2500) n`, w.Org.ID, ann.ID)
	require.Equal(t, 1+3+2500, strings.Count(w.raw(w.admin, "GET", "/devices/export", "", "").Body.String(), "\n"))
}
