package installpage_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/cmd/localservice/servicetest/fixture"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/distribution"
	"github.com/slipway-qa/slipway/storage/distribution/announcement"
	"github.com/slipway-qa/slipway/storage/distribution/grant"
	"github.com/slipway-qa/slipway/storage/distribution/installpage"
)

func TestWhoMayInstall(t *testing.T) {
	t.Parallel()
	f := fixture.New(t)
	ctx := t.Context()
	var ids []int64
	for _, name := range []string{"build", "project", "both", "none", "blocked"} {
		ids = append(ids, f.Org.NewUser(name, account.Tester).ID)
	}
	ofBuild, ofProject, both, none, blocked := ids[0], ids[1], ids[2], ids[3], ids[4]
	f.Group("build", ofBuild, both, blocked, f.Org.Member.ID)
	f.Group("project", ofProject, both, blocked)
	stranger := f.Rival.NewUser("s", account.Owner).ID
	u := f.NewUpload(fixture.APK("com.example.app", "1", "1"))
	u.BuildGroups = grant.Groups{Given: true, Names: []string{"build"}}
	u.ProjectGroups = grant.Groups{Given: true, Names: []string{"project"}}
	b := f.Upload(u).Build
	plain := f.App("com.example.app").Build
	f.Must(func(ctx context.Context, tx *storage.Tx) error {
		return account.BlockUser(ctx, tx, account.CLI(), f.Org.ID, blocked)
	})

	access := func(build, user int64) installpage.Access {
		a, err := installpage.BuildAccess(ctx, f.DB, build, user)
		require.NoError(t, err)
		return a
	}
	yes, no := installpage.Access{Allowed: true}, installpage.Access{}
	for user, want := range map[int64]installpage.Access{ofBuild: yes, ofProject: yes, both: yes, none: no, blocked: {Blocked: true},
		f.Org.Member.ID: yes, stranger: no, 999: no} {
		require.Equal(t, want, access(b.ID, user), user)
	}
	require.Equal(t, no, access(plain.ID, ofBuild))
	require.Equal(t, yes, access(plain.ID, ofProject))
	_, err := installpage.BuildAccess(ctx, f.DB, 999, none)
	require.ErrorIs(t, err, storage.ErrNotFound)

	recipients := func(build, after int64, limit int) (got []int64) {
		list, err := announcement.Recipients(ctx, f.DB, build, after, limit)
		require.NoError(t, err)
		for _, r := range list {
			require.NotEmpty(t, r.Email)
			got = append(got, r.UserID)
		}
		return got
	}
	require.Equal(t, []int64{f.Org.Member.ID, ofBuild, ofProject, both}, recipients(b.ID, 0, 10))
	require.Equal(t, []int64{ofProject, both}, recipients(b.ID, ofBuild, 10))
	require.Equal(t, []int64{ofProject}, recipients(plain.ID, 0, 1))
	counts, err := announcement.Testers(ctx, f.DB, f.Org.ID, []int64{b.ID, plain.ID, 999})
	require.NoError(t, err)
	require.Equal(t, map[int64]int{b.ID: 5, plain.ID: 3}, counts)
	counts, err = announcement.Testers(ctx, f.DB, f.Rival.ID, []int64{b.ID})
	require.NoError(t, err)
	require.Empty(t, counts)

	f.Must(func(ctx context.Context, tx *storage.Tx) error {
		_, _, err := distribution.UpdateBuild(ctx, tx, f.Org.Member.Writer, 0, plain.ID,
			distribution.BuildChange{Groups: grant.Groups{Given: true, All: true}})
		return err
	})
	require.Equal(t, yes, access(plain.ID, none))
	require.Equal(t, []int64{ofBuild, ofProject, both, none}, recipients(plain.ID, 0, 10), "testers, not every member")
	counts, err = announcement.Testers(ctx, f.DB, f.Org.ID, []int64{plain.ID})
	require.NoError(t, err)
	require.Equal(t, map[int64]int{plain.ID: 5}, counts)
	f.Must(func(ctx context.Context, tx *storage.Tx) error {
		_, _, err := distribution.UpdateProject(ctx, tx, f.Org.Member.Writer, b.ProjectID,
			distribution.ProjectChange{Groups: grant.Groups{Given: true, All: true}})
		return err
	})
	counts, err = announcement.Testers(ctx, f.DB, f.Org.ID, []int64{b.ID, plain.ID})
	require.NoError(t, err)
	require.Equal(t, map[int64]int{b.ID: 6, plain.ID: 5}, counts)
}
