package testrun

import (
	"fmt"
	"net/http"

	"github.com/gin-gonic/gin"
	"github.com/google/uuid"

	"github.com/slipway-qa/slipway/api/auth"
	"github.com/slipway-qa/slipway/api/authoring/junit"
	"github.com/slipway-qa/slipway/api/authoring/problem"
	"github.com/slipway-qa/slipway/api/authoring/request"
	"github.com/slipway-qa/slipway/api/respond"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/run"
	"github.com/slipway-qa/slipway/storage/run/reading"
	"github.com/slipway-qa/slipway/storage/step/capability"
)

const codeTraceNotFound = "TEST_CASE_RUN_TRACE_NOT_FOUND"

// Trace serves GET /testcases/{id}/runs/{run}/trace with a redirect to a signed link.
// Parameters: job (of the run; without it, the first job that has a trace), attempt (1 is the
// first; without it, the last), content (1: the zip itself).
func (h Runs) Trace(c *gin.Context) error {
	id, err := request.CaseID(c)
	if err != nil {
		return err
	}
	runID, err := request.UUIDParam(c, "runId")
	if err != nil {
		return err
	}
	q := request.QueryOf(c)
	job, number := q.UUID("job"), attemptNumber(q)
	if q.Err != nil {
		return q.Err
	}
	whole, err := contentWanted(c)
	if err != nil {
		return err
	}
	row, err := h.runWith(c.Request.Context(), auth.Organization(c), id, runID, reading.JobPage{Limit: reading.DefaultJobs, Job: job})
	if err != nil {
		return err
	}
	f, err := traceIn(row, job, number)
	if err != nil {
		return err
	}
	if whole {
		return h.content(c, f)
	}
	return h.redirect(c, f)
}

// attemptNumber reads the number of an attempt; 0 is the last one.
func attemptNumber(q *request.Query) int {
	number := q.Number("attempt", 0)
	if number > 1+capability.MaxRetries {
		q.Wrong(&storage.InvalidError{Field: "attempt", Msg: fmt.Sprintf("must be 1 to %d", 1+capability.MaxRetries)})
	}
	return number
}

// attemptFiles are the files of an attempt of a job.
func attemptFiles(j *run.Job, number int) []run.File {
	if number == 0 || number == j.Ended+1 {
		return j.Files
	}
	for i := range j.Earlier {
		if j.Earlier[i].Number == number {
			return j.Earlier[i].Files
		}
	}
	return nil
}

// traceIn returns the trace of an attempt of a job of a run, of the first job that has one
// without a job.
func traceIn(row *run.Run, job *uuid.UUID, number int) (*run.File, error) {
	known, going, again := false, false, false
	for i := range row.Jobs {
		j := &row.Jobs[i]
		if job != nil && *job != j.ID {
			continue
		}
		if f := junit.TraceOf(attemptFiles(j, number)); f != nil {
			return f, nil
		}
		known, going, again = true, going || !j.Status.Terminal(), again || j.Ended > 0
	}
	switch {
	case !known && job != nil:
		return nil, problem.InvalidQuery(&storage.InvalidError{Field: "job", Msg: "is no job of the run"})
	case going:
		return nil, problem.Refused(http.StatusNotFound, codeTraceNotFound, "the test still runs: its trace is there when it has ended")
	}
	if again {
		return nil, problem.Refused(http.StatusNotFound, codeTraceNotFound,
			"no trace of this attempt was kept: see attempt, and runSettings.trace")
	}
	return nil, problem.Refused(http.StatusNotFound, codeTraceNotFound, "no trace was kept: see runSettings.trace")
}

// redirect responds with the address of a file.
func (h reader) redirect(c *gin.Context, f *run.File) error {
	link, err := h.link(c.Request.Context(), f)
	if err != nil {
		return err
	}
	c.Header("Cache-Control", "no-store") // the link is a credential
	c.Header("Location", link)
	return respond.Empty(c, http.StatusFound)
}
