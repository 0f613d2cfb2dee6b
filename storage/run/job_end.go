package run

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/google/uuid"
	"github.com/lib/pq"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/authoring"
	"github.com/slipway-qa/slipway/storage/failure"
	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/storage/step/playback"
	"github.com/slipway-qa/slipway/storage/stepgroup"
)

func isNotFound(err error) bool { return errors.Is(err, storage.ErrNotFound) }

// texts returns an array parameter.
func texts(list []string) any { return pq.Array(list) }

// NewFile is a stored object of a job.
type NewFile struct {
	ID          uuid.UUID
	Kind        string // one of the kinds below
	Step        int
	Key         string
	ContentType string
	Size        int64
}

// JobEnd is how a job ended.
type JobEnd struct {
	Status    Status // terminal
	ErrorCode string
	Error     string
	Records   []playback.Record
	Files     []NewFile
	// Fingerprints are for steps of the revision that have none, by step id.
	Fingerprints map[string]step.Fingerprint
	// Digest is what a job that passed saw, for those that fail later; nil keeps none.
	Digest []byte
	// Diagnosis is why one failed; nil where that is not known.
	Diagnosis *failure.Diagnosis
	// Quarantine is that of the run for whose failure the job is skipped; nil: none.
	Quarantine *Quarantine
}

// jobParents are what a job belongs to. None of it ever changes.
type jobParents struct {
	OrganizationID int64      `db:"organization_id"`
	RunID          uuid.UUID  `db:"run_id"`
	SuiteRunID     *uuid.UUID `db:"suite_run_id"`
	CaseID         string     `db:"case_id"`
	RevisionID     string     `db:"revision_id"`
	Quarantined    bool       `db:"quarantined"` // the run is
}

// healings returns what of the records was healed or suggested or has drifted, and the records with
// its ids.
func (p *jobParents) healings(records []playback.Record) ([]playback.Record, *authoring.SeenHealings) {
	seen := &authoring.SeenHealings{OrganizationID: p.OrganizationID, CaseID: p.CaseID, RevisionID: p.RevisionID, RunID: p.RunID}
	named := slices.Clone(records)
	for i := range named {
		seen.Add(&named[i])
	}
	return named, seen
}

const parentsOfJob = `
select r.organization_id, j.run_id, r.suite_run_id, r.case_id, r.revision_id, r.quarantine is not null as quarantined
from test_jobs j join test_runs r on r.id = j.run_id
where j.id = $1 and j.state in ('QUEUED', 'RUNNING')`

var endJob = `
with ended as (
	update test_jobs set state = case when $2 = 'PASSED' and attempts > 0 then 'FLAKY' else $2 end, error_code = $3, error = $4, records = $5,
		healed = $6, drifted = $7, unreviewed = $8, diagnosis = $9, finished_at = now()
	where id = $1 and state in ('QUEUED', 'RUNNING')
	returning id, run_id, target, row_place
), good as (` + failure.KeepGood + `)
select count(*) from ended`

// EndJob ends a job, as Flaky when it passed after an attempt that had failed, and with the last one its run and suite run, and writes the
// event of what ended. It returns false, and writes nothing, when the job has
// ended before, or is gone.
func EndJob(ctx context.Context, tx *storage.Tx, id uuid.UUID, end JobEnd) (bool, error) {
	if !end.Status.Terminal() {
		return false, fmt.Errorf("end of test job %s: %s is no end", id, end.Status)
	}
	var at jobParents
	err := storage.Wrap(tx.GetContext(ctx, &at, parentsOfJob, id), "test job "+id.String())
	if err != nil {
		if isNotFound(err) {
			return false, nil
		}
		return false, err
	}
	named, healings := at.healings(end.Records)
	records, marks, err := recordsDocument(named)
	if err != nil {
		return false, err
	}
	// Jobs of a run, and runs of a suite run, end one after the other: the last one
	// must see all others.
	var suiteRuns []uuid.UUID
	if at.SuiteRunID != nil {
		suiteRuns = []uuid.UUID{*at.SuiteRunID}
	}
	if err := lock(ctx, tx, lockSuiteRuns, suiteRuns); err != nil {
		return false, err
	}
	if err := lock(ctx, tx, lockRuns, []uuid.UUID{at.RunID}); err != nil {
		return false, err
	}
	diagnosis, err := diagnosisDocument(end)
	if err != nil {
		return false, err
	}
	var n int
	err = tx.GetContext(ctx, &n, endJob, id, end.Status, end.ErrorCode, Message(end.Error), records, marks.healed,
		marks.drifted, marks.unreviewed,
		diagnosis, end.goodDigest())
	if err != nil || n == 0 {
		return false, storage.Wrap(err, "end test job "+id.String())
	}
	if end.Diagnosis != nil && at.SuiteRunID != nil && !at.Quarantined {
		if err := failure.Add(ctx, tx, *at.SuiteRunID, at.RunID, end.Diagnosis); err != nil {
			return false, err
		}
	}
	if err := at.inherit(ctx, tx, end.Quarantine); err != nil {
		return false, err
	}
	if err := AddFiles(ctx, tx, at.OrganizationID, id, end.Files); err != nil {
		return false, err
	}
	if err := authoring.AddFingerprints(ctx, tx, at.RevisionID, end.Fingerprints); err != nil {
		return false, err
	}
	if err := stepgroup.AddFingerprints(ctx, tx, inGroups(end)); err != nil {
		return false, err
	}
	if err := healings.Store(ctx, tx); err != nil {
		return false, err
	}
	if err := endRuns(ctx, tx, []uuid.UUID{at.RunID}); err != nil {
		return false, err
	}
	return true, endSuiteRuns(ctx, tx, suiteRuns)
}

// What a whole is by its parts, which have ended: a run by its jobs, and a suite run by its runs,
// of which those in quarantine fail nothing; nor do those in it that were skipped, which need others.
const (
	worst = `case when bool_or(p.state = 'FAILED') then 'FAILED' when bool_or(p.state = 'ERROR') then 'ERROR'
	when bool_or(p.state = 'CANCELLED') then 'CANCELLED' else 'PASSED' end`
	worstRun = `case when bool_or(p.state = 'FAILED' and p.quarantine is null) then 'FAILED'
	when bool_or(p.state = 'ERROR' and p.quarantine is null) then 'ERROR'
	when bool_or(p.state = 'CANCELLED' and (p.quarantine is null or p.needs is null)) then 'CANCELLED' else 'PASSED' end`
)

// endRunRows looks at the jobs of a run, of which there may be 50,000, once, when none of them
// is open any more: that is found by test_jobs_open_of_run.
const endRunRows = `
with over as materialized (
	select r.id from test_runs r
	where r.id = any($1::uuid[]) and r.state in ('QUEUED', 'RUNNING') and r.fanned_out
		and (select o.id from test_jobs o where o.run_id = r.id and o.state in ('QUEUED', 'RUNNING') limit 1) is null
)
update test_runs r set state = whole.state, flaky = whole.flaky, healed = whole.healed, attempts = whole.jobs + whole.repeated,
	finished_at = now(), sealed_variables = null
from over cross join lateral (select count(*) as jobs, ` + worst + ` as state, count(*) filter (where p.state = 'FLAKY') as flaky,
	coalesce(sum(p.healed), 0) as healed, coalesce(sum(p.attempts), 0) as repeated from test_jobs p where p.run_id = over.id) whole
where r.id = over.id and whole.jobs > 0
returning r.id, r.needed`

// endRuns ends those of the runs whose jobs have all ended; the runs are locked.
func endRuns(ctx context.Context, tx *storage.Tx, ids []uuid.UUID) error {
	var ended []endedRun
	if err := tx.SelectContext(ctx, &ended, endRunRows, storage.UUIDs(ids)); err != nil {
		return storage.Wrap(err, "end test runs")
	}
	return endOf(ctx, tx, ended)
}

// endSuiteRunRows does likewise for the case runs of a suite run, by test_runs_open_of_suite.
const endSuiteRunRows = `
with over as materialized (
	select s.id from suite_runs s
	where s.id = any($1::uuid[]) and s.state in ('QUEUED', 'RUNNING') and s.fanned_out
		and (select o.id from test_runs o where o.suite_run_id = s.id and o.state in ('QUEUED', 'RUNNING') limit 1) is null
)
update suite_runs s set state = whole.state, healed = whole.healed, attempts = whole.attempts, flaky = whole.flaky,
	finished_at = now(), sealed_variables = null
from over cross join lateral (select count(*) as runs, ` + worstRun + ` as state, sum(p.healed) as healed, sum(p.attempts) as attempts,
	count(*) filter (where p.state = 'PASSED' and p.flaky > 0) as flaky from test_runs p where p.suite_run_id = over.id) whole
where s.id = over.id and whole.runs > 0
returning s.id`

// forgetVariables leaves the values to a suite run that failed, and what its logins have left
// (package login), for the case runs that go on, until the last of them has ended.
const forgetVariables = `
with over as (
	select s.id from suite_runs s
	where s.id = any($1::uuid[]) and (s.sealed_variables is not null or s.login is not null) and s.state not in ('QUEUED', 'RUNNING')
		and not exists (select from test_runs r where r.suite_run_id = s.id and r.state in ('QUEUED', 'RUNNING'))
), gone as (
	delete from suite_logins l using over where l.suite_run_id = over.id
)
update suite_runs s set sealed_variables = null from over where s.id = over.id and s.sealed_variables is not null`

// endSuiteRuns ends those of the suite runs whose case runs are all there and have
// all ended; the suite runs are locked.
func endSuiteRuns(ctx context.Context, tx *storage.Tx, ids []uuid.UUID) error {
	if len(ids) == 0 {
		return nil
	}
	var ended []uuid.UUID
	if err := tx.SelectContext(ctx, &ended, endSuiteRunRows, storage.UUIDs(ids)); err != nil {
		return storage.Wrap(err, "end suite runs")
	}
	if _, err := tx.ExecContext(ctx, forgetVariables, storage.UUIDs(ids)); err != nil {
		return storage.Wrap(err, "forget the variables of suite runs")
	}
	return addSuiteRunEvents(ctx, tx, ended)
}
