// Package idempotency remembers which requests carried an Idempotency-Key and what
// they created, so that a request that is sent twice takes effect once.
//
// A request claims its key in the transaction that creates something, as its first
// write. Whoever claims the same key meanwhile waits for the end of that
// transaction: after a commit it gets ErrSeen and reads Result, after a rollback
// the key is its own. The result is the id of what was created; it is set by Claim,
// or by SetResult later in the same transaction where the id is not known before.
//
// An entry counts for Age; Forget deletes older ones. What it means when the result itself was deleted is for each operation to
// decide: it may Release the entry and claim the key again.
package idempotency

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/slipway-qa/slipway/storage"
)

// ErrSeen reports that the key was claimed before; Result returns for what.
var ErrSeen = errors.New("the idempotency key was used before")

// Age is how long the interfaces promise to recognise a key.
const Age = 24 * time.Hour

// MaxText is the number of characters that a key may have.
const MaxText = 255

// Key is what a client sent, together with what it makes unique.
type Key struct {
	OrganizationID int64
	Operation      string // "upload", "testcase.run:ID"
	Text           string // of the header
}

func (k Key) validate() error {
	clean, err := storage.Name("Idempotency-Key", k.Text, MaxText)
	if err != nil {
		return err
	}
	if clean != k.Text {
		return storage.Invalid("Idempotency-Key", "must not begin or end with spaces")
	}
	return nil
}

// insert replaces an entry a minute before its age is reached: whoever gets ErrSeen must find
// the entry, and a reader whose clock is behind must not find what was replaced.
const insert = `
insert into idempotency_keys (organization_id, operation, key, result) values ($1, $2, $3, nullif($4, ''))
on conflict (organization_id, operation, key) do update set created_at = now(), result = excluded.result
where idempotency_keys.created_at < now() - interval '23 hours 59 minutes'`

// Claim stores a key with its result, "" when that is not known yet. ErrSeen when
// another request has the key; *storage.InvalidError when the key cannot be one.
func Claim(ctx context.Context, tx *storage.Tx, k Key, result string) error {
	if err := k.validate(); err != nil {
		return err
	}
	n, err := storage.Affected(tx.ExecContext(ctx, insert, k.OrganizationID, k.Operation, k.Text, result))
	if err != nil {
		return err
	}
	if n == 0 {
		return ErrSeen
	}
	return nil
}

// SetResult stores what the transaction that claimed the key has created.
func SetResult(ctx context.Context, tx *storage.Tx, k Key, result string) error {
	_, err := tx.ExecContext(ctx, `update idempotency_keys set result = $4
		where organization_id = $1 and operation = $2 and key = $3`, k.OrganizationID, k.Operation, k.Text, result)
	return storage.Wrap(err, "store the result of an idempotency key")
}

// Release deletes an entry that still has the result, so that the key can be
// claimed again.
func Release(ctx context.Context, tx *storage.Tx, k Key, result string) error {
	_, err := tx.ExecContext(ctx, `delete from idempotency_keys
		where organization_id = $1 and operation = $2 and key = $3 and result = $4`, k.OrganizationID, k.Operation, k.Text, result)
	return storage.Wrap(err, "release idempotency key")
}

const selectResult = `
select coalesce(result, '') from idempotency_keys
where organization_id = $1 and operation = $2 and key = $3 and created_at >= $4`

const selectRecent = `
select coalesce(result, '') from idempotency_keys
where organization_id = $1 and operation = $2 and key = $3 and created_at >= now() - make_interval(secs => $4)`

// Result returns what a request with the key created since a time;
// storage.ErrNotFound when there is none.
func Result(ctx context.Context, q storage.Querier, k Key, since time.Time) (string, error) {
	if err := k.validate(); err != nil {
		return "", err
	}
	var result string
	err := q.GetContext(ctx, &result, selectResult, k.OrganizationID, k.Operation, k.Text, since)
	return result, storage.Wrap(err, "idempotency key")
}

// Recent returns what a request with the key created within Age, by the database's
// clock, which Claim decides by too; storage.ErrNotFound when there is none.
func Recent(ctx context.Context, q storage.Querier, k Key) (string, error) {
	if err := k.validate(); err != nil {
		return "", err
	}
	var result string
	err := q.GetContext(ctx, &result, selectRecent, k.OrganizationID, k.Operation, k.Text, Age.Seconds())
	return result, storage.Wrap(err, "idempotency key")
}

// RecentID returns what Recent does, for operations whose results are UUIDs.
func RecentID(ctx context.Context, q storage.Querier, k Key) (uuid.UUID, error) {
	result, err := Recent(ctx, q, k)
	if err != nil {
		return uuid.Nil, err
	}
	id, err := uuid.Parse(result)
	if err != nil {
		return uuid.Nil, fmt.Errorf("result of an idempotency key: %w", err)
	}
	return id, nil
}

const forget = `
delete from idempotency_keys where (organization_id, operation, key) in (
	select organization_id, operation, key from idempotency_keys where created_at < $1
	order by created_at limit $2 for update skip locked)`

// Forget deletes entries that were created before a time, at most limit of them,
// and returns their number.
func Forget(ctx context.Context, q storage.Querier, before time.Time, limit int) (int64, error) {
	return storage.Affected(q.ExecContext(ctx, forget, before, limit))
}
