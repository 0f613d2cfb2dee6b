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
	"github.com/slipway-qa/slipway/storage/login"
	"github.com/slipway-qa/slipway/storage/step/capability"
	"github.com/slipway-qa/slipway/storage/suiteplan"
)

// fanout is a suite run of which case runs are made.
type fanout struct {
	OrganizationID int64     `db:"organization_id"`
	SuiteID        uuid.UUID `db:"suite_id"`
	UserUUID       uuid.UUID `db:"user_uuid"`
	BuildName      string    `db:"build_name"`
	Status         Status    `db:"state"`
	FannedOut      bool      `db:"fanned_out"`
	Tunnel         string    `db:"tunnel"` // "": each case's own
	TestURL        string    `db:"test_url"`
	Targets        []byte    `db:"targets"` // null: each case's own
	BuildID        *int64    `db:"build_id"`
	Platform       string    `db:"platform"` // of the build
	Environment    string    `db:"environment"`
	// RerunOf is the suite run whose cases are run again; nil runs the suite's.
	RerunOf   *uuid.UUID `db:"rerun_of"`
	RerunOnly Selection  `db:"rerun_only"`
	// Special: the suite's runs need a plan. Planned: this one has it.
	Special bool `db:"special"`
	Planned bool `db:"planned"`
	// Left is how many seconds the suite run has; nil: no bound.
	Left  *float64 `db:"seconds_left"`
	Login []byte   `db:"login"` // null: none

	waiting map[string]waiting // targets that need the login, by their keys
}

// lockBuildOfFanout locks the row of the build that case runs name. It is locked before the
// suite run, in the order that the removal of builds has.
const lockBuildOfFanout = `
select id from builds where id = (select build_id from suite_runs where id = $1) for key share`

var lockFanout = `
select s.organization_id, s.suite_id, s.user_uuid, s.build_name, s.state, s.fanned_out, s.tunnel, s.test_url, s.targets,
	s.rerun_of, s.rerun_only, s.build_id, s.environment, s.login, coalesce(b.platform, '') as platform,
	s.planned, u.id is not null and ` + suiteplan.Special("u") + ` as special,
	case when s.max_duration is not null then
		greatest(extract(epoch from s.created_at + make_interval(secs => s.max_duration) - now())::float8, 0) end as seconds_left
from suite_runs s left join builds b on b.id = s.build_id left join test_suites u on u.id = s.suite_id
where s.id = $1 for no key update of s`

// next reads where the last step ended from what it made, so a step that is repeated goes on
// there. A case without a revision has nothing to run, and that of the login is not run once
// more. A suite may have cases of other teams, whose runs are those teams'. Where the run has
// targets, a case needs none of its own.
func next(which string) string {
	return `
select c.id, c.team_id, c.name, c.run_settings, v.id as revision_id, v.data_id
from test_cases c
cross join lateral (select id, steps, data_id from test_revisions where case_id = c.id order by number desc limit 1) v
where c.organization_id = $2 and (c.runnable or $5 and v.steps <> '[]') and c.id is distinct from $6::jsonb ->> 'testCaseId' and ` + which +
		`
order by c.id limit $4`
}

var (
	nextCases = next(`c.suite_id = $1
	and c.id > coalesce((select max(case_id) from test_runs where suite_run_id = $3 and login_key is null), '')`)
	plannedCases = next(`c.id = any($1::text[]) and $3::uuid is not null`)
)

// FannedOut is what a step of a suite run has made.
type FannedOut struct {
	Jobs []uuid.UUID
	// Unfinished are case runs of which further jobs are to be made: see FanOutRows.
	Unfinished []uuid.UUID
	// Held are those of the jobs that wait for the runs of other cases: see HeldFor.
	Held map[uuid.UUID]bool
	// Logins are jobs that play the suite's login; if LoginHolds, all others wait for it.
	Logins     []uuid.UUID
	LoginHolds bool
	More       bool // case runs may be left
	// Left is how long the suite run has until it is to be ended by Expire; nil: no bound.
	Left *time.Duration
}

