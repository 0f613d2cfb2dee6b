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
	"github.com/slipway-qa/slipway/storage/distribution/installpage"
	"github.com/slipway-qa/slipway/storage/distribution/landing"
	"github.com/slipway-qa/slipway/storage/distribution/storedfile"
)

func editBuild(f *fixture.Fixture, id int64, c BuildChange) (b *Build, bad []string, err error) {
	err = f.Do(func(ctx context.Context, tx *storage.Tx) error {
		b, bad, err = UpdateBuild(ctx, tx, f.Org.Member.Writer, 0, id, c)
		return err
	})
	return b, bad, err
}

func TestBuildList(t *testing.T) {
	t.Parallel()
	f := fixture.New(t)
	var project int64
	var ids []int64
	for i := range 3 {
		u := f.NewUpload(fixture.APK("com.example.app", fmt.Sprint("1.", i), "1"))
		u.Tags, u.Metadata = []string{fmt.Sprint("t", i)}, map[string]string{"commit": fmt.Sprint("Abc", i)}
		u.ReleaseNotes = fmt.Sprint("Fixed 100% of ", i)
		up := f.Upload(u)
		project, ids = up.Project.ID, append(ids, up.Build.ID)
	}
	for _, row := range []struct {
		f     BuildFilter
		p     storage.Page
		want  []int64
		total int
	}{
		{BuildFilter{}, storage.FirstPage(), []int64{ids[2], ids[1], ids[0]}, 3},
		{BuildFilter{}, storage.Page{Limit: 1, Offset: 1}, []int64{ids[1]}, 3},
		{BuildFilter{}, storage.Page{Limit: 10, Offset: 3}, nil, 3},
		{BuildFilter{Version: "1.1"}, storage.FirstPage(), []int64{ids[1]}, 1},
		{BuildFilter{Tag: "t2"}, storage.FirstPage(), []int64{ids[2]}, 1},
		{BuildFilter{Search: "aBC0"}, storage.FirstPage(), []int64{ids[0]}, 1},
		{BuildFilter{Search: "100% OF"}, storage.Page{Limit: 2}, []int64{ids[2], ids[1]}, 3},
		{BuildFilter{Search: "%"}, storage.Page{Limit: 10, Offset: 2}, []int64{ids[0]}, 3},
		{BuildFilter{Search: "commit"}, storage.FirstPage(), nil, 0},
		{BuildFilter{Version: "1.1", Search: "fixed"}, storage.FirstPage(), []int64{ids[1]}, 1},
		{BuildFilter{Version: "1.1", Tag: "t1", Search: "abc1"}, storage.FirstPage(), []int64{ids[1]}, 1},
		{BuildFilter{Version: "1", Tag: "t1"}, storage.FirstPage(), nil, 0},
		{BuildFilter{Version: "1.1", Tag: "t2\x00"}, storage.FirstPage(), nil, 0},
	} {
		list, total, err := Builds(testContext(t), f.DB, f.Org.ID, project, row.f, row.p)
		require.NoError(t, err)
		require.Equal(t, row.total, total)
		var got []int64
		for _, b := range list {
			got = append(got, b.ID)
		}
		require.Equal(t, row.want, got)
	}
	_, _, err := Builds(testContext(t), f.DB, f.Rival.ID, project, BuildFilter{}, storage.FirstPage())
	require.ErrorIs(t, err, storage.ErrNotFound)
	for _, at := range [][3]int64{{f.Rival.ID, 0, ids[0]}, {f.Org.ID, project + 1, ids[0]}, {f.Org.ID, project, 999}} {
		_, err := BuildByID(testContext(t), f.DB, at[0], at[1], at[2])
		require.ErrorIs(t, err, storage.ErrNotFound)
	}
	f.Exec(`insert into webhooks (organization_id, name, url, actions, status, secret)
		values ($1, 'a', 'https://ci.example.invalid', '{download}', 'active', '')`, f.Org.ID)
	f.Must(func(ctx context.Context, tx *storage.Tx) error {
		return installpage.RecordDownload(ctx, tx, installpage.Download{Build: &Build{ID: ids[0], OrganizationID: f.Org.ID, ProjectID: project},
			Actor: f.Org.Member.Writer.Actor})
	})
	require.Equal(t, 1, f.Count(`select count(*) from webhook_deliveries d join events e on e.id = d.event_id
		where e.build_id = $1 and e.body->>'testerEmail' = $2 and e.body ?& '{ipAddress,buildUrl,referer}'`, ids[0], *f.Org.Member.Email))
	b, err := BuildByID(testContext(t), f.DB, f.Org.ID, project, ids[0])
	require.NoError(t, err)
	require.EqualValues(t, 1, b.Downloads)
}

