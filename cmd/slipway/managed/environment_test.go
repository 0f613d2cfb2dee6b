package managed

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestShellUnquote(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "plain", "it's", `'`, `a'\''b`} {
		require.Equal(t, text, shellUnquote(ShellQuote(text)))
	}
}
