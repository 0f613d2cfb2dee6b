package export

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage/step"
)

// What a target has no code for is refused with its path: an export that left it out
// would check less than the case.
func TestNetworkStepsAreRefusedWhereThereIsNoCode(t *testing.T) {
	t.Parallel()
	for _, s := range []struct {
		tool step.Tool
		path string
	}{
		{step.Tool{Type: step.Route, Args: step.Args{URL: "**", Abort: "failed"}}, "steps[1].tool.type"},
		{step.Tool{Type: step.WaitForURL, Args: step.Args{URL: "**"}}, "steps[1].tool.type"},
		{step.Tool{Type: step.WaitForDownload}, "steps[1].tool.type"},
		{step.Tool{Type: step.Assert, Args: step.Args{Matcher: &step.Matcher{Name: step.ConsoleIs}}}, "steps[1].tool.args.matcher.name"},
		{step.Tool{Type: step.Tap, Args: step.Args{Selector: css("a")}}, "steps[1].tool.type"},
		{step.Tool{Type: step.LaunchApp}, "steps[1].tool.type"},
		{step.Tool{Type: step.Assert, Args: step.Args{Matcher: &step.Matcher{Name: step.AppStateIs}}}, "steps[1].tool.args.matcher.name"},
	} {
		for _, target := range Targets() {
			_, ok, err := Export(target.ID, Case{Steps: []step.Step{on(step.Click, "a"), {Tool: s.tool}}})
			require.True(t, ok)
			var invalid *step.InvalidError
			require.ErrorAs(t, err, &invalid, target.ID)
			require.Equal(t, s.path, invalid.Path)
			require.Contains(t, invalid.Msg, target.Name)
			_, _, err = Export(target.ID, Case{Steps: []step.Step{{Tool: step.Tool{Type: step.Finish}}, {Tool: s.tool}}})
			require.NoError(t, err, "behind the end nothing is done")
		}
	}
}
