package history

import (
	"context"
	"strconv"
	"strings"

	"github.com/google/uuid"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/run/reading"
)

// lookedAt is how many runs a page with a filter looks at: what few of them match is found page
// by page, and no request reads all runs of a case.
const lookedAt = 2000

// maxTargets is how many jobs of a run without data rows there are at most, one for each target.
const maxTargets = "20"

// Page is a part of a history, newest first.
type Page struct {
	Runs []Run
	Next *Cursor // where the next part begins; nil: there is none
}

// matching returns the conditions of a filter on the runs of a subquery, and their arguments,
// which follow n others.
func (f *Filter) matching(n int) (where string, args []any) {
	conditions := []string{"true"}
	add := func(condition string, value any) {
		args = append(args, value)
		conditions = append(conditions, strings.ReplaceAll(condition, "?", "$"+strconv.Itoa(n+len(args))))
	}
	if f.BuildID != 0 {
		add("r.build_id = ?", f.BuildID)
	}
	if f.Environment != "" {
		add("r.environment = ?", f.Environment)
	}
	if f.Target != "" {
		add(`exists (select from test_jobs j where j.run_id = r.id and j.position < `+maxTargets+`
			and lower(?) in (lower(j.target -> 'capabilities' ->> 'browserName'), lower(j.target -> 'capabilities' ->> 'platformName')))`, f.Target)
	}
	return strings.Join(conditions, " and "), args
}

// looked returns the subquery of the newest runs of a case or suite in a range, at most $6.
// The organization as a condition that no index serves leaves the planner the one of the case's or
// suite's runs alone: in that of the organization's, those of a case that is no longer run stand
// behind all others.
func looked(columns, table, of string) string {
	return `select ` + columns + ` from ` + table + ` r where (r.organization_id = $1) is true and r.` + of + ` = $2
		and (r.created_at, r.id) < ($3::timestamptz, $4::uuid) and r.created_at >= $5::timestamptz
	order by r.created_at desc, r.id desc limit $6`
}

// pageOf returns the statement of a page; its arguments are those of looked, the limit and the
// offset, and those of the filter.
func pageOf(columns, table, of, where, sums, tables string) string {
	return `
select r.id, r.build_name, r.revision_id, r.suite_run_id, r.state, r.created_at, r.started_at, r.finished_at, r.flaky, r.build_id,
	r.environment, r.job_count, r.target_count, r.quarantined, r.pinned_at, r.pinned_by, ` + shown + `, ` + sums + `
from (
	select * from (` + looked(columns, table, of) + `) r where ` + where + `
	order by r.created_at desc, r.id desc limit $7 offset $8
) r` + shownTables + tables + `
order by r.created_at desc, r.id desc`
}

// The sums of a run that has ended stand in it. The targets of a run of data rows are those of its
// first one.
const (
	caseSums   = `coalesce(r.healed, n.healed) as healed, coalesce(r.attempts, n.attempts) as attempts, j.targets, j.row_place, j.row_name`
	caseTables = `
left join lateral (
	select coalesce(sum(k.healed), 0) as healed, count(*) + coalesce(sum(k.attempts), 0) as attempts from test_jobs k
	where k.run_id = r.id and r.healed is null
) n on true
left join lateral (
	select coalesce(jsonb_agg(k.target order by k.position), '[]') as targets, min(k.row_place) as row_place, min(k.row_name) as row_name
	from test_jobs k where k.run_id = r.id and k.position < coalesce(nullif(r.target_count, 0), ` + maxTargets + `)
) j on true`
	suiteSums = `coalesce(r.healed, n.healed) as healed, coalesce(r.attempts, n.attempts) as attempts,
	n.passed, n.failed, n.errored, n.cancelled, n.open, n.quarantined as in_quarantine, n.passed_flaky`
	suiteTables = `
left join lateral (
	select sum(k.healed) as healed, sum(k.attempts) as attempts, count(*) filter (where k.state = 'PASSED') as passed,
		count(*) filter (where k.state = 'FAILED' and k.quarantine is null) as failed,
		count(*) filter (where k.state = 'ERROR' and k.quarantine is null) as errored, count(*) filter (where k.state = 'CANCELLED') as cancelled,
		count(*) filter (where k.state in ('QUEUED', 'RUNNING')) as open,
		count(*) filter (where k.state in ('FAILED', 'ERROR') and k.quarantine is not null) as quarantined,
		count(*) filter (where k.state = 'PASSED' and k.flaky > 0) as passed_flaky
	from test_runs k where k.suite_run_id = r.id
) n on true`
)

