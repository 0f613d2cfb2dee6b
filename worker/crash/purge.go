package crash

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/crash"
	"github.com/slipway-qa/slipway/storage/ledger"
	"github.com/slipway-qa/slipway/storage/object"
	"github.com/slipway-qa/slipway/tasks"
	"github.com/slipway-qa/slipway/worker"
)

// Purge is the handler of crash:purge. It removes the reports of an organization
// that carry an attribute: those that are recorded, those that failed, and those
// that were accepted before the purge was claimed and wait for their processing.
//
// Every step is one transaction that checks the claim, removes some hundred
// reports with all that they added, and notes the sum so far in the task; killed
// between two steps, the next attempt finds what is left. The bytes of the
// attachments are deleted after the commit; those that a kill leaves behind are
// found by object:sweep, for no row names them any more. The value that was
// purged is the datum to be forgotten: the transaction that ends the task blanks
// it in the task's payload. One that did not succeed keeps it for the next try.
type Purge struct {
	Store   *crash.Store
	Ledger  *ledger.Store
	Objects object.Store
	Log     *slog.Logger
}

// PurgeResult is the task's result.
type PurgeResult struct {
	Deleted int `json:"deleted"`
}

const (
	// purgeStep reports are removed at once: some tens of milliseconds.
	purgeStep = 200
	// purgeRead ids are read at once.
	purgeRead = 10_000
	// purgePatience is how long a purge waits for the batches that are being
	// processed at the moment before it makes room for other tasks.
	purgePatience = 30 * time.Second
	purgePoll     = 100 * time.Millisecond
)

// Handle removes the reports.
func (p *Purge) Handle(ctx context.Context, claim *worker.Claim) error {
	payload, err := worker.Payload[tasks.CrashPurgePayload](claim.Tasks[0])
	if err != nil {
		return err
	}
	run := &purge{Purge: p, claim: claim, organization: claim.OrganizationID(), project: payload.ProjectID,
		filter: crash.AttributeFilter{Key: payload.Key, Value: payload.Value}}
	if err := run.filter.Validate(); err != nil {
		return tasks.Permanent(err)
	}
	if doc := claim.Tasks[0].Result; doc != nil {
		if err := json.Unmarshal(*doc, &run.result); err != nil {
			return fmt.Errorf("progress of the purge: %w", err)
		}
	}
	if err := run.all(ctx); err != nil {
		return err
	}
	return claim.Finish(ctx, run.result, func(tx *storage.Tx) error {
		payload.Value = ""
		return ledger.Redact(ctx, tx, claim.Tasks[0].ID, payload)
	})
}

// purge is one attempt.
type purge struct {
	*Purge
	claim        *worker.Claim
	organization int64
	project      int64
	filter       crash.AttributeFilter
	result       PurgeResult
}

// all goes from the waiting reports to the recorded ones: a report that is
// processed meanwhile is recorded when the second pass looks.
func (r *purge) all(ctx context.Context) error {
	if err := r.waiting(ctx); err != nil {
		return err
	}
	if err := r.recorded(ctx); err != nil {
		return err
	}
	return r.failed(ctx)
}

// recorded removes what the index of the attributes finds.
func (r *purge) recorded(ctx context.Context) error {
	for {
		ids, err := r.Store.Carriers(ctx, r.organization, r.project, r.filter, purgeRead)
		if err != nil || len(ids) == 0 {
			return err
		}
		for len(ids) > 0 {
			plan, done, err := r.Store.PlanRemoval(ctx, r.organization, ids[:min(len(ids), purgeStep)])
			if err != nil {
				return err
			}
			if err := r.apply(ctx, plan); err != nil {
				return err
			}
			ids = ids[done:]
		}
	}
}

