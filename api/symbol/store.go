package symbol

import (
	"context"

	"github.com/slipway-qa/slipway/api/respond"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/quota"
	"github.com/slipway-qa/slipway/storage/symbolfile"
	"github.com/slipway-qa/slipway/tasks"
	"github.com/slipway-qa/slipway/tasks/dispatch"
)

// Store stores uploads together with their tasks, for the rooms that receive them.
type Store struct {
	db     *storage.DB
	queue  *dispatch.Enqueuer
	quotas *quota.Quotas
}

// NewStore returns a store. A nil queue leaves the delivery of tasks to the relay; nil
// quotas bound nothing.
func NewStore(db *storage.DB, queue *dispatch.Enqueuer, quotas *quota.Quotas) *Store {
	return &Store{db: db, queue: queue, quotas: quotas}
}

// Add stores an upload, with the task that reads it if one is needed, in a transaction of
// its own. Failures are those of symbolfile.Insert, and *quota.ExceededError.
func (s *Store) Add(ctx context.Context, n symbolfile.New) (stored *symbolfile.Stored, err error) {
	err = s.db.InTx(ctx, func(tx *storage.Tx) error {
		if err := s.quotas.Lock(ctx, tx, n.OrganizationID); err != nil {
			return err
		}
		if stored, err = s.Insert(ctx, tx, n); err != nil {
			return err
		}
		return s.quotas.Check(ctx, tx, n.OrganizationID, 0, quota.StoredBytes)
	})
	return stored, err
}

// Insert is Add in the caller's transaction.
func (s *Store) Insert(ctx context.Context, tx *storage.Tx, n symbolfile.New) (*symbolfile.Stored, error) {
	n.TaskID = storage.NewID()
	stored, err := symbolfile.Insert(ctx, tx, n)
	if err != nil || !stored.Pending {
		return stored, err
	}
	task := tasks.NewSymbolIndex(n.OrganizationID, respond.RequestID(ctx), stored.Upload.ID, stored.Upload.SHA256)
	task.ID = n.TaskID
	return stored, s.queue.Insert(ctx, tx, task)
}
