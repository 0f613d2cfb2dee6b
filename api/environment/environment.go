// Package environment serves the environments of an organization: named sets of what tests
// run with, below /v1/ai-authoring/environments.
//
// All of the organization read them; those of the organization take an admin to change, and
// those of a team its members, as variables do. Values of secrets, and of headers that carry
// credentials, are only written: answers have their names. An answer of one environment has
// its version as the ETag, and a change may name the version that it is of.
//
// Addresses and targets are checked when they are sent, by what the installation permits;
// a run checks again. What a body has that is not known is refused with its path.
package environment

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"strconv"
	"strings"

	"github.com/gin-gonic/gin"
	"github.com/google/uuid"

	"github.com/slipway-qa/slipway/api/auth"
	"github.com/slipway-qa/slipway/api/body"
	"github.com/slipway-qa/slipway/api/respond"
	"github.com/slipway-qa/slipway/api/route"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/authoring"
	"github.com/slipway-qa/slipway/storage/environment"
	"github.com/slipway-qa/slipway/storage/seal"
	"github.com/slipway-qa/slipway/storage/step"
)

// Config is what the handlers need.
type Config struct {
	DB *storage.DB
	// SealKeys seals the secrets.
	SealKeys seal.Ring
	// CheckURL refuses addresses that no run may open; its text is shown.
	CheckURL func(ctx context.Context, address string) error
	// Vendor names the options of targets; UnsafeCapabilities is true when some hub takes
	// any capability.
	Vendor             string
	UnsafeCapabilities bool
}

// Handlers are the handlers of the room's routes.
type Handlers struct{ cfg Config }

// New returns the handlers. Without CheckURL it refuses: tests that may open any address
// are no default.
func New(cfg Config) (*Handlers, error) {
	if cfg.DB == nil || cfg.CheckURL == nil {
		return nil, errors.New("environment handlers: DB and CheckURL are needed")
	}
	return &Handlers{cfg: cfg}, nil
}

// Routes are the room's routes.
func (h *Handlers) Routes() []route.Route {
	const tests, path = respond.InterfaceAuthoring, "/v1/ai-authoring/environments"
	return []route.Route{
		{Method: http.MethodGet, Path: path, Interface: tests, Query: []string{"teamId", "search", "skip", "limit"},
			Action: auth.ReadTests, Handler: coded(h.list)},
		{Method: http.MethodPost, Path: path, Interface: tests, Action: auth.ChangeVariables, Handler: coded(h.create)},
		{Method: http.MethodGet, Path: path + "/:id", Interface: tests, Query: route.NoQuery(), Action: auth.ReadTests, Handler: coded(h.get)},
		{Method: http.MethodPatch, Path: path + "/:id", Interface: tests, Action: auth.ChangeVariables, Handler: coded(h.update)},
		{Method: http.MethodDelete, Path: path + "/:id", Interface: tests, Query: route.NoQuery(), Bare: true,
			Action: auth.ChangeVariables, Handler: coded(h.delete)},
	}
}

// The codes of environments.
const (
	codeNotFound  = "ENVIRONMENT_NOT_FOUND"
	codeForbidden = "ENVIRONMENT_FORBIDDEN"
	codeConflict  = "ENVIRONMENT_NAME_CONFLICT"
	codeInUse     = "ENVIRONMENT_IN_USE"
	codeStale     = "ENVIRONMENT_VERSION_CONFLICT"
	codeLimit     = "ENVIRONMENT_LIMIT"
)

// coded returns the handler whose errors have the codes of environments.
func coded(h route.Handler) route.Handler {
	return func(c *gin.Context) error { return problem(h(c)) }
}

func problem(err error) error {
	refused := func(status int, code, text string) error {
		return &respond.Problem{Status: status, Authoring: code, Text: text, Err: err}
	}
	var known *respond.Problem
	var wrong *step.InvalidError
	var used *authoring.InUseError
	switch {
	case err == nil, errors.As(err, &known):
		return err
	case errors.As(err, &wrong):
		return &storage.InvalidError{Field: wrong.Path, Msg: wrong.Msg}
	case errors.Is(err, authoring.ErrForbidden):
		return refused(http.StatusForbidden, codeForbidden,
			"the environment belongs to a team that is not one of yours, or to the organization, whose environments take an admin")
	case errors.As(err, &used):
		return refused(http.StatusConflict, codeInUse, "the environment cannot be deleted: "+used.Error())
	case errors.Is(err, storage.ErrConflict):
		return refused(http.StatusConflict, codeConflict, "the organization has an environment of that name already")
	case errors.Is(err, environment.ErrFull):
		return refused(http.StatusConflict, codeLimit, fmt.Sprintf("the organization has %d environments, which is the most", environment.Most))
	case errors.Is(err, storage.ErrStale):
		return refused(http.StatusPreconditionFailed, codeStale, "the environment was changed since: read it again")
	case errors.Is(err, storage.ErrNotFound):
		return refused(http.StatusNotFound, codeNotFound, "the environment does not exist")
	}
	return err
}

func withCode(code string, err error) error {
	var wrong *storage.InvalidError
	if !errors.As(err, &wrong) {
		return err
	}
	return &respond.Problem{Status: http.StatusBadRequest, Authoring: code, Text: wrong.Error(), Err: err}
}

// idOf reads the id of the path; INVALID_PARAMS.
func idOf(c *gin.Context) (uuid.UUID, error) {
	id, err := parseUUID("id", c.Param("id"))
	return id, withCode("INVALID_PARAMS", err)
}

