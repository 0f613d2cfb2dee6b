package distribution

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/idempotency"
)

func uploadKey(organizationID int64, text string) idempotency.Key {
	return idempotency.Key{OrganizationID: organizationID, Operation: "upload", Text: text}
}

// claimKey is the first write of an upload; idempotency.ErrSeen when the key stands
// for a build. The entry of a build that was deleted since is claimed again.
func claimKey(ctx context.Context, tx *storage.Tx, k idempotency.Key) error {
	if k.Text == "" {
		return nil
	}
	err := idempotency.Claim(ctx, tx, k, "")
	if !errors.Is(err, idempotency.ErrSeen) {
		return err
	}
	result, err := idempotency.Result(ctx, tx, k, time.Time{})
	if err != nil {
		return err
	}
	var exists bool
	err = tx.GetContext(ctx, &exists, `select exists (select from builds b join projects p on p.id = b.project_id
		where b.id = $1 and b.deleted_at is null and p.deleted_at is null)`, result)
	if err != nil {
		return storage.Wrap(err, "look for the build of an idempotency key")
	}
	if exists {
		return idempotency.ErrSeen
	}
	if err := idempotency.Release(ctx, tx, k, result); err != nil {
		return err
	}
	return idempotency.Claim(ctx, tx, k, "")
}

// setKeyResult stores the build that the upload has created.
func setKeyResult(ctx context.Context, tx *storage.Tx, k idempotency.Key, buildID int64) error {
	if k.Text == "" {
		return nil
	}
	return idempotency.SetResult(ctx, tx, k, strconv.FormatInt(buildID, 10))
}

const buildOfKey = `
select ` + BuildColumns + `
from builds b` + BuildTables + `
where b.organization_id = $1 and b.id = $2 and b.deleted_at is null`

// SeenUpload returns the build that an upload with the same Idempotency-Key created
// since a time; storage.ErrNotFound when there is none.
func SeenUpload(ctx context.Context, q storage.Querier, organizationID int64, key string, since time.Time) (*Build, error) {
	result, err := idempotency.Result(ctx, q, uploadKey(organizationID, key), since)
	if err != nil {
		return nil, err
	}
	list, err := ReadBuilds(ctx, q, buildOfKey, organizationID, result)
	if err != nil {
		return nil, err
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("build of an idempotency key: %w", storage.ErrNotFound)
	}
	return &list[0], nil
}
