package account_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/crash/crashproject"
)

func TestBootstrapIsIdempotent(t *testing.T) {
	t.Parallel()
	w := install(t)
	require.NotZero(t, w.boot.Organization.ID)
	require.NotZero(t, w.boot.Team.ID)
	require.NotZero(t, w.boot.Owner.ID)
	require.NotZero(t, w.boot.Crash.Project)
	events := w.Count(`select count(*) from audit_events`)
	again := *w.boot
	w.Must(func(ctx context.Context, tx *storage.Tx) error {
		return crashproject.ApplyBootstrap(ctx, tx, &again, "local")
	})
	require.Equal(t, *w.boot, again)
	require.Equal(t, events, w.Count(`select count(*) from audit_events`))

	// A lost file: another one adopts the rows and gets keys that work.
	other, err := account.NewBootstrap(w.Keys, "")
	require.NoError(t, err)
	w.Must(func(ctx context.Context, tx *storage.Tx) error {
		return crashproject.ApplyBootstrap(ctx, tx, other, "local")
	})
	require.Equal(t, w.boot.Organization, other.Organization)
	require.Equal(t, w.boot.Owner.UUID, other.Owner.UUID)
	id, err := account.IdentityByKey(testContext(t), w.DB, account.KindAPI, account.DigestOf(other.Owner.APIKey))
	require.NoError(t, err)
	require.Equal(t, w.boot.Owner.ID, id.UserID)
	require.Equal(t, account.Owner, id.Role)
	require.Equal(t, []account.TeamPlace{{ID: w.boot.Team.ID, UUID: w.boot.Team.UUID}}, id.Teams)
}

func TestBootstrapKeepsWhatWasChanged(t *testing.T) {
	t.Parallel()
	w := install(t)
	w.rotate(w.boot.Owner.ID, account.KindAPI)
	var password account.Secret
	w.Must(func(ctx context.Context, tx *storage.Tx) (err error) {
		_, password, err = account.RotateOperator(ctx, tx, account.CLI(), w.Keys, w.boot.Operator.Username)
		return err
	})
	w.Must(func(ctx context.Context, tx *storage.Tx) error {
		return crashproject.ApplyBootstrap(ctx, tx, w.boot, "local")
	})
	ctx := testContext(t)
	_, err := account.IdentityByKey(ctx, w.DB, account.KindAPI, account.DigestOf(w.boot.Owner.APIKey))
	require.ErrorIs(t, err, storage.ErrNotFound, "a rotated key must stay ended")
	_, err = account.OperatorByPassword(ctx, w.DB, "operator", account.DigestOf(w.boot.Operator.Password))
	require.ErrorIs(t, err, storage.ErrNotFound)
	_, err = account.OperatorByPassword(ctx, w.DB, "operator", password.Digest)
	require.NoError(t, err)
}

func TestBootstrapAtOnce(t *testing.T) {
	t.Parallel()
	w := install(t)
	boot, err := account.NewBootstrap(w.Keys, "")
	require.NoError(t, err)
	boot.Organization.Slug, boot.Owner.Email, boot.Owner.Username = "second", "second@example.com", "second"
	boot.Operator.Username = "second"
	var wg sync.WaitGroup
	for range 4 {
		mine := *boot
		wg.Go(func() {
			err := w.Do(func(ctx context.Context, tx *storage.Tx) error {
				return crashproject.ApplyBootstrap(ctx, tx, &mine, "local")
			})
			if err != nil {
				t.Errorf("apply: %v", err)
			}
		})
	}
	wg.Wait()
	require.Equal(t, 2, w.Count(`select count(*) from organizations`))
	require.Equal(t, 1, w.Count(`select count(*) from audit_events where action = 'operator.created' and subject = 'second'`))
}

func TestBootstrapRefusesForeignSecrets(t *testing.T) {
	t.Parallel()
	boot, err := account.NewBootstrap(issuer(t, "eu"), "")
	require.NoError(t, err)
	require.NoError(t, boot.Check("eu"))
	var re *account.RegionError
	require.True(t, errors.As(boot.Check("local"), &re))
	boot.Operator.Password = "hunter2"
	var invalid *storage.InvalidError
	require.True(t, errors.As(boot.Check("eu"), &invalid))
	require.Equal(t, "operator.password", invalid.Field)
}

