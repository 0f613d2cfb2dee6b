package intake

import (
	"context"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/cmd/localservice/servicetest"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/crash/crashproject"
	"github.com/slipway-qa/slipway/tasks/letter"
)

// A personal key in place of a token ends for everybody, is audited, and its
// owner is mailed; the owners of the organization when a machine owns it.
func TestLeakedKeyIsRevoked(t *testing.T) {
	t.Parallel()
	db := servicetest.DB(t)
	keys, err := account.NewIssuer("local", nil)
	require.NoError(t, err)
	boot, err := account.NewBootstrap(keys, "")
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	org := boot.Organization.ID
	var person, machine, kept account.Secret
	require.NoError(t, db.InTx(ctx, func(tx *storage.Tx) error {
		if err := crashproject.ApplyBootstrap(ctx, tx, boot, "local"); err != nil {
			return err
		}
		org = boot.Organization.ID
		u, err := account.CreateUser(ctx, tx, account.CLI(), account.NewUser{OrganizationID: org, Email: "dev@example.com", Role: account.Member})
		if err != nil {
			return err
		}
		bot, err := account.CreateServiceAccount(ctx, tx, account.CLI(), account.NewServiceAccount{OrganizationID: org,
			Username: "bot", Role: account.Member})
		if err != nil {
			return err
		}
		for to, id := range map[*account.Secret]int64{&person: u.ID, &kept: u.ID, &machine: bot.ID} {
			if _, *to, err = account.CreateKey(ctx, tx, account.CLI(), keys, account.NewKey{OrganizationID: org,
				UserID: id, Kind: account.KindAPI, Name: "ci"}); err != nil {
				return err
			}
		}
		return nil
	}))
	unknown, err := keys.New(account.KindAPI)
	require.NoError(t, err)

	l := NewLeaks(db, letter.New(letter.Config{}), slog.New(slog.DiscardHandler))
	for range 2 { // the second time there is nothing to end
		l.Found(ctx, person.Digest, crashLeak())
		l.Found(ctx, machine.Digest, crashLeak())
		l.Found(ctx, unknown.Digest, crashLeak())
	}
	for digest, ended := range map[account.Digest]bool{person.Digest: true, machine.Digest: true, kept.Digest: false} {
		_, err := account.IdentityByKey(ctx, db, account.KindAPI, digest)
		require.Equal(t, ended, err != nil)
	}
	var mails []struct{ Recipient, Subject, TextBody string }
	require.NoError(t, db.SelectContext(ctx, &mails, `select recipient, subject, text_body as textbody from mails order by created_at, id`))
	require.Len(t, mails, 2)
	require.Equal(t, "dev@example.com", mails[0].Recipient)
	require.Equal(t, boot.Owner.Email, mails[1].Recipient)
	require.Contains(t, mails[0].TextBody, person.Hint)
	for _, m := range mails {
		require.False(t, strings.Contains(m.TextBody+m.Subject, person.Text) || strings.Contains(m.TextBody, machine.Text))
	}
	var n int
	require.NoError(t, db.GetContext(ctx, &n, `select count(*) from tasks where kind = 'mail:send' and organization_id = $1`, org))
	require.Equal(t, 2, n)
	require.NoError(t, db.GetContext(ctx, &n, `select count(*) from audit_events where type = $1 and actor = $2`,
		account.KeyRevoked, crashLeak().Actor))
	require.Equal(t, 2, n)
}
