package overview_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/cmd/localservice/servicetest/fixture"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/ledger"

	. "github.com/slipway-qa/slipway/storage/overview"
)

// now is the moment of the overviews: nothing depends on the clock.
var now = time.Date(2026, 5, 20, 15, 4, 5, 0, time.UTC)

func TestAt(t *testing.T) {
	t.Parallel()
	at := At(time.Date(2026, 5, 20, 1, 0, 0, 0, time.FixedZone("", 3*3600)))
	require.Equal(t, "2026-05-18T00:00:00Z", at.Since.Format(time.RFC3339), "days are those of UTC")
	require.Equal(t, "2026-05-06", at.First.Format(time.DateOnly))
}

// room is the fixture with what the parts read.
type room struct{ *fixture.Tests }

func (w *room) group(o *fixture.Organization, project int64, title, first, last string) int64 {
	w.T.Helper()
	return w.ID(`insert into crash_groups (organization_id, crash_project_id, fingerprint, algorithm, title, culprit, classifier, count,
		first_seen, last_seen, facets_at) values ($1, $2, '', 1, $3, '', '', 1, $4, $5, now()) returning id`, o.ID, project, title, first, last)
}

func (w *room) crashes(o *fixture.Organization, t Times) *Crashes {
	w.T.Helper()
	c, err := ReadCrashes(fixture.Context(w.T), w.DB, o.ID, t)
	require.NoError(w.T, err)
	return c
}

// Crashes are those of all crash projects, each day and version with its own number, and
// nothing of another organization.
func TestReadCrashes(t *testing.T) {
	t.Parallel()
	w := &room{fixture.NewTests(t)}
	at := At(now)
	empty := w.crashes(w.Org, at)
	require.Len(t, empty.Days, ChartDays)
	require.Zero(t, empty.Total())

	for _, o := range []*fixture.Organization{w.Org, w.Rival} {
		for p := range 9 { // more than are shown
			project := o.CrashProject(fmt.Sprintf("project %d", p))
			for v := range 3 {
				version := fmt.Sprintf("1.%d", 9+v) // 1.11 is the newest
				w.Exec(`insert into crash_versions (crash_project_id, version, first_seen, last_seen, crashes) values ($1, $2, $3, $3, 1)`,
					project, version, now)
				w.Exec(`insert into crash_version_days (crash_project_id, version, day, crashes, sessions, crashed_sessions)
					values ($1, $2, '2026-05-20', $3, 100, 25), ($1, $2, '2026-05-07', 1, 0, 0), ($1, $2, '2026-05-06', 1000, 0, 0)`,
					project, version, 10*p+v)
			}
			root := w.group(o, project, "root", "2026-01-01", "2026-05-20")
			part := w.group(o, project, "part", "2026-01-01", "2026-01-02")
			w.Exec(`update crash_groups set root_id = $1, merged_into = $1 where id = $2`, root, part)
			w.Exec(`insert into crash_group_days (group_id, day, count)
				values ($1, '2026-05-20', 100), ($2, '2026-05-20', 11), ($1, '2026-05-08', 5), ($1, '2026-05-06', 1000)`,
				root, part)
			w.group(o, project, "old", "2026-01-01", "2026-05-05")
		}
	}
	c := w.crashes(w.Org, at)
	require.Equal(t, Count{Total: 9, Exact: true}, c.Projects)
	require.Len(t, c.Versions, TopVersions)
	require.Equal(t, "project 8", c.Versions[0].ProjectName)
	require.Equal(t, "1.11", c.Versions[0].Version)
	require.EqualValues(t, 83, c.Versions[0].Crashes, "82 and 1, and nothing of before")
	require.EqualValues(t, 73, c.Versions[3].Crashes)
	last := c.Days[ChartDays-1]
	require.EqualValues(t, 9*111, last.Crashes, "parts count with their group")
	require.Equal(t, []int64{82, 81, 80, 72, 71}, last.Versions)
	require.EqualValues(t, 999-386, last.Others())
	require.EqualValues(t, 45, c.Days[1].Crashes)
	require.EqualValues(t, 45, c.Days[1].Others(), "of these no version is known")
	require.EqualValues(t, 5, c.Days[0].Crashes, "reports that were not read have a version and no group")
	require.Equal(t, c.Total(), int64(999+45+5))
	require.Len(t, c.Newest, 6)
	require.Equal(t, "project 8", c.Newest[0].ProjectName)
	for _, n := range c.Newest {
		require.Equal(t, "1.11", n.Version)
		require.InDelta(t, 0.75, *n.CrashFreeSessions(), 1e-9)
	}
}

