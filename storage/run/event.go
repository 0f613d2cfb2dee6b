package run

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/lib/pq"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/webhook"
)

// EventAction is the action of the event that a run or a suite run has ended.
const EventAction = "run"

// runEvent is the body of such an event. A case run that belongs to a suite run
// has no event: whoever waits for the suite is notified once.
type runEvent struct {
	RunID       uuid.UUID  `json:"runId"`
	OrgID       uuid.UUID  `json:"orgId"`
	TeamID      uuid.UUID  `json:"teamId"`
	UserID      uuid.UUID  `json:"userId"`
	TestCaseID  string     `json:"testCaseId,omitempty"`
	RevisionID  string     `json:"revisionId,omitempty"`
	TestSuiteID *uuid.UUID `json:"testSuiteId,omitempty"`
	Name        string     `json:"name"` // of the case or suite
	BuildName   string     `json:"buildName"`
	BuildID     *int64     `json:"buildId,omitempty"`
	Environment string     `json:"environment,omitempty"`
	Status      Status     `json:"status"`
	// Counts of the jobs of a run, of the case runs of a suite run.
	Counts  eventCounts `json:"counts"`
	Healed  int         `json:"healed"` // steps
	Drifted int         `json:"drifted"`
	// Unreviewed counts steps that look like a picture that nobody has accepted.
	Unreviewed int        `json:"unreviewed,omitempty"`
	RerunOf    *uuid.UUID `json:"rerunOf,omitempty"` // the run that was repeated
	Error      string     `json:"error,omitempty"`
	// FailedJobs are the first jobs of a run that failed; absent without any, and of suite runs.
	FailedJobs []failedJob `json:"failedJobs,omitempty"`
	// FailureGroups are the largest groups of the failures of a suite run, by their cause.
	FailureGroups []eventGroup `json:"failureGroups,omitempty"`
	StartDate     *time.Time   `json:"startDate"`
	EndDate       *time.Time   `json:"endDate"`
}

// failedJob is a job that failed, as an event has it.
type failedJob struct {
	ID     uuid.UUID  `json:"jobId"`
	Status Status     `json:"status"`
	Code   string     `json:"code"`
	Row    *failedRow `json:"row,omitempty"` // its data row; absent without one
	Trace  bool       `json:"trace"`         // whether a trace of its last attempt was kept
}

// failedRow is the data row of such a job. Values are cut, and null for those of secret columns.
type failedRow struct {
	Index  int                `json:"index"`
	Name   string             `json:"name"`
	Values map[string]*string `json:"values,omitempty"`
}

const (
	// maxFailedJobs bounds the jobs that an event names, and maxFailedValue a value of their
	// rows, in characters: a row may have a hundred.
	maxFailedJobs  = 5
	maxFailedValue = 100
)

// listFailed lists the first jobs that failed, $2 of them. The data may be gone: then their
// rows have no values.
const listFailed = `
left join test_data d on d.id = r.data_id
cross join lateral (
	select jsonb_agg(jsonb_build_object('jobId', f.id, 'status', f.state, 'code', f.error_code, 'place', f.row_place, 'name', f.row_name,
		'cells', (select x.cells from test_data_rows x where x.data_id = d.id and x.place = f.row_place),
		'trace', exists (select from run_files t where t.job_id = f.id and t.kind = 'trace' and t.attempt > f.attempts)) order by f.position) as failed_jobs
	from (select id, position, state, error_code, row_place, row_name, attempts from test_jobs
		where run_id = r.id and state in ('FAILED', 'ERROR') order by position limit $2) f
) failing`

