package authoring

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/google/uuid"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/seal"
	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/storage/step/redaction"
)

// Variable is a value that steps name.
type Variable struct {
	ID           uuid.UUID  `db:"id"`
	Scope        string     `db:"scope"`     // step.ScopeOrg ...
	TeamUUID     *uuid.UUID `db:"team_uuid"` // of scope team
	SuiteID      *uuid.UUID `db:"suite_id"`  // of scope testSuite
	CaseID       *string    `db:"case_id"`   // of scope testCase
	Name         string     `db:"name"`
	IsSecret     bool       `db:"is_secret"`
	Value        string     `db:"value"`   // "" for a secret
	Version      int        `db:"version"` // rises with each change
	CreatorUUID  uuid.UUID  `db:"creator_uuid"`
	ModifierUUID uuid.UUID  `db:"modifier_uuid"`
	CreatedAt    time.Time  `db:"created_at"`
	UpdatedAt    time.Time  `db:"updated_at"`
}

// VariableFilter selects variables of a list.
type VariableFilter struct {
	OrganizationID int64
	Scope          string // "": all
	Team           *uuid.UUID
	Suite          *uuid.UUID
	Case           string
	Search         string
	storage.Page
}

const variableColumns = `c.id, c.scope, t.uuid as team_uuid, c.suite_id, c.case_id, c.name, c.is_secret,
	coalesce(c.value, '') as value, c.version, c.creator_uuid, c.modifier_uuid, c.created_at, c.updated_at`

// variableList reads an organization's part of test_variables_name whole: it has some hundred
// variables.
const variableList = `
select ` + variableColumns + ` from test_variables c left join teams t on t.id = c.team_id where `

func (f VariableFilter) conditions() *Conditions {
	m := ConditionsOf(f.OrganizationID)
	m.Named(f.Search)
	if f.Scope != "" {
		m.And("c.scope = " + m.Arg(f.Scope))
	}
	if f.Team != nil {
		m.And("c.team_id = (select id from teams where organization_id = $1 and uuid = " + m.Arg(*f.Team) + "::uuid)")
	}
	if f.Suite != nil {
		m.And("c.suite_id = " + m.Arg(*f.Suite) + "::uuid")
	}
	if f.Case != "" {
		m.And("c.case_id = " + m.Arg(f.Case))
	}
	return m
}

// Variables returns a page of variables by name, and the number of all that match.
func Variables(ctx context.Context, q storage.Querier, f VariableFilter) ([]Variable, int, error) {
	list := []Variable{}
	if f.Scope != "" && !isScope(f.Scope) {
		return nil, 0, storage.Invalid("scope", "must be one of %s", strings.Join(scopes(), ", "))
	}
	if f.Case != "" && !isID(f.Case) {
		return list, 0, nil
	}
	m := f.conditions()
	var total int
	if err := q.GetContext(ctx, &total, m.Total("test_variables"), m.Args...); err != nil {
		return nil, 0, storage.Wrap(err, "count variables")
	}
	if f.RowLimit() == 0 {
		return list, total, nil
	}
	query := variableList + m.Where() + ` order by c.name, c.id limit ` + m.Arg(f.RowLimit()) + ` offset ` + m.Arg(f.RowOffset())
	err := q.SelectContext(ctx, &list, query, m.Args...)
	return list, total, storage.Wrap(err, "list variables")
}

const variableByID = `
select ` + variableColumns + ` from test_variables c left join teams t on t.id = c.team_id
where c.organization_id = $1 and c.id = $2`

// VariableByID reads one variable; ErrNotFound also for another organization's.
func VariableByID(ctx context.Context, q storage.Querier, organizationID int64, id uuid.UUID) (*Variable, error) {
	var v Variable
	if err := q.GetContext(ctx, &v, variableByID, organizationID, id); err != nil {
		return nil, storage.Wrap(err, "variable "+id.String())
	}
	return &v, nil
}

// NewVariable is a variable to create. Scope needs the member of its name and no
// other: InvalidError.
type NewVariable struct {
	Scope    string
	Team     *uuid.UUID
	Suite    *uuid.UUID
	Case     *string
	Name     string
	Value    string // at most 16 KiB; of a secret at least step.MinSecret characters
	IsSecret bool
}

func scopes() []string {
	return []string{step.ScopeOrg, step.ScopeTeam, step.ScopeSuite, step.ScopeCase}
}

func isScope(scope string) bool {
	for _, s := range scopes() {
		if s == scope {
			return true
		}
	}
	return false
}

// maxValue bounds a value in bytes.
const maxValue = 16 << 10

var variableName = regexp.MustCompile(`^[a-z0-9_]{1,64}$`)

func checkVariableName(name string) error {
	if !variableName.MatchString(name) {
		return storage.Invalid("name", "must have 1 to 64 lower-case letters, digits and underscores")
	}
	return nil
}

// checkValue never repeats the value, which may be a secret.
func checkValue(value string) error {
	if len(value) > maxValue {
		return storage.Invalid("value", "must have at most %d KiB", maxValue>>10)
	}
	if !utf8.ValidString(value) || strings.ContainsRune(value, 0) {
		return storage.Invalid("value", "must be UTF-8 text without the character U+0000")
	}
	return nil
}

