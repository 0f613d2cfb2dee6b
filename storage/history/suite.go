package history

import (
	"context"
	"time"

	"github.com/google/uuid"

	"github.com/slipway-qa/slipway/storage"
)

const (
	// topCases is how many cases of a suite are named: who has mended these looks again.
	topCases = 10
	// countedRuns bounds the case runs that they are found among: the newest suite runs of the
	// window that have so many together, and always one.
	countedRuns = 20_000
)

// CaseSum is what a case did in the runs of its suite.
type CaseSum struct {
	CaseID   string `db:"case_id"`
	CaseName string `db:"case_name"` // in the newest of them
	Runs     int    `db:"runs"`      // with a result
	Failed   int    `db:"failed"`    // or ended as an error
	Flaky    int    `db:"flaky"`     // passed after it had failed
	// Groups are those of Flakiness that it was in, Both those that saw both results.
	Groups int `db:"groups"`
	Both   int `db:"both_seen"`
	MeanMS int `db:"mean_ms"`
	P95MS  int `db:"p95_ms"`
}

// Cases are the cases of a suite that stand out.
type Cases struct {
	Runs     int // suite runs of the window that were counted
	Slowest  []CaseSum
	Flakiest []CaseSum // without those that were not flaky
}

// chosen are the suite runs of the window whose case runs are counted; its arguments are those
// of looked, with the bound of case runs as $7, and those of the filter.
func chosen(where string) string {
	return `
with counted as materialized (
	select id, together from (
		select r.id, r.together, r.run_count, sum(r.run_count) over (order by r.created_at desc, r.id desc) as upto
		from (` + looked(`r.id, r.run_count, r.created_at, r.build_id, r.environment, `+groupOf("r.suite_name", "''")+` as together`,
		"suite_runs", "suite_id") + `) r
		where ` + where + `
	) r where upto <= $7 or upto = run_count
)`
}

// topOf returns the statement of the cases that stand out.
func topOf(where string) string {
	return chosen(where) + `, ended as (
	select k.case_id, k.case_name, k.revision_id, k.state, k.flaky, k.created_at, c.together,
		extract(epoch from k.finished_at - k.started_at) * 1000 as ms
	from counted c join test_runs k on k.suite_run_id = c.id and k.state in ('PASSED', 'FAILED', 'ERROR')
), grouped as (
	select case_id, count(*) as groups, count(*) filter (where both_seen) as both_seen from (
		select case_id, bool_or(state = 'PASSED') and bool_or(state <> 'PASSED' or flaky > 0) as both_seen from ended
		group by case_id, together, revision_id
	) g group by case_id
), summed as materialized (
	select e.case_id, (array_agg(e.case_name order by e.created_at desc))[1] as case_name, count(*) as runs,
		count(*) filter (where e.state <> 'PASSED') as failed, count(*) filter (where e.state = 'PASSED' and e.flaky > 0) as flaky,
		coalesce(avg(e.ms), 0)::bigint as mean_ms, coalesce(percentile_disc(0.95) within group (order by e.ms), 0)::bigint as p95_ms
	from ended e group by e.case_id
), cases as materialized (
	select s.*, g.groups, g.both_seen from summed s join grouped g on g.case_id = s.case_id
)
select * from (
	(select 'slowest' as list, row_number() over (order by mean_ms desc, case_id) as place, cases.*, (select count(*) from counted) as counted
		from cases order by mean_ms desc, case_id limit $8)
	union all
	(select 'flakiest', row_number() over (order by both_seen::float8 / groups desc, both_seen desc, case_id), cases.*,
		(select count(*) from counted)
		from cases where both_seen > 0 order by both_seen::float8 / groups desc, both_seen desc, case_id limit $8)
) t order by list, place`
}

// TopCases returns the slowest and the flakiest cases of a suite in the window that
// OfSuiteWindow has.
func TopCases(ctx context.Context, q storage.Querier, organizationID int64, id uuid.UUID, f Filter, now time.Time) (Cases, error) {
	f.Target = ""
	where, args := f.matching(8)
	bounded := f.within(now)
	if f.To.IsZero() {
		bounded.To = time.Time{}
	}
	at, last, from := bounded.bounds(nil)
	var rows []struct {
		List    string `db:"list"`
		Place   int    `db:"place"`
		Counted int    `db:"counted"`
		CaseSum
	}
	all := append([]any{organizationID, id, at, last, from, WindowRuns, countedRuns, topCases}, args...)
	if err := q.SelectContext(ctx, &rows, topOf(where), all...); err != nil {
		return Cases{}, storage.Wrap(err, "cases that stand out in suite "+id.String())
	}
	found := Cases{Slowest: []CaseSum{}, Flakiest: []CaseSum{}}
	for _, row := range rows {
		found.Runs = row.Counted
		if row.List == "slowest" {
			found.Slowest = append(found.Slowest, row.CaseSum)
		} else {
			found.Flakiest = append(found.Flakiest, row.CaseSum)
		}
	}
	return found, nil
}
