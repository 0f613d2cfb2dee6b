package baseline

import (
	"context"
	"net/http"
	"slices"

	"github.com/gin-gonic/gin"
	"github.com/google/uuid"

	"github.com/slipway-qa/slipway/api/body"
	"github.com/slipway-qa/slipway/api/respond"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/baseline"
	"github.com/slipway-qa/slipway/storage/step"
)

// findingView is a finding that was accepted.
type findingView struct {
	Key          string    `json:"key"`
	StepID       string    `json:"stepId"`
	Rule         string    `json:"rule"`
	Impact       string    `json:"impact"`
	Element      string    `json:"element"`
	RunID        uuid.UUID `json:"runId"`
	UserID       uuid.UUID `json:"userId"`
	AcceptedDate string    `json:"acceptedDate"`
}

func viewFinding(f *baseline.Finding) findingView {
	return findingView{Key: f.Key, StepID: f.StepID, Rule: f.Rule, Impact: f.Impact, Element: f.Element, RunID: f.RunID, UserID: f.Accepter,
		AcceptedDate: stamp(f.AcceptedAt)}
}

// findings serves GET /testcases/{id}/accessibility: what was accepted, the newest first.
// Parameters: skip, limit.
func (h *Handlers) findings(c *gin.Context) error {
	rows, err := page(c.Request.URL.Query())
	if err != nil {
		return err
	}
	caseID, err := h.caseOf(c)
	if err != nil {
		return err
	}
	list, total, err := baseline.Findings(c.Request.Context(), h.cfg.DB, caseID, rows)
	if err != nil {
		return err
	}
	views := make([]findingView, 0, len(list))
	for i := range list {
		views = append(views, viewFinding(&list[i]))
	}
	return data(c, gin.H{"items": views, "total": total})
}

// acceptBody are the findings of a step that are accepted; without findings, all that failed it.
type acceptBody struct {
	RunID    string   `json:"runId"`
	StepID   string   `json:"stepId"`
	Findings []string `json:"findings"`
}

// acceptedView counts the findings that were named, and those of them that were not accepted
// before.
type acceptedView struct {
	Findings int `json:"findings"`
	Accepted int `json:"accepted"`
}

// acceptFindings serves POST /testcases/{id}/accessibility/accept.
func (h *Handlers) acceptFindings(c *gin.Context) error {
	var in acceptBody
	if err := body.Read(c, &in, body.Refuse); err != nil {
		return err
	}
	runID, err := uuid.Parse(in.RunID)
	if err != nil {
		return storage.Invalid("runId", "must be a UUID")
	}
	caseID, err := h.caseOf(c)
	if err != nil {
		return err
	}
	if _, err := h.readRun(c, caseID, runID); err != nil {
		return err
	}
	list, err := h.chosen(c, runID, &in)
	if err != nil {
		return err
	}
	view := acceptedView{Findings: len(list)}
	err = h.change(c, func(ctx context.Context, tx *storage.Tx, w account.Writer) (err error) {
		view.Accepted, err = baseline.AcceptFindings(ctx, tx, w, caseID, runID, in.StepID, list)
		return err
	})
	if err != nil {
		return err
	}
	return data(c, view)
}

// maxNamed bounds the findings that a body names: a step keeps no more of a job.
const maxNamed = 100

// chosen returns the findings of a run's step that a body names, of all its jobs.
func (h *Handlers) chosen(c *gin.Context, runID uuid.UUID, in *acceptBody) ([]step.Finding, error) {
	if len(in.Findings) > maxNamed {
		return nil, storage.Invalid("findings", "must be at most %d", maxNamed)
	}
	list, checked, err := baseline.FindingsOfStep(c.Request.Context(), h.cfg.DB, runID, in.StepID, in.Findings)
	if err != nil {
		return nil, err
	}
	if !checked {
		return nil, storage.Invalid("stepId", "names no step of the run that checked accessibility")
	}
	for _, key := range in.Findings {
		if !slices.ContainsFunc(list, func(f step.Finding) bool { return f.Key == key }) {
			return nil, storage.Invalid("findings", "%.64q is no finding of the step", key)
		}
	}
	return list, nil
}

// removeFinding serves DELETE /testcases/{id}/accessibility/{key}.
func (h *Handlers) removeFinding(c *gin.Context) error {
	caseID, err := h.caseOf(c)
	if err != nil {
		return err
	}
	err = h.change(c, func(ctx context.Context, tx *storage.Tx, w account.Writer) error {
		return notFound(baseline.RemoveFinding(ctx, tx, w, caseID, c.Param("key")), codeFinding, "the test case has no such accepted finding")
	})
	if err != nil {
		return err
	}
	return respond.Empty(c, http.StatusNoContent)
}
