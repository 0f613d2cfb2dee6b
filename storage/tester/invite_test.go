package tester_test

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/cmd/localservice/servicetest/fixture"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/tester"
)

// invited is a build of Org to which ann and bob are invited, and not carl of the rival.
type invited struct {
	*fixture.Fixture
	build     int64
	ann, bob  int64
	invites   map[int64]tester.Invite
	annMember int64
}

func newInvited(t *testing.T) *invited {
	t.Helper()
	w := &invited{Fixture: fixture.New(t)}
	w.build = w.App("com.example.app").Build.ID
	w.ann, w.bob = w.Org.NewUser("ann", account.Tester).ID, w.Org.NewUser("bob", account.Tester).ID
	carl := w.Rival.NewUser("carl", account.Tester).ID
	w.annMember = w.ID(`select id from memberships where user_id = $1`, w.ann)
	w.invites = w.ensure(w.bob, w.ann, carl, w.ann)
	require.Len(t, w.invites, 2)
	return w
}

func (w *invited) ensure(users ...int64) (made map[int64]tester.Invite) {
	w.T.Helper()
	w.Must(func(ctx context.Context, tx *storage.Tx) (err error) {
		made, err = tester.EnsureInvites(ctx, tx, w.Org.ID, w.build, users)
		return err
	})
	return made
}

// find opens a link.
func (w *invited) find(secret string) (*tester.Invite, error) {
	return tester.InviteBySecret(fixture.Context(w.T), w.DB, secret)
}

func (w *invited) requireClosed(secret, why string) {
	w.T.Helper()
	_, err := w.find(secret)
	require.ErrorIs(w.T, err, storage.ErrNotFound, why)
}

func TestInviteLinks(t *testing.T) {
	t.Parallel()
	w := newInvited(t)
	ann := w.invites[w.ann]
	require.Equal(t, []any{w.Org.ID, w.build, w.ann, w.annMember, tester.Created, "ann@acme.example.com"},
		[]any{ann.OrganizationID, ann.BuildID, ann.UserID, ann.TesterID, ann.Status, ann.Email})
	require.NotEqual(t, ann.Secret, w.invites[w.bob].Secret)
	require.Equal(t, w.invites, w.ensure(w.ann, w.bob), "inviting twice changes nothing")

	found, err := w.find(ann.Secret)
	require.NoError(t, err)
	require.Equal(t, ann, *found)
	prefix, signature, _ := strings.Cut(strings.TrimPrefix(ann.Secret, tester.SecretPrefix), "_")
	bobs, _, _ := strings.Cut(strings.TrimPrefix(w.invites[w.bob].Secret, tester.SecretPrefix), "_")
	for _, forged := range []string{"", tester.SecretPrefix, "x" + ann.Secret, ann.Secret + "A", strings.ToUpper(ann.Secret),
		tester.SecretPrefix + bobs + "_" + signature, tester.SecretPrefix + "+" + prefix + "_" + signature,
		tester.SecretPrefix + "0" + prefix + "_" + signature, tester.SecretPrefix + "-1_" + signature,
		tester.SecretPrefix + "zzzzzzzzzzzzzzz_" + signature, tester.SecretPrefix + strings.Repeat("1", 1<<20)} {
		w.requireClosed(forged, forged[:min(len(forged), 80)])
	}
	require.Zero(t, w.Count(`select count(*) from build_invites i where i::text like '%' || $1 || '%'`, signature),
		"the secret is stored nowhere")
}

func TestInviteEnds(t *testing.T) {
	t.Parallel()
	w := newInvited(t)
	ann, bob := w.invites[w.ann].Secret, w.invites[w.bob].Secret
	block := func(id int64, blocked bool) {
		w.Exec(`update memberships set blocked_at = case when $2 then now() end where user_id = $1`, id, blocked)
	}
	block(w.ann, true)
	w.requireClosed(ann, "blocked")
	require.Empty(t, w.ensure(w.ann))
	block(w.ann, false)
	_, err := w.find(ann)
	require.NoError(t, err, "an end of the block restores the invitation")

	revoke := func(organization, build int64) (n int64) {
		w.Must(func(ctx context.Context, tx *storage.Tx) (err error) {
			n, err = tester.RevokeInvites(ctx, tx, organization, w.ann, build)
			return err
		})
		return n
	}
	require.Zero(t, revoke(w.Rival.ID, 0))
	require.Zero(t, revoke(w.Org.ID, w.build+1))
	require.EqualValues(t, 1, revoke(w.Org.ID, 0))
	require.Zero(t, revoke(w.Org.ID, w.build))
	w.requireClosed(ann, "revoked")
	renewed := w.ensure(w.ann)[w.ann]
	require.Equal(t, tester.Created, renewed.Status)
	require.NotEqual(t, ann, renewed.Secret)
	w.requireClosed(ann, "the former link of a renewed invitation")

	w.Must(func(ctx context.Context, tx *storage.Tx) error {
		return tester.Remove(ctx, tx, account.CLI(), w.Org.ID, w.annMember)
	})
	w.requireClosed(renewed.Secret, "removed")
	w.Exec(`update builds set deleted_at = now()`)
	w.requireClosed(bob, "deleted build")
	require.Empty(t, w.ensure(w.ann, w.ann))
}

func TestMarkInvite(t *testing.T) {
	t.Parallel()
	w := newInvited(t)
	mark := func(status tester.Status) tester.Invite {
		w.Must(func(ctx context.Context, tx *storage.Tx) error {
			return tester.MarkInvite(ctx, tx, w.build, w.ann, status)
		})
		all, err := tester.InvitesOf(fixture.Context(t), w.DB, w.Org.ID, w.build, []int64{w.ann})
		require.NoError(t, err)
		return all[w.ann]
	}
	sent := mark(tester.Sent)
	require.Equal(t, tester.Sent, sent.Status)
	require.NotNil(t, sent.SentAt)
	installed := mark(tester.Installed)
	require.NotNil(t, installed.InstalledAt)
	require.Nil(t, installed.OpenedAt)
	require.Equal(t, installed, mark(tester.Opened), "never backwards")
	require.Equal(t, installed, mark(tester.Installed), "nor a second time")
	require.Equal(t, installed.Secret, w.invites[w.ann].Secret)
	w.Must(func(ctx context.Context, tx *storage.Tx) error {
		_, err := tester.RevokeInvites(ctx, tx, w.Org.ID, w.ann, w.build)
		return err
	})
	revoked := mark(tester.Opened)
	require.Equal(t, tester.Revoked, revoked.Status)
	require.Empty(t, revoked.Secret)
	all, err := tester.InvitesOf(fixture.Context(t), w.DB, w.Org.ID, w.build, []int64{w.bob})
	require.NoError(t, err)
	require.Equal(t, tester.Created, all[w.bob].Status)
}