func TestRotationEndsFormerKeysAtOnce(t *testing.T) {
	t.Parallel()
	w := install(t)
	ctx := testContext(t)
	org := w.boot.Organization.ID
	dev := w.user("dev@example.com", account.Member)
	first := w.rotate(dev.ID, account.KindAPI)
	access := w.rotate(dev.ID, account.KindAccess)
	var extra account.Secret
	var extraRow *account.KeyRow
	w.Must(func(ctx context.Context, tx *storage.Tx) (err error) {
		extraRow, extra, err = account.CreateKey(ctx, tx, account.CLI(), w.Keys, account.NewKey{
			OrganizationID: org, UserID: dev.ID, Kind: account.KindAPI, Name: "ci"})
		return err
	})
	for _, s := range []account.Secret{first, extra} {
		id, err := account.IdentityByKey(ctx, w.DB, account.KindAPI, s.Digest)
		require.NoError(t, err)
		require.Equal(t, dev.ID, id.UserID)
		require.True(t, id.Stale)
	}
	_, err := account.IdentityByKey(ctx, w.DB, account.KindAccess, first.Digest)
	require.ErrorIs(t, err, storage.ErrNotFound, "a key of one kind is no key of the other")

	// Last use is written once within some minutes.
	require.NoError(t, account.TouchKey(ctx, w.DB, extraRow.ID))
	id, err := account.IdentityByKey(ctx, w.DB, account.KindAPI, extra.Digest)
	require.NoError(t, err)
	require.False(t, id.Stale)

	second := w.rotate(dev.ID, account.KindAPI)
	for _, s := range []account.Secret{first, extra} {
		_, err := account.IdentityByKey(ctx, w.DB, account.KindAPI, s.Digest)
		require.ErrorIs(t, err, storage.ErrNotFound)
	}
	_, err = account.IdentityByKey(ctx, w.DB, account.KindAPI, second.Digest)
	require.NoError(t, err)
	_, err = account.IdentityByKey(ctx, w.DB, account.KindAccess, access.Digest)
	require.NoError(t, err, "the other kind goes on")

	keys, err := account.Keys(ctx, w.DB, org, dev.ID, storage.FirstPage())
	require.NoError(t, err)
	require.Len(t, keys, 4)
	require.Nil(t, keys[0].RevokedAt)
	w.Must(func(ctx context.Context, tx *storage.Tx) error {
		return account.RevokeKey(ctx, tx, account.CLI(), org, keys[0].ID)
	})
	_, err = account.IdentityByKey(ctx, w.DB, account.KindAPI, second.Digest)
	require.ErrorIs(t, err, storage.ErrNotFound)
	require.ErrorIs(t, w.Do(func(ctx context.Context, tx *storage.Tx) error {
		return account.RevokeKey(ctx, tx, account.CLI(), org, keys[0].ID)
	}), storage.ErrNotFound)
	require.Zero(t, w.Count(`select count(*) from api_keys where position(convert_to($1, 'UTF8') in digest) > 0`, second.Text))
}

func TestTestersHaveNoKey(t *testing.T) {
	t.Parallel()
	w := install(t)
	org := w.boot.Organization.ID
	tester := w.user("tester@example.com", account.Tester)
	for _, kind := range []account.KeyKind{account.KindAPI, account.KindAccess} {
		var invalid *storage.InvalidError
		require.True(t, errors.As(w.Do(func(ctx context.Context, tx *storage.Tx) error {
			_, _, err := account.RotateKey(ctx, tx, account.CLI(), w.Keys, account.NewKey{OrganizationID: org, UserID: tester.ID, Kind: kind})
			return err
		}), &invalid))
	}
	require.Error(t, w.Do(func(ctx context.Context, tx *storage.Tx) error {
		_, err := account.CreateServiceAccount(ctx, tx, account.CLI(), account.NewServiceAccount{OrganizationID: org,
			Username: "bot", Role: account.Tester})
		return err
	}))

	// A demoted member keeps the old key, and the identity says what it is.
	dev := w.user("dev@example.com", account.Member)
	key := w.rotate(dev.ID, account.KindAPI)
	w.Must(func(ctx context.Context, tx *storage.Tx) error {
		return account.SetRole(ctx, tx, account.CLI(), org, dev.ID, account.Tester)
	})
	id, err := account.IdentityByKey(testContext(t), w.DB, account.KindAPI, key.Digest)
	require.NoError(t, err)
	require.Equal(t, account.Tester, id.Role)
}

