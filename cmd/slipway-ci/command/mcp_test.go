package command

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/cmd/slipway-ci/outcome"
)

func TestMCPFlags(t *testing.T) {
	t.Parallel()
	for line, args := range map[string][]string{
		`--allow: "everything" is no kind of changes`: {"mcp", "--allow", "runs,everything"},
		"folder for uploads":                          {"mcp", "--allow-path", "/none/such"},
	} {
		got := newWorld(t).run(args...)
		require.NotEqual(t, outcome.Passed, got.code, args)
		require.Contains(t, got.err, line)
		require.Empty(t, got.out, "the streams are the agent's")
	}
}
