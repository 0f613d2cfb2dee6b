package stepgroup

import (
	"context"
	"errors"
	"fmt"

	"github.com/google/uuid"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/storage/step/group"
)

// groupLock is the class of the advisory locks of organizations, whose writers of groups go
// one after the other.
const groupLock = 0x67727073

const (
	lockShared = `select pg_advisory_xact_lock_shared($1::int, ($2::bigint & 2147483647)::int)`
	lockAlone  = `select pg_advisory_xact_lock($1::int, ($2::bigint & 2147483647)::int)`
)

func lock(ctx context.Context, tx *storage.Tx, how string, organizationID int64) error {
	_, err := tx.ExecContext(ctx, how, groupLock, organizationID)
	return storage.Wrap(err, "lock the step groups of an organization")
}

// Part is a list of steps that is written, with the path of it in a body.
type Part struct {
	Path  string
	Steps []step.Step
}

// ownSteps is the path of the steps of a test, which may end it.
const ownSteps = "steps"

// Hold checks the groups that lists of steps run, keeps them until the transaction ends, and
// returns the ids of those that they run by themselves. All lists are one test: together
// they have at most step.MaxSteps. What cannot be run is a *storage.InvalidError with the
// path. Lists without groups cost nothing.
func Hold(ctx context.Context, tx *storage.Tx, organizationID int64, parts ...Part) ([]uuid.UUID, error) {
	var all [][]step.Step
	for _, p := range parts {
		all = append(all, p.Steps)
	}
	ids := group.IDs(all...)
	groups := group.Groups{}
	if len(ids) > 0 {
		if err := lock(ctx, tx, lockShared, organizationID); err != nil {
			return nil, err
		}
		var err error
		if groups, err = Latest(ctx, tx, organizationID, ids); err != nil {
			return nil, err
		}
	}
	var plan group.Plan
	for _, p := range parts {
		if p.Path != ownSteps {
			if err := endless(p); err != nil {
				return nil, err
			}
		}
		if err := named(p.Path, group.Check(p.Steps, groups)); err != nil {
			return nil, err
		}
		if err := named(p.Path, plan.Add(group.Part{Steps: p.Steps}, groups)); err != nil {
			return nil, err
		}
	}
	return parse(ids)
}

// endless refuses the end of the test in what stands around its steps.
func endless(p Part) error {
	for i := range p.Steps {
		if p.Steps[i].Tool.Type == step.Finish {
			return storage.Invalid(fmt.Sprintf("%s[%d].tool.type", p.Path, i), "must not be finish: the test goes on")
		}
	}
	return nil
}

// named makes an error of package group one of the member that has the steps.
func named(path string, err error) error {
	var wrong *step.InvalidError
	var missing *group.MissingError
	switch {
	case errors.As(err, &wrong):
		return storage.Invalid(path+wrong.Path, "%s", wrong.Msg)
	case errors.As(err, &missing):
		return storage.Invalid(path+missing.Path, "is the id of no step group of the organization: %s", missing.ID)
	}
	return err
}
