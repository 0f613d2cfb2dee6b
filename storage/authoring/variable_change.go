package authoring

import (
	"context"
	"fmt"

	"github.com/google/uuid"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/seal"
)

// VariableChange is what of a variable to change; nil members stay. A secret that
// becomes none needs a new value: nobody may read it by that way.
type VariableChange struct {
	Name     *string
	Value    *string
	IsSecret *bool
	// Scope and what it belongs to cannot be changed: when given, they must be as
	// they are. Others are an InvalidError of scope, teamId, testSuiteId or
	// testCaseId.
	Scope *string
	Team  *uuid.UUID
	Suite *uuid.UUID
	Case  *string
	// Version, when not 0, is the version that the caller has read.
	Version int
}

func (c *VariableChange) check() error {
	if c.Name != nil {
		if err := checkVariableName(*c.Name); err != nil {
			return err
		}
	}
	if c.Value != nil {
		return checkValue(*c.Value)
	}
	return nil
}

// checkFixed refuses members that cannot be changed and are not as they are.
func (c *VariableChange) checkFixed(v *Variable) error {
	for _, member := range []struct {
		field string
		same  bool
	}{{"scope", c.Scope == nil || *c.Scope == v.Scope}, {"teamId", same(c.Team, v.TeamUUID)},
		{"testSuiteId", same(c.Suite, v.SuiteID)}, {"testCaseId", same(c.Case, v.CaseID)}} {
		if !member.same {
			return storage.Invalid(member.field, "cannot be changed: make another variable")
		}
	}
	return nil
}

// same reports whether a member is not given, or is as it is.
func same[T comparable](given, is *T) bool {
	return given == nil || is != nil && *given == *is
}

type lockedVariable struct {
	OwnerTeam int64   `db:"owner_team"` // 0: the organization
	Name      string  `db:"name"`
	IsSecret  bool    `db:"is_secret"`
	Value     *string `db:"value"`
	Sealed    []byte  `db:"sealed"`
	Version   int     `db:"version"`
}

const lockVariable = `
select coalesce(v.team_id, s.team_id, k.team_id, 0) as owner_team, v.name, v.is_secret, v.value, v.sealed, v.version
from test_variables v
left join test_suites s on s.id = v.suite_id
left join test_cases k on k.id = v.case_id
where v.organization_id = $1 and v.id = $2
for no key update of v`

// variableLockedBy locks a variable that the writer may change.
func variableLockedBy(ctx context.Context, tx *storage.Tx, w account.Writer, id uuid.UUID) (*lockedVariable, error) {
	var v lockedVariable
	if err := tx.GetContext(ctx, &v, lockVariable, w.OrganizationID, id); err != nil {
		return nil, storage.Wrap(err, "variable "+id.String())
	}
	if !mayDecide(w, v.OwnerTeam) {
		return nil, ErrForbidden
	}
	return &v, nil
}

const updateVariable = `
update test_variables set name = $2, is_secret = $3, value = $4, sealed = $5, version = version + 1,
	modifier_uuid = $6, updated_at = now()
where id = $1`

// UpdateVariable changes a variable. ErrStale when it has another version. A
// change of nothing leaves the version; the value of a secret, when it is given,
// counts as changed: what does not change would tell what the secret is.
func UpdateVariable(ctx context.Context, tx *storage.Tx, w account.Writer, keys seal.Ring, id uuid.UUID,
	c VariableChange) (*Variable, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	v, err := variableLockedBy(ctx, tx, w, id)
	if err != nil {
		return nil, err
	}
	if c.Version != 0 && c.Version != v.Version {
		return nil, fmt.Errorf("variable %s has version %d: %w", id, v.Version, storage.ErrStale)
	}
	before, err := VariableByID(ctx, tx, w.OrganizationID, id)
	if err != nil {
		return nil, err
	}
	if err := c.checkFixed(before); err != nil {
		return nil, err
	}
	if err := v.apply(keys, c); err != nil {
		return nil, err
	}
	if v.is(before) && (c.Value == nil || !v.IsSecret) {
		return before, nil
	}
	if _, err := tx.ExecContext(ctx, updateVariable, id, v.Name, v.IsSecret, v.Value, v.Sealed, w.UserUUID); err != nil {
		return nil, storage.Wrap(err, "update variable "+v.Name)
	}
	after, err := VariableByID(ctx, tx, w.OrganizationID, id)
	if err != nil {
		return nil, err
	}
	return after, auditVariable(ctx, tx, w, account.VariableUpdated, after)
}

// is reports whether the columns are those of the variable, but for a secret's
// value.
func (v *lockedVariable) is(of *Variable) bool {
	return v.Name == of.Name && v.IsSecret == of.IsSecret && (v.IsSecret || *v.Value == of.Value)
}

// apply changes the columns.
func (v *lockedVariable) apply(keys seal.Ring, c VariableChange) (err error) {
	if c.Name != nil {
		v.Name = *c.Name
	}
	secret := v.IsSecret
	if c.IsSecret != nil {
		secret = *c.IsSecret
	}
	if v.IsSecret && !secret && c.Value == nil {
		return storage.Invalid("value", "is required when a secret becomes readable")
	}
	value := c.Value
	if value == nil {
		if secret == v.IsSecret {
			return nil // the value stays as it is kept
		}
		value = v.Value
	}
	v.IsSecret, v.Value, v.Sealed = secret, nil, nil
	if !secret {
		v.Value = value
		return nil
	}
	if err := checkSecret(*value); err != nil {
		return err
	}
	v.Sealed, err = seal.Seal(keys, seal.Variable, *value)
	return err
}

// DeleteVariable removes a variable.
func DeleteVariable(ctx context.Context, tx *storage.Tx, w account.Writer, id uuid.UUID) error {
	if _, err := variableLockedBy(ctx, tx, w, id); err != nil {
		return err
	}
	v, err := VariableByID(ctx, tx, w.OrganizationID, id)
	if err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, `delete from test_variables where id = $1`, id); err != nil {
		return storage.Wrap(err, "delete variable "+id.String())
	}
	return auditVariable(ctx, tx, w, account.VariableDeleted, v)
}