func parseUUID(field, text string) (uuid.UUID, error) {
	const plain, dashed = 32, 36
	if len(text) == plain || len(text) == dashed {
		if id, err := uuid.Parse(text); err == nil {
			return id, nil
		}
	}
	return uuid.Nil, storage.Invalid(field, "must be a UUID")
}

// show writes one environment, with its version as the ETag.
func (h *Handlers) show(c *gin.Context, status int, e *environment.Environment) error {
	c.Header("ETag", `"`+strconv.Itoa(e.Version)+`"`)
	return respond.JSON(c, status, gin.H{"data": viewOf(e)})
}

// list serves GET /environments, by name. Parameters: teamId, search (part of the name),
// skip, limit.
func (h *Handlers) list(c *gin.Context) error {
	f, err := filter(c)
	if err != nil {
		return withCode("INVALID_QUERY", err)
	}
	rows, total, err := environment.List(c.Request.Context(), h.cfg.DB, f)
	if err != nil {
		return err
	}
	items := make([]view, len(rows))
	for i := range rows {
		items[i] = viewOf(&rows[i])
	}
	return respond.JSON(c, http.StatusOK, gin.H{"data": gin.H{"items": items, "total": total}})
}

// maxSkip and maxLimit are those of the lists beside this one.
const (
	defaultLimit = 20
	maxLimit     = 100
	maxSkip      = 1_000_000
)

func filter(c *gin.Context) (f environment.Filter, err error) {
	q := c.Request.URL.Query()
	f = environment.Filter{OrganizationID: auth.Organization(c), Search: strings.TrimSpace(q.Get("search"))}
	if text := strings.TrimSpace(q.Get("teamId")); text != "" {
		id, err := parseUUID("teamId", text)
		if err != nil {
			return f, err
		}
		f.Team = &id
	}
	if f.Offset, err = number("skip", q.Get("skip"), 0, maxSkip); err != nil {
		return f, err
	}
	f.Limit, err = number("limit", q.Get("limit"), defaultLimit, math.MaxInt32)
	f.Limit = min(f.Limit, maxLimit)
	return f, err
}

func number(field, text string, absent, most int) (int, error) {
	if text = strings.TrimSpace(text); text == "" {
		return absent, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 || n > most {
		return 0, storage.Invalid(field, "must be a whole number from 0 to %d", most)
	}
	return n, nil
}

// get serves GET /environments/{id}.
func (h *Handlers) get(c *gin.Context) error {
	id, err := idOf(c)
	if err != nil {
		return err
	}
	e, err := environment.ByID(c.Request.Context(), h.cfg.DB, auth.Organization(c), id)
	if err != nil {
		return err
	}
	return h.show(c, http.StatusOK, e)
}

// create serves POST /environments. Members: name, teamId (without it the environment is
// the organization's), testUrl, tunnel, targets, variables, secrets, headers.
func (h *Handlers) create(c *gin.Context) error {
	var in request
	if err := body.Read(c, &in); err != nil {
		return err
	}
	switch {
	case in.Name == nil:
		return storage.Invalid("name", "is required")
	case in.Version != nil:
		return storage.Invalid("version", "is of a change: a new environment has the first")
	}
	n := environment.New{Name: *in.Name}
	if in.TeamID != nil {
		id, err := parseUUID("teamId", *in.TeamID)
		if err != nil {
			return err
		}
		n.Team = &id
	}
	var err error
	if n.Change, err = h.change(c.Request.Context(), &in); err != nil {
		return err
	}
	var e *environment.Environment
	ctx, w := c.Request.Context(), auth.Writer(c)
	err = h.cfg.DB.InTx(ctx, func(tx *storage.Tx) (err error) {
		e, err = environment.Create(ctx, tx, w, h.cfg.SealKeys, n)
		return err
	})
	if n.Team != nil && errors.Is(err, storage.ErrNotFound) {
		return storage.Invalid("teamId", "names no team of the organization")
	}
	if err != nil {
		return err
	}
	return h.show(c, http.StatusCreated, e)
}

// update serves PATCH /environments/{id}; only members that are sent are changed. Of
// variables, secrets and headers, null removes a name and names that are not sent stay;
// targets replaces all. With version, or the header If-Match, it changes nothing but that
// version.
func (h *Handlers) update(c *gin.Context) error {
	id, err := idOf(c)
	if err != nil {
		return err
	}
	var in request
	if err := body.Read(c, &in); err != nil {
		return err
	}
	change, err := h.change(c.Request.Context(), &in)
	if err != nil {
		return err
	}
	if change.Version, err = in.version(c.Request.Header.Values("If-Match")); err != nil {
		return err
	}
	var e *environment.Environment
	ctx, w := c.Request.Context(), auth.Writer(c)
	err = h.cfg.DB.InTx(ctx, func(tx *storage.Tx) (err error) {
		if e, err = environment.Update(ctx, tx, w, h.cfg.SealKeys, id, change); err != nil {
			return err
		}
		return in.unchanged(e)
	})
	if err != nil {
		return err
	}
	return h.show(c, http.StatusOK, e)
}

// delete serves DELETE /environments/{id}; 409 ENVIRONMENT_IN_USE for a suite's default. Runs that have it go on; a schedule that names
// it starts nothing until it names another.
func (h *Handlers) delete(c *gin.Context) error {
	id, err := idOf(c)
	if err != nil {
		return err
	}
	ctx, w := c.Request.Context(), auth.Writer(c)
	err = h.cfg.DB.InTx(ctx, func(tx *storage.Tx) error { return environment.Delete(ctx, tx, w, id) })
	if err != nil {
		return err
	}
	return respond.Empty(c, http.StatusNoContent)
}
