package crash

import (
	"context"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/crash"
	"github.com/slipway-qa/slipway/tasks"
	"github.com/slipway-qa/slipway/worker"
)

// Split is the handler of crash:split. It moves the reports of a group that match the
// rules of a split to the group that was made for them; reports that came after the
// rules went there by themselves.
//
// Every step is one transaction that checks the claim, moves some hundred reports with
// all that they added to the counts, and stores the place that was reached: after a kill
// the next attempt continues there, and what a step finds moved stays as it is.
type Split struct {
	Store *crash.Store
}

// SplitResult is the task's result.
type SplitResult struct {
	Moved  int               `json:"moved"` // besides those that the request moved
	Cursor crash.SplitCursor `json:"cursor"`
}

// Handle moves the reports.
func (s *Split) Handle(ctx context.Context, claim *worker.Claim) error {
	payload, err := worker.Payload[tasks.CrashSplitPayload](claim.Tasks[0])
	if err != nil {
		return err
	}
	var result SplitResult
	if err := claim.ReadProgress(&result); err != nil {
		return err
	}
	organization := claim.OrganizationID()
	for {
		ids, next, more, err := crash.SplitMatches(ctx, s.Store.DB(), organization, payload.TargetKeyID, result.Cursor)
		if err != nil {
			return err
		}
		if !more {
			return claim.Finish(ctx, result, nil)
		}
		sum := result
		err = claim.Checkpoint(ctx, func(tx *storage.Tx) error {
			moved, err := crash.MoveSplit(ctx, tx, organization, payload.TargetKeyID, ids)
			if err != nil {
				return err
			}
			sum.Moved, sum.Cursor = sum.Moved+moved, next
			return claim.SaveProgress(ctx, tx, sum)
		})
		if err != nil {
			return err
		}
		result = sum
	}
}
