package crash

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/crash"
	"github.com/slipway-qa/slipway/storage/crash/condition"
	"github.com/slipway-qa/slipway/storage/crash/received"
	"github.com/slipway-qa/slipway/storage/ledger"
	"github.com/slipway-qa/slipway/storage/object"
	"github.com/slipway-qa/slipway/storage/search"
	"github.com/slipway-qa/slipway/tasks"
	"github.com/slipway-qa/slipway/worker"
)

// Purge is the handler of crash:purge. It removes the reports of an organization
// that carry an attribute: those that are recorded, those that failed, and those
// that were accepted before the purge was claimed and wait for their processing.
//
// Every step is one transaction that checks the claim, removes some hundred
// reports with everything that they added, and stores the sum so far in the task;
// after a kill between two steps, the next attempt finds what is left. The bytes of
// the attachments are deleted after the commit; those that a kill leaves behind are
// found by object:sweep, since no row names them any more. The transaction that ends the task
// also deletes the saved searches by the value, and takes it out of changes of many groups, and
// of purges that were given up: one of these fails when it runs, and says why. The purged value is
// itself what must be forgotten: the transaction that ends the task blanks it in
// the task's payload. A task that did not succeed keeps it for the next attempt.
type Purge struct {
	Store   *crash.Store
	Ledger  *ledger.Store
	Objects object.Store
	Log     *slog.Logger
}

// PurgeResult is the task's result.
type PurgeResult struct {
	Deleted int `json:"deleted"`
	// SavedSearches is how many saved searches by the value were deleted with the reports.
	SavedSearches int64 `json:"saved_searches"`
}

const (
	// purgeStep reports are removed by one transaction: some tens of milliseconds.
	purgeStep = 200
	// purgeRead ids are read by one query.
	purgeRead = 10_000
	// purgeGrace is how long a purge waits for the batches that are being
	// processed at the moment before it is snoozed in favour of other tasks.
	purgeGrace = 30 * time.Second
	purgePoll  = 100 * time.Millisecond
)

// Handle removes the reports.
func (p *Purge) Handle(ctx context.Context, claim *worker.Claim) error {
	payload, err := worker.Payload[tasks.CrashPurgePayload](claim.Tasks[0])
	if err != nil {
		return err
	}
	attempt := &purgeAttempt{Purge: p, claim: claim, organization: claim.OrganizationID(), project: payload.ProjectID,
		filter: condition.Attribute{Key: payload.Key, Value: payload.Value}}
	if err := attempt.filter.Validate(); err != nil {
		return tasks.Permanent(err)
	}
	if err := claim.ReadProgress(&attempt.result); err != nil {
		return err
	}
	if err := attempt.run(ctx); err != nil {
		return err
	}
	return claim.FinishAfter(ctx, &attempt.result, func(tx *storage.Tx) (func() error, error) {
		if err := crash.ForgetSplits(ctx, tx, attempt.organization, attempt.project, attempt.filter); err != nil {
			return nil, err
		}
		if err := attempt.forgetFilters(ctx, tx); err != nil {
			return nil, err
		}
		payload.Value = ""
		return func() error { return ledger.Redact(ctx, tx, claim.Tasks[0].ID, payload) }, nil
	})
}

// changeWait is how long a purge waits for a change of many groups that runs by the value.
const changeWait = 30 * time.Second

// forgetFilters removes the value from what people search by: from their saved searches, from
// purges that were cancelled or failed, and from changes of many groups, those that wait too.
// For one that runs by the value it is tried again later: it blanks its filter when it succeeds,
// and is reached when it does not. Other purges by the value run, and then blank theirs.
func (r *purgeAttempt) forgetFilters(ctx context.Context, tx *storage.Tx) (err error) {
	if r.result.SavedSearches, err = search.ForgetAttribute(ctx, tx, r.organization, r.project, r.filter); err != nil {
		return err
	}
	_, err = ledger.RewriteGivenUp(ctx, tx, r.organization, ledger.Rewrite{Kind: tasks.CrashPurge.Name, Payload: r.forgetPurge},
		ledger.Rewrite{Kind: tasks.CrashChange.Name, Open: true, Payload: r.forgetChange})
	if errors.Is(err, storage.ErrConflict) {
		return &tasks.SnoozeError{For: changeWait}
	}
	return err
}

func (r *purgeAttempt) forgetPurge(doc []byte) (any, error) {
	var p tasks.CrashPurgePayload
	if err := json.Unmarshal(doc, &p); err != nil {
		return nil, err
	}
	covered := r.project == 0 || r.project == p.ProjectID
	if !covered || !r.filter.Names(p.Key, p.Value) {
		return nil, nil
	}
	return tasks.ForgottenCrashPurge(), nil
}

