package sourcemap

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// What an opened map counts for is about what it takes: hundreds of small ones fit where one
// of megabytes does.
func TestCost(t *testing.T) {
	t.Parallel()
	lines := strings.Repeat(";AACA,CAAC,CAAC", 2000)
	m, _ := indexed(t, `{"version":3,"sources":["a.ts"],"names":["f"],"mappings":"AAAAA`+lines+`"}`)
	require.Less(t, m.Cost(), int64(64<<10), "without texts there are no functions to keep")

	var text strings.Builder
	for i := range 200 {
		fmt.Fprintf(&text, `function f%d() {\n return %d }\n`, i, i)
	}
	m, _ = indexed(t, `{"version":3,"sources":["a.ts"],"sourcesContent":["`+text.String()+`"],"names":[],"mappings":"AAAA`+
		strings.Repeat(";AACA", 399)+`"}`)
	frames, err := m.Frames(200, 1, Call{})
	require.NoError(t, err)
	require.Equal(t, "f99", frames[0].Function)
	require.Positive(t, m.found.size)
	require.LessOrEqual(t, m.found.size, m.Cost())
	require.Less(t, m.Cost(), int64(1<<20))
}
