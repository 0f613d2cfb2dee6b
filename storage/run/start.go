package run

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/lib/pq"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/authoring"
	"github.com/slipway-qa/slipway/storage/step/capability"
	"github.com/slipway-qa/slipway/storage/step/playback"
)

// NewRun is a run of a case to start.
type NewRun struct {
	Case      *authoring.Case
	Revision  *authoring.Revision
	BuildName string              // "": the case's name, cut to MaxBuildName
	Targets   []capability.Target // with effective capabilities, at least one
	Tunnel    string
	// Rows are the places, from 0, of the data rows to run; nil for all that the case has.
	Rows []int
	Inputs
	RerunOf *uuid.UUID // the run that this one repeats
	// Key is the request's Idempotency-Key, "" without one.
	Key string
}

// Start writes a run with its jobs. The caller inserts a test:job task for
// each job in the same transaction. idempotency.ErrSeen when the key was used for this case
// within 24 hours; ErrNotFound when the case is gone; *InvalidError and ErrNoBuild for what
// was given.
func Start(ctx context.Context, tx *storage.Tx, w account.Writer, n NewRun) (*Run, error) {
	c := n.Case
	build, err := buildName(n.BuildName, c.Name)
	if err != nil {
		return nil, err
	}
	if len(n.Targets) < 1 || len(n.Targets) > authoring.MaxTargets {
		return nil, storage.Invalid("targets", "must be 1 to %d", authoring.MaxTargets)
	}
	run := Run{ID: storage.NewID(), OrganizationID: w.OrganizationID, OrganizationUUID: c.OrganizationUUID, TeamUUID: c.TeamUUID,
		CaseID: c.ID, RevisionID: n.Revision.ID, UserUUID: w.UserUUID, CaseName: c.Name, BuildName: build,
		BuildID: n.BuildID, Tunnel: n.Tunnel, Status: Queued, Retries: n.Retries, RerunOf: n.RerunOf}
	run.at(n.TestURL, c.Settings.TestURL)
	run.VariableNames, _ = n.Variables.columns()
	run.Environment = n.Environment
	if err := claimKey(ctx, tx, w.OrganizationID, RunOperation(c.ID), n.Key, run.ID); err != nil {
		return nil, err
	}
	// The lock keeps the case from being deleted until its run can be seen and
	// cancelled.
	if _, err := authoring.LockCase(ctx, tx, w, c.ID, "no key update"); err != nil {
		return nil, err
	}
	platform, err := n.check(ctx, tx, w.OrganizationID)
	if err != nil {
		return nil, err
	}
	targets := slices.Clone(n.Targets)
	if n.BuildID != nil {
		capability.InstallBuild(targets, platform, *n.BuildID)
	}
	made := newRuns{given: n.Variables, trace: n.Trace, retries: n.Retries, rerunOf: n.RerunOf, environment: n.Environment}
	if err := n.addTo(ctx, tx, &made, &run, targets); err != nil {
		return nil, err
	}
	at, err := made.insert(ctx, tx, w.OrganizationID, w.UserUUID, nil)
	if err != nil {
		return nil, err
	}
	run.CreatedAt = at
	run.SumJobs()
	if err := authoring.SetBuildName(ctx, tx, c.ID, build); err != nil {
		return nil, err
	}
	detail := map[string]any{"id": run.ID, "case": c.ID, "build": build, "jobs": run.JobCount}
	if n.RerunOf != nil {
		detail["rerun_of"] = *n.RerunOf
	}
	return &run, account.Audit(ctx, tx, account.Event{OrganizationID: w.OrganizationID, Type: account.TestRunStarted,
		Actor: w.Actor, Subject: c.Name, Detail: n.audited(detail)})
}

// buildName is the name of a request, else as much of the name of what it runs as
// fits.
func buildName(given, otherwise string) (string, error) {
	name, err := storage.Line("buildName", given, authoring.MaxBuildName)
	if err != nil || name != "" {
		return name, err
	}
	return strings.TrimSpace(storage.Cut(otherwise, authoring.MaxBuildName)), nil
}

