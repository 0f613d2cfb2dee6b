package run

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/google/uuid"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/step"
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
}

const lockFanout = `
select organization_id, suite_id, user_uuid, build_name, state, fanned_out, tunnel
from suite_runs where id = $1 for no key update`

// Where the last step ended is read from what it made, so a step that is repeated
// goes on there. A case without a revision has nothing to run. A suite may have
// cases of other teams, whose runs are those teams'.
const nextCases = `
select c.id, c.team_id, c.name, c.run_settings, v.id as revision_id
from test_cases c
cross join lateral (select id from test_revisions where case_id = c.id order by number desc limit 1) v
where c.suite_id = $1 and c.organization_id = $2 and c.runnable
	and c.id > coalesce((select max(case_id) from test_runs where suite_run_id = $3), '')
order by c.id limit $4`

// FanOut writes the next case runs of a suite run, at most limit of them, in
// the order of the cases' ids. vendor names the options that effective
// capabilities are made with. It returns the jobs, for which the caller inserts
// tasks in the same transaction, and whether more may be left; without more the
// suite run is marked as fanned out. When no case was left to run it ends as
// ERROR. ErrConflict when the suite run has ended, ErrNotFound when it is gone.
func FanOut(ctx context.Context, tx *storage.Tx, suiteRunID uuid.UUID, vendor string, limit int) (jobs []uuid.UUID, more bool, err error) {
	var f fanout
	if err := tx.GetContext(ctx, &f, lockFanout, suiteRunID); err != nil {
		return nil, false, storage.Wrap(err, "suite run "+suiteRunID.String())
	}
	switch {
	case f.Status.Terminal():
		return nil, false, fmt.Errorf("suite run %s has ended: %w", suiteRunID, storage.ErrConflict)
	case f.FannedOut:
		return nil, false, nil
	}
	var cases []struct {
		ID         string `db:"id"`
		TeamID     int64  `db:"team_id"`
		Name       string `db:"name"`
		Settings   []byte `db:"run_settings"`
		RevisionID string `db:"revision_id"`
	}
	err = tx.SelectContext(ctx, &cases, nextCases, f.SuiteID, f.OrganizationID, suiteRunID, limit)
	if err != nil {
		return nil, false, storage.Wrap(err, "next cases of a suite run")
	}
	rows := newRuns{}
	for _, c := range cases {
		run := Run{ID: storage.NewID(), CaseID: c.ID, CaseName: c.Name, RevisionID: c.RevisionID, BuildName: f.BuildName}
		var settings step.RunSettings
		if err := json.Unmarshal(c.Settings, &settings); err != nil {
			return nil, false, fmt.Errorf("settings of test case %s: %w", c.ID, err)
		}
		run.TestURL = settings.TestURL
		tunnel := settings.SCTunnelName
		switch {
		case f.Tunnel != "":
			withoutTunnels(&settings, vendor)
			tunnel = &f.Tunnel
		case tunnel != nil && *tunnel == "":
			tunnel = nil
		}
		// An import refuses targets that name different tunnels.
		resolved := step.Resolver{Vendor: vendor, Case: run.CaseName, Build: run.BuildName, Primary: settings.PrimaryTarget}.
			Resolve(settings.Targets(), tunnel)
		run.Tunnel = resolved.Tunnel
		if err := rows.add(&run, c.TeamID, resolved.Targets); err != nil {
			return nil, false, err
		}
	}
	if len(cases) > 0 {
		if _, err := rows.insert(ctx, tx, f.OrganizationID, f.UserUUID, &suiteRunID); err != nil {
			return nil, false, err
		}
	}
	if len(cases) == limit {
		return rows.ids, true, nil
	}
	return rows.ids, false, fannedOut(ctx, tx, suiteRunID)
}

// withoutTunnels takes the tunnels out that targets name, which would stand over the
// run's.
func withoutTunnels(s *step.RunSettings, vendor string) {
	if s.PrimaryTarget != nil {
		s.PrimaryTarget.Capabilities = step.WithoutTunnel(s.PrimaryTarget.Capabilities, vendor)
	}
	for i := range s.RunTargets {
		s.RunTargets[i].Capabilities = step.WithoutTunnel(s.RunTargets[i].Capabilities, vendor)
	}
}

// Cases may have come and gone since the start.
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

const failSuiteRun = `
update suite_runs set state = $3, error = $2, finished_at = now()
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
