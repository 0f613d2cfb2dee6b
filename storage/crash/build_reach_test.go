package crash_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/cmd/localservice/servicetest/crashtest"
	"github.com/slipway-qa/slipway/cmd/localservice/servicetest/fixture"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/crash"
)

// The builds that were uploaded first and last of those from which reports came, over the parts
// of a group too.
func TestBuildsOfAGroup(t *testing.T) {
	t.Parallel()
	r := open(t)
	var ids []int64
	for _, version := range []string{"1.0", "2.0", "3.0"} {
		up := r.Upload(r.NewUpload(fixture.APK("com.example.shop", version, version)))
		ids = append(ids, up.Build.ID)
		r.Exec(`update crash_projects set project_id = $1 where id = $2`, up.Project.ID, r.Project)
	}
	of := func(key, version string) crash.Crash {
		return r.Made(func(c *crash.Crash) {
			c.Group, c.Version, c.Build = crashtest.Grouping(key), version, crash.BuildRef{Version: version}
		})
	}
	record := func(crashes ...crash.Crash) {
		r.Must(func(ctx context.Context, tx *storage.Tx) error {
			if err := crash.Lock(ctx, tx, crashes); err != nil {
				return err
			}
			return crash.Record(ctx, tx, r.Org.ID, crashes)
		})
	}
	record(of("a", "2.0"), of("a", "unknown"), of("b", "1.0"), of("b", "3.0"))
	g := r.Group("a")
	require.Equal(t, ids[1], g.FirstBuild.ID)
	require.Equal(t, "2.0", g.LastBuild.Version)
	_, _, err := r.merge(t.Context(), r.Org.ID, r.Group("b").ID, g.ID)
	require.NoError(t, err)
	g = r.Group("a")
	require.Equal(t, ids[0], g.FirstBuild.ID)
	require.Equal(t, ids[2], g.LastBuild.ID)
	r.Exec(`update builds set deleted_at = now() where id = $1`, ids[0])
	require.Nil(t, r.Group("a").FirstBuild)
	record(of("none", "unknown"))
	require.Nil(t, r.Group("none").LastBuild)
}