// FanOut writes the next case runs of a suite run, at most limit of them, in
// the order of the cases' ids. vendor names the options that effective
// capabilities are made with. The caller inserts tasks for what was made in the same
// transaction. When no more is left the suite run is marked as fanned out, and when no
// case was left to run it ends as ERROR. ErrConflict when the suite run has ended,
// ErrNotFound when it is gone; *TooManyJobsError for a case of too many data rows, and
// *InvalidError for a suite of too many cases.
func FanOut(ctx context.Context, tx *storage.Tx, suiteRunID uuid.UUID, vendor string, limit int) (FannedOut, error) {
	var builds []int64
	if err := tx.SelectContext(ctx, &builds, lockBuildOfFanout, suiteRunID); err != nil {
		return FannedOut{}, storage.Wrap(err, "lock the build of a suite run")
	}
	var f fanout
	if err := tx.GetContext(ctx, &f, lockFanout, suiteRunID); err != nil {
		return FannedOut{}, storage.Wrap(err, "suite run "+suiteRunID.String())
	}
	switch {
	case f.Status.Terminal():
		return FannedOut{}, fmt.Errorf("suite run %s has ended: %w", suiteRunID, storage.ErrConflict)
	case f.FannedOut:
		return FannedOut{}, nil
	}
	given, err := f.targets()
	if err != nil {
		return FannedOut{}, fmt.Errorf("targets of suite run %s: %w", suiteRunID, err)
	}
	cases, more, err := f.nextCases(ctx, tx, suiteRunID, limit, len(given) > 0)
	if err != nil {
		return FannedOut{}, err
	}
	data, err := dataOfCases(ctx, tx, cases)
	if err != nil {
		return FannedOut{}, err
	}
	rows, made := newRuns{environment: f.Environment}, FannedOut{More: more, Left: f.left()}
	waiting := []*Run{}
	for i := range cases {
		run, targets, err := f.runOf(&cases[i], given, vendor)
		if err != nil {
			return FannedOut{}, err
		}
		if header, ok := data[cases[i].dataID()]; ok {
			plan := rowPlan{dataID: cases[i].dataID(), header: header, picked: cases[i].picked(header.Count), targets: targets}
			if err := plan.begin(ctx, tx, run, startedOfSuite); err != nil {
				return FannedOut{}, err
			}
		}
		if err := rows.add(run, cases[i].TeamID, targets); err != nil {
			return FannedOut{}, err
		}
		if len(run.needs) > 0 {
			waiting = append(waiting, run)
		}
		if err := f.wait(targets, run.Tunnel); err != nil {
			return FannedOut{}, err
		}
		if len(run.Jobs) < run.JobCount {
			made.Unfinished = append(made.Unfinished, run.ID)
		}
	}
	if len(cases) > 0 {
		if _, err := rows.insert(ctx, tx, f.OrganizationID, f.UserUUID, &suiteRunID); err != nil {
			return FannedOut{}, err
		}
	}
	if made.Held, err = held(ctx, tx, suiteRunID, waiting); err != nil {
		return FannedOut{}, err
	}
	if made.Logins, err = f.playLogins(ctx, tx, suiteRunID, vendor); err != nil {
		return FannedOut{}, err
	}
	if made.LoginHolds = len(made.Logins) > 0; !made.LoginHolds && len(f.waiting) > 0 {
		if made.LoginHolds, err = login.Holds(ctx, tx, suiteRunID); err != nil {
			return FannedOut{}, err
		}
	}
	if made.Jobs = rows.ids; made.More {
		return made, nil
	}
	return made, fannedOut(ctx, tx, suiteRunID)
}

// caseToRun is a case of which a run is made.
type caseToRun struct {
	ID         string     `db:"id"`
	TeamID     int64      `db:"team_id"`
	Name       string     `db:"name"`
	Settings   []byte     `db:"run_settings"`
	RevisionID string     `db:"revision_id"`
	DataID     *uuid.UUID `db:"data_id"`
	// Tunnel, Targets and Rows are of the case's earlier run, where that is run again.
	Tunnel  string        `db:"tunnel"`
	Targets []byte        `db:"targets"`
	Rows    pq.Int64Array `db:"rows"`
	// needs and needed as of Run.
	needs  []string
	needed bool
}

// picked are the data rows to run again, of those that are still there; nil for all.
func (c *caseToRun) picked(count int) []int64 {
	return slices.DeleteFunc(slices.Clone([]int64(c.Rows)), func(place int64) bool { return place >= int64(count) })
}

// dataID is uuid.Nil for a case without data rows.
func (c *caseToRun) dataID() uuid.UUID {
	if c.DataID == nil {
		return uuid.Nil
	}
	return *c.DataID
}