// newRuns are rows of test_runs and test_jobs to insert, by column.
type newRuns struct {
	runs, cases, names, revisions, builds, urls, tunnels []string
	jobs, runOfJob, targets                              []string
	teams, positions                                     []int64
	ids                                                  []uuid.UUID // of the jobs
	buildIDs                                             []sql.NullInt64
	recorded                                             []sql.NullString
	rowPlaces                                            []sql.NullInt64
	rowNames                                             []string
	data, jobTargets                                     []sql.NullString
	jobCounts, targetCounts                              []int64
	fannedOut                                            []bool
	picked                                               []sql.NullString // places of data rows, as arrays; null for all
	needs                                                []sql.NullString // cases that must pass before, likewise; null for none
	needed                                               []bool
	// given are the variables of a run of one case: a suite run has those of its own.
	given   *Variables
	trace   string // likewise the mode of its traces
	retries *int
	rerunOf *uuid.UUID
	// environment is that of all runs; "" for none.
	environment string
	// loginKey is that of all runs; nil for those of cases of a suite.
	loginKey *string
}

// add adds a run of a team's case with its jobs.
func (n *newRuns) add(r *Run, team int64, targets []capability.Target) error {
	n.runs, n.cases, n.names = append(n.runs, r.ID.String()), append(n.cases, r.CaseID), append(n.names, r.CaseName)
	n.revisions, n.builds = append(n.revisions, r.RevisionID), append(n.builds, r.BuildName)
	n.urls, n.tunnels, n.teams = append(n.urls, r.TestURL), append(n.tunnels, r.Tunnel), append(n.teams, team)
	n.buildIDs, n.recorded = append(n.buildIDs, nullable(r.BuildID)), append(n.recorded, nullableText(r.RecordedURL))
	if r.Targets == 0 {
		for i := range targets {
			r.Jobs = append(r.Jobs, Job{ID: storage.NewID(), RunID: r.ID, Position: i, Target: targets[i], Status: Queued,
				Records: []playback.Record{}})
		}
	}
	all, rest := len(r.Jobs) >= r.JobCount, sql.NullString{}
	if !all {
		doc, err := json.Marshal(targets)
		if err != nil {
			return fmt.Errorf("targets of test case %s: %w", r.CaseID, err)
		}
		rest = sql.NullString{String: storage.WithoutNUL(string(doc)), Valid: true}
	}
	n.jobTargets, n.fannedOut = append(n.jobTargets, rest), append(n.fannedOut, all)
	n.jobCounts, n.targetCounts = append(n.jobCounts, int64(r.JobCount)), append(n.targetCounts, int64(r.Targets))
	data := sql.NullString{}
	if r.DataID != nil {
		data = sql.NullString{String: r.DataID.String(), Valid: true}
	}
	picked := sql.NullString{}
	if r.picked != nil {
		text, err := pq.Array(r.picked).Value()
		if err != nil {
			return fmt.Errorf("data rows of test case %s: %w", r.CaseID, err)
		}
		picked.String, picked.Valid = text.(string)
	}
	needs := sql.NullString{}
	if len(r.needs) > 0 {
		text, err := pq.Array(r.needs).Value()
		if err != nil {
			return fmt.Errorf("needs of test case %s: %w", r.CaseID, err)
		}
		needs.String, needs.Valid = text.(string)
	}
	n.needs, n.needed = append(n.needs, needs), append(n.needed, r.needed)
	n.data, n.picked = append(n.data, data), append(n.picked, picked)
	return n.addJobs(r.Jobs)
}

// addJobs adds jobs of a run.
func (n *newRuns) addJobs(jobs []Job) error {
	for i := range jobs {
		job := &jobs[i]
		doc, err := json.Marshal(job.Target)
		if err != nil {
			return fmt.Errorf("target of job %d: %w", job.Position, err)
		}
		n.ids, n.jobs = append(n.ids, job.ID), append(n.jobs, job.ID.String())
		n.runOfJob, n.positions = append(n.runOfJob, job.RunID.String()), append(n.positions, int64(job.Position))
		n.targets = append(n.targets, storage.WithoutNUL(string(doc)))
		place, name := sql.NullInt64{}, ""
		if job.Row != nil {
			place, name = sql.NullInt64{Int64: int64(job.Row.Index), Valid: true}, job.Row.Name
		}
		n.rowPlaces, n.rowNames = append(n.rowPlaces, place), append(n.rowNames, name)
	}
	return nil
}

