package auth_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"testing"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/api/auth"
	"github.com/slipway-qa/slipway/api/respond"
	"github.com/slipway-qa/slipway/cmd/localservice/servicetest"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/crash/crashproject"
)

func TestMain(m *testing.M) {
	gin.SetMode(gin.ReleaseMode)
	os.Exit(servicetest.Main(m))
}

// world is one organization and an authenticator.
type world struct {
	db   *storage.DB
	keys *account.Issuer
	boot *account.Bootstrap
	auth *auth.Authenticator
}

func newWorld(t *testing.T, change func(*auth.Config)) *world {
	t.Helper()
	w := &world{db: servicetest.DB(t)}
	var err error
	w.keys, err = account.NewIssuer("local", nil)
	require.NoError(t, err)
	w.boot, err = account.NewBootstrap(w.keys, "")
	require.NoError(t, err)
	w.tx(t, func(ctx context.Context, tx *storage.Tx) error {
		return crashproject.ApplyBootstrap(ctx, tx, w.boot, "local")
	})
	cfg := auth.Config{DB: w.db, Region: "local", BaseDomain: "slipway.test", PublicHost: "www.slipway.test:8080"}
	if change != nil {
		change(&cfg)
	}
	w.auth, err = auth.New(cfg)
	require.NoError(t, err)
	return w
}

func (w *world) tx(t *testing.T, fn func(context.Context, *storage.Tx) error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	require.NoError(t, w.db.InTx(ctx, func(tx *storage.Tx) error { return fn(ctx, tx) }))
}

// member creates a member with both keys.
func (w *world) member(t *testing.T, email string) (u *account.User, api, access string) {
	t.Helper()
	w.tx(t, func(ctx context.Context, tx *storage.Tx) (err error) {
		u, err = account.CreateUser(ctx, tx, account.CLI(), account.NewUser{OrganizationID: w.boot.Organization.ID,
			Email: email, Role: account.Member, TeamID: w.boot.Team.ID})
		if err != nil {
			return err
		}
		for kind, to := range map[account.KeyKind]*string{account.KindAPI: &api, account.KindAccess: &access} {
			_, s, err := account.CreateKey(ctx, tx, account.CLI(), w.keys, account.NewKey{
				OrganizationID: w.boot.Organization.ID, UserID: u.ID, Kind: kind})
			if err != nil {
				return err
			}
			*to = s.Text
		}
		return nil
	})
	return u, api, access
}

// ask sends a request through Require and gives the answer and the caller.
func (w *world) ask(t *testing.T, of respond.Interface, action auth.Action,
	prepare func(*http.Request)) (*httptest.ResponseRecorder, *auth.Caller) {
	t.Helper()
	guard, err := w.auth.Require(of, action)
	require.NoError(t, err)
	rec := httptest.NewRecorder()
	c, _ := gin.CreateTestContext(rec)
	c.Request = httptest.NewRequestWithContext(t.Context(), http.MethodPost, "http://127.0.0.1/", nil)
	prepare(c.Request)
	guard(c)
	if c.IsAborted() {
		return rec, nil
	}
	return rec, auth.CallerOf(c.Request.Context())
}

func withKey(key string) func(*http.Request) {
	return func(r *http.Request) { r.Header.Set("X-API-Key", key) }
}

func withBasic(user, password string) func(*http.Request) {
	return func(r *http.Request) { r.SetBasicAuth(user, password) }
}
