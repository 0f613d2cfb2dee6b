package run

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/lib/pq"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/authoring"
	"github.com/slipway-qa/slipway/storage/step/capability"
	"github.com/slipway-qa/slipway/storage/suiteplan"
)

// NewSuiteRun is a run of a suite to start.
type NewSuiteRun struct {
	SuiteID   uuid.UUID
	BuildName string // "": the suite's name, cut to MaxBuildName
	// Targets, checked by capability.CheckTarget and capability.CheckPermitted, replace those of each
	// case, as those of a run of one case do; without any each case has its own.
	Targets []capability.Target
	Tunnel  string // of its environment; "": each case's own, or that of the targets
	Inputs
	// Rerun names an earlier run of the suite; nil runs the suite as it is.
	Rerun *SuiteRerun
	// Shard is the part of the suite to run; nil for all of it.
	Shard *suiteplan.Shard
	// MaxDuration is the most seconds from the start to the end; nil: as the suite has it.
	MaxDuration *int
	// OwnEnvironment: the run is in the suite's default environment, if it has one and the
	// run names none. Its task puts it there (EnterNamed).
	OwnEnvironment bool
	// Vendor names the options of targets that name a tunnel; needed with Targets only.
	Vendor    string
	Key       string
	RequestID string
}

// given returns the column of the targets: null where each case has its own.
func (n *NewSuiteRun) given() (doc *string, err error) {
	if len(n.Targets) == 0 {
		return nil, nil
	}
	if len(n.Targets) > authoring.MaxTargets {
		return nil, storage.Invalid("targets", "must be at most %d", authoring.MaxTargets)
	}
	if _, _, ok := capability.SharedTunnel(n.Targets, n.Vendor); !ok {
		return nil, storage.Invalid("targets", "must not name different tunnels: they share one")
	}
	text, err := json.Marshal(n.Targets)
	if err != nil {
		return nil, fmt.Errorf("targets of a suite run: %w", err)
	}
	clean := storage.WithoutNUL(string(text))
	return &clean, nil
}

// countSuiteRun keeps the suite from being deleted until its run can be seen and cancelled, by
// its lock.
var countSuiteRun = `
update test_suites s set run_count = s.run_count + 1
from organizations o, teams t
where s.id = $1 and s.organization_id = $2 and o.id = s.organization_id and t.id = s.team_id
returning s.team_id, s.name, s.default_environment, o.uuid as organization_uuid, t.uuid as team_uuid, ` +
	suiteplan.Special("s") + ` as special`

const insertSuiteRun = `
insert into suite_runs (id, organization_id, team_id, suite_id, suite_name, user_uuid, build_name, run_count, request_id,
	build_id, test_url, targets, variable_names, sealed_variables, trace, retries, rerun_of, rerun_only, environment, tunnel,
	shard_number, shard_parts, shard_key, max_duration, set_up, tear_down, group_ids, login)
select $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16::int, $17::uuid, $18, $19, $20, $21::smallint, $22::smallint, $23,
	coalesce($24::int, s.max_duration), s.set_up, s.tear_down,
	(select array_agg(u.group_id) from step_group_uses u where u.suite_id = s.id), s.login
from test_suites s where s.id = $4
returning created_at, max_duration`

// countCasesToRun counts the cases of a suite that can be run: one without a target of its own
// on those that the run has. That of the login is counted when it is begun.
const countCasesToRun = `
select count(*) from test_cases c where c.suite_id = $1
	and c.id is distinct from (select login ->> 'testCaseId' from test_suites where id = $1) and (c.runnable or $2 and
	(select v.steps <> '[]' from test_revisions v where v.case_id = c.id order by v.number desc limit 1))`

