package run

import (
	"context"
	"time"

	"github.com/google/uuid"
	"github.com/lib/pq"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/authoring"
	"github.com/slipway-qa/slipway/storage/ledger"
	"github.com/slipway-qa/slipway/storage/suiteplan"
)

// checkPlan refuses a shard and a time that are out of bounds. The shards of one pipeline test
// the same build, by whose name they find each other when they have no key.
func (n *NewSuiteRun) checkPlan() error {
	if err := suiteplan.CheckDuration("maxDuration", n.MaxDuration); err != nil || n.Shard == nil {
		return err
	}
	if n.Shard.Key == "" {
		n.Shard.Key = n.BuildName
	}
	return n.Shard.Check()
}

// shardColumns are shard_number, shard_parts and shard_key.
func (n *NewSuiteRun) shardColumns() (number, parts *int, key *string) {
	if n.Shard == nil {
		return nil, nil, nil
	}
	return &n.Shard.Number, &n.Shard.Of, &n.Shard.Key
}

// plan writes the plan of the run, which is inserted, and counts what it runs. ErrNoJobs.
func (n *NewSuiteRun) plan(ctx context.Context, tx *storage.Tx, run *SuiteRun, targets bool) error {
	cases, runnable, err := suiteplan.Make(ctx, tx, suiteplan.NewPlan{OrganizationID: run.OrganizationID, SuiteID: n.SuiteID,
		SuiteRunID: run.ID,
		Targets:    targets, Shard: n.Shard})
	if err != nil {
		return err
	}
	if run.RunCount = runnable; n.Rerun != nil {
		err = tx.GetContext(ctx, &run.RunCount, countPlannedToRerun, texts(cases), n.Rerun.Of, texts(n.Rerun.Only.states()))
		if err != nil {
			return storage.Wrap(err, "count cases to run")
		}
	}
	if run.RunCount == 0 {
		return authoring.ErrNoJobs
	}
	_, err = tx.ExecContext(ctx, `update suite_runs set run_count = $2 where id = $1`, run.ID, run.RunCount)
	return storage.Wrap(err, "count cases to run")
}

// nextPlanned returns the next cases by the plan of the suite run, which is made where there is
// none yet, and whether some may be left then.
func (f *fanout) nextPlanned(ctx context.Context, tx *storage.Tx, suiteRunID uuid.UUID, limit int, given bool) ([]caseToRun, bool, error) {
	if !f.Planned {
		_, _, err := suiteplan.Make(ctx, tx, suiteplan.NewPlan{OrganizationID: f.OrganizationID, SuiteID: f.SuiteID,
			SuiteRunID: suiteRunID, Targets: given})
		if err != nil {
			return nil, false, err
		}
	}
	plan, err := suiteplan.Take(ctx, tx, suiteRunID, limit)
	if err != nil {
		return nil, false, err
	}
	ids := make([]string, len(plan))
	for i := range plan {
		ids[i] = plan[i].CaseID
	}
	found, err := f.selectCases(ctx, tx, plannedCases, plannedCasesToRerun, pq.Array(ids), suiteRunID, limit, given)
	if err != nil {
		return nil, false, err
	}
	byID := make(map[string]*caseToRun, len(found))
	for i := range found {
		byID[found[i].ID] = &found[i]
	}
	cases := make([]caseToRun, 0, len(found))
	for i := range plan {
		if c := byID[plan[i].CaseID]; c != nil {
			c.needs, c.needed = plan[i].Needs, plan[i].Needed
			cases = append(cases, *c)
		}
	}
	return cases, len(plan) == limit, nil
}

// left is how long the suite run has; nil: as long as it takes.
func (f *fanout) left() *time.Duration {
	if f.Left == nil {
		return nil
	}
	left := time.Duration(*f.Left * float64(time.Second))
	return &left
}

// HeldFor is how long the task of a job that waits for other runs is put off. It is woken when
// these have ended; this is for what nobody could wake it from, such as a worker of an earlier
// version.
const HeldFor = 3 * time.Minute

const openOfCases = `
select distinct case_id from test_runs where suite_run_id = $1 and case_id = any($2::text[]) and login_key is null and state in ('QUEUED', 'RUNNING')`

// held returns those jobs of new runs that wait for other runs. The suite run is locked, so that
// no other run ends meanwhile.
func held(ctx context.Context, tx *storage.Tx, suiteRunID uuid.UUID, runs []*Run) (map[uuid.UUID]bool, error) {
	if len(runs) == 0 {
		return nil, nil
	}
	var needs, open []string
	for _, r := range runs {
		needs = append(needs, r.needs...)
	}
	if err := tx.SelectContext(ctx, &open, openOfCases, suiteRunID, texts(needs)); err != nil {
		return nil, storage.Wrap(err, "open runs of needed cases")
	}
	isOpen, jobs := map[string]bool{}, map[uuid.UUID]bool{}
	for _, id := range open {
		isOpen[id] = true
	}
	for _, r := range runs {
		waits := false
		for _, need := range r.needs {
			waits = waits || isOpen[need]
		}
		for i := range r.Jobs {
			if waits {
				jobs[r.Jobs[i].ID] = true
			}
		}
	}
	return jobs, nil
}

// endedRun is a run that has just ended.
type endedRun struct {
	ID     uuid.UUID `db:"id"`
	Needed bool      `db:"needed"` // by another run of its suite run
}

// jobsToWake reads test_runs_needing. What still needs another open run is left to the end of
// that.
const jobsToWake = `
select j.id from test_runs n
join test_runs k on k.suite_run_id = n.suite_run_id and k.needs is not null and k.state in ('QUEUED', 'RUNNING') and k.needs @> array[n.case_id]
join test_jobs j on j.run_id = k.id and j.state = 'QUEUED'
where n.id = any($1::uuid[]) and not exists (
	select from test_runs o where o.suite_run_id = k.suite_run_id and o.case_id = any(k.needs) and o.login_key is null and o.state in ('QUEUED', 'RUNNING'))`

// endOf writes the events of runs that have ended, and wakes the jobs that waited for them. Their
// suite runs are locked where some are needed.
func endOf(ctx context.Context, tx *storage.Tx, ended []endedRun) error {
	var ids, needed []uuid.UUID
	for _, r := range ended {
		if ids = append(ids, r.ID); r.Needed {
			needed = append(needed, r.ID)
		}
	}
	if len(needed) > 0 {
		var jobs []uuid.UUID
		if err := tx.SelectContext(ctx, &jobs, jobsToWake, storage.UUIDs(needed)); err != nil {
			return storage.Wrap(err, "jobs that wait for a run")
		}
		if err := ledger.Wake(ctx, tx, jobs); err != nil {
			return err
		}
	}
	return addRunEvents(ctx, tx, ids)
}

const inheritQuarantine = `
update test_runs set quarantine = $2, quarantine_until = $3 where id = $1 and quarantine is null`

// inherit puts the run into the quarantine of the one that it needed: a failure that fails nothing
// does not do so by what is skipped for it. The run is locked.
func (p *jobParents) inherit(ctx context.Context, tx *storage.Tx, q *Quarantine) error {
	if q == nil {
		return nil
	}
	_, err := tx.ExecContext(ctx, inheritQuarantine, p.RunID, q.Reason, q.Until)
	return storage.Wrap(err, "quarantine of a skipped run")
}
