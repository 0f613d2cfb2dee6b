package testrun

import (
	"net/http"

	"github.com/gin-gonic/gin"
	"github.com/google/uuid"

	"github.com/slipway-qa/slipway/api/auth"
	"github.com/slipway-qa/slipway/api/authoring/answer"
	"github.com/slipway-qa/slipway/api/authoring/request"
	"github.com/slipway-qa/slipway/api/authoring/settings"
	"github.com/slipway-qa/slipway/storage/run"
	"github.com/slipway-qa/slipway/storage/run/reading"
	"github.com/slipway-qa/slipway/storage/step/playback"
)

// maxCompared bounds the jobs of a run that are compared, as their records are long.
const maxCompared = 10

// comparedView is a job that has not passed, beside the last one that had, of the same case
// on the same target.
type comparedView struct {
	JobID  uuid.UUID           `json:"jobId"`
	Target settings.TargetView `json:"target"`
	Good   *goodView           `json:"good"`  // null: there is none among the runs that were looked at
	Steps  []stepsBeside       `json:"steps"` // empty without one, and where they are too long for one answer
}

// goodView is the job that had passed.
type goodView struct {
	RunID        uuid.UUID `json:"runId"`
	JobID        uuid.UUID `json:"jobId"`
	Build        string    `json:"build"`
	RevisionID   string    `json:"revisionId"`
	CreationDate string    `json:"creationDate"`
	SameSteps    bool      `json:"sameSteps"` // of the same revision
}

// stepsBeside is a step in both runs; null where it was in one alone.
type stepsBeside struct {
	Differs []string    `json:"differs"` // presence, status, message, duration
	Then    *recordView `json:"then"`
	Now     *recordView `json:"now"`
}

// Comparison serves GET /testcases/{id}/runs/{run}/comparison.
func (h Runs) Comparison(c *gin.Context) error {
	id, err := request.CaseID(c)
	if err != nil {
		return err
	}
	runID, err := request.UUIDParam(c, "runId")
	if err != nil {
		return err
	}
	ctx, organization := c.Request.Context(), auth.Organization(c)
	row, err := h.runOf(ctx, organization, id, runID)
	if err != nil {
		return err
	}
	good, err := reading.GoodBefore(ctx, h.DB, organization, row)
	if err != nil {
		return err
	}
	var failed []*run.Job
	var ids []uuid.UUID
	for i := range row.Jobs {
		job := &row.Jobs[i]
		if job.Status != run.Failed && job.Status != run.Errored || len(failed) == maxCompared {
			continue
		}
		failed = append(failed, job)
		if before, ok := good[job.ID]; ok {
			ids = append(ids, before.ID)
		}
	}
	passed, err := reading.Jobs(ctx, h.DB, organization, ids)
	if err != nil {
		return err
	}
	view := answer.List[comparedView]{Items: make([]comparedView, 0, len(failed)), Total: len(failed)}
	for _, job := range failed {
		one := comparedView{JobID: job.ID, Target: settings.ViewTarget(&job.Target), Steps: []stepsBeside{}}
		before, ok := good[job.ID]
		if ok {
			one.Good = &goodView{RunID: before.RunID, JobID: before.ID, Build: before.BuildName, RevisionID: before.RevisionID,
				CreationDate: answer.Stamp(before.CreatedAt), SameSteps: before.RevisionID == row.RevisionID}
		}
		if then := passed[before.ID]; ok && then != nil && then.Records != nil && job.Records != nil {
			one.Steps = h.beside(then.Records, job.Records)
		}
		view.Items = append(view.Items, one)
	}
	return answer.Data(c, http.StatusOK, view)
}

func (h reader) beside(then, now []playback.Record) []stepsBeside {
	list := []stepsBeside{}
	for _, pair := range reading.PairSteps(then, now) {
		list = append(list, stepsBeside{Differs: pair.Differences(), Then: h.viewRecord(pair.Then), Now: h.viewRecord(pair.Now)})
	}
	return list
}

// viewRecord is a record whose picture is named by its address here.
func (h reader) viewRecord(r *playback.Record) *recordView {
	if r == nil {
		return nil
	}
	return &recordView{ID: r.StepID, Tool: r.Tool, Status: r.Status, Result: r.Result, Healed: r.Healed, Suggested: r.Suggested,
		Drifted: r.Drifted, Findings: h.viewFindings(r.Findings), Look: r.Look, HealingID: r.HealingID, StartMS: r.StartMS, TookMS: r.TookMS,
		Failure: r.Failure, Iterations: r.Iterations, ScreenshotURL: h.FileURL(r.ScreenshotID)}
}
