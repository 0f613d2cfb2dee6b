// Package resumable stores uploads of files that come in parts, so that an upload goes on
// after a lost connection, or in another process of its sender.
//
// An upload is open while parts come. Then the parts are joined (Complete), and a build or
// symbols take the file (Use); the transaction that stores these marks the upload as used,
// so that the file is taken once. The row of a used upload stays until its end, to answer a
// request that is sent again. An upload ends a day after it began, and an hour after when no
// part has come by then: Expire deletes the rows,
// and returns what of them is stored. Until then their bytes count against the quota of
// stored bytes, all of them from the beginning (triggers of migration 00136).
//
// Parts come in any order. The SHA-256 over the whole goes along with parts that come in
// order: each is recorded with the sum before and after it, and what these agree on need not
// be read again (Upload.Sum). The rest is read when the parts are joined.
//
// An upload is its user's: nobody else finds it, whose ids and keys could be guessed. Rows
// are written by one statement each, or after a lock of the upload's row.
package resumable

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/distribution/storedfile"
	"github.com/slipway-qa/slipway/storage/object"
)

// State of an upload.
type State string

// The states.
const (
	Open     State = "open"
	Complete State = "complete" // the file is there, and nothing has taken it
	Used     State = "used"
)

const (
	// Age is how long an upload has until it ends, once a part of it has come.
	Age = 24 * time.Hour
	// FirstAge is how long it has until the first part: what nobody sends takes the place of
	// others no longer.
	FirstAge = time.Hour
)

// Errors that a caller decides on.
var (
	// ErrOtherFile means that the idempotency key stands for an upload of another file.
	ErrOtherFile = errors.New("the idempotency key stands for an upload of another file")
	// ErrNotComplete means that the upload is not complete, or was used by somebody else meanwhile.
	ErrNotComplete = errors.New("the upload is not complete")
	// ErrOtherPart means that the part is there, with other bytes.
	ErrOtherPart = errors.New("the part is there with other bytes")
)

// TooManyError means that the organization, or the user alone, has as much unfinished as it may have.
type TooManyError struct {
	User bool      // alone
	Ends time.Time // when the first of these ends, if nobody completes it before
}

func (e *TooManyError) Error() string { return "too many unfinished uploads" }

// Owner is who an upload belongs to.
type Owner struct {
	OrganizationID int64
	UserID         int64
}

// Upload is a file that comes in parts.
type Upload struct {
	ID             uuid.UUID `db:"id"`
	OrganizationID int64     `db:"organization_id"`
	UserID         int64     `db:"user_id"`
	FileName       string    `db:"file_name"`
	Size           int64     `db:"size"`      // bytes
	PartSize       int64     `db:"part_size"` // of all parts but the last
	GivenSHA256    string    `db:"given_sha256"`
	State          State     `db:"state"`
	StoreID        string    `db:"store_id"`
	SHA256         string    `db:"sha256"` // "" while open
	BuildID        *int64    `db:"build_id"`
	SymbolID       *int64    `db:"symbol_id"`
	CreatedAt      time.Time `db:"created_at"`
	ExpiresAt      time.Time `db:"expires_at"`

	Parts []Part `db:"-"` // by number; not of all functions
}

// Part is a part that is there.
type Part struct {
	Number int    `db:"number"`
	Size   int64  `db:"size"`
	SHA256 string `db:"sha256"`
	Tag    string `db:"tag"`
	// SumBefore and SumAfter are the SHA-256 over all bytes before the part, and with it;
	// "" where the bytes before were not known. SumState is the state of the latter.
	SumBefore string `db:"sum_before"`
	SumAfter  string `db:"sum_after"`
	SumState  []byte `db:"sum_state"`
}

const partColumns = `number, size, sha256, tag, sum_before, sum_after, sum_state`

// Key is the key of the object that the parts become.
func Key(id uuid.UUID) string { return storedfile.Prefix + id.String() }

// Object is the upload as the object store has it.
func (u *Upload) Object() object.Multipart {
	return object.Multipart{Key: Key(u.ID), ID: u.StoreID, Size: u.Size, PartSize: u.PartSize}
}

// Sum is the SHA-256 over the first bytes, as far as the parts have it: each one must go on
// where the recorded part before it has ended.
func (u *Upload) Sum() *object.Sum {
	sum, m := object.NewSum(), u.Object()
	after, last := sum.Hex(), -1
	for i, p := range u.Parts {
		if p.Number != i+1 || p.SumBefore != after {
			break
		}
		after, last = p.SumAfter, i
	}
	if last < 0 {
		return sum
	}
	return u.Parts[last].sum(&m)
}

// sum is the SHA-256 with the part at its end.
func (p *Part) sum(m *object.Multipart) *object.Sum {
	return object.ResumeSum(p.SumState, m.Offset(p.Number)+p.Size)
}

