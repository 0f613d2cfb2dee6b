package account_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
)

// begin begins a session of the console and returns its digest.
func (w installation) begin(text string, n account.NewConsoleSession, now time.Time) account.Digest {
	w.T.Helper()
	digest := account.DigestOf(text)
	w.Must(func(ctx context.Context, tx *storage.Tx) error {
		return account.BeginConsoleSession(ctx, tx, account.CLI(), digest, n, now)
	})
	return digest
}

func TestConsoleSessionsOfAMember(t *testing.T) {
	t.Parallel()
	w := install(t)
	ctx, now := testContext(t), time.Now().Truncate(time.Second)
	ann := w.user("ann@example.com", account.Member)
	key := w.rotate(ann.ID, account.KindAPI)
	id, err := account.IdentityByKey(ctx, w.DB, account.KindAPI, key.Digest)
	require.NoError(t, err)
	org := w.boot.Organization.ID
	long := strings.Repeat("ü", 500)
	first := w.begin("first", account.NewConsoleSession{OrganizationID: org, UserID: ann.ID, KeyID: id.KeyID, Device: long,
		Address: "192.0.2.1"}, now)
	second := w.begin("second", account.NewConsoleSession{OrganizationID: org, UserID: ann.ID, Device: "a\x00b\nc"}, now)

	who, err := account.IdentityByConsole(ctx, w.DB, first, false, now)
	require.NoError(t, err)
	require.Equal(t, []any{ann.ID, org, account.Member, "", false}, []any{who.Member.UserID, who.Member.OrganizationID,
		who.Member.Role, who.Operator, who.Stale})
	require.Len(t, who.Member.Teams, 1)
	_, err = account.IdentityByConsole(ctx, w.DB, first, true, now)
	require.ErrorIs(t, err, storage.ErrNotFound, "a member's session is no operator's")

	// A use lets the session last from then on, and is stored once in five minutes.
	later := now.Add(10 * time.Minute)
	who, err = account.IdentityByConsole(ctx, w.DB, first, false, later)
	require.NoError(t, err)
	require.True(t, who.Stale)
	require.NoError(t, account.TouchConsole(ctx, w.DB, who.SessionID, later))
	require.NoError(t, account.TouchConsole(ctx, w.DB, who.SessionID, later.Add(time.Minute)))
	list, err := account.ConsoleSessions(ctx, w.DB, org, ann.ID, later)
	require.NoError(t, err)
	require.Len(t, list, 2)
	require.Equal(t, strings.Repeat("ü", 200), list[0].Device)
	require.WithinDuration(t, later, list[0].LastUsedAt, 0)
	require.WithinDuration(t, later.Add(account.ConsoleLife), list[0].ExpiresAt, 0)
	require.Empty(t, list[1].Device, "a name that cannot be shown is not kept")
	_, err = account.IdentityByConsole(ctx, w.DB, second, false, now.Add(account.ConsoleLife))
	require.ErrorIs(t, err, storage.ErrNotFound)

	// It ends by its owner, by nobody else, and with the key that began it.
	require.ErrorIs(t, account.EndConsoleSession(ctx, w.DB, org, w.boot.Owner.ID, list[1].ID), storage.ErrNotFound)
	require.NoError(t, account.EndConsoleSession(ctx, w.DB, org, ann.ID, list[1].ID))
	_, err = account.IdentityByConsole(ctx, w.DB, second, false, now)
	require.ErrorIs(t, err, storage.ErrNotFound)
	w.Must(func(ctx context.Context, tx *storage.Tx) error {
		return account.RevokeKey(ctx, tx, account.CLI(), org, id.KeyID)
	})
	_, err = account.IdentityByConsole(ctx, w.DB, first, false, now)
	require.ErrorIs(t, err, storage.ErrNotFound)

	third := w.begin("third", account.NewConsoleSession{OrganizationID: org, UserID: ann.ID}, now)
	require.NoError(t, account.EndConsole(ctx, w.DB, third))
	require.NoError(t, account.EndConsole(ctx, w.DB, third))
	_, err = account.IdentityByConsole(ctx, w.DB, third, false, now)
	require.ErrorIs(t, err, storage.ErrNotFound)
	require.Equal(t, 3, w.Audited(account.ConsoleSignedIn))
}

