package distribution_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/artifact"
	. "github.com/slipway-qa/slipway/storage/distribution"
)

func TestUploadByProject(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	up := w.app("com.example.app")
	u := w.of(apk("com.example.app", "2", "2"))
	u.ProjectID, u.TeamID = up.Project.ID, 999 // the team is ignored
	require.Equal(t, up.Project.ID, w.upload(u).Project.ID)

	for name, pkg := range map[string]*artifact.Package{
		"another package":     apk("com.example.App", "1", "1"),
		"another platform":    {Kind: artifact.IPA, Platform: artifact.IOS, PackageName: "com.example.app"},
		"no package":          {Kind: artifact.APK, Platform: artifact.Android},
		"a generic's, though": {Kind: artifact.Generic, Platform: "windows", Name: "setup"},
	} {
		u := w.of(pkg)
		u.ProjectID = up.Project.ID
		_, err := w.try(u)
		require.Equal(t, "project_id", invalidField(t, err), name)
	}
	generic := w.of(&artifact.Package{Kind: artifact.Generic, Name: "notes"})
	generic.ProjectID = up.Project.ID
	b := w.upload(generic)
	require.Equal(t, up.Project.ID, b.Project.ID)
	require.Equal(t, artifact.Android, b.Build.Platform)
	require.Equal(t, "com.example.app", b.Project.PackageName)

	// A project that was made without a package takes that of its first build.
	var made *Project
	w.must(func(ctx context.Context, tx *storage.Tx) (err error) {
		made, err = CreateProject(ctx, tx, w.w, NewProject{Name: "Later"})
		return err
	})
	u = w.of(apk("com.example.later", "1", "1"))
	u.ProjectID = made.ID
	p := w.upload(u).Project
	require.Equal(t, "com.example.later", p.PackageName)
	require.Equal(t, artifact.Android, p.Platform)
	require.Equal(t, "Later", p.Name)
	require.Equal(t, p.ID, w.app("com.example.later").Project.ID)

	// Not there, not ours, not to be changed.
	u.ProjectID = 12345
	_, err := w.try(u)
	require.ErrorIs(t, err, storage.ErrNotFound)
	u.Writer = account.Writer{OrganizationID: w.other, AllTeams: true, Actor: account.Actor{Name: "x"}}
	u.ProjectID = made.ID
	_, err = w.try(u)
	require.ErrorIs(t, err, storage.ErrNotFound)
	u.Writer = account.Writer{OrganizationID: w.org, Teams: []int64{w.newTeam(w.org, "second")}, Actor: account.Actor{Name: "x"}}
	_, err = w.try(u)
	require.ErrorIs(t, err, ErrNoAccess)
	w.must(func(ctx context.Context, tx *storage.Tx) error { return DeleteProject(ctx, tx, w.w, made.ID) })
	u.Writer = w.w
	_, err = w.try(u)
	require.ErrorIs(t, err, storage.ErrNotFound)
	require.NotEqual(t, made.ID, w.app("com.example.later").Project.ID)
}

func TestUploadByTeam(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	required := w.of(apk("com.example.app", "1", "1"))
	required.TeamRequired = true
	first := w.upload(required)
	require.Equal(t, w.team, first.Project.TeamID, "the only team")

	second := w.newTeam(w.org, "second")
	required.File = w.file()
	_, err := w.try(required)
	require.ErrorIs(t, err, ErrNoTeam, "two teams")

	named := w.of(apk("com.example.app", "1", "1"))
	named.TeamID = second
	_, err = w.try(named)
	require.ErrorIs(t, err, ErrNoAccess)
	named.Writer.Teams = []int64{w.team, second}
	other := w.upload(named)
	require.True(t, other.NewProject, "each team has its own app")
	require.Equal(t, second, other.Project.TeamID)

	// Without a team: the writer's teams are searched.
	free := w.of(apk("com.example.app", "2", "2"))
	require.Equal(t, first.Project.ID, w.upload(free).Project.ID, "one of the writer's teams")
	free.Writer.Teams, free.File = []int64{second, w.team}, w.file()
	_, err = w.try(free)
	require.ErrorIs(t, err, ErrSeveralTeams)
	free.Writer = account.Writer{OrganizationID: w.org, AllTeams: true, Actor: account.Actor{Name: "admin"}}
	_, err = w.try(free)
	require.ErrorIs(t, err, ErrSeveralTeams)
	// A folder may tell.
	free.Folder = ptr("beta")
	_, err = w.try(free)
	require.ErrorIs(t, err, ErrSeveralTeams)
	named.Folder, named.File = ptr("Beta"), w.file()
	inFolder := w.upload(named)
	require.True(t, inFolder.NewProject)
	free.File = w.file()
	require.Equal(t, inFolder.Project.ID, w.upload(free).Project.ID)

	// A new app: the writer's first team, else the oldest, else none.
	fresh := w.of(apk("com.example.new", "1", "1"))
	fresh.Writer.Teams = []int64{second, w.team}
	require.Equal(t, second, w.upload(fresh).Project.TeamID)
	fresh = w.of(apk("com.example.newer", "1", "1"))
	fresh.Writer = account.Writer{OrganizationID: w.org, AllTeams: true, Actor: account.Actor{Name: "admin"}}
	require.Equal(t, w.team, w.upload(fresh).Project.TeamID)
	fresh = w.of(apk("com.example.newest", "1", "1"))
	fresh.Writer.Teams = nil
	_, err = w.try(fresh)
	require.ErrorIs(t, err, ErrNoTeam)
	fresh.Writer.Teams = []int64{w.newTeam(w.other, "theirs")}
	_, err = w.try(fresh)
	require.ErrorIs(t, err, ErrNoTeam, "a team of another organization is none")
}

