package generation

import (
	"context"
	"time"

	"github.com/google/uuid"
	"github.com/lib/pq"

	"github.com/slipway-qa/slipway/storage"
)

// Prefix begins the keys of all objects of generations: generations/GENERATION/FILE.
const Prefix = "generations/"

// File is a stored object of a generation.
type File struct {
	ID          uuid.UUID `db:"id"`
	Kind        string    `db:"kind"` // those of package run
	Step        int       `db:"step"`
	Key         string    `db:"object_key"`
	ContentType string    `db:"content_type"`
	Size        int64     `db:"size"`
	CreatedAt   time.Time `db:"created_at"`
}

// FileKey is the object key of a file.
func FileKey(generation, file uuid.UUID) string {
	return Prefix + generation.String() + "/" + file.String()
}

const fileColumns = `id, kind, step, object_key, content_type, size, created_at`

// FileByID reads one file; ErrNotFound also for another organization's, and for one of a
// case that is gone.
func FileByID(ctx context.Context, q storage.Querier, organizationID int64, id uuid.UUID) (*File, error) {
	var f File
	err := q.GetContext(ctx, &f, `select `+fileColumns+` from generation_files
		where organization_id = $1 and id = $2 and (case_id is not null or not in_case)`, organizationID, id)
	if err != nil {
		return nil, storage.Wrap(err, "file "+id.String())
	}
	return &f, nil
}

// insertFiles names again what was named before, when the outcome of that was unknown.
const insertFiles = `
insert into generation_files (id, organization_id, generation_id, kind, step, object_key, content_type, size)
select f.id, g.organization_id, g.id, f.kind, f.step, f.object_key, f.content_type, f.size
from test_generations g cross join unnest($2::uuid[], $3::text[], $4::int[], $5::text[], $6::text[], $7::bigint[])
	as f(id, kind, step, object_key, content_type, size)
where g.id = $1
on conflict (id) do nothing`

func addFiles(ctx context.Context, tx *storage.Tx, generation uuid.UUID, files []File) error {
	if len(files) == 0 {
		return nil
	}
	var ids []uuid.UUID
	var kinds, keys, types []string
	var steps, sizes []int64
	for _, f := range files {
		ids, kinds, keys = append(ids, f.ID), append(kinds, f.Kind), append(keys, f.Key)
		types, steps, sizes = append(types, f.ContentType), append(steps, int64(f.Step)), append(sizes, f.Size)
	}
	_, err := tx.ExecContext(ctx, insertFiles, generation, storage.UUIDs(ids), pq.Array(kinds), pq.Array(steps),
		pq.Array(keys), pq.Array(types), pq.Array(sizes))
	return storage.Wrap(err, "name the files of a generation")
}

const unnamedObjects = `
select key from unnest($1::text[]) with ordinality as want(key, n)
where not exists (select from generation_files f where f.object_key = key) order by n`

// UnnamedObjects returns those of the keys that no file names, for the sweep.
func UnnamedObjects(ctx context.Context, q storage.Querier, keys []string) ([]string, error) {
	unnamed := []string{}
	err := q.SelectContext(ctx, &unnamed, unnamedObjects, pq.Array(keys))
	return unnamed, storage.Wrap(err, "look for files of objects")
}

// forgetRows deletes the files of some rows and returns their keys.
func forgetRows(ctx context.Context, tx *storage.Tx, where string, args ...any) (keys []string, err error) {
	err = tx.SelectContext(ctx, &keys, `delete from generation_files where `+where+` returning object_key`, args...)
	return keys, storage.Wrap(err, "forget the files of generations")
}

const ofGoneCases = `id in (select id from generation_files where in_case and case_id is null order by id limit $1)`

// ForgetOrphanFiles removes files of cases that are gone, at most limit of them. It
// returns the keys of the objects, to delete after the commit.
func ForgetOrphanFiles(ctx context.Context, tx *storage.Tx, limit int) ([]string, error) {
	return forgetRows(ctx, tx, ofGoneCases, limit)
}

const oldGenerations = `
delete from test_generations where id in (
	select id from test_generations
	where accepted_at < $1 and state in ('COMPLETED', 'FAILED') order by accepted_at limit $2 for update skip locked)
returning id`

// Forget removes ended generations that were accepted before, with the files that are
// of no case; at most limit of them. It returns the keys of the objects, to delete
// after the commit, and the number of generations.
func Forget(ctx context.Context, tx *storage.Tx, before time.Time, limit int) (keys []string, n int, err error) {
	var ids []uuid.UUID
	if err := tx.SelectContext(ctx, &ids, oldGenerations, before, limit); err != nil {
		return nil, 0, storage.Wrap(err, "forget generations")
	}
	keys, err = forgetRows(ctx, tx, `generation_id = any($1::uuid[]) and not in_case`, storage.UUIDs(ids))
	return keys, len(ids), err
}
