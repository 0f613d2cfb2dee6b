// Package storedfile has the rows of stored objects, and removes them with what names them.
//
// A File is an object in the store that a build, an icon, an app or symbols name. Copies of a
// build name the same file, so its object goes when nothing names it any more: RemoveBuilds,
// RemoveProject and RemoveSymbols delete rows that were marked before, and return the keys of
// the objects that the caller deletes after the commit. UnnamedObjects is for the sweep that
// finds what a crash left between the two.
//
// Locks are taken in the order builds, files, symbols, debug files, and of one table by
// ascending id. Who creates a copy takes ShareLock of its files, which finds out whether they
// are there still. What should be gone and is not is storage.ErrConflict.
package storedfile

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/lib/pq"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/distribution/text"
)

// File is a stored object.
type File struct {
	ID          int64
	Key         string // object key
	Size        int64
	SHA256      string // lower-case hex
	ContentType string
}

// Prefix begins the object keys of files: builds/<UUID>.
const Prefix = "builds/"

// NewFile is a stored object that gets a row.
type NewFile struct {
	Key         string
	Size        int64
	SHA256      string
	ContentType string
}

const insertFile = `
insert into files (organization_id, object_key, size, sha256, content_type) values ($1, $2, $3, $4, $5)
returning id`

// Create stores the row of an object that was written, and returns its id.
func Create(ctx context.Context, tx *storage.Tx, organizationID int64, f NewFile) (id int64, err error) {
	err = tx.GetContext(ctx, &id, insertFile, organizationID, f.Key, f.Size, strings.ToLower(f.SHA256),
		text.Scrub(f.ContentType, text.MaxLine))
	return id, storage.Wrap(err, "create file")
}

// A file's row is locked before it is decided that nothing names it, and by who
// creates a copy that names it: of the two, the second finds what the first did. All
// lock files in the order of their ids, after builds.

const fileIDs = `select id from files where id = any($1) order by id `

// ShareLock keeps files from being removed until the transaction ends; ErrNotFound
// when one is gone.
func ShareLock(ctx context.Context, tx *storage.Tx, ids ...*int64) error {
	want := map[int64]bool{}
	for _, id := range ids {
		if id != nil {
			want[*id] = true
		}
	}
	list := make([]int64, 0, len(want))
	for id := range want {
		list = append(list, id)
	}
	var held []int64
	if err := tx.SelectContext(ctx, &held, fileIDs+`for key share`, pq.Array(list)); err != nil {
		return storage.Wrap(err, "lock files of a copy")
	}
	if len(held) != len(list) {
		return fmt.Errorf("files of the build: %w", storage.ErrNotFound)
	}
	return nil
}

const deleteUnnamedFiles = `
delete from files f where f.id = any($1)
	and not exists (select from builds b where b.file_id = f.id)
	and not exists (select from builds b where b.icon_file_id = f.id)
	and not exists (select from builds b where b.symbols_file_id = f.id)
	and not exists (select from symbols s where s.file_id = f.id)
	and not exists (select from projects p where p.icon_file_id = f.id)
returning f.object_key`

// release deletes the rows of those files that nothing names; the caller holds
// their locks and has deleted the rows that named them.
func release(ctx context.Context, tx *storage.Tx, ids []int64) ([]string, error) {
	keys := []string{}
	err := tx.SelectContext(ctx, &keys, deleteUnnamedFiles, pq.Array(ids))
	return keys, storage.Wrap(err, "delete files")
}

// lockFiles takes the locks that release needs.
func lockFiles(ctx context.Context, tx *storage.Tx, ids []int64) error {
	var locked []int64
	return storage.Wrap(tx.SelectContext(ctx, &locked, fileIDs+`for update`, pq.Array(ids)), "lock files")
}

const lockedBuilds = `
select deleted_at is not null as deleted, array_remove(array[file_id, icon_file_id, symbols_file_id], null) as files
from builds where id = any($1) order by id for update`

// Runs of tests outlive the build that they are of. They are locked in the order in which
// package run locks them, which the foreign keys would not do.
const (
	forgetBuildOfSuiteRuns = `
with locked as (select id from suite_runs where build_id = any($1) order by id for no key update)
update suite_runs r set build_id = null from locked where r.id = locked.id`
	forgetBuildOfRuns = `
with locked as (select id from test_runs where build_id = any($1) order by id for no key update)
update test_runs r set build_id = null from locked where r.id = locked.id`
)

