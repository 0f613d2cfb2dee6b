package account_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/crash/crashproject"
)

func TestAuditTableIsSound(t *testing.T) {
	t.Parallel()
	numbers, actions := map[account.AuditType]bool{}, map[string]bool{}
	last := account.AuditType(0)
	for _, entry := range account.AuditTypes() {
		require.Greater(t, entry.Number, last, "the table is in order")
		require.Regexp(t, `^[a-z_]+\.[a-z_]+$`, entry.Action)
		require.NotEmpty(t, entry.Label)
		require.False(t, numbers[entry.Number] || actions[entry.Action])
		numbers[entry.Number], actions[entry.Action], last = true, true, entry.Number
	}
	// The two numbers of the distribution document.
	require.EqualValues(t, 1905, account.SecurityChanged)
	require.EqualValues(t, 1200, account.TestersInvited)
	_, ok := account.AuditType(1).Describe()
	require.False(t, ok)
}

func TestAuditIsPartOfTheTransaction(t *testing.T) {
	t.Parallel()
	w := install(t)
	before := w.Count(`select count(*) from audit_events`)
	boom := errors.New("boom")
	require.ErrorIs(t, w.Do(func(ctx context.Context, tx *storage.Tx) error {
		if _, err := account.CreateTeam(ctx, tx, account.CLI(), account.NewTeam{OrganizationID: w.boot.Organization.ID, Name: "b"}); err != nil {
			return err
		}
		return boom
	}), boom)
	require.Equal(t, before, w.Count(`select count(*) from audit_events`))

	actor := account.Actor{UserID: w.boot.Owner.ID, Name: "a\x00\xffb", RequestID: "r1", IPAddress: "192.0.2.1"}
	w.Must(func(ctx context.Context, tx *storage.Tx) error {
		return account.Audit(ctx, tx, account.Event{OrganizationID: w.boot.Organization.ID, Type: account.SecurityChanged,
			Actor: actor, Subject: "x", Detail: map[string]string{"from": "\x00"}})
	})
	rows, err := account.AuditEvents(testContext(t), w.DB, w.boot.Organization.ID, storage.Page{Limit: 1})
	require.NoError(t, err)
	require.Len(t, rows, 1)
	require.EqualValues(t, 1905, rows[0].Type)
	require.Equal(t, "security.changed", rows[0].Action)
	require.Equal(t, "a\uFFFD\uFFFDb", rows[0].Actor)
	require.Equal(t, "192.0.2.1", rows[0].IPAddress)
	require.True(t, json.Valid(rows[0].Detail))
	require.Error(t, w.Do(func(ctx context.Context, tx *storage.Tx) error {
		return account.Audit(ctx, tx, account.Event{Type: 7, Actor: actor})
	}))
	require.Error(t, w.Do(func(ctx context.Context, tx *storage.Tx) error {
		return account.Audit(ctx, tx, account.Event{Type: account.SecurityChanged})
	}))
	_, err = w.DB.ExecContext(testContext(t), `delete from audit_events`)
	require.Error(t, err, "append-only")
}

// Every function that changes something leaves one row or more; this is the list
// of what one scenario must have left.
func TestEveryChangeIsAudited(t *testing.T) {
	t.Parallel()
	w := install(t)
	org := w.boot.Organization.ID
	dev := w.user("dev@example.com", account.Member)
	w.rotate(dev.ID, account.KindAPI)
	cli := account.CLI()
	w.Must(func(ctx context.Context, tx *storage.Tx) error {
		key, _, err := account.CreateKey(ctx, tx, cli, w.Keys, account.NewKey{OrganizationID: org, UserID: dev.ID, Kind: account.KindAccess})
		token, _, err2 := crashproject.CreateToken(ctx, tx, cli, w.Keys, crashproject.NewToken{OrganizationID: org,
			ProjectID: w.boot.Crash.Project})
		if err = errors.Join(err, err2); err != nil {
			return err
		}
		token2, _, err := crashproject.RotateToken(ctx, tx, cli, w.Keys, org, token.ID)
		if err != nil {
			return err
		}
		_, err = account.CreateServiceAccount(ctx, tx, cli, account.NewServiceAccount{OrganizationID: org, Username: "bot", Role: account.Admin})
		_, _, err2 = account.RotateOperator(ctx, tx, cli, w.Keys, "operator")
		return errors.Join(err, err2, account.RevokeKey(ctx, tx, cli, org, key.ID),
			crashproject.RevokeToken(ctx, tx, cli, org, token2.ID), account.RevokeOperator(ctx, tx, cli, "operator"),
			account.SetRole(ctx, tx, cli, org, dev.ID, account.Admin), account.BlockUser(ctx, tx, cli, org, dev.ID),
			account.UnblockUser(ctx, tx, cli, org, dev.ID))
	})
	var actions []string
	require.NoError(t, w.DB.SelectContext(testContext(t), &actions, `select distinct action from audit_events order by action`))
	require.Equal(t, []string{"crash_project.created", "crash_token.created", "crash_token.revoked", "crash_token.rotated",
		"key.created", "key.revoked", "key.rotated", "operator.created", "operator.revoked", "operator.rotated",
		"organization.created", "service_account.created", "team.created", "team.member_added",
		"user.blocked", "user.created", "user.role_changed", "user.unblocked"}, actions)
	var leaked int
	require.NoError(t, w.DB.GetContext(testContext(t), &leaked,
		`select count(*) from audit_events where detail::text || subject || actor like '%slp\_%'`))
	require.Zero(t, leaked, "no key in the log")
	_, err := account.OperatorByPassword(testContext(t), w.DB, "operator", account.DigestOf(w.boot.Operator.Password))
	require.ErrorIs(t, err, storage.ErrNotFound)
}
