package distribution_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/cmd/localservice/servicetest/fixture"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/artifact"
	. "github.com/slipway-qa/slipway/storage/distribution"
	"github.com/slipway-qa/slipway/storage/distribution/grant"
	"github.com/slipway-qa/slipway/storage/distribution/landing"
	"github.com/slipway-qa/slipway/storage/distribution/storedfile"
	"github.com/slipway-qa/slipway/storage/setting"
)

func createProject(f *fixture.Fixture, n NewProject) (p *Project, err error) {
	err = f.Do(func(ctx context.Context, tx *storage.Tx) error {
		p, err = CreateProject(ctx, tx, f.Org.Member.Writer, n)
		return err
	})
	return p, err
}

func changeProject(f *fixture.Fixture, id int64, c ProjectChange) (p *Project, err error) {
	err = f.Do(func(ctx context.Context, tx *storage.Tx) error {
		p, _, err = UpdateProject(ctx, tx, f.Org.Member.Writer, id, c)
		return err
	})
	return p, err
}

func TestProjectList(t *testing.T) {
	t.Parallel()
	f := fixture.New(t)
	a, b := f.App("com.example.alpha").Project, f.App("com.example.beta").Project
	c, err := createProject(f, NewProject{Name: "Gamma_%", Platform: artifact.IOS})
	require.NoError(t, err)
	ids := func(filter ProjectFilter, p storage.Page) ([]int64, int) {
		list, total, err := Projects(testContext(t), f.DB, filter, p)
		require.NoError(t, err)
		got := []int64{}
		for _, p := range list {
			got = append(got, p.ID)
		}
		return got, total
	}
	for _, row := range []struct {
		f    ProjectFilter
		want []int64
	}{
		{ProjectFilter{}, []int64{c.ID, b.ID, a.ID}},
		{ProjectFilter{WithBuilds: true}, []int64{b.ID, a.ID}},
		{ProjectFilter{Platform: "ios"}, []int64{c.ID}},
		{ProjectFilter{Search: "EXAMPLE.A"}, []int64{a.ID}},
		{ProjectFilter{Search: "a_%"}, []int64{c.ID}},
		{ProjectFilter{Search: "zz\x00"}, []int64{}},
		{ProjectFilter{TeamID: f.Org.Team.ID}, []int64{c.ID, b.ID, a.ID}},
		{ProjectFilter{TeamID: f.Org.Team.ID + 1}, []int64{}},
	} {
		row.f.OrganizationID = f.Org.ID
		got, total := ids(row.f, storage.FirstPage())
		require.Equal(t, row.want, got)
		require.Equal(t, len(row.want), total)
	}
	got, total := ids(ProjectFilter{OrganizationID: f.Org.ID}, storage.Page{Limit: 1, Offset: 1})
	require.Equal(t, []int64{b.ID}, got)
	require.Equal(t, 3, total)
	got, _ = ids(ProjectFilter{OrganizationID: f.Rival.ID}, storage.Page{Limit: -1, Offset: -1})
	require.Empty(t, got)
	_, err = ProjectByID(testContext(t), f.DB, f.Rival.ID, a.ID)
	require.ErrorIs(t, err, storage.ErrNotFound)
}

func TestCreateProject(t *testing.T) {
	t.Parallel()
	f := fixture.New(t)
	n := NewProject{Name: " App ", PackageName: "com.example.app", Platform: artifact.Android, Folder: "x/y",
		Description: "d", LandingPageMode: landing.Closed, Slug: "my-slug"}
	p, err := createProject(f, n)
	require.NoError(t, err)
	require.Equal(t, []string{"App", "com.example.app", "Android", "x/y", "d", landing.Closed, "my-slug"},
		[]string{p.Name, p.PackageName, string(p.Platform), p.FolderPath, p.Description, p.LandingPageMode, p.Slug})
	require.Equal(t, f.Org.Team.ID, p.TeamID)
	n.Slug = ""
	_, err = createProject(f, n)
	require.ErrorIs(t, err, storage.ErrConflict)
	n.Folder = "" // an upload may make an app of its own in a folder; a request for one says that there is one
	_, err = createProject(f, n)
	require.ErrorIs(t, err, storage.ErrConflict)
	n.PackageName, n.Slug = "com.example.b", "MY-slug"
	_, err = createProject(f, n)
	require.ErrorIs(t, err, ErrSlugTaken)
	for field, bad := range map[string]NewProject{
		"name":              {Name: " "},
		"package_name":      {Name: "a", PackageName: strings.Repeat("x", 256)},
		"platform":          {Name: "a", Platform: "a\nb"},
		"description":       {Name: "a", Description: "\xff"},
		"folder":            {Name: "a", Folder: "a\x00"},
		"landing_page_slug": {Name: "a", Slug: "x"},
		"landing_page_mode": {Name: "a", LandingPageMode: "x"},
		"team_id":           {Name: "a", TeamID: 999},
	} {
		_, err := createProject(f, bad)
		require.Equal(t, field, fixture.InvalidField(t, err))
	}
	f.Org.NewTeam("second")
	_, err = createProject(f, NewProject{Name: "a"})
	require.ErrorIs(t, err, ErrNoTeam)
	f.Org.Member.Writer.Teams = nil
	_, err = createProject(f, NewProject{Name: "a", TeamID: f.Org.Team.ID})
	require.ErrorIs(t, err, ErrNoAccess)
}

