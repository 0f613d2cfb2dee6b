package authoring

import (
	"context"
	"errors"
	"reflect"
	"slices"

	"github.com/google/uuid"
	"github.com/lib/pq"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/storage/step/capability"
	"github.com/slipway-qa/slipway/storage/suiteplan"
)

// SuiteChange is what of a suite to change; nil members stay.
type SuiteChange struct {
	Name    *string
	Tags    *[]string
	Healing *string // "": as the organization
	Drift   *string // "": as the organization
	Trace   *string // "": as the organization
	Retries *int    // AsOrganization: as the organization
	// DefaultEnvironment is a name; "": none.
	DefaultEnvironment *string
	// SetUp and TearDown replace the lists of Around.
	SetUp, TearDown *[]step.Step
	Retention       *RunRetention // replaces both numbers
	Login           *LoginChange

	Cases  *[]string // replace; excludes Add and Remove
	Add    []string
	Remove []string

	// Plan is what of the order, the filter and the like to change.
	Plan suiteplan.Change
	// Shared replaces the cases that the suite runs besides its own; AddShared and RemoveShared
	// change them.
	Shared                  *[]string
	AddShared, RemoveShared []string
}

// AsOrganization is the number of retries of a suite that leaves it to the organization.
const AsOrganization = -1

// retries returns the number of retries after the change of one.
func (c *SuiteChange) retries(old *int) (*int, error) {
	switch {
	case c.Retries == nil:
		return old, nil
	case *c.Retries == AsOrganization:
		return nil, nil
	}
	return c.Retries, capability.CheckRetries("retries", c.Retries)
}

// checkCases refuses lists that are too long or contradict each other.
func (c *SuiteChange) checkCases() error {
	for _, list := range []struct {
		field string
		ids   []string
	}{{"addTestCases", c.Add}, {"removeTestCases", c.Remove}} {
		if err := checkCount(list.field, list.ids); err != nil {
			return err
		}
	}
	if c.Cases != nil {
		if err := checkCount("testCaseIds", *c.Cases); err != nil {
			return err
		}
	}
	if c.Cases != nil && (len(c.Add) > 0 || len(c.Remove) > 0) {
		return storage.Invalid("testCaseIds", "replaces all cases: addTestCases and removeTestCases cannot be given as well")
	}
	add := setOf(c.Add)
	for _, id := range c.Remove {
		if add[id] {
			return storage.Invalid("removeTestCases", "names a case that is in addTestCases")
		}
	}
	return nil
}

func checkCount(field string, ids []string) error {
	if len(ids) > MaxSuiteCases {
		return storage.Invalid(field, "must be at most %d", MaxSuiteCases)
	}
	return nil
}

// in are the cases that are in the suite afterwards.
func (c *SuiteChange) in() []string {
	if c.Cases != nil {
		return *c.Cases
	}
	return c.Add
}

const lockSuite = `select team_id, name, tags, healing, drift, trace, retries, default_environment,
	filter_tags is not null as is_filter from test_suites where organization_id = $1 and id = $2 for `

type lockedSuite struct {
	TeamID             int64          `db:"team_id"`
	Name               string         `db:"name"`
	Tags               pq.StringArray `db:"tags"`
	Healing            string         `db:"healing"`
	Drift              string         `db:"drift"`
	Trace              string         `db:"trace"`
	Retries            *int           `db:"retries"`
	DefaultEnvironment string         `db:"default_environment"`
	Filter             bool           `db:"is_filter"`
}

// suiteLockedBy locks a suite that the writer may change.
func suiteLockedBy(ctx context.Context, tx *storage.Tx, w account.Writer, id uuid.UUID, strength string) (*lockedSuite, error) {
	var s lockedSuite
	if err := tx.GetContext(ctx, &s, lockSuite+strength, w.OrganizationID, id); err != nil {
		return nil, storage.Wrap(err, "test suite "+id.String())
	}
	if !w.May(s.TeamID) {
		return nil, ErrForbidden
	}
	return &s, nil
}

// KeepSuite keeps a suite that a new case goes into from being deleted until the
// transaction ends. ErrSuiteNotFound when it does not exist.
func KeepSuite(ctx context.Context, tx *storage.Tx, w account.Writer, id uuid.UUID) error {
	s, err := suiteLockedBy(ctx, tx, w, id, "key share")
	switch {
	case errors.Is(err, storage.ErrNotFound):
		return ErrSuiteNotFound
	case err == nil && s.Filter:
		return storage.Invalid("testSuiteId", "names a suite that is a filter of tags: give the test case its tags")
	}
	return err
}

// lockCases takes the cases in the order of their ids, so that no concurrent change waits for
// another that waits for it. Cases that another transaction takes out of the suite meanwhile
// are looked at again once their lock is had.
const lockCases = `
select id, team_id, suite_id, name from test_cases
where organization_id = $1 and (id = any($2) or $3::boolean and suite_id = $4)
order by id for `

