package worker

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/ledger"
	"github.com/slipway-qa/slipway/tasks"
)

// Job is one claim: a task, or several of a batch kind.
type Job struct {
	Tasks  []ledger.Task
	db     *storage.DB
	tokens []ledger.Token
	done   bool
}

// NewJob makes the job of a claim. The worker does it for every claim; tests of
// handlers do it with what Claim gave them.
func NewJob(db *storage.DB, claimed []ledger.Task) *Job {
	j := &Job{Tasks: claimed, db: db}
	for i := range claimed {
		j.tokens = append(j.tokens, claimed[i].Token())
	}
	return j
}

// OrganizationID is the organization of all tasks of the job, 0 for upkeep.
func (j *Job) OrganizationID() int64 {
	if id := j.Tasks[0].OrganizationID; id != nil {
		return *id
	}
	return 0
}

// Finish runs the handler's effects and the end of the job's tasks in one
// transaction. With storage.ErrStale nothing was written: another worker holds
// the task, and the handler should return the error. The result may be nil.
func (j *Job) Finish(ctx context.Context, result any, effects func(*storage.Tx) error) error {
	err := j.db.InTx(ctx, func(tx *storage.Tx) error {
		// First the rows of the ledger: a claim that was lost must not do all
		// the work of the effects before it hears of it, and the lock keeps a
		// rescue from taking the task while this transaction runs.
		if err := ledger.Finish(ctx, tx, j.tokens, result); err != nil {
			return err
		}
		if effects == nil {
			return nil
		}
		return effects(tx)
	})
	if err != nil {
		return err
	}
	j.done = true
	return nil
}

// Checkpoint runs a step of a long task in one transaction that checks the claim
// without ending the task. With storage.ErrStale nothing was written. Steps must
// be short: the task's heartbeat is skipped while the transaction runs.
func (j *Job) Checkpoint(ctx context.Context, effects func(*storage.Tx) error) error {
	return j.db.InTx(ctx, func(tx *storage.Tx) error {
		if err := ledger.HoldToken(ctx, tx, j.tokens); err != nil {
			return err
		}
		if err := effects(tx); err != nil {
			return err
		}
		return ledger.Touch(ctx, tx, j.tokens)
	})
}

// Payload reads the payload of one task of a job into its kind's type. A payload
// that cannot be read is a permanent failure.
func Payload[T interface{ Validate() error }](t ledger.Task) (T, error) {
	var p T
	if err := json.Unmarshal(t.Payload, &p); err != nil {
		return p, tasks.Permanent(fmt.Errorf("payload of %s: %w", t.Kind, err))
	}
	if err := p.Validate(); err != nil {
		return p, tasks.Permanent(fmt.Errorf("payload of %s: %w", t.Kind, err))
	}
	return p, nil
}
