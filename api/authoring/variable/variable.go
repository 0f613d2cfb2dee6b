// Package variable serves the variables of tests, of an organization, team, suite or case.
//
// The value of a secret is sealed when it comes and is never shown. A variable has a version, as
// ETag: a change that names the one it was made from is refused with 412 when there is a newer
// one. A scope that is none, or whose team, suite or case is not there, is
// VARIABLE_SCOPE_INVALID.
package variable

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
	"github.com/slipway-qa/slipway/api/authoring/answer"
	"github.com/slipway-qa/slipway/api/authoring/handler"
	"github.com/slipway-qa/slipway/api/authoring/problem"
	"github.com/slipway-qa/slipway/api/authoring/request"
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
		LastModifierUserID: v.ModifierUUID, CreationDate: answer.Stamp(v.CreatedAt), LastUpdateDate: answer.Stamp(v.UpdatedAt)}
	if v.IsSecret {
		view.Value = ""
	}
	return view
}

// Variables are the handlers of the variables of tests.
type Variables struct{ *handler.Base }

// show writes one variable, with its version as the ETag.
func (h Variables) show(c *gin.Context, status int, v *authoring.Variable) error {
	c.Header("ETag", `"`+strconv.Itoa(v.Version)+`"`)
	return answer.Data(c, status, viewVariable(v))
}

// Of returns the handler of a route of variables: its errors get their codes.
func Of(h route.Handler) route.Handler {
	return problem.Variable.Of(func(c *gin.Context) error { return variableProblem(h(c)) })
}

// variableProblem gives the refusals of variables their codes.
func variableProblem(err error) error {
	switch {
	case errors.Is(err, authoring.ErrForbidden):
		return problem.Refused(http.StatusForbidden, codeVariableForbidden,
			"the variable belongs to a team that is not one of yours, or to the organization, whose variables take an admin")
	case errors.Is(err, storage.ErrConflict):
		return problem.Refused(http.StatusConflict, codeVariableConflict, "the scope has a variable of that name already")
	case errors.Is(err, storage.ErrStale):
		return problem.Refused(http.StatusPreconditionFailed, codeVariableStale, "the variable was changed since: read it again")
	}
	return err
}

// List serves GET /variables, by name. Parameters: scope, teamId, testSuiteId,
// testCaseId, search (part of the name), skip, limit.
func (h Variables) List(c *gin.Context) error {
	return handler.List(h.Base, c, func(q *request.Query) authoring.VariableFilter {
		return authoring.VariableFilter{OrganizationID: auth.Organization(c), Scope: scopeOf(q), Team: q.UUID("teamId"),
			Suite: q.UUID("testSuiteId"), Case: caseOf(q, "testCaseId"), Search: q.Search(), Page: q.Page()}
	}, authoring.Variables, viewVariable)
}

// scopeOf reads a filter by the scope; "" when absent.
func scopeOf(q *request.Query) string {
	scopes := []string{step.ScopeOrg, step.ScopeTeam, step.ScopeSuite, step.ScopeCase}
	text := strings.TrimSpace(q.Values.Get("scope"))
	if text != "" && !slices.Contains(scopes, text) {
		q.Wrong(&storage.InvalidError{Field: "scope", Msg: "must be one of " + strings.Join(scopes, ", ")})
	}
	return text
}

