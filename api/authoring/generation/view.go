package generation

import (
	"encoding/json"
	"net/http"

	"github.com/gin-gonic/gin"
	"github.com/google/uuid"

	"github.com/slipway-qa/slipway/api/authoring/answer"
	"github.com/slipway-qa/slipway/api/authoring/handler"
	"github.com/slipway-qa/slipway/storage/authoring"
	"github.com/slipway-qa/slipway/storage/generation"
)

// generationView is the status of a generation. A failed one shows what it captured.
type generationView struct {
	Status     generation.State `json:"status"`
	TestCaseID string           `json:"testCaseId,omitempty"` // COMPLETED
	RevisionID string           `json:"revisionId,omitempty"` // COMPLETED
	// DraftTestCaseID is the case of the steps that worked, where the request asked for it; FAILED.
	DraftTestCaseID string     `json:"draftTestCaseId,omitempty"`
	Error           *unwritten `json:"error,omitempty"` // FAILED
	*capturedView
	*generationDetail
}

// unwritten says why a test was not written, in words and codes that no job has.
type unwritten struct {
	Code   string `json:"code"`
	Detail string `json:"detail"`
}

// capturedView is what there is of the test. Files are also those of no step, such as the
// screenshot of a first page that was not reached.
type capturedView struct {
	Steps            []handler.StepView   `json:"steps"`
	Reasoning        []authoring.Reason   `json:"reasoning"`
	DiscoveredIntent string               `json:"discoveredIntent"`
	Description      string               `json:"description"`
	Files            []generationFileView `json:"files"`
}

// generationDetail is what is shown besides on request.
type generationDetail struct {
	Name         string          `json:"name"`
	CreationDate string          `json:"creationDate"`
	Deadline     string          `json:"deadline"`
	StartDate    string          `json:"startDate,omitempty"`
	EndDate      string          `json:"endDate,omitempty"`
	Changes      json.RawMessage `json:"changes,omitempty"` // of a refinement: steps by id
	Model        json.RawMessage `json:"model,omitempty"`   // what a model was sent and what it cost
	Findings     json.RawMessage `json:"findings,omitempty"`
}

// generationFileView is a file that was captured while the test was written.
type generationFileView struct {
	ID          uuid.UUID `json:"id"`
	Kind        string    `json:"kind"`
	Step        int       `json:"step"`
	ContentType string    `json:"contentType"`
	Size        int64     `json:"size"`
	URL         string    `json:"url"`
}

// listedGeneration is a generation of a list.
type listedGeneration struct {
	TaskID         uuid.UUID        `json:"taskId"`
	Status         generation.State `json:"status"`
	Name           string           `json:"name"`
	Intent         string           `json:"intent"`                   // its first 1,000 characters
	TestCaseID     string           `json:"testCaseId,omitempty"`     // COMPLETED
	BaseTestCaseID string           `json:"baseTestCaseId,omitempty"` // of a refinement
	Error          *unwritten       `json:"error,omitempty"`          // FAILED
	CreationDate   string           `json:"creationDate"`
	StartDate      string           `json:"startDate,omitempty"`
	EndDate        string           `json:"endDate,omitempty"`
}

func viewListed(g *generation.Listed) listedGeneration {
	view := listedGeneration{TaskID: g.ID, Status: g.State, Name: g.Name, Intent: g.Intent, TestCaseID: g.CaseID, BaseTestCaseID: g.BaseCaseID,
		CreationDate: answer.Stamp(g.AcceptedAt), StartDate: answer.StampOnce(g.StartedAt), EndDate: answer.StampOnce(g.FinishedAt)}
	if g.State == generation.Failed {
		view.Error = &unwritten{Code: g.ErrorCode, Detail: g.Error}
	}
	return view
}

// show writes the status of a generation.
func (h Generations) show(c *gin.Context, g *generation.Generation, detailed bool) error {
	view := generationView{Status: g.State, TestCaseID: g.CaseID, RevisionID: g.RevisionID, DraftTestCaseID: g.DraftCaseID}
	if g.State == generation.Failed {
		view.Error = &unwritten{Code: g.ErrorCode, Detail: g.Error}
	}
	if !detailed && g.State != generation.Failed {
		return answer.Data(c, http.StatusOK, view)
	}
	captured, err := generation.CapturedOf(c.Request.Context(), h.DB, g.ID)
	if err != nil {
		return err
	}
	view.capturedView = h.viewCaptured(captured)
	if detailed {
		view.generationDetail = h.viewGeneration(g, captured)
	}
	return answer.Data(c, http.StatusOK, view)
}

func (h Generations) viewCaptured(of *generation.Captured) *capturedView {
	view := &capturedView{Steps: make([]handler.StepView, 0, len(of.Steps)), Reasoning: of.Reasoning, DiscoveredIntent: of.DiscoveredIntent,
		Description: of.Description, Files: make([]generationFileView, 0, len(of.Files))}
	for i := range of.Steps {
		view.Steps = append(view.Steps, h.ViewStep(&of.Steps[i]))
	}
	if view.Reasoning == nil {
		view.Reasoning = []authoring.Reason{}
	}
	for _, f := range of.Files {
		view.Files = append(view.Files, generationFileView{ID: f.ID, Kind: f.Kind, Step: f.Step, ContentType: f.ContentType, Size: f.Size,
			URL: h.FileURL(f.ID.String())})
	}
	return view
}

func (h Generations) viewGeneration(g *generation.Generation, of *generation.Captured) *generationDetail {
	return &generationDetail{Name: g.Name, CreationDate: answer.Stamp(g.AcceptedAt), Deadline: answer.Stamp(g.Deadline),
		StartDate: answer.StampOnce(g.StartedAt), EndDate: answer.StampOnce(g.FinishedAt),
		Changes: of.Changes, Model: of.Model, Findings: of.Findings}
}
