package tester_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/cmd/localservice/servicetest/fixture"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/distribution/announcement"
	"github.com/slipway-qa/slipway/storage/distribution/grant"
	"github.com/slipway-qa/slipway/storage/distribution/installpage"
	"github.com/slipway-qa/slipway/storage/tester"
)

type change func(context.Context, *storage.Tx, account.Actor, int64, int64) error

func TestBlock(t *testing.T) {
	t.Parallel()
	f := fixture.New(t)
	ann := f.Org.NewUser("ann", account.Tester)
	id := f.ID(`select id from memberships where user_id = $1`, ann.ID)
	run := func(do change, organization, id int64) error {
		return f.Do(func(ctx context.Context, tx *storage.Tx) error { return do(ctx, tx, account.CLI(), organization, id) })
	}
	blocked := func() bool {
		found, err := tester.ByID(fixture.Context(t), f.DB, f.Org.ID, id)
		require.NoError(t, err)
		return found.Blocked()
	}
	f.Exec(`insert into bearer_tokens (digest, organization_id, user_id, expires_at) values (decode(repeat('00', 32), 'hex'), $1, $2, now())`,
		f.Org.ID, ann.ID)
	require.NoError(t, run(tester.Unblock, f.Org.ID, id))
	require.Zero(t, f.Audited(account.TesterUnblocked), "nobody was blocked")
	require.NoError(t, run(tester.Block, f.Org.ID, id))
	require.NoError(t, run(tester.Block, f.Org.ID, id))
	require.True(t, blocked())
	require.Equal(t, 1, f.Audited(account.TesterBlocked))
	require.Zero(t, f.Count(`select count(*) from bearer_tokens`))
	require.NoError(t, run(tester.Unblock, f.Org.ID, id))
	require.NoError(t, run(tester.Unblock, f.Org.ID, id))
	require.False(t, blocked())
	require.Equal(t, 1, f.Audited(account.TesterUnblocked))

	owner := f.ID(`select id from memberships where user_id = $1`, f.Org.Owner.ID)
	for name, do := range map[string]change{"block": tester.Block, "unblock": tester.Unblock, "remove": tester.Remove} {
		require.ErrorIs(t, run(do, f.Rival.ID, id), storage.ErrNotFound, name)
		require.ErrorIs(t, run(do, f.Org.ID, owner), storage.ErrNotFound, "%s: an owner is no tester", name)
		require.ErrorIs(t, run(do, f.Org.ID, 1<<40), storage.ErrNotFound, name)
	}
	_, err := tester.ByID(fixture.Context(t), f.DB, f.Rival.ID, id)
	require.ErrorIs(t, err, storage.ErrNotFound)
}

