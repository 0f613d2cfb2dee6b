package symbolfile

import (
	"context"
	"time"

	"github.com/google/uuid"
	"github.com/lib/pq"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/symbol"
)

const factColumns = fileColumns + `, sf.facts`

// FilesOf returns the debug files of an upload, with their facts and without their
// identifiers, in their order.
func FilesOf(ctx context.Context, q storage.Querier, upload int64) ([]File, error) {
	var files []File
	err := q.SelectContext(ctx, &files, `select `+factColumns+` from symbol_files sf where sf.symbol_id = $1 order by sf.id`, upload)
	return files, storage.Wrap(err, "read symbol files")
}

// SameUpload returns the id of another upload of the same bytes in the organization that is
// indexed; storage.ErrNotFound when there is none.
func SameUpload(ctx context.Context, q storage.Querier, organization int64, sha256 string, not int64) (int64, error) {
	var id int64
	err := q.GetContext(ctx, &id, `select id from symbols
		where organization_id = $1 and sha256 = $2 and state = 'indexed' and id <> $3 order by id desc limit 1`, organization, sha256, not)
	return id, storage.Wrap(err, "find the same symbols")
}

const sameFiles = `
select ` + factColumns + `
from symbol_files sf
where sf.organization_id = $1 and sf.sha256 = any($2) and sf.state = 'indexed'
order by sf.sha256, sf.symbol_id desc, sf.path, sf.id limit $3`

// maxSame bounds the rows that one search for the same files returns.
const maxSame = 5000

// SameFiles returns the indexed files of an organization that have one of the digests, with
// their facts: those of one digest behind each other, of the newest upload first.
func SameFiles(ctx context.Context, q storage.Querier, organization int64, digests []string) ([]File, error) {
	var files []File
	err := q.SelectContext(ctx, &files, sameFiles, organization, pq.Array(digests), maxSame)
	return files, storage.Wrap(err, "find the same symbol files")
}

// Outdated names an upload to be indexed anew.
type Outdated struct {
	ID             int64  `db:"id"`
	OrganizationID int64  `db:"organization_id"`
	SHA256         string `db:"sha256"`
	// Task is the state of the last task that was to index it; "" when there was none.
	Task string `db:"task"`
}

// outdatedFiles has the condition of the index symbol_files_version.
const outdatedFiles = `
from unnest($1::text[], $2::int[]) as v(kind, version)
join symbol_files sf on sf.kind = v.kind and sf.index_version < v.version and sf.index_key <> ''`

const outdatedUploads = `
select id, organization_id, sha256 from (
	select s.id, s.organization_id, s.sha256, row_number() over (partition by s.organization_id order by s.id desc) as turn
	from symbols s where s.state <> 'pending' and s.id in (select sf.symbol_id ` + outdatedFiles + ` limit $4)
	and not exists (select from tasks t where t.id = s.task_id and t.state in ('queued', 'running'))
) u where turn <= $3 order by turn, organization_id`

// scanned bounds the files that are looked at for outdated uploads: the next round finds
// the others.
const scanned = 20_000

// OutdatedUploads returns uploads with an index of an older version than that of its kind,
// at most some of each organization and those newest first, for which no task is open.
func OutdatedUploads(ctx context.Context, q storage.Querier, versions map[symbol.Kind]int, each int) ([]Outdated, error) {
	var kinds []string
	var numbers []int64
	for kind, version := range versions {
		kinds, numbers = append(kinds, string(kind)), append(numbers, int64(version))
	}
	var list []Outdated
	err := q.SelectContext(ctx, &list, outdatedUploads, pq.Array(kinds), pq.Array(numbers), each, scanned)
	return list, storage.Wrap(err, "find indexes of an older version")
}

const waitingUploads = `
select s.id, s.organization_id, s.sha256, coalesce(t.state, '') as task from symbols s
left join tasks t on t.id = s.task_id
where s.state = 'pending' and s.id > $1 and s.created_at < $2 and (t.id is null or t.state in ('succeeded', 'dead', 'cancelled'))
order by s.id limit $3`

// WaitingUploads returns uploads after an id that were pending before a time and have no
// open task, in the order of their ids.
func WaitingUploads(ctx context.Context, q storage.Querier, after int64, before time.Time, limit int) ([]Outdated, error) {
	var list []Outdated
	err := q.SelectContext(ctx, &list, waitingUploads, after, before, limit)
	return list, storage.Wrap(err, "find symbols without a task")
}

const setTask = `
update symbols set task_id = $2 where id = $1 and not exists (
	select from tasks t where t.id = task_id and t.state in ('queued', 'running')) returning id`

// SetTask sets the task that indexes an upload, which the caller inserts into the same
// transaction; false when the upload is gone or has an open task.
func SetTask(ctx context.Context, tx *storage.Tx, id int64, task uuid.UUID) (bool, error) {
	var ids []int64
	if err := tx.SelectContext(ctx, &ids, setTask, id, task); err != nil {
		return false, storage.Wrap(err, "set the task of symbols")
	}
	return len(ids) == 1, nil
}

// Fail ends an upload that cannot be read for a reason that is not in its bytes; one that is
// not pending stays as it is.
func Fail(ctx context.Context, q storage.Querier, id int64, code, reason string) error {
	_, err := q.ExecContext(ctx, `update symbols set state = 'failed', error_code = $2, error = $3, indexed_at = now()
		where id = $1 and state = 'pending'`, id, code, storage.WithoutNUL(reason))
	return storage.Wrap(err, "fail symbols")
}