// The numbers of groups are those of all groups, not of some that were looked at.
func TestGroupsSinceYesterday(t *testing.T) {
	t.Parallel()
	w := &room{fixture.NewTests(t)}
	at, ctx := At(now), fixture.Context(t)
	for _, o := range []*fixture.Organization{w.Org, w.Rival} {
		project := o.CrashProject("shop")
		w.Exec(`insert into crash_groups (organization_id, crash_project_id, fingerprint, algorithm, title, culprit, classifier, count,
			first_seen, last_seen, reopened_at, facets_at)
			select $1, $2, '', 1, 'group ' || i, '', '', 1, $3::timestamptz - i * interval '5 minutes', now(),
				case when i % 2 = 0 then $3::timestamptz - i * interval '10 minutes' end, now() from generate_series(1, 1000) i`, o.ID, project, now)
		w.Exec(`insert into crash_groups (organization_id, crash_project_id, fingerprint, algorithm, title, culprit, classifier, count,
			first_seen, last_seen, facets_at, root_id)
			select organization_id, crash_project_id, '', 1, 'part', '', '', 1, $2, now(), now(), id from crash_groups where organization_id = $1
			limit 1`, o.ID, now)
	}
	hours := 39*60 + 4 // minutes since yesterday began
	for name, c := range map[string]struct {
		read func(context.Context, storage.Querier, int64, Times) (*Groups, error)
		want int
	}{"new": {NewGroups, hours / 5}, "regressed": {RegressedGroups, hours / 10 / 2}} {
		found, err := c.read(ctx, w.DB, w.Org.ID, at)
		require.NoError(t, err)
		require.Equal(t, Count{Total: c.want, Exact: true}, found.Count, name)
		require.Len(t, found.Groups, 5, name)
		require.NotEqual(t, "part", found.Groups[0].Title)
		require.Equal(t, "shop", found.Groups[0].ProjectName)
	}
	found, err := NewGroups(ctx, w.DB, w.Org.ID, at)
	require.NoError(t, err)
	require.Equal(t, "group 1", found.Groups[0].Title, "the newest first")
	w.Exec(`insert into crash_groups (organization_id, crash_project_id, fingerprint, algorithm, title, culprit, classifier, count, first_seen,
		last_seen, facets_at)
		select organization_id, crash_project_id, '', 1, '', '', '', 1, $2, now(), now() from crash_groups, generate_series(1, 11)
		where organization_id = $1`, w.Org.ID, now)
	found, err = NewGroups(ctx, w.DB, w.Org.ID, at)
	require.NoError(t, err)
	require.Equal(t, Count{Total: Reach}, found.Count, "beyond the reach there are more")
}

func TestWork(t *testing.T) {
	t.Parallel()
	w := &room{fixture.NewTests(t)}
	at, ctx := At(now), fixture.Context(t)
	for _, o := range []*fixture.Organization{w.Org, w.Rival} {
		w.fillWork(o)
	}
	builds, err := ReadBuilds(ctx, w.DB, w.Org.ID)
	require.NoError(t, err)
	require.Equal(t, Count{Total: 1, Exact: true}, builds.Apps)
	require.Len(t, builds.Newest, 6)
	require.Equal(t, "1.9", builds.Newest[0].Version, "of 1.10 the app is gone, 1.11 is deleted")

	runs, err := ReadSuiteRuns(ctx, w.DB, w.Org.ID)
	require.NoError(t, err)
	require.Len(t, runs.Last, 6)
	require.Equal(t, "acme run 1", runs.Last[0].SuiteName)
	require.Equal(t, []int{3, 1, 1, 1}, []int{runs.Last[0].Total, runs.Last[0].Passed, runs.Last[0].Failed, runs.Last[0].Errors})

	schedules, err := ReadSchedules(ctx, w.DB, w.Org.ID)
	require.NoError(t, err)
	require.Equal(t, Count{Total: 9, Exact: true}, schedules.Count)
	require.Len(t, schedules.Next, 6)
	require.Equal(t, "acme due 1", schedules.Next[0].Name)

	dead, err := DeadTasks(ctx, w.DB, w.Org.ID)
	require.NoError(t, err)
	require.Equal(t, Count{Total: 200, Exact: true}, dead.Count)
	require.Len(t, dead.Tasks, 6)
	require.Equal(t, ledger.HiddenError, *dead.Tasks[0].Error, "what went wrong inside is for operators")

	late, err := LateTasks(ctx, w.DB, w.Org.ID, []string{"bulk", "mail", "none"}, at)
	require.NoError(t, err)
	require.Equal(t, Count{Total: 20, Exact: true}, late.Count)
	require.Equal(t, now.Add(-30*time.Minute), late.Tasks[0].RunAt.UTC(), "the latest first")

	hooks, err := ReadWebhooks(ctx, w.DB, w.Org.ID, at)
	require.NoError(t, err)
	require.Equal(t, 3, hooks.Failing)
	require.Equal(t, []string{"acme gave up", "acme failing", "acme suspended"}, []string{hooks.List[0].Name,
		hooks.List[1].Name, hooks.List[2].Name})
	require.Equal(t, 120, hooks.List[0].Undelivered)
}

