package symbolfile

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/lib/pq"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/symbol"
)

// insertFiles inserts in the order of the files, in which the identity column numbers the
// rows.
const insertFiles = `
insert into symbol_files (organization_id, symbol_id, path, kind, arch, state, error_code, error, features, size, sha256,
	index_key, index_version, index_size, facts)
select $1::bigint, $2::bigint, f.path, f.kind, f.arch, f.state, f.error_code, f.error, coalesce(f.features, '{}'), f.size, f.sha256,
	f.index_key, f.index_version, f.index_size, f.facts
from jsonb_to_recordset($3) as f(n int, path text, kind text, arch text, state text, error_code text, error text,
	features text[], size bigint, sha256 text, index_key text, index_version int, index_size bigint, facts jsonb)
order by f.n returning id`

const insertIdentifiers = `
insert into symbol_identifiers (organization_id, type, value, release, symbol_file_id)
select distinct $1::bigint, i.type, i.value, i.release, i.file
from unnest($2::text[], $3::text[], $4::text[], $5::bigint[]) as i(type, value, release, file)
on conflict do nothing`

// fileStep rows are inserted by one statement.
const fileStep = 500

// maxIdentifier bounds value and release of an identifier together, in bytes: the key of an
// index row has at most some 2,700. A longer one is left out.
const maxIdentifier = 2500

// fileRow is a file as insertFiles reads it.
type fileRow struct {
	N            int             `json:"n"`
	Path         string          `json:"path"`
	Kind         symbol.Kind     `json:"kind"`
	Arch         string          `json:"arch"`
	State        State           `json:"state"`
	ErrorCode    string          `json:"error_code"`
	Error        string          `json:"error"`
	Features     []string        `json:"features"`
	Size         int64           `json:"size"`
	SHA256       string          `json:"sha256"`
	IndexKey     string          `json:"index_key"`
	IndexVersion int             `json:"index_version"`
	IndexSize    int64           `json:"index_size"`
	Facts        json.RawMessage `json:"facts"`
}

// RecordFiles replaces the debug files of an upload by what was found in it, and ends its
// state pending: indexed when one of the files is, else failed with the reason. It is
// storage.ErrNotFound when the upload is gone.
func RecordFiles(ctx context.Context, tx *storage.Tx, upload int64, files []File, code, reason string) error {
	var organization int64
	err := tx.GetContext(ctx, &organization, `select organization_id from symbols where id = $1 for update`, upload)
	if err != nil {
		return storage.Wrap(err, "lock symbols")
	}
	if _, err := tx.ExecContext(ctx, `delete from symbol_files where symbol_id = $1`, upload); err != nil {
		return storage.Wrap(err, "replace symbol files")
	}
	for step := range slices.Chunk(files, fileStep) {
		if err := insertStep(ctx, tx, organization, upload, step); err != nil {
			return err
		}
	}
	state := Failed
	if slices.ContainsFunc(files, func(f File) bool { return f.State == Indexed }) {
		state = Indexed
	}
	_, err = tx.ExecContext(ctx, `update symbols set state = $2, error_code = $3, error = $4, indexed_at = now() where id = $1`,
		upload, state, code, storage.WithoutNUL(reason))
	return storage.Wrap(err, "end the reading of symbols")
}

func insertStep(ctx context.Context, tx *storage.Tx, organization, upload int64, files []File) error {
	rows := make([]fileRow, len(files))
	for i, f := range files {
		rows[i] = fileRow{N: i, Path: f.Path, Kind: f.Kind, Arch: f.Arch, State: f.State, ErrorCode: f.ErrorCode, Error: f.Error,
			Features: f.Features, Size: f.Size, SHA256: f.SHA256, IndexKey: f.IndexKey, IndexVersion: f.IndexVersion,
			IndexSize: f.IndexSize, Facts: f.Facts}
		if f.Facts == nil {
			rows[i].Facts = json.RawMessage("{}")
		}
	}
	doc, err := json.Marshal(rows)
	if err != nil {
		return fmt.Errorf("symbol files: %w", err)
	}
	var ids []int64
	if err := tx.SelectContext(ctx, &ids, insertFiles, organization, upload, storage.WithoutNUL(string(doc))); err != nil {
		return storage.Wrap(err, "insert symbol files")
	}
	slices.Sort(ids)
	var types, values, releases []string
	var of []int64
	for i, f := range files {
		if f.State != Indexed {
			continue
		}
		for _, id := range f.Identifiers {
			if len(id.Value)+len(id.Release) > maxIdentifier {
				continue
			}
			types, values, releases, of = append(types, string(id.Type)), append(values, storage.WithoutNUL(id.Value)),
				append(releases, storage.WithoutNUL(id.Release)), append(of, ids[i])
		}
	}
	if len(types) == 0 {
		return nil
	}
	_, err = tx.ExecContext(ctx, insertIdentifiers, organization, pq.Array(types), pq.Array(values), pq.Array(releases), pq.Array(of))
	return storage.Wrap(err, "insert symbol identifiers")
}
