package run

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/lib/pq"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/storage/step/playback"
	"github.com/slipway-qa/slipway/storage/suiteplan"
)

// A team that is gone leaves its runs to the organization.
const (
	runColumns = `r.id, r.organization_id, o.uuid as organization_uuid,
	coalesce(t.uuid, '00000000-0000-0000-0000-000000000000') as team_uuid, r.team_id, r.case_id, r.revision_id,
	r.suite_run_id, r.user_uuid, r.case_name, r.build_name, r.test_url, r.tunnel, r.state, r.created_at,
	r.started_at, r.finished_at, r.build_id, r.recorded_url, r.variable_names, r.data_id, r.job_count, r.target_count, r.environment,
	r.retries, r.rerun_of, r.flaky, r.quarantine, r.quarantine_until, coalesce(r.login_key, '') as login_key`
	// ShownColumns are those of a run that is shown.
	ShownColumns = runColumns + `, r.pinned_at, r.pinned_by, (select u.name from users u where u.uuid = r.pinned_by) as pinned_name`
	// Tables are those that ShownColumns need beside test_runs r.
	Tables = ` join organizations o on o.id = r.organization_id
left join teams t on t.id = r.team_id`
)

// RunRow is a row of ShownColumns.
type RunRow struct {
	ID               uuid.UUID      `db:"id"`
	OrganizationID   int64          `db:"organization_id"`
	OrganizationUUID uuid.UUID      `db:"organization_uuid"`
	TeamUUID         uuid.UUID      `db:"team_uuid"`
	TeamID           int64          `db:"team_id"`
	CaseID           string         `db:"case_id"`
	RevisionID       string         `db:"revision_id"`
	SuiteRunID       *uuid.UUID     `db:"suite_run_id"`
	UserUUID         uuid.UUID      `db:"user_uuid"`
	CaseName         string         `db:"case_name"`
	BuildName        string         `db:"build_name"`
	TestURL          string         `db:"test_url"`
	Tunnel           string         `db:"tunnel"`
	Status           Status         `db:"state"`
	CreatedAt        time.Time      `db:"created_at"`
	StartedAt        *time.Time     `db:"started_at"`
	FinishedAt       *time.Time     `db:"finished_at"`
	BuildID          *int64         `db:"build_id"`
	RecordedURL      *string        `db:"recorded_url"`
	VariableNames    pq.StringArray `db:"variable_names"`
	Retries          *int           `db:"retries"`
	RerunOf          *uuid.UUID     `db:"rerun_of"`
	Flaky            int            `db:"flaky"`
	Quarantine       *string        `db:"quarantine"`
	QuarantineUntil  *time.Time     `db:"quarantine_until"`
	DataID           *uuid.UUID     `db:"data_id"`
	JobCount         int            `db:"job_count"`
	Targets          int            `db:"target_count"`
	Environment      string         `db:"environment"`
	LoginKey         string         `db:"login_key"`
	pinRow
	Total int `db:"total"` // of lists
}

// Run returns the run of the row, without its jobs.
func (r *RunRow) Run() Run {
	run := Run{ID: r.ID, OrganizationID: r.OrganizationID, OrganizationUUID: r.OrganizationUUID, TeamUUID: r.TeamUUID,
		CaseID: r.CaseID, RevisionID: r.RevisionID, SuiteRunID: r.SuiteRunID, UserUUID: r.UserUUID, CaseName: r.CaseName,
		BuildName: r.BuildName, TestURL: r.TestURL, Tunnel: r.Tunnel, Status: r.Status, CreatedAt: r.CreatedAt,
		StartedAt: r.StartedAt, FinishedAt: r.FinishedAt, BuildID: r.BuildID, RecordedURL: r.RecordedURL, VariableNames: r.VariableNames,
		DataID: r.DataID, JobCount: r.JobCount, Targets: r.Targets, Retries: r.Retries, RerunOf: r.RerunOf, Flaky: r.Flaky,
		Environment: r.Environment, LoginKey: r.LoginKey, Pin: r.pin()}
	if r.Quarantine != nil && r.QuarantineUntil != nil {
		run.Quarantine = &Quarantine{*r.Quarantine, *r.QuarantineUntil}
	}
	return run
}

