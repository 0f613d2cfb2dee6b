package distribution_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/cmd/localservice/servicetest/fixture"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/artifact"
	. "github.com/slipway-qa/slipway/storage/distribution"
	"github.com/slipway-qa/slipway/storage/distribution/grant"
	"github.com/slipway-qa/slipway/storage/distribution/landing"
	"github.com/slipway-qa/slipway/storage/idempotency"
)

func TestUploadKeepsWhatItIsGiven(t *testing.T) {
	t.Parallel()
	f := fixture.New(t)
	group := f.Group("QA")
	u := f.NewUpload(fixture.APK("com.example.app", "1.2", "34"))
	u.FileName = `C:\builds\..\app "x".apk`
	icon := f.NewFile()
	u.Icon = &icon
	u.Symbols = &NewSymbols{File: f.NewFile(), Name: "mapping.txt", What: &artifact.Symbols{Kind: artifact.Mapping, MapID: "m"}}
	u.AppName, u.ReleaseNotes, u.Description = "My app", "- a\r\n- b", fixture.Ptr("about")
	u.Tags, u.Metadata = []string{"nightly", " nightly ", "", "main"}, map[string]string{"commit": "abc", "none": ""}
	u.AutoUpdate, u.Options, u.LandingPageMode, u.Slug = true, "a=b", landing.Closed, "My-App.1"
	u.Folder = fixture.Ptr(" /ios/ beta /")
	u.ProjectGroups = grant.Groups{Given: true, Names: []string{"qa", "ghosts"}}
	u.BuildGroups = grant.Groups{Given: true, Names: []string{fmt.Sprint(group), "ghosts"}}
	up := f.Upload(u)

	require.True(t, up.NewProject)
	require.Equal(t, []string{"ghosts"}, up.InvalidGroups)
	p, b := up.Project, up.Build
	require.Equal(t, "My app", p.Name)
	require.Equal(t, "com.example.app", p.PackageName)
	require.Equal(t, "ios/beta", p.FolderPath)
	require.Equal(t, "My-App.1", p.PageName())
	require.Equal(t, landing.Closed, p.LandingPageMode)
	require.Equal(t, "about", p.Description)
	require.Equal(t, icon.Key, p.IconKey)
	require.Equal(t, 1, p.BuildCount)
	require.Equal(t, b.ID, p.LatestBuildID)
	require.Regexp(t, `^[a-z0-9]{16,}$`, p.Token)

	require.Equal(t, p.ID, b.ProjectID)
	require.Equal(t, f.Org.Team.ID, b.TeamID)
	require.Equal(t, "1.2", b.Version)
	require.Equal(t, "34", b.VersionCode)
	require.Equal(t, []string{"arm64-v8a"}, b.ABIs)
	require.Equal(t, "v2", b.Signer.Scheme)
	require.Nil(t, b.Provisioning)
	require.Equal(t, Enabled, b.State)
	require.Equal(t, `app "x".apk`, b.FileName)
	require.Equal(t, u.File.Key, b.File.Key)
	require.Equal(t, u.File.Size, b.File.Size)
	require.Equal(t, u.File.SHA256, b.File.SHA256)
	require.Equal(t, icon.Key, b.IconKey)
	require.Equal(t, "m", b.Symbols.MapID)
	require.Equal(t, u.Symbols.File.Key, b.SymbolsKey)
	require.Equal(t, u.Symbols.File.Size, b.SymbolsSize)
	require.Equal(t, "- a\n- b", b.ReleaseNotes)
	require.Equal(t, []string{"nightly", "main"}, b.Tags)
	require.Equal(t, map[string]string{"commit": "abc"}, b.Metadata)
	require.True(t, b.AutoUpdate)
	require.Equal(t, "a=b", b.Options)
	require.Equal(t, "My-App.1", b.ProjectPageName)
	require.Equal(t, "ios/beta", b.FolderPath)
	require.Equal(t, *f.Org.Member.Email, b.UploadedBy)
	require.Equal(t, "v3", b.UploadedVia)

	names, err := grant.BuildGroups(testContext(t), f.DB, b.ID)
	require.NoError(t, err)
	require.Equal(t, []string{"QA"}, names)
	names, err = grant.ProjectGroups(testContext(t), f.DB, p.ID)
	require.NoError(t, err)
	require.Equal(t, []string{"QA"}, names)
	require.Equal(t, 1, f.Audited(account.BuildUploaded))
	require.Equal(t, 1, f.Audited(account.ProjectCreated))
	require.Equal(t, 2, f.Audited(account.DistributionChanged))

	// A second build changes only what it names.
	again := f.Upload(f.NewUpload(fixture.APK("com.example.app", "1.3", "35")))
	require.False(t, again.NewProject)
	require.Equal(t, p.ID, again.Project.ID)
	require.Equal(t, 2, again.Project.BuildCount)
	require.Equal(t, again.Build.ID, again.Project.LatestBuildID)
	require.Equal(t, "about", again.Project.Description)
	require.Equal(t, landing.Closed, again.Project.LandingPageMode)
	require.Equal(t, icon.Key, again.Project.IconKey, "an upload without an icon keeps the newest there is")
	require.Equal(t, 0, f.Audited(account.ProjectUpdated))
}

