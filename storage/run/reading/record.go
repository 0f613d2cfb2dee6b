package reading

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/google/uuid"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/run"
)

// maxReadRecords bounds the records that are read at once, in bytes of JSON: each
// job may have maxRecords, and a run or a report dozens of jobs.
const maxReadRecords = 8 << 20

const recordsOfJobs = `
with sized as (
	select j.id, want.place, sum(octet_length(j.records::text)) over (order by want.place) as upto
	from unnest($1::uuid[]) with ordinality as want(id, place) join test_jobs j on j.id = want.id
)
select j.id, j.records, j.diagnosis from sized join test_jobs j on j.id = sized.id
where sized.upto <= $2`

// Records fills in the records and diagnoses of jobs that were read without them, in their
// order until they are 8 MiB in sum. The jobs that follow keep nil, as does one that
// is gone; those of a job without any are empty. The caller bounds the number of
// jobs.
func Records(ctx context.Context, q storage.Querier, jobs []*run.Job) error {
	if len(jobs) == 0 {
		return nil
	}
	of, ids := make(map[uuid.UUID]*run.Job, len(jobs)), make([]uuid.UUID, len(jobs))
	for i, job := range jobs {
		of[job.ID], ids[i] = job, job.ID
	}
	var rows []struct {
		ID      uuid.UUID `db:"id"`
		Records []byte    `db:"records"`
		Why     []byte    `db:"diagnosis"`
	}
	if err := q.SelectContext(ctx, &rows, recordsOfJobs, storage.UUIDs(ids), maxReadRecords); err != nil {
		return storage.Wrap(err, "records of test jobs")
	}
	for _, row := range rows {
		if err := json.Unmarshal(row.Records, &of[row.ID].Records); err != nil {
			return fmt.Errorf("records of test job %s: %w", row.ID, err)
		}
		why, err := run.ReadDiagnosis(row.Why)
		if err != nil {
			return fmt.Errorf("test job %s: %w", row.ID, err)
		}
		of[row.ID].Diagnosis = why
	}
	return nil
}
