package generation_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/worker/generation"
)

func TestCompare(t *testing.T) {
	t.Parallel()
	click := func(id, name string) step.Step {
		return step.Step{ID: id, Tool: step.Tool{Type: step.Click,
			Args: step.Args{Selector: &step.Selector{Type: step.ByRole, Value: "button", Name: name}}}}
	}
	base := []step.Step{click("s1", "A"), click("s2", "B"), click("s3", "C"), click("s4", "D")}
	refined := []step.Step{click("s1", "A"), click("", "E"), click("s2", "F"), click("s4", "D"), click("", "G")}
	// What was learnt about an element is no change of the test.
	refined[0].Result = &step.Outcome{Success: true}
	refined[0].Tool.Args.Reasoning = "the only one"
	refined[3].Tool.Args.Selector.Fingerprint = &step.Fingerprint{Tag: "button"}
	generation.Number(base, refined)
	require.Equal(t, "s5", refined[1].ID, "s3 is the one that was removed")
	require.Equal(t, "s6", refined[4].ID)
	require.Equal(t, &generation.Changes{Kept: []string{"s1", "s4"}, Changed: []string{"s2"}, Added: []string{"s5", "s6"},
		Removed: []string{"s3"}},
		generation.Compare(base, refined))

	// Optional steps, conditions and tools in frames are compared as well.
	frame := func(name string) step.Step {
		inner := click("", name).Tool
		return step.Step{ID: "f", Tool: step.Tool{Type: step.InFrame,
			Args: step.Args{Selector: &step.Selector{Type: step.CSS, Value: "#a"}, Tool: &inner}}}
	}
	require.Equal(t, []string{"f"}, generation.Compare([]step.Step{frame("A")}, []step.Step{frame("A")}).Kept)
	require.Equal(t, []string{"f"}, generation.Compare([]step.Step{frame("A")}, []step.Step{frame("B")}).Changed)
	optional := click("s1", "A")
	optional.Optional = true
	require.Equal(t, []string{"s1"}, generation.Compare(base[:1], []step.Step{optional}).Changed)
}
