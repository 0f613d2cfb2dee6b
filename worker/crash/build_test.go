package crash

import (
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/tasks"
)

// app inserts an app with builds of the versions, "version/code", and connects the
// crash project to it.
func (w *world) app(versions ...[2]string) (builds []int64) {
	w.t.Helper()
	team := w.number(`insert into teams (uuid, organization_id, name) values (gen_random_uuid(), $1, $2) returning id`,
		w.org, uuid.NewString())
	app := w.number(`insert into projects (organization_id, team_id, name, token, landing_page_mode)
		values ($1, $2, 'app', $3, 'open') returning id`, w.org, team, uuid.NewString())
	for _, v := range versions {
		file := w.number(`insert into files (organization_id, object_key, size, sha256, content_type) values ($1, $2, 1, 'x', 'x') returning id`,
			w.org, uuid.NewString())
		builds = append(builds,
			w.number(`insert into builds (organization_id, project_id, token, app_name, version, version_code, platform, kind, file_id, file_name)
			values ($1, $2, $3, 'app', $4, $5, 'Android', 'apk', $6, 'a.apk') returning id`, w.org, app, uuid.NewString(), v[0], v[1], file))
	}
	_, err := w.db.ExecContext(w.t.Context(), `update crash_projects set project_id = $1 where id = $2`, app, w.project)
	require.NoError(w.t, err)
	return builds
}

func (w *world) crashesOf(build int64) int64 {
	return w.number(`select crashes from builds where id = $1`, build)
}

func TestCrashFindsItsBuild(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	b := w.app([2]string{"1.0", "10"}, [2]string{"1.0", "11"}, [2]string{"2.0", "20"}, [2]string{"2.0", "20"}, [2]string{"3.0", "30"})
	other := newWorld(t).app([2]string{"9", "9"}) // of another installation: never found
	require.NotEmpty(t, other)
	_, err := w.db.ExecContext(t.Context(), `update builds set deleted_at = now() where id = $1`, b[4])
	require.NoError(t, err)
	cases := map[string]struct {
		attributes string
		want       int64
	}{
		"by id":                    {fmt.Sprintf(`"build_id":"%d","version":"2.0"`, b[0]), b[0]},
		"by id as a number":        {fmt.Sprintf(`"build_id":%d`, b[0]), b[0]},
		"unknown id, then version": {`"build_id":"999999","version":"2.0","version_code":"20"`, b[3]},
		"no number, then version":  {`"build_id":"nightly","version":"1.0","version_code":"10"`, b[0]},
		"version and code":         {`"application.version":"1.0","version_code":"10"`, b[0]},
		"code as a number":         {`"application.version":"1.0","version_code":10`, b[0]},
		"version: the newest":      {`"version":"1.0"`, b[1]},
		"wrong code: version":      {`"version":"1.0","version_code":"99"`, b[1]},
		"unknown version":          {`"version":"7"`, 0},
		"nothing":                  {`"user":"ann"`, 0},
		"a deleted build":          {`"version":"3.0"`, 0},
		"a deleted build, by id":   {fmt.Sprintf(`"build_id":%d`, b[4]), 0},
	}
	var docs []doc
	var names []string
	for name, c := range cases {
		names = append(names, name)
		docs = append(docs, doc{function: "f", attributes: c.attributes})
	}
	ids := w.accept(docs...)
	w.process()
	sums := map[int64]int64{}
	for i, name := range names {
		got := w.number(`select coalesce(build_id, 0) from crashes where id = $1`, ids[i])
		require.Equal(t, cases[name].want, got, name)
		sums[got]++
	}
	for _, id := range b {
		require.Equal(t, sums[id], w.crashesOf(id))
	}
}

func TestDuplicatesCountForBuilds(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	b := w.app([2]string{"1", ""})
	w.accept(doc{function: "f", attributes: `"version":"1","_mod_duplicate":"5","user":"ann"`},
		doc{function: "f", attributes: `"version":"1"`})
	w.process()
	require.EqualValues(t, 6, w.crashesOf(b[0]))
	require.Equal(t, 1, w.purge(tasks.CrashPurgePayload{Key: "user", Value: "ann"}))
	require.EqualValues(t, 1, w.crashesOf(b[0]))
}

// After a build's crashes are removed everything is as if they had not come.
func TestRemoveOfBuilds(t *testing.T) {
	t.Parallel()
	with, without := newWorld(t), newWorld(t)
	b := with.app([2]string{"1", ""}, [2]string{"2", ""})
	without.app([2]string{"1", ""}, [2]string{"2", ""})
	for batch := range 3 {
		var all, rest []doc
		for n := range 150 {
			d := doc{uuid: uuid.New(), function: fmt.Sprint("f", n%4), attributes: fmt.Sprintf(`"version":"%d"`, 1+n%2), at: testTime(batch*150 + n)}
			all = append(all, d)
			if n%2 == 1 {
				rest = append(rest, d)
			}
		}
		with.accept(all...)
		without.accept(rest...)
	}
	with.process()
	without.process()
	require.EqualValues(t, 225, with.crashesOf(b[0]))
	_, err := with.db.ExecContext(t.Context(), `update builds set deleted_at = now() where id = $1`, b[0])
	require.NoError(t, err)
	o := &BuildCrashes{Store: with.store, Objects: with.objects, Log: slog.New(slog.DiscardHandler)}
	for range 2 { // the second time there is nothing to do
		id := with.insert(tasks.NewBuildDelete(with.org, "", b[0]))
		claim := with.claim(tasks.BuildDelete, id)
		require.NoError(t, o.RemoveOfBuilds(bounded(t), claim, with.org, b[0]))
		require.NoError(t, claim.Finish(bounded(t), nil, nil))
	}
	require.Equal(t, without.facts(), with.facts())
	require.EqualValues(t, 225, with.crashesOf(b[1]))
	require.Zero(t, with.number(`select count(*) from crashes where build_id = $1`, b[0]))
}

// testTime spreads reports over some days.
func testTime(n int) time.Time {
	return time.Now().Truncate(time.Second).Add(-time.Duration(n) * 10 * time.Minute)
}
