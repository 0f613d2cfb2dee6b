package reading

import (
	"context"

	"github.com/google/uuid"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/run"
)

const fileColumns = `f.id, f.job_id, f.kind, f.step, f.object_key, f.content_type, f.size, f.created_at, f.attempt`

// FileByID reads one file; ErrNotFound also for another organization's.
func FileByID(ctx context.Context, q storage.Querier, organizationID int64, id uuid.UUID) (*run.File, error) {
	var f run.File
	err := q.GetContext(ctx, &f, `select `+fileColumns+` from run_files f where f.organization_id = $1 and f.id = $2`, organizationID, id)
	if err != nil {
		return nil, storage.Wrap(err, "file "+id.String())
	}
	return &f, nil
}

// withFiles fills in the files of all jobs of runs, of their last attempts, in the order of the steps.
func withFiles(ctx context.Context, q storage.Querier, runs []run.Run) error {
	of, ids := map[uuid.UUID]*run.Job{}, []uuid.UUID{}
	for i := range runs {
		for k := range runs[i].Jobs {
			job := &runs[i].Jobs[k]
			of[job.ID], ids = job, append(ids, job.ID)
		}
	}
	var files []run.File
	err := q.SelectContext(ctx, &files, `select `+fileColumns+` from run_files f join test_jobs j on j.id = f.job_id
		where f.job_id = any($1::uuid[]) and f.attempt > j.attempts order by f.job_id, f.step, f.id`, storage.UUIDs(ids))
	for _, f := range files {
		of[f.JobID].Files = append(of[f.JobID].Files, f)
	}
	return storage.Wrap(err, "files of test jobs")
}
