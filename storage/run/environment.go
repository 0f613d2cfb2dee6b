package run

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/google/uuid"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/environment"
	"github.com/slipway-qa/slipway/storage/seal"
	"github.com/slipway-qa/slipway/storage/step/capability"
)

// Enter puts a run into an environment, nil for none: what it was not given itself is the
// environment's. values are the variables that it was given; all are sealed. The errors are
// those of SealVariables, and seal.ErrUnseal.
func (in *Inputs) Enter(keys seal.Ring, env *environment.Environment, values map[string]string) (err error) {
	if env == nil {
		in.Variables, err = SealVariables(keys, values)
		return err
	}
	of, err := env.Values(keys)
	if err != nil {
		return err
	}
	in.Environment = env.Name
	if in.TestURL == "" {
		in.TestURL = env.TestURL
	}
	in.Variables, err = SealValues(keys, values, of)
	return err
}

// EnterEnvironment puts a suite run into an environment, as Enter does, and onto its
// targets and through its tunnel where the run has none. Vendor must be set.
func (n *NewSuiteRun) EnterEnvironment(keys seal.Ring, env *environment.Environment, values map[string]string) error {
	if env != nil {
		if ofTargets, _, _ := capability.SharedTunnel(n.Targets, n.Vendor); ofTargets == "" {
			n.Tunnel = TunnelOf(env, n.Vendor)
		}
		if len(n.Targets) == 0 {
			n.Targets = env.Targets
		}
	}
	return n.Enter(keys, env, values)
}

// TunnelOf returns the tunnel of an environment: its own, else that of its targets; "" for
// none.
func TunnelOf(env *environment.Environment, vendor string) string {
	if env.Tunnel != "" {
		return env.Tunnel
	}
	tunnel, _, _ := capability.SharedTunnel(env.Targets, vendor)
	return tunnel
}

// lockToEnter finds a run that a schedule or a gate has started: it names its environment, and
// has nothing of it yet.
const lockToEnter = `
select organization_id, team_id, environment, test_url, targets, tunnel from suite_runs
where id = $1 and environment <> '' and sealed_variables is null and not fanned_out and state in ('QUEUED', 'RUNNING')
for no key update`

const enterEnvironment = `
update suite_runs set test_url = $2, targets = $3, tunnel = $4, sealed_variables = $5 where id = $1`

// EnterNamed puts a suite run into the environment that it names, where that was not done
// when it was started: before its first case run is made. A run whose environment is gone,
// or is for another team, ends as ERROR.
func EnterNamed(ctx context.Context, tx *storage.Tx, keys seal.Ring, id uuid.UUID, vendor string) error {
	var row struct {
		OrganizationID int64  `db:"organization_id"`
		TeamID         int64  `db:"team_id"`
		Environment    string `db:"environment"`
		TestURL        string `db:"test_url"`
		Targets        []byte `db:"targets"`
		Tunnel         string `db:"tunnel"`
	}
	err := storage.Wrap(tx.GetContext(ctx, &row, lockToEnter, id), "suite run "+id.String())
	if isNotFound(err) {
		return nil
	}
	if err != nil {
		return err
	}
	env, err := environment.ByName(ctx, tx, row.OrganizationID, row.Environment)
	switch {
	case isNotFound(err):
		return FailSuiteRun(ctx, tx, id, fmt.Sprintf("the environment %q does not exist", row.Environment))
	case err != nil:
		return err
	case env.TeamID != 0 && env.TeamID != row.TeamID:
		return FailSuiteRun(ctx, tx, id, fmt.Sprintf("the environment %q is for the tests of another team alone", row.Environment))
	}
	n := NewSuiteRun{Vendor: vendor, Inputs: Inputs{TestURL: row.TestURL}}
	if row.Targets != nil {
		if err := json.Unmarshal(row.Targets, &n.Targets); err != nil {
			return fmt.Errorf("targets of suite run %s: %w", id, err)
		}
	}
	err = n.EnterEnvironment(keys, env, nil)
	if errors.Is(err, seal.ErrUnseal) {
		return FailSuiteRun(ctx, tx, id, fmt.Sprintf("the secrets of the environment %q cannot be decrypted; store them again", row.Environment))
	}
	if err != nil {
		return err
	}
	targets, err := n.given()
	if err != nil {
		return err
	}
	if row.Tunnel == "" {
		row.Tunnel = n.Tunnel
	}
	_, err = tx.ExecContext(ctx, enterEnvironment, id, n.TestURL, targets, row.Tunnel, n.Variables.sealed)
	return storage.Wrap(err, "environment of suite run "+id.String())
}
