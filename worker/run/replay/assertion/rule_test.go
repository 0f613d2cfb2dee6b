package assertion

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage/step"
)

// Each matcher that a case may have is played: as a rule, or by code of its own.
func TestRulesOfMatchers(t *testing.T) {
	t.Parallel()
	quote := func(text string, _ int) string { return text }
	others := []string{step.Accessible, step.LooksLike, step.AppStateIs} // see the callers of NewRule
	for _, name := range step.Matchers() {
		if step.IsNetworkMatcher(name) || slices.Contains(others, name) {
			continue
		}
		r, err := NewRule(step.Args{Selector: &step.Selector{Type: "css", Value: "#a"}, Matcher: &step.Matcher{Name: name,
			Args: step.MatcherArgs{Value: "1"}}}, quote)
		require.NoError(t, err, "%s has no rule", name)
		require.NotEmpty(t, r.Expected())
		if r.compare(&Seen{Is: true}) {
			require.Equal(t, "it is "+name, r.Describe(&Seen{Is: true}), "a failure has words for it")
		}
	}
}
