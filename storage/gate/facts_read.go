package gate

import (
	"context"
	"time"

	"github.com/google/uuid"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/distribution"
)

const selectBefore = `
select b.id, b.version, ` + signerOf + `, f.size from builds b join files f on f.id = b.file_id where b.id = any($1)`

// readBefore finds the builds before. The one that was found last is still it, unless it was
// deleted or became invalid: those that come later are newer.
func (r *reading) readBefore(ctx context.Context) error {
	var compared []int64
	for _, id := range r.of(CrashFree, Signature, Size) {
		if r.byID[id].policy.any(func(c *Condition) bool {
			return c.MaxDropPoints != nil || c.MaxGrowthPercent != nil || is(c.SameSigner)
		}) {
			compared = append(compared, id)
		}
	}
	if len(compared) == 0 {
		return nil
	}
	known := make(map[int64]int64, len(compared))
	for _, id := range compared {
		known[id] = r.byID[id].BeforeID
	}
	before, err := distribution.BuildsBefore(ctx, r.tx, known)
	if err != nil {
		return err
	}
	var wanted []int64
	for _, id := range before {
		wanted = append(wanted, id)
	}
	var rows []beforeFacts
	if err := r.tx.SelectContext(ctx, &rows, selectBefore, ids(wanted)); err != nil {
		return storage.Wrap(err, "builds before")
	}
	byID := make(map[int64]beforeFacts, len(rows))
	for _, row := range rows {
		byID[row.ID] = row
	}
	for _, id := range compared {
		f := r.byID[id]
		f.BeforeID = 0
		if row, there := byID[before[id]]; there {
			f.before, f.BeforeID = &row, row.ID
		}
	}
	return nil
}

// selectSuites takes the newest run of a suite on a build, by the index suite_runs_build; its
// cases are counted once it has ended, without those that failed in quarantine.
const selectSuites = `
select w.build_id, w.suite_id, s.id as run_id, s.suite_name, s.state, s.error, greatest(n.total, s.run_count) - n.quarantined as total,
	n.passed, n.flaky, n.quarantined,
	s.fanned_out and s.state not in ('QUEUED', 'RUNNING') and n.total < s.run_count as forgotten
from unnest($1::bigint[], $2::uuid[]) as w(build_id, suite_id)
cross join lateral (
	select id, suite_name, state, error, run_count, fanned_out from suite_runs
	where build_id = w.build_id and suite_id = w.suite_id order by created_at desc, id desc limit 1
) s
cross join lateral (
	select count(*) as total, count(*) filter (where r.state = 'PASSED') as passed,
		count(*) filter (where r.state = 'PASSED' and r.flaky > 0) as flaky,
		count(*) filter (where r.state in ('FAILED', 'ERROR') and r.quarantine is not null) as quarantined
	from test_runs r where r.suite_run_id = s.id and s.state not in ('QUEUED', 'RUNNING')
) n`

func (r *reading) readSuites(ctx context.Context) error {
	var builds []int64
	var suites []uuid.UUID
	for _, id := range r.of(Suites) {
		f := r.byID[id]
		for i := range f.policy.Conditions {
			for _, suite := range f.policy.Conditions[i].SuiteIDs {
				if _, twice := f.suites[suite]; !twice {
					f.suites[suite] = suiteFacts{}
					builds, suites = append(builds, id), append(suites, suite)
				}
			}
		}
		clear(f.suites)
	}
	if len(builds) == 0 {
		return nil
	}
	var rows []suiteFacts
	if err := r.tx.SelectContext(ctx, &rows, selectSuites, ids(builds), storage.UUIDs(suites)); err != nil {
		return storage.Wrap(err, "suite runs of builds")
	}
	for _, row := range rows {
		r.byID[row.BuildID].suites[row.SuiteID] = row
	}
	return nil
}