func TestLastOwnerStays(t *testing.T) {
	t.Parallel()
	w := install(t)
	org := w.boot.Organization.ID
	block := func(user int64) error {
		return w.Do(func(ctx context.Context, tx *storage.Tx) error {
			return account.BlockUser(ctx, tx, account.CLI(), org, user)
		})
	}
	demote := func(user int64) error {
		return w.Do(func(ctx context.Context, tx *storage.Tx) error {
			return account.SetRole(ctx, tx, account.CLI(), org, user, account.Admin)
		})
	}
	require.ErrorIs(t, block(w.boot.Owner.ID), storage.ErrConflict)
	require.ErrorIs(t, demote(w.boot.Owner.ID), storage.ErrConflict)
	second := w.user("second@example.com", account.Owner)

	// Two owners who take each other's place at once: one of them stays.
	var wg sync.WaitGroup
	results := make([]error, 2)
	for i, user := range []int64{w.boot.Owner.ID, second.ID} {
		wg.Go(func() { results[i] = demote(user) })
	}
	wg.Wait()
	require.Equal(t, 1, w.Count(`select count(*) from memberships where role = 'owner' and blocked_at is null`))
	require.True(t, (results[0] == nil) != (results[1] == nil))
}

func TestBlockAndUnblock(t *testing.T) {
	t.Parallel()
	w := install(t)
	org := w.boot.Organization.ID
	dev := w.user("dev@example.com", account.Member)
	key := w.rotate(dev.ID, account.KindAPI)
	for _, step := range []struct {
		change  func(context.Context, *storage.Tx, account.Actor, int64, int64) error
		blocked bool
		events  int
	}{
		{account.BlockUser, true, 1}, {account.BlockUser, true, 1},
		{account.UnblockUser, false, 2}, {account.UnblockUser, false, 2},
	} {
		w.Must(func(ctx context.Context, tx *storage.Tx) error {
			return step.change(ctx, tx, account.CLI(), org, dev.ID)
		})
		id, err := account.IdentityByKey(testContext(t), w.DB, account.KindAPI, key.Digest)
		require.NoError(t, err)
		require.Equal(t, step.blocked, id.Blocked)
		require.Equal(t, step.events, w.Count(`select count(*) from audit_events where type in (1102, 1103)`))
	}
}

