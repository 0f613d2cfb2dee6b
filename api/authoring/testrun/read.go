package testrun

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/google/uuid"

	"github.com/slipway-qa/slipway/api/auth"
	"github.com/slipway-qa/slipway/api/authoring/answer"
	"github.com/slipway-qa/slipway/api/authoring/handler"
	"github.com/slipway-qa/slipway/api/authoring/junit"
	"github.com/slipway-qa/slipway/api/authoring/problem"
	"github.com/slipway-qa/slipway/api/authoring/request"
	"github.com/slipway-qa/slipway/api/wait"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/authoring"
	"github.com/slipway-qa/slipway/storage/environment"
	"github.com/slipway-qa/slipway/storage/run"
	"github.com/slipway-qa/slipway/storage/run/attempt"
	"github.com/slipway-qa/slipway/storage/run/reading"
)

// List serves GET /testcases/{id}/runs, newest first. Parameters: startDate, endDate
// (creation), userId (who started it), teamId, healed (true, false: whether any step was),
// buildId (that was tested), environment (its name), skip, limit.
func (h Runs) List(c *gin.Context) error {
	f, err := runFilter(c)
	if err != nil {
		return err
	}
	row, err := h.CaseOf(c)
	if err != nil {
		return err
	}
	f.CaseID = row.ID
	rows, total, err := reading.List(c.Request.Context(), h.DB, f)
	if err != nil {
		return err
	}
	return answer.Data(c, http.StatusOK, answer.ListOf(rows, total, viewRun))
}

// runFilter reads the parameters that both lists of runs have.
func runFilter(c *gin.Context) (reading.Filter, error) {
	q := request.QueryOf(c)
	f := reading.Filter{OrganizationID: auth.Organization(c), User: q.UUID("userId"), Team: q.UUID("teamId"), Healed: q.Flag("healed"),
		BuildID: q.RowID("buildId"), Environment: environmentNamed(q), Page: q.Page()}
	f.From, f.To = q.Dates()
	return f, q.Err
}

// Get serves GET /testcases/{id}/runs/{run}. Parameters: wait (seconds: the answer
// comes when the run has ended or the time is over), format (json, junit), jobsSkip,
// jobsLimit, jobsStatus (which jobs JSON has).
func (h Runs) Get(c *gin.Context) error {
	asked, err := readAsked(c)
	if err != nil {
		return err
	}
	q := request.QueryOf(c)
	page := reading.JobPage{Skip: q.Number("jobsSkip", 0), Limit: min(q.Number("jobsLimit", reading.DefaultJobs), reading.MaxJobPage),
		Status: request.OneOf(q, "jobsStatus", run.Statuses()...)}
	if q.Err != nil {
		return q.Err
	}
	if asked.junit {
		page = reading.JobPage{Limit: reading.DefaultJobs} // a report has all
	}
	id, err := request.CaseID(c)
	if err != nil {
		return err
	}
	ctx := c.Request.Context()
	row, err := h.runWith(ctx, asked.organization, id, asked.run, page)
	if err != nil {
		return err
	}
	if asked.wait > 0 && !row.Status.Terminal() {
		if err := h.Watcher.Wait(ctx, asked.organization, asked.run, asked.wait); err != nil {
			return err
		}
		if row, err = h.runWith(ctx, asked.organization, id, asked.run, page); err != nil {
			return err
		}
	}
	if asked.junit {
		return h.reports().WriteRun(c, row)
	}
	return h.showRun(c, row)
}

// runOf reads a run of a case with its first jobs.
func (h Runs) runOf(ctx context.Context, organization int64, id string, runID uuid.UUID) (*run.Run, error) {
	return h.runWith(ctx, organization, id, runID, reading.JobPage{Limit: reading.DefaultJobs})
}

