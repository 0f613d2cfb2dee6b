package plan_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage/authoring"
	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/worker/generation/intent"
	"github.com/slipway-qa/slipway/worker/generation/plan"
)

// Who watches sees the steps of the reading that is being done, and none of one that was given up.
func TestStepsOfAReadingThatWasGivenUpAreTakenBack(t *testing.T) {
	l := newList("Feed the cat", "Walk the dog")
	text := intent.Read("Tick Walk the dog, then tick Feed the cat")
	require.NotEmpty(t, text.Readings)
	goals := text.Readings[0].Goals
	garage := intent.Goal{Effect: intent.Open, Target: []intent.Description{{Words: []intent.Word{{Text: "garage"}}}}}
	text.Readings = []intent.Reading{{Goals: []intent.Goal{goals[1], garage}}, {Goals: goals}}
	var told [][]step.Step
	out, err := plan.Run(t.Context(), plan.Config{Page: l, Text: &text, NoSuggestion: true,
		OnSteps: func(steps []step.Step, why []authoring.Reason) {
			require.Len(t, why, len(steps))
			told = append(told, steps)
		},
		Fresh: func(context.Context, []step.Step) error {
			l.done = map[string]bool{}
			return nil
		}})
	require.NoError(t, err)
	var counts []int
	for _, steps := range told {
		counts = append(counts, len(steps))
	}
	require.Equal(t, []int{1, 0, 1, 2}, counts, "one of the first reading, none, then those of the second")
	require.Equal(t, out.Steps, told[len(told)-1])
}
