package run

import (
	"context"
	"slices"

	"github.com/google/uuid"
	"github.com/lib/pq"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/failure"
)

// lostJobs finds jobs without an open task. One that is missing was deleted, or lost in a
// restored backup; the minute is for clocks and for what is being written.
const lostJobs = `
select j.id, j.run_id, r.suite_run_id, coalesce(t.state = 'cancelled', false) as cancelled
from test_jobs j join test_runs r on r.id = j.run_id
left join tasks t on t.id = j.id
where j.state in ('QUEUED', 'RUNNING')
	and (t.state in ('succeeded', 'dead', 'cancelled') or t.id is null and r.created_at < now() - interval '1 minute')
order by j.id limit $1`

const endLostJobs = `
update test_jobs j set finished_at = now(), diagnosis = case when lost.cancelled then null else $3::jsonb end,
	state = case when lost.cancelled then 'CANCELLED' else 'ERROR' end,
	error_code = case when lost.cancelled then 'CANCELLED' else 'WORKER_LOST' end,
	error = case when lost.cancelled then 'the task of the job was cancelled'
		else 'the job was given up: its workers were lost or could not go on' end
from unnest($1::uuid[], $2::boolean[]) as lost(id, cancelled)
where j.id = lost.id and j.state in ('QUEUED', 'RUNNING')`

// EndLostJobs ends open jobs whose ledger task has ended or is gone, as ERROR with
// CodeWorkerLost (CANCELLED when the task was), and suite runs likewise; at most
// limit of them. It returns their number.
func EndLostJobs(ctx context.Context, tx *storage.Tx, limit int) (int64, error) {
	var lost []struct {
		JobID      uuid.UUID  `db:"id"`
		RunID      uuid.UUID  `db:"run_id"`
		SuiteRunID *uuid.UUID `db:"suite_run_id"`
		Cancelled  bool       `db:"cancelled"`
	}
	if err := tx.SelectContext(ctx, &lost, lostJobs, limit); err != nil {
		return 0, storage.Wrap(err, "look for lost test jobs")
	}
	var jobs, runs, suiteRuns []uuid.UUID
	var cancelled []bool
	for _, l := range lost {
		jobs, cancelled, runs = append(jobs, l.JobID), append(cancelled, l.Cancelled), append(runs, l.RunID)
		if l.SuiteRunID != nil && !slices.Contains(suiteRuns, *l.SuiteRunID) {
			suiteRuns = append(suiteRuns, *l.SuiteRunID)
		}
	}
	stopped, err := lostFanOutsOf(ctx, tx, limit)
	if err != nil {
		return 0, err
	}
	making := runs
	for _, l := range stopped {
		making = append(making, l.ID)
		if l.SuiteRunID != nil && !slices.Contains(suiteRuns, *l.SuiteRunID) {
			suiteRuns = append(suiteRuns, *l.SuiteRunID)
		}
	}
	if err := lock(ctx, tx, lockSuiteRuns, suiteRuns); err != nil {
		return 0, err
	}
	if err := lock(ctx, tx, lockRuns, making); err != nil {
		return 0, err
	}
	why := lostDiagnosis()
	diagnosis, err := diagnosisDocument(JobEnd{Status: Errored, Diagnosis: why})
	if err != nil {
		return 0, err
	}
	n, err := storage.Affected(tx.ExecContext(ctx, endLostJobs, storage.UUIDs(jobs), pq.Array(cancelled), diagnosis))
	if err != nil {
		return 0, err
	}
	if len(jobs) > 0 {
		if err := failure.AddLost(ctx, tx, jobs, why); err != nil {
			return 0, err
		}
	}
	if err := endRuns(ctx, tx, runs); err != nil {
		return 0, err
	}
	if err := endSuiteRuns(ctx, tx, suiteRuns); err != nil {
		return 0, err
	}
	for _, l := range stopped {
		if err := FailFanOut(ctx, tx, l.ID, "the jobs of further data rows could not be started"); err != nil {
			return 0, err
		}
	}
	broken, err := endLostSuiteRuns(ctx, tx, limit)
	return n + int64(len(stopped)) + broken, err
}

const lostSuiteRuns = `
select s.id, coalesce(t.state = 'cancelled', false) as cancelled
from suite_runs s left join tasks t on t.id = s.id
where s.state in ('QUEUED', 'RUNNING') and not s.fanned_out
	and (t.state in ('succeeded', 'dead', 'cancelled') or t.id is null and s.created_at < now() - interval '1 minute')
order by s.id limit $1
for no key update of s skip locked`

// endLostSuiteRuns ends suite runs whose case runs will never all be there.
func endLostSuiteRuns(ctx context.Context, tx *storage.Tx, limit int) (int64, error) {
	var lost []struct {
		ID        uuid.UUID `db:"id"`
		Cancelled bool      `db:"cancelled"`
	}
	if err := tx.SelectContext(ctx, &lost, lostSuiteRuns, limit); err != nil {
		return 0, storage.Wrap(err, "look for lost suite runs")
	}
	for _, l := range lost {
		status, reason := Errored, "the runs of the suite's cases could not all be started"
		if l.Cancelled {
			status, reason = Cancelled, "the task of the suite run was cancelled"
		}
		if err := breakSuiteRun(ctx, tx, l.ID, status, reason); err != nil {
			return 0, err
		}
	}
	return int64(len(lost)), nil
}
