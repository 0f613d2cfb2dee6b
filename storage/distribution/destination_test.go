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
	"github.com/slipway-qa/slipway/storage/distribution/landing"
	"github.com/slipway-qa/slipway/storage/setting"
)

func TestUploadByProject(t *testing.T) {
	t.Parallel()
	f := fixture.New(t)
	up := f.App("com.example.app")
	u := f.NewUpload(fixture.APK("com.example.app", "2", "2"))
	u.ProjectID, u.TeamID = up.Project.ID, 999 // the team is ignored
	require.Equal(t, up.Project.ID, f.Upload(u).Project.ID)

	for name, pkg := range map[string]*artifact.Package{
		"another package":     fixture.APK("com.example.App", "1", "1"),
		"another platform":    {Kind: artifact.IPA, Platform: artifact.IOS, PackageName: "com.example.app"},
		"no package":          {Kind: artifact.APK, Platform: artifact.Android},
		"a generic's, though": {Kind: artifact.Generic, Platform: "windows", Name: "setup"},
	} {
		u := f.NewUpload(pkg)
		u.ProjectID = up.Project.ID
		_, err := f.TryUpload(u)
		require.Equal(t, "project_id", fixture.InvalidField(t, err), name)
	}
	generic := f.NewUpload(&artifact.Package{Kind: artifact.Generic, Name: "notes"})
	generic.ProjectID = up.Project.ID
	b := f.Upload(generic)
	require.Equal(t, up.Project.ID, b.Project.ID)
	require.Equal(t, artifact.Android, b.Build.Platform)
	require.Equal(t, "com.example.app", b.Project.PackageName)

	// A project that was made without a package takes that of its first build.
	var made *Project
	f.Must(func(ctx context.Context, tx *storage.Tx) (err error) {
		made, err = CreateProject(ctx, tx, f.Org.Member.Writer, NewProject{Name: "Later"})
		return err
	})
	u = f.NewUpload(fixture.APK("com.example.later", "1", "1"))
	u.ProjectID = made.ID
	p := f.Upload(u).Project
	require.Equal(t, "com.example.later", p.PackageName)
	require.Equal(t, artifact.Android, p.Platform)
	require.Equal(t, "Later", p.Name)
	require.Equal(t, p.ID, f.App("com.example.later").Project.ID)

	// Not there, not ours, not to be changed.
	u.ProjectID = 12345
	_, err := f.TryUpload(u)
	require.ErrorIs(t, err, storage.ErrNotFound)
	u.Writer = account.Writer{OrganizationID: f.Rival.ID, AllTeams: true, Actor: account.Actor{Name: "x"}}
	u.ProjectID = made.ID
	_, err = f.TryUpload(u)
	require.ErrorIs(t, err, storage.ErrNotFound)
	u.Writer = account.Writer{OrganizationID: f.Org.ID, Teams: []int64{f.Org.NewTeam("second").ID}, Actor: account.Actor{Name: "x"}}
	_, err = f.TryUpload(u)
	require.ErrorIs(t, err, ErrNoAccess)
	f.Must(func(ctx context.Context, tx *storage.Tx) error {
		return DeleteProject(ctx, tx, f.Org.Member.Writer, made.ID)
	})
	u.Writer = f.Org.Member.Writer
	_, err = f.TryUpload(u)
	require.ErrorIs(t, err, storage.ErrNotFound)
	require.NotEqual(t, made.ID, f.App("com.example.later").Project.ID)
}