// moved counts the cases that went into a suite and out of it.
type moved struct{ in, out int }

// move puts cases into the suite and takes others out of it. The caller has locked the
// suite. *MissingError names cases that do not exist. ErrForbidden stands for a
// case to put in that the writer may not change; whoever may change the suite may
// take any case out of it.
func (c *SuiteChange) move(ctx context.Context, tx *storage.Tx, w account.Writer, suite uuid.UUID) (moved, error) {
	into, out := c.in(), c.Remove
	ids := slices.Concat(into, out)
	if len(ids) == 0 && c.Cases == nil {
		return moved{}, nil
	}
	var found []LockedCase
	if err := tx.SelectContext(ctx, &found, lockCases+"no key update", w.OrganizationID,
		pq.Array(slices.DeleteFunc(slices.Clone(ids), func(id string) bool { return !isID(id) })),
		c.Cases != nil, suite); err != nil {
		return moved{}, storage.Wrap(err, "lock test cases")
	}
	if missing := missingOf(ids, found); len(missing) > 0 {
		return moved{}, &MissingError{IDs: missing}
	}
	wanted := setOf(into)
	var goIn, goOut []string
	for _, k := range found {
		is := k.SuiteID != nil && *k.SuiteID == suite
		switch {
		case is == wanted[k.ID]:
			continue // stays where it is
		case is:
			goOut = append(goOut, k.ID)
		case !w.May(k.TeamID):
			return moved{}, ErrForbidden
		default:
			goIn = append(goIn, k.ID)
		}
	}
	return moved{len(goIn), len(goOut)}, errors.Join(assign(ctx, tx, goIn, &suite), assign(ctx, tx, goOut, nil))
}

func setOf(ids []string) map[string]bool {
	set := make(map[string]bool, len(ids))
	for _, id := range ids {
		set[id] = true
	}
	return set
}

// missingOf returns the ids without a case, each once, in their order.
func missingOf(ids []string, found []LockedCase) (missing []string) {
	seen := make(map[string]bool, len(ids))
	for _, k := range found {
		seen[k.ID] = true
	}
	for _, id := range ids {
		if !seen[id] {
			seen[id] = true
			missing = append(missing, id)
		}
	}
	return missing
}

// assign puts locked cases into a suite, or into none.
func assign(ctx context.Context, tx *storage.Tx, ids []string, suite *uuid.UUID) error {
	if len(ids) == 0 {
		return nil
	}
	_, err := tx.ExecContext(ctx, `update test_cases set suite_id = $2 where id = any($1)`, pq.Array(ids), suite)
	return storage.Wrap(err, "move test cases")
}

const updateSuite = `
update test_suites set name = $2, tags = $3, healing = $4, drift = $6, trace = $7, retries = $8, default_environment = $9,
	modifier_uuid = $5,
	updated_at = now()
where id = $1`

// UpdateSuite changes a suite. Cases that leave it are in no suite afterwards. A
// change of nothing leaves the time of update and the modifier.
func UpdateSuite(ctx context.Context, tx *storage.Tx, w account.Writer, id uuid.UUID, c SuiteChange) (*Suite, error) {
	err := c.checkCases()
	if err != nil {
		return nil, err
	}
	s, err := suiteLockedBy(ctx, tx, w, id, "no key update")
	if err != nil {
		return nil, err
	}
	name, tags, healing, drift, trace, env := s.Name, []string(s.Tags), s.Healing, s.Drift, s.Trace, s.DefaultEnvironment
	if c.Name != nil {
		if name, err = storage.Name("name", *c.Name, MaxName); err != nil {
			return nil, err
		}
	}
	if c.Tags != nil {
		if tags, err = CleanTags(*c.Tags); err != nil {
			return nil, err
		}
	}
	if c.Healing != nil {
		healing = *c.Healing
		if err := CheckHealing("healing", healing); err != nil {
			return nil, err
		}
	}
	if c.Drift != nil {
		drift = *c.Drift
		if err := CheckDrift("drift", drift); err != nil {
			return nil, err
		}
	}
	if c.Trace != nil {
		trace = *c.Trace
		if err := CheckTrace("trace", trace); err != nil {
			return nil, err
		}
	}
	retries, err := c.retries(s.Retries)
	if err != nil {
		return nil, err
	}
	if c.DefaultEnvironment != nil && *c.DefaultEnvironment != env {
		env = *c.DefaultEnvironment
		if err := checkEnvironment(ctx, tx, w.OrganizationID, s.TeamID, env); err != nil {
			return nil, err
		}
	}
	around, err := changeAround(ctx, tx, w.OrganizationID, id, c.SetUp, c.TearDown)
	if err != nil {
		return nil, err
	}
	retention, err := changeRetention(ctx, tx, id, c.Retention)
	if err != nil {
		return nil, err
	}
	signsIn, err := changeLogin(ctx, tx, w.OrganizationID, s.TeamID, id, c.Login)
	if err != nil {
		return nil, err
	}
	moved, err := c.move(ctx, tx, w, id)
	if err != nil {
		return nil, err
	}
	planned, err := c.plan(ctx, tx, w, s.TeamID, id)
	if err != nil {
		return nil, err
	}
	same := !planned.changed && name == s.Name && slices.Equal(tags, []string(s.Tags)) && healing == s.Healing &&
		drift == s.Drift && trace == s.Trace &&
		env == s.DefaultEnvironment && reflect.DeepEqual(retries, s.Retries) && !around && !retention && !signsIn
	if same && moved.in+moved.out == 0 {
		return SuiteByID(ctx, tx, w.OrganizationID, id)
	}
	if _, err := tx.ExecContext(ctx, updateSuite, id, name, pq.Array(tags), healing, w.UserUUID, drift, trace, retries, env); err != nil {
		return nil, storage.Wrap(err, "update test suite")
	}
	detail := map[string]any{"from": s.Name, "to": name, "tags": tags, "healing": healing,
		"drift": drift, "trace": trace, "around": around, "retries": retries, "environment": env, "retention": retention,
		"cases_in": moved.in, "cases_out": moved.out,
		"shared_in": planned.in, "shared_out": planned.out, "plan": planned.settings}
	if signsIn {
		detail = withLogin(detail, c.Login.To)
	}
	if err := auditSuite(ctx, tx, w, account.TestSuiteUpdated, id, detail); err != nil {
		return nil, err
	}
	return SuiteByID(ctx, tx, w.OrganizationID, id)
}