// pageRow is a row of pageOf.
type pageRow struct {
	runRow
	Counts
	InQuarantine int `db:"in_quarantine"`
	PassedFlaky  int `db:"passed_flaky"`
}

// OfCase returns a page of the runs of a case, from a place on; nil is the newest. The offset of
// the page is bounded by the caller.
func OfCase(ctx context.Context, q storage.Querier, organizationID int64, caseID string, f Filter, after *Cursor,
	p storage.Page) (Page, error) {
	where, args := f.matching(8)
	return page(ctx, q, pageOf(caseColumns, "test_runs", "case_id", where, caseSums, caseTables),
		looked("r.created_at as at, r.id", "test_runs", "case_id"), organizationID, caseID, f, after, p, args)
}

// OfSuite returns a page of the runs of a suite. Target is no filter of it.
func OfSuite(ctx context.Context, q storage.Querier, organizationID int64, id uuid.UUID, f Filter, after *Cursor,
	p storage.Page) (Page, error) {
	f.Target = ""
	where, args := f.matching(8)
	found, err := page(ctx, q, pageOf(suiteColumns, "suite_runs", "suite_id", where, suiteSums, suiteTables),
		looked("r.created_at as at, r.id", "suite_runs", "suite_id"), organizationID, id, f, after, p, args)
	return found, err
}

func page(ctx context.Context, q storage.Querier, query, places string, organizationID int64, subject any, f Filter,
	after *Cursor, p storage.Page,
	args []any) (Page, error) {
	at, id, from := f.bounds(after)
	limit, look := p.RowLimit(), p.RowOffset()+p.RowLimit()+1
	if f.narrows() {
		look = lookedAt + p.RowOffset()
	}
	var rows []pageRow
	// One run more than the page is read: it says whether there are more, and how the last of the
	// page compares with it.
	all := append([]any{organizationID, subject, at, id, from, look, limit + 1, p.RowOffset()}, args...)
	if err := q.SelectContext(ctx, &rows, query, all...); err != nil {
		return Page{}, wrap(err, subject)
	}
	runs, err := runsOf(rows)
	if err != nil {
		return Page{}, err
	}
	mark(runs)
	if len(runs) > limit {
		runs = runs[:limit]
		if limit == 0 {
			return Page{Runs: runs}, nil
		}
		return Page{Runs: runs, Next: &Cursor{At: runs[limit-1].CreatedAt, ID: runs[limit-1].ID}}, nil
	}
	found := Page{Runs: runs}
	if !f.narrows() {
		return found, nil
	}
	// What was not looked at may have more.
	var last []Cursor
	err = q.SelectContext(ctx, &last, places+` offset $7`, organizationID, subject, at, id, from, 1, look-1)
	if len(last) > 0 {
		found.Next = &last[0]
	}
	return found, wrap(err, subject)
}

func runsOf(rows []pageRow) ([]Run, error) {
	runs := make([]Run, len(rows))
	for i := range rows {
		one, err := rows[i].run()
		if err != nil {
			return nil, err
		}
		if rows[i].RevisionID == "" { // of a suite
			counts := rows[i].Counts
			counts.Quarantined = rows[i].InQuarantine
			one.Cases, one.Flaky = &counts, rows[i].PassedFlaky
		}
		runs[i] = one
	}
	return runs, nil
}

// mark marks the runs whose results changed, as reading.MarkChanges does.
func mark(runs []Run) {
	pasts := make([]reading.Past, len(runs))
	for i := range runs {
		pasts[i] = runs[i].Past
	}
	reading.MarkChanges(pasts)
	for i := range runs {
		runs[i].Past = pasts[i]
	}
}
