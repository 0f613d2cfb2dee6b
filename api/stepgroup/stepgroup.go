// Package stepgroup serves step groups: lists of steps with parameters, which test cases,
// suites and other groups run by the step run_group.
//
// It is a part of the authoring interface and follows its rules: {"data": ...}, members that
// are refused with their path, and its codes. Whoever reads tests reads groups, and whoever
// changes tests of a team changes its groups; a group of any team of the organization may be
// used. A group that is used is not deleted: 409 STEP_GROUP_IN_USE names who uses it.
package stepgroup

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/gin-gonic/gin"

	"github.com/slipway-qa/slipway/api/auth"
	"github.com/slipway-qa/slipway/api/authoring/answer"
	"github.com/slipway-qa/slipway/api/authoring/handler"
	"github.com/slipway-qa/slipway/api/authoring/problem"
	"github.com/slipway-qa/slipway/api/authoring/request"
	"github.com/slipway-qa/slipway/api/respond"
	"github.com/slipway-qa/slipway/api/route"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	tests "github.com/slipway-qa/slipway/storage/authoring"
	"github.com/slipway-qa/slipway/storage/step/group"
	"github.com/slipway-qa/slipway/storage/stepgroup"
)

// Config is what the handlers need.
type Config struct {
	DB *storage.DB
	// Tests is what the handlers of the interface share that this is a part of.
	Tests *handler.Base
}

// Handlers are the handlers of the room's routes.
type Handlers struct{ cfg Config }

// New returns the handlers.
func New(cfg Config) (*Handlers, error) {
	if cfg.DB == nil || cfg.Tests == nil {
		return nil, errors.New("step group handlers: database and handlers of tests are required")
	}
	return &Handlers{cfg}, nil
}

// maxBody is that of an import of a test.
const maxBody = 4 << 20

// Routes are the room's routes.
func (h *Handlers) Routes() []route.Route {
	const tests, groups = respond.InterfaceAuthoring, "/v1/ai-authoring/step-groups"
	return []route.Route{
		{Method: http.MethodGet, Path: groups, Interface: tests, Query: []string{"search", "skip", "limit"},
			Action: auth.ReadTests, Handler: of(h.list)},
		{Method: http.MethodPost, Path: groups, Interface: tests, Action: auth.ChangeTests, Handler: of(h.create), Body: maxBody},
		{Method: http.MethodGet, Path: groups + "/:id", Interface: tests, Query: route.NoQuery(), Action: auth.ReadTests, Handler: of(h.get)},
		{Method: http.MethodPatch, Path: groups + "/:id", Interface: tests, Action: auth.ChangeTests, Handler: of(h.update), Body: maxBody},
		{Method: http.MethodDelete, Path: groups + "/:id", Interface: tests, Query: route.NoQuery(), Bare: true,
			Action: auth.DeleteTests, Handler: of(h.delete)},
		{Method: http.MethodGet, Path: groups + "/:id/revisions", Interface: tests, Query: []string{"skip", "limit"},
			Action: auth.ReadTests, Handler: of(h.revisions)},
	}
}

// notFound is the answer where there is no such group.
var notFound = problem.Resource{Code: "STEP_GROUP_NOT_FOUND", Text: "the step group does not exist"}

// of returns the handler of a route: its errors get their codes.
func of(h route.Handler) route.Handler {
	return notFound.Of(func(c *gin.Context) error { return coded(h(c)) })
}

// coded gives the refusals of step groups their codes.
func coded(err error) error {
	var used *stepgroup.InUseError
	switch {
	case errors.As(err, &used):
		return &respond.Problem{Status: http.StatusConflict, Authoring: "STEP_GROUP_IN_USE", Text: "the step group is used by " +
			named(&used.Users), Err: err}
	case errors.Is(err, stepgroup.ErrForbidden):
		return &respond.Problem{Status: http.StatusForbidden, Text: "the step group belongs to a team that is not one of yours", Err: err}
	case errors.Is(err, stepgroup.ErrTooMany):
		return &respond.Problem{Status: http.StatusConflict, Authoring: "STEP_GROUP_LIMIT", Text: stepgroup.ErrTooMany.Error(), Err: err}
	}
	return err
}

// maxNamed is how many of each kind a refusal names.
const maxNamed = 10

