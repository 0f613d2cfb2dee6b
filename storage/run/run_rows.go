package run

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/google/uuid"
	"github.com/lib/pq"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/rows"
	"github.com/slipway-qa/slipway/storage/step/capability"
	"github.com/slipway-qa/slipway/storage/step/playback"
)

// MaxJobs bounds the jobs of a run of one case: 10,000 data rows on five targets.
const MaxJobs = 50_000

// Row is the data row of a job.
type Row struct {
	Index int    // from 0
	Name  string // "" where no column names rows
}

// TooManyJobsError means that the data of a case have too many rows for so many targets.
type TooManyJobsError struct {
	Case          string
	Rows, Targets int
}

func (e *TooManyJobsError) Error() string {
	return fmt.Sprintf("%q would have %d jobs, of %d data rows on %d targets: a run has at most %d", e.Case, e.Rows*e.Targets,
		e.Rows, e.Targets, MaxJobs)
}

// rowPlan is which jobs a run has: one for each of its rows and targets, the targets of the
// first row before those of the second.
type rowPlan struct {
	dataID  uuid.UUID
	header  rows.Header
	picked  []int64 // places of rows; nil for all
	targets []capability.Target
}

func (p *rowPlan) rows() int {
	if p.picked != nil {
		return len(p.picked)
	}
	return p.header.Count
}

func (p *rowPlan) jobs() int { return p.rows() * len(p.targets) }

// place returns the place in the data of the n-th row of the run.
func (p *rowPlan) place(n int) int {
	if p.picked != nil {
		return int(p.picked[n])
	}
	return n
}

func (p *rowPlan) check(name string) error {
	if p.jobs() > MaxJobs {
		return &TooManyJobsError{Case: name, Rows: p.rows(), Targets: len(p.targets)}
	}
	return nil
}

// between returns the jobs of a run from one position up to another.
func (p *rowPlan) between(ctx context.Context, q storage.Querier, run uuid.UUID, from, to int) ([]Job, error) {
	var places []int64
	for n := from / len(p.targets); n*len(p.targets) < to; n++ {
		places = append(places, int64(p.place(n)))
	}
	cells, err := rows.At(ctx, q, p.dataID, places)
	if err != nil {
		return nil, err
	}
	list := make([]Job, 0, to-from)
	for position := from; position < to; position++ {
		place := p.place(position / len(p.targets))
		values, ok := cells[place]
		if !ok {
			return nil, fmt.Errorf("data row %d of run %s: %w", place, run, storage.ErrNotFound)
		}
		list = append(list, Job{ID: storage.NewID(), RunID: run, Position: position, Target: p.targets[position%len(p.targets)],
			Status: Queued, Records: []playback.Record{}, Row: &Row{place, p.header.Name(values)}})
	}
	return list, nil
}

// plan returns which jobs the run is to have by data rows; nil for a case without data.
func (n *NewRun) plan(ctx context.Context, q storage.Querier) (*rowPlan, error) {
	if n.Revision.DataID == nil {
		if n.Rows != nil {
			return nil, storage.Invalid("rows", "names data rows, and the test case has none")
		}
		return nil, nil
	}
	header, err := rows.HeaderOf(ctx, q, *n.Revision.DataID)
	if err != nil {
		return nil, err
	}
	p := &rowPlan{dataID: *n.Revision.DataID, header: header}
	for i, place := range n.Rows {
		if place < 0 || place >= header.Count {
			return nil, storage.Invalid(fmt.Sprintf("rows[%d]", i), "must be 0 to %d: the data have %d rows", header.Count-1, header.Count)
		}
		p.picked = append(p.picked, int64(place))
	}
	slices.Sort(p.picked)
	p.picked = slices.Compact(p.picked)
	return p, nil
}

// fanning is a run of which jobs are made.
type fanning struct {
	OrganizationID int64         `db:"organization_id"`
	CaseName       string        `db:"case_name"`
	Status         Status        `db:"state"`
	FannedOut      bool          `db:"fanned_out"`
	DataID         *uuid.UUID    `db:"data_id"`
	Picked         pq.Int64Array `db:"picked"`
	Targets        []byte        `db:"job_targets"`
	Made           int           `db:"made"`
}

// lockFanning reads the last position from the index of (run_id, position).
const lockFanning = `
select r.organization_id, r.case_name, r.state, r.fanned_out, r.data_id, r.picked, r.job_targets,
	coalesce((select max(position) + 1 from test_jobs where run_id = r.id), 0) as made
from test_runs r where r.id = $1 for no key update of r`

