package storedfile

import (
	"context"

	"github.com/lib/pq"

	"github.com/slipway-qa/slipway/storage"
)

// Symbols are locked after the files that they name, as builds are locked before them.
// An index is named by the rows of debug files, several of the same bytes; who makes a
// further row name it locks one of these (symbolfile.KeepIndexes).

// symbolRows are uploads of symbols, and the files that they name.
type symbolRows struct {
	ids, files []int64
}

func readSymbolRows(ctx context.Context, tx *storage.Tx, condition string, ids []int64) (s symbolRows, err error) {
	var rows []struct {
		ID     int64 `db:"id"`
		FileID int64 `db:"file_id"`
	}
	err = tx.SelectContext(ctx, &rows, `select id, file_id from symbols where `+condition, pq.Array(ids))
	for _, row := range rows {
		s.ids, s.files = append(s.ids, row.ID), append(s.files, row.FileID)
	}
	return s, storage.Wrap(err, "look for symbols to remove")
}

// symbolsOfBuilds are the symbols that came with builds, whose rows are locked.
func symbolsOfBuilds(ctx context.Context, tx *storage.Tx, builds []int64) (symbolRows, error) {
	return readSymbolRows(ctx, tx, `build_id = any($1)`, builds)
}

// inheritSymbols gives symbols to a copy: it names the same file. Symbols belong to one build,
// so the oldest copy that stays inherits them.
const inheritSymbols = `
update symbols s set build_id = heir.id
from (
	select s.id as symbol_id, min(b.id) as id
	from symbols s join builds b on b.symbols_file_id = s.file_id and b.id <> all($1) and b.deleted_at is null
	where s.build_id = any($1) group by s.id
) heir
where s.id = heir.symbol_id`

// keepForCopies leaves the symbols of builds that are removed to copies that stay.
func keepForCopies(ctx context.Context, tx *storage.Tx, builds []int64) error {
	_, err := tx.ExecContext(ctx, inheritSymbols, pq.Array(builds))
	return storage.Wrap(err, "leave symbols to copies of a build")
}

// lockIndexes locks symbols and their debug files, and returns the keys of the indexes.
func lockIndexes(ctx context.Context, tx *storage.Tx, symbols []int64) ([]string, error) {
	if len(symbols) == 0 {
		return nil, nil
	}
	var locked []int64
	err := tx.SelectContext(ctx, &locked, `select id from symbols where id = any($1) order by id for update`, pq.Array(symbols))
	if err != nil {
		return nil, storage.Wrap(err, "lock symbols")
	}
	var keys []string
	err = tx.SelectContext(ctx, &keys, `select index_key from symbol_files where symbol_id = any($1) and index_key <> ''
		order by id for update`, pq.Array(symbols))
	return keys, storage.Wrap(err, "lock symbol files")
}

const unnamedIndexes = `
select distinct key from unnest($1::text[]) as key
where not exists (select from symbol_files sf where sf.index_key = key)`

// withUnnamed adds those of the keys of indexes that no row names any more.
func withUnnamed(ctx context.Context, q storage.Querier, keys, indexes []string) ([]string, error) {
	if len(indexes) == 0 {
		return keys, nil
	}
	var gone []string
	err := q.SelectContext(ctx, &gone, unnamedIndexes, pq.Array(indexes))
	return append(keys, gone...), storage.Wrap(err, "look for indexes")
}

// RemoveSymbols deletes uploads of symbols with their debug files and identifiers, and
// the rows of the files that they alone named; it returns the keys of their objects and
// indexes, which the caller deletes after the commit. Uploads that are gone are nothing.
func RemoveSymbols(ctx context.Context, tx *storage.Tx, ids []int64) ([]string, error) {
	rows, err := readSymbolRows(ctx, tx, `id = any($1)`, ids)
	if err != nil || len(rows.ids) == 0 {
		return nil, err
	}
	if err := lockFiles(ctx, tx, rows.files); err != nil {
		return nil, err
	}
	indexes, err := lockIndexes(ctx, tx, rows.ids)
	if err != nil {
		return nil, err
	}
	if _, err := tx.ExecContext(ctx, `delete from symbols where id = any($1)`, pq.Array(rows.ids)); err != nil {
		return nil, storage.Wrap(err, "remove symbols")
	}
	keys, err := release(ctx, tx, rows.files)
	if err != nil {
		return nil, err
	}
	return withUnnamed(ctx, tx, keys, indexes)
}