// Missing are the numbers of the parts that are not there.
func (u *Upload) Missing() []int {
	have := map[int]bool{}
	for _, p := range u.Parts {
		have[p.Number] = true
	}
	missing, m := []int{}, u.Object()
	for n := 1; n <= m.Count(); n++ {
		if !have[n] {
			missing = append(missing, n)
		}
	}
	return missing
}

const columns = `id, organization_id, user_id, file_name, size, part_size, given_sha256, state, store_id, sha256,
	build_id, symbol_id, created_at, expires_at`

const byID = `select ` + columns + ` from resumable_uploads
where organization_id = $1 and user_id = $2 and id = $3 and expires_at > now()`

// Get returns an upload of its owner, with its parts; storage.ErrNotFound also for one whose
// time is over.
func Get(ctx context.Context, q storage.Querier, o Owner, id uuid.UUID) (*Upload, error) {
	u, err := Head(ctx, q, o, id)
	if err != nil {
		return nil, err
	}
	return u, u.readParts(ctx, q)
}

// Head is Get without the parts.
func Head(ctx context.Context, q storage.Querier, o Owner, id uuid.UUID) (*Upload, error) {
	var u Upload
	if err := q.GetContext(ctx, &u, byID, o.OrganizationID, o.UserID, id); err != nil {
		return nil, storage.Wrap(err, "resumable upload")
	}
	return &u, nil
}

func (u *Upload) readParts(ctx context.Context, q storage.Querier) error {
	u.Parts = []Part{}
	err := q.SelectContext(ctx, &u.Parts, `select `+partColumns+` from upload_parts where upload_id = $1 order by number`, u.ID)
	return storage.Wrap(err, "parts of an upload")
}

const byKey = `select ` + columns + ` from resumable_uploads
where organization_id = $1 and user_id = $2 and idempotency_key = $3 and expires_at > now()`

// ByKey returns the upload of an idempotency key, with its parts; storage.ErrNotFound when
// there is none, ErrOtherFile when it is one of another file than n.
func ByKey(ctx context.Context, q storage.Querier, n New) (*Upload, error) {
	if n.IdempotencyKey == "" {
		return nil, fmt.Errorf("resumable upload without a key: %w", storage.ErrNotFound)
	}
	var u Upload
	if err := q.GetContext(ctx, &u, byKey, n.Owner.OrganizationID, n.Owner.UserID, n.IdempotencyKey); err != nil {
		return nil, storage.Wrap(err, "resumable upload of a key")
	}
	otherSum := n.SHA256 != "" && u.GivenSHA256 != "" && n.SHA256 != u.GivenSHA256
	if u.Size != n.Size || u.FileName != n.FileName || otherSum {
		return nil, ErrOtherFile
	}
	return &u, u.readParts(ctx, q)
}

// New is an upload to begin; the store has begun its object.
type New struct {
	ID             uuid.UUID
	Owner          Owner
	IdempotencyKey string // "" without
	FileName       string
	Size           int64
	PartSize       int64
	SHA256         string // as the sender says, "" without
	StoreID        string
}

// Bounds are what an organization may have unfinished. Each of its users may have a third of
// it, so that the killed jobs of one do not keep all others out.
type Bounds struct {
	Uploads int
	Bytes   int64
}

// pending is what is unfinished.
type pending struct {
	Uploads int          `db:"uploads"`
	Bytes   int64        `db:"bytes"`
	Ends    sql.NullTime `db:"ends"`
}

// beside reports whether another upload has room.
func (p *pending) beside(size int64, uploads int, bytes int64) bool {
	return p.Uploads < uploads && (p.Bytes+size <= bytes || p.Uploads == 0)
}

const lockOrganization = `select pg_advisory_xact_lock(hashtextextended('resumable uploads ' || $1::bigint::text, 0))`

const unfinished = `
select count(*) as uploads, coalesce(sum(size), 0)::bigint as bytes, min(expires_at) as ends
from resumable_uploads where organization_id = $1 and ($2::bigint = 0 or user_id = $2) and state <> 'used' and expires_at > now()`

// releaseKey takes the key from an upload whose time is over, which keeps its row until the
// maintenance comes.
const releaseKey = `
update resumable_uploads set idempotency_key = null
where organization_id = $1 and user_id = $2 and idempotency_key = $3 and expires_at <= now()`

const insert = `
insert into resumable_uploads (id, organization_id, user_id, idempotency_key, file_name, size, part_size, given_sha256,
	store_id, expires_at)
values ($1, $2, $3, nullif($4, ''), $5, $6, $7, $8, $9, now() + make_interval(secs => $10)) returning ` + columns

