package reading

import (
	"context"

	"github.com/google/uuid"
	"github.com/lib/pq"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/run"
)

// Cell is the run of a case in a run of its suite.
type Cell struct {
	CaseID     string     `db:"case_id"`
	SuiteRunID uuid.UUID  `db:"suite_run_id"`
	ID         uuid.UUID  `db:"id"`
	Status     run.Status `db:"state"`
	Healed     int        `db:"healed"`
}

const cells = `
select r.case_id, r.suite_run_id, r.id, r.state, j.healed from test_runs r
cross join lateral (select coalesce(sum(healed), 0) as healed from test_jobs where run_id = r.id and organization_id = $1) j
where r.organization_id = $1 and r.suite_run_id = any($2::uuid[]) and r.case_id = any($3::text[])`

// Cells returns the runs of cases in runs of their suite. The caller bounds both numbers.
func Cells(ctx context.Context, q storage.Querier, organizationID int64, suiteRuns []uuid.UUID, cases []string) ([]Cell, error) {
	var list []Cell
	if len(suiteRuns) == 0 || len(cases) == 0 {
		return nil, nil
	}
	err := q.SelectContext(ctx, &list, cells, organizationID, storage.UUIDs(suiteRuns), pq.Array(cases))
	return list, storage.Wrap(err, "matrix of test runs")
}

// NewestOfSuite returns the newest runs of a suite, without what was healed.
func NewestOfSuite(ctx context.Context, q storage.Querier, organizationID int64, id uuid.UUID, most int) ([]Past, error) {
	found, err := SuitesHistory(ctx, q, organizationID, []uuid.UUID{id}, most)
	return found[id.String()].Runs, err
}
