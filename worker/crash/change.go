package crash

import (
	"context"
	"errors"
	"slices"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/crash"
	"github.com/slipway-qa/slipway/storage/crash/bulk"
	"github.com/slipway-qa/slipway/storage/ledger"
	"github.com/slipway-qa/slipway/tasks"
	"github.com/slipway-qa/slipway/worker"
)

// Change is the handler of crash:change. It changes all groups that a filter selects, those
// that were made after the request excepted.
//
// Every step is one transaction that checks the claim, changes up to a hundred groups with
// their history, and stores how many were changed, the place that was reached, and behind
// which versions "the next version" is: after a kill the next attempt continues there. A rule that is broken only now, a time that has
// passed, a person who left or an attribute that came to be in too many reports, ends the
// task for good; what was changed stays.
//
// The values of attributes of the filter, and what it searches for, may be what a person is
// to be forgotten by: the transaction that ends the task blanks them in its payload.
type Change struct {
	Store *crash.Store
}

// ChangeResult is the task's result.
type ChangeResult struct {
	Changed int `json:"changed"`
	// Total is how many groups matched when the change was asked for, with TotalIsExact
	// false at least so many.
	Total        int   `json:"total"`
	TotalIsExact bool  `json:"total_is_exact"`
	Reached      int64 `json:"reached"` // id of the group up to which all were looked at
	// AfterVersions are the versions behind which "the next version" is, by crash project.
	AfterVersions map[int64]string `json:"after_versions,omitempty"`
}

const (
	// changeStep groups are changed by one transaction: some tens of milliseconds, in which
	// reports of these groups wait.
	changeStep = 100
	// changeRead ids are read by one query, which sorts all that match.
	changeRead = 10_000
)

// Handle changes the groups.
func (h *Change) Handle(ctx context.Context, claim *worker.Claim) error {
	payload, err := worker.Payload[tasks.CrashChangePayload](claim.Tasks[0])
	if err != nil {
		return err
	}
	result := ChangeResult{Total: payload.Matching.Rows, TotalIsExact: payload.Matching.Exact}
	if err := claim.ReadProgress(&result); err != nil {
		return err
	}
	payload.Filter.OrganizationID = claim.OrganizationID()
	matching, err := bulk.Find(ctx, h.Store.DB(), payload.Filter)
	if err != nil {
		return refusedChange(err)
	}
	if result.AfterVersions != nil {
		matching.AfterVersions = result.AfterVersions
	}
	for {
		ids, err := matching.After(ctx, h.Store.DB(), result.Reached, changeRead)
		if err != nil {
			return err
		}
		if len(ids) == 0 {
			break
		}
		for part := range slices.Chunk(ids, changeStep) {
			if result, err = changePart(ctx, claim, matching, &payload, result, part); err != nil {
				return refusedChange(err)
			}
		}
	}
	return claim.Finish(ctx, result, func(tx *storage.Tx) error {
		payload.GroupChange = *payload.WithoutValues()
		return ledger.Redact(ctx, tx, claim.Tasks[0].ID, payload)
	})
}

// changePart changes groups in a step, and returns the result with them.
func changePart(ctx context.Context, claim *worker.Claim, matching *bulk.Matching, payload *tasks.CrashChangePayload, result ChangeResult,
	part []int64) (ChangeResult, error) {
	sum := result
	err := claim.Checkpoint(ctx, func(tx *storage.Tx) error {
		changed, err := matching.Change(ctx, tx, payload.Writer(claim.OrganizationID()), part, payload.Change, claim.Tasks[0].ID)
		if err != nil {
			return err
		}
		sum.Changed, sum.Reached, sum.AfterVersions = sum.Changed+changed, part[len(part)-1], matching.AfterVersions
		return claim.SaveProgress(ctx, tx, sum)
	})
	if err != nil {
		return result, err
	}
	return sum, nil
}

// refusedChange marks a broken rule, which breaks again with each attempt.
func refusedChange(err error) error {
	var invalid *storage.InvalidError
	if errors.As(err, &invalid) {
		return tasks.Permanent(&tasks.PublicError{Text: invalid.Error(), Err: err})
	}
	return err
}
