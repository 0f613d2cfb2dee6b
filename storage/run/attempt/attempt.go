// Package attempt stores the attempts of a job before its last one: what failed, and was
// played again.
//
// A job that failed is played again as often as its Retries say. Each attempt is a claim of
// its own of the job's ledger task: End keeps the one that failed with its steps and files in a
// transaction, and the worker then puts the task off, so that its slot is free for others. A worker
// that dies in between has kept the attempt or not; whoever claims the task goes on from there.
// The job is RUNNING all the while; its row is the attempt that is played, or was the last.
package attempt

import (
	"context"

	"github.com/google/uuid"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/run"
)

// mayMend are the codes of ends after which playing the test again may go otherwise. What says
// that something is missing or refused is the same the next time; what the worker repeats by itself
// (a session that there is none of, an error of the service) has been repeated.
var mayMend = map[string]bool{
	run.CodeStepFailed: true, run.CodeAssertionFailed: true, run.CodeDrifted: true,
	run.CodeUnreachable: true, run.CodeBrowserLost: true, run.CodeTimeout: true,

	run.CodeNoSession: false, run.CodeForbidden: false, run.CodeWorkerLost: false, run.CodeVariable: false,
	run.CodeApp: false, run.CodeTunnel: false, run.CodeCancelled: false, run.CodeInternal: false, run.CodeLogin: false,
}

// Follows reports whether another attempt follows this end of one, of a job that is played again
// so often and of which so many attempts have ended before.
func Follows(end *run.JobEnd, retries, ended int) bool {
	failed := end.Status == run.Failed || end.Status == run.Errored
	return failed && ended < retries && mayMend[end.ErrorCode]
}

// keepAttempt copies what the attempt found out from the job's own columns, and empties these
// for the next one.
const keepAttempt = `
with kept as (
	insert into test_attempts (job_id, number, organization_id, state, error_code, error, records, healed, drifted, started_at, finished_at)
	select id, attempts + 1, organization_id, $2, $3, $4, records, healed, drifted, coalesce(attempt_at, started_at, now()), now()
	from test_jobs where id = $1 and state = 'RUNNING'
	returning job_id
)
update test_jobs set attempts = attempts + 1, records = '[]', healed = 0, drifted = 0
where id in (select job_id from kept) and state = 'RUNNING'`

// End keeps an attempt that failed, after which the job goes on. It returns false, and the caller
// rolls back, when the job has ended meanwhile.
func End(ctx context.Context, tx *storage.Tx, job uuid.UUID, end run.JobEnd) (bool, error) {
	going, err := run.ProgressJob(ctx, tx, job, end.Records)
	if err != nil || !going {
		return false, err
	}
	var organization int64
	if err := tx.GetContext(ctx, &organization, `select organization_id from test_jobs where id = $1`, job); err != nil {
		return false, storage.Wrap(err, "test job "+job.String())
	}
	if err := run.AddFiles(ctx, tx, organization, job, end.Files); err != nil {
		return false, err
	}
	n, err := storage.Affected(tx.ExecContext(ctx, keepAttempt, job, end.Status, end.ErrorCode, run.Message(end.Error)))
	return n == 1 && err == nil, storage.Wrap(err, "keep an attempt of test job "+job.String())
}

// maxRead bounds the records of attempts that are read at once, in bytes of JSON, as those of jobs
// are bounded.
const maxRead = 8 << 20

const attemptsOfJobs = `
with sized as (
	select a.job_id, a.number, want.place, sum(octet_length(a.records::text)) over (order by want.place, a.number) as upto
	from unnest($1::uuid[]) with ordinality as want(id, place) join test_attempts a on a.job_id = want.id
)
select a.job_id, a.number, a.state, a.error_code, a.error, a.healed, a.drifted, a.started_at, a.finished_at,
	case when sized.upto <= $2 then a.records end as records
from sized join test_attempts a using (job_id, number) order by sized.place, a.number`

const filesOfAttempts = `
select f.id, f.job_id, f.kind, f.step, f.object_key, f.content_type, f.size, f.created_at, f.attempt
from run_files f join test_jobs j on j.id = f.job_id
where f.job_id = any($1::uuid[]) and f.attempt <= j.attempts order by f.job_id, f.attempt, f.step, f.id`

// Read fills in the earlier attempts of jobs with their files, and with their records until these
// are 8 MiB in sum; those that follow keep nil. The caller bounds the number of jobs.
func Read(ctx context.Context, q storage.Querier, jobs []*run.Job) error {
	of, ids := map[uuid.UUID]*run.Job{}, []uuid.UUID{}
	for _, job := range jobs {
		if job.Ended > 0 {
			of[job.ID], ids = job, append(ids, job.ID)
		}
	}
	if len(ids) == 0 {
		return nil
	}
	var rows []attemptRow
	if err := q.SelectContext(ctx, &rows, attemptsOfJobs, storage.UUIDs(ids), maxRead); err != nil {
		return storage.Wrap(err, "attempts of test jobs")
	}
	for i := range rows {
		one, err := rows[i].attempt()
		if err != nil {
			return err
		}
		of[rows[i].JobID].Earlier = append(of[rows[i].JobID].Earlier, one)
	}
	var files []run.File
	if err := q.SelectContext(ctx, &files, filesOfAttempts, storage.UUIDs(ids)); err != nil {
		return storage.Wrap(err, "files of attempts")
	}
	for _, f := range files {
		for i := range of[f.JobID].Earlier {
			if one := &of[f.JobID].Earlier[i]; one.Number == f.Attempt {
				one.Files = append(one.Files, f)
			}
		}
	}
	return nil
}