// The task that waits longest is the first one also where more are late than are counted, and
// these have a better priority.
func TestLateTasksOfMany(t *testing.T) {
	t.Parallel()
	w := &room{fixture.NewTests(t)}
	w.Exec(`insert into tasks (id, kind, queue, organization_id, payload, max_attempts, state, priority, run_at)
		select gen_random_uuid(), 'mail:send', 'mail', $1, '{}', 1, 'queued', case i when 0 then 2 else 0 end,
			$2::timestamptz - case i when 0 then interval '1 day' else interval '2 minutes' end
			from generate_series(0, $3::int) i`, w.Org.ID, now, Reach+1)
	late, err := LateTasks(fixture.Context(t), w.DB, w.Org.ID, []string{"mail"}, At(now))
	require.NoError(t, err)
	require.Equal(t, Count{Total: Reach}, late.Count)
	require.Equal(t, now.AddDate(0, 0, -1), late.Tasks[0].RunAt.UTC())
}

// fillWork makes rows of each part, and some beside them.
func (w *room) fillWork(o *fixture.Organization) {
	w.T.Helper()
	app := func(name string) int64 {
		return w.ID(`insert into projects (organization_id, team_id, name, package_name, platform, token, landing_page_mode)
			values ($1, $2, $3, $4, 'Android', $4, 'open') returning id`, o.ID, o.Team.ID, name, o.Slug+"."+name)
	}
	shop, gone := app("shop"), app("gone")
	w.Exec(`update projects set deleted_at = now() where id = $1`, gone)
	file := w.ID(`insert into files (organization_id, object_key, size, sha256, content_type) values ($1, $2, 1, '', '')
		returning id`, o.ID, o.Slug)
	for i := 1; i <= 11; i++ {
		project := shop
		if i == 10 {
			project = gone
		}
		w.Exec(`insert into builds (organization_id, project_id, token, app_name, version, platform, kind, file_id, file_name, deleted_at)
			values ($1, $2, $3, 'Shop', $4, 'Android', 'apk', $5, 'f', $6::timestamptz)`, o.ID, project, fmt.Sprintf("%s-%d", o.Slug, i),
			fmt.Sprintf("1.%d", i), file,
			map[bool]*time.Time{true: &now}[i == 11])
	}
	for i := 1; i <= 8; i++ {
		run := uuid.New()
		w.Exec(`insert into suite_runs (id, organization_id, team_id, suite_id, suite_name, user_uuid, build_name, run_count, created_at)
			values ($1, $2, $3, gen_random_uuid(), $4, gen_random_uuid(), '', 3, $5)`, run, o.ID, o.Team.ID, fmt.Sprintf("%s run %d", o.Slug, i),
			now.Add(-time.Duration(i)*time.Hour))
		w.Exec(`insert into test_runs (id, organization_id, team_id, case_id, revision_id, suite_run_id, user_uuid, case_name, build_name, state)
			select gen_random_uuid(), $1, $2, state, 'r', $3, gen_random_uuid(), 'c', '', state
			from unnest(array['PASSED', 'FAILED', 'ERROR']) state`, o.ID, o.Team.ID, run)
	}
	for i := 1; i <= 9; i++ {
		due := i <= 8
		w.Exec(`insert into test_schedules (id, organization_id, team_id, name, state, cron, timezone, running_user_uuid, next_run_at,
			creator_uuid, modifier_uuid)
			values (gen_random_uuid(), $1, $2, $3, $4, '0 * * * *', 'UTC', gen_random_uuid(), $5, gen_random_uuid(), gen_random_uuid())`,
			o.ID, o.Team.ID,
			fmt.Sprintf("%s due %d", o.Slug, i), map[bool]string{true: "ENABLED", false: "DISABLED"}[due],
			map[bool]any{true: now.Add(time.Duration(i) * time.Hour)}[due])
	}
	w.Exec(`insert into tasks (id, kind, queue, organization_id, payload, max_attempts, state, error, finished_at)
		select gen_random_uuid(), 'build:notify', 'default', $1, '{}', 1, 'dead', 'internal: a secret', now() from generate_series(1, 200)`, o.ID)
	w.Exec(`insert into tasks (id, kind, queue, organization_id, payload, max_attempts, state, run_at)
		select gen_random_uuid(), 'mail:send', case when i % 2 = 0 then 'bulk' else 'mail' end, $1, '{}', 1, 'queued',
			$2::timestamptz + (i - 30) * interval '1 minute'
		from unnest(array_cat(array(select generate_series(0, 18)), array[28, 29, 30, 31])) i`, o.ID, now)
	hook := func(name, status string, failing bool) int64 {
		return w.ID(`insert into webhooks (organization_id, name, url, status, secret, failing_since, suspended_at)
			values ($1, $2, 'https://x', $3, '', $4, $5) returning id`, o.ID, o.Slug+" "+name, status, map[bool]*time.Time{true: &now}[failing],
			map[bool]*time.Time{true: &now}[status == "suspended"])
	}
	hook("well", "active", false)
	hook("failing", "active", true)
	hook("suspended", "suspended", false)
	for name, since := range map[string]time.Time{"gave up": now, "gave up long ago": now.AddDate(0, 0, -3)} {
		w.Exec(`insert into webhook_deliveries (id, webhook_id, organization_id, action, status, expires_at)
			select (left($3, 18) || right(gen_random_uuid()::text, 18))::uuid, $1, $2, 'test', 'failed', now() from generate_series(1, 120)`,
			hook(name, "active", false), o.ID, idAt(since))
	}
}