func TestUpdateBuild(t *testing.T) {
	t.Parallel()
	f := fixture.New(t)
	f.Group("QA")
	u := f.NewUpload(fixture.APK("com.example.app", "1", "1"))
	u.Metadata = map[string]string{"a": "1", "b": "2"}
	id := f.Upload(u).Build.ID
	_, _, err := editBuild(f, id, BuildChange{})
	require.NoError(t, err)
	require.Zero(t, f.Audited(account.BuildUpdated))

	b, bad, err := editBuild(f, id, BuildChange{ReleaseNotes: fixture.Ptr(strings.Repeat("n", 5000)), Tags: &[]string{"x"},
		Metadata: map[string]string{"a": "", "c": "3"}, LandingPageMode: fixture.Ptr(landing.Closed), Slug: fixture.Ptr("its-slug"),
		Groups: grant.Groups{Given: true, Names: []string{"qa", "no"}}, AutoUpdate: fixture.Ptr(true), State: fixture.Ptr(Disabled)})
	require.NoError(t, err)
	require.Equal(t, []string{"no"}, bad)
	require.Len(t, b.ReleaseNotes, 5000)
	require.Equal(t, []string{"x"}, b.Tags)
	require.Equal(t, map[string]string{"b": "2", "c": "3"}, b.Metadata)
	require.Equal(t, []string{landing.Closed, "its-slug"}, []string{b.LandingPageMode, b.ProjectPageName})
	require.True(t, b.AutoUpdate)
	require.Equal(t, "the build is disabled", b.Distributable())
	require.Equal(t, []int{1, 1, 1}, []int{f.Audited(account.BuildUpdated), f.Audited(account.ProjectUpdated),
		f.Audited(account.DistributionChanged)})
	require.Equal(t, 1, f.Count(`select count(*) from audit_events where type = 1401
		and detail @> '{"from":{"state":"enabled","metadata":{"a":"1","b":"2"}},"to":{"state":"disabled","tags":["x"]}}'
		and length(detail::text) < 2000`))

	b, _, err = editBuild(f, id, BuildChange{Slug: fixture.Ptr(""), Tags: &[]string{}, State: fixture.Ptr(Enabled)})
	require.NoError(t, err)
	require.Empty(t, b.Tags)
	require.Equal(t, Enabled, b.State)
	f.Exec(`update builds set state = 'certificate_expired', state_reason = 'r', expires_at = now() where id = $1`, id)
	many := map[string]string{}
	for i := range 99 {
		many[fmt.Sprint(i)] = "x"
	}
	for _, row := range []struct {
		field string
		c     BuildChange
	}{
		{"state", BuildChange{State: fixture.Ptr(Enabled)}}, {"state", BuildChange{State: fixture.Ptr(Invalid)}},
		{"release_notes", BuildChange{ReleaseNotes: fixture.Ptr("\x00")}}, {"tags", BuildChange{Tags: &[]string{strings.Repeat("x", 61)}}},
		{"metadata", BuildChange{Metadata: many}}, {"metadata", BuildChange{Metadata: map[string]string{"": "x"}}},
		{"landing_page_mode", BuildChange{LandingPageMode: fixture.Ptr("x")}}, {"landing_page_slug", BuildChange{Slug: fixture.Ptr("x")}},
	} {
		_, _, err := editBuild(f, id, row.c)
		require.Equal(t, row.field, fixture.InvalidField(t, err))
	}
	f.Exec(`update builds set state = 'invalid', expires_at = null where id = $1`, id)
	_, _, err = editBuild(f, id, BuildChange{State: fixture.Ptr(Enabled)})
	require.Equal(t, "state", fixture.InvalidField(t, err))

	f.Org.Member.Writer.Teams = nil
	_, _, err = editBuild(f, id, BuildChange{})
	require.ErrorIs(t, err, ErrNoAccess)
	f.Org.Member.Writer = account.Writer{OrganizationID: f.Rival.ID, AllTeams: true}
	_, _, err = editBuild(f, id, BuildChange{})
	require.ErrorIs(t, err, storage.ErrNotFound)
}

