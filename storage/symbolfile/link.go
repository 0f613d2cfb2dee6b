package symbolfile

import (
	"context"

	"github.com/lib/pq"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/symbol"
)

const insertLinks = `
insert into symbol_links (organization_id, lacking, type, value, symbol_file_id)
select distinct $1::bigint, l.lacking, l.type, l.value, l.file
from unnest($2::boolean[], $3::text[], $4::text[], $5::bigint[]) as l(lacking, type, value, file)
on conflict do nothing`

// RecordLinks stores what the files of an upload supply and lack: those that RecordFiles
// stored in the same transaction.
func RecordLinks(ctx context.Context, tx *storage.Tx, u *Upload, files []File) error {
	var ids []int64
	if err := tx.SelectContext(ctx, &ids, `select id from symbol_files where symbol_id = $1 order by id`, u.ID); err != nil {
		return storage.Wrap(err, "read symbol files")
	}
	var lacking []bool
	var types, values []string
	var of []int64
	flush := func(most int) error {
		if len(of) <= most {
			return nil
		}
		_, err := tx.ExecContext(ctx, insertLinks, u.OrganizationID, pq.Array(lacking), pq.Array(types), pq.Array(values), pq.Array(of))
		lacking, types, values, of = nil, nil, nil, nil
		return storage.Wrap(err, "insert symbol links")
	}
	for i, f := range files[:min(len(files), len(ids))] {
		if f.State != Indexed {
			continue
		}
		for n, link := range append(f.Supplies[:len(f.Supplies):len(f.Supplies)], f.Lacks...) {
			lacking, types, values, of = append(lacking, n >= len(f.Supplies)), append(types, string(link.Type)),
				append(values, storage.WithoutNUL(link.Value)), append(of, ids[i])
		}
		if err := flush(20 * fileStep); err != nil {
			return err
		}
	}
	return flush(0)
}

const suppliers = `
select s.id from symbols s where s.id in (
	select sf.symbol_id from unnest($2::text[], $3::text[]) as want(type, value)
	join symbol_links l on l.organization_id = $1 and not l.lacking and l.type = want.type and l.value = want.value
	join symbol_files sf on sf.id = l.symbol_file_id and sf.symbol_id <> $4)
and (s.crash_project_id is null or s.crash_project_id = $5)
order by s.id desc limit $6`

// Suppliers returns the uploads that have files which an upload lacks, the newest first:
// those of its crash project and of all projects.
func Suppliers(ctx context.Context, q storage.Querier, u *Upload, lacks []symbol.Link, limit int) ([]int64, error) {
	if len(lacks) == 0 {
		return nil, nil
	}
	types, values := make([]string, len(lacks)), make([]string, len(lacks))
	for i, link := range lacks {
		types[i], values[i] = string(link.Type), link.Value
	}
	var ids []int64
	err := q.SelectContext(ctx, &ids, suppliers, u.OrganizationID, pq.Array(types), pq.Array(values), u.ID, u.ProjectID, limit)
	return ids, storage.Wrap(err, "find symbols that others lack")
}

const outdateLacking = `
with lacking as (
	select sf.id, sf.symbol_id from symbol_files mine
	join symbol_links l on l.symbol_file_id = mine.id and not l.lacking
	join symbol_links other on other.organization_id = l.organization_id and other.lacking and other.type = l.type and other.value = l.value
	join symbol_files sf on sf.id = other.symbol_file_id and sf.symbol_id <> mine.symbol_id
	join symbols s on s.id = sf.symbol_id and ($2::bigint is null or s.crash_project_id = $2)
	where mine.symbol_id = $1 order by sf.id desc limit $3
), outdated as (
	update symbol_files set index_version = 0 where id in (select id from lacking) returning symbol_id
)
select s.id, s.organization_id, s.sha256, '' as task from symbols s where s.id in (select symbol_id from outdated) order by s.id desc`

// maxLacking bounds the files that one upload has indexed anew.
const maxLacking = 1000

// OutdateLacking marks the files that lack what an upload has as to be indexed anew, and
// returns their uploads; they serve until then.
func OutdateLacking(ctx context.Context, tx *storage.Tx, u *Upload) ([]Outdated, error) {
	var list []Outdated
	err := tx.SelectContext(ctx, &list, outdateLacking, u.ID, u.ProjectID, maxLacking)
	return list, storage.Wrap(err, "outdate symbols that lack others")
}