// pinnedGroups are the latest revisions of the step groups that a run plays: those of its
// revision and of its suite run, and in these. It is null without any.
const pinnedGroups = `(
		with recursive used(id) as (
			select unnest(v.group_ids) from test_revisions v where v.id = r.revision_id
			union select unnest(s.group_ids) from suite_runs s where s.id = $2
			union select u.group_id from used x join step_group_uses u on u.user_group_id = x.id
		)
		select array_agg(g.revision_id) from used x join step_groups g on g.id = x.id where g.organization_id = $1 and g.deleted_at is null
	)`

const insertRuns = `
with made as (
	insert into test_runs (id, organization_id, team_id, suite_run_id, user_uuid,
		case_id, case_name, revision_id, build_name, test_url, tunnel, build_id, recorded_url, variable_names, sealed_variables,
		retries, rerun_of, quarantine, quarantine_until, data_id, picked, job_targets, job_count, target_count, fanned_out, trace,
		group_revisions, environment, needs, needed, login_key)
	select r.id, $1, r.team_id, $2, $3, r.case_id, r.case_name, r.revision_id, r.build_name, r.test_url, r.tunnel, r.build_id,
		r.recorded_url, $14, $15, $22, $23, q.reason, q.until, r.data_id, r.picked::integer[], r.job_targets, r.job_count, r.target_count,
		r.fanned_out, $24, ` + pinnedGroups + `, $25, r.needs::text[], r.needed, $28
	from unnest($4::uuid[], $5::bigint[], $6::text[], $7::text[], $8::text[], $9::text[], $10::text[], $11::text[], $12::bigint[],
		$13::text[], $17::uuid[], $18::jsonb[], $19::int[], $20::int[], $21::boolean[], $16::text[],
		$26::text[], $27::boolean[]) as r(id, team_id, case_id,
		case_name, revision_id, build_name, test_url, tunnel, build_id, recorded_url, data_id, job_targets, job_count, target_count,
		fanned_out, picked, needs, needed)
	left join test_quarantines q on q.case_id = r.case_id and q.until > now()
)
select now()`

const insertJobs = `
insert into test_jobs (id, organization_id, run_id, position, target, row_place, row_name)
select j.id, $1, j.run_id, j.position, j.target, j.row_place, j.row_name
from unnest($2::uuid[], $3::uuid[], $4::int[], $5::jsonb[], $6::int[], $7::text[]) as j(id, run_id, position, target, row_place, row_name)`

// insert writes the rows and returns the time of their creation.
func (n *newRuns) insert(ctx context.Context, tx *storage.Tx, organizationID int64, user uuid.UUID,
	suiteRun *uuid.UUID) (at time.Time, err error) {
	names, sealed := n.given.columns()
	err = tx.GetContext(ctx, &at, insertRuns, organizationID, suiteRun, user, pq.Array(n.runs), pq.Array(n.teams), pq.Array(n.cases),
		pq.Array(n.names), pq.Array(n.revisions), pq.Array(n.builds), pq.Array(n.urls), pq.Array(n.tunnels), pq.Array(n.buildIDs),
		pq.Array(n.recorded), pq.Array(names), sealed, pq.Array(n.picked), pq.Array(n.data), pq.Array(n.jobTargets), pq.Array(n.jobCounts),
		pq.Array(n.targetCounts), pq.Array(n.fannedOut), n.retries, n.rerunOf, n.trace, n.environment,
		pq.Array(n.needs), pq.Array(n.needed), n.loginKey)
	if err != nil {
		return at, storage.Wrap(err, "create test runs")
	}
	return at, n.insertJobs(ctx, tx, organizationID)
}

func (n *newRuns) insertJobs(ctx context.Context, tx *storage.Tx, organizationID int64) error {
	_, err := tx.ExecContext(ctx, insertJobs, organizationID, pq.Array(n.jobs), pq.Array(n.runOfJob), pq.Array(n.positions),
		pq.Array(n.targets),
		pq.Array(n.rowPlaces), pq.Array(n.rowNames))
	return storage.Wrap(err, "create test jobs")
}
