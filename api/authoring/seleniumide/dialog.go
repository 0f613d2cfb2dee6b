package seleniumide

import (
	"strings"

	"github.com/slipway-qa/slipway/storage/step"
)

const (
	accept  = "accept"
	dismiss = "dismiss"
)

// answers are the commands that answer the dialog that is open: first the names
// in files, then those of later versions.
var answers = map[string]string{
	"webdriverChooseOkOnVisibleConfirmation":     accept,
	"webdriverChooseCancelOnVisibleConfirmation": dismiss,
	"webdriverChooseCancelOnVisiblePrompt":       dismiss,
	"webdriverAnswerOnVisiblePrompt":             accept,

	"acceptAlert":         accept,
	"acceptConfirmation":  accept,
	"dismissConfirmation": dismiss,
	"dismissPrompt":       dismiss,
	"answerPrompt":        accept,
}

func (v *values) dialog(c *command, action string, answer bool) (*step.Tool, error) {
	tool := &step.Tool{Type: step.HandleDialog, Args: step.Args{Action: action}}
	if answer {
		text, err := v.text(c.path+".target", c.Target)
		if err != nil {
			return nil, err
		}
		tool.Args.Text = &text
	}
	return tool, nil
}

// now answers the dialog that is open.
func now(action string, answer bool) func(*reader, *command) error {
	return func(r *reader, c *command) error {
		tool, err := r.dialog(c, action, answer)
		if err != nil {
			return err
		}
		r.answer = nil
		r.add(c, *tool, false)
		return nil
	}
}

// before answers the dialog that the next command opens.
func before(action string, answer bool) func(*reader, *command) error {
	return func(r *reader, c *command) error {
		tool, err := r.dialog(c, action, answer)
		r.answer = tool
		return err
	}
}

// dialogText accepts the dialog, unless the command before or behind has answered
// it already. The text that it should have is kept for people.
func (r *reader) dialogText(c *command) error {
	expected, err := r.text(c.path+".target", c.Target)
	if err != nil {
		return err
	}
	if r.answered >= 0 && r.answered == r.last() {
		r.remember(expected)
		return nil
	}
	if next := r.next(); next != nil && answers[next.Command] != "" {
		if strings.TrimSpace(next.Comment) == "" {
			next.Comment = says(expected)
		}
		return nil
	}
	r.add(c, step.Tool{Type: step.HandleDialog, Args: step.Args{Action: accept, Reasoning: says(expected)}}, false)
	return nil
}

func (r *reader) remember(expected string) {
	if last := &r.steps[len(r.steps)-1].Tool.Args; last.Reasoning == "" {
		last.Reasoning = says(expected)
	}
}

func says(expected string) string {
	if expected == "" {
		return ""
	}
	return clip("The dialog says: "+expected, maxComment)
}