// caseOf reads a filter by a case; "" when absent.
func caseOf(q *request.Query, name string) string {
	text := strings.TrimSpace(q.Values.Get(name))
	id, ok := request.ParseHex(text)
	if text != "" && !ok {
		q.Wrong(&storage.InvalidError{Field: name, Msg: "must have 24 hexadecimal digits"})
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

// Create serves POST /variables. Members: scope with the id of its team, suite or
// case, name, value, isSecret.
func (h Variables) Create(c *gin.Context) error {
	var in variableBody
	if err := h.Read(c, &in); err != nil {
		return err
	}
	if in.Version != nil {
		return problem.Member("version", "is of a change: a new variable has the first")
	}
	n, err := in.variable()
	if err != nil {
		return err
	}
	row, err := handler.Changed(h.Base, c, func(ctx context.Context, tx *storage.Tx, w account.Writer) (*authoring.Variable, error) {
		row, err := authoring.CreateVariable(ctx, tx, w, h.SealKeys, n)
		return row, inScope(err)
	})
	if err != nil {
		return err
	}
	return h.show(c, http.StatusCreated, row)
}

func (in *variableBody) variable() (n authoring.NewVariable, err error) {
	if err = request.Required(in.Name); err != nil {
		return n, err
	}
	if in.Value == nil {
		return n, problem.Member("value", "is required")
	}
	n = authoring.NewVariable{Scope: request.Or(in.Scope, ""), Name: *in.Name, Value: *in.Value, IsSecret: request.Or(in.IsSecret, false)}
	n.Team, n.Suite, n.Case, err = in.belongsTo()
	return n, err
}

// belongsTo reads the ids of what the variable belongs to; nil: not given.
func (in *variableBody) belongsTo() (team, suite *uuid.UUID, testCase *string, err error) {
	if team, err = request.OptionalUUID("teamId", in.TeamID); err != nil {
		return nil, nil, nil, err
	}
	if suite, err = request.OptionalUUID("testSuiteId", in.TestSuiteID); err != nil {
		return nil, nil, nil, err
	}
	if in.TestCaseID != nil {
		id, ok := request.ParseHex(*in.TestCaseID)
		if !ok {
			return nil, nil, nil, problem.Member("testCaseId", "must have 24 hexadecimal digits")
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
		return problem.Refused(http.StatusBadRequest, codeScope, "the team, test suite or test case of the scope does not exist")
	case errors.As(err, &wrong) && slices.Contains([]string{"scope", "teamId", "testSuiteId", "testCaseId"}, wrong.Field):
		return problem.Refused(http.StatusBadRequest, codeScope, wrong.Error())
	}
	return err
}

// Get serves GET /variables/{id}.
func (h Variables) Get(c *gin.Context) error {
	row, err := handler.Item(h.Base, c, authoring.VariableByID)
	if err != nil {
		return err
	}
	return h.show(c, http.StatusOK, row)
}

// Update serves PATCH /variables/{id}; only members that are sent are changed: name,
// value, isSecret. The scope and its id cannot be changed. With version, or the header
// If-Match, it changes nothing but that version.
func (h Variables) Update(c *gin.Context) error {
	id, err := request.UUIDParam(c, "id")
	if err != nil {
		return err
	}
	var in variableBody
	if err := h.Read(c, &in); err != nil {
		return err
	}
	change, err := in.change()
	if err != nil {
		return err
	}
	if change.Version, err = in.version(c.Request.Header.Values("If-Match")); err != nil {
		return err
	}
	row, err := handler.Changed(h.Base, c, func(ctx context.Context, tx *storage.Tx, w account.Writer) (*authoring.Variable, error) {
		return authoring.UpdateVariable(ctx, tx, w, h.SealKeys, id, change)
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
			return 0, problem.Member("version", "must be a whole number of at least 1")
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

// Delete serves DELETE /variables/{id}.
func (h Variables) Delete(c *gin.Context) error {
	id, err := request.UUIDParam(c, "id")
	if err != nil {
		return err
	}
	err = h.Change(c, func(ctx context.Context, tx *storage.Tx, w account.Writer) error {
		return authoring.DeleteVariable(ctx, tx, w, id)
	})
	if err != nil {
		return err
	}
	return respond.Empty(c, http.StatusNoContent)
}

// Types are the types behind the schemas of openapi.yaml.
func Types() route.Types {
	return route.Types{
		Schemas:  map[string]any{"testVariable": variableView{}},
		Requests: map[string]any{"testVariable_create": variableBody{}, "testVariable_update": variableBody{}},
	}
}

// Vocabulary are the bodies and answers whose members have a meaning elsewhere.
func Vocabulary() request.Vocabulary {
	return request.Vocabulary{Bodies: []any{variableBody{}}, Answers: map[string][]any{"/variables": {variableView{}}}}
}
