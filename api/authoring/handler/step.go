package handler

import (
	"fmt"

	"github.com/gin-gonic/gin"

	"github.com/slipway-qa/slipway/api/authoring/answer"
	"github.com/slipway-qa/slipway/api/authoring/problem"
	"github.com/slipway-qa/slipway/api/authoring/request"
	"github.com/slipway-qa/slipway/storage/step"
)

// StepView is a step. result is null, and screenshotUrl "", for a step that came
// by import.
type StepView struct {
	ID            string          `json:"id"`
	Tool          step.Tool       `json:"tool"`
	Result        *step.Outcome   `json:"result"`
	ScreenshotURL string          `json:"screenshotUrl"`
	Optional      bool            `json:"optional,omitempty"`
	When          *step.Condition `json:"when,omitempty"`
	TimeoutMS     int             `json:"timeoutMs,omitempty"`
}

// ViewStep is a step as it is stored.
func (h *Base) ViewStep(s *step.Step) StepView {
	return StepView{ID: s.ID, Tool: s.Tool, Result: s.Result, ScreenshotURL: h.FileURL(s.ScreenshotID),
		Optional: s.Optional, When: s.When, TimeoutMS: s.TimeoutMS}
}

// FileURL is the address of a stored file, "" without one.
func (h *Base) FileURL(id string) string {
	if id == "" {
		return ""
	}
	return h.PublicURL + answer.BasePath + "/files/" + id
}

// ReadSteps reads the steps that the body has at a path, and checks them with the addresses
// that they open. What has no effect is a warning of the answer.
func (h *Base) ReadSteps(c *gin.Context, path string, d request.Document) ([]step.Step, error) {
	steps, warnings, err := ReadGivenSteps(path, d)
	if err != nil {
		return nil, err
	}
	if err := problem.Under(path, step.Validate(steps)); err != nil {
		return nil, err
	}
	for _, text := range warnings {
		answer.Warn(c, "%s", text)
	}
	return steps, h.CheckAddresses(c.Request.Context(), path, "", path, steps)
}

// ReadChangedSteps reads a list of steps that may be cleared by null; nil when it was not sent.
func (h *Base) ReadChangedSteps(c *gin.Context, path string, n request.Nullable) (*[]step.Step, error) {
	if n.IsNull() {
		return &[]step.Step{}, nil
	}
	if !n.Given() {
		return nil, nil
	}
	steps, err := h.ReadSteps(c, path, n.Document)
	return &steps, err
}

// ViewSteps are the steps of an answer; never null.
func (h *Base) ViewSteps(steps []step.Step) []StepView {
	views := make([]StepView, 0, len(steps))
	for i := range steps {
		views = append(views, h.ViewStep(&steps[i]))
	}
	return views
}

// givenStep is a step as answers show it. What a recording found out does not come with
// it: result and screenshot are those of another case, and stay there.
type givenStep struct {
	ID            string          `json:"id"`
	Tool          step.Tool       `json:"tool"`
	Optional      bool            `json:"optional"`
	When          *step.Condition `json:"when"`
	TimeoutMS     int             `json:"timeoutMs"`
	Result        *step.Outcome   `json:"result"`
	ScreenshotURL string          `json:"screenshotUrl"`
}

// ReadGivenSteps reads the list of steps that a body has at a path. The warnings are of what has no effect.
func ReadGivenSteps(list string, d request.Document) (steps []step.Step, warnings []string, err error) {
	all, err := d.Elements(list, step.MaxSteps)
	if err != nil {
		return nil, nil, err
	}
	steps = make([]step.Step, len(all))
	for i, element := range all {
		path := fmt.Sprintf("%s[%d]", list, i)
		if !element.Given() {
			return nil, nil, problem.Member(path, "must be an object")
		}
		var given givenStep
		if err := element.Decode(path, &given); err != nil {
			return nil, nil, err
		}
		steps[i] = step.Step{ID: given.ID, Tool: given.Tool, Optional: given.Optional, When: given.When, TimeoutMS: given.TimeoutMS}
	}
	for _, path := range step.TakeIgnored(steps) {
		warnings = append(warnings, fmt.Sprintf("%s%s has no effect in this matcher and was ignored", list, path))
	}
	return steps, warnings, nil
}
