package history

import (
	"context"
	"time"

	"github.com/google/uuid"
	"github.com/lib/pq"

	"github.com/slipway-qa/slipway/storage"
)

const (
	// maxSubjects is how many cases or suites one step looks at.
	maxSubjects = 200
	// maxSuiteRuns bounds the suite runs that one step takes something of: each has its case
	// runs looked at.
	maxSuiteRuns = 20
)

// Position is how far retention has come: through the cases, then through the suites. The zero
// one is the beginning.
type Position struct {
	Suites bool
	After  string // the id of the last case or suite
}

// Removed is what a step of retention did.
type Removed struct {
	Runs int      // runs of cases and suites
	Keys []string // objects of their files, to delete after the commit
	Next Position // of the next step
	More bool     // there is one; else Next is the beginning
}

// walkCases goes from case to case by the index of runs that belong to no suite run, and
// walkSuites from suite to suite, so that a step costs the same however many runs there are.
const (
	walkCases = `
with recursive walk (subject, organization_id, n) as (
	(select case_id, organization_id, 1 from test_runs where suite_run_id is null and case_id > $1
		order by case_id, created_at, id limit 1)
	union all
	select r.case_id, r.organization_id, n + 1 from walk cross join lateral (
		select case_id, organization_id from test_runs where suite_run_id is null and case_id > walk.subject
		order by case_id, created_at, id limit 1
	) r where n < $2
)
select w.subject, coalesce(o.run_retention_days, $3::integer) as days, o.run_retention_runs as kept
from walk w join organizations o on o.id = w.organization_id order by w.n`
	walkSuites = `
with recursive walk (subject, organization_id, n) as (
	(select suite_id, organization_id, 1 from suite_runs
	where suite_id > coalesce(nullif($1, '')::uuid, '00000000-0000-0000-0000-000000000000')
		order by suite_id limit 1)
	union all
	select r.suite_id, r.organization_id, n + 1 from walk cross join lateral (
		select suite_id, organization_id from suite_runs where suite_id > walk.subject order by suite_id limit 1
	) r where n < $2
)
select w.subject::text, coalesce(s.run_retention_days, o.run_retention_days, $3::integer) as days,
	coalesce(s.run_retention_runs, o.run_retention_runs) as kept
from walk w join organizations o on o.id = w.organization_id left join test_suites s on s.id = w.subject order by w.n`
)

// beyond is the condition on runs r of a subject w that are too old, or too many: older than as
// many others as are kept, of those that the condition among selects.
func beyond(table, of, among string) string {
	return `(r.created_at < $4::timestamptz - make_interval(days => w.days) or w.kept is not null and (r.created_at, r.id) < (
			select k.created_at, k.id from ` + table + ` k where k.` + of + ` = w.subject` + among + `
			order by k.created_at desc, k.id desc offset w.kept - 1 limit 1))`
}

// casesBeyond are the oldest runs of cases that retention takes, as many as have $5 jobs
// together, and always one.
var casesBeyond = `
select id from (
	select id, jobs, sum(jobs) over (order by created_at, id) as upto from (
		select r.id, r.created_at, (select count(*) from test_jobs j where j.run_id = r.id) as jobs
		from unnest($1::text[], $2::integer[], $3::integer[]) as w(subject, days, kept)
		cross join lateral (
			select r.id, r.created_at from test_runs r
			where r.case_id = w.subject and r.suite_run_id is null and r.state not in ('QUEUED', 'RUNNING') and r.pinned_at is null
				and ` + beyond("test_runs", "case_id", " and k.suite_run_id is null") + `
				and r.id is distinct from (select t.run_id from test_case_results t where t.case_id = w.subject)
				and r.id is distinct from (select g.id from test_runs g where g.case_id = w.subject and g.state = 'PASSED'
					order by g.created_at desc, g.id desc limit 1)
			order by r.created_at, r.id limit $5
		) r limit $5
	) oldest
) summed
where upto <= $5 or upto = jobs`

