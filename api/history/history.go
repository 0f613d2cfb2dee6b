// Package history serves what became of test cases and suites over time, and pins runs.
//
// A history is a page of runs, newest first, with a summary of a window: the last 30 days or
// what the request says, and at most 1,000 runs. The member next is the cursor of the next page;
// a page with a filter may be short and still have one. Who reads tests reads histories, and who
// changes tests of a team pins its runs: these stay, whatever retention removes.
//
// Answers and failures are those of the authoring interface: {"data": ...}, and a code. What
// belongs to another organization is not found.
package history

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/gin-gonic/gin"
	"github.com/google/uuid"

	"github.com/slipway-qa/slipway/api/auth"
	"github.com/slipway-qa/slipway/api/authoring/answer"
	"github.com/slipway-qa/slipway/api/authoring/handler"
	"github.com/slipway-qa/slipway/api/authoring/problem"
	"github.com/slipway-qa/slipway/api/authoring/request"
	"github.com/slipway-qa/slipway/api/authoring/testrun"
	"github.com/slipway-qa/slipway/api/pagination"
	"github.com/slipway-qa/slipway/api/respond"
	"github.com/slipway-qa/slipway/api/route"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	tests "github.com/slipway-qa/slipway/storage/authoring"
	"github.com/slipway-qa/slipway/storage/history"
	"github.com/slipway-qa/slipway/storage/run"
)

// Config is what the handlers need.
type Config struct {
	DB *storage.DB
	// Tests is what the handlers of the interface share that this is a part of.
	Tests *handler.Base
	// PublicURL begins the links that answers hold.
	PublicURL string
}

// Handlers are the handlers of the room's routes.
type Handlers struct{ cfg Config }

// New returns the handlers.
func New(cfg Config) (*Handlers, error) {
	if cfg.DB == nil || cfg.Tests == nil {
		return nil, errors.New("history handlers: database and handlers of tests are required")
	}
	cfg.PublicURL = strings.TrimRight(cfg.PublicURL, "/")
	return &Handlers{cfg}, nil
}

// Routes are the room's routes.
func (h *Handlers) Routes() []route.Route {
	const tests, ofCase, ofSuite = respond.InterfaceAuthoring, "/v1/ai-authoring/testcases/:id", "/v1/ai-authoring/testsuites/:id"
	query := []string{"startDate", "endDate", "buildId", "environment", "cursor", "skip", "limit"}
	return []route.Route{
		{Method: http.MethodGet, Path: ofCase + "/history", Interface: tests, Query: append(query[:len(query):len(query)],
			"target"), Action: auth.ReadTests, Handler: caseNamed(h.ofCase)},
		{Method: http.MethodGet, Path: ofSuite + "/history", Interface: tests, Query: query, Action: auth.ReadTests,
			Handler: suiteNamed(h.ofSuite)},
		{Method: http.MethodPost, Path: ofCase + "/runs/:runId/pin", Interface: tests, Action: auth.ChangeTests,
			Handler: runNamed(problem.CaseRun, h.pinCaseRun)},
		{Method: http.MethodDelete, Path: ofCase + "/runs/:runId/pin", Interface: tests, Query: route.NoQuery(),
			Bare: true, Action: auth.ChangeTests, Handler: runNamed(problem.CaseRun, h.unpinCaseRun)},
		{Method: http.MethodPost, Path: ofSuite + "/runs/:runId/pin", Interface: tests, Action: auth.ChangeTests,
			Handler: runNamed(problem.SuiteRun, h.pinSuiteRun)},
		{Method: http.MethodDelete, Path: ofSuite + "/runs/:runId/pin", Interface: tests, Query: route.NoQuery(),
			Bare: true, Action: auth.ChangeTests, Handler: runNamed(problem.SuiteRun, h.unpinSuiteRun)},
	}
}

func caseNamed(h route.Handler) route.Handler {
	return problem.TestCase.Of(h)
}

func suiteNamed(h route.Handler) route.Handler {
	return problem.TestSuite.Of(h)
}

// runNamed returns the handler of a route whose path names a run of a case or suite.
func runNamed(resource problem.Resource, h route.Handler) route.Handler {
	return resource.Of(func(c *gin.Context) error {
		err := h(c)
		if errors.Is(err, history.ErrTooManyPins) {
			return &respond.Problem{Status: http.StatusConflict, Authoring: "PINNED_RUN_LIMIT", Text: history.ErrTooManyPins.Error(), Err: err}
		}
		return err
	})
}

// maxTarget bounds the name of a browser or platform, in characters.
const maxTarget = 100

// asked is what is asked of a history.
type asked struct {
	history.Filter
	after *history.Cursor
	page  storage.Page
}

func (h *Handlers) asked(c *gin.Context) (r asked, err error) {
	read, err := testrun.Narrowed(c)
	if err != nil {
		return r, err
	}
	query := c.Request.URL.Query()
	r.Filter = history.Filter{From: read.From, To: read.To, BuildID: read.BuildID, Environment: read.Environment,
		Target: strings.TrimSpace(query.Get("target"))}
	r.page = read.Page
	if utf8.RuneCountInString(r.Target) > maxTarget || !utf8.ValidString(r.Target) || strings.Contains(r.Target, "\x00") {
		return r, problem.InvalidQuery(&storage.InvalidError{Field: "target",
			Msg: fmt.Sprintf("must be UTF-8 text of at most %d characters", maxTarget)})
	}
	at, id, err := pagination.Cursor(query, "cursor")
	if err != nil {
		return r, problem.InvalidQuery(err)
	}
	if id != uuid.Nil {
		r.after = &history.Cursor{At: at, ID: id}
	}
	return r, nil
}

