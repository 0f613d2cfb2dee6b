package capability_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/storage/step/capability"
)

func TestCheckPlatform(t *testing.T) {
	t.Parallel()
	browser := capability.Target{Capabilities: capability.Capabilities{"browserName": "chrome"}}
	app := capability.Target{Capabilities: capability.Capabilities{"platformName": "Android", "appium:app": "storage:1"}}
	phone := capability.Target{Capabilities: capability.Capabilities{"platformName": "Android", "browserName": "chrome"}}
	farm := capability.Target{Capabilities: capability.Capabilities{"x:options": map[string]any{}}, IsRDC: true}
	of := func(tool string) step.Step { return step.Step{Tool: step.Tool{Type: tool}} }
	tap, open, view, click := of(step.Tap), of(step.GoToURL), of(step.SwitchContext), of(step.Click)
	state := of(step.Assert)
	state.Tool.Args.Matcher = &step.Matcher{Name: step.AppStateIs}
	for _, c := range []struct {
		steps   []step.Step
		targets []capability.Target
		path    string
	}{
		{[]step.Step{tap, open}, nil, ""},
		{[]step.Step{tap, open}, []capability.Target{browser, app}, ""},
		{[]step.Step{click, tap}, []capability.Target{browser}, "[1].tool.type"},
		{[]step.Step{click, state}, []capability.Target{browser, phone}, "[1].tool.type"},
		{[]step.Step{click, tap, state}, []capability.Target{app, farm}, ""},
		{[]step.Step{tap, open}, []capability.Target{app}, "[1].tool.type"},
		{[]step.Step{tap, view, open}, []capability.Target{app}, ""},
		{[]step.Step{open, view}, []capability.Target{farm}, "[0].tool.type"},
	} {
		err := capability.CheckPlatform(c.steps, c.targets)
		if c.path == "" {
			require.NoError(t, err)
			continue
		}
		var invalid *step.InvalidError
		require.ErrorAs(t, err, &invalid)
		require.Equal(t, c.path, invalid.Path)
	}
}