// failed looks into the documents of the crashes that could not be recorded.
func (r *purge) failed(ctx context.Context) error {
	after := uuid.Nil
	for {
		ids, err := r.Store.FailedCrashes(ctx, r.organization, after, purgeStep)
		if err != nil || len(ids) == 0 {
			return err
		}
		after = ids[len(ids)-1]
		for len(ids) > 0 {
			batch, _ := crash.SplitID(ids[0])
			n := slices.IndexFunc(ids, func(id uuid.UUID) bool { b, _ := crash.SplitID(id); return b != batch })
			if n < 0 {
				n = len(ids)
			}
			plan, err := r.Store.PlanDocuments(ctx, r.organization, r.project, r.filter, batch, ids[:n])
			if err != nil {
				return err
			}
			if err := r.apply(ctx, plan); err != nil {
				return err
			}
			ids = ids[n:]
		}
	}
}

func (r *purge) apply(ctx context.Context, plan *crash.Removal) error {
	_, err := r.applyIf(ctx, plan, nil)
	return err
}

// applyIf removes what the plan says, unless hold says in the transaction that
// it must not.
func (r *purge) applyIf(ctx context.Context, plan *crash.Removal, hold func(*storage.Tx) (bool, error)) (bool, error) {
	if plan.Size() == 0 {
		return true, nil
	}
	var removed crash.Removed
	sum, held := r.result, true
	err := r.claim.Checkpoint(ctx, func(tx *storage.Tx) error {
		if hold != nil {
			var err error
			if held, err = hold(tx); err != nil || !held {
				return err
			}
		}
		var err error
		if removed, err = r.Store.Remove(ctx, tx, plan); err != nil {
			return err
		}
		sum.Deleted += removed.Reports
		return ledger.Progress(ctx, tx, r.claim.Tasks[0].Token(), sum)
	})
	if err != nil || !held {
		return false, err
	}
	r.result = sum
	worker.DeleteObjects(ctx, r.Objects, r.Log, removed.Objects)
	return true, nil
}

// waiting looks into the batches that were accepted before this attempt began
// and whose work is not done. A batch that is being processed cannot be changed:
// it is looked at again until it has been recorded or waits again.
func (r *purge) waiting(ctx context.Context) error {
	until := time.Now().Add(purgePatience)
	after := uuid.Nil
	var busy []uuid.UUID
	for {
		ids, err := r.Ledger.Undone(ctx, r.organization, tasks.CrashProcess.Name, *r.claim.Tasks[0].StartedAt, after, purgeRead)
		if err != nil {
			return err
		}
		more, err := r.look(ctx, ids)
		if err != nil {
			return err
		}
		busy = append(busy, more...)
		if len(ids) < purgeRead {
			break
		}
		after = ids[len(ids)-1]
	}
	for len(busy) > 0 {
		if time.Now().After(until) {
			return &tasks.SnoozeError{For: 5 * time.Second}
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(purgePoll):
		}
		var err error
		if busy, err = r.look(ctx, busy); err != nil {
			return err
		}
	}
	return nil
}

// look removes matching reports from batches that wait, and gives those that are
// being processed.
func (r *purge) look(ctx context.Context, ids []uuid.UUID) ([]uuid.UUID, error) {
	states, err := r.Ledger.StatesOf(ctx, ids)
	if err != nil {
		return nil, err
	}
	var busy []uuid.UUID
	for _, id := range ids {
		switch state, there := states[id]; {
		case !there || state == ledger.Succeeded:
			continue
		case state == ledger.Running:
			busy = append(busy, id)
			continue
		}
		plan, err := r.Store.PlanDocuments(ctx, r.organization, r.project, r.filter, id, nil)
		if err != nil {
			return nil, err
		}
		held, err := r.applyIf(ctx, plan, func(tx *storage.Tx) (bool, error) {
			idle, err := ledger.LockIdle(ctx, tx, []uuid.UUID{id})
			return len(idle) == 1, err
		})
		if err != nil && !errors.Is(err, storage.ErrConflict) {
			return nil, err
		}
		if !held {
			busy = append(busy, id)
		}
	}
	return busy, nil
}