// FanOutRows writes the next jobs of a run of data rows, at most limit of them, in the order
// of their positions. It returns the jobs, for which the caller inserts tasks in the same
// transaction, and whether more are left; without more the run is marked as fanned out.
// ErrConflict when the run has ended, ErrNotFound when it, or its data, are gone.
func FanOutRows(ctx context.Context, tx *storage.Tx, id uuid.UUID, limit int) (jobs []uuid.UUID, more bool, err error) {
	// A run that ends ends its suite run, which is locked before it.
	suiteRuns, err := suiteRunOf(ctx, tx, id)
	if err != nil {
		return nil, false, err
	}
	if err := lock(ctx, tx, lockSuiteRuns, suiteRuns); err != nil {
		return nil, false, err
	}
	var f fanning
	if err := tx.GetContext(ctx, &f, lockFanning, id); err != nil {
		return nil, false, storage.Wrap(err, "test run "+id.String())
	}
	switch {
	case f.Status.Terminal():
		return nil, false, fmt.Errorf("test run %s has ended: %w", id, storage.ErrConflict)
	case f.FannedOut:
		return nil, false, nil
	}
	plan, err := f.plan(ctx, tx)
	if err != nil {
		return nil, false, err
	}
	to := min(f.Made+limit, plan.jobs())
	list, err := plan.between(ctx, tx, id, f.Made, to)
	if err != nil {
		return nil, false, err
	}
	made := newRuns{}
	if err := made.addJobs(list); err != nil {
		return nil, false, err
	}
	if err := made.insertJobs(ctx, tx, f.OrganizationID); err != nil {
		return nil, false, err
	}
	if to < plan.jobs() {
		return made.ids, true, nil
	}
	return made.ids, false, endFanOut(ctx, tx, id, suiteRuns)
}

func suiteRunOf(ctx context.Context, tx *storage.Tx, id uuid.UUID) (list []uuid.UUID, err error) {
	err = tx.SelectContext(ctx, &list, `select suite_run_id from test_runs where id = $1 and suite_run_id is not null`, id)
	return list, storage.Wrap(err, "suite run of test run "+id.String())
}

func (f *fanning) plan(ctx context.Context, q storage.Querier) (*rowPlan, error) {
	if f.DataID == nil {
		return nil, fmt.Errorf("data of a test run: %w", storage.ErrNotFound)
	}
	p := &rowPlan{dataID: *f.DataID, picked: f.Picked}
	var err error
	if p.header, err = rows.HeaderOf(ctx, q, p.dataID); err != nil {
		return nil, err
	}
	if err := json.Unmarshal(f.Targets, &p.targets); err != nil || len(p.targets) == 0 {
		return nil, fmt.Errorf("targets of a test run: %w", storage.ErrNotFound)
	}
	return p, nil
}

// endFanOut marks a run as fanned out and ends it when all its jobs have ended.
func endFanOut(ctx context.Context, tx *storage.Tx, id uuid.UUID, suiteRuns []uuid.UUID) error {
	_, err := tx.ExecContext(ctx, `update test_runs set fanned_out = true, job_targets = null where id = $1`, id)
	if err != nil {
		return storage.Wrap(err, "mark test run as fanned out")
	}
	if err := endRuns(ctx, tx, []uuid.UUID{id}); err != nil {
		return err
	}
	return endSuiteRuns(ctx, tx, suiteRuns)
}

// insertBrokenJob inserts a job that says why there are no more.
const insertBrokenJob = `
insert into test_jobs (id, organization_id, run_id, position, target, state, error_code, error, started_at, finished_at)
select $2, r.organization_id, r.id, coalesce((select max(position) + 1 from test_jobs where run_id = r.id), 0), r.job_targets -> 0,
	'ERROR', $3, $4, now(), now()
from test_runs r where r.id = $1`

// FailFanOut ends the making of jobs of a run whose further jobs cannot be made: a last job,
// which is ERROR, says so. Those that there are go on.
func FailFanOut(ctx context.Context, tx *storage.Tx, id uuid.UUID, reason string) error {
	suiteRuns, err := suiteRunOf(ctx, tx, id)
	if err != nil {
		return err
	}
	if err := lock(ctx, tx, lockSuiteRuns, suiteRuns); err != nil {
		return err
	}
	var open []uuid.UUID
	err = tx.SelectContext(ctx, &open, `select id from test_runs
		where id = $1 and not fanned_out and state in ('QUEUED', 'RUNNING') for no key update`, id)
	if err != nil || len(open) == 0 {
		return storage.Wrap(err, "fail the jobs of a test run")
	}
	if _, err := tx.ExecContext(ctx, insertBrokenJob, id, storage.NewID(), CodeWorkerLost, Message(reason)); err != nil {
		return storage.Wrap(err, "fail the jobs of a test run")
	}
	return endFanOut(ctx, tx, id, suiteRuns)
}