func TestUploadByTeam(t *testing.T) {
	t.Parallel()
	f := fixture.New(t)
	required := f.NewUpload(fixture.APK("com.example.app", "1", "1"))
	required.TeamRequired = true
	first := f.Upload(required)
	require.Equal(t, f.Org.Team.ID, first.Project.TeamID, "the only team")

	second := f.Org.NewTeam("second").ID
	required.File = f.NewFile()
	_, err := f.TryUpload(required)
	require.ErrorIs(t, err, ErrNoTeam, "two teams")

	named := f.NewUpload(fixture.APK("com.example.app", "1", "1"))
	named.TeamID = second
	_, err = f.TryUpload(named)
	require.ErrorIs(t, err, ErrNoAccess)
	named.Writer.Teams = []int64{f.Org.Team.ID, second}
	other := f.Upload(named)
	require.True(t, other.NewProject, "each team has its own app")
	require.Equal(t, second, other.Project.TeamID)

	// Without a team: the writer's teams are searched.
	free := f.NewUpload(fixture.APK("com.example.app", "2", "2"))
	require.Equal(t, first.Project.ID, f.Upload(free).Project.ID, "one of the writer's teams")
	free.Writer.Teams, free.File = []int64{second, f.Org.Team.ID}, f.NewFile()
	_, err = f.TryUpload(free)
	require.ErrorIs(t, err, ErrSeveralTeams)
	free.Writer = account.Writer{OrganizationID: f.Org.ID, AllTeams: true, Actor: account.Actor{Name: "admin"}}
	_, err = f.TryUpload(free)
	require.ErrorIs(t, err, ErrSeveralTeams)
	// A folder may tell.
	free.Folder = fixture.Ptr("beta")
	_, err = f.TryUpload(free)
	require.ErrorIs(t, err, ErrSeveralTeams)
	named.Folder, named.File = fixture.Ptr("Beta"), f.NewFile()
	inFolder := f.Upload(named)
	require.True(t, inFolder.NewProject)
	free.File = f.NewFile()
	require.Equal(t, inFolder.Project.ID, f.Upload(free).Project.ID)

	// A new app: the writer's first team, else the oldest, else none.
	fresh := f.NewUpload(fixture.APK("com.example.new", "1", "1"))
	fresh.Writer.Teams = []int64{second, f.Org.Team.ID}
	require.Equal(t, second, f.Upload(fresh).Project.TeamID)
	fresh = f.NewUpload(fixture.APK("com.example.newer", "1", "1"))
	fresh.Writer = account.Writer{OrganizationID: f.Org.ID, AllTeams: true, Actor: account.Actor{Name: "admin"}}
	require.Equal(t, f.Org.Team.ID, f.Upload(fresh).Project.TeamID)
	fresh = f.NewUpload(fixture.APK("com.example.newest", "1", "1"))
	fresh.Writer.Teams = nil
	_, err = f.TryUpload(fresh)
	require.ErrorIs(t, err, ErrNoTeam)
	fresh.Writer.Teams = []int64{f.Rival.NewTeam("theirs").ID}
	_, err = f.TryUpload(fresh)
	require.ErrorIs(t, err, ErrNoTeam, "a team of another organization is none")
}

func TestUploadByFolder(t *testing.T) {
	t.Parallel()
	f := fixture.New(t)
	in := func(folder *string) *Uploaded {
		u := f.NewUpload(fixture.APK("com.example.app", "1", "1"))
		u.Folder = folder
		return f.Upload(u)
	}
	beta := in(fixture.Ptr("beta"))
	require.Equal(t, beta.Project.ID, in(nil).Project.ID, "any folder")
	require.Equal(t, beta.Project.ID, in(fixture.Ptr("/BETA/")).Project.ID, "in any case")
	alpha := in(fixture.Ptr("alpha"))
	require.True(t, alpha.NewProject)
	require.Equal(t, beta.Project.ID, in(nil).Project.ID, "the oldest")
	none := in(fixture.Ptr(""))
	require.True(t, none.NewProject)
	require.Empty(t, none.Project.FolderPath)
	require.Equal(t, none.Project.ID, in(nil).Project.ID, "the one in no folder")

	require.Equal(t, []string{"alpha", "beta"}, folders(f, f.Org.Team.ID))
}