func TestUploadRefusesWhatItCannotKeep(t *testing.T) {
	t.Parallel()
	f := fixture.New(t)
	long := func(n int) string { return strings.Repeat("é", n) }
	for field, change := range map[string]func(*Upload){
		"package_name":      func(u *Upload) { u.Package.PackageName = long(256) },
		"landing_page_mode": func(u *Upload) { u.LandingPageMode = "closed-beta" },
		"landing_page_slug": func(u *Upload) { u.Slug = "short" },
		"team_id":           func(u *Upload) { u.TeamID = f.Rival.NewTeam("theirs").ID },
		"Idempotency-Key":   func(u *Upload) { u.IdempotencyKey = long(256) },
		"groups":            func(u *Upload) { u.BuildGroups = grant.Groups{Given: true, Names: make([]string, 501)} },
	} {
		u := f.NewUpload(fixture.APK("com.example.app", "1", "1"))
		change(&u)
		_, err := f.TryUpload(u)
		require.Equal(t, field, fixture.InvalidField(t, err))
	}
	require.Zero(t, f.Count(`select count(*) from projects`))

	// What the package itself says never rejects it.
	pkg := fixture.APK("com.example.app", "1\x00.0", "\xff")
	pkg.Name, pkg.Warnings, pkg.ABIs = long(300)+"\n", []string{"a\x00b"}, []string{"\x01"}
	b := f.Upload(f.NewUpload(pkg)).Build
	require.Equal(t, "1 .0", b.Version)
	require.Equal(t, "\uFFFD", b.VersionCode)
	require.Equal(t, long(255), b.AppName)
	require.Equal(t, []string{"a b"}, b.Warnings)
	require.Empty(t, b.ABIs)
}

func TestExpiredProfileIsNotDistributable(t *testing.T) {
	t.Parallel()
	f := fixture.New(t)
	pkg := &artifact.Package{Kind: artifact.IPA, Platform: artifact.IOS, Name: "App", PackageName: "com.example.app",
		Provisioning: &artifact.Provisioning{Name: "p", Expires: time.Date(2020, 1, 2, 3, 0, 0, 0, time.UTC), Devices: []string{"a"}}}
	b := f.Upload(f.NewUpload(pkg)).Build
	require.Equal(t, CertificateExpired, b.State)
	require.Equal(t, "the provisioning profile expired on 2020-01-02", b.Distributable())
	require.Equal(t, []string{"a"}, b.Provisioning.Devices)

	pkg.Provisioning.Expires = time.Now().Add(time.Hour)
	fresh := f.Upload(f.NewUpload(pkg)).Build
	require.Equal(t, Enabled, fresh.State)
	for _, want := range []int64{0, 1, 0} {
		n, err := ExpireBuilds(testContext(t), f.DB, time.Now().Add(time.Duration(want)*2*time.Hour), 10)
		require.NoError(t, err)
		require.Equal(t, want, n)
	}
	fresh, err := BuildByID(testContext(t), f.DB, f.Org.ID, 0, fresh.ID)
	require.NoError(t, err)
	require.Equal(t, CertificateExpired, fresh.State)
	require.Contains(t, fresh.Distributable(), "expired on")
}

func TestIdempotencyKey(t *testing.T) {
	t.Parallel()
	f := fixture.New(t)
	ctx := testContext(t)
	yesterday := time.Now().Add(-24 * time.Hour)
	u := f.NewUpload(fixture.APK("com.example.app", "1", "1"))
	u.IdempotencyKey = "k1"
	first := f.Upload(u)
	seen, err := SeenUpload(ctx, f.DB, f.Org.ID, "k1", yesterday)
	require.NoError(t, err)
	require.Equal(t, first.Build.ID, seen.ID)
	_, err = SeenUpload(ctx, f.DB, f.Rival.ID, "k1", yesterday)
	require.ErrorIs(t, err, storage.ErrNotFound)
	_, err = SeenUpload(ctx, f.DB, f.Org.ID, "k1", time.Now().Add(time.Hour))
	require.ErrorIs(t, err, storage.ErrNotFound)

	u.File = f.NewFile()
	_, err = f.TryUpload(u)
	require.ErrorIs(t, err, idempotency.ErrSeen)
	require.Equal(t, 1, f.Count(`select count(*) from files`))

	f.Exec(`update idempotency_keys set created_at = now() - interval '25 hours'`)
	second := f.Upload(u)
	require.NotEqual(t, first.Build.ID, second.Build.ID)

	// A deleted build is no answer any more.
	f.Must(func(ctx context.Context, tx *storage.Tx) error {
		return DeleteBuild(ctx, tx, f.Org.Member.Writer, 0, second.Build.ID)
	})
	_, err = SeenUpload(ctx, f.DB, f.Org.ID, "k1", yesterday)
	require.ErrorIs(t, err, storage.ErrNotFound)
	u.File = f.NewFile()
	f.Upload(u)

	n, err := idempotency.Forget(ctx, f.DB, time.Now().Add(-time.Hour), 10)
	require.NoError(t, err)
	require.Zero(t, n)
	n, err = idempotency.Forget(ctx, f.DB, time.Now().Add(time.Hour), 10)
	require.NoError(t, err)
	require.EqualValues(t, 1, n)
}