func TestUpdateProject(t *testing.T) {
	t.Parallel()
	f := fixture.New(t)
	id := f.App("com.example.app").Project.ID
	before := f.Audited(account.ProjectUpdated)
	p, err := changeProject(f, id, ProjectChange{})
	require.NoError(t, err)
	require.Equal(t, before, f.Audited(account.ProjectUpdated))
	p, err = changeProject(f, p.ID, ProjectChange{Name: fixture.Ptr("New"), Folder: fixture.Ptr("f"), Description: fixture.Ptr("x\r\ny"),
		LandingPageMode: fixture.Ptr(landing.Closed), Slug: fixture.Ptr("new-slug")})
	require.NoError(t, err)
	require.Equal(t, []string{"New", "f", "x\ny", landing.Closed, "new-slug"},
		[]string{p.Name, p.FolderPath, p.Description, p.LandingPageMode, p.Slug})
	require.Equal(t, 1, f.Count(`select count(*) from audit_events where type = 1301 and subject like $1
		and detail @> '{"from":{"name":"App","folder_name":""},"to":{"name":"New","folder_name":"f"}}'`, fmt.Sprintf("project %d%%", id)))
	p, err = changeProject(f, id, ProjectChange{Folder: fixture.Ptr(""), Slug: fixture.Ptr("")})
	require.NoError(t, err)
	require.Equal(t, p.Token, p.PageName())
	require.Empty(t, p.FolderPath)

	second := f.Org.NewTeam("second").ID
	_, err = changeProject(f, id, ProjectChange{TeamID: &second})
	require.ErrorIs(t, err, ErrNoAccess)
	_, err = changeProject(f, id, ProjectChange{TeamID: fixture.Ptr(f.Rival.NewTeam("theirs").ID)})
	require.Equal(t, "team_id", fixture.InvalidField(t, err))
	f.Org.Member.Writer.Teams = append(f.Org.Member.Writer.Teams, second)
	_, err = changeProject(f, id, ProjectChange{Folder: fixture.Ptr("deep/er")})
	require.NoError(t, err)
	p, err = changeProject(f, id, ProjectChange{TeamID: &second})
	require.NoError(t, err)
	require.Equal(t, second, p.TeamID)
	require.Equal(t, []string{"deep/er"}, folders(f, second), "the folder goes along")

	for field, bad := range map[string]ProjectChange{
		"name": {Name: fixture.Ptr("")}, "description": {Description: fixture.Ptr("\x00")}, "folder": {Folder: fixture.Ptr("\x07")},
		"landing_page_mode": {LandingPageMode: fixture.Ptr("")}, "landing_page_slug": {Slug: fixture.Ptr("..")},
	} {
		_, err := changeProject(f, id, bad)
		require.Equal(t, field, fixture.InvalidField(t, err))
	}
	f.Org.Member.Writer.Teams = nil
	_, err = changeProject(f, id, ProjectChange{Name: fixture.Ptr("x")})
	require.ErrorIs(t, err, ErrNoAccess)
	f.Org.Member.Writer = account.Writer{OrganizationID: f.Rival.ID, AllTeams: true}
	_, err = changeProject(f, id, ProjectChange{Name: fixture.Ptr("x")})
	require.ErrorIs(t, err, storage.ErrNotFound)
}

