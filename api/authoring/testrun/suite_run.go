package testrun

import (
	"context"
	"errors"
	"net/http"
	"slices"

	"github.com/gin-gonic/gin"
	"github.com/google/uuid"

	"github.com/slipway-qa/slipway/api/auth"
	"github.com/slipway-qa/slipway/api/authoring/answer"
	"github.com/slipway-qa/slipway/api/authoring/diagnosis"
	"github.com/slipway-qa/slipway/api/authoring/handler"
	"github.com/slipway-qa/slipway/api/authoring/problem"
	"github.com/slipway-qa/slipway/api/authoring/request"
	"github.com/slipway-qa/slipway/api/respond"
	"github.com/slipway-qa/slipway/api/route"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/authoring"
	"github.com/slipway-qa/slipway/storage/failure"
	"github.com/slipway-qa/slipway/storage/idempotency"
	"github.com/slipway-qa/slipway/storage/run"
	"github.com/slipway-qa/slipway/storage/run/attempt"
	"github.com/slipway-qa/slipway/storage/run/reading"
	"github.com/slipway-qa/slipway/storage/suiteplan"
	"github.com/slipway-qa/slipway/tasks"
)

// SuiteRuns are the handlers of the runs of test suites.
type SuiteRuns struct{ reader }

// NewSuiteRuns returns the handlers of the runs of test suites.
func NewSuiteRuns(r *handler.Base) SuiteRuns { return SuiteRuns{reader{r}} }

// Start serves POST /testsuites/{id}/run: every case of the suite that has a target
// and steps is run, by a task. Members: buildName, targets, testUrl, variables, buildId,
// environment, retries, trace, shard, maxDuration.
func (h SuiteRuns) Start(c *gin.Context) error {
	id, err := request.UUIDParam(c, "id")
	if err != nil {
		return err
	}
	var in suiteRunBody
	if err := h.Read(c, &in); err != nil {
		return err
	}
	ctx, w, key := c.Request.Context(), auth.Writer(c), c.GetHeader(route.IdempotencyKey)
	started, err := h.seen(ctx, w.OrganizationID, id, key)
	if err != nil {
		return err
	}
	if started == nil {
		if started, err = h.startNew(ctx, w, id, key, &in); err != nil {
			return err
		}
	}
	return answer.Data(c, http.StatusOK, ViewSuiteRun(started))
}

// startNew checks what the run is given and starts it.
func (h SuiteRuns) startNew(ctx context.Context, w account.Writer, id uuid.UUID, key string, in *suiteRunBody) (*run.SuiteRun, error) {
	n := run.NewSuiteRun{SuiteID: id, BuildName: request.Or(in.BuildName, ""), Vendor: h.Vendor, Key: key}
	t := handler.Targeting{Base: h.Base, Organization: w.OrganizationID}
	var err error
	if n.Shard, err = in.shard(); err != nil {
		return nil, err
	}
	if n.MaxDuration = in.MaxDuration; suiteplan.CheckDuration("maxDuration", n.MaxDuration) != nil {
		return nil, problem.Under("", suiteplan.CheckDuration("maxDuration", n.MaxDuration))
	}
	if n.Targets, err = targetsOfSuite(ctx, t, in); err != nil {
		return nil, err
	}
	recorded := func() ([]string, error) { return authoring.SuiteAddresses(ctx, h.DB, w.OrganizationID, id) }
	given, values, err := h.inputs(ctx, givenInputs{in.TestURL, in.Variables, in.BuildID, in.Retries, in.Trace}, recorded)
	if err != nil {
		return nil, err
	}
	n.Inputs = given
	env, err := h.environmentOf(ctx, w.OrganizationID, id, in)
	if err != nil {
		return nil, err
	}
	if err := t.CheckEnvironment(ctx, env); err != nil {
		return nil, err
	}
	if err := n.EnterEnvironment(h.SealKeys, env, values); err != nil {
		return nil, err
	}
	return h.write(ctx, w, n)
}

// write stores the suite run with its task; see runs.write.
func (h SuiteRuns) write(ctx context.Context, w account.Writer, n run.NewSuiteRun) (started *run.SuiteRun, err error) {
	n.RequestID = respond.RequestID(ctx)
	err = h.Count(ctx, w.OrganizationID, func(tx *storage.Tx) (runs int, err error) {
		if started, err = run.StartSuite(ctx, tx, w, n); err != nil {
			return 0, err
		}
		return started.RunCount, h.Queue.Insert(ctx, tx, tasks.NewSuiteRun(w.OrganizationID, n.RequestID, started.ID))
	})
	if errors.Is(err, idempotency.ErrSeen) {
		if started, err = h.seen(ctx, w.OrganizationID, n.SuiteID, n.Key); started == nil && err == nil {
			err = storage.ErrConflict
		}
		return started, err
	}
	if err != nil {
		return nil, err
	}
	return started, nil
}

func (h SuiteRuns) seen(ctx context.Context, organization int64, id uuid.UUID, key string) (*run.SuiteRun, error) {
	return seenBy(ctx, h.reader, organization, run.SuiteRunOperation(id), key, problem.SuiteRun, func(seen uuid.UUID) (*run.SuiteRun, error) {
		return reading.SuiteRunByID(ctx, h.DB, organization, id, seen)
	})
}

