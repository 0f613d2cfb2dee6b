package testrun

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage/run/reading"
)

// What nobody counted is absent, and no 0.
func TestHealedOfTheUnknown(t *testing.T) {
	t.Parallel()
	healed := func(n *int) string {
		text, err := json.Marshal(ViewPast(&reading.Past{Healed: n}))
		require.NoError(t, err)
		return string(text)
	}
	none := 0
	require.NotContains(t, healed(nil), `"healed"`)
	require.Contains(t, healed(&none), `"healed":0`)
}
