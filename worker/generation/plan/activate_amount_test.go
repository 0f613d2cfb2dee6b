package plan

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/worker/generation/intent"
)

func TestActivityIsDoneWithEachThing(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]string{
		"Add milk to the list":                      {"milk"},
		"Add milk and eggs to the list":             {"milk", "eggs"},
		"Add milk to the list, then the bread":      {"milk", "bread"},
		"First add milk to the list, then the eggs": {"milk", "eggs"},
	} {
		var names []string
		in := intent.Read(text, intent.Options{}).Clauses[0].Readings[0].Instructions[0]
		require.Equal(t, intent.Activate, in.Kind, text)
		for _, one := range eachOf(&in) {
			require.Empty(t, one.Target.Others, text)
			require.NotNil(t, one.To, text)
			require.Equal(t, "list", one.To.Noun+one.To.Name, text)
			names = append(names, one.Target.Name)
		}
		require.Equal(t, want, names, text)
	}
}
