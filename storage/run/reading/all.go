package reading

import (
	"context"
	"strconv"
	"time"

	"github.com/lib/pq"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/run"
)

// AllFilter selects runs of an organization.
type AllFilter struct {
	OrganizationID int64
	Status         run.Status // "": all
	From, To       time.Time  // as of Filter
	BuildID        int64      // as of Filter
	Environment    string     // its name; "": all
	Tags           []string   // all of which the case has now
	Browser        string     // browserName of a target of a job, in any case; "": all
	storage.Page
}

// All returns a page of the runs of an organization, newest first, and the number of all
// that match. Its jobs are without records.
func All(ctx context.Context, q storage.Querier, f AllFilter) ([]run.Run, int, error) {
	args := []any{f.OrganizationID}
	where := "r.organization_id = $1"
	add := func(condition string, value any) {
		args = append(args, value)
		where += " and r." + condition + "$" + strconv.Itoa(len(args))
	}
	if f.Status != "" {
		add("state = ", f.Status)
	}
	if !f.From.IsZero() {
		add("created_at >= ", f.From)
	}
	if !f.To.IsZero() {
		add("created_at < ", f.To)
	}
	if f.BuildID != 0 {
		add("build_id = ", f.BuildID)
	}
	if f.Environment != "" {
		add("environment = ", f.Environment)
		where += " and r.environment <> ''"
	}
	if len(f.Tags) > 0 {
		add("case_id in (select c.id from test_cases c where c.organization_id = $1 and c.tags @> ", pq.Array(f.Tags))
		where += "::text[])"
	}
	if f.Browser != "" {
		args = append(args, f.Browser)
		where += ` and exists (select from test_jobs j where j.organization_id = $1 and j.run_id = r.id
			and lower(j.target -> 'capabilities' ->> 'browserName') = lower($` + strconv.Itoa(len(args)) + `))`
	}
	return listRuns(ctx, q, where, args, f.Page)
}

// listRuns reads the page of runs under a condition.
func listRuns(ctx context.Context, q storage.Querier, where string, args []any, p storage.Page) ([]run.Run, int, error) {
	rows := []run.RunRow{}
	if p.RowLimit() > 0 {
		query, all := runPage("test_runs", "r", run.ShownColumns, run.Tables, where, args, p)
		if err := q.SelectContext(ctx, &rows, query, all...); err != nil {
			return nil, 0, storage.Wrap(err, "list test runs")
		}
	}
	if len(rows) == 0 { // a page without rows has no total
		total, err := runTotal(ctx, q, "test_runs", "r", where, args)
		return []run.Run{}, total, err
	}
	list, err := withJobs(ctx, q, rows, firstJobs(len(rows)))
	return list, rows[0].Total, err
}