func TestRemove(t *testing.T) {
	t.Parallel()
	f := fixture.New(t)
	for _, leaves := range []bool{false, true} {
		ann := f.Org.NewUser(map[bool]string{false: "ann", true: "leaver"}[leaves], account.Tester)
		f.Exec(`insert into memberships (organization_id, user_id, role) values ($1, $2, 'member')`, f.Rival.ID, ann.ID)
		theirs := f.ID(`insert into tester_groups (organization_id, name) values ($1, $2) returning id`, f.Rival.ID, ann.Username)
		f.Exec(`insert into tester_group_members (tester_group_id, user_id) values ($1, $2)`, theirs, ann.ID)
		f.Group("QA "+ann.Username, ann.ID)
		build := f.App("com.example." + ann.Name).Build.ID
		for _, organization := range []int64{f.Org.ID, f.Rival.ID} {
			f.Exec(`insert into api_keys (organization_id, user_id, kind, digest, hint)
				values ($1::bigint, $2::bigint, 'api', decode(md5($1::text) || md5($2::text), 'hex'), 'x')`,
				organization, ann.ID)
			f.Exec(`insert into page_sessions (digest, organization_id, user_id, expires_at)
				values (decode(md5($1::text) || md5($2::text), 'hex'), $1::bigint, $2::bigint, now() + interval '1 hour')`, organization, ann.ID)
		}
		require.NoError(t, f.Do(func(ctx context.Context, tx *storage.Tx) error {
			_, err := tester.EnsureInvites(ctx, tx, f.Org.ID, build, []int64{ann.ID})
			return err
		}))
		f.Exec(`insert into build_installs (organization_id, build_id, user_id, channel) values ($1, $2, $3, 'page')`, f.Org.ID, build, ann.ID)
		id := f.ID(`select id from memberships where organization_id = $1 and user_id = $2`, f.Org.ID, ann.ID)
		f.Must(func(ctx context.Context, tx *storage.Tx) error {
			if leaves {
				return tester.Leave(ctx, tx, account.Actor{IPAddress: "203.0.113.9"}, f.Org.ID, ann.ID)
			}
			return tester.Remove(ctx, tx, account.CLI(), f.Org.ID, id)
		})
		for table, query := range map[string]string{
			"memberships": `select count(*) from memberships where organization_id = $1 and user_id = $2`,
			"invitations": `select count(*) from build_invites where organization_id = $1 and user_id = $2`,
			"installs":    `select count(*) from build_installs where organization_id = $1 and user_id = $2`,
			"sessions":    `select count(*) from page_sessions where organization_id = $1 and user_id = $2`,
			"keys":        `select count(*) from api_keys where organization_id = $1 and user_id = $2 and revoked_at is null`,
			"groups": `select count(*) from tester_group_members gm join tester_groups g on g.id = gm.tester_group_id
				where g.organization_id = $1 and gm.user_id = $2`,
		} {
			require.Zero(t, f.Count(query, f.Org.ID, ann.ID), table)
			if table != "invitations" && table != "installs" {
				require.Equal(t, 1, f.Count(query, f.Rival.ID, ann.ID), "%s of another organization", table)
			}
		}
		require.ErrorIs(t, f.Do(func(ctx context.Context, tx *storage.Tx) error {
			return tester.Leave(ctx, tx, account.CLI(), f.Org.ID, ann.ID)
		}), storage.ErrNotFound)
	}
	require.ErrorIs(t, f.Do(func(ctx context.Context, tx *storage.Tx) error {
		return tester.Leave(ctx, tx, account.CLI(), f.Org.ID, f.Org.Owner.ID)
	}), storage.ErrNotFound, "an owner does not leave by the page of testers")
	require.Equal(t, []int{1, 1}, []int{f.Audited(account.TesterRemoved), f.Audited(account.TesterLeft)})
	require.Equal(t, 1, f.Count(`select count(*) from audit_events where type = $1 and actor = 'leaver@acme.example.com'`,
		int(account.TesterLeft)))
}

func TestSignedIn(t *testing.T) {
	t.Parallel()
	f := fixture.New(t)
	ann := f.Org.NewUser("ann", account.Tester)
	signIn := func(organization int64) error {
		return f.Do(func(ctx context.Context, tx *storage.Tx) error {
			return tester.SignedIn(ctx, tx, account.Actor{RequestID: "r1"}, organization, ann.ID)
		})
	}
	require.ErrorIs(t, signIn(f.Rival.ID), storage.ErrNotFound)
	require.NoError(t, signIn(f.Org.ID))
	found, err := tester.ByID(fixture.Context(t), f.DB, f.Org.ID, f.ID(`select id from memberships where user_id = $1`, ann.ID))
	require.NoError(t, err)
	require.WithinDuration(t, time.Now(), *found.LastLoginAt, time.Minute)
	require.Equal(t, 1, f.Audited(account.TesterSignedIn))
}

// A blocked person is mailed nothing and gets no file.
func TestBlockedHaveNoAccess(t *testing.T) {
	t.Parallel()
	f := fixture.New(t)
	ann := f.Org.NewUser("ann", account.Tester)
	f.Group("QA", ann.ID)
	u := f.NewUpload(fixture.APK("com.example.app", "1.0", "1"))
	u.ProjectGroups = grant.Groups{Given: true, Names: []string{"QA"}}
	build := f.Upload(u).Build.ID
	require.NoError(t, f.Do(func(ctx context.Context, tx *storage.Tx) error {
		return tester.Block(ctx, tx, account.CLI(), f.Org.ID, f.ID(`select id from memberships where user_id = $1`, ann.ID))
	}))
	access, err := installpage.BuildAccess(fixture.Context(t), f.DB, build, ann.ID)
	require.NoError(t, err)
	require.Equal(t, installpage.Access{Blocked: true}, access)
	people, err := announcement.Recipients(fixture.Context(t), f.DB, build, 0, 10)
	require.NoError(t, err)
	require.Empty(t, people)
}
