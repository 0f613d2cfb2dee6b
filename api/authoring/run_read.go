package authoring

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/slipway-qa/slipway/storage/run"

	"github.com/gin-gonic/gin"
	"github.com/google/uuid"

	"github.com/slipway-qa/slipway/api/wait"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/authoring"
)

// Runs answers GET /testcases/{id}/runs, newest first. Parameters: startDate,
// endDate (creation), userId (who started it), teamId, skip, limit.
func (h *Handlers) Runs(c *gin.Context) {
	f, err := runFilter(c)
	var row *authoring.Case
	if err == nil {
		row, err = h.caseOf(c)
	}
	var rows []run.Run
	var total int
	if err == nil {
		f.CaseID = row.ID
		rows, total, err = run.Runs(c.Request.Context(), h.cfg.DB, f)
	}
	if err != nil {
		fail(c, err, testCase)
		return
	}
	data(c, http.StatusOK, listOf(rows, total, viewRun))
}

// runFilter reads the parameters that both lists of runs have.
func runFilter(c *gin.Context) (run.RunFilter, error) {
	q := queryOf(c)
	f := run.RunFilter{OrganizationID: organization(c), User: q.uuid("userId"), Team: q.uuid("teamId"), Page: q.page()}
	f.From, f.To = q.dates()
	return f, q.err
}

// Run answers GET /testcases/{id}/runs/{run}. Parameters: wait (seconds: the answer
// comes when the run has ended or the time is over), format (json, junit).
func (h *Handlers) Run(c *gin.Context) {
	ask, err := readAsk(c)
	var id string
	if err == nil {
		id, err = caseID(c)
	}
	var testRun *run.Run
	if err == nil {
		testRun, err = h.runOf(c, id, ask.run)
	}
	if err == nil && ask.wait > 0 && !testRun.Status.Terminal() {
		if err = h.cfg.Watcher.Wait(c.Request.Context(), organization(c), ask.run, ask.wait); err == nil {
			testRun, err = h.runOf(c, id, ask.run)
		}
	}
	if err != nil {
		fail(c, err, caseRun)
		return
	}
	if ask.junit {
		h.answerReport(c, reportRun(testRun))
		return
	}
	h.answerRun(c, testRun)
}

// runOf reads a run of a case, and tells a case that is not there from a run.
func (h *Handlers) runOf(c *gin.Context, id string, testRun uuid.UUID) (*run.Run, error) {
	ctx := c.Request.Context()
	row, err := run.RunByID(ctx, h.cfg.DB, organization(c), id, testRun)
	if errors.Is(err, storage.ErrNotFound) {
		if _, of := authoring.CaseByID(ctx, h.cfg.DB, organization(c), id); of != nil {
			err = problem(of, testCase)
		}
	}
	return row, err
}

// ask is what a request says of the run that it reads.
type ask struct {
	run   uuid.UUID
	wait  time.Duration
	junit bool
}

func readAsk(c *gin.Context) (a ask, err error) {
	if a.run, err = uuidParam(c, "runId"); err != nil {
		return a, err
	}
	if a.wait, err = wait.For(c); err != nil {
		return a, invalidQuery(err)
	}
	a.junit, err = wantsJUnit(c)
	return a, err
}

// CancelRun answers POST /testcases/{id}/runs/{run}/cancel with the run, which has
// ended then; 409 when it had before.
func (h *Handlers) CancelRun(c *gin.Context) {
	id, err := caseID(c)
	var runID uuid.UUID
	if err == nil {
		runID, err = uuidParam(c, "runId")
	}
	var testRun *run.Run
	if err == nil {
		testRun, err = h.runOf(c, id, runID)
	}
	if err == nil {
		err = h.change(c, func(ctx context.Context, tx *storage.Tx, w account.Writer) error {
			jobs, err := run.CancelRun(ctx, tx, w, id, runID)
			if err == nil {
				err = stop(ctx, tx, w.OrganizationID, jobs)
			}
			if err == nil {
				testRun, err = run.RunByID(ctx, tx, w.OrganizationID, id, runID)
			}
			return err
		})
	}
	if err != nil {
		fail(c, ended(err), caseRun)
		return
	}
	h.answerRun(c, testRun)
}

// ended says what a conflict is when a run is cancelled.
func ended(err error) error { return conflict(err, "the run has ended") }

// conflict gives a conflict of the store its text.
func conflict(err error, text string) error {
	if errors.Is(err, storage.ErrConflict) {
		return refused(http.StatusConflict, "CONFLICT", text)
	}
	return err
}