// named writes who uses a group.
func named(u *stepgroup.Users) string {
	var parts []string
	for _, kind := range []struct {
		what  string
		users []stepgroup.User
		total int
	}{{"test cases", u.Cases, u.CaseCount}, {"test suites", u.Suites, u.SuiteCount}, {"step groups", u.Groups, u.GroupCount}} {
		if kind.total == 0 {
			continue
		}
		var names []string
		for _, user := range kind.users[:min(len(kind.users), maxNamed)] {
			names = append(names, fmt.Sprintf("%q (%s)", user.Name, user.ID))
		}
		text := kind.what + " " + strings.Join(names, ", ")
		if more := kind.total - len(names); more > 0 {
			text += fmt.Sprintf(" and %d more", more)
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, "; ")
}

// list serves GET /step-groups, newest first. Parameters: search (part of the name), skip,
// limit.
func (h *Handlers) list(c *gin.Context) error {
	q := request.QueryOf(c)
	search, page := q.Search(), q.Page()
	if q.Err != nil {
		return q.Err
	}
	rows, total, err := stepgroup.List(c.Request.Context(), h.cfg.DB, stepgroup.Filter{OrganizationID: auth.Organization(c),
		Search: search, Page: page})
	if err != nil {
		return err
	}
	return answer.Data(c, http.StatusOK, answer.ListOf(rows, total, viewGroup))
}

// groupOf reads the group that the path names.
func (h *Handlers) groupOf(c *gin.Context) (*stepgroup.Group, error) {
	id, err := request.UUIDParam(c, "id")
	if err != nil {
		return nil, err
	}
	return stepgroup.ByID(c.Request.Context(), h.cfg.DB, auth.Organization(c), id)
}

// get serves GET /step-groups/{id}, with the steps and who uses it.
func (h *Handlers) get(c *gin.Context) error {
	row, err := h.groupOf(c)
	if err != nil {
		return err
	}
	return h.show(c, http.StatusOK, row)
}

// show writes a group in full.
func (h *Handlers) show(c *gin.Context, status int, row *stepgroup.Group) error {
	users, err := stepgroup.UsersOf(c.Request.Context(), h.cfg.DB, row.ID)
	if err != nil {
		return err
	}
	return answer.Data(c, status, h.viewWhole(row, &users))
}

// revisions serves GET /step-groups/{id}/revisions, newest first. Parameters: skip, limit.
func (h *Handlers) revisions(c *gin.Context) error {
	q := request.QueryOf(c)
	page := q.Page()
	if q.Err != nil {
		return q.Err
	}
	row, err := h.groupOf(c)
	if err != nil {
		return err
	}
	rows, total, err := stepgroup.Revisions(c.Request.Context(), h.cfg.DB, row.ID, page)
	if err != nil {
		return err
	}
	return answer.Data(c, http.StatusOK, answer.ListOf(rows, total, h.viewRevision))
}

// groupBody is what a request may say of a group. Members of a change that are absent stay.
type groupBody struct {
	Name        *string          `json:"name"`
	TeamID      *string          `json:"teamId"` // of a new one
	Description *string          `json:"description"`
	Parameters  request.Nullable `json:"parameters"`
	Steps       request.Nullable `json:"steps"`
}

// parameterBody is a parameter of a group.
type parameterBody struct {
	Name    string  `json:"name"`
	Default *string `json:"default"`
}

// read reads the members; nil where they are absent.
func (h *Handlers) read(c *gin.Context, in *groupBody) (change stepgroup.Change, err error) {
	if err := h.cfg.Tests.Read(c, in); err != nil {
		return change, err
	}
	change.Name, change.Description = in.Name, in.Description
	given, err := request.Value(in.Parameters, "parameters", []parameterBody{})
	if err != nil {
		return change, err
	}
	if given != nil {
		list := make([]group.Parameter, 0, len(*given))
		for _, p := range *given {
			list = append(list, group.Parameter{Name: p.Name, Default: p.Default})
		}
		change.Parameters = &list
	}
	if !in.Steps.Given() {
		return change, nil
	}
	steps, err := h.cfg.Tests.ReadSteps(c, "steps", in.Steps.Document)
	change.Steps = &steps
	return change, err
}

// create serves POST /step-groups. Members: name, steps, parameters, description, teamId.
func (h *Handlers) create(c *gin.Context) error {
	var in groupBody
	change, err := h.read(c, &in)
	if err != nil {
		return err
	}
	if err := request.Required(in.Name); err != nil {
		return err
	}
	if change.Steps == nil {
		return storage.Invalid("steps", "is required")
	}
	team, err := request.OptionalUUID("teamId", in.TeamID)
	if err != nil {
		return err
	}
	n := stepgroup.NewGroup{Name: *in.Name, Steps: *change.Steps}
	if in.Description != nil {
		n.Description = *in.Description
	}
	if change.Parameters != nil {
		n.Parameters = *change.Parameters
	}
	var row *stepgroup.Group
	err = h.cfg.Tests.Change(c, func(ctx context.Context, tx *storage.Tx, w account.Writer) error {
		of, err := tests.TeamFor(ctx, tx, w, team)
		if err != nil {
			return err
		}
		n.TeamID = of.ID
		row, err = stepgroup.Create(ctx, tx, w, n)
		return err
	})
	if err != nil {
		return err
	}
	return h.show(c, http.StatusCreated, row)
}

// update serves PATCH /step-groups/{id}; only members that are sent are changed: name,
// description, parameters, steps. The answer says who uses the group.
func (h *Handlers) update(c *gin.Context) error {
	id, err := request.UUIDParam(c, "id")
	if err != nil {
		return err
	}
	var in groupBody
	change, err := h.read(c, &in)
	if err != nil {
		return err
	}
	team, err := request.OptionalUUID("teamId", in.TeamID)
	if err != nil {
		return err
	}
	var row *stepgroup.Group
	err = h.cfg.Tests.Change(c, func(ctx context.Context, tx *storage.Tx, w account.Writer) (err error) {
		if row, err = stepgroup.Update(ctx, tx, w, id, change); err != nil {
			return err
		}
		if team != nil && *team != row.TeamUUID {
			return storage.Invalid("teamId", "cannot be changed by this request")
		}
		return nil
	})
	if err != nil {
		return err
	}
	return h.show(c, http.StatusOK, row)
}

// delete serves DELETE /step-groups/{id}; 409 STEP_GROUP_IN_USE for one that is used.
func (h *Handlers) delete(c *gin.Context) error {
	id, err := request.UUIDParam(c, "id")
	if err != nil {
		return err
	}
	err = h.cfg.Tests.Change(c, func(ctx context.Context, tx *storage.Tx, w account.Writer) error {
		return stepgroup.Delete(ctx, tx, w, id)
	})
	if err != nil {
		return err
	}
	return respond.Empty(c, http.StatusNoContent)
}
