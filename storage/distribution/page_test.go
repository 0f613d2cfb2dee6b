package distribution_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/cmd/localservice/servicetest/fixture"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	. "github.com/slipway-qa/slipway/storage/distribution"
)

func TestLandingByName(t *testing.T) {
	t.Parallel()
	f := fixture.New(t)
	ctx := testContext(t)
	u := f.NewUpload(fixture.APK("com.example.app", "1", "1"))
	u.Slug = "My-Slug"
	old, latest := f.Upload(u), f.App("com.example.app")
	for name, want := range map[string]struct {
		build   int64
		ofBuild bool
	}{
		"my-SLUG": {latest.Build.ID, false}, old.Project.Token: {latest.Build.ID, false},
		old.Build.Token: {old.Build.ID, true}, strings.ToUpper(latest.Build.Token): {latest.Build.ID, true},
	} {
		page, err := LandingByName(ctx, f.DB, name)
		require.NoError(t, err)
		require.Equal(t, old.Project.ID, page.Project.ID)
		require.Equal(t, want.build, page.Build.ID)
		require.Equal(t, want.ofBuild, page.OfBuild)
		require.Equal(t, "acme", page.OrganizationName)
		require.False(t, page.LoginRequired)
	}
	for _, name := range []string{"", "nobody", "a\x00b", strings.Repeat("x", 5000)} {
		_, err := LandingByName(ctx, f.DB, name)
		require.ErrorIs(t, err, storage.ErrNotFound)
	}
	changeSettings(f, SettingsChange{RequireLogin: ptr(true)})
	_, _, err := editBuild(f, latest.Build.ID, BuildChange{State: ptr(Disabled)})
	require.NoError(t, err)
	enabled, err := LatestBuildsFor(ctx, f.DB, old.Project.ID, 0, true, 5)
	require.NoError(t, err)
	require.Len(t, enabled, 1)
	require.Equal(t, old.Build.ID, enabled[0].ID)
	for _, id := range []int64{latest.Build.ID, old.Build.ID} {
		f.Must(func(ctx context.Context, tx *storage.Tx) error {
			return DeleteBuild(ctx, tx, f.Org.Member.Writer, 0, id)
		})
	}
	page, err := LandingByName(ctx, f.DB, "my-slug")
	require.NoError(t, err)
	require.Nil(t, page.Build)
	require.True(t, page.LoginRequired)
	_, err = LandingByName(ctx, f.DB, old.Build.Token)
	require.ErrorIs(t, err, storage.ErrNotFound)
	f.Must(func(ctx context.Context, tx *storage.Tx) error {
		return DeleteProject(ctx, tx, f.Org.Member.Writer, old.Project.ID)
	})
	_, err = LandingByName(ctx, f.DB, "my-slug")
	require.ErrorIs(t, err, storage.ErrNotFound)
}

func TestSignIn(t *testing.T) {
	t.Parallel()
	f := fixture.New(t)
	ctx := testContext(t)
	tester := f.Org.NewUser("tester", account.Tester).ID
	user, blocked, err := SignInCandidate(ctx, f.DB, f.Org.ID, "TESTER@ACME.example.com")
	require.NoError(t, err)
	require.Equal(t, tester, user)
	require.False(t, blocked)
	for _, email := range []string{"nobody@example.com", "x", "a\x00@example.com"} {
		_, _, err = SignInCandidate(ctx, f.DB, f.Org.ID, email)
		require.ErrorIs(t, err, storage.ErrNotFound)
	}
	_, _, err = SignInCandidate(ctx, f.DB, f.Rival.ID, "tester@acme.example.com")
	require.ErrorIs(t, err, storage.ErrNotFound)

	now := time.Now()
	link, session := account.DigestOf("link"), account.DigestOf("session")
	create := func(d account.Digest, org int64, path string, expires time.Time) error {
		return f.Do(func(ctx context.Context, tx *storage.Tx) error {
			return CreateSignInLink(ctx, tx, org, tester, d, path, expires, now.Add(-time.Hour), 3)
		})
	}
	for _, path := range []string{"", "x", "//evil", `/\evil`, "/a\nb"} {
		require.Equal(t, "path", invalidField(t, create(link, f.Org.ID, path, now)))
	}
	require.ErrorIs(t, create(link, f.Rival.ID, "/", now), storage.ErrNotFound)
	require.NoError(t, create(link, f.Org.ID, "/install/x", now.Add(time.Hour)))
	require.NoError(t, create(account.DigestOf("late"), f.Org.ID, "/", now.Add(-time.Minute)))
	errs := make([]error, 4)
	parallel(len(errs), func(i int) {
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

	path, err := PeekSignInLink(ctx, f.DB, link, now)
	require.NoError(t, err)
	require.Equal(t, "/install/x", path)
	use := func(d account.Digest, s string) error {
		return f.Do(func(ctx context.Context, tx *storage.Tx) error {
			_, err := UseSignInLink(ctx, tx, d, account.DigestOf(s), now, now.Add(time.Hour))
			return err
		})
	}
	require.ErrorIs(t, use(account.DigestOf("late"), "s"), storage.ErrNotFound)
	f.Must(func(ctx context.Context, tx *storage.Tx) error {
		used, err := UseSignInLink(ctx, tx, link, session, now, now.Add(time.Hour))
		require.Equal(t, &UsedLink{OrganizationID: f.Org.ID, UserID: tester, Path: "/install/x"}, used)
		return err
	})
	require.ErrorIs(t, use(link, "again"), storage.ErrNotFound, "once")
	_, err = PeekSignInLink(ctx, f.DB, link, now)
	require.ErrorIs(t, err, storage.ErrNotFound)

	v, err := VisitorBySession(ctx, f.DB, session, now)
	require.NoError(t, err)
	require.WithinDuration(t, now.Add(time.Hour), v.ExpiresAt, time.Second)
	require.WithinDuration(t, time.Now(), v.CreatedAt, 3*time.Minute)
	v.CreatedAt, v.ExpiresAt = time.Time{}, time.Time{}
	require.Equal(t, &Visitor{OrganizationID: f.Org.ID, OrganizationName: v.OrganizationName, OrganizationSlug: "acme", UserID: tester,
		Email: "tester@acme.example.com", Role: account.Tester, Via: ByMail}, v)
	_, err = VisitorBySession(ctx, f.DB, session, now.Add(2*time.Hour))
	require.ErrorIs(t, err, storage.ErrNotFound)
	n, err := ForgetSessions(ctx, f.DB, now, 10)
	require.NoError(t, err)
	require.EqualValues(t, 1, n, "the late link")
	require.NoError(t, EndSession(ctx, f.DB, session))
	_, err = VisitorBySession(ctx, f.DB, session, now)
	require.ErrorIs(t, err, storage.ErrNotFound)
	n, err = ForgetSessions(ctx, f.DB, now.Add(3*time.Hour), 10)
	require.NoError(t, err)
	require.EqualValues(t, 2, n)
}
