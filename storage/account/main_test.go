package account_test

import (
	"context"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/cmd/localservice/servicetest"
	"github.com/slipway-qa/slipway/cmd/localservice/servicetest/fixture"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
)

func TestMain(m *testing.M) { os.Exit(servicetest.Main(m)) }

func testContext(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	t.Cleanup(cancel)
	return ctx
}

func issuer(t *testing.T, region string) *account.Issuer {
	t.Helper()
	keys, err := account.NewIssuer(region, nil)
	require.NoError(t, err)
	return keys
}

// installation is a database after the first start.
type installation struct {
	*fixture.Fixture
	boot *account.Bootstrap
}

func install(t *testing.T) installation {
	t.Helper()
	f := fixture.Empty(t)
	return installation{f, f.Bootstrap("")}
}

// user creates a member of the first organization.
func (w installation) user(email string, role account.Role) (u *account.User) {
	w.T.Helper()
	w.Must(func(ctx context.Context, tx *storage.Tx) (err error) {
		u, err = account.CreateUser(ctx, tx, account.CLI(), account.NewUser{
			OrganizationID: w.boot.Organization.ID, Email: email, Role: role, TeamID: w.boot.Team.ID})
		return err
	})
	return u
}

func (w installation) rotate(userID int64, kind account.KeyKind) (s account.Secret) {
	w.T.Helper()
	w.Must(func(ctx context.Context, tx *storage.Tx) (err error) {
		_, s, err = account.RotateKey(ctx, tx, account.CLI(), w.Keys, account.NewKey{
			OrganizationID: w.boot.Organization.ID, UserID: userID, Kind: kind})
		return err
	})
	return s
}
