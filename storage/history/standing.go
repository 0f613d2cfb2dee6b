package history

import (
	"context"

	"github.com/google/uuid"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/run"
)

// Standing is since when a case or suite fails, of all its runs. LastGood is its newest run that
// passed. FirstBad is the first that failed after it; nil while none has.
type Standing struct{ LastGood, FirstBad *Run }

// standing reads the last good run from the index of those that passed, the first bad one
// after it from that of those that failed. For the organization see looked: it is no range
// that is sorted by, since the planner takes the rest of a range for few rows, and would sort
// half a million.
func standing(columns, table, of string) string {
	return `
with good as (
	select ` + columns + ` from ` + table + ` r where (r.organization_id = $1) is true and r.` + of + ` = $2 and r.state = 'PASSED'
	order by r.created_at desc, r.id desc limit 1
), bad as (
	select ` + columns + ` from ` + table + ` r where (r.organization_id = $1) is true and r.` + of + ` = $2 and r.state in ('FAILED', 'ERROR')
		and (r.created_at, r.id) > (coalesce((select created_at from good), '-infinity'),
			coalesce((select id from good), '00000000-0000-0000-0000-000000000000'))
	order by r.created_at, r.id limit 1
)
select r.*, ` + shown + ` from (select * from good union all select * from bad) r` + shownTables + `
order by r.created_at`
}

// CaseStanding returns since when a case fails.
func CaseStanding(ctx context.Context, q storage.Querier, organizationID int64, caseID string) (Standing, error) {
	return readStanding(ctx, q, standing(caseColumns, "test_runs", "case_id"), organizationID, caseID)
}

// SuiteStanding returns since when a suite fails.
func SuiteStanding(ctx context.Context, q storage.Querier, organizationID int64, id uuid.UUID) (Standing, error) {
	return readStanding(ctx, q, standing(suiteColumns, "suite_runs", "suite_id"), organizationID, id)
}

func readStanding(ctx context.Context, q storage.Querier, query string, organizationID int64, subject any) (s Standing, err error) {
	var rows []runRow
	if err := q.SelectContext(ctx, &rows, query, organizationID, subject); err != nil {
		return s, storage.Wrap(err, "look for the last good test run")
	}
	for i := range rows {
		one, err := rows[i].run()
		if err != nil {
			return s, err
		}
		if one.Status == run.Passed {
			s.LastGood = &one
		} else {
			s.FirstBad = &one
		}
	}
	return s, nil
}
