package run

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/google/uuid"

	"github.com/slipway-qa/slipway/storage"
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
func List(ctx context.Context, q storage.Querier, f Filter) ([]Run, int, error) {
	where, args := f.conditions("r", "case_id", healedRun, storage.WithoutNUL(f.CaseID))
	return listRuns(ctx, q, where, args, f.Page)
}

const runByID = `
select ` + shownColumns + ` from test_runs r` + runTables + `
where r.organization_id = $1 and r.case_id = $2 and r.id = $3`

// ByID reads a run of a case with its first jobs, as ByIDWith does.
func ByID(ctx context.Context, q storage.Querier, organizationID int64, caseID string, id uuid.UUID) (*Run, error) {
	return ByIDWith(ctx, q, organizationID, caseID, id, JobPage{Limit: DefaultJobs})
}

// ByIDWith reads a run of a case with a page of its jobs, their files and their records as
// far as ReadRecords goes; ErrNotFound also for another organization's or another case's.
func ByIDWith(ctx context.Context, q storage.Querier, organizationID int64, caseID string, id uuid.UUID, p JobPage) (*Run, error) {
	var row runRow
	if err := q.GetContext(ctx, &row, runByID, organizationID, storage.WithoutNUL(caseID), id); err != nil {
		return nil, storage.Wrap(err, "test run "+id.String())
	}
	list, err := withJobs(ctx, q, []runRow{row}, p)
	if err != nil {
		return nil, err
	}
	jobs := make([]*Job, len(list[0].Jobs))
	for i := range jobs {
		jobs[i] = &list[0].Jobs[i]
	}
	if err := ReadRecords(ctx, q, jobs); err != nil {
		return nil, err
	}
	return &list[0], withFiles(ctx, q, list)
}

// SuiteRuns returns a page of a suite's runs, newest first, and the number of all.
func SuiteRuns(ctx context.Context, q storage.Querier, f Filter) ([]SuiteRun, int, error) {
	where, args := f.conditions("s", "suite_id", healedSuiteRun, f.SuiteID)
	rows := []SuiteRunRow{}
	if f.RowLimit() > 0 {
		query, all := runPage("suite_runs", "s", SuiteRunColumns, SuiteRunTables, where, args, f.Page)
		if err := q.SelectContext(ctx, &rows, query, all...); err != nil {
			return nil, 0, storage.Wrap(err, "list suite runs")
		}
	}
	list := make([]SuiteRun, len(rows))
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
select ` + SuiteRunColumns + ` from suite_runs s` + SuiteRunTables + `
where s.organization_id = $1 and s.suite_id = $2 and s.id = $3`

// SuiteRunByID reads a run of a suite; ErrNotFound as ByID.
func SuiteRunByID(ctx context.Context, q storage.Querier, organizationID int64, suiteID, id uuid.UUID) (*SuiteRun, error) {
	var row SuiteRunRow
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
select ` + shownColumns + ` from test_runs r` + runTables + `
where r.suite_run_id = $1 order by r.case_name, r.case_id limit $2`

// OfSuiteRun returns the case runs of a suite run with their first jobs and the jobs'
// files, in the order of the cases' names, at most 10,000. Records are left out.
func OfSuiteRun(ctx context.Context, q storage.Querier, suiteRunID uuid.UUID) ([]Run, error) {
	rows := []runRow{}
	if err := q.SelectContext(ctx, &rows, runsOfSuiteRun, suiteRunID, maxSuiteRuns); err != nil {
		return nil, storage.Wrap(err, "runs of suite run "+suiteRunID.String())
	}
	if len(rows) == 0 {
		return []Run{}, nil
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
