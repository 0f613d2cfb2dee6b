package reading

import (
	"context"

	"github.com/google/uuid"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/run"
)

const (
	// DefaultJobs are shown of a run where nothing else is asked for: all of a run without
	// data rows.
	DefaultJobs = 100
	// MaxJobPage is the most jobs of a page.
	MaxJobPage = 500
	// jobsOfList bounds the jobs that a list of runs has together, and fewestJobs is how many
	// each run has all the same: all targets of one row.
	jobsOfList, fewestJobs = 20_000, 20
)

// JobPage selects jobs of a run.
type JobPage struct {
	Skip, Limit int        // Limit at most MaxJobPage
	Status      run.Status // "": all
	Job         *uuid.UUID // this one alone, whatever the others say; nil: all
}

func firstJobs(runs int) JobPage {
	return JobPage{Limit: max(fewestJobs, min(DefaultJobs, jobsOfList/max(runs, 1)))}
}

// pageOfJobs begins at a position: positions count from 0 without gaps, so that only the page
// of a state is counted off.
const pageOfJobs = `
select j.* from unnest($1::uuid[]) as want(id) cross join lateral (
	select ` + run.JobColumns + ` from test_jobs j where j.run_id = want.id and j.position >= $2 order by j.position limit $3
) j order by j.run_id, j.position`

const pageOfJobsByState = `
select j.* from unnest($1::uuid[]) as want(id) cross join lateral (
	select ` + run.JobColumns + ` from test_jobs j where j.run_id = want.id and j.state = $4 order by j.position offset $2 limit $3
) j order by j.run_id, j.position`

const oneJob = `select ` + run.JobColumns + ` from test_jobs j where j.run_id = any($1::uuid[]) and j.id = $2`

// sumsOfJobs is for runs whose jobs are not all at hand.
const sumsOfJobs = `
select j.run_id, count(*) filter (where j.state = 'QUEUED') as queued, count(*) filter (where j.state = 'RUNNING') as running,
	count(*) filter (where j.state in ('PASSED', 'FLAKY')) as passed, count(*) filter (where j.state = 'FAILED') as failed,
	count(*) filter (where j.state = 'ERROR') as errored, count(*) filter (where j.state = 'CANCELLED') as cancelled,
	coalesce(sum(j.healed), 0) as healed, coalesce(sum(j.drifted), 0) as drifted, coalesce(sum(j.unreviewed), 0) as unreviewed
from test_jobs j where j.run_id = any($1::uuid[]) group by j.run_id`

type sumsRow struct {
	RunID uuid.UUID `db:"run_id"`
	run.Counts
	Healed     int `db:"healed"`
	Drifted    int `db:"drifted"`
	Unreviewed int `db:"unreviewed"`
}

// withJobs returns the runs of rows and reads a page of the jobs of each, without records.
func withJobs(ctx context.Context, q storage.Querier, rows []run.RunRow, p JobPage) ([]run.Run, error) {
	list, at, ids, many := make([]run.Run, len(rows)), map[uuid.UUID]int{}, make([]uuid.UUID, len(rows)), []uuid.UUID{}
	for i := range rows {
		list[i] = rows[i].Run()
		at[list[i].ID], ids[i] = i, list[i].ID
	}
	query, args := pageOfJobs, []any{storage.UUIDs(ids), p.Skip, p.Limit}
	switch {
	case p.Job != nil:
		query, args = oneJob, []any{storage.UUIDs(ids), *p.Job}
	case p.Status != "":
		query, args = pageOfJobsByState, append(args, p.Status)
	}
	var jobs []run.JobRow
	if err := q.SelectContext(ctx, &jobs, query, args...); err != nil {
		return nil, storage.Wrap(err, "read test jobs")
	}
	for i := range jobs {
		job, err := jobs[i].Job()
		if err != nil {
			return nil, err
		}
		r := &list[at[job.RunID]]
		r.Jobs = append(r.Jobs, job)
	}
	for i := range list {
		if p.Skip > 0 || p.Status != "" || len(list[i].Jobs) < list[i].JobCount {
			many = append(many, list[i].ID)
		}
	}
	var sums []sumsRow
	if len(many) > 0 {
		if err := q.SelectContext(ctx, &sums, sumsOfJobs, storage.UUIDs(many)); err != nil {
			return nil, storage.Wrap(err, "count test jobs")
		}
	}
	for i := range sums {
		sums[i].sumUp(&list[at[sums[i].RunID]])
	}
	for i := range list {
		if list[i].Counts == nil {
			list[i].SumJobs()
		}
	}
	return list, nil
}

// sumUp sets what all jobs of a run are together. Those that were not made yet count as
// QUEUED, and as CANCELLED once the run has ended without them.
func (of *sumsRow) sumUp(r *run.Run) {
	if missing := max(0, r.JobCount-of.Sum()); r.Status.Terminal() {
		of.Cancelled += missing
	} else {
		of.Queued += missing
	}
	r.JobCount, r.Counts, r.Healed, r.Drifted, r.Unreviewed = of.Sum(), of.ByStatus(), of.Healed, of.Drifted, of.Unreviewed
}

// EachJob is what a report has of a job before it reads the job itself.
type EachJob struct {
	RunID      uuid.UUID  `db:"run_id"`
	Position   int        `db:"position"`
	Status     run.Status `db:"state"`
	Healed     int        `db:"healed"`
	Drifted    int        `db:"drifted"`
	Unreviewed int        `db:"unreviewed"`
}

const eachJob = `
select run_id, position, state, healed, drifted, unreviewed from test_jobs
where run_id = any($1::uuid[]) order by run_id, position`

// EachJobOf returns the states of all jobs of runs. The caller bounds the number of runs,
// of which each has MaxJobs at most.
func EachJobOf(ctx context.Context, q storage.Querier, runs []uuid.UUID) ([]EachJob, error) {
	var list []EachJob
	err := q.SelectContext(ctx, &list, eachJob, storage.UUIDs(runs))
	return list, storage.Wrap(err, "states of test jobs")
}

// JobsFrom returns jobs of a run from a position on, in their order, and reads the records of
// those that are detailed, as far as Records goes.
func JobsFrom(ctx context.Context, q storage.Querier, runID uuid.UUID, position, limit int,
	detailed func(*run.Job) bool) ([]run.Job, error) {
	var found []run.JobRow
	if err := q.SelectContext(ctx, &found, pageOfJobs, storage.UUIDs([]uuid.UUID{runID}), position, limit); err != nil {
		return nil, storage.Wrap(err, "read test jobs")
	}
	list, records := make([]run.Job, len(found)), []*run.Job{}
	for i := range found {
		var err error
		if list[i], err = found[i].Job(); err != nil {
			return nil, err
		}
		if detailed(&list[i]) {
			records = append(records, &list[i])
		}
	}
	return list, Records(ctx, q, records)
}
