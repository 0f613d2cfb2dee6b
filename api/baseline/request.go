package baseline

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/google/uuid"

	"github.com/slipway-qa/slipway/api/auth"
	"github.com/slipway-qa/slipway/api/respond"
	"github.com/slipway-qa/slipway/api/route"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/authoring"
	"github.com/slipway-qa/slipway/storage/run"
	"github.com/slipway-qa/slipway/storage/run/reading"
)

// The codes of the interface that do not follow from the status.
const (
	codeParams   = "INVALID_PARAMS"
	codeQuery    = "INVALID_QUERY"
	codeCase     = "TEST_CASE_NOT_FOUND"
	codeRun      = "TEST_CASE_RUN_NOT_FOUND"
	codeSuite    = "TEST_SUITE_NOT_FOUND"
	codeBaseline = "TEST_CASE_BASELINE_NOT_FOUND"
	codeFinding  = "TEST_CASE_FINDING_NOT_FOUND"
)

const (
	defaultLimit = 20
	maxLimit     = 100
	maxSkip      = 1_000_000
)

// coded gives the errors of a handler their codes.
func coded(h route.Handler) route.Handler {
	return func(c *gin.Context) error {
		err := h(c)
		if errors.Is(err, authoring.ErrForbidden) {
			return &respond.Problem{Status: http.StatusForbidden, Text: "this belongs to a team that is not one of yours", Err: err}
		}
		return notFound(err, codeCase, "the test case does not exist")
	}
}

// notFound gives an error of what is not there a code, unless it has one.
func notFound(err error, code, text string) error {
	var known *respond.Problem
	if err == nil || errors.As(err, &known) || !errors.Is(err, storage.ErrNotFound) {
		return err
	}
	return &respond.Problem{Status: http.StatusNotFound, Authoring: code, Text: text, Err: err}
}

func ofBaseline(err error) error {
	return notFound(err, codeBaseline, "the test case has no such baseline")
}

func invalidParams(name, text string) error {
	return &respond.Problem{Status: http.StatusBadRequest, Authoring: codeParams, Text: name + ": " + text}
}

func invalidQuery(name, text string) error {
	return &respond.Problem{Status: http.StatusBadRequest, Authoring: codeQuery, Text: name + ": " + text}
}

var hexID = regexp.MustCompile(`^[0-9a-fA-F]{24}$`)

func caseID(c *gin.Context) (string, error) {
	id := c.Param("id")
	if !hexID.MatchString(id) {
		return "", invalidParams("id", "must have 24 hexadecimal digits")
	}
	return strings.ToLower(id), nil
}

func uuidParam(c *gin.Context, name string) (uuid.UUID, error) {
	text := c.Param(name)
	id, err := uuid.Parse(text)
	if err != nil || len(text) != 32 && len(text) != 36 {
		return uuid.Nil, invalidParams(name, "must be a UUID")
	}
	return id, nil
}

// caseOf returns the id of the case of the path, which the organization has.
func (h *Handlers) caseOf(c *gin.Context) (string, error) {
	id, err := caseID(c)
	if err != nil {
		return "", err
	}
	row, err := authoring.CaseByID(c.Request.Context(), h.cfg.DB, auth.Organization(c), id)
	if err != nil {
		return "", err
	}
	return row.ID, nil
}

// runOf reads the run of the path, with its records.
func (h *Handlers) runOf(c *gin.Context) (string, *run.Run, error) {
	id, err := uuidParam(c, "runId")
	if err != nil {
		return "", nil, err
	}
	caseID, err := h.caseOf(c)
	if err != nil {
		return "", nil, err
	}
	got, err := h.readRun(c, caseID, id)
	return caseID, got, err
}

func (h *Handlers) readRun(c *gin.Context, caseID string, id uuid.UUID) (*run.Run, error) {
	got, err := reading.ByID(c.Request.Context(), h.cfg.DB, auth.Organization(c), caseID, id)
	return got, notFound(err, codeRun, "the test case has no such run")
}

// suiteRunOf returns the id of the suite run of the path, and tells a suite that is not there
// from a run.
func (h *Handlers) suiteRunOf(c *gin.Context) (uuid.UUID, error) {
	suiteID, err := uuidParam(c, "id")
	if err != nil {
		return uuid.Nil, err
	}
	id, err := uuidParam(c, "runId")
	if err != nil {
		return uuid.Nil, err
	}
	ctx, organization := c.Request.Context(), auth.Organization(c)
	if _, err := authoring.SuiteByID(ctx, h.cfg.DB, organization, suiteID); err != nil {
		return uuid.Nil, notFound(err, codeSuite, "the test suite does not exist")
	}
	_, err = reading.SuiteRunByID(ctx, h.cfg.DB, organization, suiteID, id)
	return id, notFound(err, codeRun, "the test suite has no such run")
}

// page reads skip and limit as all lists of the interface do.
func page(query url.Values) (p storage.Page, err error) {
	for _, m := range []struct {
		name         string
		into         *int
		absent, most int
	}{{"skip", &p.Offset, 0, maxSkip}, {"limit", &p.Limit, defaultLimit, maxLimit}} {
		text := strings.TrimSpace(query.Get(m.name))
		if text == "" {
			*m.into = m.absent
			continue
		}
		n, err := strconv.ParseInt(text, 10, 32)
		if errors.Is(err, strconv.ErrRange) {
			err = nil // n is the largest or smallest number
		}
		if err != nil || n < 0 || m.name == "skip" && n > maxSkip {
			return p, invalidQuery(m.name, fmt.Sprintf("must be a whole number from 0 to %d", m.most))
		}
		*m.into = min(int(n), m.most)
	}
	return p, nil
}

// change runs a change with its audit row in one transaction.
func (h *Handlers) change(c *gin.Context, do func(ctx context.Context, tx *storage.Tx, w account.Writer) error) error {
	ctx, w := c.Request.Context(), auth.Writer(c)
	return h.cfg.DB.InTx(ctx, func(tx *storage.Tx) error { return do(ctx, tx, w) })
}

func data(c *gin.Context, content any) error {
	return respond.JSON(c, http.StatusOK, gin.H{"data": content})
}

func stamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }
