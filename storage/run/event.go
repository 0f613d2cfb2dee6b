package run

import (
	"context"
	"encoding/json"
	"fmt"
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
	StartDate  *time.Time `json:"startDate"`
	EndDate    *time.Time `json:"endDate"`
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

func (c counts) event(total int) eventCounts {
	return eventCounts{Total: max(total, c.sum()), Passed: c.Passed, Failed: c.Failed, Error: c.Errored, Cancelled: c.Cancelled,
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
		runRow
		counts
		Healed     int `db:"healed"`
		Drifted    int `db:"drifted"`
		Unreviewed int `db:"unreviewed"`
	}
	err := tx.SelectContext(ctx, &rows, `
		select `+runColumns+`, n.* from test_runs r`+runTables+countJobs+`
		where r.id = any($1::uuid[]) and r.suite_run_id is null order by r.id`, storage.UUIDs(ids))
	if err != nil {
		return storage.Wrap(err, "ended test runs")
	}
	var events newEvents
	for i := range rows {
		r := &rows[i]
		r.counts.Flaky = r.runRow.Flaky
		events.add(r.OrganizationID, r.TeamID, runEvent{RunID: r.ID, OrgID: r.OrganizationUUID, TeamID: r.TeamUUID, UserID: r.UserUUID,
			TestCaseID: r.CaseID, RevisionID: r.RevisionID, Name: r.CaseName, BuildName: r.BuildName, BuildID: r.BuildID, Environment: r.Environment,
			Status: r.Status, Counts: r.counts.event(0), Healed: r.Healed, Drifted: r.Drifted, Unreviewed: r.Unreviewed,
			RerunOf: r.RerunOf, StartDate: r.StartedAt, EndDate: r.FinishedAt})
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
		events.add(r.OrganizationID, r.TeamID, runEvent{RunID: r.ID, OrgID: r.OrganizationUUID, TeamID: r.TeamUUID, UserID: r.UserUUID,
			TestSuiteID: &r.SuiteID, Name: r.SuiteName, BuildName: r.BuildName, BuildID: r.BuildID, Environment: r.Environment,
			Status: r.Status, Counts: r.counts.event(r.RunCount), Healed: r.Healed, Drifted: r.Drifted, Unreviewed: r.Unreviewed,
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

// Events that others have locked are found by the next call.
const forgetEvents = `
delete from events where id in (
	select id from events where created_at < $1 order by created_at limit $2 for update skip locked)`

// ForgetEvents deletes events made before, at most limit of them.
func ForgetEvents(ctx context.Context, q storage.Querier, before time.Time, limit int) (int64, error) {
	return storage.Affected(q.ExecContext(ctx, forgetEvents, before, limit))
}
