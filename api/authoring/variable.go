package authoring

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/gin-gonic/gin"
	"github.com/google/uuid"

	"github.com/slipway-qa/slipway/api/auth"
	"github.com/slipway-qa/slipway/api/respond"
	"github.com/slipway-qa/slipway/api/route"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/authoring"
	"github.com/slipway-qa/slipway/storage/step"
)

const (
	codeScope             = "VARIABLE_SCOPE_INVALID"
	codeVariableForbidden = "VARIABLE_FORBIDDEN"
	codeVariableConflict  = "VARIABLE_NAME_CONFLICT"
	codeVariableStale     = "VARIABLE_VERSION_CONFLICT"
)

// variableView is a variable. Of teamId, testSuiteId and testCaseId the one of the
// scope is not null. The value of a secret is "".
type variableView struct {
	ID                 uuid.UUID  `json:"id"`
	Scope              string     `json:"scope"`
	TeamID             *uuid.UUID `json:"teamId"`
	TestSuiteID        *uuid.UUID `json:"testSuiteId"`
	TestCaseID         *string    `json:"testCaseId"`
	Name               string     `json:"name"`
	Value              string     `json:"value"`
	IsSecret           bool       `json:"isSecret"`
	Version            int        `json:"version"`
	CreatorUserID      uuid.UUID  `json:"creatorUserId"`
	LastModifierUserID uuid.UUID  `json:"lastModifierUserId"`
	CreationDate       string     `json:"creationDate"`
	LastUpdateDate     string     `json:"lastUpdateDate"`
}

func viewVariable(v *authoring.Variable) variableView {
	view := variableView{ID: v.ID, Scope: v.Scope, TeamID: v.TeamUUID, TestSuiteID: v.SuiteID, TestCaseID: v.CaseID, Name: v.Name,
		Value: v.Value, IsSecret: v.IsSecret, Version: v.Version, CreatorUserID: v.CreatorUUID,
		LastModifierUserID: v.ModifierUUID, CreationDate: stamp(v.CreatedAt), LastUpdateDate: stamp(v.UpdatedAt)}
	if v.IsSecret {
		view.Value = ""
	}
	return view
}

// variables are the handlers of the variables of tests.
type variables struct{ *room }

// show writes one variable, with its version as the ETag.
func (h variables) show(c *gin.Context, status int, v *authoring.Variable) error {
	c.Header("ETag", `"`+strconv.Itoa(v.Version)+`"`)
	return data(c, status, viewVariable(v))
}

// ofVariables returns the handler of a route of variables: its errors get their codes.
func ofVariables(h route.Handler) route.Handler {
	return variable.of(func(c *gin.Context) error { return variableProblem(h(c)) })
}

// variableProblem gives the refusals of variables their codes.
func variableProblem(err error) error {
	switch {
	case errors.Is(err, authoring.ErrForbidden):
		return refused(http.StatusForbidden, codeVariableForbidden,
			"the variable belongs to a team that is not one of yours, or to the organization, whose variables take an admin")
	case errors.Is(err, storage.ErrConflict):
		return refused(http.StatusConflict, codeVariableConflict, "the scope has a variable of that name already")
	case errors.Is(err, storage.ErrStale):
		return refused(http.StatusPreconditionFailed, codeVariableStale, "the variable was changed since: read it again")
	}
	return err
}

// list serves GET /variables, by name. Parameters: scope, teamId, testSuiteId,
// testCaseId, search (part of the name), skip, limit.
func (h variables) list(c *gin.Context) error {
	q := queryOf(c)
	f := authoring.VariableFilter{OrganizationID: auth.Organization(c), Scope: q.scope(), Team: q.uuid("teamId"),
		Suite: q.uuid("testSuiteId"), Case: q.caseID("testCaseId"), Search: q.search(), Page: q.page()}
	if q.err != nil {
		return q.err
	}
	rows, total, err := authoring.Variables(c.Request.Context(), h.cfg.DB, f)
	if err != nil {
		return err
	}
	return data(c, http.StatusOK, listOf(rows, total, viewVariable))
}

func (q *query) scope() string {
	scopes := []string{step.ScopeOrg, step.ScopeTeam, step.ScopeSuite, step.ScopeCase}
	text := strings.TrimSpace(q.values.Get("scope"))
	if text != "" && !slices.Contains(scopes, text) {
		q.wrong(&storage.InvalidError{Field: "scope", Msg: "must be one of " + strings.Join(scopes, ", ")})
	}
	return text
}

// caseID reads a filter by a case; "" when absent.
func (q *query) caseID(name string) string {
	text := strings.TrimSpace(q.values.Get(name))
	id, ok := parseHex(text)
	if text != "" && !ok {
		q.wrong(&storage.InvalidError{Field: name, Msg: "must have 24 hexadecimal digits"})
	}
	return id
}

// variableBody is what a request may say of a variable.
type variableBody struct {
	Scope       *string `json:"scope"`
	TeamID      *string `json:"teamId"`
	TestSuiteID *string `json:"testSuiteId"`
	TestCaseID  *string `json:"testCaseId"`
	Name        *string `json:"name"`
	Value       *string `json:"value"`
	IsSecret    *bool   `json:"isSecret"`
	Version     *int64  `json:"version"` // of a change: what the caller has read
}

