package run

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/google/uuid"
	"github.com/lib/pq"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/authoring"
	"github.com/slipway-qa/slipway/storage/rows"
	"github.com/slipway-qa/slipway/storage/run/need"
	"github.com/slipway-qa/slipway/storage/seal"
	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/storage/step/capability"
	"github.com/slipway-qa/slipway/storage/step/group"
	"github.com/slipway-qa/slipway/storage/step/playback"
)

// Work is what a worker needs for a job.
type Work struct {
	Job       Job
	Run       Run
	TeamID    int64      // of the case as it is now: whose variables the test may use
	SuiteID   *uuid.UUID // whose run it is, else of the case; nil in none, or when the case is gone
	Steps     []step.Step
	RequestID string
	// Strict fails a step whose selector finds several elements and has no index.
	Strict bool
	// Access is what the site of the case asks a browser for.
	Access capability.Access
	// Healing is the mode of the case, else of its suite, else of the organization; ""
	// when none of them has one.
	Healing string
	// Drift is likewise what follows from a drift.
	Drift string
	// Trace is the mode of the run, else of its suite run, its case, suite or organization;
	// step.TraceOnFailure when none of them has one.
	Trace string
	// Retries is how often the job is played again when it fails: as the run was given, else the
	// case, its suite or the organization has it, none by default.
	Retries int
	// Refused are the selectors, by step id, that people refused as healings.
	Refused map[string][]step.Selector

	// SetUp and TearDown are those of the case, Suite those that its suite run began with.
	SetUp, TearDown []step.Step
	Suite           authoring.Around
	// Groups are the step groups that the run plays, by their ids, as they were when it was made.
	Groups group.Groups

	// Saved is what the login of the suite run has left; nil where the job begins without.
	Saved *SavedLogin

	row       *rows.Row // of data; nil without
	variables []byte    // that the run was given, sealed; nil for none
}

// VariablesOf returns whose variables the test may use.
func (w *Work) VariablesOf() authoring.VariableScope {
	return authoring.VariableScope{OrganizationID: w.Run.OrganizationID, TeamID: w.TeamID, SuiteID: w.SuiteID, CaseID: w.Run.CaseID}
}

// RowValues returns the values of the job's data row; none without one, and when the data
// are gone. seal.ErrUnseal.
func (w *Work) RowValues(keys seal.Ring) ([]rows.Cell, error) {
	if w.row == nil {
		return nil, nil
	}
	return w.row.Open(keys)
}

// workOfJob reads a job. The case and its revision may be gone: then their columns are null.
const workOfJob = `
select ` + runColumns + `, j.position, j.target, j.state as job_state, c.team_id as case_team, coalesce(s.suite_id, c.suite_id) as suite_id,
	r.needs,
	v.steps, coalesce(k.request_id, '') as request_id, s.state as suite_state, s.login,
	coalesce((c.run_settings ->> 'strict')::boolean, true) as strict,
	jsonb_build_object('basicAuth', c.run_settings -> 'basicAuth', 'clientCertificate', c.run_settings -> 'clientCertificate') as access,
	coalesce(nullif(c.run_settings ->> 'healing', ''), nullif(u.healing, ''), o.healing) as healing,
	coalesce(nullif(c.run_settings ->> 'drift', ''), nullif(u.drift, ''), o.drift) as drift,
	coalesce(nullif(r.trace, ''), nullif(s.trace, ''), nullif(c.run_settings ->> 'trace', ''), nullif(u.trace, ''), nullif(o.trace, ''),
		'on_failure') as trace,
	coalesce(r.retries, s.retries, (c.run_settings ->> 'retries')::int, u.retries, o.retries, 0) as effective_retries, j.attempts,
	coalesce(r.sealed_variables, s.sealed_variables) as sealed_variables,
	v.set_up, v.tear_down, s.set_up as suite_set_up, s.tear_down as suite_tear_down, (
		select jsonb_agg(jsonb_build_object('id', g.id, 'revisionId', gr.id, 'name', g.name, 'parameters', gr.parameters, 'steps', gr.steps))
		from step_group_revisions gr join step_groups g on g.id = gr.group_id where gr.id = any(r.group_revisions)
	) as groups,
	j.row_place, j.row_name, d.columns, d.secret, d.sealed_key, x.cells, x.hidden
from test_jobs j join test_runs r on r.id = j.run_id` + Tables + `
left join test_cases c on c.id = r.case_id
left join suite_runs s on s.id = r.suite_run_id
left join test_suites u on u.id = coalesce(s.suite_id, c.suite_id)
left join test_revisions v on v.id = r.revision_id and v.case_id = r.case_id
left join tasks k on k.id = j.id
left join test_data d on d.id = r.data_id
left join test_data_rows x on x.data_id = r.data_id and x.place = j.row_place
where j.id = $1`

type workRow struct {
	RunRow
	Position    int            `db:"position"`
	Target      []byte         `db:"target"`
	JobStatus   Status         `db:"job_state"`
	CaseTeam    *int64         `db:"case_team"`
	SuiteID     *uuid.UUID     `db:"suite_id"`
	Steps       []byte         `db:"steps"`
	RequestID   string         `db:"request_id"`
	SuiteStatus *Status        `db:"suite_state"`
	Login       []byte         `db:"login"`
	Strict      bool           `db:"strict"`
	Access      []byte         `db:"access"`
	Healing     string         `db:"healing"`
	Drift       string         `db:"drift"`
	Trace       string         `db:"trace"`
	Variables   []byte         `db:"sealed_variables"`
	RowPlace    *int           `db:"row_place"`
	RowName     string         `db:"row_name"`
	Columns     pq.StringArray `db:"columns"`
	Secret      pq.StringArray `db:"secret"`
	Key         []byte         `db:"sealed_key"`
	Cells       []byte         `db:"cells"`
	Hidden      []byte         `db:"hidden"`
	Retried     int            `db:"effective_retries"`
	Attempts    int            `db:"attempts"`
	Needs       pq.StringArray `db:"needs"`
	workLists
}

const (
	beginSuiteRun = `
update suite_runs set state = 'RUNNING', started_at = now() where id = $1 and state = 'QUEUED'`
	beginRun = `
update test_runs set state = 'RUNNING', started_at = now() where id = $1 and state = 'QUEUED'`
	beginJob = `
update test_jobs set state = 'RUNNING', started_at = case when attempts > 0 then started_at else now() end, attempt_at = now(),
	records = '[]', healed = 0, drifted = 0, unreviewed = 0
where id = $1 and state in ('QUEUED', 'RUNNING')
returning started_at`
	dropFiles = `delete from run_files where job_id = $1 and attempt > (select attempts from test_jobs where id = $1) returning object_key`
)

