package run

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/google/uuid"
	"github.com/lib/pq"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/step/capability"
)

// Selection is which jobs of an earlier run are run again.
type Selection string

// The selections.
const (
	OnlyAll    Selection = ""       // those that have ended, in whatever state
	OnlyFailed Selection = "failed" // those that ended as FAILED or ERROR, or were skipped
	OnlyFlaky  Selection = "flaky"
)

// states are those of the jobs that are selected.
func (s Selection) states() []string {
	switch s {
	case OnlyFailed:
		return []string{string(Failed), string(Errored), skipped}
	case OnlyFlaky:
		return []string{string(Flaky)}
	}
	return []string{string(Passed), string(Flaky), string(Failed), string(Errored), string(Cancelled), skipped}
}

// skipped is the state, in selections, of jobs that ended as CANCELLED since another test did not
// pass, or the time was over.
const skipped = "SKIPPED"

// stateOfJob is the state of job j in selections.
const stateOfJob = `case when j.error_code in ('` + CodeNeeds + `', '` + CodeMaxDuration + `') then '` + skipped + `' else j.state end`

// SuiteRerun names the suite run whose cases are run again, each on the targets of those of its
// jobs that are selected.
type SuiteRerun struct {
	Of   uuid.UUID
	Only Selection
}

// countToRerun counts the cases of the earlier run, by the index of its runs and their cases,
// that still are in the suite.
func countToRerun(which string) string {
	return `
select count(*) from test_runs k join test_cases c on c.id = k.case_id
where k.suite_run_id = $2 and k.login_key is null and ` + which + `
	and exists (select from test_jobs j where j.run_id = k.id and ` + stateOfJob + ` = any($3::text[]))
	and (select v.steps <> '[]' from test_revisions v where v.case_id = c.id order by v.number desc limit 1)`
}

var (
	countCasesToRerun   = countToRerun("c.suite_id = $1")
	countPlannedToRerun = countToRerun("c.id = any($1::text[])")
)

// selectedOfRun reads the targets of the jobs of run k that s selects by their states, and
// their data rows: null for all, and without any. Of a run of data rows each target is one in
// every target_count jobs.
const selectedOfRun = `
select (
	select jsonb_agg(x.target order by x.place) from (
		select distinct on (place) j.target, case when k.target_count > 0 then j.position % k.target_count else j.position end as place
		from test_jobs j where j.run_id = k.id and ` + stateOfJob + ` = any(s.states) order by place, j.position
	) x
) as targets, (
	select array_agg(distinct j.row_place) from test_jobs j
	where j.run_id = k.id and ` + stateOfJob + ` = any(s.states) and j.row_place is not null and not s.everything
) as rows`

// selectedAgain gives a run of a suite what its suite run was given.
const selectedAgain = `
select t.targets, t.rows, coalesce(w.variable_names, k.variable_names) as variable_names, coalesce(k.retries, w.retries) as retries,
	coalesce(nullif(k.trace, ''), w.trace, '') as trace
from test_runs k left join suite_runs w on w.id = k.suite_run_id
cross join (select $3::text[] as states, $4::boolean as everything) s
cross join lateral (` + selectedOfRun + `) t
where k.id = $1 and k.organization_id = $2`

// Again is what of an earlier run is run again.
type Again struct {
	// Targets are those of the jobs that are selected, and Rows the places of their data rows: nil
	// for all, and for a run without rows.
	Targets []capability.Target
	Rows    []int
	// VariableNames, Retries and Trace are what the run was given, itself or by the run of its suite.
	// The values of the variables are deleted when that ends.
	VariableNames []string
	Retries       *int
	Trace         string
}

