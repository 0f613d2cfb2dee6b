package build

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage/account"
)

// Each deletion has its task and its audit entry; the next run finds none.
func TestRetention(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	file, _ := w.newFile("apk")
	var ids []int64
	for range 5 {
		ids = append(ids, w.newBuild(w.project, file))
	}
	w.exec(`update builds set keep = true where id = $1`, ids[1])
	u, err := NewMaintenance(w.db, DefaultKeepMail, Retention(w.db))
	require.NoError(t, err)
	for run, want := range []int64{0, 2, 0} {
		id, err := w.maintain(u)
		require.NoError(t, err)
		require.Equal(t, want, result[map[string]int64](w, id)["builds_beyond_retention"], "run %d", run)
		w.exec(`update organizations set retention_builds = 2 where id = $1`, w.org)
	}
	require.EqualValues(t, 2, w.number(`select count(*) from builds where deleted_at is not null and id in ($1, $2)`, ids[0], ids[2]))
	require.EqualValues(t, 3, w.number(`select build_count from projects where id = $1`, w.project))
	require.EqualValues(t, ids[4], w.number(`select latest_build_id from projects where id = $1`, w.project))
	require.EqualValues(t, 2,
		w.number(`select count(*) from tasks where kind = 'build:delete' and (payload->>'build_id')::bigint in ($1, $2)`, ids[0], ids[2]))
	require.EqualValues(t, 2, w.number(`select count(*) from tasks where kind = 'build:delete'`))
	require.EqualValues(t, 2, w.number(`select count(*) from audit_events where type = $1 and actor = $2 and detail->>'reason' = 'retention'`,
		account.BuildDeleted, account.ActorRetention))
}

// A run is bounded, and an organization with much to delete leaves room for others.
func TestRetentionTakesTurns(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	file, _ := w.newFile("apk")
	for range 6 {
		w.newBuild(w.project, file)
	}
	w.exec(`update organizations set retention_builds = 1`)
	small := *w
	small.org = w.number(`insert into organizations (uuid, slug, name, retention_builds) values ($1, 'two', 'Two', 1) returning id`,
		uuid.New())
	small.team = w.number(`insert into teams (uuid, organization_id, name) values ($1, $2, 'Team') returning id`, uuid.New(), small.org)
	small.project = small.newProject()
	file, _ = small.newFile("apk")
	for range 2 {
		small.newBuild(small.project, file)
	}
	left := func(project int64) int64 {
		return w.number(`select count(*) from builds where project_id = $1 and deleted_at is null`, project)
	}
	for _, run := range []struct{ gone, big, small int64 }{{2, 5, 1}, {2, 3, 1}, {2, 1, 1}, {0, 1, 1}} {
		n, err := retire(t.Context(), w.db, time.Now(), 2)
		require.NoError(t, err)
		require.Equal(t, run.gone, n)
		require.Equal(t, run.big, left(w.project))
		require.Equal(t, run.small, left(small.project))
	}
}
