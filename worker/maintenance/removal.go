package maintenance

import (
	"context"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/object"
	"github.com/slipway-qa/slipway/storage/removal"
	"github.com/slipway-qa/slipway/worker"
)

// ObjectRemoval is the handler of object:removal: it deletes the objects whose time has
// come. While a backup is under way it deletes none.
type ObjectRemoval struct {
	DB *storage.DB
	// Objects is the store itself, not one whose Delete waits.
	Objects object.Store
}

// RemovalResult is the task's result.
type RemovalResult struct {
	Objects int `json:"objects"`
}

// removalStep objects are deleted by one transaction, which holds up a backup that begins.
const removalStep = 200

// Handle deletes until nothing is due.
func (h *ObjectRemoval) Handle(ctx context.Context, claim *worker.Claim) error {
	var sum RemovalResult
	for {
		n, err := removal.Run(ctx, h.DB, h.Objects, removalStep)
		sum.Objects += n
		if err != nil {
			return err
		}
		if n < removalStep {
			return claim.Finish(ctx, sum, nil)
		}
	}
}
