package run

import (
	"context"
	"time"

	"github.com/google/uuid"
	"github.com/lib/pq"

	"github.com/slipway-qa/slipway/storage"
)

// Prefix begins the keys of all objects of runs: runs/JOB/FILE.
const Prefix = "runs/"

// The kinds of files.
const (
	Screenshot = "screenshot"
	Source     = "source"  // of the page, when a step failed
	Console    = "console" // of the browser, when a step failed
	Trace      = "trace"   // a zip of what the test did and saw; a job has one at most
	// Of the assertion looks_like: its baseline where the picture differs, the picture, and
	// where they differ.
	Expected   = "expected"
	Actual     = "actual"
	Difference = "difference"
	// Finding is the element of a finding of the assertion accessible.
	Finding = "finding"
)

// IsPicture reports whether files of a kind are pictures.
func IsPicture(kind string) bool {
	switch kind {
	case Screenshot, Expected, Actual, Difference, Finding:
		return true
	}
	return false
}

// File is a stored object of a job.
type File struct {
	ID          uuid.UUID `db:"id"`
	JobID       uuid.UUID `db:"job_id"`
	Kind        string    `db:"kind"`
	Step        int       `db:"step"`
	Key         string    `db:"object_key"`
	ContentType string    `db:"content_type"`
	Size        int64     `db:"size"`
	CreatedAt   time.Time `db:"created_at"`
	Attempt     int       `db:"attempt"` // of the job, from 1
}

// FileKey is the object key of a file.
func FileKey(job, file uuid.UUID) string { return Prefix + job.String() + "/" + file.String() }

const insertFiles = `
insert into run_files (id, organization_id, job_id, kind, step, object_key, content_type, size, attempt)
select f.id, $1, $2, f.kind, f.step, f.object_key, f.content_type, f.size, (select attempts + 1 from test_jobs where id = $2)
from unnest($3::uuid[], $4::text[], $5::int[], $6::text[], $7::text[], $8::bigint[])
	as f(id, kind, step, object_key, content_type, size)
on conflict (id) do nothing`

// nameFiles is insertFiles while the job runs: for people who watch.
const nameFiles = `
insert into run_files (id, organization_id, job_id, kind, step, object_key, content_type, size, attempt)
select f.id, j.organization_id, j.id, f.kind, f.step, f.object_key, f.content_type, f.size, j.attempts + 1
from test_jobs j, unnest($2::uuid[], $3::text[], $4::int[], $5::text[], $6::text[], $7::bigint[])
	as f(id, kind, step, object_key, content_type, size)
where j.id = $1 and j.state = 'RUNNING'
on conflict (id) do nothing`

// NameFiles names files of a job that runs, so that they can be looked at before its
// attempt has ended. Nothing is named of one that has ended. AddFiles names them with the others.
func NameFiles(ctx context.Context, tx *storage.Tx, job uuid.UUID, files []NewFile) error {
	if len(files) == 0 {
		return nil
	}
	_, err := tx.ExecContext(ctx, nameFiles, append([]any{job}, columnsOf(files)...)...)
	return storage.Wrap(err, "name the files of a running test job")
}

// ForgetFiles removes the names of the files of a job's last attempt, whose objects the
// caller deletes: that is played anew.
func ForgetFiles(ctx context.Context, tx *storage.Tx, job uuid.UUID) error {
	var keys []string
	return storage.Wrap(tx.SelectContext(ctx, &keys, dropFiles, job), "forget the files of a test job")
}

// AddFiles names the files of the attempt of a job that ends.
func AddFiles(ctx context.Context, tx *storage.Tx, organizationID int64, job uuid.UUID, files []NewFile) error {
	if len(files) == 0 {
		return nil
	}
	_, err := tx.ExecContext(ctx, insertFiles, append([]any{organizationID, job}, columnsOf(files)...)...)
	return storage.Wrap(err, "name the files of a test job")
}

// columnsOf returns files as a list for each of their columns.
func columnsOf(files []NewFile) []any {
	var ids []uuid.UUID
	var kinds, keys, types []string
	var steps, sizes []int64
	for _, f := range files {
		ids, kinds, keys = append(ids, f.ID), append(kinds, f.Kind), append(keys, f.Key)
		types, steps, sizes = append(types, f.ContentType), append(steps, int64(f.Step)), append(sizes, f.Size)
	}
	return []any{storage.UUIDs(ids), pq.Array(kinds), pq.Array(steps), pq.Array(keys), pq.Array(types), pq.Array(sizes)}
}

const unnamedObjects = `
select key from unnest($1::text[]) with ordinality as want(key, n)
where not exists (select from run_files f where f.object_key = key) order by n`

// UnnamedObjects returns those of the keys that no file names, for the sweep.
func UnnamedObjects(ctx context.Context, q storage.Querier, keys []string) ([]string, error) {
	unnamed := []string{}
	err := q.SelectContext(ctx, &unnamed, unnamedObjects, pq.Array(keys))
	return unnamed, storage.Wrap(err, "look for files of objects")
}
