package generation

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/storage/step/playback"
)

// What is mended in a draft must not change the steps that are shown to those who watch.
func TestMendsLeaveTheDraftAsItWas(t *testing.T) {
	t.Parallel()
	click := step.Tool{Type: step.Click, Args: step.Args{Selector: &step.Selector{Type: step.CSS, Value: "#a"}}}
	draft := []step.Step{
		{ID: "s1", Tool: click},
		{ID: "s2", Tool: step.Tool{Type: step.InFrame, Args: step.Args{Selector: &step.Selector{Type: step.CSS, Value: "iframe"},
			Tool: &step.Tool{
				Type: step.Click, Args: step.Args{Selector: &step.Selector{Type: step.CSS, Value: "#b"}}}}}},
	}
	mended := independent(draft)
	require.Equal(t, draft, mended)
	learn(mended, map[string]step.Fingerprint{"s1": {Role: "button", Name: "A"}, "s2": {Role: "button", Name: "B"}})
	healed := &playback.Healed{To: step.Selector{Type: step.CSS, Value: "#c"}}
	require.True(t, takeHealed(mended, []playback.Record{{}, {Healed: healed}}))
	require.Nil(t, draft[0].Tool.Args.Selector.Fingerprint)
	require.Equal(t, "#b", step.Inner(&draft[1].Tool).Args.Selector.Value)
	require.Equal(t, "A", mended[0].Tool.Args.Selector.Fingerprint.Name)
	require.Equal(t, "#c", step.Inner(&mended[1].Tool).Args.Selector.Value)
	require.Equal(t, "B", step.Inner(&mended[1].Tool).Args.Selector.Fingerprint.Name)
}
