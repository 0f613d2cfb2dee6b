package symbolfile

import (
	"context"
	"fmt"
	"slices"

	"github.com/google/uuid"
	"github.com/lib/pq"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/distribution/storedfile"
)

// IndexPrefix begins the keys of indexes.
const IndexPrefix = "symbols/"

// Delete removes an upload with its debug files and identifiers. It returns the keys of
// the objects that nothing names any more, which the caller deletes after the commit. The
// file of a build stays with the build.
func Delete(ctx context.Context, tx *storage.Tx, w account.Writer, id int64) ([]string, error) {
	u, err := UploadByID(ctx, tx, w.OrganizationID, id)
	if err != nil {
		return nil, err
	}
	keys, err := storedfile.RemoveSymbols(ctx, tx, []int64{id})
	if err != nil {
		return nil, err
	}
	return keys, account.Audit(ctx, tx, account.Event{OrganizationID: w.OrganizationID, Type: account.SymbolsDeleted,
		Actor: w.Actor, Subject: u.Name, Detail: map[string]any{"id": id, "sha256": u.SHA256, "crash_project_id": u.ProjectID}})
}

// DeleteOfProject removes the uploads of a crash project that is about to be deleted, as
// Delete does.
func DeleteOfProject(ctx context.Context, tx *storage.Tx, projectID int64) ([]string, error) {
	var ids []int64
	err := tx.SelectContext(ctx, &ids, `select id from symbols where crash_project_id = $1 order by id`, projectID)
	if err != nil {
		return nil, storage.Wrap(err, "symbols of a crash project")
	}
	return storedfile.RemoveSymbols(ctx, tx, ids)
}

// Reindex puts an upload back to pending, to be read by the task that the caller inserts
// into the same transaction; false when it is pending already, and its task is there. An
// upload that is indexed keeps its debug files until then.
func Reindex(ctx context.Context, tx *storage.Tx, w account.Writer, id int64, task uuid.UUID) (*Upload, bool, error) {
	var state State
	err := tx.GetContext(ctx, &state, `select state from symbols where organization_id = $1 and id = $2 for update`, w.OrganizationID, id)
	if err != nil {
		return nil, false, storage.Wrap(err, fmt.Sprintf("symbols %d", id))
	}
	changed := state != Pending
	if changed {
		if _, err := tx.ExecContext(ctx, tryAnew, id, task); err != nil {
			return nil, false, storage.Wrap(err, "index symbols anew")
		}
	}
	u, err := UploadByID(ctx, tx, w.OrganizationID, id)
	if err != nil || !changed {
		return u, false, err
	}
	return u, true, account.Audit(ctx, tx, account.Event{OrganizationID: w.OrganizationID, Type: account.SymbolsReindexed,
		Actor: w.Actor, Subject: u.Name, Detail: map[string]any{"id": id}})
}

const keepIndexes = `
select index_key from symbol_files where organization_id = $1 and index_key = any($2) order by id for key share`

// KeepIndexes keeps indexes from being removed until the transaction ends, which is to
// name them in further rows; storage.ErrConflict when no row names one any more: then it
// may be gone.
func KeepIndexes(ctx context.Context, tx *storage.Tx, organizationID int64, keys []string) error {
	var held []string
	if err := tx.SelectContext(ctx, &held, keepIndexes, organizationID, pq.Array(keys)); err != nil {
		return storage.Wrap(err, "lock indexes")
	}
	for _, key := range keys {
		if !slices.Contains(held, key) {
			return fmt.Errorf("index %s: %w", key, storage.ErrConflict)
		}
	}
	return nil
}

// UnnamedIndexes returns those of the keys that no debug file names; for the sweep.
func UnnamedIndexes(ctx context.Context, q storage.Querier, keys []string) ([]string, error) {
	unnamed := []string{}
	err := q.SelectContext(ctx, &unnamed, `select key from unnest($1::text[]) with ordinality as want(key, n)
		where not exists (select from symbol_files sf where sf.index_key = key and sf.index_key <> '') order by n`, pq.Array(keys))
	return unnamed, storage.Wrap(err, "look for files of indexes")
}
