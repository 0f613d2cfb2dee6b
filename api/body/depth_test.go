package body

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestDepth(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int{
		``: 0, `1`: 0, `"[[["`: 0, `{}`: 1, `[]`: 1, `[{"a":[1]},{}]`: 3, `{"a\"[":[]}`: 2, `{"a\\":[]}`: 2,
		`[[`: 2, `]]]`: 0, `"[`: 0, `"\`: 0,
		strings.Repeat("[", 100_000): 100_000,
	} {
		require.Equal(t, want, Depth([]byte(text)), "%.40s", text)
	}
}
