package capability

import (
	"fmt"

	"github.com/slipway-qa/slipway/storage/step"
)

// CheckPlatform refuses steps that none of the targets can do: those of apps where all are
// browsers, and those of pages where all are apps and no step before switches to a web
// view. The steps of groups are not known here. The error is a *step.InvalidError of a step,
// [3].tool.type.
func CheckPlatform(steps []step.Step, targets []Target) error {
	if len(targets) == 0 {
		return nil
	}
	apps := 0
	for i := range targets {
		if browser, _ := targets[i].Capabilities["browserName"].(string); browser == "" &&
			(targets[i].IsRDC || AppTarget(targets[i].Capabilities)) {
			apps++
		}
	}
	if 0 < apps && apps < len(targets) {
		return nil
	}
	for i := range steps {
		t := &steps[i].Tool
		switch {
		case apps == 0 && step.IsMobile(t):
			return step.Invalid(fmt.Sprintf("[%d].tool.type", i), "%s is of native apps, and the targets are browsers", t.Type)
		case apps > 0 && (t.Type == step.SwitchContext || t.Type == step.RunGroup):
			return nil // what follows may be in a web view
		case apps > 0 && step.IsWeb(t):
			return step.Invalid(fmt.Sprintf("[%d].tool.type", i),
				"%s is of web pages, and the targets are native apps: switch_context goes to a web view", t.Type)
		}
	}
	return nil
}
