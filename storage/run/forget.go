package run

import (
	"context"

	"github.com/google/uuid"

	"github.com/slipway-qa/slipway/storage"
)

// upToJobs takes the oldest of some runs, as many as have $1 jobs together, and
// always one. A case run of a suite run stays as long as that: the counts of the
// suite run would be wrong without it.
func upToJobs(from, where string) string {
	return `
select id from (
	select id, jobs, sum(jobs) over (order by created_at, id) as upto from (
		select r.id, r.created_at, (select count(*) from test_jobs where run_id = r.id) as jobs
		from ` + from + `
		where r.state not in ('QUEUED', 'RUNNING') and ` + where + `
		order by r.created_at, r.id limit $1
	) oldest
) summed
where upto <= $1 or upto = jobs`
}

// goneCases walks through the index of runs from case to case, so that the cost
// follows their number and not that of the runs.
const goneCases = `
with recursive walk (case_id) as (
	(select case_id from test_runs order by case_id limit 1)
	union all
	select (select case_id from test_runs where case_id > walk.case_id order by case_id limit 1)
	from walk where walk.case_id is not null
), gone as (
	select case_id from walk
	where case_id is not null and not exists (select from test_cases c where c.id = walk.case_id)
		and exists (select from test_runs r where r.case_id = walk.case_id and r.suite_run_id is null
			and r.state not in ('QUEUED', 'RUNNING'))
	limit 20
)`

// goneSuites does so for suites.
const goneSuites = `
with recursive walk (suite_id) as (
	(select suite_id from suite_runs order by suite_id limit 1)
	union all
	select (select suite_id from suite_runs where suite_id > walk.suite_id order by suite_id limit 1)
	from walk where walk.suite_id is not null
), gone as materialized (
	select s.id from walk join suite_runs s on s.suite_id = walk.suite_id and s.state not in ('QUEUED', 'RUNNING')
	where not exists (select from test_suites c where c.id = walk.suite_id)
		and not exists (select from test_runs k where k.suite_run_id = s.id and k.pinned_at is not null)
	limit 20
)`

// forgettable is what can be forgotten; each statement takes the limit.
var forgettable = []string{
	goneCases + upToJobs(`gone join test_runs r on r.case_id = gone.case_id`, `r.suite_run_id is null`),
	goneSuites + upToJobs(`gone join test_runs r on r.suite_run_id = gone.id`, `true`),
}

const deleteSuiteRuns = goneSuites + `
delete from suite_runs where id in (select id from gone) and not exists (select from test_runs r where r.suite_run_id = suite_runs.id)`

// Forget removes ended runs whose case or suite is gone, pinned or not, with their files; at
// most limit jobs. The run of a deleted suite that has a pinned run of a case stays. It returns
// the keys of the objects, to delete after the commit, and whether more may be left. Runs that
// are too old are removed by package history.
func Forget(ctx context.Context, tx *storage.Tx, limit int) (keys []string, more bool, err error) {
	var runs []uuid.UUID
	for _, statement := range forgettable {
		if err := tx.SelectContext(ctx, &runs, statement, limit); err != nil {
			return nil, false, storage.Wrap(err, "look for runs to forget")
		}
		if len(runs) > 0 {
			break
		}
	}
	if len(runs) > 0 {
		err := tx.SelectContext(ctx, &keys, `select f.object_key from run_files f join test_jobs j on j.id = f.job_id
			where j.run_id = any($1::uuid[])`, storage.UUIDs(runs))
		if err != nil {
			return nil, false, storage.Wrap(err, "files of runs to forget")
		}
		if _, err := tx.ExecContext(ctx, `delete from test_runs where id = any($1::uuid[])`, storage.UUIDs(runs)); err != nil {
			return nil, false, storage.Wrap(err, "forget runs")
		}
	}
	n, err := storage.Affected(tx.ExecContext(ctx, deleteSuiteRuns))
	return keys, len(runs) > 0 || n > 0, err
}