// idAt is a uuid of version 7 of a time.
func idAt(t time.Time) string {
	digits := fmt.Sprintf("%012x", t.UnixMilli())
	return digits[:8] + "-" + digits[8:] + "-7000-8000-000000000000"
}

// Each statement is served by an index that leads to the organization's own rows.
func TestPlans(t *testing.T) {
	t.Parallel()
	w := &room{fixture.NewTests(t)}
	w.fillWork(w.Org)
	project := w.Rival.CrashProject("shop")
	w.Exec(`insert into crash_groups (organization_id, crash_project_id, fingerprint, algorithm, title, culprit, classifier, count, first_seen,
		last_seen, reopened_at, facets_at)
		select $1, $2, '', 1, '', '', '', 1, now(), now(), now(), now() from generate_series(1, 20000)`, w.Rival.ID, project)
	w.Exec(`insert into tasks (id, kind, queue, organization_id, payload, max_attempts, state, run_at)
		select gen_random_uuid(), 'mail:send', 'mail', $1, '{}', 1, case when i % 2 = 0 then 'dead' else 'queued' end, now() - interval '1 day'
		from generate_series(1, 20000) i`, w.Rival.ID)
	w.Exec(`vacuum analyze crash_groups, tasks`)
	for _, c := range []struct{ query, index, table string }{
		{`select id from crash_groups where organization_id = $1 and reopened_at >= now() - interval '1 day'
			and root_id is null order by reopened_at desc, id desc limit 10001`,
			"crash_groups_reopened", "crash_groups"},
		{`select id from crash_groups where organization_id = $1 and first_seen >= now() - interval '1 day'
			and root_id is null order by first_seen desc, id desc limit 10001`,
			"crash_groups_first_seen", "crash_groups"},
		{`select t.id from tasks t where t.organization_id = $1 and t.state = 'dead' order by t.id desc limit 10001`,
			"tasks_organization_dead", "tasks"},
		{`select l.id from unnest(array['bulk', 'mail']) as n(queue) cross join unnest(array[0, 1, 2]::smallint[]) as p(priority)
			cross join lateral (
			select t.id, t.run_at from tasks t where t.queue = n.queue and coalesce(t.organization_id, 0) = $1 and t.priority = p.priority
				and t.state = 'queued' and t.run_at < now() order by t.run_at limit 10001
		) l order by l.run_at, l.id limit 10001`, "tasks_turn", "tasks"},
	} {
		var lines []string
		require.NoError(t, w.DB.SelectContext(fixture.Context(t), &lines, `explain (costs off) `+c.query, w.Org.ID))
		plan := strings.Join(lines, "\n")
		require.Contains(t, plan, c.index)
		require.NotContains(t, plan, "Seq Scan on "+c.table)
	}
}