// keepsCase is whether a suite run has the newest or the last good run of a case, or one that
// is pinned.
const keepsCase = `
exists (
	select from test_runs k where k.suite_run_id = r.id and (k.pinned_at is not null or k.state in ('QUEUED', 'RUNNING')
		or exists (select from test_case_results t where t.case_id = k.case_id and t.run_id = k.id)
		or k.state = 'PASSED' and exists (select from test_cases c where c.id = k.case_id) and k.id = (
			select g.id from test_runs g where g.case_id = k.case_id and g.state = 'PASSED' order by g.created_at desc, g.id desc limit 1))
)`

// gateReads is whether the gate of a build judges by the run: it does by the newest run of
// each suite on it.
const gateReads = `
r.build_id is not null and exists (select from gates g where g.build_id = r.build_id) and r.id = (
	select x.id from suite_runs x where x.build_id = r.build_id and x.suite_id = r.suite_id order by x.created_at desc, x.id desc limit 1)`

var suitesBeyond = `
select r.id from unnest($1::uuid[], $2::integer[], $3::integer[]) as w(subject, days, kept)
cross join lateral (
	select r.id, r.created_at from suite_runs r
	where r.suite_id = w.subject and r.state not in ('QUEUED', 'RUNNING') and r.pinned_at is null
		and ` + beyond("suite_runs", "suite_id", "") + `
		and r.id is distinct from (select x.id from suite_runs x where x.suite_id = w.subject order by x.created_at desc, x.id desc limit 1)
		and r.id is distinct from (select g.id from suite_runs g where g.suite_id = w.subject and g.state = 'PASSED'
			order by g.created_at desc, g.id desc limit 1)
		and not (` + gateReads + `) and not ` + keepsCase + `
	order by r.created_at, r.id limit $5
) r order by r.created_at, r.id limit $5`

// Who pins a run locks it and the run of its suite: what is pinned after this is refused, since
// it is gone.
const (
	lockSuiteRuns = `select id from suite_runs where id = any($1::uuid[]) and pinned_at is null order by id for update`
	lockRuns      = `select id from test_runs where id = any($1::uuid[]) and pinned_at is null order by id for update`
	unpinned      = `
select s.id from unnest($1::uuid[]) as s(id)
where not exists (select from test_runs r where r.suite_run_id = s.id and r.pinned_at is not null)`
	caseRunsOf = `
select id from (
	select id, jobs, sum(jobs) over (order by created_at, id) as upto from (
		select r.id, r.created_at, (select count(*) from test_jobs j where j.run_id = r.id) as jobs
		from test_runs r where r.suite_run_id = any($1::uuid[]) order by r.created_at, r.id limit $2
	) oldest
) summed
where upto <= $2 or upto = jobs`
	filesOf = `
select f.object_key from run_files f join test_jobs j on j.id = f.job_id where j.run_id = any($1::uuid[])`
	deleteEmpty = `
delete from suite_runs where id = any($1::uuid[]) and not exists (select from test_runs r where r.suite_run_id = suite_runs.id)`
)

// subjects are the cases or suites of a step, with what holds for each.
type subjects struct {
	ids        []string
	days, kept []any
}

func (s *subjects) arrays() (ids, days, kept any) {
	return pq.Array(s.ids), pq.Array(s.days), pq.Array(s.kept)
}

// Retain does a step of retention from a position: it removes ended runs of some cases or suites
// that are older than their days, or beyond the number that is kept, with at most limit jobs.
// days holds where an organization says nothing. Runs of cases follow the organization; runs of
// suites, with their case runs, follow the suite.
//
// It never takes a run that is pinned or has not ended, the newest or the last good one of a
// case or suite, one that the gate of a build judges by, or the run of a suite that has such a
// run of a case. A suite run goes as a whole, in as many steps as it needs.
func Retain(ctx context.Context, tx *storage.Tx, now time.Time, days int, at Position, limit int) (Removed, error) {
	of, err := nextSubjects(ctx, tx, at, days)
	if err != nil {
		return Removed{}, err
	}
	var r Removed
	if len(of.ids) > 0 {
		if at.Suites {
			r, err = retainSuites(ctx, tx, now, of, limit)
		} else {
			r, err = retainCases(ctx, tx, now, of, limit)
		}
		if err != nil {
			return Removed{}, err
		}
	}
	switch {
	case r.Runs > 0:
		r.Next, r.More = at, true
	case len(of.ids) == maxSubjects:
		r.Next, r.More = Position{Suites: at.Suites, After: of.ids[len(of.ids)-1]}, true
	case !at.Suites:
		r.Next, r.More = Position{Suites: true}, true
	}
	return r, nil
}