// targets are those that the run was given; none where each case has its own.
func (f *fanout) targets() (given []capability.Target, err error) {
	if f.Targets != nil {
		err = json.Unmarshal(f.Targets, &given)
	}
	return given, err
}

// runOf returns the run of a case and what it executes on.
func (f *fanout) runOf(c *caseToRun, given []capability.Target, vendor string) (*Run, []capability.Target, error) {
	if f.RerunOf != nil {
		return f.runAgain(c)
	}
	run := &Run{ID: storage.NewID(), CaseID: c.ID, CaseName: c.Name, RevisionID: c.RevisionID, BuildName: f.BuildName, BuildID: f.BuildID,
		needs: c.needs, needed: c.needed}
	var settings capability.RunSettings
	if err := json.Unmarshal(c.Settings, &settings); err != nil {
		return nil, nil, fmt.Errorf("settings of test case %s: %w", c.ID, err)
	}
	run.at(f.TestURL, settings.TestURL)
	tunnel := settings.SCTunnelName
	if f.Tunnel != "" {
		tunnel = &f.Tunnel
	}
	if tunnel != nil && *tunnel == "" {
		tunnel = nil
	}
	// The primary target must not name another tunnel than the targets of the run do.
	if ofTargets, _, _ := capability.SharedTunnel(given, vendor); f.Tunnel != "" || tunnel == nil && ofTargets != "" {
		withoutTunnels(&settings, vendor)
	}
	targets := given
	if len(targets) == 0 {
		targets = settings.Targets()
	}
	// An import, and a request with targets, are refused when these name different tunnels.
	resolved := capability.Resolver{Vendor: vendor, Case: run.CaseName, Build: run.BuildName, Primary: settings.PrimaryTarget}.
		Resolve(targets, tunnel)
	run.Tunnel = resolved.Tunnel
	if f.BuildID != nil {
		capability.InstallBuild(resolved.Targets, f.Platform, *f.BuildID)
	}
	return run, resolved.Targets, nil
}

// withoutTunnels takes the tunnels out that targets name, which would stand over the
// run's.
func withoutTunnels(s *capability.RunSettings, vendor string) {
	if s.PrimaryTarget != nil {
		s.PrimaryTarget.Capabilities = capability.WithoutTunnel(s.PrimaryTarget.Capabilities, vendor)
	}
	for i := range s.RunTargets {
		s.RunTargets[i].Capabilities = capability.WithoutTunnel(s.RunTargets[i].Capabilities, vendor)
	}
}

// markFannedOut counts the runs anew: cases may have come and gone since the start.
const markFannedOut = `
update suite_runs set fanned_out = true,
	run_count = (select count(*) from test_runs where suite_run_id = $1)
where id = $1
returning run_count`

func fannedOut(ctx context.Context, tx *storage.Tx, id uuid.UUID) error {
	var made int
	if err := tx.GetContext(ctx, &made, markFannedOut, id); err != nil {
		return storage.Wrap(err, "mark suite run as fanned out")
	}
	if made == 0 {
		return FailSuiteRun(ctx, tx, id, "the suite has no case left that has both steps and a target to run on")
	}
	return endSuiteRuns(ctx, tx, []uuid.UUID{id})
}

// failSuiteRun keeps the values of variables for case runs that go on, and what logins have
// left.
const failSuiteRun = `
with open as (
	select exists (select from test_runs where suite_run_id = $1 and state in ('QUEUED', 'RUNNING')) as goes_on
), gone as (
	delete from suite_logins where suite_run_id = $1 and not (select goes_on from open)
)
update suite_runs set state = $3, error = $2, finished_at = now(),
	sealed_variables = case when (select goes_on from open) then sealed_variables end
where id = $1 and state in ('QUEUED', 'RUNNING')
returning id`

// FailSuiteRun ends a suite run that could not be fanned out as ERROR. Case runs
// that it has go on by themselves.
func FailSuiteRun(ctx context.Context, tx *storage.Tx, id uuid.UUID, reason string) error {
	return breakSuiteRun(ctx, tx, id, Errored, reason)
}

func breakSuiteRun(ctx context.Context, tx *storage.Tx, id uuid.UUID, status Status, reason string) error {
	var ended []uuid.UUID
	if err := tx.SelectContext(ctx, &ended, failSuiteRun, id, Message(reason), status); err != nil {
		return storage.Wrap(err, "fail suite run")
	}
	return addSuiteRunEvents(ctx, tx, ended)
}