// checkEnvironment refuses the name of an environment that a team's tests cannot have, and
// keeps the one that they have from being deleted until the transaction ends.
func checkEnvironment(ctx context.Context, q storage.Querier, organizationID, team int64, name string) error {
	if name == "" {
		return nil
	}
	var has []bool
	err := q.SelectContext(ctx, &has, `select true from test_environments
		where organization_id = $1 and name = $2 and coalesce(team_id, $3) = $3 for key share`, organizationID, storage.WithoutNUL(name), team)
	if err == nil && len(has) == 0 {
		return storage.Invalid("defaultEnvironment", "names no environment of the organization or of the suite's team")
	}
	return storage.Wrap(err, "environment of a test suite")
}

// LockedSuite is a suite that is going to be deleted, with its cases. All are locked.
type LockedSuite struct {
	ID    uuid.UUID
	Cases []string
	name  string
	all   bool // the cases are to go too
}

// LockSuite locks a suite and its cases before it is deleted, with its cases or
// without them.
func LockSuite(ctx context.Context, tx *storage.Tx, w account.Writer, id uuid.UUID, cases bool) (*LockedSuite, error) {
	s, err := suiteLockedBy(ctx, tx, w, id, "update")
	if err != nil {
		return nil, err
	}
	ids, err := casesToLeave(ctx, tx, w, id, cases)
	if err != nil {
		return nil, err
	}
	return &LockedSuite{ID: id, Cases: ids, name: s.Name, all: cases}, nil
}

// DeleteSuite deletes a suite that LockSuite locked. Cases that do not go with it
// are in no suite afterwards; runs stay. *InUseError when one that goes with it is the login
// of another suite. Package run has the way to delete a suite
// whose runs may be open.
func DeleteSuite(ctx context.Context, tx *storage.Tx, w account.Writer, s *LockedSuite) error {
	if s.all {
		if err := checkNoLogin(ctx, tx, w.OrganizationID, s.Cases, &s.ID); err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, `delete from test_cases where id = any($1)`, pq.Array(s.Cases)); err != nil {
			return storage.Wrap(err, "delete the test cases of suite "+s.ID.String())
		}
	} else if err := assign(ctx, tx, s.Cases, nil); err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, `delete from test_suites where id = $1`, s.ID); err != nil {
		return storage.Wrap(err, "delete test suite "+s.ID.String())
	}
	return auditSuite(ctx, tx, w, account.TestSuiteDeleted, s.ID,
		map[string]any{"name": s.name, "cases": len(s.Cases), "cases_deleted": s.all})
}

// casesToLeave locks the cases of a suite, which is locked, and returns their ids.
// Taking the suite from a case is the right of whoever may delete the suite;
// deleting the case is that of the case's team.
func casesToLeave(ctx context.Context, tx *storage.Tx, w account.Writer, suite uuid.UUID, toDelete bool) ([]string, error) {
	strength := "no key update"
	if toDelete {
		strength = "update"
	}
	var found []LockedCase
	if err := tx.SelectContext(ctx, &found, lockCases+strength, w.OrganizationID, pq.Array([]string{}), true, suite); err != nil {
		return nil, storage.Wrap(err, "lock the test cases of suite "+suite.String())
	}
	ids := make([]string, len(found))
	for i, k := range found {
		if toDelete && !w.May(k.TeamID) {
			return nil, ErrForbidden
		}
		ids[i] = k.ID
	}
	return ids, nil
}