func TestDeleteBuild(t *testing.T) {
	t.Parallel()
	f := fixture.New(t)
	var ups []*Uploaded
	var icons []storedfile.NewFile
	for range 3 {
		u := f.NewUpload(fixture.APK("com.example.app", "1", "1"))
		icons = append(icons, f.NewFile())
		u.Icon = &icons[len(icons)-1]
		ups = append(ups, f.Upload(u))
	}
	project := ups[0].Project.ID
	remove := func(writer account.Writer, project, id int64) error {
		return f.Do(func(ctx context.Context, tx *storage.Tx) error {
			return DeleteBuild(ctx, tx, writer, project, id)
		})
	}
	last := ups[2].Build.ID
	require.ErrorIs(t, remove(account.Writer{OrganizationID: f.Rival.ID, AllTeams: true}, 0, last), storage.ErrNotFound)
	require.ErrorIs(t, remove(account.Writer{OrganizationID: f.Org.ID}, 0, last), ErrNoAccess)
	require.ErrorIs(t, remove(f.Org.Member.Writer, project+1, last), storage.ErrNotFound)
	for i := 2; i >= 0; i-- {
		p, err := ProjectByID(testContext(t), f.DB, f.Org.ID, project)
		require.NoError(t, err)
		require.Equal(t, icons[i].Key, p.IconKey)
		require.Equal(t, ups[i].Build.ID, p.LatestBuildID)
		require.NoError(t, remove(f.Org.Member.Writer, project, ups[i].Build.ID))
		require.ErrorIs(t, remove(f.Org.Member.Writer, project, ups[i].Build.ID), storage.ErrNotFound)
	}
	p, err := ProjectByID(testContext(t), f.DB, f.Org.ID, project)
	require.NoError(t, err)
	require.Empty(t, p.IconKey)
	require.Zero(t, p.BuildCount)
	require.Equal(t, 3, f.Audited(account.BuildDeleted))
	list, _, err := Projects(testContext(t), f.DB, ProjectFilter{OrganizationID: f.Org.ID, WithBuilds: true}, storage.FirstPage())
	require.NoError(t, err)
	require.Empty(t, list)
	f.CheckCounters()
}

func TestAttachSymbols(t *testing.T) {
	t.Parallel()
	f := fixture.New(t)
	const id = "0a1b2c3d-0000-0000-0000-00000000000A"
	ipa := func(name string) *artifact.Package {
		return &artifact.Package{Kind: artifact.IPA, Platform: artifact.IOS, PackageName: name, Name: "App",
			Images: []artifact.Image{{Name: "App", Arch: "arm64", UUID: id}}}
	}
	first, second := f.Upload(f.NewUpload(ipa("com.example.a"))).Build, f.Upload(f.NewUpload(ipa("com.example.a"))).Build
	withOwn := f.NewUpload(ipa("com.example.a"))
	withOwn.Symbols = &NewSymbols{File: f.NewFile(), Name: "own.zip"}
	own := f.Upload(withOwn).Build
	f.App("com.example.b")
	attach := func(writer account.Writer, uuid string) []Build {
		var list []Build
		f.Must(func(ctx context.Context, tx *storage.Tx) (err error) {
			file := f.NewFile()
			id, err := storedfile.Create(ctx, tx, f.Org.ID, file)
			if err != nil {
				return err
			}
			list, err = AttachSymbols(ctx, tx, writer, id, NewSymbols{File: file, Name: "a/App.dSYM.zip",
				What: &artifact.Symbols{Kind: artifact.DSYM, Images: []artifact.Image{{UUID: uuid}}}})
			return err
		})
		return list
	}
	require.Empty(t, attach(f.Org.Member.Writer, "none"))
	require.Empty(t, attach(f.Org.Member.Writer, ""))
	require.Empty(t, attach(account.Writer{OrganizationID: f.Rival.ID, AllTeams: true}, id))
	require.Empty(t, attach(account.Writer{OrganizationID: f.Org.ID}, id))
	got := attach(f.Org.Member.Writer, strings.ToLower(id))
	require.Len(t, got, 2)
	require.Equal(t, []int64{second.ID, first.ID}, []int64{got[0].ID, got[1].ID})
	require.Equal(t, "App.dSYM.zip", got[0].SymbolsName)
	require.Equal(t, got[0].SymbolsKey, got[1].SymbolsKey)
	require.Equal(t, strings.ToLower(id), got[0].Symbols.Images[0].UUID)
	require.Empty(t, attach(f.Org.Member.Writer, id), "they have symbols now")
	after, err := BuildByID(testContext(t), f.DB, f.Org.ID, 0, own.ID)
	require.NoError(t, err)
	require.Equal(t, withOwn.Symbols.File.Key, after.SymbolsKey)
	require.Equal(t, 1, f.Audited(account.BuildSymbolsAttached))
}