// JobColumns are those of a job of test_jobs j, without its records.
const JobColumns = `j.id, j.run_id, j.position, j.target, j.state, j.error_code, j.error, j.healed, j.drifted, j.unreviewed, j.started_at, j.finished_at,
	j.attempts, j.attempt_at, j.row_place, j.row_name`

// JobRow is a row of JobColumns.
type JobRow struct {
	ID         uuid.UUID  `db:"id"`
	RunID      uuid.UUID  `db:"run_id"`
	Position   int        `db:"position"`
	Target     []byte     `db:"target"`
	Status     Status     `db:"state"`
	ErrorCode  string     `db:"error_code"`
	Error      string     `db:"error"`
	Healed     int        `db:"healed"`
	Drifted    int        `db:"drifted"`
	Unreviewed int        `db:"unreviewed"`
	StartedAt  *time.Time `db:"started_at"`
	FinishedAt *time.Time `db:"finished_at"`
	Attempts   int        `db:"attempts"`
	AttemptAt  *time.Time `db:"attempt_at"`
	RowPlace   *int       `db:"row_place"`
	RowName    string     `db:"row_name"`
}

// Job returns the job of the row.
func (r *JobRow) Job() (Job, error) {
	j := Job{ID: r.ID, RunID: r.RunID, Position: r.Position, Status: r.Status, ErrorCode: r.ErrorCode, Error: r.Error,
		Healed: r.Healed, Drifted: r.Drifted, Unreviewed: r.Unreviewed, StartedAt: r.StartedAt, FinishedAt: r.FinishedAt,
		Ended: r.Attempts, AttemptAt: r.AttemptAt}
	if r.RowPlace != nil {
		j.Row = &Row{*r.RowPlace, r.RowName}
	}
	if err := json.Unmarshal(r.Target, &j.Target); err != nil {
		return j, fmt.Errorf("target of test job %s: %w", r.ID, err)
	}
	return j, nil
}

// SuiteRunColumns count the case runs in the same statement; the index of
// (suite_run_id, case_id, login) leads to them.
const (
	SuiteRunColumns = `s.id, s.organization_id, o.uuid as organization_uuid,
	coalesce(t.uuid, '00000000-0000-0000-0000-000000000000') as team_uuid, s.team_id, s.suite_id, s.suite_name,
	s.user_uuid, s.build_name, s.state, s.run_count, s.error, s.created_at, s.started_at, s.finished_at,
	s.build_id, s.test_url, s.variable_names, s.environment,
	s.retries, s.rerun_of, s.rerun_only, s.trace, s.max_duration, coalesce(s.shard_number, 0) as shard_number,
	coalesce(s.shard_parts, 0) as shard_parts, coalesce(s.shard_key, '') as shard_key,
	s.pinned_at, s.pinned_by, (select u.name from users u where u.uuid = s.pinned_by) as pinned_name,
	n.queued, n.running, n.passed, n.failed, n.errored, n.cancelled, n.quarantined, n.flaky, h.healed, h.drifted, h.unreviewed`
	SuiteRunTables = ` join organizations o on o.id = s.organization_id
left join teams t on t.id = s.team_id
cross join lateral (
	select count(*) filter (where state = 'QUEUED') as queued, count(*) filter (where state = 'RUNNING') as running,
		count(*) filter (where state = 'PASSED') as passed, count(*) filter (where state = 'FAILED' and quarantine is null) as failed,
		count(*) filter (where state = 'ERROR' and quarantine is null) as errored, count(*) filter (where state = 'CANCELLED') as cancelled,
		count(*) filter (where state in ('FAILED', 'ERROR') and quarantine is not null) as quarantined,
		count(*) filter (where state = 'PASSED' and flaky > 0) as flaky
	from test_runs where suite_run_id = s.id
) n
cross join lateral (
	select coalesce(sum(j.healed), 0) as healed, coalesce(sum(j.drifted), 0) as drifted,
		coalesce(sum(j.unreviewed), 0) as unreviewed from test_runs r join test_jobs j on j.run_id = r.id
	where r.suite_run_id = s.id
) h`
)

