package reading

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/google/uuid"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/crash"
	"github.com/slipway-qa/slipway/storage/crash/received"
	"github.com/slipway-qa/slipway/storage/report"
)

// Detail is one crash with everything that is kept of it.
type Detail struct {
	Row
	Document    []byte          // the stored report; nil when its batch is gone
	Explanation json.RawMessage // of the key; nil when there is none
	// Symbols are what symbols made of it; nil: nothing was looked up.
	Symbols     *crash.Symbolication
	Attachments []received.Attachment
	// Sent is when the client sent it, as Entry has it.
	Sent int64
}

// CrashByID reads a crash of the organization. A report that was accepted and
// not processed yet is there as Pending, with the facts that its document shows.
func CrashByID(ctx context.Context, s *crash.Store, organization int64, id uuid.UUID) (*Detail, error) {
	d := &Detail{}
	err := s.DB().GetContext(ctx, &d.Row, `select `+rowColumns+`, c.attributes`+rowTables+`
		where c.id = $1 and c.organization_id = $2`, id, organization)
	pending := false
	switch err = storage.Wrap(err, "crash "+id.String()); {
	case errors.Is(err, storage.ErrNotFound):
		pending = true
	case err != nil:
		return nil, err
	}
	b, entry, err := s.Entry(ctx, organization, id)
	switch {
	case err == nil:
		d.Sent = b.Entries[entry].Sent
		// A recorded crash is shown even if its bytes cannot be read any more.
		if d.Document, err = b.Document(entry); err != nil && (pending || b.Err == nil) {
			return nil, err
		}
	case pending || !errors.Is(err, storage.ErrNotFound):
		return nil, err
	}
	if pending {
		d.Row = pendingRow(b, entry)
		if err := s.DB().GetContext(ctx, &d.ProjectName, `select coalesce(max(name), '') from crash_projects where id = $1`,
			d.ProjectID); err != nil {
			return nil, storage.Wrap(err, "project of crash "+id.String())
		}
	} else if err := explain(ctx, s, organization, d); err != nil {
		return nil, err
	}
	d.Attachments, err = received.Attachments(ctx, s.DB(), organization, id)
	return d, err
}

// explain reads what symbols made of a crash, and why it got its key.
func explain(ctx context.Context, s *crash.Store, organization int64, d *Detail) error {
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
	if d.Explanation, err = s.Explanation(ctx, d.ID); err != nil && !errors.Is(err, storage.ErrNotFound) {
		return err
	}
	return nil
}

// pendingRow shows what is known before the worker has applied its rules: the
// time of the crash, version and host are not.
func pendingRow(b *received.Batch, entry int) Row {
	e := &b.Entries[entry]
	r := Row{ID: received.EntryID(b.ID, entry), ProjectID: e.ProjectID, ConflictOf: e.ConflictOf, State: crash.Pending,
		Severity: crash.SevereCrash,
		Format:   e.Format, ReceivedAt: b.ReceivedAt, Duplicates: 1, Attributes: json.RawMessage("{}")}
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
