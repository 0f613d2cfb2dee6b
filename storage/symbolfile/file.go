package symbolfile

import (
	"context"

	"github.com/lib/pq"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/symbol"
)

// MaxIdentifiers bounds the identifiers of a debug file that are read for people.
const MaxIdentifiers = 50

// Contents are the debug files of an upload: all counted, some read.
type Contents struct {
	Files  []File // with at most MaxIdentifiers identifiers each
	Count  int
	Failed int
}

const countFiles = `
select symbol_id, count(*) as count, count(*) filter (where state = 'failed') as failed
from symbol_files where symbol_id = any($1) group by symbol_id`

// someFiles has the failed ones first: they are what a reader looks for.
const someFiles = `
select ` + factColumns + `
from unnest($1::bigint[]) as u(id),
lateral (select * from symbol_files where symbol_id = u.id order by state = 'failed' desc, id limit $2 offset $3) sf
order by sf.symbol_id, sf.state = 'failed' desc, sf.id`

const someIdentifiers = `
select i.symbol_file_id, i.type, i.value, i.release
from unnest($1::bigint[]) as f(id),
lateral (select * from symbol_identifiers where symbol_file_id = f.id order by type, value, release limit $2) i
order by i.symbol_file_id, i.type, i.value, i.release`

// ContentsOf returns the debug files of uploads by the id of the upload, a page of each.
func ContentsOf(ctx context.Context, q storage.Querier, uploads []int64, p storage.Page) (map[int64]*Contents, error) {
	all := make(map[int64]*Contents, len(uploads))
	for _, id := range uploads {
		all[id] = &Contents{Files: []File{}}
	}
	var counts []struct {
		ID     int64 `db:"symbol_id"`
		Count  int   `db:"count"`
		Failed int   `db:"failed"`
	}
	if err := q.SelectContext(ctx, &counts, countFiles, pq.Array(uploads)); err != nil {
		return nil, storage.Wrap(err, "count symbol files")
	}
	for _, c := range counts {
		all[c.ID].Count, all[c.ID].Failed = c.Count, c.Failed
	}
	var files []File
	if err := q.SelectContext(ctx, &files, someFiles, pq.Array(uploads), p.RowLimit(), p.RowOffset()); err != nil {
		return nil, storage.Wrap(err, "list symbol files")
	}
	if err := addIdentifiers(ctx, q, files); err != nil {
		return nil, err
	}
	for _, f := range files {
		all[f.UploadID].Files = append(all[f.UploadID].Files, f)
	}
	return all, nil
}

func addIdentifiers(ctx context.Context, q storage.Querier, files []File) error {
	at := make(map[int64]*File, len(files))
	ids := make([]int64, len(files))
	for i := range files {
		files[i].Identifiers = []symbol.Identifier{}
		ids[i], at[files[i].ID] = files[i].ID, &files[i]
	}
	var rows []struct {
		FileID  int64  `db:"symbol_file_id"`
		Type    string `db:"type"`
		Value   string `db:"value"`
		Release string `db:"release"`
	}
	if err := q.SelectContext(ctx, &rows, someIdentifiers, pq.Array(ids), MaxIdentifiers); err != nil {
		return storage.Wrap(err, "identifiers of symbol files")
	}
	for _, row := range rows {
		f := at[row.FileID]
		f.Identifiers = append(f.Identifiers, symbol.Identifier{Type: symbol.IdentifierType(row.Type), Value: row.Value, Release: row.Release})
	}
	return nil
}

// Served is a debug file to be downloaded: what it is in, and where.
type Served struct {
	File
	Name       string `db:"name"` // of the upload
	UploadSize int64  `db:"upload_size"`
	ObjectKey  string `db:"object_key"`
}

const servedColumns = fileColumns + `, s.name, f.size as upload_size, f.object_key`

const filesToServe = `
select ` + servedColumns + `
from unnest($2::text[], $3::text[]) with ordinality as want(type, value, n)
join symbol_identifiers i on i.organization_id = $1 and i.type = want.type and i.value = want.value
join symbol_files sf on sf.id = i.symbol_file_id and sf.state = 'indexed'
join symbols s on s.id = sf.symbol_id
join files f on f.id = s.file_id
order by want.n, sf.id desc limit $4`

// ToServe returns the debug files of the organization, of whatever crash project, that
// one of the identifiers names: in the order of the identifiers, the newest first.
func ToServe(ctx context.Context, q storage.Querier, organizationID int64, want []symbol.Identifier) ([]Served, error) {
	var types, values []string
	for _, id := range want {
		types, values = append(types, string(id.Type)), append(values, id.Value)
	}
	var list []Served
	err := q.SelectContext(ctx, &list, filesToServe, organizationID, pq.Array(types), pq.Array(values), MaxFound)
	return list, storage.Wrap(err, "look for symbol files to serve")
}

// sourcesToServe are the sources of a build id: those of an upload that has a file of that id,
// or that was given the id by its sender.
const sourcesToServe = `
select ` + servedColumns + `
from symbol_files sf
join symbols s on s.id = sf.symbol_id
join files f on f.id = s.file_id
where sf.kind = 'source' and sf.path <> '' and right(sf.path, length($4)) = $4 and s.organization_id = $1 and s.id in (
	select sf.symbol_id from symbol_identifiers i join symbol_files sf on sf.id = i.symbol_file_id
	where i.organization_id = $1 and i.type = 'build_id' and i.value = $2
	union
	select id from symbols where organization_id = $1 and lower(given_id) = $2 and given_id <> '')
order by sf.id desc limit $3`

// SourcesToServe returns the source texts, at most a bounded number, that came with the
// files of a build id and whose path ends in a name.
func SourcesToServe(ctx context.Context, q storage.Querier, organizationID int64, buildID, name string) ([]Served, error) {
	var list []Served
	err := q.SelectContext(ctx, &list, sourcesToServe, organizationID, buildID, MaxFound, name)
	return list, storage.Wrap(err, "look for sources to serve")
}