func TestOrganizationsAreApart(t *testing.T) {
	t.Parallel()
	w := install(t)
	dev := w.user("dev@example.com", account.Member)
	var org *account.Organization
	var shared *account.User
	w.Must(func(ctx context.Context, tx *storage.Tx) (err error) {
		if org, err = account.CreateOrganization(ctx, tx, account.CLI(), account.NewOrganization{Slug: "other"}); err != nil {
			return err
		}
		// The same person in a second organization.
		shared, err = account.CreateUser(ctx, tx, account.CLI(), account.NewUser{OrganizationID: org.ID, Email: "DEV@example.com",
			Role: account.Owner})
		return err
	})
	require.Equal(t, dev.ID, shared.ID)
	stranger := w.user("stranger@example.com", account.Member)
	key := w.rotate(stranger.ID, account.KindAPI)
	keys, err := account.Keys(testContext(t), w.DB, w.boot.Organization.ID, stranger.ID, storage.FirstPage())
	require.NoError(t, err)
	tokens, err := crashproject.Tokens(testContext(t), w.DB, w.boot.Organization.ID, w.boot.Crash.Project, storage.FirstPage())
	require.NoError(t, err)
	require.Len(t, tokens, 1)
	for name, op := range map[string]func(context.Context, *storage.Tx) error{
		"revoke key": func(ctx context.Context, tx *storage.Tx) error {
			return account.RevokeKey(ctx, tx, account.CLI(), org.ID, keys[0].ID)
		},
		"rotate key": func(ctx context.Context, tx *storage.Tx) error {
			_, _, err := account.RotateKey(ctx, tx, account.CLI(), w.Keys, account.NewKey{OrganizationID: org.ID,
				UserID: stranger.ID, Kind: account.KindAPI})
			return err
		},
		"block": func(ctx context.Context, tx *storage.Tx) error {
			return account.BlockUser(ctx, tx, account.CLI(), org.ID, stranger.ID)
		},
		"team": func(ctx context.Context, tx *storage.Tx) error {
			return account.AddToTeam(ctx, tx, account.CLI(), org.ID, w.boot.Team.ID, shared.ID, true)
		},
		"token": func(ctx context.Context, tx *storage.Tx) error {
			_, _, err := crashproject.CreateToken(ctx, tx, account.CLI(), w.Keys, crashproject.NewToken{OrganizationID: org.ID,
				ProjectID: w.boot.Crash.Project})
			return err
		},
		"rotate token": func(ctx context.Context, tx *storage.Tx) error {
			_, _, err := crashproject.RotateToken(ctx, tx, account.CLI(), w.Keys, org.ID, tokens[0].ID)
			return err
		},
		"revoke token": func(ctx context.Context, tx *storage.Tx) error {
			return crashproject.RevokeToken(ctx, tx, account.CLI(), org.ID, tokens[0].ID)
		},
	} {
		require.ErrorIs(t, w.Do(op), storage.ErrNotFound, name)
	}
	_, err = account.IdentityByKey(testContext(t), w.DB, account.KindAPI, key.Digest)
	require.NoError(t, err)
}

func TestNamesAreChecked(t *testing.T) {
	t.Parallel()
	w := install(t)
	org := w.boot.Organization.ID
	long := strings.Repeat("x", 256)
	for name, op := range map[string]func(context.Context, *storage.Tx) error{
		"slug": func(ctx context.Context, tx *storage.Tx) error {
			_, err := account.CreateOrganization(ctx, tx, account.CLI(), account.NewOrganization{Slug: "Not.A.Label"})
			return err
		},
		"name": func(ctx context.Context, tx *storage.Tx) error {
			_, err := account.CreateTeam(ctx, tx, account.CLI(), account.NewTeam{OrganizationID: org, Name: long})
			return err
		},
		"control": func(ctx context.Context, tx *storage.Tx) error {
			_, err := crashproject.Create(ctx, tx, account.CLI(), org, "a\x00b")
			return err
		},
		"email": func(ctx context.Context, tx *storage.Tx) error {
			_, err := account.CreateUser(ctx, tx, account.CLI(), account.NewUser{OrganizationID: org, Email: "A <a@b.c>", Role: account.Member})
			return err
		},
		"role": func(ctx context.Context, tx *storage.Tx) error {
			_, err := account.CreateUser(ctx, tx, account.CLI(), account.NewUser{OrganizationID: org, Email: "a@b.c", Role: "root"})
			return err
		},
		"username": func(ctx context.Context, tx *storage.Tx) error {
			_, err := account.CreateServiceAccount(ctx, tx, account.CLI(), account.NewServiceAccount{OrganizationID: org,
				Username: "a:b", Role: account.Member})
			return err
		},
		"scope": func(ctx context.Context, tx *storage.Tx) error {
			_, _, err := crashproject.CreateToken(ctx, tx, account.CLI(), w.Keys, crashproject.NewToken{OrganizationID: org,
				ProjectID: w.boot.Crash.Project, Scopes: []string{"everything"}})
			return err
		},
		"quota": func(ctx context.Context, tx *storage.Tx) error {
			_, _, err := crashproject.CreateToken(ctx, tx, account.CLI(), w.Keys, crashproject.NewToken{OrganizationID: org,
				ProjectID: w.boot.Crash.Project, QuotaPerMinute: -1})
			return err
		},
	} {
		var invalid *storage.InvalidError
		require.True(t, errors.As(w.Do(op), &invalid), name)
	}
	for name, op := range map[string]func(context.Context, *storage.Tx) error{
		"organization": func(ctx context.Context, tx *storage.Tx) error {
			_, err := account.CreateOrganization(ctx, tx, account.CLI(), account.NewOrganization{Slug: w.boot.Organization.Slug})
			return err
		},
		"member": func(ctx context.Context, tx *storage.Tx) error {
			_, err := account.CreateUser(ctx, tx, account.CLI(), account.NewUser{OrganizationID: org, Email: w.boot.Owner.Email,
				Role: account.Member})
			return err
		},
		"username": func(ctx context.Context, tx *storage.Tx) error {
			_, err := account.CreateUser(ctx, tx, account.CLI(), account.NewUser{OrganizationID: org, Email: "x@y.z",
				Username: "owner", Role: account.Member})
			return err
		},
	} {
		require.ErrorIs(t, w.Do(op), storage.ErrConflict, name)
	}
	// A derived user name gives way.
	u := w.user("owner@example.com", account.Member)
	require.Regexp(t, `^owner-[0-9a-f-]+$`, u.Username)
}