// RemoveBuilds deletes the rows of builds that are marked deleted, and of the
// files that they alone named, with the symbols that came with them; it returns the
// keys of their objects, which the caller deletes after the commit. Builds that are gone are nothing;
// storage.ErrConflict when one is there and not marked. However many builds there
// are, it locks all of them before the first file: two calls that took build and
// file in turn could wait for each other.
func RemoveBuilds(ctx context.Context, tx *storage.Tx, ids []int64) ([]string, error) {
	var rows []struct {
		Deleted bool          `db:"deleted"`
		Files   pq.Int64Array `db:"files"`
	}
	if err := tx.SelectContext(ctx, &rows, lockedBuilds, pq.Array(ids)); err != nil {
		return nil, storage.Wrap(err, "lock deleted builds")
	}
	var files []int64
	for _, row := range rows {
		if !row.Deleted {
			return nil, fmt.Errorf("one of the builds %d is not deleted: %w", ids, storage.ErrConflict)
		}
		files = append(files, row.Files...)
	}
	if len(rows) == 0 {
		return nil, nil
	}
	for _, statement := range []string{forgetBuildOfSuiteRuns, forgetBuildOfRuns} {
		if _, err := tx.ExecContext(ctx, statement, pq.Array(ids)); err != nil {
			return nil, storage.Wrap(err, "forget the builds of test runs")
		}
	}
	symbols, err := symbolsOfBuilds(ctx, tx, ids)
	if err != nil {
		return nil, err
	}
	files = append(files, symbols.files...)
	if err := lockFiles(ctx, tx, files); err != nil {
		return nil, err
	}
	if err := keepForCopies(ctx, tx, ids); err != nil {
		return nil, err
	}
	indexes, err := lockIndexes(ctx, tx, symbols.ids)
	if err != nil {
		return nil, err
	}
	if _, err := tx.ExecContext(ctx, `delete from builds where id = any($1)`, pq.Array(ids)); err != nil {
		return nil, storage.Wrap(err, "remove builds")
	}
	keys, err := release(ctx, tx, files)
	if err != nil {
		return nil, err
	}
	return withUnnamed(ctx, tx, keys, indexes)
}

const deletedProject = `
select array_remove(array[icon_file_id], null) from projects
where id = $1 and deleted_at is not null for update`

// RemoveProject deletes the row of a project that is marked deleted and has no
// build left (storage.ErrConflict), as RemoveBuilds does.
func RemoveProject(ctx context.Context, tx *storage.Tx, projectID int64) ([]string, error) {
	var ids pq.Int64Array
	err := storage.Wrap(tx.GetContext(ctx, &ids, deletedProject, projectID), fmt.Sprintf("deleted project %d", projectID))
	if errors.Is(err, storage.ErrNotFound) {
		return nil, stillThere(ctx, tx, `select exists (select from projects where id = $1)`, projectID)
	}
	if err != nil {
		return nil, err
	}
	if err := stillThere(ctx, tx, `select exists (select from builds where project_id = $1)`, projectID); err != nil {
		return nil, err
	}
	if err := lockFiles(ctx, tx, ids); err != nil {
		return nil, err
	}
	if _, err := tx.ExecContext(ctx, `delete from projects where id = $1`, projectID); err != nil {
		return nil, storage.Wrap(err, "remove project")
	}
	return release(ctx, tx, ids)
}

// stillThere is ErrConflict when the query finds what should be gone.
func stillThere(ctx context.Context, q storage.Querier, query string, id int64) error {
	var there bool
	if err := q.GetContext(ctx, &there, query, id); err != nil {
		return storage.Wrap(err, "look for what is left")
	}
	if there {
		return fmt.Errorf("%d is not deleted or has builds: %w", id, storage.ErrConflict)
	}
	return nil
}

// DeletedBuilds returns builds of a project that are marked deleted, at most limit.
func DeletedBuilds(ctx context.Context, q storage.Querier, projectID int64, limit int) ([]int64, error) {
	ids := []int64{}
	err := q.SelectContext(ctx, &ids, `select id from builds where project_id = $1 and deleted_at is not null
		order by id limit $2`, projectID, storage.Page{Limit: limit}.RowLimit())
	return ids, storage.Wrap(err, "list deleted builds")
}

// UnnamedObjects returns those of the object keys that no file has; for the sweep.
func UnnamedObjects(ctx context.Context, q storage.Querier, keys []string) ([]string, error) {
	unnamed := []string{}
	err := q.SelectContext(ctx, &unnamed, `select key from unnest($1::text[]) with ordinality as want(key, n)
		where not exists (select from files f where f.object_key = key) order by n`, pq.Array(keys))
	return unnamed, storage.Wrap(err, "look for files of objects")
}
