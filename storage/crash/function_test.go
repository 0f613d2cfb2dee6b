package crash

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestFunctionsOfGroups(t *testing.T) {
	t.Parallel()
	for explanation, want := range map[string]string{
		``: "", `{`: "", `{"version":1}`: "",
		`{"frames":[{"index":0,"function":"a.b","text":"x"},{"text":"no name"},{"function":"c"},{"function":"a.b"}]}`: "a.b\nc",
		`{"frames":[{"function":"two\n lines\u0000"}]}`:                                                               "two lines",
	} {
		require.Equal(t, want, (&Grouping{Explanation: []byte(explanation)}).functions(), explanation)
	}
	require.Equal(t, "f\ng", (&Grouping{Functions: []string{"f", "", "g", "f"}}).functions())
	var many []string
	for i := range 100 {
		many = append(many, strings.Repeat("x", 100)+strings.Repeat("y", i))
	}
	joined := joinFunctions(many)
	require.LessOrEqual(t, len(joined), maxFunctions)
	require.Greater(t, len(joined), maxFunctions-300, "as far as there is room")
	require.True(t, strings.HasPrefix(joined, many[0]+"\n"+many[1]))
}