// SuiteRunRow is a row of SuiteRunColumns.
type SuiteRunRow struct {
	ID               uuid.UUID      `db:"id"`
	OrganizationID   int64          `db:"organization_id"`
	OrganizationUUID uuid.UUID      `db:"organization_uuid"`
	TeamUUID         uuid.UUID      `db:"team_uuid"`
	TeamID           int64          `db:"team_id"`
	SuiteID          uuid.UUID      `db:"suite_id"`
	SuiteName        string         `db:"suite_name"`
	UserUUID         uuid.UUID      `db:"user_uuid"`
	BuildName        string         `db:"build_name"`
	Status           Status         `db:"state"`
	RunCount         int            `db:"run_count"`
	Error            string         `db:"error"`
	CreatedAt        time.Time      `db:"created_at"`
	StartedAt        *time.Time     `db:"started_at"`
	FinishedAt       *time.Time     `db:"finished_at"`
	BuildID          *int64         `db:"build_id"`
	TestURL          string         `db:"test_url"`
	VariableNames    pq.StringArray `db:"variable_names"`
	Retries          *int           `db:"retries"`
	RerunOf          *uuid.UUID     `db:"rerun_of"`
	RerunOnly        Selection      `db:"rerun_only"`
	Environment      string         `db:"environment"`
	MaxDuration      *int           `db:"max_duration"`
	ShardNumber      int            `db:"shard_number"`
	ShardParts       int            `db:"shard_parts"`
	ShardKey         string         `db:"shard_key"`
	Trace            string         `db:"trace"`
	Counts
	pinRow
	Healed  int `db:"healed"`
	Drifted int `db:"drifted"`
	// Unreviewed counts steps that look like a picture that nobody has accepted.
	Unreviewed int `db:"unreviewed"`
	Total      int `db:"total"` // of lists
}

// Counts of jobs or runs by their status. Quarantined ones are of runs alone and in no other
// count; flaky ones have passed.
type Counts struct {
	Queued    int `db:"queued"`
	Running   int `db:"running"`
	Passed    int `db:"passed"`
	Failed    int `db:"failed"`
	Errored   int `db:"errored"`
	Cancelled int `db:"cancelled"`

	Quarantined int `db:"quarantined"`
	Flaky       int `db:"flaky"`
}

// Sum is how many there are in all.
func (c Counts) Sum() int {
	return c.Queued + c.Running + c.Passed + c.Failed + c.Errored + c.Cancelled + c.Quarantined
}

// ByStatus returns the counts of jobs, by their status.
func (c Counts) ByStatus() map[Status]int {
	return map[Status]int{Queued: c.Queued, Running: c.Running, Passed: c.Passed, Failed: c.Failed,
		Errored: c.Errored, Cancelled: c.Cancelled}
}

// SuiteRun returns the suite run of the row.
func (r *SuiteRunRow) SuiteRun() SuiteRun {
	of := r.Counts
	if missing := max(0, r.RunCount-of.Sum()); r.Status.Terminal() {
		of.Cancelled += missing
	} else {
		of.Queued += missing
	}
	var shard *suiteplan.Shard
	if r.ShardParts > 0 {
		shard = &suiteplan.Shard{Number: r.ShardNumber, Of: r.ShardParts, Key: r.ShardKey}
	}
	return SuiteRun{ID: r.ID, OrganizationID: r.OrganizationID, OrganizationUUID: r.OrganizationUUID, TeamUUID: r.TeamUUID,
		SuiteID: r.SuiteID, SuiteName: r.SuiteName, UserUUID: r.UserUUID, BuildName: r.BuildName, Status: r.Status,
		RunCount: r.RunCount, Error: r.Error, CreatedAt: r.CreatedAt, StartedAt: r.StartedAt, FinishedAt: r.FinishedAt,
		BuildID: r.BuildID, TestURL: r.TestURL, VariableNames: r.VariableNames, Environment: r.Environment,
		Retries: r.Retries, RerunOf: r.RerunOf, RerunOnly: r.RerunOnly, Trace: r.Trace, Shard: shard, MaxDuration: r.MaxDuration,
		Counts: of.ByStatus(), Quarantined: of.Quarantined, Flaky: of.Flaky, Healed: r.Healed, Drifted: r.Drifted,
		Unreviewed: r.Unreviewed, Pin: r.pin()}
}

