// Package claims measures how many single tasks a second are claimed and finished in the
// ledger.
//
// The baseline of the same run updates rows of the same size without the rules of the ledger.
// Both use the database of package symbols, with nothing else on it. An error of a statement
// ends the measurement; a missed target is only printed.
package claims

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"github.com/slipway-qa/slipway/cmd/bench/measure"
	"github.com/slipway-qa/slipway/cmd/bench/progress"
	"github.com/slipway-qa/slipway/cmd/bench/regression"
	"github.com/slipway-qa/slipway/cmd/bench/symbols"
	"github.com/slipway-qa/slipway/storage/ledger"
	"github.com/slipway-qa/slipway/worker"
)

const (
	claimedTasks = 6000 // of each kind, the first third of which warms
	claimConns   = 4
	claimLimit   = 10 * time.Minute
	claimKind    = "bench:claim"
)

// The baseline: a table like that of the tasks, and the two updates that a task cannot do
// without.
const (
	claimTable = `create table baseline_tasks (like tasks including all)`
	claimRows  = `insert into baseline_tasks (id, kind, queue, organization_id, payload, max_attempts)
select id, kind, queue, organization_id, payload, max_attempts from tasks where kind = $1`
	claimBegin = `update baseline_tasks set state = 'running', attempt = attempt + 1, worker = 'bench', heartbeat_at = now(),
started_at = now()
where id = $1 and state = 'queued'`
	claimEnd = `update baseline_tasks set state = 'succeeded', finished_at = now() where id = $1 and state = 'running'`
)

// Command measures how many single tasks of the ledger workers claim and finish.
type Command struct{}

// Run measures the one part and prints a Markdown table.
func (c *Command) Run(ctx context.Context) error {
	fmt.Print("| part | measured | target | |\n|---|---|---|---|\n")
	return measure.RunParts(ctx, nil, []measure.Part{{Name: "claims", Limit: claimLimit, Run: measureClaims}})
}

// measureClaims claims and finishes tasks one by one on some connections, next to two plain
// updates each.
func measureClaims(ctx context.Context) error {
	b, err := symbols.StartBench(ctx)
	if err != nil {
		return err
	}
	defer b.Stop()
	ids := make([]uuid.UUID, claimedTasks)
	list := make([]*ledger.NewTask, claimedTasks)
	for i := range ids {
		ids[i] = uuid.Must(uuid.NewV7())
		list[i] = &ledger.NewTask{ID: ids[i], Kind: claimKind, Queue: "default", OrganizationID: b.Org,
			Payload: map[string]int{"n": i}, MaxAttempts: 5}
	}
	if _, err := ledger.InsertAll(ctx, b.DB, list); err != nil {
		return fmt.Errorf("insert tasks: %w", err)
	}
	if _, err := b.DB.ExecContext(ctx, claimTable); err != nil {
		return err
	}
	if _, err := b.DB.ExecContext(ctx, claimRows, claimKind); err != nil {
		return err
	}
	if _, err := b.DB.ExecContext(ctx, "analyze"); err != nil {
		return err
	}
	plain := func(id uuid.UUID) error {
		for _, statement := range []string{claimBegin, claimEnd} {
			if _, err := b.DB.ExecContext(ctx, statement, id); err != nil {
				return err
			}
		}
		return nil
	}
	claim := func(id uuid.UUID) error {
		claimed, err := b.Ledger.Claim(ctx, ledger.ClaimRequest{ID: id, Kind: claimKind, OrganizationID: b.Org, Worker: "bench"})
		if err != nil {
			return err
		}
		if len(claimed) != 1 {
			return fmt.Errorf("%d tasks were claimed for one", len(claimed))
		}
		return worker.NewClaim(b.DB, claimed).Finish(ctx, nil, nil)
	}
	var baseline, ours float64
	for _, share := range [][]uuid.UUID{ids[:claimedTasks/3], ids[claimedTasks/3:]} { // the second counts
		if baseline, err = eachTask(ctx, "updates", share, plain); err != nil {
			return fmt.Errorf("baseline: %w", err)
		}
		if ours, err = eachTask(ctx, "claims", share, claim); err != nil {
			return fmt.Errorf("claim: %w", err)
		}
	}
	regression.Measured(ctx, "claims", ours/baseline)
	measure.Row(fmt.Sprintf("baseline: two updates a task, %d connections", claimConns), fmt.Sprintf("%.0f tasks/s", baseline), "", true)
	measure.Row("single tasks claimed and finished", fmt.Sprintf("%.0f tasks/s, %.2f of the baseline", ours, ours/baseline), "", true)
	return nil
}

// eachTask does something with each task on claimConns connections, and returns the tasks a
// second.
func eachTask(ctx context.Context, what string, ids []uuid.UUID, do func(uuid.UUID) error) (float64, error) {
	var next atomic.Int64
	defer progress.WaitsFor(ctx, func() string {
		return fmt.Sprintf("%s of %d of %d tasks", what, min(next.Load(), int64(len(ids))), len(ids))
	})()
	errs := make([]error, claimConns)
	start := time.Now()
	var done sync.WaitGroup
	for c := range claimConns {
		done.Go(func() {
			for errs[c] == nil {
				n := next.Add(1) - 1
				if n >= int64(len(ids)) {
					return
				}
				errs[c] = do(ids[n])
			}
		})
	}
	done.Wait()
	return float64(len(ids)) / time.Since(start).Seconds(), errors.Join(errs...)
}