// StartSuite writes a suite run and counts it at the suite. The caller inserts
// its suite:run task in the same transaction. ErrNotFound, ErrNoJobs,
// idempotency.ErrSeen; *InvalidError and ErrNoBuild for what was given.
func StartSuite(ctx context.Context, tx *storage.Tx, w account.Writer, n NewSuiteRun) (*SuiteRun, error) {
	run := SuiteRun{ID: storage.NewID(), OrganizationID: w.OrganizationID, SuiteID: n.SuiteID, UserUUID: w.UserUUID, Status: Queued,
		BuildID: n.BuildID, TestURL: n.TestURL, Retries: n.Retries, Environment: n.Environment, Shard: n.Shard}
	if err := n.checkPlan(); err != nil {
		return nil, err
	}
	if n.Rerun != nil {
		run.RerunOf, run.RerunOnly = &n.Rerun.Of, n.Rerun.Only
	}
	targets, err := n.given()
	if err != nil {
		return nil, err
	}
	names, sealed := n.Variables.columns()
	run.VariableNames = names
	if err := claimKey(ctx, tx, w.OrganizationID, SuiteRunOperation(n.SuiteID), n.Key, run.ID); err != nil {
		return nil, err
	}
	var suite struct {
		TeamID           int64     `db:"team_id"`
		Name             string    `db:"name"`
		Environment      string    `db:"default_environment"`
		OrganizationUUID uuid.UUID `db:"organization_uuid"`
		TeamUUID         uuid.UUID `db:"team_uuid"`
		Special          bool      `db:"special"`
	}
	if err := tx.GetContext(ctx, &suite, countSuiteRun, n.SuiteID, w.OrganizationID); err != nil {
		return nil, storage.Wrap(err, "test suite "+n.SuiteID.String())
	}
	if !w.May(suite.TeamID) {
		return nil, authoring.ErrForbidden
	}
	if n.OwnEnvironment && run.Environment == "" {
		run.Environment = suite.Environment
	}
	if run.BuildName, err = buildName(n.BuildName, suite.Name); err != nil {
		return nil, err
	}
	if _, err := n.check(ctx, tx, w.OrganizationID); err != nil {
		return nil, err
	}
	planned := suite.Special || n.Shard != nil
	switch {
	case planned: // counted by the plan
	case n.Rerun != nil:
		err = tx.GetContext(ctx, &run.RunCount, countCasesToRerun, n.SuiteID, n.Rerun.Of, pq.Array(n.Rerun.Only.states()))
	default:
		err = tx.GetContext(ctx, &run.RunCount, countCasesToRun, n.SuiteID, targets != nil)
	}
	if err != nil {
		return nil, storage.Wrap(err, "count cases to run")
	}
	if run.RunCount == 0 && !planned {
		return nil, authoring.ErrNoJobs
	}
	run.SuiteName, run.OrganizationUUID, run.TeamUUID = suite.Name, suite.OrganizationUUID, suite.TeamUUID
	var made struct {
		CreatedAt   time.Time `db:"created_at"`
		MaxDuration *int      `db:"max_duration"`
	}
	number, parts, key := n.shardColumns()
	err = tx.GetContext(ctx, &made, insertSuiteRun, run.ID, w.OrganizationID, suite.TeamID, n.SuiteID, suite.Name,
		w.UserUUID, run.BuildName, run.RunCount, storage.WithoutNUL(n.RequestID), n.BuildID, n.TestURL, targets, pq.Array(names), sealed, n.Trace,
		run.Retries, run.RerunOf, run.RerunOnly, run.Environment, n.Tunnel, number, parts, key, n.MaxDuration)
	if err != nil {
		return nil, storage.Wrap(err, "create suite run")
	}
	run.CreatedAt, run.MaxDuration = made.CreatedAt, made.MaxDuration
	if planned {
		if err := n.plan(ctx, tx, &run, targets != nil); err != nil {
			return nil, err
		}
	}
	run.Counts = map[Status]int{Queued: run.RunCount}
	detail := map[string]any{"id": run.ID, "suite": n.SuiteID, "build": run.BuildName, "runs": run.RunCount}
	if n.Shard != nil {
		detail["shard"] = fmt.Sprintf("%d/%d", n.Shard.Number, n.Shard.Of)
	}
	if n.Rerun != nil {
		detail["rerun_of"], detail["only"] = n.Rerun.Of, n.Rerun.Only
	}
	return &run, account.Audit(ctx, tx, account.Event{OrganizationID: w.OrganizationID, Type: account.TestSuiteRunStarted,
		Actor: w.Actor, Subject: suite.Name, Detail: n.audited(detail)})
}