// maxMessage bounds the texts of a job and its records, in bytes.
const maxMessage = 4 << 10

// Message cuts and cleans a text of a run for its column: such a text never keeps a run
// from ending.
func Message(text string) string {
	if len(text) > maxMessage {
		text = text[:maxMessage]
	}
	return storage.WithoutNUL(strings.ToValidUTF8(text, ""))
}

const (
	// maxRecords bounds the stored records of a job, in bytes of JSON. Progress
	// writes them again and again.
	maxRecords = 4 << 20
)

// marks count the records that are not green though they may have passed.
type marks struct{ healed, drifted, unreviewed int }

// recordsDocument returns the stored form of records, and counts those with a mark.
// The content of files stands in the revision and not here; when the rest is
// still too large, the tools lose their arguments.
func recordsDocument(records []playback.Record) (doc string, n marks, err error) {
	kept := make([]playback.Record, min(len(records), step.MaxSteps))
	copy(kept, records)
	for i := range kept {
		r := &kept[i]
		r.Result.Message = Message(r.Result.Message)
		r.Tool = withoutFile(r.Tool)
		if r.Healed != nil {
			n.healed++
		}
		if r.Drifted != nil {
			n.drifted++
		}
		if r.Look != nil && r.Look.State == step.LookUnreviewed {
			n.unreviewed++
		}
	}
	for _, shorten := range []func(*playback.Record){nil, withoutArgs, withoutWords} {
		for i := range kept {
			if shorten != nil {
				shorten(&kept[i])
			}
		}
		text, err := json.Marshal(kept)
		if err != nil {
			return "", n, fmt.Errorf("records of a test job: %w", err)
		}
		if doc = storage.WithoutNUL(string(text)); len(doc) <= maxRecords {
			break
		}
	}
	return doc, n, nil
}

func withoutFile(t step.Tool) step.Tool {
	if t.Args.File != nil {
		t.Args.File = &step.File{Name: t.Args.File.Name}
	}
	if t.Args.Tool != nil {
		inner := withoutFile(*t.Args.Tool)
		t.Args.Tool = &inner
	}
	return t
}

func withoutArgs(r *playback.Record) {
	r.Tool = step.Tool{Type: r.Tool.Type}
	for _, h := range []**playback.Healed{&r.Healed, &r.Suggested} {
		if *h != nil {
			*h = &playback.Healed{Score: (*h).Score, Reason: Message((*h).Reason)}
		}
	}
}

func withoutWords(r *playback.Record) {
	const most = 200
	if r.Findings != nil {
		r.Findings = &step.Findings{Total: r.Findings.Total, Accepted: r.Findings.Accepted, Failing: r.Findings.Failing,
			Unseen: r.Findings.Unseen, List: []step.Finding{}}
	}
	r.Result.Message = storage.Cut(r.Result.Message, most)
	if r.Failure != nil {
		r.Failure = &playback.Failure{Expected: storage.Cut(r.Failure.Expected, most), Actual: storage.Cut(r.Failure.Actual, most)}
	}
	for _, h := range []*playback.Healed{r.Healed, r.Suggested} {
		if h != nil {
			h.Reason = storage.Cut(h.Reason, most)
		}
	}
	if r.Drifted != nil {
		r.Drifted = &playback.Drifted{Reason: r.Drifted.Reason, Acted: r.Drifted.Acted, Expected: playback.Described{Row: []string{}},
			Found: playback.Described{Row: []string{}}}
	}
}

// SumJobs sets what all jobs of a run are together, for a run that has all its jobs.
func (r *Run) SumJobs() {
	r.JobCount, r.Counts, r.Healed, r.Drifted, r.Unreviewed = max(r.JobCount, len(r.Jobs)), map[Status]int{}, 0, 0, 0
	for i := range r.Jobs {
		status := r.Jobs[i].Status
		if status == Flaky { // among those that passed
			status = Passed
		}
		r.Counts[status]++
		r.Unreviewed += r.Jobs[i].Unreviewed
		r.Healed += r.Jobs[i].Healed
		r.Drifted += r.Jobs[i].Drifted
	}
	r.Counts[Queued] += r.JobCount - len(r.Jobs)
}