// Begin stores an upload. When another request with the key was quicker, it returns the
// upload of that one, and created is false. Those of one organization begin one after
// another.
func Begin(ctx context.Context, tx *storage.Tx, n New, b Bounds) (u *Upload, created bool, err error) {
	if _, err := tx.ExecContext(ctx, lockOrganization, n.Owner.OrganizationID); err != nil {
		return nil, false, storage.Wrap(err, "lock the uploads of an organization")
	}
	if n.IdempotencyKey != "" {
		u, err := ByKey(ctx, tx, n)
		if !errors.Is(err, storage.ErrNotFound) {
			return u, false, err
		}
		if _, err := tx.ExecContext(ctx, releaseKey, n.Owner.OrganizationID, n.Owner.UserID, n.IdempotencyKey); err != nil {
			return nil, false, storage.Wrap(err, "release the key of an upload")
		}
	}
	var all, own pending
	if err := tx.GetContext(ctx, &all, unfinished, n.Owner.OrganizationID, 0); err != nil {
		return nil, false, storage.Wrap(err, "count unfinished uploads")
	}
	if !all.beside(n.Size, b.Uploads, b.Bytes) {
		return nil, false, &TooManyError{Ends: all.Ends.Time}
	}
	if err := tx.GetContext(ctx, &own, unfinished, n.Owner.OrganizationID, n.Owner.UserID); err != nil {
		return nil, false, storage.Wrap(err, "count the unfinished uploads of a user")
	}
	if !own.beside(n.Size, (b.Uploads+2)/3, b.Bytes/3) {
		return nil, false, &TooManyError{User: true, Ends: own.Ends.Time}
	}
	u = &Upload{Parts: []Part{}}
	err = tx.GetContext(ctx, u, insert, n.ID, n.Owner.OrganizationID, n.Owner.UserID, n.IdempotencyKey, n.FileName, n.Size, n.PartSize,
		n.SHA256, n.StoreID, FirstAge.Seconds())
	return u, true, storage.Wrap(err, "begin a resumable upload")
}

// Release takes the idempotency key from an upload: what had taken its file is gone, and the
// file can be uploaded again.
func Release(ctx context.Context, q storage.Querier, id uuid.UUID) error {
	_, err := q.ExecContext(ctx, `update resumable_uploads set idempotency_key = null where id = $1`, id)
	return storage.Wrap(err, "release the key of an upload")
}

// Remove deletes what the object store has of an upload that nothing used, after its row.
func (u *Upload) Remove(ctx context.Context, objects object.Store) error {
	if u.State == Used {
		return nil
	}
	// It may be joined, and its row not have said so.
	return errors.Join(objects.AbortParts(ctx, u.Object()), objects.Delete(ctx, Key(u.ID)))
}

const remove = `
delete from resumable_uploads where organization_id = $1 and user_id = $2 and id = $3 and expires_at > now() returning ` + columns

// Delete deletes an upload of its owner, and returns it: unless it was used, its bytes are
// the caller's to delete.
func Delete(ctx context.Context, q storage.Querier, o Owner, id uuid.UUID) (*Upload, error) {
	var u Upload
	if err := q.GetContext(ctx, &u, remove, o.OrganizationID, o.UserID, id); err != nil {
		return nil, storage.Wrap(err, "delete a resumable upload")
	}
	return &u, nil
}

// expire skips an upload whose file somebody takes at this moment: its row is locked.
const expire = `
delete from resumable_uploads where id in (
	select id from resumable_uploads where expires_at <= now() order by expires_at limit $1 for update skip locked)
returning ` + columns

// Expire deletes uploads whose time is over, at most limit of them, and returns them: the
// bytes of those that were not used are the caller's to delete.
func Expire(ctx context.Context, q storage.Querier, limit int) ([]Upload, error) {
	var list []Upload
	err := q.SelectContext(ctx, &list, expire, limit)
	return list, storage.Wrap(err, "end resumable uploads")
}

// Unnamed returns those of the keys that are no object of an upload, in their order; for the
// sweep of objects.
func Unnamed(ctx context.Context, q storage.Querier, keys []string) ([]string, error) {
	ids := []uuid.UUID{}
	for _, key := range keys {
		if id, err := uuid.Parse(strings.TrimPrefix(key, storedfile.Prefix)); err == nil {
			ids = append(ids, id)
		}
	}
	var named []uuid.UUID
	err := q.SelectContext(ctx, &named, `select id from resumable_uploads where id = any($1::uuid[]) and state <> 'used'`, storage.UUIDs(ids))
	if err != nil {
		return nil, storage.Wrap(err, "look for uploads of objects")
	}
	of := map[string]bool{}
	for _, id := range named {
		of[Key(id)] = true
	}
	unnamed := []string{}
	for _, key := range keys {
		if !of[key] {
			unnamed = append(unnamed, key)
		}
	}
	return unnamed, nil
}
