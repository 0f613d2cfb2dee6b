package distribution

import (
	"context"
	"fmt"
	"time"

	"github.com/slipway-qa/slipway/storage"
)

// An entry that is old, or whose build was deleted, stands for nothing any more.
// A minute less than the 24 hours that readers look back: a reader whose clock is
// behind must not find what this replaces. Another transaction's entry is waited
// for.
const insertKey = `
insert into idempotency_keys (organization_id, operation, key) values ($1, 'upload', $2)
on conflict (organization_id, operation, key) do update set created_at = now(), result = null
where idempotency_keys.created_at < now() - interval '23 hours 59 minutes'
	or not exists (select from builds b join projects p on p.id = b.project_id
		where b.id = idempotency_keys.result::bigint and b.deleted_at is null and p.deleted_at is null)
returning 1`

// claimKey is the first write of an upload; ErrSeen when the key is taken.
func claimKey(ctx context.Context, tx *storage.Tx, organizationID int64, key string) error {
	if key == "" {
		return nil
	}
	if err := checkKey(key); err != nil {
		return err
	}
	var claimed []int
	if err := tx.SelectContext(ctx, &claimed, insertKey, organizationID, key); err != nil {
		return storage.Wrap(err, "claim idempotency key")
	}
	if len(claimed) == 0 {
		return ErrSeen
	}
	return nil
}

func checkKey(key string) error {
	clean, err := storage.Name("Idempotency-Key", key, maxLine)
	if err == nil && clean != key {
		err = storage.Invalid("Idempotency-Key", "must not begin or end with spaces")
	}
	return err
}

func fulfilKey(ctx context.Context, tx *storage.Tx, organizationID int64, key string, buildID int64) error {
	if key == "" {
		return nil
	}
	_, err := tx.ExecContext(ctx, `update idempotency_keys set result = $3::bigint::text
		where organization_id = $1 and operation = 'upload' and key = $2`, organizationID, key, buildID)
	return storage.Wrap(err, "keep idempotency key")
}

const seenUpload = `
select ` + buildColumns + `
from idempotency_keys k join builds b on b.id = k.result::bigint` + buildTables + `
where k.organization_id = $1 and k.operation = 'upload' and k.key = $2 and k.created_at >= $3 and b.deleted_at is null`

// SeenUpload gives the build that an upload with the same Idempotency-Key made
// since; storage.ErrNotFound when there is none.
func SeenUpload(ctx context.Context, q storage.Querier, organizationID int64, key string, since time.Time) (*Build, error) {
	if err := checkKey(key); err != nil {
		return nil, err
	}
	list, err := readBuilds(ctx, q, seenUpload, organizationID, key, since)
	if err != nil {
		return nil, err
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("upload with idempotency key: %w", storage.ErrNotFound)
	}
	return &list[0], nil
}

const forgetKeys = `
delete from idempotency_keys where (organization_id, operation, key) in (
	select organization_id, operation, key from idempotency_keys where created_at < $1
	order by created_at limit $2 for update skip locked)`

// ForgetIdempotencyKeys deletes keys made before, at most limit of them.
func ForgetIdempotencyKeys(ctx context.Context, q storage.Querier, before time.Time, limit int) (int64, error) {
	return storage.Affected(q.ExecContext(ctx, forgetKeys, before, limit))
}