const lostFanOuts = `
select r.id, r.suite_run_id from test_runs r left join tasks t on t.id = r.id
where not r.fanned_out and r.state in ('QUEUED', 'RUNNING')
	and (t.state in ('succeeded', 'dead', 'cancelled') or t.id is null and r.created_at < now() - interval '1 minute')
order by r.id limit $1`

// lostFanOutsOf returns runs whose task has ended without making all their jobs.
func lostFanOutsOf(ctx context.Context, tx *storage.Tx, limit int) (lost []openRun, err error) {
	err = tx.SelectContext(ctx, &lost, lostFanOuts, limit)
	return lost, storage.Wrap(err, "look for lost test runs")
}

// FailingRows returns the values of the data rows of jobs that failed, by the ids of the
// jobs: those of secret columns are "". The header names the columns. There are none when
// the data are gone. The caller bounds the number of jobs.
func FailingRows(ctx context.Context, q storage.Querier, r *Run) (map[uuid.UUID][]string, rows.Header, error) {
	var places []int64
	for i := range r.Jobs {
		if j := &r.Jobs[i]; j.failing() {
			places = append(places, int64(j.Row.Index))
		}
	}
	if r.DataID == nil || len(places) == 0 {
		return nil, rows.Header{}, nil
	}
	headers, err := rows.Headers(ctx, q, []uuid.UUID{*r.DataID})
	if err != nil {
		return nil, rows.Header{}, err
	}
	at, err := rows.At(ctx, q, *r.DataID, places)
	if err != nil {
		return nil, rows.Header{}, err
	}
	of := map[uuid.UUID][]string{}
	for i := range r.Jobs {
		if j := &r.Jobs[i]; j.failing() && at[j.Row.Index] != nil {
			of[j.ID] = at[j.Row.Index]
		}
	}
	return of, headers[*r.DataID], nil
}

// failing reports whether a job has a data row and has failed.
func (j *Job) failing() bool {
	return j.Row != nil && (j.Status == Failed || j.Status == Errored)
}

// startedJobs of a run of one case are made with the run, the others by its task; those of
// a case in a suite run are as many as a run without data rows may have.
const (
	startedJobs    = 100
	startedOfSuite = 20
)

// begin sets what the run has of the plan, with its first jobs.
func (p *rowPlan) begin(ctx context.Context, q storage.Querier, run *Run, most int) (err error) {
	if err := p.check(run.CaseName); err != nil {
		return err
	}
	run.DataID, run.Targets, run.JobCount, run.picked = &p.dataID, len(p.targets), p.jobs(), p.picked
	run.Jobs, err = p.between(ctx, q, run.ID, 0, min(most, run.JobCount))
	return err
}

// addTo adds the run to those that are inserted.
func (n *NewRun) addTo(ctx context.Context, q storage.Querier, made *newRuns, run *Run, targets []capability.Target) error {
	plan, err := n.plan(ctx, q)
	if err != nil {
		return err
	}
	if plan != nil {
		plan.targets = targets
		var tooMany *TooManyJobsError
		if err := plan.begin(ctx, q, run, startedJobs); errors.As(err, &tooMany) {
			return storage.Invalid("targets", "%s", tooMany)
		} else if err != nil {
			return err
		}
	}
	return made.add(run, n.Case.TeamID, targets)
}

// Unfinished reports whether jobs of the run are still to be made, by a run:rows task that
// has the run's id.
func (r *Run) Unfinished() bool { return len(r.Jobs) < r.JobCount && !r.Status.Terminal() }

// dataOfCases reads the headers of the data of cases to run.
func dataOfCases(ctx context.Context, q storage.Querier, cases []caseToRun) (map[uuid.UUID]rows.Header, error) {
	var ids []uuid.UUID
	for i := range cases {
		if id := cases[i].DataID; id != nil {
			ids = append(ids, *id)
		}
	}
	return rows.Headers(ctx, q, ids)
}
