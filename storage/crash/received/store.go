// Package received stores the reports of crashes as they were received: what a client sent, its
// files, and the uuids by which a report that is sent again is recognised.
//
// Accept reserves the uuids in one transaction, writes the documents of a commit as one compressed
// batch for each organization, and inserts the ledger row that will process the batch. The usual
// commit does all of it in one statement. The id of a crash is the id of its batch with the number
// of the entry in the last byte, so that no index is needed between the two, and the raw document
// of every crash stays readable for as long as the crash, before it was processed and after.
//
// A batch that is broken is read with its error and stops no other. Documents are taken out of
// batches in two steps: a Removal is planned outside of any transaction, for that inflates and
// packs, and refused when a batch was changed meanwhile. The uuids of what was purged stay known.
//
// What becomes of reports, crashes and their groups, is in package crash.
package received

import (
	"fmt"

	"github.com/google/uuid"

	"github.com/slipway-qa/slipway/storage"
)

// MaxBatch is how many reports one batch may have: the number of an entry is
// the last byte of a crash id.
const MaxBatch = 256

// Store reads and writes reports as they were received.
type Store struct {
	db    *storage.DB
	codec *Codec
}

// New returns a store on the database.
func New(db *storage.DB, c *Codec) *Store { return &Store{db: db, codec: c} }

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
