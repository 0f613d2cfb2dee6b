package junit

import (
	"bytes"
	"context"
	"encoding/xml"
	"fmt"
	"net/http"
	"slices"

	"github.com/gin-gonic/gin"
	"github.com/google/uuid"

	"github.com/slipway-qa/slipway/api/authoring/datarow"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/run"
	"github.com/slipway-qa/slipway/storage/run/reading"
)

// Writer writes reports.
type Writer struct {
	DB *storage.DB
	// PublicURL begins the addresses of traces and pictures.
	PublicURL string
}

// reportStep jobs of a report are read by one statement.
const reportStep = 100

// WriteRun writes a run of a case as JUnit XML.
func (w Writer) WriteRun(c *gin.Context, r *run.Run) error {
	if len(r.Jobs) < r.JobCount {
		view := newReport(r.CaseName, r.BuildName, r.BuildID, r.Environment, r.CreatedAt, r.StartedAt, r.FinishedAt)
		return w.stream(c, view, r.CaseName, []run.Run{*r}, nil)
	}
	failing, err := datarow.ReadFailing(c.Request.Context(), w.DB, r)
	if err != nil {
		return err
	}
	return showReport(c, reportRun(r, &failing).withTraces(w.PublicURL))
}

// WriteSuiteRun writes a run of a suite with its case runs as JUnit XML.
func (w Writer) WriteSuiteRun(c *gin.Context, s *run.SuiteRun, runs []run.Run) error {
	if slices.ContainsFunc(runs, func(r run.Run) bool { return len(r.Jobs) < r.JobCount }) {
		return w.streamSuite(c, s, runs)
	}
	return showReport(c, reportSuiteRun(s, runs).withTraces(w.PublicURL))
}

// streamSuite writes a run of a suite, of whose case runs one at least has more jobs than
// were read.
func (w Writer) streamSuite(c *gin.Context, s *run.SuiteRun, runs []run.Run) error {
	var broken []reportCase
	if s.Error != "" {
		broken = append(broken, brokenSuite(s))
	}
	view := newReport(s.SuiteName, s.BuildName, s.BuildID, s.Environment, s.CreatedAt, s.StartedAt, s.FinishedAt)
	return w.stream(c, view, s.SuiteName, runs, broken)
}

// stream writes runs of many jobs as JUnit XML, as the jobs are read: 50,000 need no more
// memory than 100. The states of all are read before, for the sums at the top; a job that
// goes on meanwhile is reported as it was then. Jobs that failed, or were healed, have their
// steps. last are testcases behind all others.
func (w Writer) stream(c *gin.Context, view *reportView, class string, runs []run.Run, last []reportCase) error {
	ctx := c.Request.Context()
	states, err := w.sumRuns(ctx, view, runs)
	if err != nil {
		return err
	}
	for _, one := range last {
		view.sum(one)
	}
	top, bottom, err := view.frame()
	if err != nil {
		return err
	}
	c.Header("X-Content-Type-Options", "nosniff")
	c.Header("Content-Type", "application/xml; charset=utf-8")
	c.Status(http.StatusOK)
	if _, err := c.Writer.Write(top); err != nil {
		return err
	}
	enc := xml.NewEncoder(c.Writer)
	enc.Indent("  ", " ")
	for i := range runs {
		if err := w.streamJobs(ctx, enc, class, &runs[i], states[runs[i].ID]); err != nil {
			return err
		}
	}
	for _, one := range last {
		if err := encodeCase(enc, one); err != nil {
			return err
		}
	}
	_, err = c.Writer.Write(bottom)
	return err
}

// sumRuns adds the jobs of runs to the sums of a report, and returns their states by their
// positions.
func (w Writer) sumRuns(ctx context.Context, view *reportView, runs []run.Run) (map[uuid.UUID][]run.Status, error) {
	ids := make([]uuid.UUID, len(runs))
	for i := range runs {
		ids[i] = runs[i].ID
	}
	all, err := reading.EachJobOf(ctx, w.DB, ids)
	if err != nil {
		return nil, err
	}
	states := make(map[uuid.UUID][]run.Status, len(runs))
	for _, of := range all {
		states[of.RunID] = append(states[of.RunID], of.Status)
		job := run.Job{Status: of.Status, Healed: of.Healed, Drifted: of.Drifted, Unreviewed: of.Unreviewed}
		view.addMarks(&job)
		view.sum(reportJob(&run.Run{}, &job, "", nil))
	}
	return states, nil
}

// frame returns the report without testcases, in two parts.
func (v *reportView) frame() (top, bottom []byte, err error) {
	text, err := encodeReport(v)
	if err != nil {
		return nil, nil, err
	}
	at := bytes.LastIndex(text, []byte("</testsuite>"))
	return bytes.TrimRight(text[:at], " \n"), append([]byte("\n "), text[at:]...), nil
}

// streamJobs writes the jobs of a run that there were when their states were read.
func (w Writer) streamJobs(ctx context.Context, enc *xml.Encoder, class string, r *run.Run, states []run.Status) error {
	for from := 0; from < len(states); {
		jobs, err := reading.JobsFrom(ctx, w.DB, r.ID, from, min(reportStep, len(states)-from), failedOrHealed)
		if err != nil || len(jobs) == 0 { // none: the run was deleted meanwhile
			return err
		}
		part := *r
		part.Jobs = jobs
		failing, err := datarow.ReadFailing(ctx, w.DB, &part)
		if err != nil {
			return err
		}
		for i := range jobs {
			jobs[i].Status = states[from+i]
			one := reportJob(r, &jobs[i], class, &failing)
			one.nameTraces(w.PublicURL)
			if err := encodeCase(enc, one); err != nil {
				return err
			}
		}
		from += len(jobs)
	}
	return nil
}

func failedOrHealed(j *run.Job) bool {
	return j.Status == run.Failed || j.Status == run.Errored || j.Healed > 0
}

func encodeCase(enc *xml.Encoder, one reportCase) error {
	if err := enc.EncodeElement(one, xml.StartElement{Name: xml.Name{Local: "testcase"}}); err != nil {
		return fmt.Errorf("write JUnit report: %w", err)
	}
	return nil
}
