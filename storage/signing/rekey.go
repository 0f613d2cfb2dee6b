package signing

import (
	"context"
	"fmt"
	"time"

	"github.com/lib/pq"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/seal"
)

// sealedColumn is a column with secrets that a signing key sealed.
type sealedColumn struct {
	kind    string
	table   string
	id      string // the primary key, as one text
	column  string
	purpose seal.Purpose
}

// sealedColumns are all of them; a test compares them with the schema.
var sealedColumns = []sealedColumn{
	{"storage connections", "storage_connections", "organization_id::text", "sealed", seal.Connection},
	{"secret variables", "test_variables", "id::text", "sealed", seal.Variable},
	{"variables of runs", "test_runs", "id::text", "sealed_variables", seal.RunVariables},
	{"variables of suite runs", "suite_runs", "id::text", "sealed_variables", seal.RunVariables},
	{"keys of data rows", "test_data", "id::text", "sealed_key", seal.DataKey},
	{"secrets of environments", "test_environments", "id::text", "sealed", seal.Environment},
	{"logins of suite runs", "suite_logins", "suite_run_id::text || ' ' || key", "sealed", seal.Login},
	{"tunnels", "tunnels", "organization_id::text || ' ' || name", "sealed", seal.Tunnel},
	{"webhook secrets", "webhooks", "id::text", "secret", seal.Webhook},
	{"former webhook secrets", "webhooks", "id::text", "former_secret", seal.Webhook},
	{"commit status tokens", "commit_status_settings", "project_id::text", "sealed_token", seal.CommitStatus},
}

// Sealed counts the secrets of a kind.
type Sealed struct {
	Kind string `json:"kind"`
	// Rekeyed were sealed anew by this call.
	Rekeyed int `json:"rekeyed"`
	// Unreadable are those that no key of the ring opens. They stay as they are.
	Unreadable int `json:"unreadable"`
}

// KeyUse is a key of the installation after Rekey.
type KeyUse struct {
	Fingerprint string `json:"fingerprint"`
	// State: current; needed, by so many rows; or droppable from SLIPWAY_SIGNING_KEYS_OLD.
	State string `json:"state"`
	Rows  int    `json:"rows"`
	// LinksUntil is when the last link to a folder of objects ends that the key signed.
	LinksUntil *time.Time `json:"links_until,omitempty"`
}

// The states of a key.
const (
	StateCurrent   = "current"
	StateNeeded    = "needed"
	StateDroppable = "droppable"
)

// Report is the outcome of Rekey.
type Report struct {
	Kinds []Sealed `json:"kinds"`
	Keys  []KeyUse `json:"keys"`
}

// Rekeying is what Rekey takes.
type Rekeying struct {
	Ring seal.Ring
	// Batch is the most rows of one transaction; 500 by default.
	Batch int
	// LinkAge is how long a link lives that a key signed.
	LinkAge time.Duration
	// Lost retires the keys in use that the ring lacks: what they sealed is lost.
	Lost bool
	// Progress is called after each transaction with the secrets of a kind so far.
	Progress func(Sealed)
}

// Rekey seals all secrets anew with the current key, and retires the keys that no row
// needs any more. It can be called again after an error, or a kill.
func Rekey(ctx context.Context, db *storage.DB, r Rekeying) (*Report, error) {
	if r.Lost {
		if err := retireLost(ctx, db, r.Ring); err != nil {
			return nil, err
		}
	}
	if err := Register(ctx, db, r.Ring); err != nil {
		return nil, err
	}
	if r.Batch <= 0 {
		r.Batch = 500
	}
	report := &Report{}
	for _, c := range sealedColumns {
		done := Sealed{Kind: c.kind}
		for after, more := "", true; more; {
			err := db.InTx(ctx, func(tx *storage.Tx) (err error) {
				after, more, err = c.rekey(ctx, tx, r, after, &done)
				return err
			})
			if err != nil {
				return nil, err
			}
			if r.Progress != nil {
				r.Progress(done)
			}
		}
		report.Kinds = append(report.Kinds, done)
	}
	err := db.InTx(ctx, func(tx *storage.Tx) (err error) {
		report.Keys, err = retire(ctx, tx, r)
		return err
	})
	return report, err
}

// retireLost retires the keys that the ring lacks, and makes its current one the
// installation's.
func retireLost(ctx context.Context, db *storage.DB, ring seal.Ring) error {
	return db.InTx(ctx, func(tx *storage.Tx) error {
		if _, err := tx.ExecContext(ctx, `update signing_keys set retired_at = now(), replaced_at = coalesce(replaced_at, now())
			where retired_at is null and fingerprint <> all($1)`, pq.Array(ring.Fingerprints())); err != nil {
			return storage.Wrap(err, "retire lost signing keys")
		}
		return makeCurrent(ctx, tx, ring.Fingerprints()[0])
	})
}