// List serves GET /testsuites/{id}/runs; parameters as runs.list.
func (h SuiteRuns) List(c *gin.Context) error {
	f, err := runFilter(c)
	if err != nil {
		return err
	}
	if f.SuiteID, err = request.UUIDParam(c, "id"); err != nil {
		return err
	}
	if _, err := authoring.SuiteByID(c.Request.Context(), h.DB, f.OrganizationID, f.SuiteID); err != nil {
		return err
	}
	rows, total, err := reading.SuiteRuns(c.Request.Context(), h.DB, f)
	if err != nil {
		return err
	}
	return answer.Data(c, http.StatusOK, answer.ListOf(rows, total, ViewSuiteRun))
}

// Get serves GET /testsuites/{id}/runs/{run}, with the case runs; parameters as
// runs.get.
func (h SuiteRuns) Get(c *gin.Context) error {
	asked, err := readAsked(c)
	if err != nil {
		return err
	}
	id, err := request.UUIDParam(c, "id")
	if err != nil {
		return err
	}
	ctx := c.Request.Context()
	row, err := h.runOf(ctx, asked.organization, id, asked.run)
	if err != nil {
		return err
	}
	if asked.wait > 0 && !row.Status.Terminal() {
		if err := h.Watcher.Wait(ctx, asked.organization, asked.run, asked.wait); err != nil {
			return err
		}
		if row, err = h.runOf(ctx, asked.organization, id, asked.run); err != nil {
			return err
		}
	}
	return h.show(c, row, asked.junit)
}

// runOf reads a run of a suite, and tells a suite that is not there from a run.
func (h SuiteRuns) runOf(ctx context.Context, organization int64, id, runID uuid.UUID) (*run.SuiteRun, error) {
	row, err := reading.SuiteRunByID(ctx, h.DB, organization, id, runID)
	if errors.Is(err, storage.ErrNotFound) {
		if _, of := authoring.SuiteByID(ctx, h.DB, organization, id); of != nil {
			return nil, problem.Coded(of, problem.TestSuite)
		}
	}
	return row, err
}

// maxDetailed bounds the jobs of a suite run that are shown with their files and,
// as far as reading.Records goes, their steps. Who has more failures and healings
// than that looks at the case runs one by one.
const maxDetailed = 100

// show writes a suite run with its case runs. Of the jobs, the first that failed, then the first
// that are flaky, and then those that were healed, have their attempts, steps and files.
func (h SuiteRuns) show(c *gin.Context, row *run.SuiteRun, junit bool) error {
	ctx := c.Request.Context()
	runs, err := reading.OfSuiteRun(ctx, h.DB, row.ID)
	if err != nil {
		return err
	}
	detailed := detailedJobs(runs)
	if err := reading.Records(ctx, h.DB, detailed); err != nil {
		return err
	}
	if err := attempt.Read(ctx, h.DB, detailed); err != nil {
		return err
	}
	if junit {
		return h.reports().WriteSuiteRun(c, row, runs)
	}
	view := ViewSuiteRun(row)
	if view.CaseRuns, err = h.viewCaseRuns(ctx, runs, detailed); err != nil {
		return err
	}
	groups, err := failure.Groups(ctx, h.DB, row.ID, diagnosis.MaxGroups, diagnosis.MaxCases)
	if err != nil {
		return err
	}
	view.FailureGroups = diagnosis.Groups(groups)
	return answer.Data(c, http.StatusOK, view)
}

// detailedJobs are the first jobs of runs that ended as FAILED or ERROR, then those that are FLAKY,
// and then those with a healed step.
func detailedJobs(runs []run.Run) []*run.Job {
	var failed, flaky, healed []*run.Job
	for i := range runs {
		for k := range runs[i].Jobs {
			switch job := &runs[i].Jobs[k]; {
			case job.Status == run.Failed, job.Status == run.Errored:
				failed = append(failed, job)
			case job.Status == run.Flaky:
				flaky = append(flaky, job)
			case job.Healed > 0:
				healed = append(healed, job)
			}
		}
	}
	jobs := slices.Concat(failed, flaky, healed)
	return jobs[:min(len(jobs), maxDetailed)]
}

// Cancel serves POST /testsuites/{id}/runs/{run}/cancel; see runs.cancel.
func (h SuiteRuns) Cancel(c *gin.Context) error {
	id, err := request.UUIDParam(c, "id")
	if err != nil {
		return err
	}
	runID, err := request.UUIDParam(c, "runId")
	if err != nil {
		return err
	}
	if _, err := h.runOf(c.Request.Context(), auth.Organization(c), id, runID); err != nil {
		return err
	}
	row, err := cancelled(h.reader, c, func(ctx context.Context, tx *storage.Tx, w account.Writer) ([]uuid.UUID, error) {
		return run.CancelSuite(ctx, tx, w, id, runID)
	}, func(ctx context.Context, tx *storage.Tx, w account.Writer) (*run.SuiteRun, error) {
		return reading.SuiteRunByID(ctx, tx, w.OrganizationID, id, runID)
	})
	if err != nil {
		return err
	}
	return answer.Data(c, http.StatusOK, ViewSuiteRun(row))
}
