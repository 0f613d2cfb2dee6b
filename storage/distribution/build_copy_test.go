package distribution_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/cmd/localservice/servicetest/fixture"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/artifact"
	. "github.com/slipway-qa/slipway/storage/distribution"
	"github.com/slipway-qa/slipway/storage/distribution/grant"
	"github.com/slipway-qa/slipway/storage/distribution/installpage"
	"github.com/slipway-qa/slipway/storage/distribution/storedfile"
)

func copyBuild(f *fixture.Fixture, id int64, c BuildCopy) (made *CopiedBuild, err error) {
	err = f.Do(func(ctx context.Context, tx *storage.Tx) error {
		made, err = CopyBuild(ctx, tx, f.Org.Member.Writer, 0, id, c)
		return err
	})
	return made, err
}

func mustCopy(f *fixture.Fixture, id int64, c BuildCopy) *CopiedBuild {
	f.T.Helper()
	made, err := copyBuild(f, id, c)
	require.NoError(f.T, err)
	return made
}

// original has everything that a copy takes over.
func original(f *fixture.Fixture) *Uploaded {
	f.T.Helper()
	for _, name := range []string{"build", "project", "more"} {
		f.Group(name)
	}
	u := f.NewUpload(fixture.APK("com.example.app", "1", "1"))
	icon := f.NewFile()
	u.Icon, u.ReleaseNotes, u.Tags, u.Metadata = &icon, "notes", []string{"t"}, map[string]string{"k": "v"}
	u.Symbols = &NewSymbols{File: f.NewFile(), Name: "mapping.txt", What: &artifact.Symbols{Kind: artifact.Mapping}}
	u.BuildGroups = grant.Groups{Given: true, All: true, Names: []string{"build"}}
	u.ProjectGroups = grant.Groups{Given: true, Names: []string{"project"}}
	u.Description = fixture.Ptr("about")
	return f.Upload(u)
}

func TestCopyInsideTheApp(t *testing.T) {
	t.Parallel()
	f := fixture.New(t)
	from := original(f)
	f.Must(func(ctx context.Context, tx *storage.Tx) error {
		return installpage.RecordDownload(ctx, tx, installpage.Download{Build: from.Build})
	})
	made := mustCopy(f, from.Build.ID, BuildCopy{})
	b, p := made.Build, made.Project
	require.Equal(t, from.Project.ID, p.ID)
	require.NotEqual(t, from.Build.ID, b.ID)
	require.NotEqual(t, from.Build.Token, b.Token)
	require.Equal(t, []any{from.Build.File, from.Build.IconKey, from.Build.SymbolsKey, from.Build.Symbols, from.Build.ReleaseNotes,
		from.Build.Tags, from.Build.Metadata, from.Build.AllTesters, from.Build.AppName, from.Build.Signer},
		[]any{b.File, b.IconKey, b.SymbolsKey, b.Symbols, b.ReleaseNotes, b.Tags, b.Metadata, b.AllTesters, b.AppName, b.Signer})
	require.Zero(t, b.Downloads)
	require.Equal(t, "copy", b.UploadedVia)
	require.Equal(t, []string{"build"}, made.Groups)
	require.Equal(t, []string{"project"}, made.ProjectGroups)
	require.Equal(t, 2, p.BuildCount)
	require.Equal(t, b.ID, p.LatestBuildID)
	require.Equal(t, 3, f.Count(`select count(*) from files`), "one stored file")
	require.Equal(t, 1, f.Audited(account.BuildCopied))

	// The original goes, its files stay with the copy.
	f.Must(func(ctx context.Context, tx *storage.Tx) error {
		return DeleteBuild(ctx, tx, f.Org.Member.Writer, 0, from.Build.ID)
	})
	_, err := copyBuild(f, from.Build.ID, BuildCopy{})
	require.ErrorIs(t, err, storage.ErrNotFound)
	f.Must(func(ctx context.Context, tx *storage.Tx) error {
		keys, err := storedfile.RemoveBuilds(ctx, tx, []int64{from.Build.ID})
		require.Empty(t, keys)
		return err
	})
	require.Equal(t, 3, f.Count(`select count(*) from files`))
	f.CheckCounters()
}

