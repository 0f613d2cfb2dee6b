package reading

import (
	"context"
	"time"

	"github.com/slipway-qa/slipway/storage"
)

// FailedSuite is a suite with the runs that failed in some time.
type FailedSuite struct {
	Suite  string    `db:"suite_name"`
	Runs   int       `db:"runs"`
	LastAt time.Time `db:"last_at"`
}

// failedSuites reads suite_runs_age: a week of runs.
const failedSuites = `
from suite_runs where organization_id = $1 and created_at >= $2 and created_at < $3 and state in ('FAILED', 'ERROR')`

// FailedSuites returns the number of runs of suites of an organization that began from
// a time up to another and failed, and the suites with most of them, limit at most.
func FailedSuites(ctx context.Context, q storage.Querier, organizationID int64, from, to time.Time, limit int) (total int,
	list []FailedSuite, err error) {
	if err := q.GetContext(ctx, &total, `select count(*) `+failedSuites, organizationID, from, to); err != nil {
		return 0, nil, storage.Wrap(err, "count failed suite runs")
	}
	err = q.SelectContext(ctx, &list, `select suite_name, count(*) as runs, max(created_at) as last_at `+failedSuites+`
		group by suite_id, suite_name order by runs desc, last_at desc limit $4`, organizationID, from, to, limit)
	return total, list, storage.Wrap(err, "failed suite runs")
}
