package authoring

import (
	"context"
	"errors"
	"net/http"

	"github.com/gin-gonic/gin"
	"github.com/google/uuid"

	"github.com/slipway-qa/slipway/api/respond"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/authoring"
	"github.com/slipway-qa/slipway/storage/ledger"
	"github.com/slipway-qa/slipway/tasks"
)

// RunSuite answers POST /testsuites/{id}/run: every case of the suite that has a
// target and steps is run, by a task. Member: buildName.
func (h *Handlers) RunSuite(c *gin.Context) {
	id, err := uuidParam(c, "id")
	var in struct {
		BuildName string `json:"buildName"`
	}
	if err == nil {
		err = read(c, &in)
	}
	key := c.GetHeader(idempotencyHeader)
	var run *authoring.SuiteRun
	if err == nil {
		run, err = h.seenSuiteRun(c, id, key)
	}
	if err == nil && run == nil {
		run, err = h.startSuiteRun(c, authoring.NewSuiteRun{SuiteID: id, BuildName: in.BuildName, Key: key})
	}
	if err != nil {
		fail(c, err, testSuite)
		return
	}
	data(c, http.StatusOK, viewSuiteRun(run))
}

// startSuiteRun writes the suite run with its task; see startRun.
func (h *Handlers) startSuiteRun(c *gin.Context, n authoring.NewSuiteRun) (run *authoring.SuiteRun, err error) {
	var job *ledger.NewTask
	err = h.change(c, func(ctx context.Context, tx *storage.Tx, w account.Writer) (err error) {
		n.RequestID = respond.RequestID(ctx)
		if run, err = authoring.StartSuiteRun(ctx, tx, w, n); err != nil {
			return err
		}
		job = tasks.NewSuiteRun(w.OrganizationID, n.RequestID, run.ID)
		return h.insert(ctx, tx, job)
	})
	if errors.Is(err, authoring.ErrSeen) {
		if run, err = h.seenSuiteRun(c, n.SuiteID, n.Key); run == nil && err == nil {
			err = storage.ErrConflict
		}
		return run, err
	}
	if err != nil {
		return nil, err
	}
	h.hand(job)
	return run, nil
}

func (h *Handlers) seenSuiteRun(c *gin.Context, id uuid.UUID, key string) (*authoring.SuiteRun, error) {
	seen, err := h.seen(c, authoring.SuiteRunOperation(id), key)
	if err != nil || seen == uuid.Nil {
		return nil, err
	}
	run, err := authoring.SuiteRunByID(c.Request.Context(), h.cfg.DB, organization(c), id, seen)
	if errors.Is(err, storage.ErrNotFound) {
		err = problem(err, suiteRun)
	}
	return run, err
}

// SuiteRuns answers GET /testsuites/{id}/runs; parameters as Runs.
func (h *Handlers) SuiteRuns(c *gin.Context) {
	f, err := runFilter(c)
	if err == nil {
		f.SuiteID, err = uuidParam(c, "id")
	}
	if err == nil {
		_, err = authoring.SuiteByID(c.Request.Context(), h.cfg.DB, organization(c), f.SuiteID)
	}
	var rows []authoring.SuiteRun
	var total int
	if err == nil {
		rows, total, err = authoring.SuiteRuns(c.Request.Context(), h.cfg.DB, f)
	}
	if err != nil {
		fail(c, err, testSuite)
		return
	}
	data(c, http.StatusOK, listOf(rows, total, viewSuiteRun))
}

// SuiteRun answers GET /testsuites/{id}/runs/{run}, with the case runs; parameters
// as Run.
func (h *Handlers) SuiteRun(c *gin.Context) {
	ask, err := readAsk(c)
	var id uuid.UUID
	if err == nil {
		id, err = uuidParam(c, "id")
	}
	var run *authoring.SuiteRun
	if err == nil {
		run, err = h.suiteRunOf(c, id, ask.run)
	}
	if err == nil && ask.wait > 0 && !run.Status.Terminal() {
		if err = h.cfg.Watcher.Wait(c.Request.Context(), organization(c), ask.run, ask.wait); err == nil {
			run, err = h.suiteRunOf(c, id, ask.run)
		}
	}
	if err != nil {
		fail(c, err, suiteRun)
		return
	}
	h.answerSuiteRun(c, run, ask.junit)
}

// suiteRunOf reads a run of a suite, and tells a suite that is not there from a
// run.
func (h *Handlers) suiteRunOf(c *gin.Context, id, run uuid.UUID) (*authoring.SuiteRun, error) {
	ctx := c.Request.Context()
	row, err := authoring.SuiteRunByID(ctx, h.cfg.DB, organization(c), id, run)
	if errors.Is(err, storage.ErrNotFound) {
		if _, of := authoring.SuiteByID(ctx, h.cfg.DB, organization(c), id); of != nil {
			err = problem(of, testSuite)
		}
	}
	return row, err
}

// maxDetailed bounds the jobs of a suite run that are answered with their files and,
// as far as authoring.ReadRecords goes, their steps. Who has more failures than that
// looks at the case runs one by one.
const maxDetailed = 100

// answerSuiteRun answers a suite run with its case runs. Of the jobs, the first
// that failed have their steps and files.
func (h *Handlers) answerSuiteRun(c *gin.Context, run *authoring.SuiteRun, junit bool) {
	ctx := c.Request.Context()
	runs, err := authoring.RunsOfSuiteRun(ctx, h.cfg.DB, run.ID)
	detailed := failedJobs(runs)
	if err == nil {
		err = authoring.ReadRecords(ctx, h.cfg.DB, detailed)
	}
	if err == nil && junit {
		h.answerReport(c, reportSuiteRun(run, runs))
		return
	}
	view := viewSuiteRun(run)
	if err == nil {
		view.CaseRuns, err = h.viewCaseRuns(ctx, runs, detailed)
	}
	if err != nil {
		fail(c, err, suiteRun)
		return
	}
	data(c, http.StatusOK, view)
}

// failedJobs are the first jobs of runs that ended as FAILED or ERROR.
func failedJobs(runs []authoring.Run) []*authoring.Job {
	var jobs []*authoring.Job
	for i := range runs {
		for k := range runs[i].Jobs {
			job := &runs[i].Jobs[k]
			if job.Status != authoring.Failed && job.Status != authoring.Errored {
				continue
			}
			if jobs = append(jobs, job); len(jobs) == maxDetailed {
				return jobs
			}
		}
	}
	return jobs
}

// CancelSuiteRun answers POST /testsuites/{id}/runs/{run}/cancel; see CancelRun.
func (h *Handlers) CancelSuiteRun(c *gin.Context) {
	id, err := uuidParam(c, "id")
	var runID uuid.UUID
	if err == nil {
		runID, err = uuidParam(c, "runId")
	}
	var run *authoring.SuiteRun
	if err == nil {
		run, err = h.suiteRunOf(c, id, runID)
	}
	if err == nil {
		err = h.change(c, func(ctx context.Context, tx *storage.Tx, w account.Writer) error {
			jobs, err := authoring.CancelSuiteRun(ctx, tx, w, id, runID)
			if err == nil {
				err = stop(ctx, tx, w.OrganizationID, jobs)
			}
			if err == nil {
				run, err = authoring.SuiteRunByID(ctx, tx, w.OrganizationID, id, runID)
			}
			return err
		})
	}
	if err != nil {
		fail(c, ended(err), suiteRun)
		return
	}
	data(c, http.StatusOK, viewSuiteRun(run))
}
