package authoring

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/google/uuid"

	"github.com/slipway-qa/slipway/api/auth"
	"github.com/slipway-qa/slipway/api/wait"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/authoring"
	"github.com/slipway-qa/slipway/storage/run"
	"github.com/slipway-qa/slipway/storage/run/attempt"
)

// list serves GET /testcases/{id}/runs, newest first. Parameters: startDate, endDate
// (creation), userId (who started it), teamId, healed (true, false: whether any step was),
// buildId (that was tested), environment (its name), skip, limit.
func (h runs) list(c *gin.Context) error {
	f, err := runFilter(c)
	if err != nil {
		return err
	}
	row, err := h.caseOf(c)
	if err != nil {
		return err
	}
	f.CaseID = row.ID
	rows, total, err := run.List(c.Request.Context(), h.cfg.DB, f)
	if err != nil {
		return err
	}
	return data(c, http.StatusOK, listOf(rows, total, viewRun))
}

// runFilter reads the parameters that both lists of runs have.
func runFilter(c *gin.Context) (run.Filter, error) {
	q := queryOf(c)
	f := run.Filter{OrganizationID: auth.Organization(c), User: q.uuid("userId"), Team: q.uuid("teamId"), Healed: q.flag("healed"),
		BuildID: q.rowID("buildId"), Environment: q.environment(), Page: q.page()}
	f.From, f.To = q.dates()
	return f, q.err
}

// get serves GET /testcases/{id}/runs/{run}. Parameters: wait (seconds: the answer
// comes when the run has ended or the time is over), format (json, junit), jobsSkip,
// jobsLimit, jobsStatus (which jobs JSON has).
func (h runs) get(c *gin.Context) error {
	asked, err := readAsked(c)
	if err != nil {
		return err
	}
	q := queryOf(c)
	page := run.JobPage{Skip: q.number("jobsSkip", 0), Limit: min(q.number("jobsLimit", run.DefaultJobs), run.MaxJobPage),
		Status: oneOf(q, "jobsStatus", run.Statuses()...)}
	if q.err != nil {
		return q.err
	}
	if asked.junit {
		page = run.JobPage{Limit: run.DefaultJobs} // a report has all
	}
	id, err := caseID(c)
	if err != nil {
		return err
	}
	ctx := c.Request.Context()
	row, err := h.runWith(ctx, asked.organization, id, asked.run, page)
	if err != nil {
		return err
	}
	if asked.wait > 0 && !row.Status.Terminal() {
		if err := h.cfg.Watcher.Wait(ctx, asked.organization, asked.run, asked.wait); err != nil {
			return err
		}
		if row, err = h.runWith(ctx, asked.organization, id, asked.run, page); err != nil {
			return err
		}
	}
	if asked.junit {
		return h.report(c, row)
	}
	return h.showRun(c, row)
}

// runOf reads a run of a case with its first jobs.
func (h runs) runOf(ctx context.Context, organization int64, id string, runID uuid.UUID) (*run.Run, error) {
	return h.runWith(ctx, organization, id, runID, run.JobPage{Limit: run.DefaultJobs})
}

// runWith reads a run of a case, and tells a case that is not there from a run.
func (h runs) runWith(ctx context.Context, organization int64, id string, runID uuid.UUID, page run.JobPage) (*run.Run, error) {
	row, err := run.ByIDWith(ctx, h.cfg.DB, organization, id, runID, page)
	if errors.Is(err, storage.ErrNotFound) {
		if _, of := authoring.CaseByID(ctx, h.cfg.DB, organization, id); of != nil {
			return nil, problem(of, testCase)
		}
	}
	if err != nil {
		return nil, err
	}
	return row, readAttempts(ctx, h.cfg.DB, row)
}

// wholeRun reads a run with the attempts of its jobs.
func (h *room) wholeRun(ctx context.Context, q storage.Querier, organization int64, id string, runID uuid.UUID) (*run.Run, error) {
	row, err := run.ByID(ctx, q, organization, id, runID)
	if err != nil {
		return nil, err
	}
	return row, readAttempts(ctx, q, row)
}

func readAttempts(ctx context.Context, q storage.Querier, row *run.Run) error {
	jobs := make([]*run.Job, len(row.Jobs))
	for i := range jobs {
		jobs[i] = &row.Jobs[i]
	}
	return attempt.Read(ctx, q, jobs)
}

// asked is the run, or suite run, that a request reads, and how.
type asked struct {
	organization int64
	run          uuid.UUID
	wait         time.Duration
	junit        bool
}

func readAsked(c *gin.Context) (a asked, err error) {
	a.organization = auth.Organization(c)
	if a.run, err = uuidParam(c, "runId"); err != nil {
		return a, err
	}
	if a.wait, err = wait.For(c); err != nil {
		return a, invalidQuery(err)
	}
	a.junit, err = wantsJUnit(c)
	return a, err
}

// cancel serves POST /testcases/{id}/runs/{run}/cancel with the run, which has ended
// then; 409 when it had before.
func (h runs) cancel(c *gin.Context) error {
	id, err := caseID(c)
	if err != nil {
		return err
	}
	runID, err := uuidParam(c, "runId")
	if err != nil {
		return err
	}
	row, err := h.runOf(c.Request.Context(), auth.Organization(c), id, runID)
	if err != nil {
		return err
	}
	err = h.change(c, func(ctx context.Context, tx *storage.Tx, w account.Writer) error {
		jobs, err := run.Cancel(ctx, tx, w, id, runID)
		if err != nil {
			return err
		}
		if err := stop(ctx, tx, w.OrganizationID, jobs); err != nil {
			return err
		}
		row, err = h.wholeRun(ctx, tx, w.OrganizationID, id, runID)
		return err
	})
	if err != nil {
		return ended(err)
	}
	return h.showRun(c, row)
}

// ended says in words what a conflict is when a run is cancelled.
func ended(err error) error { return conflict(err, "the run has ended") }

// conflict gives a conflict of the store its text.
func conflict(err error, text string) error {
	if errors.Is(err, storage.ErrConflict) {
		return refused(http.StatusConflict, "CONFLICT", text)
	}
	return err
}
