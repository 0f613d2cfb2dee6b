package worker

import (
	"context"
	"fmt"
	"time"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/ledger"
	"github.com/slipway-qa/slipway/tasks"
)

// End is how one task of a claim ends, or does not. The zero value succeeds without a
// result.
type End struct {
	// Result is that of a task that succeeded. It is compared, so it is no pointer.
	Result any
	// Failure, when set, is why the task failed: it is tried again after Delay, or
	// never with Permanent.
	Failure   string
	Permanent bool
	// Released returns the task to the queue for Delay, without counting the attempt.
	Released bool
	Delay    time.Duration
}

// Settle ends the tasks of a claim each in its own way, with their effects, in one
// transaction: for batch kinds whose tasks fare differently. There is one end for
// each task. With storage.ErrStale nothing was written.
func (c *Claim) Settle(ctx context.Context, ends []End, effects func(*storage.Tx) error) error {
	if len(ends) != len(c.tokens) {
		return fmt.Errorf("%d ends for %d tasks", len(ends), len(c.tokens))
	}
	groups := map[End][]ledger.Token{}
	for i, end := range ends {
		groups[end] = append(groups[end], c.tokens[i])
	}
	err := c.db.InTx(ctx, func(tx *storage.Tx) error {
		// All rows in one order first: the statements below lock them group by group.
		if err := ledger.LockToken(ctx, tx, c.tokens); err != nil {
			return err
		}
		for end, tokens := range groups {
			if err := end.write(ctx, tx, tokens); err != nil {
				return err
			}
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

func (e End) write(ctx context.Context, tx *storage.Tx, tokens []ledger.Token) (err error) {
	switch {
	case e.Released:
		_, err = ledger.Release(ctx, tx, tokens, e.Delay)
	case e.Failure != "":
		_, err = ledger.Fail(ctx, tx, tokens, e.Failure, e.Permanent, e.Delay)
	default:
		err = ledger.Finish(ctx, tx, tokens, e.Result)
	}
	return err
}

// Failed returns the end of a task that failed with an error, to be tried again after
// a delay unless the error is permanent.
func Failed(err error, delay time.Duration) End {
	return End{Failure: reason(err, nil), Permanent: tasks.IsPermanent(err), Delay: delay}
}