// BeginJob marks a job and its run (and suite run) as RUNNING and returns what
// a worker needs to play it. It returns ErrConflict when the job has ended (cancelled
// before it began) and ErrNotFound when the job, its case or its revision is
// gone; need.ErrHeld and *need.SkipError for one that needs other tests. A job whose suite run has a
// login is not begun before that is there: *WaitingError, *NoLoginError. Records and files of an attempt that was lost are
// dropped; the keys of
// their objects are returned, to delete after the commit.
func BeginJob(ctx context.Context, tx *storage.Tx, id uuid.UUID) (w *Work, lost []string, err error) {
	var row workRow
	if err := tx.GetContext(ctx, &row, workOfJob, id); err != nil {
		return nil, nil, storage.Wrap(err, "test job "+id.String())
	}
	switch {
	case row.JobStatus.Terminal():
		return nil, nil, fmt.Errorf("test job %s has ended: %w", id, storage.ErrConflict)
	case row.CaseTeam == nil || row.Steps == nil:
		return nil, nil, fmt.Errorf("test case or revision of job %s: %w", id, storage.ErrNotFound)
	}
	if w, err = row.work(id); err != nil {
		return nil, nil, err
	}
	if len(row.Needs) > 0 && row.JobStatus == Queued {
		if err := need.Check(ctx, tx, need.Of{SuiteRunID: row.SuiteRunID, Cases: row.Needs, Target: w.Job.Target}); err != nil {
			return nil, nil, err
		}
	}
	if w.Saved, err = row.loginOf(ctx, tx, w); err != nil {
		return nil, nil, err
	}
	if w.Refused, err = authoring.RefusedHealings(ctx, tx, row.CaseID); err != nil {
		return nil, nil, err
	}
	if row.SuiteStatus != nil && *row.SuiteStatus == Queued {
		if _, err := tx.ExecContext(ctx, beginSuiteRun, *row.SuiteRunID); err != nil {
			return nil, nil, storage.Wrap(err, "begin suite run")
		}
	}
	if row.Status == Queued {
		if _, err := tx.ExecContext(ctx, beginRun, row.ID); err != nil {
			return nil, nil, storage.Wrap(err, "begin test run")
		}
	}
	err = tx.GetContext(ctx, &w.Job.StartedAt, beginJob, id)
	if err = storage.Wrap(err, "begin test job"); err != nil {
		return nil, nil, ended(err)
	}
	if row.JobStatus == Running {
		err = tx.SelectContext(ctx, &lost, dropFiles, id)
	}
	return w, lost, storage.Wrap(err, "drop the files of a lost attempt")
}

// ended turns no row, where there was one before the lock, into ErrConflict.
func ended(err error) error {
	if isNotFound(err) {
		return fmt.Errorf("test job has ended: %w", storage.ErrConflict)
	}
	return err
}

func (r *workRow) work(id uuid.UUID) (*Work, error) {
	w := &Work{Run: r.Run(), TeamID: *r.CaseTeam, SuiteID: r.SuiteID, RequestID: r.RequestID,
		Strict: r.Strict, Healing: r.Healing, Drift: r.Drift, Trace: r.Trace, Retries: r.Retried, variables: r.Variables,
		Job: Job{ID: id, RunID: r.ID, Position: r.Position, Status: Running, Ended: r.Attempts}}
	w.Run.Status = Running
	if r.RowPlace != nil {
		w.Job.Row = &Row{*r.RowPlace, r.RowName}
		if r.Cells != nil {
			w.row = &rows.Row{Header: rows.Header{Columns: r.Columns, Secret: r.Secret}, Cells: r.Cells, Hidden: r.Hidden, Key: r.Key}
		}
	}
	if err := json.Unmarshal(r.Target, &w.Job.Target); err != nil {
		return nil, fmt.Errorf("target of test job %s: %w", id, err)
	}
	if err := json.Unmarshal(r.Access, &w.Access); err != nil {
		return nil, fmt.Errorf("settings of test case %s: %w", r.CaseID, err)
	}
	if err := json.Unmarshal(r.Steps, &w.Steps); err != nil {
		return nil, fmt.Errorf("steps of revision %s: %w", r.RevisionID, err)
	}
	if err := r.read(w); err != nil {
		return nil, fmt.Errorf("steps around revision %s: %w", r.RevisionID, err)
	}
	if w.Run.LoginKey != "" { // what stands around the cases of the suite may need the login
		w.Suite = authoring.Around{}
	}
	return w, nil
}

// ProgressJob keeps the records so far, for callers who look while it runs. It
// returns false, and writes nothing, when the job has ended.
func ProgressJob(ctx context.Context, tx *storage.Tx, id uuid.UUID, records []playback.Record) (bool, error) {
	doc, marks, err := recordsDocument(records)
	if err != nil {
		return false, err
	}
	n, err := storage.Affected(tx.ExecContext(ctx, `update test_jobs set records = $2, healed = $3, drifted = $4, unreviewed = $5
		where id = $1 and state = 'RUNNING'`, id, doc, marks.healed, marks.drifted, marks.unreviewed))
	return n == 1, err
}
