package account_test

import (
	"context"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/cmd/localservice/servicetest"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
)

func TestMain(m *testing.M) { os.Exit(servicetest.Main(m)) }

func testContext(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	t.Cleanup(cancel)
	return ctx
}

func issuer(t *testing.T, region string) *account.Issuer {
	t.Helper()
	keys, err := account.NewIssuer(region, nil)
	require.NoError(t, err)
	return keys
}

// world is one bootstrapped organization.
type world struct {
	db   *storage.DB
	keys *account.Issuer
	boot *account.Bootstrap
}

func newWorld(t *testing.T) world {
	t.Helper()
	w := world{db: servicetest.DB(t), keys: issuer(t, "local")}
	var err error
	w.boot, err = account.NewBootstrap(w.keys, "http://127.0.0.1:8080")
	require.NoError(t, err)
	w.tx(t, func(ctx context.Context, tx *storage.Tx) error { return w.boot.Apply(ctx, tx, "local") })
	return w
}

// tx runs fn in a transaction that must be committed.
func (w world) tx(t *testing.T, fn func(context.Context, *storage.Tx) error) {
	t.Helper()
	require.NoError(t, w.try(t, fn))
}

func (w world) try(t *testing.T, fn func(context.Context, *storage.Tx) error) error {
	t.Helper()
	ctx := testContext(t)
	return w.db.InTx(ctx, func(tx *storage.Tx) error { return fn(ctx, tx) })
}

func (w world) count(t *testing.T, query string, args ...any) int {
	t.Helper()
	var n int
	require.NoError(t, w.db.GetContext(testContext(t), &n, query, args...))
	return n
}

// user creates a member of the bootstrapped organization.
func (w world) user(t *testing.T, email string, role account.Role) *account.User {
	t.Helper()
	var u *account.User
	w.tx(t, func(ctx context.Context, tx *storage.Tx) (err error) {
		u, err = account.CreateUser(ctx, tx, account.CLI(), account.NewUser{
			OrganizationID: w.boot.Organization.ID, Email: email, Role: role, TeamID: w.boot.Team.ID})
		return err
	})
	return u
}

func (w world) rotate(t *testing.T, userID int64, kind account.KeyKind) account.Secret {
	t.Helper()
	var s account.Secret
	w.tx(t, func(ctx context.Context, tx *storage.Tx) (err error) {
		_, s, err = account.RotateKey(ctx, tx, account.CLI(), w.keys, account.NewKey{
			OrganizationID: w.boot.Organization.ID, UserID: userID, Kind: kind})
		return err
	})
	return s
}