// ofCase serves GET /testcases/{id}/history: the runs, newest first, and what they say together.
// Parameters: startDate, endDate (creation), target (browser or platform), buildId, environment
// (its name), cursor, skip, limit.
func (h *Handlers) ofCase(c *gin.Context) error {
	r, err := h.asked(c)
	if err != nil {
		return err
	}
	id, err := request.CaseID(c)
	if err != nil {
		return err
	}
	ctx, organization := c.Request.Context(), auth.Organization(c)
	if _, err := tests.CaseByID(ctx, h.cfg.DB, organization, id); err != nil {
		return err
	}
	found, err := history.OfCase(ctx, h.cfg.DB, organization, id, r.Filter, r.after, r.page)
	if err != nil {
		return err
	}
	window, err := history.OfCaseWindow(ctx, h.cfg.DB, organization, id, r.Filter, time.Now())
	if err != nil {
		return err
	}
	standing, err := history.CaseStanding(ctx, h.cfg.DB, organization, id)
	if err != nil {
		return err
	}
	at := place{h.cfg.PublicURL + "/console/tests/cases/" + id + "/runs/"}
	return answer.Data(c, http.StatusOK, at.history(found, window, standing))
}

// ofSuite serves GET /testsuites/{id}/history; parameters as ofCase, without target. The summary
// names the cases that stand out.
func (h *Handlers) ofSuite(c *gin.Context) error {
	r, err := h.asked(c)
	if err != nil {
		return err
	}
	id, err := request.UUIDParam(c, "id")
	if err != nil {
		return err
	}
	ctx, organization, now := c.Request.Context(), auth.Organization(c), time.Now()
	if _, err := tests.SuiteByID(ctx, h.cfg.DB, organization, id); err != nil {
		return err
	}
	found, err := history.OfSuite(ctx, h.cfg.DB, organization, id, r.Filter, r.after, r.page)
	if err != nil {
		return err
	}
	window, err := history.OfSuiteWindow(ctx, h.cfg.DB, organization, id, r.Filter, now)
	if err != nil {
		return err
	}
	standing, err := history.SuiteStanding(ctx, h.cfg.DB, organization, id)
	if err != nil {
		return err
	}
	top, err := history.TopCases(ctx, h.cfg.DB, organization, id, r.Filter, now)
	if err != nil {
		return err
	}
	at := place{h.cfg.PublicURL + "/console/tests/suites/" + id.String() + "/runs/"}
	view := at.history(found, window, standing)
	view.Summary.Cases = viewCases(&top)
	return answer.Data(c, http.StatusOK, view)
}

// pinCaseRun serves POST /testcases/{id}/runs/{runId}/pin. A run that is pinned stays so.
func (h *Handlers) pinCaseRun(c *gin.Context) error {
	return h.pin(c, func(ctx context.Context, tx *storage.Tx, w account.Writer, id uuid.UUID) (*run.Pin, error) {
		caseID, err := request.CaseID(c)
		if err != nil {
			return nil, err
		}
		return history.PinCaseRun(ctx, tx, w, caseID, id)
	})
}

// pinSuiteRun serves POST /testsuites/{id}/runs/{runId}/pin.
func (h *Handlers) pinSuiteRun(c *gin.Context) error {
	return h.pin(c, func(ctx context.Context, tx *storage.Tx, w account.Writer, id uuid.UUID) (*run.Pin, error) {
		suiteID, err := request.UUIDParam(c, "id")
		if err != nil {
			return nil, err
		}
		return history.PinSuiteRun(ctx, tx, w, suiteID, id)
	})
}

func (h *Handlers) pin(c *gin.Context, do func(context.Context, *storage.Tx, account.Writer, uuid.UUID) (*run.Pin, error)) error {
	id, err := request.UUIDParam(c, "runId")
	if err != nil {
		return err
	}
	if err := h.cfg.Tests.Read(c, &struct{}{}); err != nil {
		return err
	}
	pin, err := handler.Changed(h.cfg.Tests, c, func(ctx context.Context, tx *storage.Tx, w account.Writer) (*run.Pin, error) {
		return do(ctx, tx, w, id)
	})
	if err != nil {
		return err
	}
	return answer.Data(c, http.StatusOK, pinnedView{ID: id, Pinned: testrun.ViewPin(pin)})
}

// unpinCaseRun serves DELETE /testcases/{id}/runs/{runId}/pin; 409 when it is not pinned.
func (h *Handlers) unpinCaseRun(c *gin.Context) error {
	return h.unpin(c, func(ctx context.Context, tx *storage.Tx, w account.Writer, id uuid.UUID) error {
		caseID, err := request.CaseID(c)
		if err != nil {
			return err
		}
		return history.UnpinCaseRun(ctx, tx, w, caseID, id)
	})
}

// unpinSuiteRun serves DELETE /testsuites/{id}/runs/{runId}/pin.
func (h *Handlers) unpinSuiteRun(c *gin.Context) error {
	return h.unpin(c, func(ctx context.Context, tx *storage.Tx, w account.Writer, id uuid.UUID) error {
		suiteID, err := request.UUIDParam(c, "id")
		if err != nil {
			return err
		}
		return history.UnpinSuiteRun(ctx, tx, w, suiteID, id)
	})
}

func (h *Handlers) unpin(c *gin.Context, do func(context.Context, *storage.Tx, account.Writer, uuid.UUID) error) error {
	id, err := request.UUIDParam(c, "runId")
	if err != nil {
		return err
	}
	err = h.cfg.Tests.Change(c, func(ctx context.Context, tx *storage.Tx, w account.Writer) error { return do(ctx, tx, w, id) })
	if err != nil {
		return err
	}
	return respond.Empty(c, http.StatusNoContent)
}
