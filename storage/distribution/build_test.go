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

func (w *world) edit(id int64, c BuildChange) (b *Build, bad []string, err error) {
	err = w.do(func(ctx context.Context, tx *storage.Tx) error {
		b, bad, err = UpdateBuild(ctx, tx, w.w, 0, id, c)
		return err
	})
	return b, bad, err
}

func TestBuildList(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var project int64
	var ids []int64
	for i := range 3 {
		u := w.of(apk("com.example.app", fmt.Sprint("1.", i), "1"))
		u.Tags, u.Metadata = []string{fmt.Sprint("t", i)}, map[string]string{"commit": fmt.Sprint("Abc", i)}
		u.ReleaseNotes = fmt.Sprint("Fixed 100% of ", i)
		up := w.upload(u)
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
		list, total, err := Builds(testContext(t), w.db, w.org, project, row.f, row.p)
		require.NoError(t, err)
		require.Equal(t, row.total, total)
		var got []int64
		for _, b := range list {
			got = append(got, b.ID)
		}
		require.Equal(t, row.want, got)
	}
	_, _, err := Builds(testContext(t), w.db, w.other, project, BuildFilter{}, storage.FirstPage())
	require.ErrorIs(t, err, storage.ErrNotFound)
	for _, at := range [][3]int64{{w.other, 0, ids[0]}, {w.org, project + 1, ids[0]}, {w.org, project, 999}} {
		_, err := BuildByID(testContext(t), w.db, at[0], at[1], at[2])
		require.ErrorIs(t, err, storage.ErrNotFound)
	}
	require.NoError(t, CountDownload(testContext(t), w.db, ids[0]))
	b, err := BuildByID(testContext(t), w.db, w.org, project, ids[0])
	require.NoError(t, err)
	require.EqualValues(t, 1, b.Downloads)
}

func TestUpdateBuild(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.group("QA")
	u := w.of(apk("com.example.app", "1", "1"))
	u.Metadata = map[string]string{"a": "1", "b": "2"}
	id := w.upload(u).Build.ID
	_, _, err := w.edit(id, BuildChange{})
	require.NoError(t, err)
	require.Zero(t, w.audited(account.BuildUpdated))

	b, bad, err := w.edit(id, BuildChange{ReleaseNotes: ptr(strings.Repeat("n", 5000)), Tags: &[]string{"x"},
		Metadata: map[string]string{"a": "", "c": "3"}, LandingPageMode: ptr(Closed), Slug: ptr("its-slug"),
		Groups: Groups{Given: true, Names: []string{"qa", "no"}}, AutoUpdate: ptr(true), State: ptr(Disabled)})
	require.NoError(t, err)
	require.Equal(t, []string{"no"}, bad)
	require.Len(t, b.ReleaseNotes, 5000)
	require.Equal(t, []string{"x"}, b.Tags)
	require.Equal(t, map[string]string{"b": "2", "c": "3"}, b.Metadata)
	require.Equal(t, []string{Closed, "its-slug"}, []string{b.LandingPageMode, b.ProjectPageName})
	require.True(t, b.AutoUpdate)
	require.Equal(t, "the build is disabled", b.Distributable())
	require.Equal(t, []int{1, 1, 1}, []int{w.audited(account.BuildUpdated), w.audited(account.ProjectUpdated), w.audited(account.DistributionChanged)})
	require.Equal(t, 1, w.count(`select count(*) from audit_events where type = 1401
		and detail @> '{"from":{"state":"enabled","metadata":{"a":"1","b":"2"}},"to":{"state":"disabled","tags":["x"]}}'
		and length(detail::text) < 2000`))

	b, _, err = w.edit(id, BuildChange{Slug: ptr(""), Tags: &[]string{}, State: ptr(Enabled)})
	require.NoError(t, err)
	require.Empty(t, b.Tags)
	require.Equal(t, Enabled, b.State)
	w.exec(`update builds set state = 'certificate_expired', state_reason = 'r', expires_at = now() where id = $1`, id)
	many := map[string]string{}
	for i := range 99 {
		many[fmt.Sprint(i)] = "x"
	}
	for _, row := range []struct {
		field string
		c     BuildChange
	}{
		{"state", BuildChange{State: ptr(Enabled)}}, {"state", BuildChange{State: ptr(Invalid)}},
		{"release_notes", BuildChange{ReleaseNotes: ptr("\x00")}}, {"tags", BuildChange{Tags: &[]string{strings.Repeat("x", 61)}}},
		{"metadata", BuildChange{Metadata: many}}, {"metadata", BuildChange{Metadata: map[string]string{"": "x"}}},
		{"landing_page_mode", BuildChange{LandingPageMode: ptr("x")}}, {"landing_page_slug", BuildChange{Slug: ptr("x")}},
	} {
		_, _, err := w.edit(id, row.c)
		require.Equal(t, row.field, invalidField(t, err))
	}
	w.exec(`update builds set state = 'invalid', expires_at = null where id = $1`, id)
	_, _, err = w.edit(id, BuildChange{State: ptr(Enabled)})
	require.Equal(t, "state", invalidField(t, err))

	w.w.Teams = nil
	_, _, err = w.edit(id, BuildChange{})
	require.ErrorIs(t, err, ErrNoAccess)
	w.w = account.Writer{OrganizationID: w.other, AllTeams: true}
	_, _, err = w.edit(id, BuildChange{})
	require.ErrorIs(t, err, storage.ErrNotFound)
}