// runWith reads a run of a case, and tells a case that is not there from a run.
func (h Runs) runWith(ctx context.Context, organization int64, id string, runID uuid.UUID, page reading.JobPage) (*run.Run, error) {
	row, err := reading.ByIDWith(ctx, h.DB, organization, id, runID, page)
	if errors.Is(err, storage.ErrNotFound) {
		if _, of := authoring.CaseByID(ctx, h.DB, organization, id); of != nil {
			return nil, problem.Coded(of, problem.TestCase)
		}
	}
	if err != nil {
		return nil, err
	}
	return row, readAttempts(ctx, h.DB, row)
}

// wholeRun reads a run with the attempts of its jobs.
func (h reader) wholeRun(ctx context.Context, q storage.Querier, organization int64, id string, runID uuid.UUID) (*run.Run, error) {
	row, err := reading.ByID(ctx, q, organization, id, runID)
	if err != nil {
		return nil, err
	}
	return row, readAttempts(ctx, q, row)
}

// readAttempts reads the attempts of the jobs of a run.
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
	if a.run, err = request.UUIDParam(c, "runId"); err != nil {
		return a, err
	}
	if a.wait, err = wait.For(c); err != nil {
		return a, problem.InvalidQuery(err)
	}
	a.junit, err = wantsJUnit(c)
	return a, err
}

// Cancel serves POST /testcases/{id}/runs/{run}/cancel with the run, which has ended
// then; 409 when it had before.
func (h Runs) Cancel(c *gin.Context) error {
	id, err := request.CaseID(c)
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
		return run.Cancel(ctx, tx, w, id, runID)
	}, func(ctx context.Context, tx *storage.Tx, w account.Writer) (*run.Run, error) {
		return h.wholeRun(ctx, tx, w.OrganizationID, id, runID)
	})
	if err != nil {
		return err
	}
	return h.showRun(c, row)
}

// cancelled cancels a run, stops the tasks of its jobs and reads it as it is then, in one
// transaction. A run that had ended before is a conflict.
func cancelled[R any](h reader, c *gin.Context, cancel func(ctx context.Context, tx *storage.Tx, w account.Writer) ([]uuid.UUID, error),
	read func(ctx context.Context, tx *storage.Tx, w account.Writer) (*R, error)) (*R, error) {
	row, err := handler.Changed(h.Base, c, func(ctx context.Context, tx *storage.Tx, w account.Writer) (*R, error) {
		jobs, err := cancel(ctx, tx, w)
		if err != nil {
			return nil, err
		}
		if err := handler.Stop(ctx, tx, w.OrganizationID, jobs); err != nil {
			return nil, err
		}
		return read(ctx, tx, w)
	})
	return row, problem.Conflict(err, "the run has ended")
}

// environmentNamed reads a filter by the name of an environment; "" when absent.
func environmentNamed(q *request.Query) string {
	name := strings.TrimSpace(q.Values.Get("environment"))
	if name != "" && !environment.IsName(name) {
		q.Wrong(&storage.InvalidError{Field: "environment", Msg: "must have 1 to 60 lower-case letters, digits and hyphens"})
	}
	return name
}

// wantsJUnit reads the parameter format, else the header Accept: the first type of
// it that is served decides. A browser, which asks for HTML first and for XML
// somewhere behind it, is shown JSON.
func wantsJUnit(c *gin.Context) (bool, error) {
	switch c.Query("format") {
	case "junit":
		return true, nil
	case "json":
		return false, nil
	case "":
	default:
		return false, problem.InvalidQuery(&storage.InvalidError{Field: "format", Msg: "must be junit or json"})
	}
	for _, part := range strings.Split(strings.Join(c.Request.Header.Values("Accept"), ","), ",") {
		kind, _, _ := strings.Cut(part, ";")
		switch strings.ToLower(strings.TrimSpace(kind)) {
		case "application/xml", "text/xml":
			return true, nil
		case gin.MIMEJSON, gin.MIMEHTML, "application/*", "*/*":
			return false, nil
		}
	}
	return false, nil
}

// reports writes runs as JUnit XML.
func (h reader) reports() junit.Writer {
	return junit.Writer{DB: h.DB, PublicURL: h.PublicURL}
}