func TestCopyToFolder(t *testing.T) {
	t.Parallel()
	f := fixture.New(t)
	from := original(f)
	first := mustCopy(f, from.Build.ID, BuildCopy{Folder: fixture.Ptr("/release/ "),
		ProjectGroups: grant.Groups{Given: true, Names: []string{"more", "no"}},
		BuildGroups:   grant.Groups{Given: true, Names: []string{"no"}}})
	p := first.Project
	require.NotEqual(t, from.Project.ID, p.ID)
	require.Equal(t, []string{"release", "App", "com.example.app", "about", from.Project.IconKey, from.Project.LandingPageMode},
		[]string{p.FolderPath, p.Name, p.PackageName, p.Description, p.IconKey, p.LandingPageMode})
	require.Equal(t, []string{"build"}, first.Groups, "names that no group has leave those of the original")
	require.Equal(t, []string{"no"}, first.InvalidGroups)
	require.Equal(t, []string{"more"}, first.ProjectGroups)
	require.Equal(t, []string{"no"}, first.InvalidProjectGroups)
	require.True(t, first.Build.AllTesters)

	second := mustCopy(f, from.Build.ID, BuildCopy{Folder: fixture.Ptr("RELEASE"),
		BuildGroups: grant.Groups{Given: true}, AllTesters: fixture.Ptr(false)})
	require.Equal(t, p.ID, second.Project.ID, "the app that is there")
	require.Equal(t, 2, second.Project.BuildCount)
	require.Empty(t, second.Groups)
	require.False(t, second.Build.AllTesters)
	require.Equal(t, []string{"more"}, second.ProjectGroups)

	named := mustCopy(f, from.Build.ID, BuildCopy{Folder: fixture.Ptr("release"), AppName: "App RC", AllTesters: fixture.Ptr(true)})
	require.NotEqual(t, p.ID, named.Project.ID, "another name is another app")
	require.Equal(t, "App RC", named.Project.Name)
	require.Equal(t, "App RC", named.Build.AppName)
	require.Equal(t, []string{"project"}, named.ProjectGroups, "a new app has the grants of the original")
	require.Equal(t, named.Project.ID, mustCopy(f, from.Build.ID, BuildCopy{Folder: fixture.Ptr("release"), AppName: "app rc"}).Project.ID)

	same := mustCopy(f, from.Build.ID, BuildCopy{Folder: fixture.Ptr("")})
	require.Equal(t, from.Project.ID, same.Project.ID, "its own folder: inside the app")
	beside := mustCopy(f, from.Build.ID, BuildCopy{AppName: "Beside"})
	require.NotEqual(t, from.Project.ID, beside.Project.ID)
	require.Empty(t, beside.Project.FolderPath)
	f.CheckCounters()

	_, err := copyBuild(f, from.Build.ID, BuildCopy{Folder: fixture.Ptr("a\x00")})
	require.Equal(t, "folder", fixture.InvalidField(t, err))
	_, err = copyBuild(f, from.Build.ID, BuildCopy{AppName: "\x00"})
	require.Equal(t, "app_name", fixture.InvalidField(t, err))
	_, err = copyBuild(f, 999, BuildCopy{})
	require.ErrorIs(t, err, storage.ErrNotFound)
	f.Org.Member.Writer.Teams = nil
	_, err = copyBuild(f, from.Build.ID, BuildCopy{})
	require.ErrorIs(t, err, ErrNoAccess)
	f.Org.Member.Writer = account.Writer{OrganizationID: f.Rival.ID, AllTeams: true}
	_, err = copyBuild(f, from.Build.ID, BuildCopy{})
	require.ErrorIs(t, err, storage.ErrNotFound)
}

func TestCopyOfGenericFile(t *testing.T) {
	t.Parallel()
	f := fixture.New(t)
	from := f.Upload(f.NewUpload(&artifact.Package{Kind: artifact.Generic, Name: "setup", Platform: "windows"}))
	f.Upload(f.NewUpload(&artifact.Package{Kind: artifact.Generic, Name: "other", Platform: "windows"}))
	first := mustCopy(f, from.Build.ID, BuildCopy{Folder: fixture.Ptr("x")}).Project
	require.Equal(t, "setup", first.Name)
	require.Equal(t, first.ID, mustCopy(f, from.Build.ID, BuildCopy{Folder: fixture.Ptr("x")}).Project.ID)
	require.Equal(t, from.Project.ID, mustCopy(f, from.Build.ID, BuildCopy{Folder: fixture.Ptr("")}).Project.ID)
}

func TestParallelCopiesMakeOneApp(t *testing.T) {
	t.Parallel()
	f := fixture.New(t)
	from := f.App("com.example.app")
	errs := make([]error, 8)
	fixture.Parallel(len(errs), func(i int) { _, errs[i] = copyBuild(f, from.Build.ID, BuildCopy{Folder: fixture.Ptr("x")}) })
	for _, err := range errs {
		require.NoError(t, err)
	}
	require.Equal(t, 2, f.Count(`select count(*) from projects`))
	f.CheckCounters()
}
