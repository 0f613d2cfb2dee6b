package received

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/lib/pq"

	"github.com/slipway-qa/slipway/storage"
)

// ErrTooManyAttachments refuses attachments beyond the bound of a crash.
var ErrTooManyAttachments = errors.New("the crash has as many attachments as it may have")

// Attachment is a file of a crash. ObjectKey names its bytes in the object store.
type Attachment struct {
	ID             uuid.UUID `db:"id"`
	OrganizationID int64     `db:"organization_id"`
	CrashID        uuid.UUID `db:"crash_id"`
	Name           string    `db:"name"`
	ContentType    string    `db:"content_type"`
	Size           int64     `db:"size"`
	ObjectKey      string    `db:"object_key"`
	CreatedAt      time.Time `db:"created_at"`
}

// selectEntry reads the entry of a crash, which names its project from the commit that
// accepted it on: a pending crash has no other row. An index beyond the array is null.
const selectEntry = `
select entries -> $3::int from crash_batches where id = $1 and organization_id = $2`

// Owns returns nil when the crash belongs to the project of the organization,
// pending or not, and ErrNotFound when it does not or was purged.
func (s *Store) Owns(ctx context.Context, organization, project int64, crash uuid.UUID) error {
	return owns(ctx, s.db, selectEntry, organization, project, crash)
}

// Has returns nil when the organization has the crash, pending or not, and ErrNotFound when it
// does not or was purged.
func (s *Store) Has(ctx context.Context, organization int64, crash uuid.UUID) error {
	return owns(ctx, s.db, selectEntry, organization, anyProject, crash)
}

// anyProject is no project's id: owns takes all of them for it.
const anyProject = 0

func owns(ctx context.Context, q storage.Querier, query string, organization, project int64, crash uuid.UUID) error {
	batch, n := SplitID(crash)
	var raw []byte
	if err := q.GetContext(ctx, &raw, query, batch, organization, n); err != nil {
		return storage.Wrap(err, "entry of crash "+crash.String())
	}
	if raw == nil {
		return fmt.Errorf("entry of crash %s: %w", crash, storage.ErrNotFound)
	}
	var e Entry
	if err := json.Unmarshal(raw, &e); err != nil {
		return fmt.Errorf("entry of crash %s: %w", crash, err)
	}
	if e.Deleted || project != anyProject && e.ProjectID != project {
		return fmt.Errorf("entry of crash %s: %w", crash, storage.ErrNotFound)
	}
	return nil
}

// LockEntry is Owns in a transaction: until it ends nobody rewrites or deletes the batch of the crash.
func LockEntry(ctx context.Context, tx *storage.Tx, organization, project int64, crash uuid.UUID) error {
	return owns(ctx, tx, selectEntry+" for no key update", organization, project, crash)
}

// AddAttachments adds files to a crash that was accepted before, all or none,
// so that it has at most most of them (ErrTooManyAttachments). ErrNotFound: see
// Owns. The row of the batch is locked meanwhile: neither a purge nor another
// late file comes in between.
func (s *Store) AddAttachments(ctx context.Context, organization, project int64, crash uuid.UUID, files []Attachment, most int) error {
	return s.db.InTx(ctx, func(tx *storage.Tx) error {
		if err := LockEntry(ctx, tx, organization, project, crash); err != nil {
			return err
		}
		var have int
		if err := tx.GetContext(ctx, &have, `select count(*) from crash_attachments where crash_id = $1`, crash); err != nil {
			return storage.Wrap(err, "count crash attachments")
		}
		if have+len(files) > most {
			return ErrTooManyAttachments
		}
		list := slices.Clone(files)
		for i := range list {
			list[i].CrashID, list[i].OrganizationID = crash, organization
		}
		return insertAttachments(ctx, tx, list)
	})
}

// AttachmentPrefix begins the object key of every attachment.
const AttachmentPrefix = "attachments/"

const attachmentColumns = `id, organization_id, crash_id, name, content_type, size, object_key, created_at`

// Attachments lists the files of a crash of the organization, oldest first.
func Attachments(ctx context.Context, q storage.Querier, organization int64, crashID uuid.UUID) ([]Attachment, error) {
	list := []Attachment{}
	err := q.SelectContext(ctx, &list, `select `+attachmentColumns+` from crash_attachments
		where crash_id = $1 and organization_id = $2 order by created_at, id`, crashID, organization)
	return list, storage.Wrap(err, "attachments of crash "+crashID.String())
}

// AttachmentsOf lists the files of crashes of the organization whose names have a prefix,
// oldest first, by the crash.
func AttachmentsOf(ctx context.Context, q storage.Querier, organization int64, crashes []uuid.UUID,
	prefix string) (map[uuid.UUID][]Attachment, error) {
	var list []Attachment
	err := q.SelectContext(ctx, &list, `select `+attachmentColumns+` from crash_attachments
		where crash_id = any($1::uuid[]) and organization_id = $2 and starts_with(name, $3) order by created_at, id`,
		storage.UUIDs(crashes), organization, prefix)
	if err != nil {
		return nil, storage.Wrap(err, "attachments of crashes")
	}
	of := make(map[uuid.UUID][]Attachment, len(list))
	for _, a := range list {
		of[a.CrashID] = append(of[a.CrashID], a)
	}
	return of, nil
}

// AttachmentByID reads one file's row.
func AttachmentByID(ctx context.Context, q storage.Querier, organization int64, crashID, id uuid.UUID) (*Attachment, error) {
	var a Attachment
	err := q.GetContext(ctx, &a, `select `+attachmentColumns+` from crash_attachments
		where id = $1 and crash_id = $2 and organization_id = $3`, id, crashID, organization)
	if err != nil {
		return nil, storage.Wrap(err, "attachment "+id.String())
	}
	return &a, nil
}

const insertFiles = `
insert into crash_attachments (id, organization_id, crash_id, name, content_type, size, object_key)
select id, organization_id, crash_id, name, content_type, size, object_key
from unnest($1::uuid[], $2::bigint[], $3::uuid[], $4::text[], $5::text[], $6::bigint[], $7::text[]) with ordinality
	as new(id, organization_id, crash_id, name, content_type, size, object_key, n) order by n`

func insertAttachments(ctx context.Context, q storage.Querier, files []Attachment) error {
	if len(files) == 0 {
		return nil
	}
	n := len(files)
	ids, crashes, names, types, keys := make([]string, n), make([]string, n), make([]string, n), make([]string, n), make([]string, n)
	organizations, sizes := make([]int64, n), make([]int64, n)
	for i, f := range files {
		ids[i], crashes[i], names[i], types[i], keys[i] = f.ID.String(), f.CrashID.String(), f.Name, f.ContentType, f.ObjectKey
		organizations[i], sizes[i] = f.OrganizationID, f.Size
	}
	_, err := q.ExecContext(ctx, insertFiles, pq.Array(ids), pq.Array(organizations), pq.Array(crashes), pq.Array(names),
		pq.Array(types), pq.Array(sizes), pq.Array(keys))
	return storage.Wrap(err, "insert crash attachments")
}

// UnnamedObjects returns those of the object keys that no attachment names.
func UnnamedObjects(ctx context.Context, q storage.Querier, keys []string) ([]string, error) {
	var unnamed []string
	err := q.SelectContext(ctx, &unnamed, `
		select key from unnest($1::text[]) as o(key)
		where not exists (select from crash_attachments a where a.object_key = o.key)`, pq.Array(keys))
	return unnamed, storage.Wrap(err, "compare objects with attachments")
}
