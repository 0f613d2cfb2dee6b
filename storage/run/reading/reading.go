// Package reading reads what lists and pages show of runs: runs with a page of their jobs, one
// run or job with its records and files, the history of cases and suites, the matrix of a
// suite, the last good job to compare one with, and the suites that failed.
//
// It writes nothing; package run has what is recorded and decided. A list is counted and cut to
// its page before anything is joined to it. Jobs come without records unless a function says
// otherwise, for those of one job may be megabytes: Records reads them, and each page of them is
// bounded. What an organization does not have is not found, whoever else has it.
package reading

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/google/uuid"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/run"
)

// Filter selects runs of a case or a suite.
type Filter struct {
	OrganizationID int64
	CaseID         string    // of List
	SuiteID        uuid.UUID // of SuiteRuns
	From, To       time.Time // creation; From inclusive, To exclusive; zero: no bound
	User           *uuid.UUID
	Team           *uuid.UUID
	Healed         *bool  // whether any step was healed
	BuildID        int64  // that was tested; 0: all
	Environment    string // its name; "": all
	storage.Page
}

// What was healed in a run of a case and in one of a suite. Both are found from the run.
const (
	healedRun      = `exists (select from test_jobs j where j.run_id = r.id and j.healed > 0)`
	healedSuiteRun = `exists (
	select from test_runs k join test_jobs j on j.run_id = k.id where k.suite_run_id = s.id and j.healed > 0)`
)

// conditions returns the conditions on the rows of a table under an alias, the first
// of them on the case or suite; healed is the one on what was healed.
func (f Filter) conditions(alias, of, healed string, subject any) (string, []any) {
	args := []any{f.OrganizationID, subject}
	where := alias + ".organization_id = $1 and " + alias + "." + of + " = $2"
	add := func(condition string, value any) {
		args = append(args, value)
		where += " and " + alias + "." + condition + "$" + strconv.Itoa(len(args))
	}
	if !f.From.IsZero() {
		add("created_at >= ", f.From)
	}
	if !f.To.IsZero() {
		add("created_at < ", f.To)
	}
	if f.User != nil {
		add("user_uuid = ", *f.User)
	}
	if f.Team != nil {
		add("team_id = (select id from teams where organization_id = $1 and uuid = ", *f.Team)
		where += ")"
	}
	if f.BuildID != 0 {
		add("build_id = ", f.BuildID)
	}
	if f.Environment != "" {
		add("environment = ", f.Environment)
		where += " and " + alias + ".environment <> ''"
	}
	if f.Healed != nil {
		args = append(args, *f.Healed)
		where += " and " + healed + " = $" + strconv.Itoa(len(args)) + "::boolean"
	}
	return where, args
}

// runPage is the statement of a page with the number of all as total. The page is
// cut before anything is joined to it.
func runPage(table, alias, columns, tables, where string, args []any, p storage.Page) (string, []any) {
	n := len(args)
	return `
with page as (
	select id from ` + table + ` ` + alias + ` where ` + where + `
	order by created_at desc, id desc limit $` + strconv.Itoa(n+1) + ` offset $` + strconv.Itoa(n+2) + `
)
select (select count(*) from ` + table + ` ` + alias + ` where ` + where + `) as total, ` + columns + `
from page join ` + table + ` ` + alias + ` on ` + alias + `.id = page.id` + tables + `
order by ` + alias + `.created_at desc, ` + alias + `.id desc`, append(args[:n:n], p.RowLimit(), p.RowOffset())
}

func runTotal(ctx context.Context, q storage.Querier, table, alias, where string, args []any) (total int, err error) {
	err = q.GetContext(ctx, &total, `select count(*) from `+table+` `+alias+` where `+where, args...)
	return total, storage.Wrap(err, "count runs")
}

// List returns a page of a case's runs, newest first, and the number of all.
func List(ctx context.Context, q storage.Querier, f Filter) ([]run.Run, int, error) {
	where, args := f.conditions("r", "case_id", healedRun, storage.WithoutNUL(f.CaseID))
	return listRuns(ctx, q, where, args, f.Page)
}

const runByID = `
select ` + run.ShownColumns + ` from test_runs r` + run.Tables + `
where r.organization_id = $1 and r.case_id = $2 and r.id = $3`

// ByID reads a run of a case with its first jobs, as ByIDWith does.
func ByID(ctx context.Context, q storage.Querier, organizationID int64, caseID string, id uuid.UUID) (*run.Run, error) {
	return ByIDWith(ctx, q, organizationID, caseID, id, JobPage{Limit: DefaultJobs})
}