func (r *purgeAttempt) forgetChange(doc []byte) (any, error) {
	var p tasks.CrashChangePayload
	if err := json.Unmarshal(doc, &p); err != nil {
		return nil, err
	}
	if !p.Filter.HasAttribute(r.filter, r.project) {
		return nil, nil
	}
	return p.Forget(), nil
}

// purgeAttempt is one attempt of a purge.
type purgeAttempt struct {
	*Purge
	claim        *worker.Claim
	organization int64
	project      int64
	filter       condition.Attribute
	result       PurgeResult
}

// run removes the unprocessed reports before the recorded ones: a report that is
// processed meanwhile is recorded by the time of the second pass.
func (r *purgeAttempt) run(ctx context.Context) error {
	if err := r.removeUnprocessed(ctx); err != nil {
		return err
	}
	if err := r.removeRecorded(ctx); err != nil {
		return err
	}
	return r.removeFailed(ctx)
}

// removeRecorded removes the reports that the index of the attributes finds.
func (r *purgeAttempt) removeRecorded(ctx context.Context) error {
	for {
		ids, err := crash.Carriers(ctx, r.Store.DB(), r.organization, r.project, r.filter, purgeRead)
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

// removeFailed searches the documents of the crashes that could not be recorded.
func (r *purgeAttempt) removeFailed(ctx context.Context) error {
	after := uuid.Nil
	for {
		ids, err := crash.FailedCrashes(ctx, r.Store.DB(), r.organization, after, purgeStep)
		if err != nil || len(ids) == 0 {
			return err
		}
		after = ids[len(ids)-1]
		for len(ids) > 0 {
			batch, _ := received.SplitID(ids[0])
			n := slices.IndexFunc(ids, func(id uuid.UUID) bool { b, _ := received.SplitID(id); return b != batch })
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

func (r *purgeAttempt) apply(ctx context.Context, plan *received.Removal) error {
	_, err := r.applyIf(ctx, plan, nil)
	return err
}

// applyIf removes what is planned, unless lock, called in the transaction, reports
// false. It reports whether it removed.
func (r *purgeAttempt) applyIf(ctx context.Context, plan *received.Removal, lock func(*storage.Tx) (bool, error)) (bool, error) {
	if plan.Size() == 0 {
		return true, nil
	}
	plan.KeepUUIDs = true
	var removed crash.Removed
	sum, locked := r.result, true
	err := r.claim.Checkpoint(ctx, func(tx *storage.Tx) error {
		if lock != nil {
			var err error
			if locked, err = lock(tx); err != nil || !locked {
				return err
			}
		}
		var err error
		if removed, err = r.Store.Remove(ctx, tx, plan); err != nil {
			return err
		}
		sum.Deleted += removed.Reports
		return r.claim.SaveProgress(ctx, tx, sum)
	})
	if err != nil || !locked {
		return false, err
	}
	r.result = sum
	worker.DeleteObjects(ctx, r.Objects, r.Log, removed.Objects)
	return true, nil
}

// removeUnprocessed removes matching reports from the batches that were accepted
// before this attempt began and are not processed. A batch that is being processed
// cannot be changed: it is tried again until it has been recorded or is idle.
func (r *purgeAttempt) removeUnprocessed(ctx context.Context) error {
	until := time.Now().Add(purgeGrace)
	after := uuid.Nil
	var busy []uuid.UUID
	for {
		ids, err := r.Ledger.Undone(ctx, r.organization, tasks.CrashProcess.Name, *r.claim.Tasks[0].StartedAt, after, purgeRead)
		if err != nil {
			return err
		}
		more, err := r.removeFromIdle(ctx, ids)
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
		if busy, err = r.removeFromIdle(ctx, busy); err != nil {
			return err
		}
	}
	return nil
}

// removeFromIdle removes matching reports from batches that are idle, and returns
// the ids of those that are being processed.
func (r *purgeAttempt) removeFromIdle(ctx context.Context, ids []uuid.UUID) ([]uuid.UUID, error) {
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
		removed, err := r.applyIf(ctx, plan, func(tx *storage.Tx) (bool, error) {
			idle, err := ledger.LockIdle(ctx, tx, []uuid.UUID{id})
			return len(idle) == 1, err
		})
		if err != nil && !errors.Is(err, storage.ErrConflict) {
			return nil, err
		}
		if !removed {
			busy = append(busy, id)
		}
	}
	return busy, nil
}
