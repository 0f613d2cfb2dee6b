package distribution_test

import (
	"context"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/cmd/localservice/servicetest/fixture"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/artifact"
	. "github.com/slipway-qa/slipway/storage/distribution"
)

// An app that was made with "ios" takes its own IPA, and there is no second one.
func TestPlatformHasOneSpelling(t *testing.T) {
	t.Parallel()
	f := fixture.New(t)
	p, err := createProject(f, NewProject{Name: "Shop", PackageName: "com.example.shop", Platform: " ios"})
	require.NoError(t, err)
	require.Equal(t, artifact.IOS, p.Platform)
	ipa := &artifact.Package{Kind: artifact.IPA, Platform: artifact.IOS, Name: "Shop", PackageName: "com.example.shop", Version: "1"}
	require.Equal(t, p.ID, f.Upload(f.NewUpload(ipa)).Project.ID)
	n := f.NewUpload(ipa)
	n.ProjectID = p.ID
	require.Equal(t, p.ID, f.Upload(n).Project.ID)

	_, err = createProject(f, NewProject{Name: "Other name", PackageName: "com.example.shop", Platform: "IOS", Folder: "beta"})
	require.ErrorIs(t, err, storage.ErrConflict)
	_, err = createProject(f, NewProject{Name: "Shop", PackageName: "com.example.shop", Platform: "android"})
	require.NoError(t, err)
	_, err = createProject(f, NewProject{Name: "Shop", PackageName: "com.example.shop2", Platform: "Amiga"})
	require.Equal(t, "platform", fixture.InvalidField(t, err))
}

// Whoever creates an app at the same time as others is refused, save one.
func TestOneAppOfAPackageAtOnce(t *testing.T) {
	t.Parallel()
	f := fixture.New(t)
	errs := make([]error, 8)
	var group sync.WaitGroup
	for i, platform := range []artifact.Platform{"ios", "iOS", "IOS", "Ios", "ios", "iOS", "IOS", "Ios"} {
		group.Go(func() {
			_, errs[i] = createProject(f, NewProject{Name: "Shop", PackageName: "com.example.shop", Platform: platform})
		})
	}
	group.Wait()
	made := 0
	for _, err := range errs {
		if err == nil {
			made++
			continue
		}
		require.ErrorIs(t, err, storage.ErrConflict)
	}
	require.Equal(t, 1, made)
	require.Equal(t, 1, f.Count(`select count(*) from projects`))
	// The rule of the schema holds where nobody asked first.
	err := f.Do(func(ctx context.Context, tx *storage.Tx) error {
		_, err := tx.ExecContext(ctx, `insert into projects (organization_id, team_id, name, package_name, platform, token, landing_page_mode)
			select organization_id, team_id, name, package_name, 'ios', 'another', landing_page_mode from projects`)
		return storage.Wrap(err, "second app")
	})
	require.ErrorIs(t, err, storage.ErrConflict)
}

// A copy is an app of its own that uploads by package name pass by.
func TestCopyStandsBesideItsApp(t *testing.T) {
	t.Parallel()
	f := fixture.New(t)
	app := f.App("com.example.shop")
	var copied *Project
	f.Must(func(ctx context.Context, tx *storage.Tx) (err error) {
		copied, err = CopyProject(ctx, tx, f.Org.Member.Writer, app.Project.ID, nil, nil, nil)
		return err
	})
	require.Equal(t, app.Project.ID, copied.DuplicateOf)
	require.Equal(t, app.Project.ID, f.App("com.example.shop").Project.ID)
	n := f.NewUpload(fixture.APK("com.example.shop", "2", "2"))
	n.ProjectID = copied.ID
	require.Equal(t, copied.ID, f.Upload(n).Project.ID)
	require.Equal(t, 1, copied.BuildCount)

	// The first of a folder is what uploads to the folder find.
	beta := "beta"
	f.Must(func(ctx context.Context, tx *storage.Tx) (err error) {
		copied, err = CopyProject(ctx, tx, f.Org.Member.Writer, app.Project.ID, nil, &beta, nil)
		return err
	})
	require.Zero(t, copied.DuplicateOf)
	n = f.NewUpload(fixture.APK("com.example.shop", "3", "3"))
	n.Folder = &beta
	require.Equal(t, copied.ID, f.Upload(n).Project.ID)
	// Out of the folder there is one already.
	_, err := changeProject(f, copied.ID, ProjectChange{Folder: new(string)})
	require.ErrorIs(t, err, storage.ErrConflict)
}

func TestMoveToATeamThatHasTheApp(t *testing.T) {
	t.Parallel()
	f := fixture.New(t)
	app := f.App("com.example.shop").Project
	second := f.Org.NewTeam("second")
	w := f.Org.Member.Writer
	w.AllTeams = true
	move := func(id, team int64) error {
		return f.Do(func(ctx context.Context, tx *storage.Tx) error {
			_, _, err := UpdateProject(ctx, tx, w, id, ProjectChange{TeamID: &team})
			return err
		})
	}
	n := f.NewUpload(fixture.APK("com.example.shop", "1", "1"))
	n.Writer, n.TeamID = w, second.ID
	other := f.Upload(n).Project
	require.ErrorIs(t, move(app.ID, second.ID), storage.ErrConflict)
	require.ErrorIs(t, move(other.ID, app.TeamID), storage.ErrConflict)
	require.NoError(t, move(app.ID, app.TeamID))
	require.NoError(t, move(app.ID, f.Org.NewTeam("third").ID))
}
