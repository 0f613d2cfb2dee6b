package resumable

import (
	"context"
	"errors"
	"fmt"

	"github.com/google/uuid"
	"github.com/lib/pq"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/object"
)

// PartOf returns a part of an upload; storage.ErrNotFound when it is not there.
func PartOf(ctx context.Context, q storage.Querier, id uuid.UUID, number int) (*Part, error) {
	var p Part
	err := q.GetContext(ctx, &p, `select `+partColumns+` from upload_parts where upload_id = $1 and number = $2`, id, number)
	return &p, storage.Wrap(err, "part of an upload")
}

// SumBefore returns the SHA-256 over all bytes before a part, which goes on with it; nil when
// the part before is not there, or has none.
func SumBefore(ctx context.Context, q storage.Querier, u *Upload, number int) (*object.Sum, error) {
	if number == 1 {
		return object.NewSum(), nil
	}
	m := u.Object()
	before, err := PartOf(ctx, q, u.ID, number-1)
	if errors.Is(err, storage.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if sum := before.sum(&m); sum.N() == m.Offset(number) {
		return sum, nil
	}
	return nil, nil
}

// prolong gives an upload the time that it has with its first part. It comes before the lock,
// which others share.
const prolong = `
update resumable_uploads set expires_at = created_at + make_interval(secs => $3)
where id = $1 and store_id = $2 and state = 'open' and expires_at > now() and expires_at < created_at + make_interval(secs => $3)`

// lockOpen keeps the upload as it is, and lets other parts be stored.
const lockOpen = `
select true from resumable_uploads where id = $1 and store_id = $2 and state = 'open' and expires_at > now() for share`

const insertPart = `
insert into upload_parts (upload_id, ` + partColumns + `) values ($1, $2, $3, $4, $5, $6, $7, $8) on conflict do nothing`

// Record stores a part that the object store has. Of two senders of a part the first one
// stays: ErrOtherPart when the second one's bytes are others. storage.ErrNotFound: the
// upload is not open any more, or its object was begun anew meanwhile.
func Record(ctx context.Context, tx *storage.Tx, u *Upload, p Part) error {
	if _, err := tx.ExecContext(ctx, prolong, u.ID, u.StoreID, Age.Seconds()); err != nil {
		return storage.Wrap(err, "prolong a resumable upload")
	}
	var open bool
	if err := tx.GetContext(ctx, &open, lockOpen, u.ID, u.StoreID); err != nil {
		return storage.Wrap(err, "lock a resumable upload")
	}
	n, err := storage.Affected(tx.ExecContext(ctx, insertPart, u.ID, p.Number, p.Size, p.SHA256, p.Tag, p.SumBefore, p.SumAfter, p.SumState))
	if err != nil {
		return storage.Wrap(err, "store a part of an upload")
	}
	if n > 0 {
		return nil
	}
	have, err := PartOf(ctx, tx, u.ID, p.Number)
	if err != nil {
		return err
	}
	if have.SHA256 != p.SHA256 {
		return ErrOtherPart
	}
	return nil
}

// Lose forgets parts that the object store does not have as they were recorded.
func Lose(ctx context.Context, tx *storage.Tx, u *Upload, numbers []int) error {
	if err := u.setStore(ctx, tx, u.StoreID); err != nil {
		return err
	}
	_, err := tx.ExecContext(ctx, `delete from upload_parts where upload_id = $1 and number = any($2)`, u.ID, pq.Array(numbers))
	return storage.Wrap(err, "forget parts of an upload")
}

// Restart forgets all parts of an upload whose object the store has begun anew, by another
// id. storage.ErrNotFound when somebody else did so before.
func Restart(ctx context.Context, tx *storage.Tx, u *Upload, storeID string) error {
	if err := u.setStore(ctx, tx, storeID); err != nil {
		return err
	}
	_, err := tx.ExecContext(ctx, `delete from upload_parts where upload_id = $1`, u.ID)
	return storage.Wrap(err, "forget the parts of an upload")
}

// setStore locks the row of an upload that is open, and stores by which id the object store
// knows it.
func (u *Upload) setStore(ctx context.Context, tx *storage.Tx, storeID string) error {
	n, err := storage.Affected(tx.ExecContext(ctx, `update resumable_uploads set store_id = $3
		where id = $1 and store_id = $2 and state = 'open'`, u.ID, u.StoreID, storeID))
	if err != nil {
		return storage.Wrap(err, "lock a resumable upload")
	}
	if n == 0 {
		return fmt.Errorf("resumable upload: %w", storage.ErrNotFound)
	}
	return nil
}

const finish = `
update resumable_uploads set state = 'complete', sha256 = $3 where id = $1 and store_id = $2 and state = 'open'`

// Finish stores that the parts were joined, and the SHA-256 of the whole. False when the
// upload is not open any more.
func Finish(ctx context.Context, q storage.Querier, u *Upload, sha256 string) (bool, error) {
	n, err := storage.Affected(q.ExecContext(ctx, finish, u.ID, u.StoreID, sha256))
	return n > 0, storage.Wrap(err, "complete a resumable upload")
}

// Use takes the file of a complete upload for what the transaction stores; ErrNotComplete
// when somebody else did. It comes before what is stored, so that of two requests the
// second one waits here.
func Use(ctx context.Context, tx *storage.Tx, id uuid.UUID) error {
	n, err := storage.Affected(tx.ExecContext(ctx, `update resumable_uploads set state = 'used' where id = $1 and state = 'complete'`, id))
	if err != nil {
		return storage.Wrap(err, "use a resumable upload")
	}
	if n == 0 {
		return ErrNotComplete
	}
	return nil
}

// Result is what took the file of an upload; 0: nothing of that kind.
type Result struct{ BuildID, SymbolID int64 }

// SetResult stores what took the file, in the transaction of Use.
func SetResult(ctx context.Context, tx *storage.Tx, id uuid.UUID, r Result) error {
	if r == (Result{}) {
		return errors.New("an upload is used for a build or for symbols")
	}
	_, err := tx.ExecContext(ctx,
		`update resumable_uploads set build_id = nullif($2::bigint, 0), symbol_id = nullif($3::bigint, 0) where id = $1`,
		id, r.BuildID, r.SymbolID)
	return storage.Wrap(err, "store what used an upload")
}
