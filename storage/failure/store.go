package failure

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/slipway-qa/slipway/storage"
)

// SameTarget is the SQL of what a job's target is for a comparison: the column, without the names of
// case and build in the options of vendors (step.WithoutNames), which are others in each build.
func SameTarget(column string) string {
	return `jsonb_build_array(` + column + ` -> 'isRdc', (select jsonb_object_agg(c.key, case when c.key like '%:options'
		and jsonb_typeof(c.value) = 'object' then c.value - '{name,build}'::text[] else c.value end)
		from jsonb_each(case jsonb_typeof(` + column + ` -> 'capabilities') when 'object' then ` + column + ` -> 'capabilities' else '{}' end) c
		where c.key not like '%:options' or jsonb_typeof(c.value) <> 'object' or c.value - '{name,build}'::text[] <> '{}'))`
}

// KeepGood is the part of the statement that ends a job which replaces the digest of the last
// good one. It follows a part named ended, with the id, run_id, target and row_place of the job; $10
// is the digest, null for a job of which none is kept. A run that began before the one that is
// kept replaces nothing.
var KeepGood = `
insert into last_good_jobs as g (case_id, environment, row_place, target, job_id, run_id, organization_id, run_created_at, digest)
select r.case_id, r.environment, coalesce(e.row_place, -1), md5((` + SameTarget("e.target") + `)::text), e.id, r.id, r.organization_id,
r.created_at, $10::bytea
from ended e join test_runs r on r.id = e.run_id where $10::bytea is not null
on conflict (case_id, environment, row_place, target) do update set job_id = excluded.job_id, run_id = excluded.run_id,
	organization_id = excluded.organization_id, run_created_at = excluded.run_created_at, digest = excluded.digest
where g.run_created_at <= excluded.run_created_at`

// Good is the last job that passed before a job, of the same case, target, environment and row.
type Good struct {
	JobID     uuid.UUID
	RunID     uuid.UUID
	CreatedAt time.Time // of the run
	Digest    *Digest   // with the build that the run names
	Now       BuildNamed
	// Recent are the ends of the same test in the runs before, newest first.
	Recent []Ended
}

// goodBefore reads the last good job beside one that failed. A build name that is that of the
// case or suite was not given: the run names no build.
var goodBefore = `
select g.job_id, g.run_id, g.run_created_at, g.digest, gr.build_id, r.build_id as now_id,
	case when gr.build_name in (gr.case_name, coalesce(gs.suite_name, '')) then '' else gr.build_name end as build_name,
	case when r.build_name in (r.case_name, coalesce(s.suite_name, '')) then '' else r.build_name end as now_name,
	(` + recentEnds + `) as recent
from test_jobs j join test_runs r on r.id = j.run_id left join suite_runs s on s.id = r.suite_run_id
join last_good_jobs g on g.case_id = r.case_id and g.environment = r.environment and g.row_place = coalesce(j.row_place, -1)
	and g.target = md5((` + SameTarget("j.target") + `)::text) and g.organization_id = r.organization_id
join test_runs gr on gr.id = g.run_id left join suite_runs gs on gs.id = gr.suite_run_id
where j.id = $1`