// failedJobs reads what listFailed has found. columns and secret are those of the data.
func failedJobs(doc []byte, columns, secret []string) ([]failedJob, error) {
	if doc == nil {
		return nil, nil
	}
	var found []struct {
		failedJob
		Place *int     `json:"place"`
		Name  string   `json:"name"`
		Cells []string `json:"cells"`
	}
	if err := json.Unmarshal(doc, &found); err != nil {
		return nil, fmt.Errorf("failed jobs of a run: %w", err)
	}
	jobs := make([]failedJob, len(found))
	for i, f := range found {
		jobs[i] = f.failedJob
		if f.Place == nil {
			continue
		}
		jobs[i].Row = &failedRow{Index: *f.Place, Name: f.Name}
		if len(f.Cells) != len(columns) || len(columns) == 0 {
			continue
		}
		jobs[i].Row.Values = make(map[string]*string, len(columns))
		for at, column := range columns {
			var value *string
			if !slices.Contains(secret, column) {
				text := storage.Cut(f.Cells[at], maxFailedValue)
				value = &text
			}
			jobs[i].Row.Values[column] = value
		}
	}
	return jobs, nil
}

type eventCounts struct {
	Total     int `json:"total"`
	Passed    int `json:"passed"`
	Failed    int `json:"failed"`
	Error     int `json:"error"`
	Cancelled int `json:"cancelled"`
	// Quarantined case runs have failed and are in no other count. Flaky ones are among the passed.
	Quarantined int `json:"quarantined"`
	Flaky       int `json:"flaky"`
}

func (c Counts) event(total int) eventCounts {
	return eventCounts{Total: max(total, c.Sum()), Passed: c.Passed, Failed: c.Failed, Error: c.Errored, Cancelled: c.Cancelled,
		Quarantined: c.Quarantined, Flaky: c.Flaky}
}

const countJobs = `
cross join lateral (
	select count(*) filter (where state in ('PASSED', 'FLAKY')) as passed,
		count(*) filter (where state = 'FAILED') as failed, count(*) filter (where state = 'ERROR') as errored,
		count(*) filter (where state = 'CANCELLED') as cancelled,
		coalesce(sum(healed), 0) as healed, coalesce(sum(drifted), 0) as drifted,
		coalesce(sum(unreviewed), 0) as unreviewed
	from test_jobs where run_id = r.id
) n`

// addRunEvents writes the events of runs that have just ended.
func addRunEvents(ctx context.Context, tx *storage.Tx, ids []uuid.UUID) error {
	if len(ids) == 0 {
		return nil
	}
	var rows []struct {
		RunRow
		Counts
		Healed     int            `db:"healed"`
		Drifted    int            `db:"drifted"`
		Unreviewed int            `db:"unreviewed"`
		Failed     []byte         `db:"failed_jobs"` // null without any
		Columns    pq.StringArray `db:"columns"`
		Secret     pq.StringArray `db:"secret"`
	}
	err := tx.SelectContext(ctx, &rows, `
		select `+runColumns+`, n.*, failing.failed_jobs, d.columns, d.secret from test_runs r`+Tables+countJobs+listFailed+`
		where r.id = any($1::uuid[]) and r.suite_run_id is null order by r.id`, storage.UUIDs(ids), maxFailedJobs)
	if err != nil {
		return storage.Wrap(err, "ended test runs")
	}
	var events newEvents
	for i := range rows {
		r := &rows[i]
		r.Counts.Flaky = r.RunRow.Flaky
		failed, err := failedJobs(r.Failed, r.Columns, r.Secret)
		if err != nil {
			return err
		}
		events.add(r.OrganizationID, r.TeamID, runEvent{RunID: r.ID, OrgID: r.OrganizationUUID, TeamID: r.TeamUUID, UserID: r.UserUUID,
			TestCaseID: r.CaseID, RevisionID: r.RevisionID, Name: r.CaseName, BuildName: r.BuildName, BuildID: r.BuildID, Environment: r.Environment,
			Status: r.Status, Counts: r.Counts.event(0), Healed: r.Healed, Drifted: r.Drifted, Unreviewed: r.Unreviewed,
			RerunOf: r.RerunOf, FailedJobs: failed, StartDate: r.StartedAt, EndDate: r.FinishedAt})
	}
	return events.insert(ctx, tx)
}

