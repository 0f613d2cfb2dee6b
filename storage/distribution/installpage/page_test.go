package installpage_test

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/cmd/localservice/servicetest/fixture"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/distribution"
	"github.com/slipway-qa/slipway/storage/distribution/installpage"
	"github.com/slipway-qa/slipway/storage/setting"
)

func TestLandingByName(t *testing.T) {
	t.Parallel()
	f := fixture.New(t)
	ctx := t.Context()
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
		page, err := installpage.ByName(ctx, f.DB, name)
		require.NoError(t, err)
		require.Equal(t, old.Project.ID, page.Project.ID)
		require.Equal(t, want.build, page.Build.ID)
		require.Equal(t, want.ofBuild, page.OfBuild)
		require.Equal(t, "acme", page.OrganizationName)
		require.False(t, page.LoginRequired)
	}
	for _, name := range []string{"", "nobody", "a\x00b", strings.Repeat("x", 5000)} {
		_, err := installpage.ByName(ctx, f.DB, name)
		require.ErrorIs(t, err, storage.ErrNotFound)
	}
	f.Must(func(ctx context.Context, tx *storage.Tx) error {
		_, err := setting.Update(ctx, tx, account.CLI(), f.Org.ID, setting.Change{RequireLogin: fixture.Ptr(true)})
		return err
	})
	f.Must(func(ctx context.Context, tx *storage.Tx) error {
		_, _, err := distribution.UpdateBuild(ctx, tx, f.Org.Member.Writer, 0, latest.Build.ID,
			distribution.BuildChange{State: fixture.Ptr(distribution.Disabled)})
		return err
	})
	enabled, err := installpage.LatestBuildsFor(ctx, f.DB, old.Project.ID, 0, true, 5)
	require.NoError(t, err)
	require.Len(t, enabled, 1)
	require.Equal(t, old.Build.ID, enabled[0].ID)
	for _, id := range []int64{latest.Build.ID, old.Build.ID} {
		f.Must(func(ctx context.Context, tx *storage.Tx) error {
			return distribution.DeleteBuild(ctx, tx, f.Org.Member.Writer, 0, id)
		})
	}
	page, err := installpage.ByName(ctx, f.DB, "my-slug")
	require.NoError(t, err)
	require.Nil(t, page.Build)
	require.True(t, page.LoginRequired)
	_, err = installpage.ByName(ctx, f.DB, old.Build.Token)
	require.ErrorIs(t, err, storage.ErrNotFound)
	f.Must(func(ctx context.Context, tx *storage.Tx) error {
		return distribution.DeleteProject(ctx, tx, f.Org.Member.Writer, old.Project.ID)
	})
	_, err = installpage.ByName(ctx, f.DB, "my-slug")
	require.ErrorIs(t, err, storage.ErrNotFound)
}