func TestConsoleSessionsOfAnOperator(t *testing.T) {
	t.Parallel()
	w := install(t)
	ctx, now := testContext(t), time.Now()
	op, err := account.OperatorByPassword(ctx, w.DB, w.boot.Operator.Username, account.DigestOf(w.boot.Operator.Password))
	require.NoError(t, err)
	digest := w.begin("op", account.NewConsoleSession{OperatorID: op.ID}, now)
	who, err := account.IdentityByConsole(ctx, w.DB, digest, true, now)
	require.NoError(t, err)
	require.Nil(t, who.Member)
	require.Equal(t, w.boot.Operator.Username, who.Operator)
	_, err = account.IdentityByConsole(ctx, w.DB, digest, false, now)
	require.ErrorIs(t, err, storage.ErrNotFound)
	w.Must(func(ctx context.Context, tx *storage.Tx) error {
		_, _, err := account.RotateOperator(ctx, tx, account.CLI(), w.Keys, op.Username)
		return err
	})
	_, err = account.IdentityByConsole(ctx, w.DB, digest, true, now)
	require.ErrorIs(t, err, storage.ErrNotFound, "another password")
	digest = w.begin("op2", account.NewConsoleSession{OperatorID: op.ID}, now)
	w.Must(func(ctx context.Context, tx *storage.Tx) error {
		return account.RevokeOperator(ctx, tx, account.CLI(), op.Username)
	})
	_, err = account.IdentityByConsole(ctx, w.DB, digest, true, now)
	require.ErrorIs(t, err, storage.ErrNotFound)
}

// A link opens the console once; what has ended is forgotten.
func TestConsoleLinks(t *testing.T) {
	t.Parallel()
	w := install(t)
	ctx, now := testContext(t), time.Now()
	digest := account.DigestOf("link")
	require.NoError(t, account.CreateConsoleLink(ctx, w.DB, digest, w.boot.Organization.ID, w.boot.Owner.ID, now.Add(time.Minute)))
	stands, err := account.ConsoleLinkStands(ctx, w.DB, digest, now)
	require.NoError(t, err)
	require.True(t, stands)
	use := func(at time.Time) error {
		return w.Do(func(ctx context.Context, tx *storage.Tx) error {
			org, user, err := account.UseConsoleLink(ctx, tx, digest, at)
			if err == nil {
				require.Equal(t, []int64{w.boot.Organization.ID, w.boot.Owner.ID}, []int64{org, user})
			}
			return err
		})
	}
	require.ErrorIs(t, use(now.Add(time.Hour)), storage.ErrNotFound, "too old")
	require.NoError(t, use(now))
	require.ErrorIs(t, use(now), storage.ErrNotFound, "used")
	stands, err = account.ConsoleLinkStands(ctx, w.DB, digest, now)
	require.NoError(t, err)
	require.False(t, stands)

	require.NoError(t, account.CreateConsoleLink(ctx, w.DB, digest, w.boot.Organization.ID, w.boot.Owner.ID, now.Add(-time.Minute)))
	w.begin("old", account.NewConsoleSession{OrganizationID: w.boot.Organization.ID, UserID: w.boot.Owner.ID}, now.Add(-2*account.ConsoleLife))
	kept := w.begin("new", account.NewConsoleSession{OrganizationID: w.boot.Organization.ID, UserID: w.boot.Owner.ID}, now)
	n, err := account.ForgetConsole(ctx, w.DB, now, 10)
	require.NoError(t, err)
	require.Equal(t, int64(2), n)
	_, err = account.IdentityByConsole(ctx, w.DB, kept, false, now)
	require.NoError(t, err)
}
