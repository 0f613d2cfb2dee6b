package distribution_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/artifact"
	. "github.com/slipway-qa/slipway/storage/distribution"
)

func (w *world) create(n NewProject) (p *Project, err error) {
	err = w.do(func(ctx context.Context, tx *storage.Tx) error {
		p, err = CreateProject(ctx, tx, w.w, n)
		return err
	})
	return p, err
}

func (w *world) change(id int64, c ProjectChange) (p *Project, err error) {
	err = w.do(func(ctx context.Context, tx *storage.Tx) error {
		p, _, err = UpdateProject(ctx, tx, w.w, id, c)
		return err
	})
	return p, err
}

func TestProjectList(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a, b := w.app("com.example.alpha").Project, w.app("com.example.beta").Project
	c, err := w.create(NewProject{Name: "Gamma_%", Platform: artifact.IOS})
	require.NoError(t, err)
	ids := func(f ProjectFilter, p storage.Page) ([]int64, int) {
		list, total, err := Projects(testContext(t), w.db, f, p)
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
		{ProjectFilter{TeamID: w.team}, []int64{c.ID, b.ID, a.ID}},
		{ProjectFilter{TeamID: w.team + 1}, []int64{}},
	} {
		row.f.OrganizationID = w.org
		got, total := ids(row.f, storage.FirstPage())
		require.Equal(t, row.want, got)
		require.Equal(t, len(row.want), total)
	}
	got, total := ids(ProjectFilter{OrganizationID: w.org}, storage.Page{Limit: 1, Offset: 1})
	require.Equal(t, []int64{b.ID}, got)
	require.Equal(t, 3, total)
	got, _ = ids(ProjectFilter{OrganizationID: w.other}, storage.Page{Limit: -1, Offset: -1})
	require.Empty(t, got)
	_, err = ProjectByID(testContext(t), w.db, w.other, a.ID)
	require.ErrorIs(t, err, storage.ErrNotFound)
}

func TestCreateProject(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	n := NewProject{Name: " App ", PackageName: "com.example.app", Platform: artifact.Android, Folder: "x/y",
		Description: "d", LandingPageMode: Closed, Slug: "my-slug"}
	p, err := w.create(n)
	require.NoError(t, err)
	require.Equal(t, []string{"App", "com.example.app", "Android", "x/y", "d", Closed, "my-slug"},
		[]string{p.Name, p.PackageName, p.Platform, p.FolderPath, p.Description, p.LandingPageMode, p.Slug})
	require.Equal(t, w.team, p.TeamID)
	n.Slug = ""
	_, err = w.create(n)
	require.ErrorIs(t, err, storage.ErrConflict)
	n.Folder = ""
	_, err = w.create(n)
	require.NoError(t, err)
	n.PackageName, n.Slug = "com.example.b", "MY-slug"
	_, err = w.create(n)
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
		_, err := w.create(bad)
		require.Equal(t, field, invalidField(t, err))
	}
	w.newTeam(w.org, "second")
	_, err = w.create(NewProject{Name: "a"})
	require.ErrorIs(t, err, ErrNoTeam)
	w.w.Teams = nil
	_, err = w.create(NewProject{Name: "a", TeamID: w.team})
	require.ErrorIs(t, err, ErrNoAccess)
}

func TestUpdateProject(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.app("com.example.app").Project.ID
	before := w.audited(account.ProjectUpdated)
	p, err := w.change(id, ProjectChange{})
	require.NoError(t, err)
	require.Equal(t, before, w.audited(account.ProjectUpdated))
	p, err = w.change(p.ID, ProjectChange{Name: ptr("New"), Folder: ptr("f"), Description: ptr("x\r\ny"),
		LandingPageMode: ptr(Closed), Slug: ptr("new-slug")})
	require.NoError(t, err)
	require.Equal(t, []string{"New", "f", "x\ny", Closed, "new-slug"},
		[]string{p.Name, p.FolderPath, p.Description, p.LandingPageMode, p.Slug})
	require.Equal(t, 1, w.count(`select count(*) from audit_events where type = 1301 and subject like $1
		and detail @> '{"from":{"name":"App","folder_name":""},"to":{"name":"New","folder_name":"f"}}'`, fmt.Sprintf("project %d%%", id)))
	p, err = w.change(id, ProjectChange{Folder: ptr(""), Slug: ptr("")})
	require.NoError(t, err)
	require.Equal(t, p.Token, p.PageName())
	require.Empty(t, p.FolderPath)

	second := w.newTeam(w.org, "second")
	_, err = w.change(id, ProjectChange{TeamID: &second})
	require.ErrorIs(t, err, ErrNoAccess)
	_, err = w.change(id, ProjectChange{TeamID: ptr(w.newTeam(w.other, "theirs"))})
	require.Equal(t, "team_id", invalidField(t, err))
	w.w.Teams = append(w.w.Teams, second)
	_, err = w.change(id, ProjectChange{Folder: ptr("deep/er")})
	require.NoError(t, err)
	p, err = w.change(id, ProjectChange{TeamID: &second})
	require.NoError(t, err)
	require.Equal(t, second, p.TeamID)
	require.Equal(t, []string{"deep/er"}, w.folders(second), "the folder goes along")

	for field, bad := range map[string]ProjectChange{
		"name": {Name: ptr("")}, "description": {Description: ptr("\x00")}, "folder": {Folder: ptr("\x07")},
		"landing_page_mode": {LandingPageMode: ptr("")}, "landing_page_slug": {Slug: ptr("..")},
	} {
		_, err := w.change(id, bad)
		require.Equal(t, field, invalidField(t, err))
	}
	w.w.Teams = nil
	_, err = w.change(id, ProjectChange{Name: ptr("x")})
	require.ErrorIs(t, err, ErrNoAccess)
	w.w = account.Writer{OrganizationID: w.other, AllTeams: true}
	_, err = w.change(id, ProjectChange{Name: ptr("x")})
	require.ErrorIs(t, err, storage.ErrNotFound)
}

