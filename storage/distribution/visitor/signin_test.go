package visitor_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/cmd/localservice/servicetest/fixture"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/distribution/visitor"
)

func TestSignIn(t *testing.T) {
	t.Parallel()
	f := fixture.New(t)
	ctx := t.Context()
	tester := f.Org.NewUser("tester", account.Tester).ID
	user, blocked, err := visitor.SignInCandidate(ctx, f.DB, f.Org.ID, "TESTER@ACME.example.com")
	require.NoError(t, err)
	require.Equal(t, tester, user)
	require.False(t, blocked)
	for _, email := range []string{"nobody@example.com", "x", "a\x00@example.com"} {
		_, _, err = visitor.SignInCandidate(ctx, f.DB, f.Org.ID, email)
		require.ErrorIs(t, err, storage.ErrNotFound)
	}
	_, _, err = visitor.SignInCandidate(ctx, f.DB, f.Rival.ID, "tester@acme.example.com")
	require.ErrorIs(t, err, storage.ErrNotFound)

	now := time.Now()
	link, session := account.DigestOf("link"), account.DigestOf("session")
	create := func(d account.Digest, org int64, path string, expires time.Time) error {
		return f.Do(func(ctx context.Context, tx *storage.Tx) error {
			return visitor.CreateSignInLink(ctx, tx, org, tester, d, path, expires, now.Add(-time.Hour), 3)
		})
	}
	for _, path := range []string{"", "x", "//evil", `/\evil`, "/a\nb"} {
		require.Equal(t, "path", fixture.InvalidField(t, create(link, f.Org.ID, path, now)))
	}
	require.ErrorIs(t, create(link, f.Rival.ID, "/", now), storage.ErrNotFound)
	require.NoError(t, create(link, f.Org.ID, "/install/x", now.Add(time.Hour)))
	require.NoError(t, create(account.DigestOf("late"), f.Org.ID, "/", now.Add(-time.Minute)))
	errs := make([]error, 4)
	fixture.Parallel(len(errs), func(i int) {
		errs[i] = create(account.DigestOf(string(rune('a'+i))), f.Org.ID, "/", now.Add(time.Hour))
	})
	refused := 0
	for _, err := range errs {
		if err != nil {
			require.ErrorIs(t, err, storage.ErrConflict)
			refused++
		}
	}
	require.Equal(t, 3, refused, "three in an hour")

	path, err := visitor.PeekSignInLink(ctx, f.DB, link, now)
	require.NoError(t, err)
	require.Equal(t, "/install/x", path)
	use := func(d account.Digest, s string) error {
		return f.Do(func(ctx context.Context, tx *storage.Tx) error {
			_, err := visitor.UseSignInLink(ctx, tx, d, account.DigestOf(s), now, now.Add(time.Hour))
			return err
		})
	}
	require.ErrorIs(t, use(account.DigestOf("late"), "s"), storage.ErrNotFound)
	f.Must(func(ctx context.Context, tx *storage.Tx) error {
		used, err := visitor.UseSignInLink(ctx, tx, link, session, now, now.Add(time.Hour))
		require.Equal(t, &visitor.UsedLink{OrganizationID: f.Org.ID, UserID: tester, Path: "/install/x"}, used)
		return err
	})
	require.ErrorIs(t, use(link, "again"), storage.ErrNotFound, "once")
	_, err = visitor.PeekSignInLink(ctx, f.DB, link, now)
	require.ErrorIs(t, err, storage.ErrNotFound)

	v, err := visitor.BySession(ctx, f.DB, session, now)
	require.NoError(t, err)
	require.WithinDuration(t, now.Add(time.Hour), v.ExpiresAt, time.Second)
	require.WithinDuration(t, time.Now(), v.CreatedAt, 3*time.Minute)
	v.CreatedAt, v.ExpiresAt = time.Time{}, time.Time{}
	require.Equal(t, &visitor.Visitor{OrganizationID: f.Org.ID, OrganizationName: v.OrganizationName, OrganizationSlug: "acme", UserID: tester,
		Email: "tester@acme.example.com", Role: account.Tester, Via: visitor.ByMail}, v)
	_, err = visitor.BySession(ctx, f.DB, session, now.Add(2*time.Hour))
	require.ErrorIs(t, err, storage.ErrNotFound)
	n, err := visitor.ForgetSessions(ctx, f.DB, now, 10)
	require.NoError(t, err)
	require.EqualValues(t, 1, n, "the late link")
	require.NoError(t, visitor.EndSession(ctx, f.DB, session))
	_, err = visitor.BySession(ctx, f.DB, session, now)
	require.ErrorIs(t, err, storage.ErrNotFound)
	n, err = visitor.ForgetSessions(ctx, f.DB, now.Add(3*time.Hour), 10)
	require.NoError(t, err)
	require.EqualValues(t, 2, n)
}