func TestParallelFirstUploadsMakeOneProject(t *testing.T) {
	t.Parallel()
	f := fixture.New(t)
	uploads := make([]Upload, 20)
	for i := range uploads {
		uploads[i] = f.NewUpload(fixture.APK("com.example.app", "1", fmt.Sprint(i)))
		uploads[i].Folder = fixture.Ptr("Nightly")
		uploads[i].Slug = "nightly-app"
	}
	errs, news := make([]error, len(uploads)), make([]bool, len(uploads))
	fixture.Parallel(len(uploads), func(i int) {
		up, err := f.TryUpload(uploads[i])
		if errs[i] = err; err == nil {
			news[i] = up.NewProject
		}
	})
	made := 0
	for i := range errs {
		require.NoError(t, errs[i])
		if news[i] {
			made++
		}
	}
	require.Equal(t, 1, made)
	require.Equal(t, 1, f.Count(`select count(*) from projects`))
	require.Equal(t, 1, f.Count(`select count(*) from folders`))
	require.Equal(t, 20, f.Count(`select build_count from projects`))
	f.CheckCounters()
}

func TestParallelUploadsOfOneKeyMakeOneBuild(t *testing.T) {
	t.Parallel()
	f := fixture.New(t)
	uploads := make([]Upload, 8)
	for i := range uploads {
		uploads[i] = f.NewUpload(fixture.APK("com.example.app", "1", "1"))
		uploads[i].IdempotencyKey = "once"
	}
	errs := make([]error, len(uploads))
	fixture.Parallel(len(uploads), func(i int) { _, errs[i] = f.TryUpload(uploads[i]) })
	seen := 0
	for _, err := range errs {
		if err != nil {
			require.ErrorIs(t, err, idempotency.ErrSeen)
			seen++
		}
	}
	require.Equal(t, len(uploads)-1, seen)
	require.Equal(t, 1, f.Count(`select count(*) from builds`))
}

// Uploads, deletions and changes of one project at once leave right counters.
func TestParallelChangesKeepCounters(t *testing.T) {
	t.Parallel()
	f := fixture.New(t)
	f.Group("QA")
	var builds []int64
	var project int64
	for range 12 {
		up := f.App("com.example.app")
		builds, project = append(builds, up.Build.ID), up.Project.ID
	}
	uploads := make([]Upload, 12)
	for i := range uploads {
		uploads[i] = f.NewUpload(fixture.APK("com.example.app", "2", "2"))
		uploads[i].ProjectGroups = grant.Groups{Given: true, Names: []string{"QA"}}
	}
	errs := make([]error, 48)
	fixture.Parallel(len(errs), func(i int) {
		n := i / 4
		switch i % 4 {
		case 0:
			_, errs[i] = f.TryUpload(uploads[n])
		case 1:
			errs[i] = f.Do(func(ctx context.Context, tx *storage.Tx) error {
				return DeleteBuild(ctx, tx, f.Org.Member.Writer, project, builds[n])
			})
		case 2:
			errs[i] = f.Do(func(ctx context.Context, tx *storage.Tx) error {
				_, err := CopyBuild(ctx, tx, f.Org.Member.Writer, project, builds[n], BuildCopy{Folder: fixture.Ptr("x")})
				return err
			})
		case 3:
			errs[i] = f.Do(func(ctx context.Context, tx *storage.Tx) error {
				_, _, err := UpdateProject(ctx, tx, f.Org.Member.Writer, project, ProjectChange{Slug: fixture.Ptr(fmt.Sprint("slug-of-", n)),
					Groups: grant.Groups{Given: true}})
				return err
			})
		}
	})
	for i, err := range errs {
		if i%4 == 2 && err != nil {
			require.ErrorIs(t, err, storage.ErrNotFound, "the build was deleted first")
			continue
		}
		require.NoError(t, err)
	}
	require.Equal(t, 12, f.Count(`select build_count from projects where id = $1`, project))
	f.CheckCounters()
}