func TestDeleteProject(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := testContext(t)
	u := w.of(apk("com.example.app", "1", "1"))
	icon := w.file()
	u.Icon = &icon
	up := w.upload(u)
	second := w.app("com.example.app").Build
	id := up.Project.ID
	remove := func(writer account.Writer) error {
		return w.do(func(ctx context.Context, tx *storage.Tx) error { return DeleteProject(ctx, tx, writer, id) })
	}
	require.ErrorIs(t, remove(account.Writer{OrganizationID: w.other, AllTeams: true}), storage.ErrNotFound)
	require.ErrorIs(t, remove(account.Writer{OrganizationID: w.org}), ErrNoAccess)
	require.NoError(t, remove(w.w))
	require.ErrorIs(t, remove(w.w), storage.ErrNotFound)
	_, err := BuildByID(ctx, w.db, w.org, 0, up.Build.ID)
	require.ErrorIs(t, err, storage.ErrNotFound)
	_, _, err = Builds(ctx, w.db, w.org, id, BuildFilter{}, storage.FirstPage())
	require.ErrorIs(t, err, storage.ErrNotFound)

	builds, err := DeletedBuilds(ctx, w.db, id, 10)
	require.NoError(t, err)
	require.Equal(t, []int64{up.Build.ID, second.ID}, builds)
	var gone []string
	run := func(fn func(context.Context, *storage.Tx, int64) ([]string, error), id int64) error {
		return w.do(func(ctx context.Context, tx *storage.Tx) error {
			keys, err := fn(ctx, tx, id)
			gone = append(gone, keys...)
			return err
		})
	}
	require.ErrorIs(t, run(RemoveProject, id), storage.ErrConflict)
	removeBuild := func(ctx context.Context, tx *storage.Tx, id int64) ([]string, error) {
		return RemoveBuilds(ctx, tx, []int64{id})
	}
	for _, build := range builds {
		require.NoError(t, run(removeBuild, build))
		require.NoError(t, run(removeBuild, build), "again: nothing")
	}
	require.ElementsMatch(t, []string{u.File.Key, second.File.Key}, gone)
	require.NoError(t, run(RemoveProject, id))
	require.NoError(t, run(RemoveProject, id))
	require.ElementsMatch(t, []string{u.File.Key, second.File.Key, icon.Key}, gone)
	require.Zero(t, w.count(`select count(*) from files`))
	unnamed, err := UnnamedObjects(ctx, w.db, []string{icon.Key, w.app("com.example.app").Build.File.Key})
	require.NoError(t, err)
	require.Equal(t, []string{icon.Key}, unnamed)

	live := w.app("com.example.app")
	require.ErrorIs(t, run(removeBuild, live.Build.ID), storage.ErrConflict)
	require.ErrorIs(t, run(RemoveProject, live.Project.ID), storage.ErrConflict)
}

func TestCopyProject(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.group("QA")
	u := w.of(apk("com.example.app", "1", "1"))
	icon := w.file()
	u.Icon, u.Slug, u.Description, u.Folder, u.LandingPageMode = &icon, "its-slug", ptr("d"), ptr("f"), Open
	u.ProjectGroups = Groups{Given: true, All: true, Names: []string{"qa"}}
	up := w.upload(u)
	copied := func(name, folder *string) *Project {
		var p *Project
		w.must(func(ctx context.Context, tx *storage.Tx) (err error) {
			p, err = CopyProject(ctx, tx, w.w, up.Project.ID, name, folder)
			return err
		})
		return p
	}
	p := copied(nil, nil)
	require.Equal(t, []string{"App copy", "f", "d", Open, "", "com.example.app", icon.Key},
		[]string{p.Name, p.FolderPath, p.Description, p.LandingPageMode, p.Slug, p.PackageName, p.IconKey})
	require.True(t, p.AllTesters)
	require.Equal(t, 1, p.BuildCount)
	names, err := ProjectGroups(testContext(t), w.db, p.ID)
	require.NoError(t, err)
	require.Equal(t, []string{"QA"}, names)
	b, err := BuildByID(testContext(t), w.db, w.org, p.ID, p.LatestBuildID)
	require.NoError(t, err)
	require.Equal(t, up.Build.File, b.File)
	require.Equal(t, "copy", b.UploadedVia)

	w.set(SettingsChange{RequireLogin: ptr(true)})
	p = copied(ptr("Other"), ptr("g"))
	require.Equal(t, []string{"Other", "g", Closed}, []string{p.Name, p.FolderPath, p.LandingPageMode})
	require.Equal(t, 2, w.audited(account.ProjectCopied))
	require.Equal(t, up.Project.ID, w.app("com.example.app").Project.ID, "uploads go to the original")
	w.checkCounters()
	for err, writer := range map[error]account.Writer{storage.ErrNotFound: {OrganizationID: w.other, AllTeams: true}, ErrNoAccess: {OrganizationID: w.org}} {
		require.ErrorIs(t, w.do(func(ctx context.Context, tx *storage.Tx) error {
			_, err := CopyProject(ctx, tx, writer, p.ID, nil, nil)
			return err
		}), err)
	}
}
