package rule

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestRuleNamesAreUnique(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for r := Rule(0); r < Count; r++ {
		require.NotEmpty(t, r.String())
		require.False(t, seen[r.String()], r.String())
		seen[r.String()] = true
	}
}
