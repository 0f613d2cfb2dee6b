package authoring

import (
	"context"
	"errors"
	"net/http"

	"github.com/slipway-qa/slipway/storage/idempotency"
	"github.com/slipway-qa/slipway/storage/run"

	"github.com/gin-gonic/gin"
	"github.com/google/uuid"

	"github.com/slipway-qa/slipway/api/respond"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/authoring"
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
	var testRun *run.SuiteRun
	if err == nil {
		testRun, err = h.seenSuiteRun(c, id, key)
	}
	if err == nil && testRun == nil {
		testRun, err = h.startSuiteRun(c, run.NewSuiteRun{SuiteID: id, BuildName: in.BuildName, Key: key})
	}
	if err != nil {
		fail(c, err, testSuite)
		return
	}
	data(c, http.StatusOK, viewSuiteRun(testRun))
}

// startSuiteRun writes the suite run with its task; see startRun.
func (h *Handlers) startSuiteRun(c *gin.Context, n run.NewSuiteRun) (testRun *run.SuiteRun, err error) {
	err = h.change(c, func(ctx context.Context, tx *storage.Tx, w account.Writer) (err error) {
		n.RequestID = respond.RequestID(ctx)
		if testRun, err = run.StartSuiteRun(ctx, tx, w, n); err != nil {
			return err
		}
		return h.cfg.Queue.Insert(ctx, tx, tasks.NewSuiteRun(w.OrganizationID, n.RequestID, testRun.ID))
	})
	if errors.Is(err, idempotency.ErrSeen) {
		if testRun, err = h.seenSuiteRun(c, n.SuiteID, n.Key); testRun == nil && err == nil {
			err = storage.ErrConflict
		}
		return testRun, err
	}
	if err != nil {
		return nil, err
	}
	return testRun, nil
}

func (h *Handlers) seenSuiteRun(c *gin.Context, id uuid.UUID, key string) (*run.SuiteRun, error) {
	seen, err := h.seen(c, run.SuiteRunOperation(id), key)
	if err != nil || seen == uuid.Nil {
		return nil, err
	}
	testRun, err := run.SuiteRunByID(c.Request.Context(), h.cfg.DB, organization(c), id, seen)
	if errors.Is(err, storage.ErrNotFound) {
		err = problem(err, suiteRun)
	}
	return testRun, err
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
	var rows []run.SuiteRun
	var total int
	if err == nil {
		rows, total, err = run.SuiteRuns(c.Request.Context(), h.cfg.DB, f)
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
	var testRun *run.SuiteRun
	if err == nil {
		testRun, err = h.suiteRunOf(c, id, ask.run)
	}
	if err == nil && ask.wait > 0 && !testRun.Status.Terminal() {
		if err = h.cfg.Watcher.Wait(c.Request.Context(), organization(c), ask.run, ask.wait); err == nil {
			testRun, err = h.suiteRunOf(c, id, ask.run)
		}
	}
	if err != nil {
		fail(c, err, suiteRun)
		return
	}
	h.answerSuiteRun(c, testRun, ask.junit)
}

// suiteRunOf reads a run of a suite, and tells a suite that is not there from a
// run.
func (h *Handlers) suiteRunOf(c *gin.Context, id, testRun uuid.UUID) (*run.SuiteRun, error) {
	ctx := c.Request.Context()
	row, err := run.SuiteRunByID(ctx, h.cfg.DB, organization(c), id, testRun)
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
func (h *Handlers) answerSuiteRun(c *gin.Context, testRun *run.SuiteRun, junit bool) {
	ctx := c.Request.Context()
	runs, err := run.RunsOfSuiteRun(ctx, h.cfg.DB, testRun.ID)
	detailed := failedJobs(runs)
	if err == nil {
		err = run.ReadRecords(ctx, h.cfg.DB, detailed)
	}
	if err == nil && junit {
		h.answerReport(c, reportSuiteRun(testRun, runs))
		return
	}
	view := viewSuiteRun(testRun)
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
func failedJobs(runs []run.Run) []*run.Job {
	var jobs []*run.Job
	for i := range runs {
		for k := range runs[i].Jobs {
			job := &runs[i].Jobs[k]
			if job.Status != run.Failed && job.Status != run.Errored {
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
	var testRun *run.SuiteRun
	if err == nil {
		testRun, err = h.suiteRunOf(c, id, runID)
	}
	if err == nil {
		err = h.change(c, func(ctx context.Context, tx *storage.Tx, w account.Writer) error {
			jobs, err := run.CancelSuiteRun(ctx, tx, w, id, runID)
			if err == nil {
				err = stop(ctx, tx, w.OrganizationID, jobs)
			}
			if err == nil {
				testRun, err = run.SuiteRunByID(ctx, tx, w.OrganizationID, id, runID)
			}
			return err
		})
	}
	if err != nil {
		fail(c, ended(err), suiteRun)
		return
	}
	data(c, http.StatusOK, viewSuiteRun(testRun))
}