// GoodBefore returns what a job that failed is compared with; nil: there is nothing.
func GoodBefore(ctx context.Context, q storage.Querier, job uuid.UUID) (*Good, error) {
	var row struct {
		JobID     uuid.UUID `db:"job_id"`
		RunID     uuid.UUID `db:"run_id"`
		CreatedAt time.Time `db:"run_created_at"`
		Digest    []byte    `db:"digest"`
		BuildID   *int64    `db:"build_id"`
		NowID     *int64    `db:"now_id"`
		BuildName string    `db:"build_name"`
		NowName   string    `db:"now_name"`
		Recent    []byte    `db:"recent"`
	}
	err := storage.Wrap(q.GetContext(ctx, &row, goodBefore, job), "last good job before "+job.String())
	if errors.Is(err, storage.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	digest, err := Unpack(row.Digest)
	if err != nil {
		return nil, err
	}
	digest.Build = BuildNamed{row.BuildID, row.BuildName}
	recent, err := readRecent(row.Recent)
	if err != nil {
		return nil, err
	}
	return &Good{JobID: row.JobID, RunID: row.RunID, CreatedAt: row.CreatedAt, Digest: digest,
		Now: BuildNamed{row.NowID, row.NowName}, Recent: recent}, nil
}

// maxGroups bounds the groups of a suite run: further causes are counted in one group.
const maxGroups = 500

// OtherKey is the key of the group that has the failures of all further causes.
const OtherKey = "other"

// addToGroup counts a case once in its group, however many of its jobs failed. The reason of a
// group is unknown when those of its jobs differ.
const addToGroup = `
with at as (
	select $1::uuid as suite_run_id, case when known.key is not null or many.n < $6 then $2 else $7 end as key,
		case when known.key is not null or many.n < $6 then $3 else 'other causes' end as subject
	from (select count(*) as n from failure_groups where suite_run_id = $1) many
	left join (select key from failure_groups where suite_run_id = $1 and key = $2) known on true
), named as (
	select r.case_id, r.case_name, r.id from test_runs r where r.id = $5
), seen as (
	select 1 from failure_group_cases c join at on c.suite_run_id = at.suite_run_id and c.key = at.key
	join named on named.case_id = c.case_id
), grouped as (
	insert into failure_groups as g (suite_run_id, key, subject, reason, jobs, cases)
	select suite_run_id, key, subject, $4, 1, 1 from at
	on conflict (suite_run_id, key) do update set jobs = g.jobs + 1, cases = g.cases + case when exists (select from seen) then 0 else 1 end,
		reason = case when g.reason = excluded.reason then g.reason else 'unknown' end
	returning suite_run_id, key
)
insert into failure_group_cases as c (suite_run_id, key, case_id, case_name, run_id, jobs)
select grouped.suite_run_id, grouped.key, named.case_id, named.case_name, named.id, 1 from grouped cross join named
on conflict (suite_run_id, key, case_id) do update set jobs = c.jobs + 1`

// Add counts a job of a case run that failed in the group of its cause. The suite run is locked.
func Add(ctx context.Context, tx *storage.Tx, suiteRun, run uuid.UUID, d *Diagnosis) error {
	_, err := tx.ExecContext(ctx, addToGroup, suiteRun, storage.WithoutNUL(d.Key), storage.WithoutNUL(d.Subject), d.Reason,
		run, maxGroups, OtherKey)
	return storage.Wrap(err, "group the failures of suite run "+suiteRun.String())
}

const addLost = `
with lost as (
	select r.suite_run_id, r.case_id, min(r.case_name) as case_name, min(r.id::text)::uuid as run_id, count(*)::int as jobs
	from test_jobs j join test_runs r on r.id = j.run_id
	where j.id = any($1::uuid[]) and j.state = 'ERROR' and r.suite_run_id is not null and r.quarantine is null
	group by r.suite_run_id, r.case_id
), fresh as (
	select l.suite_run_id, count(*)::int as cases from lost l where not exists (
		select from failure_group_cases c where c.suite_run_id = l.suite_run_id and c.key = $2 and c.case_id = l.case_id)
	group by l.suite_run_id
), grouped as (
	insert into failure_groups as g (suite_run_id, key, subject, reason, jobs, cases)
	select l.suite_run_id, $2, $3, $4, sum(l.jobs)::int, coalesce(max(fresh.cases), 0)
	from lost l left join fresh using (suite_run_id) group by l.suite_run_id
	on conflict (suite_run_id, key) do update set jobs = g.jobs + excluded.jobs, cases = g.cases + excluded.cases
)
insert into failure_group_cases as c (suite_run_id, key, case_id, case_name, run_id, jobs)
select suite_run_id, $2, case_id, case_name, run_id, jobs from lost
on conflict (suite_run_id, key, case_id) do update set jobs = c.jobs + excluded.jobs`

// AddLost does so for those jobs that ended as ERROR, all for one cause. Their suite runs are locked.
func AddLost(ctx context.Context, tx *storage.Tx, jobs []uuid.UUID, d *Diagnosis) error {
	_, err := tx.ExecContext(ctx, addLost, storage.UUIDs(jobs), d.Key, d.Subject, d.Reason)
	return storage.Wrap(err, "group the failures of lost jobs")
}

const groupsOf = `
select g.key, g.subject, g.reason, g.jobs, g.cases, (
	select jsonb_agg(jsonb_build_object('id', c.case_id, 'name', c.case_name, 'runId', c.run_id, 'jobs', c.jobs) order by c.case_id) from (
		select * from failure_group_cases where suite_run_id = $1 and key = g.key order by case_id limit $3
	) c
) as listed
from failure_groups g where g.suite_run_id = $1
order by g.cases desc, g.jobs desc, g.key limit $2`

// Groups returns the largest groups of a suite run, most of them at most, each with its first cases.
func Groups(ctx context.Context, q storage.Querier, suiteRun uuid.UUID, most, cases int) ([]Group, error) {
	var rows []struct {
		Group
		Listed []byte `db:"listed"`
	}
	if err := q.SelectContext(ctx, &rows, groupsOf, suiteRun, most, cases); err != nil {
		return nil, storage.Wrap(err, "failure groups of suite run "+suiteRun.String())
	}
	list := make([]Group, len(rows))
	for i := range rows {
		list[i] = rows[i].Group
		if rows[i].Listed == nil {
			continue
		}
		if err := json.Unmarshal(rows[i].Listed, &list[i].Cases); err != nil {
			return nil, fmt.Errorf("failure groups of suite run %s: %w", suiteRun, err)
		}
	}
	return list, nil
}