// checkSecret refuses a secret that could not be masked where it is shown.
func checkSecret(value string) error {
	if utf8.RuneCountInString(value) < redaction.MinSecret {
		return storage.Invalid("value", "of a secret must have at least %d characters: a shorter one could not be masked",
			redaction.MinSecret)
	}
	return nil
}

func (n *NewVariable) check() error {
	if !isScope(n.Scope) {
		return storage.Invalid("scope", "must be one of %s", strings.Join(scopes(), ", "))
	}
	for _, member := range []struct {
		field, scope string
		given        bool
	}{{"teamId", step.ScopeTeam, n.Team != nil}, {"testSuiteId", step.ScopeSuite, n.Suite != nil},
		{"testCaseId", step.ScopeCase, n.Case != nil}} {
		if member.given != (n.Scope == member.scope) {
			if member.given {
				return storage.Invalid(member.field, "goes with the scope %s only", member.scope)
			}
			return storage.Invalid(member.field, "is required for the scope %s", member.scope)
		}
	}
	if err := checkVariableName(n.Name); err != nil {
		return err
	}
	if err := checkValue(n.Value); err != nil || !n.IsSecret {
		return err
	}
	return checkSecret(n.Value)
}

// owner returns the team that decides over a variable of the scope, and locks what
// the variable belongs to until the transaction ends; 0 for the organization.
func (n *NewVariable) owner(ctx context.Context, tx *storage.Tx, organizationID int64) (id int64, err error) {
	switch n.Scope {
	case step.ScopeTeam:
		err = tx.GetContext(ctx, &id, `select id from teams where organization_id = $1 and uuid = $2 for key share`, organizationID, *n.Team)
	case step.ScopeSuite:
		err = tx.GetContext(ctx, &id, `select team_id from test_suites where organization_id = $1 and id = $2 for key share`,
			organizationID, *n.Suite)
	case step.ScopeCase:
		if !isID(*n.Case) {
			return 0, fmt.Errorf("test case: %w", storage.ErrNotFound)
		}
		err = tx.GetContext(ctx, &id, `select team_id from test_cases where organization_id = $1 and id = $2 for key share`,
			organizationID, *n.Case)
	}
	return id, storage.Wrap(err, "what the variable belongs to")
}

// mayDecide reports whether the writer may change variables that the team, or for
// 0 the organization, decides over.
func mayDecide(w account.Writer, team int64) bool {
	if team == 0 {
		return w.Admin
	}
	return w.May(team)
}

const insertVariable = `
insert into test_variables (id, organization_id, scope, team_id, suite_id, case_id, name, is_secret, value, sealed,
	creator_uuid, modifier_uuid)
values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $11)`

// CreateVariable inserts a variable; keys seal a secret. ErrConflict when the name
// is taken in its scope, ErrForbidden when the scope is not the writer's (org
// takes an admin), ErrNotFound when the team, suite or case does not exist.
func CreateVariable(ctx context.Context, tx *storage.Tx, w account.Writer, keys seal.Ring, n NewVariable) (*Variable, error) {
	if err := n.check(); err != nil {
		return nil, err
	}
	owner, err := n.owner(ctx, tx, w.OrganizationID)
	if err != nil {
		return nil, err
	}
	if !mayDecide(w, owner) {
		return nil, ErrForbidden
	}
	open, sealed, err := sealValue(keys, n.Value, n.IsSecret)
	if err != nil {
		return nil, err
	}
	id, err := uuid.NewV7()
	if err != nil {
		return nil, err
	}
	var teamID *int64
	if n.Scope == step.ScopeTeam {
		teamID = &owner
	}
	if _, err := tx.ExecContext(ctx, insertVariable, id, w.OrganizationID, n.Scope, teamID, n.Suite, n.Case, n.Name, n.IsSecret,
		open, sealed, w.UserUUID); err != nil {
		return nil, storage.Wrap(err, "create variable "+n.Name)
	}
	v, err := VariableByID(ctx, tx, w.OrganizationID, id)
	if err != nil {
		return nil, err
	}
	return v, auditVariable(ctx, tx, w, account.VariableCreated, v)
}

// sealValue returns the columns value and sealed, one of which is null.
func sealValue(keys seal.Ring, value string, secret bool) (open any, sealed []byte, err error) {
	if !secret {
		return value, nil, nil
	}
	sealed, err = seal.Seal(keys, seal.Variable, value)
	return nil, sealed, err
}

// auditVariable writes what is known of a variable without its value.
func auditVariable(ctx context.Context, tx *storage.Tx, w account.Writer, what account.AuditType, v *Variable) error {
	return account.Audit(ctx, tx, account.Event{OrganizationID: w.OrganizationID, Type: what, Actor: w.Actor,
		Subject: "variable " + v.ID.String(),
		Detail:  map[string]any{"name": v.Name, "scope": v.Scope, "secret": v.IsSecret, "version": v.Version}})
}