func TestUploadByFolder(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	in := func(folder *string) *Uploaded {
		u := w.of(apk("com.example.app", "1", "1"))
		u.Folder = folder
		return w.upload(u)
	}
	beta := in(ptr("beta"))
	require.Equal(t, beta.Project.ID, in(nil).Project.ID, "any folder")
	require.Equal(t, beta.Project.ID, in(ptr("/BETA/")).Project.ID, "in any case")
	alpha := in(ptr("alpha"))
	require.True(t, alpha.NewProject)
	require.Equal(t, beta.Project.ID, in(nil).Project.ID, "the oldest")
	none := in(ptr(""))
	require.True(t, none.NewProject)
	require.Empty(t, none.Project.FolderPath)
	require.Equal(t, none.Project.ID, in(nil).Project.ID, "the one in no folder")

	require.Equal(t, []string{"alpha", "beta"}, w.folders(w.team))
}

// However many other apps of the package there are, the one that fits is found.
func TestUploadAmongManyApps(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	in := func(team int64, folder string) (*Uploaded, error) {
		u := w.of(apk("com.example.app", "1", "1"))
		u.Writer, u.TeamID, u.Folder = account.Writer{OrganizationID: w.org, AllTeams: true, Actor: account.Actor{Name: "admin"}}, team, &folder
		return w.try(u)
	}
	w.app("com.example.app")
	w.exec(`insert into projects (organization_id, team_id, name, package_name, platform, token, landing_page_mode)
		select organization_id, team_id, name, package_name, platform, gen_random_uuid(), landing_page_mode
		from projects, generate_series(1, 1200)`)
	made, err := in(w.team, "beta")
	require.NoError(t, err)
	require.True(t, made.NewProject)
	again, err := in(0, "Beta")
	require.NoError(t, err)
	require.Equal(t, made.Project.ID, again.Project.ID)

	// The only other team comes after all of these, and none has the folder.
	_, err = in(w.newTeam(w.org, "second"), "gamma")
	require.NoError(t, err)
	_, err = in(0, "delta")
	require.ErrorIs(t, err, ErrSeveralTeams)
}

func TestGenericFilesAreKnownByName(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	of := func(name, platform string) *Uploaded {
		return w.upload(w.of(&artifact.Package{Kind: artifact.Generic, Name: name, Platform: platform}))
	}
	first := of("setup", "windows")
	require.Empty(t, first.Project.PackageName)
	require.Equal(t, first.Project.ID, of("setup", "windows").Project.ID)
	require.NotEqual(t, first.Project.ID, of("setup", "Xbox").Project.ID)
	require.NotEqual(t, first.Project.ID, of("other", "windows").Project.ID)
}