func TestCrashTokens(t *testing.T) {
	t.Parallel()
	w := install(t)
	org := w.boot.Organization.ID
	var first *crashproject.Token
	w.Must(func(ctx context.Context, tx *storage.Tx) (err error) {
		first, _, err = crashproject.CreateToken(ctx, tx, account.CLI(), w.Keys, crashproject.NewToken{OrganizationID: org,
			ProjectID: w.boot.Crash.Project, Name: "app", Scopes: []string{"symbol:post", "error:post", "error:post"}, QuotaPerMinute: 600})
		return err
	})
	require.Equal(t, []string{"error:post", "symbol:post"}, []string(first.Scopes))
	var second *crashproject.Token
	var secret account.Secret
	w.Must(func(ctx context.Context, tx *storage.Tx) (err error) {
		second, secret, err = crashproject.RotateToken(ctx, tx, account.CLI(), w.Keys, org, first.ID)
		return err
	})
	require.Equal(t, first.Name, second.Name)
	require.Equal(t, first.Scopes, second.Scopes)
	require.Equal(t, 600, *second.QuotaPerMinute)
	require.Equal(t, 1, w.Count(`select count(*) from crash_tokens where digest = $1 and revoked_at is null`, secret.Digest[:]))
	require.Equal(t, 1, w.Count(`select count(*) from crash_tokens where id = $1 and revoked_at is not null`, first.ID))
	w.Must(func(ctx context.Context, tx *storage.Tx) error {
		return crashproject.RevokeToken(ctx, tx, account.CLI(), org, second.ID)
	})
	for _, id := range []int64{first.ID, second.ID} {
		require.ErrorIs(t, w.Do(func(ctx context.Context, tx *storage.Tx) error {
			_, _, err := crashproject.RotateToken(ctx, tx, account.CLI(), w.Keys, org, id)
			return err
		}), storage.ErrNotFound)
	}
}

func TestInstallationSecret(t *testing.T) {
	t.Parallel()
	w := install(t)
	secret, err := account.InstallationSecret(testContext(t), w.DB)
	require.NoError(t, err)
	require.Len(t, secret, 32)
}

func TestCheckEmail(t *testing.T) {
	t.Parallel()
	for _, email := range []string{"ann@example.com", "ann+shop@example.com", "O'Brien@Example.com", "jörg@bücher.example", "用户@例子.广告"} {
		require.NoError(t, account.CheckEmail(email), email)
	}
	for _, email := range []string{"", "ann", "a@@b.example", "a b@c.example", "Ann <ann@example.com>", "a@b.example, c@d.example",
		"a@b.example\r\nBcc: c@d.example", "a\x00@b.example", "a\u202e@b.example", "a\u200b@b.example", "\xff@b.example",
		strings.Repeat("a", 1_000_000) + "@b.example"} {
		var invalid *storage.InvalidError
		require.ErrorAs(t, account.CheckEmail(email), &invalid, "%.40q", email)
		require.Equal(t, "email", invalid.Field)
	}
}
