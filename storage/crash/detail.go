package crash

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/google/uuid"
	"github.com/lib/pq"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/report"
)

// Detail is one crash with everything that is kept of it.
type Detail struct {
	Row
	Document    []byte          // the stored report; nil when its batch is gone
	Explanation json.RawMessage // of the key; nil when there is none
	// Symbols are what symbols made of it; nil: nothing was looked up.
	Symbols     *Symbolication
	Attachments []Attachment
	// Sent is when the client sent it, as Entry has it.
	Sent int64
}

func isNotFound(err error) bool { return errors.Is(err, storage.ErrNotFound) }

// CrashByID reads a crash of the organization. A report that was accepted and
// not processed yet is there as Pending, with the facts that its document shows.
func (s *Store) CrashByID(ctx context.Context, organization int64, id uuid.UUID) (*Detail, error) {
	d := &Detail{}
	err := s.db.GetContext(ctx, &d.Row, `select `+rowColumns+`, c.attributes`+rowTables+`
		where c.id = $1 and c.organization_id = $2`, id, organization)
	pending := false
	switch err = storage.Wrap(err, "crash "+id.String()); {
	case isNotFound(err):
		pending = true
	case err != nil:
		return nil, err
	}
	b, entry, err := s.entry(ctx, organization, id)
	switch {
	case err == nil:
		d.Sent = b.Entries[entry].Sent
		// A recorded crash is shown even if its bytes cannot be read any more.
		if d.Document, err = b.Document(entry); err != nil && (pending || b.Err == nil) {
			return nil, err
		}
	case pending || !isNotFound(err):
		return nil, err
	}
	if pending {
		d.Row = pendingRow(b, entry)
		if err := s.db.GetContext(ctx, &d.ProjectName, `select coalesce(max(name), '') from crash_projects where id = $1`,
			d.ProjectID); err != nil {
			return nil, storage.Wrap(err, "project of crash "+id.String())
		}
	} else if err := explain(ctx, s, organization, d); err != nil {
		return nil, err
	}
	d.Attachments, err = Attachments(ctx, s.db, organization, id)
	return d, err
}

// explain reads what symbols made of a crash, and why it got its key.
func explain(ctx context.Context, s *Store, organization int64, d *Detail) error {
	symbols, err := s.Symbolications(ctx, organization, []uuid.UUID{d.ID})
	if err != nil {
		return err
	}
	if d.Symbols = symbols[d.ID]; d.Symbols != nil {
		d.Row.Symbols = &d.Symbols.State
	}
	if d.Symbols != nil && d.Symbols.Explanation != nil {
		d.Explanation = d.Symbols.Explanation
		return nil
	}
	if d.Explanation, err = s.Explanation(ctx, d.ID); err != nil && !isNotFound(err) {
		return err
	}
	return nil
}

// Document reads the stored bytes of a crash of the organization, processed or
// not.
func (s *Store) Document(ctx context.Context, organization int64, id uuid.UUID) ([]byte, error) {
	b, entry, err := s.entry(ctx, organization, id)
	if err != nil {
		return nil, err
	}
	return b.Document(entry)
}

// entry finds the batch of a crash.
func (s *Store) entry(ctx context.Context, organization int64, id uuid.UUID) (*Batch, int, error) {
	batch, entry := SplitID(id)
	batches, err := s.Batches(ctx, []uuid.UUID{batch})
	if err != nil {
		return nil, 0, err
	}
	if len(batches) == 0 || batches[0].OrganizationID != organization ||
		entry >= len(batches[0].Entries) || batches[0].Entries[entry].Deleted {
		return nil, 0, fmt.Errorf("crash %s: %w", id, storage.ErrNotFound)
	}
	return batches[0], entry, nil
}

// pendingRow shows what is known before the worker has applied its rules: the
// time of the crash, version and host are not.
func pendingRow(b *Batch, entry int) Row {
	e := &b.Entries[entry]
	r := Row{ID: EntryID(b.ID, entry), ProjectID: e.ProjectID, ConflictOf: e.ConflictOf, State: Pending, Severity: SevereCrash,
		Format: e.Format, ReceivedAt: b.ReceivedAt, Duplicates: 1, Attributes: json.RawMessage("{}")}
	if r.Format == "" {
		r.Format = "json"
	}
	doc, err := b.Document(entry)
	if err != nil {
		return r
	}
	p, err := report.Parse(doc)
	if err != nil {
		return r // the worker will record why
	}
	r.UUID, r.Lang, r.Agent = p.UUID, p.Lang, p.Agent
	r.Message = p.Attribute("error.message")
	if len(p.Classifiers) > 0 {
		r.Classifier = p.Classifiers[0]
	}
	attributes := make(map[string]any, len(p.Attributes))
	for _, a := range p.Attributes {
		attributes[a.Key] = a.Value
	}
	if doc, err := json.Marshal(attributes); err == nil {
		r.Attributes = doc
	}
	return r
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
func AttachmentsOf(ctx context.Context, q storage.Querier, organization int64, crashes []uuid.UUID, prefix string) (map[uuid.UUID][]Attachment, error) {
	var list []Attachment
	err := q.SelectContext(ctx, &list, `select `+attachmentColumns+` from crash_attachments
		where crash_id = any($1::uuid[]) and organization_id = $2 and starts_with(name, $3) order by created_at, id`,
		pq.Array(uuidTexts(crashes)), organization, prefix)
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