func TestSlug(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	with := func(name, slug, via string) (*Uploaded, error) {
		u := w.of(apk(name, "1", "1"))
		u.Slug, u.Via = slug, via
		return w.try(u)
	}
	for _, bad := range []string{"short", "-abcdef", "abcdef.", "has space", "ümlaut-x", string(make([]byte, 64)),
		"abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyzabcdefghijkl"} {
		_, err := with("com.example.a", bad, "v3")
		require.Equal(t, "landing_page_slug", invalidField(t, err), bad)
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
		require.Equal(t, "landing_page_slug", invalidField(t, err))
	}

	// A taken slug does not spoil the transaction.
	b := w.app("com.example.b")
	w.must(func(ctx context.Context, tx *storage.Tx) error {
		_, _, err := UpdateProject(ctx, tx, w.w, b.Project.ID, ProjectChange{Slug: ptr("my.SLUG_1")})
		require.ErrorIs(t, err, ErrSlugTaken)
		_, _, err = UpdateBuild(ctx, tx, w.w, 0, b.Build.ID, BuildChange{Slug: ptr("my.SLUG_1")})
		require.ErrorIs(t, err, ErrSlugTaken)
		_, _, err = UpdateProject(ctx, tx, w.w, b.Project.ID, ProjectChange{Slug: ptr("another")})
		return err
	})
	// A deleted app gives its slug back.
	w.must(func(ctx context.Context, tx *storage.Tx) error {
		return DeleteProject(ctx, tx, w.w, a.Project.ID)
	})
	_, err = with("com.example.e", "my.slug_1", "v3")
	require.NoError(t, err)
}

func TestParallelUploadsOfOneSlug(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	uploads := make([]Upload, 8)
	for i := range uploads {
		uploads[i] = w.of(apk("com.example.app"+string(rune('a'+i)), "1", "1"))
		uploads[i].Slug = "one-for-all"
	}
	errs := make([]error, len(uploads))
	parallel(len(uploads), func(i int) { _, errs[i] = w.try(uploads[i]) })
	taken := 0
	for _, err := range errs {
		if err != nil {
			require.ErrorIs(t, err, ErrSlugTaken)
			taken++
		}
	}
	require.Equal(t, len(uploads)-1, taken)
	require.Equal(t, 1, w.count(`select count(*) from projects`))
}

func TestLandingPageMode(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	require.Equal(t, Open, w.app("com.example.a").Project.LandingPageMode)
	w.set(SettingsChange{LandingPageMode: ptr(Closed)})
	require.Equal(t, Closed, w.app("com.example.b").Project.LandingPageMode)
	w.set(SettingsChange{LandingPageMode: ptr(Open)})
	w.set(SettingsChange{RequireLogin: ptr(true)})
	c := w.app("com.example.c")
	require.Equal(t, Closed, c.Project.LandingPageMode)
	require.Equal(t, 3, w.audited(account.SettingsChanged))
	require.Equal(t, 1, w.audited(account.SecurityChanged))

	open := w.of(apk("com.example.c", "2", "2"))
	open.LandingPageMode = Open
	_, err := w.try(open)
	require.ErrorIs(t, err, ErrLoginRequired)
	for _, fn := range []func(context.Context, *storage.Tx) error{
		func(ctx context.Context, tx *storage.Tx) error {
			_, _, err := UpdateProject(ctx, tx, w.w, c.Project.ID, ProjectChange{LandingPageMode: ptr(Open)})
			return err
		},
		func(ctx context.Context, tx *storage.Tx) error {
			_, _, err := UpdateBuild(ctx, tx, w.w, c.Project.ID, c.Build.ID, BuildChange{LandingPageMode: ptr(Open)})
			return err
		},
		func(ctx context.Context, tx *storage.Tx) error {
			_, err := CreateProject(ctx, tx, w.w, NewProject{Name: "x", LandingPageMode: Open})
			return err
		},
		func(ctx context.Context, tx *storage.Tx) error {
			_, err := ChangeSettings(ctx, tx, w.actor, w.org, SettingsChange{LandingPageMode: ptr(Open)})
			return err
		},
	} {
		require.ErrorIs(t, w.do(fn), ErrLoginRequired)
	}
	open.LandingPageMode = Closed
	w.upload(open)
	w.must(func(ctx context.Context, tx *storage.Tx) error {
		s, err := ChangeSettings(ctx, tx, w.actor, w.org, SettingsChange{RequireLogin: ptr(false), LandingPageMode: ptr(Open), GenericFiles: ptr(true)})
		require.Equal(t, &Settings{GenericFiles: true, LandingPageMode: Open}, s)
		return err
	})
	s, err := SettingsOf(testContext(t), w.db, w.org)
	require.NoError(t, err)
	require.Equal(t, &Settings{GenericFiles: true, LandingPageMode: Open}, s)
	_, err = SettingsOf(testContext(t), w.db, 999)
	require.ErrorIs(t, err, storage.ErrNotFound)
	for _, bad := range []string{"", "closed-beta"} {
		require.Equal(t, "landing_page_mode", invalidField(t, w.do(func(ctx context.Context, tx *storage.Tx) error {
			_, err := ChangeSettings(ctx, tx, w.actor, w.org, SettingsChange{LandingPageMode: &bad})
			return err
		})))
	}
}