// ByIDWith reads a run of a case with a page of its jobs, their files and their records as
// far as Records goes; ErrNotFound also for another organization's or another case's.
func ByIDWith(ctx context.Context, q storage.Querier, organizationID int64, caseID string, id uuid.UUID, p JobPage) (*run.Run, error) {
	var row run.RunRow
	if err := q.GetContext(ctx, &row, runByID, organizationID, storage.WithoutNUL(caseID), id); err != nil {
		return nil, storage.Wrap(err, "test run "+id.String())
	}
	list, err := withJobs(ctx, q, []run.RunRow{row}, p)
	if err != nil {
		return nil, err
	}
	jobs := make([]*run.Job, len(list[0].Jobs))
	for i := range jobs {
		jobs[i] = &list[0].Jobs[i]
	}
	if err := Records(ctx, q, jobs); err != nil {
		return nil, err
	}
	return &list[0], withFiles(ctx, q, list)
}

// SuiteRuns returns a page of a suite's runs, newest first, and the number of all.
func SuiteRuns(ctx context.Context, q storage.Querier, f Filter) ([]run.SuiteRun, int, error) {
	where, args := f.conditions("s", "suite_id", healedSuiteRun, f.SuiteID)
	rows := []run.SuiteRunRow{}
	if f.RowLimit() > 0 {
		query, all := runPage("suite_runs", "s", run.SuiteRunColumns, run.SuiteRunTables, where, args, f.Page)
		if err := q.SelectContext(ctx, &rows, query, all...); err != nil {
			return nil, 0, storage.Wrap(err, "list suite runs")
		}
	}
	list := make([]run.SuiteRun, len(rows))
	for i := range rows {
		list[i] = rows[i].SuiteRun()
	}
	if len(rows) > 0 {
		return list, rows[0].Total, nil
	}
	total, err := runTotal(ctx, q, "suite_runs", "s", where, args)
	return list, total, err
}

const suiteRunByID = `
select ` + run.SuiteRunColumns + ` from suite_runs s` + run.SuiteRunTables + `
where s.organization_id = $1 and s.suite_id = $2 and s.id = $3`

// SuiteRunByID reads a run of a suite; ErrNotFound as ByID.
func SuiteRunByID(ctx context.Context, q storage.Querier, organizationID int64, suiteID, id uuid.UUID) (*run.SuiteRun, error) {
	var row run.SuiteRunRow
	if err := q.GetContext(ctx, &row, suiteRunByID, organizationID, suiteID, id); err != nil {
		return nil, storage.Wrap(err, "suite run "+id.String())
	}
	run := row.SuiteRun()
	return &run, nil
}

// maxSuiteRuns is the most case runs of a suite run that are read at once: a
// report of more helps nobody, and each may have many files.
const maxSuiteRuns = 10_000

const runsOfSuiteRun = `
select ` + run.ShownColumns + ` from test_runs r` + run.Tables + `
where r.suite_run_id = $1 order by r.case_name, r.case_id limit $2`

// OfSuiteRun returns the case runs of a suite run with their first jobs and the jobs'
// files, in the order of the cases' names, at most 10,000. Records are left out.
func OfSuiteRun(ctx context.Context, q storage.Querier, suiteRunID uuid.UUID) ([]run.Run, error) {
	rows := []run.RunRow{}
	if err := q.SelectContext(ctx, &rows, runsOfSuiteRun, suiteRunID, maxSuiteRuns); err != nil {
		return nil, storage.Wrap(err, "runs of suite run "+suiteRunID.String())
	}
	if len(rows) == 0 {
		return []run.Run{}, nil
	}
	list, err := withJobs(ctx, q, rows, firstJobs(len(rows)))
	if err != nil {
		return nil, err
	}
	return list, withFiles(ctx, q, list)
}

const endedRuns = `
select want.id from unnest($1::uuid[]) as want(id)
where not exists (select from test_runs r where r.id = want.id and r.state in ('QUEUED', 'RUNNING'))
	and not exists (select from suite_runs s where s.id = want.id and s.state in ('QUEUED', 'RUNNING'))`

// Ended returns those of the ids that name a run or suite run which has ended,
// or that is not there: for the watcher of waiting requests.
func Ended(ctx context.Context, q storage.Querier, ids []uuid.UUID) ([]uuid.UUID, error) {
	ended := []uuid.UUID{}
	err := q.SelectContext(ctx, &ended, endedRuns, storage.UUIDs(ids))
	if err != nil {
		return nil, storage.Wrap(err, fmt.Sprintf("look at %d runs", len(ids)))
	}
	return ended, nil
}
