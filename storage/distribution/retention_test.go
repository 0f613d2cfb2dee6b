package distribution_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/cmd/localservice/servicetest/fixture"
	"github.com/slipway-qa/slipway/storage"
	. "github.com/slipway-qa/slipway/storage/distribution"
)

func TestBuildsBeyondRetention(t *testing.T) {
	t.Parallel()
	f := fixture.New(t)
	first := f.App("com.example.app")
	project, ids := first.Project.ID, []int64{first.Build.ID}
	for _, channel := range []string{"", "beta", "beta", "", ""} {
		u := f.NewUpload(fixture.APK("com.example.app", "1", "1"))
		if channel != "" {
			u.Metadata = map[string]string{"channel": channel}
		}
		ids = append(ids, f.Upload(u).Build.ID)
	}
	// Without a channel: 0, 1, 4, 5; of beta: 2, 3. All but the last two are 10 days old.
	f.Exec(`update builds set created_at = now() - interval '10 days' where id <= $1`, ids[3])
	for _, tt := range []struct {
		name string
		set  string // of the organization
		app  string // of the app
		keep []int
		off  []int // disabled
		want []int
	}{
		{name: "none by default"},
		{name: "zero is none", set: "retention_builds = 0, retention_days = 0"},
		{name: "newest two of each channel", set: "retention_builds = 2", want: []int{0, 1}},
		{name: "newest one of each channel", set: "retention_builds = 1", want: []int{0, 1, 2, 4}},
		{name: "age, but never the newest", set: "retention_days = 9", want: []int{0, 1, 2}},
		{name: "young enough", set: "retention_days = 11"},
		{name: "either of both", set: "retention_builds = 1, retention_days = 11", want: []int{0, 1, 2, 4}},
		{name: "the app's own goes before", set: "retention_builds = 1", app: "retention_builds = 3", want: []int{0}},
		{name: "the app is without a bound", set: "retention_builds = 1", app: "retention_builds = 0"},
		{name: "only the app has one", app: "retention_days = 9", want: []int{0, 1, 2}},
		{name: "each member by itself", set: "retention_builds = 1, retention_days = 9", app: "retention_builds = 0", want: []int{0, 1, 2}},
		{name: "kept", set: "retention_builds = 1", keep: []int{0, 2}, want: []int{1, 4}},
		{name: "the newest enabled one stays", set: "retention_builds = 1", off: []int{4, 5}, want: []int{0, 2, 4}},
	} {
		f.Exec(`update organizations set retention_builds = null, retention_days = null`)
		f.Exec(`update projects set retention_builds = null, retention_days = null`)
		f.Exec(`update builds set keep = false, state = 'enabled'`)
		if tt.set != "" {
			f.Exec(`update organizations set `+tt.set+` where id = $1`, f.Org.ID)
		}
		if tt.app != "" {
			f.Exec(`update projects set `+tt.app+` where id = $1`, project)
		}
		for _, i := range tt.keep {
			f.Exec(`update builds set keep = true where id = $1`, ids[i])
		}
		for _, i := range tt.off {
			f.Exec(`update builds set state = 'disabled' where id = $1`, ids[i])
		}
		var want, got, shown []int64
		for _, i := range tt.want {
			want = append(want, ids[i])
		}
		list, err := BuildsBeyondRetention(testContext(t), f.DB, time.Now(), 100)
		require.NoError(t, err)
		for _, b := range list {
			require.Equal(t, BeyondRetention{ID: b.ID, OrganizationID: f.Org.ID, ProjectID: project}, b)
			got = append(got, b.ID)
		}
		require.Equal(t, want, got, tt.name)
		builds, total, err := RetentionPreview(testContext(t), f.DB, f.Org.ID, project, time.Now(), storage.FirstPage())
		require.NoError(t, err)
		require.Equal(t, len(want), total, tt.name)
		for _, b := range builds {
			shown = append(shown, b.ID)
		}
		require.Equal(t, want, shown, tt.name)
	}
	_, _, err := RetentionPreview(testContext(t), f.DB, f.Rival.ID, project, time.Now(), storage.FirstPage())
	require.ErrorIs(t, err, storage.ErrNotFound)
}

// What was kept since the builds were found stays, and no build behind the last goes.
func TestRetireBuilds(t *testing.T) {
	t.Parallel()
	f := fixture.New(t)
	first := f.App("com.example.app")
	project, ids := first.Project.ID, []int64{first.Build.ID}
	for range 4 {
		ids = append(ids, f.Upload(f.NewUpload(fixture.APK("com.example.app", "1", "1"))).Build.ID)
	}
	retire := func(organization int64) (gone []int64) {
		f.Must(func(ctx context.Context, tx *storage.Tx) (err error) {
			gone, err = RetireBuilds(ctx, tx, organization, project, ids[2], time.Now(), 2)
			return err
		})
		return gone
	}
	f.Exec(`update organizations set retention_builds = 1 where id = $1`, f.Rival.ID)
	require.Empty(t, retire(f.Org.ID), "the other organization's retention")
	f.Exec(`update organizations set retention_builds = 1 where id = $1`, f.Org.ID)
	require.Empty(t, retire(f.Rival.ID), "the app of another organization")
	kept, _, err := editBuild(f, ids[1], BuildChange{Keep: fixture.Ptr(true)})
	require.NoError(t, err)
	require.True(t, kept.Keep)
	require.Equal(t, []int64{ids[0], ids[2]}, retire(f.Org.ID))
	require.Empty(t, retire(f.Org.ID))
}