// rekey seals the next rows of a column anew, and returns the id of the last one and
// whether more may follow.
func (c sealedColumn) rekey(ctx context.Context, tx *storage.Tx, r Rekeying, after string, done *Sealed) (string, bool, error) {
	var rows []struct {
		ID     string `db:"id"`
		Sealed []byte `db:"sealed"`
	}
	err := tx.SelectContext(ctx, &rows, fmt.Sprintf(`select %s as id, %s as sealed from %s
		where %[2]s is not null and substring(%[2]s from 1 for $1) <> $2 and (%[1]s) collate "C" > $3
		order by (%[1]s) collate "C" limit $4 for update`, c.id, c.column, c.table), len(r.Ring.Mark()), r.Ring.Mark(), after, r.Batch)
	if err != nil {
		return "", false, storage.Wrap(err, "read "+c.kind)
	}
	var ids []string
	var anew [][]byte
	for _, row := range rows {
		after = row.ID
		secret, err := seal.Unseal(r.Ring, c.purpose, row.Sealed)
		if err != nil {
			done.Unreadable++
			continue
		}
		sealed, err := seal.Seal(r.Ring, c.purpose, secret)
		if err != nil {
			return "", false, err
		}
		ids, anew = append(ids, row.ID), append(anew, sealed)
	}
	_, err = tx.ExecContext(ctx, fmt.Sprintf(`update %s t set %s = n.sealed
		from unnest($1::text[], $2::bytea[]) as n(row_id, sealed)
		where %s = n.row_id`, c.table, c.column, c.id), pq.Array(ids), pq.ByteaArray(anew))
	if err != nil {
		return "", false, storage.Wrap(err, "store "+c.kind)
	}
	done.Rekeyed += len(ids)
	return after, len(rows) == r.Batch, nil
}

// retire returns the keys that are in use, and those of the ring, with the rows that need
// each, and marks those that no row needs.
func retire(ctx context.Context, tx *storage.Tx, r Rekeying) ([]KeyUse, error) {
	if _, err := tx.ExecContext(ctx, `lock table signing_keys in share row exclusive mode`); err != nil {
		return nil, storage.Wrap(err, "lock signing keys")
	}
	rows, err := rowsByKey(ctx, tx, r.Ring)
	if err != nil {
		return nil, err
	}
	known, err := Keys(ctx, tx)
	if err != nil {
		return nil, err
	}
	list := []KeyUse{}
	for i, f := range r.Ring.Fingerprints() {
		use := KeyUse{Fingerprint: f, Rows: rows[f], State: StateDroppable}
		switch {
		case i == 0:
			use.State = StateCurrent
		case use.Rows > 0:
			use.State = StateNeeded
		default:
			if _, err := tx.ExecContext(ctx,
				`update signing_keys set retired_at = now() where fingerprint = $1 and retired_at is null`, f); err != nil {
				return nil, storage.Wrap(err, "retire signing key")
			}
		}
		for _, k := range known {
			if k.Fingerprint == f && k.ReplacedAt != nil && r.LinkAge > 0 {
				until := k.ReplacedAt.Add(r.LinkAge).UTC()
				use.LinksUntil = &until
			}
		}
		list = append(list, use)
	}
	return list, nil
}

// rowsByKey counts the secrets by the fingerprint of the key of the ring that opens them,
// those of unnamed keys by trying.
func rowsByKey(ctx context.Context, q storage.Querier, ring seal.Ring) (map[string]int, error) {
	counts := map[string]int{}
	for _, c := range sealedColumns {
		if err := c.countByKey(ctx, q, ring, counts); err != nil {
			return nil, storage.Wrap(err, "count "+c.kind)
		}
	}
	return counts, nil
}

// countByKey adds the secrets of the column to the counts.
func (c sealedColumn) countByKey(ctx context.Context, q storage.Querier, ring seal.Ring, counts map[string]int) error {
	rows, err := q.QueryxContext(ctx, fmt.Sprintf(`select %s from %s where %[1]s is not null`, c.column, c.table))
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var sealed []byte
		if err := rows.Scan(&sealed); err != nil {
			return err
		}
		if ring.Current(sealed) {
			counts[ring.Fingerprints()[0]]++
		} else if f := ring.SealedBy(c.purpose, sealed); f != "" {
			counts[f]++
		}
	}
	return rows.Err()
}
