package oidc_test

import (
	"context"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/gin-gonic/gin"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/api/auth"
	"github.com/slipway-qa/slipway/api/auth/issuer/issuertest"
	handlers "github.com/slipway-qa/slipway/api/oidc"
	"github.com/slipway-qa/slipway/api/route/routetest"
	"github.com/slipway-qa/slipway/cmd/localservice/servicetest"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/crash/crashproject"
	"github.com/slipway-qa/slipway/tasks/outbound"
)

func TestMain(m *testing.M) {
	gin.SetMode(gin.ReleaseMode)
	os.Exit(servicetest.Main(m))
}

type object = map[string]any

// world is two organizations behind the handlers, and an issuer.
type world struct {
	*issuertest.Issuer
	db           *storage.DB
	ours, theirs *account.Bootstrap
	keys         *account.Issuer
	engine       *gin.Engine
	doc          *openapi3.T
}

func newWorld(t *testing.T, reach outbound.Config) *world {
	t.Helper()
	w := &world{Issuer: issuertest.New(), db: servicetest.DB(t)}
	t.Cleanup(w.Close)
	var err error
	w.keys, err = account.NewIssuer("local", nil)
	require.NoError(t, err)
	w.ours, w.theirs = w.bootstrap(t, "ours"), w.bootstrap(t, "theirs")
	guard, err := outbound.New(reach)
	require.NoError(t, err)
	authenticator, err := auth.New(auth.Config{DB: w.db, Region: "local", Guard: guard, FailuresPerMinute: 10_000})
	require.NoError(t, err)
	h, err := handlers.New(handlers.Config{DB: w.db, Keys: w.keys, Guard: guard})
	require.NoError(t, err)
	w.engine = routetest.Engine(routetest.ByCredentials(authenticator), h.Routes()...)
	text, err := os.ReadFile("../openapi.json")
	require.NoError(t, err)
	w.doc, err = openapi3.NewLoader().LoadFromData(text)
	require.NoError(t, err)
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

func byKey(key string) http.Header { return http.Header{"X-Api-Key": {key}} }

func byOIDC(key, token string) http.Header {
	return http.Header{http.CanonicalHeaderKey("X-OIDC-Config-Key"): {key}, "Authorization": {"Bearer " + token}}
}

// do sends a request below /api/v3/settings/oidc and holds the answer against the
// description. A body that is a text is a form.
func (w *world) do(t *testing.T, header http.Header, method, path string, body any) (int, object) {
	t.Helper()
	var text io.Reader
	kind := "application/json"
	switch b := body.(type) {
	case nil:
		text = http.NoBody
	case string:
		text, kind = strings.NewReader(b), "application/x-www-form-urlencoded"
	default:
		encoded, err := json.Marshal(b)
		require.NoError(t, err)
		text = strings.NewReader(string(encoded))
	}
	path = "/api/v3/settings/oidc" + path
	r := httptest.NewRequestWithContext(t.Context(), method, path, text)
	maps.Copy(r.Header, header)
	r.Header.Set("Content-Type", kind)
	rec := httptest.NewRecorder()
	w.engine.ServeHTTP(rec, r)
	w.describe(t, method, path, rec)
	answer := object{}
	if rec.Body.Len() > 0 {
		require.NoError(t, json.Unmarshal(rec.Body.Bytes(), &answer), rec.Body)
	}
	return rec.Code, answer
}

func (w *world) describe(t *testing.T, method, path string, rec *httptest.ResponseRecorder) {
	t.Helper()
	item := w.doc.Paths.Value(path)
	require.NotNil(t, item, path)
	rec.Header().Set("X-Request-Id", "of-the-router")
	input := &openapi3filter.ResponseValidationInput{
		RequestValidationInput: &openapi3filter.RequestValidationInput{Request: httptest.NewRequest(method, path, nil),
			Route: &routers.Route{Spec: w.doc, Path: path, PathItem: item, Method: method, Operation: item.GetOperation(method)}},
		Status: rec.Code, Header: rec.Header(), Options: &openapi3filter.Options{IncludeResponseStatus: true, MultiError: true}}
	input.SetBodyBytes(rec.Body.Bytes())
	require.NoError(t, openapi3filter.ValidateResponse(t.Context(), input), "%s %s", method, path)
}

func (w *world) must(t *testing.T, want int, header http.Header, method, path string, body any) object {
	t.Helper()
	code, answer := w.do(t, header, method, path, body)
	require.Equal(t, want, code, "%s %s %v: %v", method, path, body, answer)
	if resource, ok := answer["oidc"].(object); ok {
		return resource
	}
	return answer
}

// lastAudit is the newest entry of a type.
func (w *world) lastAudit(t *testing.T, of account.AuditType) account.AuditRow {
	t.Helper()
	rows, err := account.AuditEvents(t.Context(), w.db, w.ours.Organization.ID, storage.FirstPage())
	require.NoError(t, err)
	for _, row := range rows {
		if row.Type == of {
			return row
		}
	}
	require.Fail(t, "no audit entry")
	return account.AuditRow{}
}