// However many other apps of the package there are, the one that fits is found.
func TestUploadAmongManyApps(t *testing.T) {
	t.Parallel()
	f := fixture.New(t)
	in := func(team int64, folder string) (*Uploaded, error) {
		u := f.NewUpload(fixture.APK("com.example.app", "1", "1"))
		u.Writer, u.TeamID, u.Folder = account.Writer{OrganizationID: f.Org.ID, AllTeams: true,
			Actor: account.Actor{Name: "admin"}}, team, &folder
		return f.TryUpload(u)
	}
	f.App("com.example.app")
	f.Exec(`insert into projects (organization_id, team_id, name, package_name, platform, token, landing_page_mode, duplicate_of)
		select organization_id, team_id, name, package_name, platform, gen_random_uuid(), landing_page_mode, id
		from projects, generate_series(1, 1200)`)
	made, err := in(f.Org.Team.ID, "beta")
	require.NoError(t, err)
	require.True(t, made.NewProject)
	again, err := in(0, "Beta")
	require.NoError(t, err)
	require.Equal(t, made.Project.ID, again.Project.ID)

	// The only other team comes after all of these, and none has the folder.
	_, err = in(f.Org.NewTeam("second").ID, "gamma")
	require.NoError(t, err)
	_, err = in(0, "delta")
	require.ErrorIs(t, err, ErrSeveralTeams)
}

func TestGenericFilesAreKnownByName(t *testing.T) {
	t.Parallel()
	f := fixture.New(t)
	of := func(name, platform string) *Uploaded {
		return f.Upload(f.NewUpload(&artifact.Package{Kind: artifact.Generic, Name: name, Platform: artifact.Platform(platform)}))
	}
	first := of("setup", "windows")
	require.Empty(t, first.Project.PackageName)
	require.Equal(t, first.Project.ID, of("setup", "windows").Project.ID)
	require.NotEqual(t, first.Project.ID, of("setup", "Xbox").Project.ID)
	require.NotEqual(t, first.Project.ID, of("other", "windows").Project.ID)
}

func TestSlug(t *testing.T) {
	t.Parallel()
	f := fixture.New(t)
	with := func(name, slug, via string) (*Uploaded, error) {
		u := f.NewUpload(fixture.APK(name, "1", "1"))
		u.Slug, u.Via = slug, via
		return f.TryUpload(u)
	}
	for _, bad := range []string{"short", "-abcdef", "abcdef.", "has space", "ümlaut-x", string(make([]byte, 64)),
		"abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyzabcdefghijkl"} {
		_, err := with("com.example.a", bad, "v3")
		require.Equal(t, "landing_page_slug", fixture.InvalidField(t, err), bad)
	}
	a, err := with("com.example.a", "My.Slug_1", "v3")
	require.NoError(t, err)
	_, err = with("com.example.a", "my.slug_1", "v3")
	require.NoError(t, err, "its own, in another case")
	_, err = with("com.example.b", "MY.SLUG_1", "v3")
	require.ErrorIs(t, err, ErrSlugTaken)
	for _, token := range []string{a.Project.Token, a.Build.Token} {
		_, err = with("com.example.b", token, "v3")
		require.ErrorIs(t, err, ErrSlugTaken, "a page has the name")
	}
	// The first version's tokens are freer, and no less than six characters.
	_, err = with("com.example.c", "-token-", "upload")
	require.NoError(t, err)
	for _, bad := range []string{"abcde", "......", "a/b/c/d"} {
		_, err = with("com.example.d", bad, "upload")
		require.Equal(t, "landing_page_slug", fixture.InvalidField(t, err))
	}

	// A taken slug does not spoil the transaction.
	b := f.App("com.example.b")
	f.Must(func(ctx context.Context, tx *storage.Tx) error {
		_, _, err := UpdateProject(ctx, tx, f.Org.Member.Writer, b.Project.ID, ProjectChange{Slug: fixture.Ptr("my.SLUG_1")})
		require.ErrorIs(t, err, ErrSlugTaken)
		_, _, err = UpdateBuild(ctx, tx, f.Org.Member.Writer, 0, b.Build.ID, BuildChange{Slug: fixture.Ptr("my.SLUG_1")})
		require.ErrorIs(t, err, ErrSlugTaken)
		_, _, err = UpdateProject(ctx, tx, f.Org.Member.Writer, b.Project.ID, ProjectChange{Slug: fixture.Ptr("another")})
		return err
	})
	// A deleted app gives its slug back.
	f.Must(func(ctx context.Context, tx *storage.Tx) error {
		return DeleteProject(ctx, tx, f.Org.Member.Writer, a.Project.ID)
	})
	_, err = with("com.example.e", "my.slug_1", "v3")
	require.NoError(t, err)
}