func nextSubjects(ctx context.Context, tx *storage.Tx, at Position, days int) (s subjects, err error) {
	walk := walkCases
	if at.Suites {
		walk = walkSuites
	}
	var rows []struct {
		ID   string `db:"subject"`
		Days int    `db:"days"`
		Kept *int   `db:"kept"`
	}
	if err := tx.SelectContext(ctx, &rows, walk, at.After, maxSubjects, days); err != nil {
		return s, storage.Wrap(err, "look for runs to remove")
	}
	for _, row := range rows {
		var kept any
		if row.Kept != nil {
			kept = *row.Kept
		}
		s.ids, s.days, s.kept = append(s.ids, row.ID), append(s.days, row.Days), append(s.kept, kept)
	}
	return s, nil
}

func retainCases(ctx context.Context, tx *storage.Tx, now time.Time, of subjects, limit int) (r Removed, err error) {
	ids, days, kept := of.arrays()
	var runs []uuid.UUID
	if err := tx.SelectContext(ctx, &runs, casesBeyond, ids, days, kept, now, limit); err != nil {
		return r, storage.Wrap(err, "runs of cases to remove")
	}
	r.Runs, r.Keys, err = removeRuns(ctx, tx, runs)
	return r, err
}

func retainSuites(ctx context.Context, tx *storage.Tx, now time.Time, of subjects, limit int) (r Removed, err error) {
	ids, days, kept := of.arrays()
	var chosen, runs []uuid.UUID
	if err := tx.SelectContext(ctx, &chosen, suitesBeyond, ids, days, kept, now, min(limit, maxSuiteRuns)); err != nil {
		return r, storage.Wrap(err, "suite runs to remove")
	}
	for _, statement := range []string{lockSuiteRuns, unpinned} {
		if len(chosen) == 0 {
			return r, nil
		}
		of := chosen
		chosen = nil
		if err := tx.SelectContext(ctx, &chosen, statement, storage.UUIDs(of)); err != nil {
			return r, storage.Wrap(err, "lock suite runs to remove")
		}
	}
	if err := tx.SelectContext(ctx, &runs, caseRunsOf, storage.UUIDs(chosen), limit); err != nil {
		return r, storage.Wrap(err, "case runs to remove")
	}
	if r.Runs, r.Keys, err = removeRuns(ctx, tx, runs); err != nil {
		return r, err
	}
	n, err := storage.Affected(tx.ExecContext(ctx, deleteEmpty, storage.UUIDs(chosen)))
	r.Runs += int(n)
	return r, storage.Wrap(err, "remove suite runs")
}

// removeRuns removes runs of cases that are not pinned, and returns how many and the keys of
// their files.
func removeRuns(ctx context.Context, tx *storage.Tx, ids []uuid.UUID) (n int, keys []string, err error) {
	if len(ids) == 0 {
		return 0, nil, nil
	}
	var runs []uuid.UUID
	if err := tx.SelectContext(ctx, &runs, lockRuns, storage.UUIDs(ids)); err != nil {
		return 0, nil, storage.Wrap(err, "lock runs to remove")
	}
	if err := tx.SelectContext(ctx, &keys, filesOf, storage.UUIDs(runs)); err != nil {
		return 0, nil, storage.Wrap(err, "files of runs to remove")
	}
	_, err = tx.ExecContext(ctx, `delete from test_runs where id = any($1::uuid[])`, storage.UUIDs(runs))
	return len(runs), keys, storage.Wrap(err, "remove runs")
}
