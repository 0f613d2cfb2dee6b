// Package crash stores crash reports and the groups that they fall into.
//
// Accept stores what a client sent: in one transaction it reserves the uuids, writes
// the documents of a commit as one compressed batch for each organization, and
// inserts the ledger row that will process the batch. Record stores what the
// worker found in it: crashes, groups, counts. The two meet in the batch: the id
// of a crash is the id of its batch with the number of the entry in the last
// byte, so that no index is needed between them, and the raw document of every
// crash stays readable for as long as the crash.
//
// A crash belongs to a key (its fingerprint) and a key to a group. A merged group
// stays as a part of the other, with its keys, and can be taken out again (part.go); a
// split leads reports of a key on to the key of another group (split_rule.go). Record
// shares a lock of the project that merges and splits take alone, so no count
// is added to a group that is being changed. Inside each transaction rows are
// locked in sorted order, and everything below a group (days, versions, hosts) only
// under the lock of the group's row: batches cannot deadlock.
//
// Lists and pages are read by package reading, and all groups of a filter are changed by
// package bulk.
//
// Use cases are functions, as in the other stores. Only those that compress
// documents are methods of Store, which has the compressor's buffers, and
// those of the receiver of reports, which commits by single statements and is tested
// with another Store.
package crash

import (
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/slipway-qa/slipway/storage"
)

// State of a crash in the reading API. Pending is not stored: it is an accepted
// report that no worker has processed yet.
type State string

// The states.
const (
	Pending   State = "pending"
	Processed State = "processed"
	Stored    State = "stored" // a format that is kept but not read
	Failed    State = "failed"
)

// MaxBatch is how many reports one batch may have: the number of an entry is
// the last byte of a crash id.
const MaxBatch = 256

// Store reads and writes crashes.
type Store struct {
	db    *storage.DB
	codec *codec
	// facets are what Record need not write again.
	facets *facetMemory
}

// New returns a store on the database.
func New(db *storage.DB) (*Store, error) {
	c, err := newCodec()
	if err != nil {
		return nil, err
	}
	return &Store{db: db, codec: c, facets: newFacetMemory()}, nil
}

// DB returns the database that the store works on.
func (s *Store) DB() *storage.DB { return s.db }

// newBatchID creates a batch id: a version 7 uuid with a last byte of zero.
func newBatchID() (uuid.UUID, error) {
	id, err := uuid.NewV7()
	if err != nil {
		return id, fmt.Errorf("batch id: %w", err)
	}
	id[15] = 0
	return id, nil
}

// EntryID returns the crash id of an entry of a batch.
func EntryID(batch uuid.UUID, entry int) uuid.UUID {
	batch[15] = byte(entry)
	return batch
}

// SplitID returns the batch and the entry of a crash id.
func SplitID(id uuid.UUID) (batch uuid.UUID, entry int) {
	entry = int(id[15])
	id[15] = 0
	return id, entry
}

// Incoming is one report that passed all checks.
type Incoming struct {
	OrganizationID int64
	ProjectID      int64
	UUID           uuid.UUID
	// Digest is the SHA-256 of the report as the client sent it: a repeated
	// uuid with the same digest is a resend.
	Digest [32]byte
	// Document is the scrubbed report.
	Document    []byte
	Format      string
	Attachments []Attachment
	// SentAt is when the client sent it, by its clock; zero: it did not say.
	SentAt time.Time
	// RequestID is the request that brought the report; the task of a batch
	// carries that of its first report.
	RequestID string
}

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

// Outcome states what became of an incoming report.
type Outcome int

// The outcomes.
const (
	// First: the first report under its uuid.
	First Outcome = iota
	// Resent: the same report was stored before; nothing was written.
	Resent
	// Conflict: another report has the uuid; this one is stored as well.
	Conflict
)

// Receipt is the result for one incoming report. ID is that of the stored crash, for
// Resent that of the earlier one.
type Receipt struct {
	ID      uuid.UUID
	Outcome Outcome
}

// Entry describes one report of a batch.
type Entry struct {
	ProjectID  int64      `json:"project"`
	Start      int        `json:"start"`
	End        int        `json:"end"`
	Format     string     `json:"format,omitempty"` // empty: json
	ConflictOf *uuid.UUID `json:"conflict_of,omitempty"`
	// Sent is when the client sent it, by its clock, in seconds since 1970; 0: it did not say.
	Sent int64 `json:"sent,omitempty"`
	// Deleted entries have no bytes: a resend that a batch left out, or a
	// report that was purged.
	Deleted bool `json:"deleted,omitempty"`
}

// Batch is a stored batch, inflated.
type Batch struct {
	ID             uuid.UUID
	OrganizationID int64
	ReceivedAt     time.Time
	Entries        []Entry
	Body           []byte
	// Libraries are what the crash projects of the organization name as not their own, by project.
	Libraries map[int64][]string
	// Ruled: the organization has rules that may fire.
	Ruled bool
	// Err is why the batch cannot be read; no entry has a document then.
	Err error
}

// Document returns the bytes of one entry.
func (b *Batch) Document(entry int) ([]byte, error) {
	if entry < 0 || entry >= len(b.Entries) {
		return nil, fmt.Errorf("entry %d of batch %s: %w", entry, b.ID, storage.ErrNotFound)
	}
	e := b.Entries[entry]
	if e.Deleted {
		return nil, fmt.Errorf("entry %d of batch %s: %w", entry, b.ID, storage.ErrNotFound)
	}
	if b.Err != nil {
		return nil, b.Err
	}
	if e.Start < 0 || e.End < e.Start || e.End > len(b.Body) {
		return nil, errors.New("batch " + b.ID.String() + ": offsets do not fit the body")
	}
	return b.Body[e.Start:e.End], nil
}

func isNotFound(err error) bool { return errors.Is(err, storage.ErrNotFound) }
