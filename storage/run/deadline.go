package run

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/slipway-qa/slipway/storage"
)

// overdue allows a second for times that were rounded.
const overdue = `
select max_duration from suite_runs
where id = $1 and state in ('QUEUED', 'RUNNING') and created_at + make_interval(secs => max_duration) <= now() + interval '1 second'`

// Expire ends a suite run whose time is over, as CANCELLED: jobs that have not begun are skipped,
// those that run are cancelled. It returns the jobs and suite runs that were open, whose ledger
// tasks the caller cancels in the same transaction; none when the run has ended, or has time left.
func Expire(ctx context.Context, tx *storage.Tx, id uuid.UUID) ([]uuid.UUID, error) {
	var seconds []int
	if err := tx.SelectContext(ctx, &seconds, overdue, id); err != nil || len(seconds) == 0 {
		return nil, storage.Wrap(err, "time of suite run "+id.String())
	}
	most := (time.Duration(seconds[0]) * time.Second).String()
	return cancelSuiteRuns(ctx, tx, []uuid.UUID{id}, stopped{code: CodeMaxDuration,
		waiting: fmt.Sprintf("skipped: the maximum time of the suite's run, %s, was over before the test began", most),
		running: fmt.Sprintf("stopped: the maximum time of the suite's run, %s, was over", most),
		whole:   fmt.Sprintf("the maximum time of %s was over", most)})
}
