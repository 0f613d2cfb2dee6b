package worker

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/ledger"
	"github.com/slipway-qa/slipway/tasks"
)

// Claim is what a handler works on: a task that this worker has claimed, or several of a batch kind.
type Claim struct {
	Tasks  []ledger.Task
	db     *storage.DB
	tokens []ledger.Token
	done   bool
	// heartbeats renews the claim, nil in tests of handlers.
	heartbeats *heartbeats
	stop       context.CancelCauseFunc
}

// NewClaim returns the claim of claimed rows. The worker does it for every claim; tests of
// handlers do it with what the ledger returned.
func NewClaim(db *storage.DB, claimed []ledger.Task) *Claim {
	c := &Claim{Tasks: claimed, db: db}
	for i := range claimed {
		c.tokens = append(c.tokens, claimed[i].Token())
	}
	return c
}

// Ended reports whether the handler has ended the tasks of the claim.
func (c *Claim) Ended() bool { return c.done }

// OrganizationID is the organization of all tasks of the claim, 0 for maintenance.
func (c *Claim) OrganizationID() int64 {
	if id := c.Tasks[0].OrganizationID; id != nil {
		return *id
	}
	return 0
}

// Finish runs the handler's effects and the end of the claim's tasks in one
// transaction. With storage.ErrStale nothing was written: another worker holds
// the task, and the handler should return the error. The result may be nil.
func (c *Claim) Finish(ctx context.Context, result any, effects func(*storage.Tx) error) error {
	err := c.db.InTx(ctx, func(tx *storage.Tx) error {
		// First the rows of the ledger: a claim that was lost must not do all
		// the work of the effects before it notices, and the lock keeps a
		// rescue from taking the task while this transaction runs.
		if err := ledger.Finish(ctx, tx, c.tokens, result); err != nil {
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
	c.done = true
	return nil
}

// FinishPart is Finish for the first tasks of a claim, which leave it with their effects;
// of all that are left it is Finish. What fails afterwards concerns the others only. With an
// error the claim is as before.
func (c *Claim) FinishPart(ctx context.Context, n int, effects func(*storage.Tx) error) error {
	if n >= len(c.tokens) {
		return c.Finish(ctx, nil, effects)
	}
	part := c.tokens[:n]
	removed := false
	err := c.db.InTx(ctx, func(tx *storage.Tx) error {
		if err := ledger.Finish(ctx, tx, part, nil); err != nil {
			return err
		}
		// From here on the rows are locked: no rescue takes them, and heartbeats skip them.
		// One that ran after the commit would take the tasks for lost, and stop the claim.
		if c.heartbeats != nil {
			c.heartbeats.remove(part)
			removed = true
		}
		return effects(tx)
	})
	if err != nil {
		if removed {
			c.heartbeats.add(part, c.stop)
		}
		return err
	}
	c.Tasks, c.tokens = c.Tasks[n:], c.tokens[n:]
	return nil
}

// FinishAfter is Finish for a task whose end locks rows that others lock before they
// insert tasks of the same kind and dedupe key: prepare locks them, behind the check of
// the claim and before the end of the tasks, and returns the effects.
func (c *Claim) FinishAfter(ctx context.Context, result any, prepare func(*storage.Tx) (effects func() error, err error)) error {
	err := c.db.InTx(ctx, func(tx *storage.Tx) error {
		if err := ledger.LockToken(ctx, tx, c.tokens); err != nil {
			return err
		}
		effects, err := prepare(tx)
		if err != nil {
			return err
		}
		if err := ledger.Finish(ctx, tx, c.tokens, result); err != nil {
			return err
		}
		return effects()
	})
	if err != nil {
		return err
	}
	c.done = true
	return nil
}

// Checkpoint runs a step of a long task in one transaction that checks the claim
// without ending the task. With storage.ErrStale nothing was written. Steps must
// be short: the task's heartbeat is skipped while the transaction runs.
func (c *Claim) Checkpoint(ctx context.Context, effects func(*storage.Tx) error) error {
	return c.db.InTx(ctx, func(tx *storage.Tx) error {
		if err := ledger.LockToken(ctx, tx, c.tokens); err != nil {
			return err
		}
		if err := effects(tx); err != nil {
			return err
		}
		return ledger.Touch(ctx, tx, c.tokens)
	})
}

// Payload reads the payload of one task of a claim into its kind's type. A payload
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