// create serves POST /variables. Members: scope with the id of its team, suite or
// case, name, value, isSecret.
func (h variables) create(c *gin.Context) error {
	var in variableBody
	if err := read(c, &in); err != nil {
		return err
	}
	if in.Version != nil {
		return member("version", "is of a change: a new variable has the first")
	}
	n, err := in.variable()
	if err != nil {
		return err
	}
	var row *authoring.Variable
	err = h.change(c, func(ctx context.Context, tx *storage.Tx, w account.Writer) (err error) {
		row, err = authoring.CreateVariable(ctx, tx, w, h.cfg.SealKeys, n)
		return inScope(err)
	})
	if err != nil {
		return err
	}
	return h.show(c, http.StatusCreated, row)
}

func (in *variableBody) variable() (n authoring.NewVariable, err error) {
	if err = required(in.Name); err != nil {
		return n, err
	}
	if in.Value == nil {
		return n, member("value", "is required")
	}
	n = authoring.NewVariable{Scope: or(in.Scope, ""), Name: *in.Name, Value: *in.Value, IsSecret: or(in.IsSecret, false)}
	n.Team, n.Suite, n.Case, err = in.belongsTo()
	return n, err
}

// belongsTo reads the ids of what the variable belongs to; nil: not given.
func (in *variableBody) belongsTo() (team, suite *uuid.UUID, testCase *string, err error) {
	if team, err = optionalUUID("teamId", in.TeamID); err != nil {
		return nil, nil, nil, err
	}
	if suite, err = optionalUUID("testSuiteId", in.TestSuiteID); err != nil {
		return nil, nil, nil, err
	}
	if in.TestCaseID != nil {
		id, ok := parseHex(*in.TestCaseID)
		if !ok {
			return nil, nil, nil, member("testCaseId", "must have 24 hexadecimal digits")
		}
		testCase = &id
	}
	return team, suite, testCase, nil
}

// change is what the members change, with those that cannot be changed.
func (in *variableBody) change() (c authoring.VariableChange, err error) {
	c = authoring.VariableChange{Name: in.Name, Value: in.Value, IsSecret: in.IsSecret, Scope: in.Scope}
	c.Team, c.Suite, c.Case, err = in.belongsTo()
	return c, err
}

// inScope gives what is wrong with a scope its code: a scope that is none, one
// without its id or with another's, and an id of nothing.
func inScope(err error) error {
	var wrong *storage.InvalidError
	switch {
	case errors.Is(err, storage.ErrNotFound):
		return refused(http.StatusBadRequest, codeScope, "the team, test suite or test case of the scope does not exist")
	case errors.As(err, &wrong) && slices.Contains([]string{"scope", "teamId", "testSuiteId", "testCaseId"}, wrong.Field):
		return refused(http.StatusBadRequest, codeScope, wrong.Error())
	}
	return err
}

// get serves GET /variables/{id}.
func (h variables) get(c *gin.Context) error {
	id, err := uuidParam(c, "id")
	if err != nil {
		return err
	}
	row, err := authoring.VariableByID(c.Request.Context(), h.cfg.DB, auth.Organization(c), id)
	if err != nil {
		return err
	}
	return h.show(c, http.StatusOK, row)
}

// update serves PATCH /variables/{id}; only members that are sent are changed: name,
// value, isSecret. The scope and its id cannot be changed. With version, or the header
// If-Match, it changes nothing but that version.
func (h variables) update(c *gin.Context) error {
	id, err := uuidParam(c, "id")
	if err != nil {
		return err
	}
	var in variableBody
	if err := read(c, &in); err != nil {
		return err
	}
	change, err := in.change()
	if err != nil {
		return err
	}
	if change.Version, err = in.version(c.Request.Header.Values("If-Match")); err != nil {
		return err
	}
	var row *authoring.Variable
	err = h.change(c, func(ctx context.Context, tx *storage.Tx, w account.Writer) (err error) {
		row, err = authoring.UpdateVariable(ctx, tx, w, h.cfg.SealKeys, id, change)
		return err
	})
	if err != nil {
		return err
	}
	return h.show(c, http.StatusOK, row)
}

// version is the one that the caller has read; 0 when it does not matter. An
// If-Match that no version can have, or that says another than the body, matches
// nothing.
func (in *variableBody) version(header []string) (int, error) {
	var version int
	if in.Version != nil {
		if *in.Version < 1 || *in.Version > math.MaxInt32 {
			return 0, member("version", "must be a whole number of at least 1")
		}
		version = int(*in.Version)
	}
	tag := strings.TrimSpace(strings.Join(header, ","))
	if tag == "" || tag == "*" {
		return version, nil
	}
	tag = strings.Trim(strings.TrimPrefix(tag, "W/"), `"`)
	n, err := strconv.Atoi(tag)
	if err != nil || n < 1 || version != 0 && n != version {
		return 0, fmt.Errorf("header If-Match: %w", storage.ErrStale)
	}
	return n, nil
}

// delete serves DELETE /variables/{id}.
func (h variables) delete(c *gin.Context) error {
	id, err := uuidParam(c, "id")
	if err != nil {
		return err
	}
	err = h.change(c, func(ctx context.Context, tx *storage.Tx, w account.Writer) error {
		return authoring.DeleteVariable(ctx, tx, w, id)
	})
	if err != nil {
		return err
	}
	return respond.Empty(c, http.StatusNoContent)
}
