package run

import (
	"context"
	"fmt"
	"time"

	"github.com/slipway-qa/slipway/storage/authoring"

	"github.com/google/uuid"

	"github.com/slipway-qa/slipway/storage"
)

// RunOperation and SuiteRunOperation name what an Idempotency-Key is for.
func RunOperation(caseID string) string          { return "testcase.run:" + caseID }
func SuiteRunOperation(suiteID uuid.UUID) string { return "testsuite.run:" + suiteID.String() }

// An entry that is old stands for nothing any more. It is a minute younger than
// what readers accept: whoever is told ErrSeen must find the entry. Another
// transaction's entry is waited for.
const insertKey = `
insert into idempotency_keys (organization_id, operation, key, result) values ($1, $2, $3, $4)
on conflict (organization_id, operation, key) do update set created_at = now(), result = excluded.result
where idempotency_keys.created_at < now() - interval '23 hours 59 minutes'
returning 1`

// claimKey is the first write of what a key makes once; ErrSeen when it is taken.
func claimKey(ctx context.Context, tx *storage.Tx, organizationID int64, operation, key string, result uuid.UUID) error {
	if key == "" {
		return nil
	}
	if err := checkKey(key); err != nil {
		return err
	}
	var claimed []int
	if err := tx.SelectContext(ctx, &claimed, insertKey, organizationID, operation, key, result.String()); err != nil {
		return storage.Wrap(err, "claim idempotency key")
	}
	if len(claimed) == 0 {
		return authoring.ErrSeen
	}
	return nil
}

const maxKey = 255

func checkKey(key string) error {
	clean, err := storage.Line("Idempotency-Key", key, maxKey)
	if err == nil && (clean != key || clean == "") {
		err = storage.Invalid("Idempotency-Key", "must not be empty, nor begin or end with spaces")
	}
	return err
}

const seenKey = `
select result from idempotency_keys
where organization_id = $1 and operation = $2 and key = $3 and created_at >= now() - interval '24 hours'`

// SeenKey gives the id that a request with the key made within the last 24 hours;
// ErrNotFound when there is none. The operation is RunOperation or
// SuiteRunOperation.
func SeenKey(ctx context.Context, q storage.Querier, organizationID int64, operation, key string) (uuid.UUID, error) {
	if err := checkKey(key); err != nil {
		return uuid.Nil, err
	}
	var result string
	if err := q.GetContext(ctx, &result, seenKey, organizationID, operation, key); err != nil {
		return uuid.Nil, storage.Wrap(err, "idempotency key")
	}
	id, err := uuid.Parse(result)
	if err != nil {
		return uuid.Nil, fmt.Errorf("result of an idempotency key: %w", err)
	}
	return id, nil
}

const forgetKeys = `
delete from idempotency_keys where (organization_id, operation, key) in (
	select organization_id, operation, key from idempotency_keys where created_at < $1
	order by created_at limit $2 for update skip locked)`

// ForgetKeys deletes idempotency keys made before, at most limit of them.
func ForgetKeys(ctx context.Context, q storage.Querier, before time.Time, limit int) (int64, error) {
	return storage.Affected(q.ExecContext(ctx, forgetKeys, before, limit))
}