func TestDeleteBuild(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var ups []*Uploaded
	var icons []NewFile
	for range 3 {
		u := w.of(apk("com.example.app", "1", "1"))
		icons = append(icons, w.file())
		u.Icon = &icons[len(icons)-1]
		ups = append(ups, w.upload(u))
	}
	project := ups[0].Project.ID
	remove := func(writer account.Writer, project, id int64) error {
		return w.do(func(ctx context.Context, tx *storage.Tx) error {
			return DeleteBuild(ctx, tx, writer, project, id)
		})
	}
	last := ups[2].Build.ID
	require.ErrorIs(t, remove(account.Writer{OrganizationID: w.other, AllTeams: true}, 0, last), storage.ErrNotFound)
	require.ErrorIs(t, remove(account.Writer{OrganizationID: w.org}, 0, last), ErrNoAccess)
	require.ErrorIs(t, remove(w.w, project+1, last), storage.ErrNotFound)
	for i := 2; i >= 0; i-- {
		p, err := ProjectByID(testContext(t), w.db, w.org, project)
		require.NoError(t, err)
		require.Equal(t, icons[i].Key, p.IconKey)
		require.Equal(t, ups[i].Build.ID, p.LatestBuildID)
		require.NoError(t, remove(w.w, project, ups[i].Build.ID))
		require.ErrorIs(t, remove(w.w, project, ups[i].Build.ID), storage.ErrNotFound)
	}
	p, err := ProjectByID(testContext(t), w.db, w.org, project)
	require.NoError(t, err)
	require.Empty(t, p.IconKey)
	require.Zero(t, p.BuildCount)
	require.Equal(t, 3, w.audited(account.BuildDeleted))
	list, _, err := Projects(testContext(t), w.db, ProjectFilter{OrganizationID: w.org, WithBuilds: true}, storage.FirstPage())
	require.NoError(t, err)
	require.Empty(t, list)
	w.checkCounters()
}

func TestAttachSymbols(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const id = "0a1b2c3d-0000-0000-0000-00000000000A"
	ipa := func(name string) *artifact.Package {
		return &artifact.Package{Kind: artifact.IPA, Platform: artifact.IOS, PackageName: name, Name: "App",
			Images: []artifact.Image{{Name: "App", Arch: "arm64", UUID: id}}}
	}
	first, second := w.upload(w.of(ipa("com.example.a"))).Build, w.upload(w.of(ipa("com.example.a"))).Build
	withOwn := w.of(ipa("com.example.a"))
	withOwn.Symbols = &NewSymbols{File: w.file(), Name: "own.zip"}
	own := w.upload(withOwn).Build
	w.app("com.example.b")
	attach := func(writer account.Writer, uuid string) []Build {
		var list []Build
		w.must(func(ctx context.Context, tx *storage.Tx) (err error) {
			list, err = AttachSymbols(ctx, tx, writer, NewSymbols{File: w.file(), Name: "a/App.dSYM.zip",
				What: &artifact.Symbols{Kind: artifact.DSYM, Images: []artifact.Image{{UUID: uuid}}}})
			return err
		})
		return list
	}
	files := w.count(`select count(*) from files`)
	require.Empty(t, attach(w.w, "none"))
	require.Empty(t, attach(w.w, ""))
	require.Empty(t, attach(account.Writer{OrganizationID: w.other, AllTeams: true}, id))
	require.Empty(t, attach(account.Writer{OrganizationID: w.org}, id))
	require.Equal(t, files, w.count(`select count(*) from files`), "no file without a build")
	got := attach(w.w, strings.ToLower(id))
	require.Len(t, got, 2)
	require.Equal(t, []int64{second.ID, first.ID}, []int64{got[0].ID, got[1].ID})
	require.Equal(t, "App.dSYM.zip", got[0].SymbolsName)
	require.Equal(t, got[0].SymbolsKey, got[1].SymbolsKey)
	require.Equal(t, strings.ToLower(id), got[0].Symbols.Images[0].UUID)
	require.Empty(t, attach(w.w, id), "they have symbols now")
	after, err := BuildByID(testContext(t), w.db, w.org, 0, own.ID)
	require.NoError(t, err)
	require.Equal(t, withOwn.Symbols.File.Key, after.SymbolsKey)
	require.Equal(t, 1, w.audited(account.BuildSymbolsAttached))
}
