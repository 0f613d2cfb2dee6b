// Package gate does the work of gates: it evaluates those that are due (gate:evaluate), and
// starts the suites that a policy has run on each new build (gate:start).
//
// gate:evaluate is triggered every second by every scheduler process, but it becomes a task only
// when a gate is due (Pending). It works in steps of some gates, each one transaction: they are
// claimed with SKIP LOCKED, evaluated, and what follows a change is written. So several tasks
// share what is due, and a worker that dies in the middle of a step leaves it undone. Crashes that
// are to be counted anew are counted between two steps, some of one build at a time.
//
// A step that fails is tried again with the task. gate:start writes the suite runs with the end
// of its task: they start once.
package gate

import (
	"context"
	"time"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/gate"
	"github.com/slipway-qa/slipway/tasks/gatechange"
	"github.com/slipway-qa/slipway/worker"
)

const (
	// stepLimit gates are evaluated by one transaction: enough that the statements' own cost
	// does not count, and few enough that it is over in some tenths of a second.
	stepLimit = 200
	// workTime ends a task between two steps: under facts that never end the next one goes on.
	workTime = 20 * time.Second
)

// Evaluate is the handler of gate:evaluate. The task's result is a Result.
type Evaluate struct {
	DB       *storage.DB
	Follower *gatechange.Follower
}

// Result is what a task did.
type Result struct {
	Evaluated int `json:"evaluated"`
	Changed   int `json:"changed"`
}

// Pending reports whether a gate is due. See worker.Prober.
func (h *Evaluate) Pending(ctx context.Context) (bool, error) { return gate.PendingDue(ctx, h.DB) }

// Handle evaluates until nothing is due.
func (h *Evaluate) Handle(ctx context.Context, claim *worker.Claim) error {
	var sum Result
	for end := time.Now().Add(workTime); time.Now().Before(end); {
		var round *gate.Round
		err := claim.Checkpoint(ctx, func(tx *storage.Tx) (err error) {
			if round, err = gate.Evaluate(ctx, tx, stepLimit); err != nil {
				return err
			}
			return h.Follower.Follow(ctx, tx, round.Changes)
		})
		if err != nil {
			return err
		}
		counted := false
		if round.Recounts {
			// Each step is a transaction of its own, that no gate of another build waits for.
			err := claim.Checkpoint(ctx, func(tx *storage.Tx) (err error) {
				counted, err = gate.Recount(ctx, tx)
				return err
			})
			if err != nil {
				return err
			}
		}
		sum.Evaluated, sum.Changed = sum.Evaluated+round.Evaluated, sum.Changed+len(round.Changes)
		if round.Claimed < stepLimit && !counted {
			// What came meanwhile is for the next task, a second later: a build that is crashing
			// right now is not evaluated at every crash.
			break
		}
	}
	return claim.Finish(ctx, sum, nil)
}
