package script

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestVariables checks the names of environment variables: none is shared, and
// none is one that machines set.
func TestVariables(t *testing.T) {
	t.Parallel()
	e := &Environment{}
	e.Read("{{password}} {{team:name}} {{team_name}} {{testCase:a1:x}}{{ testCase:b2:x }} {{user}} {{2fa}} {{_}} {{nope {{No}}")
	e.Read("{{password}} again")
	require.Equal(t, []Variable{
		{"PASSWORD", "{{password}}"},
		{"TEAM_NAME", "{{team:name}}"},
		{"TEAM_NAME_2", "{{team_name}}"},
		{"TEST_CASE_X", "{{testCase:a1:x}}"},
		{"TEST_CASE_X_2", "{{testCase:b2:x}}"},
		{"TEST_USER", "{{user}}"},
		{"TEST_2FA", "{{2fa}}"},
		{"TEST__", "{{_}}"},
	}, e.Variables())
	require.Equal(t, Text{{Literal: "a\uFFFDb "}, {Env: "PASSWORD"}}, e.Read("a\x00b {{password}}"))
	require.Equal(t, Text{{Literal: "a b "}, {Env: "PASSWORD"}, {Literal: " "}, {Env: "PASSWORD"}},
		e.Read(" a\n b {{password}}\t{{password}}  ").squeezed())
}