// selectGroups reads the groups that decide. A group is new in a build when it was not seen
// before the build was uploaded, or when the build's own crash is its first: clocks of devices
// are wrong. It came back in the build when it did so after the upload, in its version. Groups
// that people ignore do not count, as on every other page. The most reports and the most users
// come first: no other decides.
const selectGroups = `
with counted as (
	select c.build_id, c.hours, coalesce(own.root_id, own.id) as group_id, sum(c.reports)::bigint as reports, sum(c.users)::bigint as users,
		min(c.first_at) as first_at, array_agg(c.key_id) as keys
	from gate_crashes c join crash_group_keys k on k.id = c.key_id join crash_groups own on own.id = k.group_id
	where c.build_id = any($1) and c.reports > 0 group by 1, 2, 3
), kinds as (
	select c.*, g.title, not (g.first_seen >= b.created_at or c.first_at <= g.first_seen) as regressed,
		row_number() over (partition by c.build_id, c.hours order by c.reports desc, c.group_id) as by_reports,
		row_number() over (partition by c.build_id, c.hours order by c.users desc, c.group_id) as by_users
	from counted c join crash_groups g on g.id = c.group_id join builds b on b.id = c.build_id
	where (g.first_seen >= b.created_at or c.first_at <= g.first_seen or g.reopened_at >= b.created_at and g.regressed_in = b.version)
		and not (g.state = 'ignored' and coalesce(g.ignored_until > now(), true))
)
select k.build_id, k.hours, k.group_id as id, k.title, k.reports, k.regressed, (
	select count(distinct u.user_hash) from gate_crash_users u
	where u.build_id = k.build_id and u.hours = k.hours and u.key_id = any(k.keys)) as users
from kinds k where by_reports <= $2 or by_users <= $2
order by k.build_id, k.hours, k.reports desc, k.group_id`

// groupsRead is how many groups of a build and window are looked at, by reports and by users.
const groupsRead = 100

func (r *reading) readGroups(ctx context.Context) error {
	builds := r.of(CrashGroups)
	if len(builds) == 0 {
		return nil
	}
	var rows []groupFacts
	if err := r.tx.SelectContext(ctx, &rows, selectGroups, ids(builds), groupsRead); err != nil {
		return storage.Wrap(err, "crash groups of builds")
	}
	for _, row := range rows {
		f := r.byID[row.BuildID]
		f.groups = append(f.groups, row)
	}
	var ends []struct {
		BuildID int64     `db:"build_id"`
		At      time.Time `db:"at"`
	}
	if err := r.tx.SelectContext(ctx, &ends, selectUnignored, ids(builds)); err != nil {
		return storage.Wrap(err, "ignored crash groups of builds")
	}
	for _, row := range ends {
		r.byID[row.BuildID].unignored = row.At
	}
	return nil
}

// selectUnignored reads the time that ends the ignoring of a group, at which the gate is due.
const selectUnignored = `
select c.build_id, min(g.ignored_until) as at
from gate_crashes c join crash_group_keys k on k.id = c.key_id join crash_groups own on own.id = k.group_id
join crash_groups g on g.id = coalesce(own.root_id, own.id)
where c.build_id = any($1) and g.state = 'ignored' and g.ignored_until > now() group by 1`

// selectSessions reads the counts of all days together, of the crash projects of the app; and
// the sessions of the build itself. shared reads builds_newest.
const selectSessions = `
select b.id, coalesce(v.project, 0) as project, coalesce(v.sessions, 0) as sessions, coalesce(v.crashed, 0) as crashed,
	b.sessions as recorded,
	b.crashed_sessions as recorded_crashed,
	exists (select from builds o where o.project_id = b.project_id and o.version = b.version
	and o.deleted_at is null and o.id <> b.id) as shared
from builds b
left join lateral (
	select min(p.id) as project, sum(d.sessions)::bigint as sessions, sum(d.crashed_sessions)::bigint as crashed
	from crash_projects p join crash_version_days d on d.crash_project_id = p.id and d.version = b.version and d.day = '-infinity'
	where p.project_id = b.project_id and d.sessions > 0
) v on true
where b.id = any($1)`

