package reading

import (
	"context"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/run"
)

// maxBuildSuites bounds the suites of a build: nobody decides over a build by more.
const maxBuildSuites = 200

// newestOnBuild steps from suite to suite by suite_runs_build, so that older runs of a suite
// on the build, however many, are not read. The planner takes the steps for many, and would
// read the whole table beside them: offset 0 keeps it from that.
const newestOnBuild = `
with recursive newest as (
	(select suite_id, id from suite_runs where organization_id = $1 and build_id = $2
		order by suite_id, created_at desc, id desc limit 1)
	union all
	select s.suite_id, s.id from newest cross join lateral (
		select suite_id, id from suite_runs where organization_id = $1 and build_id = $2 and suite_id > newest.suite_id
		order by suite_id, created_at desc, id desc limit 1) s
),
page as materialized (select id from newest limit $3)
select ` + run.SuiteRunColumns + ` from page cross join lateral (select * from suite_runs where id = page.id offset 0) s` +
	run.SuiteRunTables + `
order by s.suite_name, s.suite_id`

// SuiteRunsOfBuild returns the newest run of each suite on a build, with the counts of its
// case runs by their status, in the order of the suites' names; at most those of 200 suites.
// It is empty for a build that no suite was run on, and for another organization's.
func SuiteRunsOfBuild(ctx context.Context, q storage.Querier, organizationID, buildID int64) ([]run.SuiteRun, error) {
	var rows []run.SuiteRunRow
	if err := q.SelectContext(ctx, &rows, newestOnBuild, organizationID, buildID, maxBuildSuites); err != nil {
		return nil, storage.Wrap(err, "suite runs of a build")
	}
	list := make([]run.SuiteRun, len(rows))
	for i := range rows {
		list[i] = rows[i].SuiteRun()
	}
	return list, nil
}
