// Package signing has the rows that say which signing keys the installation uses, and
// seals its secrets anew when the key changes.
//
// The first process that starts with a key stores the key's fingerprint. From then on a
// process starts only with that key: one with another could open no secret, and what it
// sealed the others could not open. To change the key, each process has the new one as
// SLIPWAY_SIGNING_KEY and that of before in SLIPWAY_SIGNING_KEYS_OLD; the first of them
// adds the new fingerprint. Rekey then seals all secrets anew, and retires the keys that
// no row needs.
//
// Rekey works in short transactions, and looks for what the current key has not sealed:
// where it was killed, the next one goes on. A secret that no key of the ring opens
// stays as it is and is counted.
package signing

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/seal"
)

// MismatchError means that the process has not the keys that the installation uses.
type MismatchError struct {
	// Has is the fingerprint of the process's current key; "" without one.
	Has string
	// Lacks are the fingerprints of keys in use that the process has not; none when
	// secrets of before fingerprints were stored cannot be opened.
	Lacks []string
}

func (e *MismatchError) Error() string {
	has := "this process has none"
	if e.Has != "" {
		has = "this process has the key " + seal.ShortFingerprint(e.Has)
	}
	if len(e.Lacks) == 0 {
		return "SLIPWAY_SIGNING_KEY is not the key with which the secrets in the database were encrypted: " + has +
			", which opens none of them. Set the key that was used before"
	}
	text := ""
	for i, f := range e.Lacks {
		if i > 0 {
			text += ", "
		}
		text += seal.ShortFingerprint(f)
	}
	return "SLIPWAY_SIGNING_KEY is not the installation's: " + has + ", and the database is in use with " + text +
		" (first characters of the fingerprints). Set that key, or, to change the key, " +
		"add it to SLIPWAY_SIGNING_KEYS_OLD"
}

// Key is a row: a key by its fingerprint.
type Key struct {
	Fingerprint string     `db:"fingerprint" json:"fingerprint"`
	UsedAt      time.Time  `db:"used_at" json:"used_at"`
	ReplacedAt  *time.Time `db:"replaced_at" json:"replaced_at"`
	RetiredAt   *time.Time `db:"retired_at" json:"retired_at"`
}

// Keys returns the keys of the installation, the newest first.
func Keys(ctx context.Context, q storage.Querier) ([]Key, error) {
	list := []Key{}
	err := q.SelectContext(ctx, &list, `select fingerprint, used_at, replaced_at, retired_at from signing_keys
		order by used_at desc, fingerprint`)
	return list, storage.Wrap(err, "signing keys")
}

// Register compares the keys of a process with those of the installation, and stores the
// current one when it is new. A *MismatchError when the process lacks a key that is in use.
func Register(ctx context.Context, db *storage.DB, ring seal.Ring) error {
	known, err := Keys(ctx, db)
	if err != nil {
		return err
	}
	if done, err := settled(ring, known); done || err != nil {
		return err
	}
	return db.InTx(ctx, func(tx *storage.Tx) error {
		// One process at a time: two with different keys would both be the first.
		if _, err := tx.ExecContext(ctx, `lock table signing_keys in share row exclusive mode`); err != nil {
			return storage.Wrap(err, "lock signing keys")
		}
		known, err := Keys(ctx, tx)
		if err != nil {
			return err
		}
		if done, err := settled(ring, known); done || err != nil {
			return err
		}
		if len(known) == 0 {
			if err := checkSealed(ctx, tx, ring); err != nil {
				return err
			}
		}
		return makeCurrent(ctx, tx, ring.Fingerprints()[0])
	})
}

// settled reports whether nothing is left to store; a *MismatchError when a key is
// missing.
func settled(ring seal.Ring, known []Key) (bool, error) {
	has := ring.Fingerprints()
	e := &MismatchError{}
	if len(has) > 0 {
		e.Has = has[0]
	}
	current := false
	for _, k := range known {
		if k.RetiredAt == nil && !slices.Contains(has, k.Fingerprint) {
			e.Lacks = append(e.Lacks, k.Fingerprint)
		}
		current = current || k.Fingerprint == e.Has && k.RetiredAt == nil
	}
	if len(e.Lacks) > 0 {
		return false, e
	}
	// A key that is too short seals nothing, and would be guessed from its fingerprint.
	return current || !ring.CanSeal(), nil
}

func makeCurrent(ctx context.Context, tx *storage.Tx, fingerprint string) error {
	if _, err := tx.ExecContext(ctx, `update signing_keys set replaced_at = now() where replaced_at is null`); err != nil {
		return storage.Wrap(err, "replace signing key")
	}
	_, err := tx.ExecContext(ctx, `insert into signing_keys (fingerprint) values ($1)
		on conflict (fingerprint) do update set replaced_at = null, retired_at = null`, fingerprint)
	return storage.Wrap(err, "store fingerprint of signing key")
}

// samples of each kind are tried before the first fingerprint is stored: a single row may
// be damaged.
const samples = 5

// checkSealed refuses the first key of a database whose secrets it opens none of: they
// were sealed before fingerprints were stored.
func checkSealed(ctx context.Context, q storage.Querier, ring seal.Ring) error {
	tried := 0
	for _, c := range sealedColumns {
		var list [][]byte
		err := q.SelectContext(ctx, &list, fmt.Sprintf(`select %s from %s where %[1]s is not null limit %[3]d`, c.column, c.table, samples))
		if err != nil {
			return storage.Wrap(err, "read "+c.kind)
		}
		for _, sealed := range list {
			if ring.SealedBy(c.purpose, sealed) != "" {
				return nil
			}
			tried++
		}
	}
	if tried > 0 {
		return &MismatchError{Has: ring.Fingerprints()[0]}
	}
	return nil
}
