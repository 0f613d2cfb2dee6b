// Package crash stores crashes and the groups that they fall into.
//
// Package received stores what a client sent, in batches. Record stores what the worker
// found in them: crashes, groups, counts. The id of a crash leads to its batch.
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
// package bulk. Package need keeps which files crashes lack, package usage counts versions,
// sessions and users, and package projectlock has the locks of projects.
//
// Use cases are functions, as in the other stores. Only those that compress
// documents are methods of Store, which has the compressor's buffers, and
// those of the receiver of reports, which commits by single statements and is tested
// with another Store.
package crash

import (
	"context"
	"errors"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/crash/received"
	"github.com/slipway-qa/slipway/storage/crash/usage"
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

// Store reads and writes crashes, with the reports as they were received.
type Store struct {
	*received.Store
	db    *storage.DB
	codec *received.Codec
	// facets are what Record need not write again.
	facets *facetMemory
}

// New returns a store on the database.
func New(db *storage.DB) (*Store, error) {
	c, err := received.NewCodec()
	if err != nil {
		return nil, err
	}
	return &Store{Store: received.New(db, c), db: db, codec: c, facets: newFacetMemory()}, nil
}

// DB returns the database that the store works on.
func (s *Store) DB() *storage.DB { return s.db }

// RecordUsage counts the events of one crash project, as usage.Record does.
func (s *Store) RecordUsage(ctx context.Context, project int64, events []usage.Event) error {
	return usage.Record(ctx, s.db, project, events)
}

func isNotFound(err error) bool { return errors.Is(err, storage.ErrNotFound) }