func TestParallelUploadsOfOneSlug(t *testing.T) {
	t.Parallel()
	f := fixture.New(t)
	uploads := make([]Upload, 8)
	for i := range uploads {
		uploads[i] = f.NewUpload(fixture.APK("com.example.app"+string(rune('a'+i)), "1", "1"))
		uploads[i].Slug = "one-for-all"
	}
	errs := make([]error, len(uploads))
	fixture.Parallel(len(uploads), func(i int) { _, errs[i] = f.TryUpload(uploads[i]) })
	taken := 0
	for _, err := range errs {
		if err != nil {
			require.ErrorIs(t, err, ErrSlugTaken)
			taken++
		}
	}
	require.Equal(t, len(uploads)-1, taken)
	require.Equal(t, 1, f.Count(`select count(*) from projects`))
}

func TestLandingPageMode(t *testing.T) {
	t.Parallel()
	f := fixture.New(t)
	require.Equal(t, landing.Open, f.App("com.example.a").Project.LandingPageMode)
	changeSettings(f, setting.Change{LandingPageMode: fixture.Ptr(landing.Closed)})
	require.Equal(t, landing.Closed, f.App("com.example.b").Project.LandingPageMode)
	changeSettings(f, setting.Change{LandingPageMode: fixture.Ptr(landing.Open)})
	changeSettings(f, setting.Change{RequireLogin: fixture.Ptr(true)})
	c := f.App("com.example.c")
	require.Equal(t, landing.Closed, c.Project.LandingPageMode)
	require.Equal(t, 3, f.Audited(account.SettingsChanged))
	require.Equal(t, 1, f.Audited(account.SecurityChanged))

	open := f.NewUpload(fixture.APK("com.example.c", "2", "2"))
	open.LandingPageMode = landing.Open
	_, err := f.TryUpload(open)
	require.ErrorIs(t, err, setting.ErrLoginRequired)
	for _, fn := range []func(context.Context, *storage.Tx) error{
		func(ctx context.Context, tx *storage.Tx) error {
			_, _, err := UpdateProject(ctx, tx, f.Org.Member.Writer, c.Project.ID, ProjectChange{LandingPageMode: fixture.Ptr(landing.Open)})
			return err
		},
		func(ctx context.Context, tx *storage.Tx) error {
			_, _, err := UpdateBuild(ctx, tx, f.Org.Member.Writer, c.Project.ID, c.Build.ID, BuildChange{LandingPageMode: fixture.Ptr(landing.Open)})
			return err
		},
		func(ctx context.Context, tx *storage.Tx) error {
			_, err := CreateProject(ctx, tx, f.Org.Member.Writer, NewProject{Name: "x", LandingPageMode: landing.Open})
			return err
		},
		func(ctx context.Context, tx *storage.Tx) error {
			_, err := setting.Update(ctx, tx, account.CLI(), f.Org.ID, setting.Change{LandingPageMode: fixture.Ptr(landing.Open)})
			return err
		},
	} {
		require.ErrorIs(t, f.Do(fn), setting.ErrLoginRequired)
	}
	open.LandingPageMode = landing.Closed
	f.Upload(open)
	f.Must(func(ctx context.Context, tx *storage.Tx) error {
		s, err := setting.Update(ctx, tx, account.CLI(), f.Org.ID, setting.Change{RequireLogin: fixture.Ptr(false),
			LandingPageMode: fixture.Ptr(landing.Open), GenericFiles: fixture.Ptr(true)})
		require.Equal(t, &setting.Settings{GenericFiles: true, LandingPageMode: landing.Open}, s)
		return err
	})
	s, err := setting.Of(testContext(t), f.DB, f.Org.ID)
	require.NoError(t, err)
	require.Equal(t, &setting.Settings{GenericFiles: true, LandingPageMode: landing.Open}, s)
	_, err = setting.Of(testContext(t), f.DB, 999)
	require.ErrorIs(t, err, storage.ErrNotFound)
	for _, bad := range []string{"", "closed-beta"} {
		require.Equal(t, "landing_page_mode", fixture.InvalidField(t, f.Do(func(ctx context.Context, tx *storage.Tx) error {
			_, err := setting.Update(ctx, tx, account.CLI(), f.Org.ID, setting.Change{LandingPageMode: &bad})
			return err
		})))
	}
}