func TestDeleteProject(t *testing.T) {
	t.Parallel()
	f := fixture.New(t)
	ctx := testContext(t)
	u := f.NewUpload(fixture.APK("com.example.app", "1", "1"))
	icon := f.NewFile()
	u.Icon = &icon
	up := f.Upload(u)
	second := f.App("com.example.app").Build
	id := up.Project.ID
	remove := func(writer account.Writer) error {
		return f.Do(func(ctx context.Context, tx *storage.Tx) error { return DeleteProject(ctx, tx, writer, id) })
	}
	require.ErrorIs(t, remove(account.Writer{OrganizationID: f.Rival.ID, AllTeams: true}), storage.ErrNotFound)
	require.ErrorIs(t, remove(account.Writer{OrganizationID: f.Org.ID}), ErrNoAccess)
	require.NoError(t, remove(f.Org.Member.Writer))
	require.ErrorIs(t, remove(f.Org.Member.Writer), storage.ErrNotFound)
	_, err := BuildByID(ctx, f.DB, f.Org.ID, 0, up.Build.ID)
	require.ErrorIs(t, err, storage.ErrNotFound)
	_, _, err = Builds(ctx, f.DB, f.Org.ID, id, BuildFilter{}, storage.FirstPage())
	require.ErrorIs(t, err, storage.ErrNotFound)

	builds, err := storedfile.DeletedBuilds(ctx, f.DB, id, 10)
	require.NoError(t, err)
	require.Equal(t, []int64{up.Build.ID, second.ID}, builds)
	var gone []string
	run := func(fn func(context.Context, *storage.Tx, int64) ([]string, error), id int64) error {
		return f.Do(func(ctx context.Context, tx *storage.Tx) error {
			keys, err := fn(ctx, tx, id)
			gone = append(gone, keys...)
			return err
		})
	}
	require.ErrorIs(t, run(storedfile.RemoveProject, id), storage.ErrConflict)
	removeBuild := func(ctx context.Context, tx *storage.Tx, id int64) ([]string, error) {
		return storedfile.RemoveBuilds(ctx, tx, []int64{id})
	}
	for _, build := range builds {
		require.NoError(t, run(removeBuild, build))
		require.NoError(t, run(removeBuild, build), "again: nothing")
	}
	require.ElementsMatch(t, []string{u.File.Key, second.File.Key}, gone)
	require.NoError(t, run(storedfile.RemoveProject, id))
	require.NoError(t, run(storedfile.RemoveProject, id))
	require.ElementsMatch(t, []string{u.File.Key, second.File.Key, icon.Key}, gone)
	require.Zero(t, f.Count(`select count(*) from files`))
	unnamed, err := storedfile.UnnamedObjects(ctx, f.DB, []string{icon.Key, f.App("com.example.app").Build.File.Key})
	require.NoError(t, err)
	require.Equal(t, []string{icon.Key}, unnamed)

	live := f.App("com.example.app")
	require.ErrorIs(t, run(removeBuild, live.Build.ID), storage.ErrConflict)
	require.ErrorIs(t, run(storedfile.RemoveProject, live.Project.ID), storage.ErrConflict)
}

func TestCopyProject(t *testing.T) {
	t.Parallel()
	f := fixture.New(t)
	f.Group("QA")
	u := f.NewUpload(fixture.APK("com.example.app", "1", "1"))
	icon := f.NewFile()
	u.Icon, u.Slug, u.Description, u.Folder, u.LandingPageMode = &icon, "its-slug", fixture.Ptr("d"), fixture.Ptr("f"), landing.Open
	u.ProjectGroups = grant.Groups{Given: true, All: true, Names: []string{"qa"}}
	up := f.Upload(u)
	copied := func(name, folder *string) *Project {
		var p *Project
		f.Must(func(ctx context.Context, tx *storage.Tx) (err error) {
			p, err = CopyProject(ctx, tx, f.Org.Member.Writer, up.Project.ID, name, folder, nil)
			return err
		})
		return p
	}
	p := copied(nil, nil)
	require.Equal(t, []string{"App copy", "f", "d", landing.Open, "", "com.example.app", icon.Key},
		[]string{p.Name, p.FolderPath, p.Description, p.LandingPageMode, p.Slug, p.PackageName, p.IconKey})
	require.True(t, p.AllTesters)
	require.Equal(t, 1, p.BuildCount)
	names, err := grant.ProjectGroups(testContext(t), f.DB, p.ID)
	require.NoError(t, err)
	require.Equal(t, []string{"QA"}, names)
	b, err := BuildByID(testContext(t), f.DB, f.Org.ID, p.ID, p.LatestBuildID)
	require.NoError(t, err)
	require.Equal(t, up.Build.File, b.File)
	require.Equal(t, "copy", b.UploadedVia)

	changeSettings(f, setting.Change{RequireLogin: fixture.Ptr(true)})
	p = copied(fixture.Ptr("Other"), fixture.Ptr("g"))
	require.Equal(t, []string{"Other", "g", landing.Closed}, []string{p.Name, p.FolderPath, p.LandingPageMode})
	require.Equal(t, 2, f.Audited(account.ProjectCopied))
	require.Equal(t, up.Project.ID, f.App("com.example.app").Project.ID, "uploads go to the original")
	f.CheckCounters()
	for err, writer := range map[error]account.Writer{storage.ErrNotFound: {OrganizationID: f.Rival.ID, AllTeams: true},
		ErrNoAccess: {OrganizationID: f.Org.ID}} {
		require.ErrorIs(t, f.Do(func(ctx context.Context, tx *storage.Tx) error {
			_, err := CopyProject(ctx, tx, writer, p.ID, nil, nil, nil)
			return err
		}), err)
	}
}