// AgainOf returns what of a run is run again.
func AgainOf(ctx context.Context, q storage.Querier, r *Run, only Selection) (*Again, error) {
	var found struct {
		Targets []byte         `db:"targets"`
		Rows    pq.Int64Array  `db:"rows"`
		Names   pq.StringArray `db:"variable_names"`
		Retries *int           `db:"retries"`
		Trace   string         `db:"trace"`
	}
	err := q.GetContext(ctx, &found, selectedAgain, r.ID, r.OrganizationID, texts(only.states()), only == OnlyAll)
	if err != nil {
		return nil, storage.Wrap(err, "selected jobs of test run "+r.ID.String())
	}
	again := &Again{VariableNames: found.Names, Retries: found.Retries, Trace: found.Trace}
	if found.Targets != nil {
		if err := json.Unmarshal(found.Targets, &again.Targets); err != nil {
			return nil, fmt.Errorf("targets of test run %s: %w", r.ID, err)
		}
	}
	for _, place := range found.Rows {
		again.Rows = append(again.Rows, int(place))
	}
	return again, nil
}

// nextToRerun reads the next cases to be run again. Such a case needs no target of its own: it
// runs on those that the jobs had. One of whose selected data rows none is there any more is
// left out: its run would have no job. The rest is as in nextCases.
func nextToRerun(which string) string {
	return `
select c.id, c.team_id, c.name, c.run_settings, v.id as revision_id, v.data_id, k.tunnel, t.targets, t.rows
from test_runs k join test_cases c on c.id = k.case_id
cross join lateral (select id, steps, data_id from test_revisions where case_id = c.id order by number desc limit 1) v
cross join (select $5::text[] as states, $7::boolean as everything) s
cross join lateral (` + selectedOfRun + `) t
left join test_data d on d.id = v.data_id
where k.suite_run_id = $6 and k.login_key is null and (t.rows is null or d.id is null or d.row_count > any(t.rows)) and c.organization_id = $2
	and v.steps <> '[]' and t.targets is not null and ` + which + `
order by k.case_id limit $4`
}

var (
	nextCasesToRerun = nextToRerun(`c.suite_id = $1
	and k.case_id > coalesce((select max(case_id) from test_runs where suite_run_id = $3 and login_key is null), '')`)
	plannedCasesToRerun = nextToRerun(`c.id = any($1::text[]) and $3::uuid is not null`)
)

// runAgain returns the run of a case that an earlier run of the suite had, and its targets: as
// they were, with all that was made of them then.
func (f *fanout) runAgain(c *caseToRun) (*Run, []capability.Target, error) {
	run := &Run{ID: storage.NewID(), CaseID: c.ID, CaseName: c.Name, RevisionID: c.RevisionID, BuildName: f.BuildName, BuildID: f.BuildID,
		Tunnel: c.Tunnel, needs: c.needs, needed: c.needed}
	var settings capability.RunSettings
	if err := json.Unmarshal(c.Settings, &settings); err != nil {
		return nil, nil, fmt.Errorf("settings of test case %s: %w", c.ID, err)
	}
	run.at(f.TestURL, settings.TestURL)
	var targets []capability.Target
	if err := json.Unmarshal(c.Targets, &targets); err != nil {
		return nil, nil, fmt.Errorf("targets of the earlier run of test case %s: %w", c.ID, err)
	}
	return run, targets, nil
}

// nextCases returns the next cases to make runs of, and whether some may be left then.
func (f *fanout) nextCases(ctx context.Context, tx *storage.Tx, suiteRunID uuid.UUID, limit int, given bool) (cases []caseToRun,
	more bool, err error) {
	if f.Planned || f.Special {
		return f.nextPlanned(ctx, tx, suiteRunID, limit, given)
	}
	cases, err = f.selectCases(ctx, tx, nextCases, nextCasesToRerun, f.SuiteID, suiteRunID, limit, given)
	return cases, len(cases) == limit, err
}

// selectCases reads cases by the statement for what of the suite, or of its earlier run, is run.
func (f *fanout) selectCases(ctx context.Context, tx *storage.Tx, first, again string, of any, suiteRunID uuid.UUID,
	limit int, given bool) (cases []caseToRun, err error) {
	if f.RerunOf != nil {
		err = tx.SelectContext(ctx, &cases, again, of, f.OrganizationID, suiteRunID, limit, texts(f.RerunOnly.states()), *f.RerunOf,
			f.RerunOnly == OnlyAll)
	} else {
		err = tx.SelectContext(ctx, &cases, first, of, f.OrganizationID, suiteRunID, limit, given, f.loginDocument())
	}
	return cases, storage.Wrap(err, "next cases of a suite run")
}