func (r *reading) readSessions(ctx context.Context) error {
	builds := r.of(CrashFree, CrashGroups)
	if len(builds) == 0 {
		return nil
	}
	wanted := append([]int64{}, builds...)
	for _, id := range builds {
		if was := r.byID[id].before; was != nil {
			wanted = append(wanted, was.ID)
		}
	}
	var rows []struct {
		ID              int64 `db:"id"`
		Project         int64 `db:"project"`
		Sessions        int64 `db:"sessions"`
		Crashed         int64 `db:"crashed"`
		Recorded        int64 `db:"recorded"`
		RecordedCrashed int64 `db:"recorded_crashed"`
		Shared          bool  `db:"shared"`
	}
	if err := r.tx.SelectContext(ctx, &rows, selectSessions, ids(wanted)); err != nil {
		return storage.Wrap(err, "sessions of builds")
	}
	found, projects := map[int64]sessionFacts{}, map[int64]int64{}
	for _, row := range rows {
		found[row.ID] = sessionFacts{row.Recorded, row.RecordedCrashed, row.Shared}
		if !row.Shared && row.Sessions >= row.Recorded {
			found[row.ID], projects[row.ID] = sessionFacts{row.Sessions, row.Crashed, false}, row.Project
		}
	}
	for _, id := range builds {
		f := r.byID[id]
		f.sessions, f.CrashVersion = found[id], projects[id]
		if f.before != nil {
			f.before.sessions = found[f.before.ID]
		}
	}
	return nil
}

// selectBuilds does not count who asked for the file by the API as one who installed it: that
// is what pipelines do. More testers than a policy can ask for are not counted.
const selectBuilds = `
select b.id as build,
	(select count(*) from (select distinct i.user_id from build_installs i
		where i.build_id = b.id and i.user_id is not null and i.channel <> 'api' limit $2) t) as testers,
	cardinality(b.image_uuids) as images,
	(select count(*) from unnest(b.image_uuids) as u(id) where b.symbols_file_id is null and not exists (
		select from symbol_images i where i.organization_id = b.organization_id and i.image_uuid = u.id)) as missing_images,
	n.missing as missing_needs, n.names as missing_names,
	b.symbols_file_id is not null or coalesce(s.indexed, false) as has_symbols, coalesce(s.mapping, false) as has_mapping,
	coalesce(s.pending, false) as symbols_pending
from builds b
cross join lateral (
	select count(*) as missing, coalesce((array_agg(w.name order by w.name))[1:3], '{}') as names from (
		select distinct n.name, n.id from gate_needs g join symbol_needs n on n.id = g.need_id
		where g.build_id = b.id and exists (select from crash_lacks l where l.need_id = n.id)
	) w
) n
cross join lateral (
	select bool_or(s.state = 'indexed') as indexed, bool_or(s.state = 'pending') as pending,
		bool_or(s.state = 'indexed' and exists (select from symbol_files f
		where f.symbol_id = s.id and f.kind = 'proguard' and f.state = 'indexed')) as mapping
	from symbols s where s.build_id = b.id
) s
where b.id = any($1)`

func (r *reading) readBuilds(ctx context.Context) error {
	builds := r.of(Symbols, Testers)
	if len(builds) == 0 {
		return nil
	}
	var rows []buildFacts
	if err := r.tx.SelectContext(ctx, &rows, selectBuilds, ids(builds), maxTesters); err != nil {
		return storage.Wrap(err, "testers and symbols of builds")
	}
	for _, row := range rows {
		f := r.byID[row.Build]
		row.CrashVersion = f.CrashVersion
		f.buildFacts = row
	}
	return nil
}

// selectBlockers reads the first of each build, by the index feedbacks_blockers.
const selectBlockers = `
select w.id as build_id, f.id, left(coalesce(nullif(f.text, ''), 'a picture'), 200) as text, f.recorded_at
from unnest($1::bigint[]) as w(id)
cross join lateral (select id, text, recorded_at from feedbacks where build_id = w.id and blocker order by id limit $2) f
order by w.id, f.id`

func (r *reading) readBlockers(ctx context.Context) error {
	builds := r.of(Testers)
	if len(builds) == 0 {
		return nil
	}
	var rows []blockerFacts
	if err := r.tx.SelectContext(ctx, &rows, selectBlockers, ids(builds), maxEvidence); err != nil {
		return storage.Wrap(err, "blockers of builds")
	}
	for _, row := range rows {
		f := r.byID[row.BuildID]
		f.blockers = append(f.blockers, row)
	}
	return nil
}