// addSuiteRunEvents does so for suite runs.
func addSuiteRunEvents(ctx context.Context, tx *storage.Tx, ids []uuid.UUID) error {
	if len(ids) == 0 {
		return nil
	}
	var rows []SuiteRunRow
	err := tx.SelectContext(ctx, &rows, `
		select `+SuiteRunColumns+` from suite_runs s`+SuiteRunTables+`
		where s.id = any($1::uuid[]) order by s.id`, storage.UUIDs(ids))
	if err != nil {
		return storage.Wrap(err, "ended suite runs")
	}
	var events newEvents
	for i := range rows {
		r := &rows[i]
		var groups []eventGroup
		if r.Failed+r.Errored > 0 {
			if groups, err = eventGroups(ctx, tx, r.ID); err != nil {
				return err
			}
		}
		events.add(r.OrganizationID, r.TeamID, runEvent{RunID: r.ID, OrgID: r.OrganizationUUID, TeamID: r.TeamUUID, UserID: r.UserUUID,
			FailureGroups: groups, TestSuiteID: &r.SuiteID, Name: r.SuiteName, BuildName: r.BuildName, BuildID: r.BuildID,
			Environment: r.Environment,
			Status:      r.Status, Counts: r.Counts.event(r.RunCount), Healed: r.Healed, Drifted: r.Drifted, Unreviewed: r.Unreviewed,
			RerunOf: r.RerunOf, Error: r.Error, StartDate: r.StartedAt, EndDate: r.FinishedAt})
	}
	return events.insert(ctx, tx)
}

// newEvents are rows of events to insert, by column.
type newEvents struct {
	ids                  []uuid.UUID
	organizations, teams []int64
	subjects, bodies     []string
	webhooks             []webhook.Event
	err                  error
}

func (n *newEvents) add(organizationID, teamID int64, e runEvent) {
	body, err := json.Marshal(e)
	if err != nil && n.err == nil {
		n.err = fmt.Errorf("event of run %s: %w", e.RunID, err)
	}
	n.ids, n.organizations, n.teams = append(n.ids, storage.NewID()), append(n.organizations, organizationID), append(n.teams, teamID)
	n.subjects, n.bodies = append(n.subjects, e.RunID.String()), append(n.bodies, storage.WithoutNUL(string(body)))
	n.webhooks = append(n.webhooks, webhook.Event{OrganizationID: organizationID, Action: webhook.Run, ID: n.ids[len(n.ids)-1]})
}

const insertEvents = `
insert into events (id, organization_id, team_id, action, subject, body)
select e.id, e.organization_id, e.team_id, $1, e.subject, e.body
from unnest($2::uuid[], $3::bigint[], $4::bigint[], $5::text[], $6::jsonb[]) as e(id, organization_id, team_id, subject, body)`

func (n *newEvents) insert(ctx context.Context, tx *storage.Tx) error {
	if n.err != nil || len(n.ids) == 0 {
		return n.err
	}
	_, err := tx.ExecContext(ctx, insertEvents, EventAction, storage.UUIDs(n.ids), pq.Array(n.organizations), pq.Array(n.teams),
		pq.Array(n.subjects), pq.Array(n.bodies))
	if err != nil {
		return storage.Wrap(err, "write run events")
	}
	return webhook.Emit(ctx, tx, n.webhooks...)
}

// forgetEvents skips events that others have locked: they are found by the next call.
const forgetEvents = `
delete from events where id in (
	select id from events where created_at < $1 order by created_at limit $2 for update skip locked)`

// ForgetEvents deletes events made before, at most limit of them.
func ForgetEvents(ctx context.Context, q storage.Querier, before time.Time, limit int) (int64, error) {
	return storage.Affected(q.ExecContext(ctx, forgetEvents, before, limit))
}
