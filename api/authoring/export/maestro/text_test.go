package maestro

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/api/authoring/export/script"
)

// Maestro ends a script with the last brace before the next dollar.
func TestMaestroTexts(t *testing.T) {
	t.Parallel()
	w := &writer{Script: &script.Script{Env: &script.Environment{}}}
	for text, want := range map[string]string{
		"{{user}} of {{team:name}}": "${TEST_USER} of ${TEAM_NAME}",
		"{{user}}}":                 `${TEST_USER + '}'}`,
		"$5 for {{user}}":           `${'\x245 for ' + TEST_USER}`,
		"${1} {{saved:x}}":          `${'\\\x24{1} ' + output.x}`,
		"{ }":                       "{ }",
		"${1}":                      `\${1}`,
	} {
		require.Equal(t, want, w.string(w.Env.Read(text)))
	}
	require.Equal(t, `${'Hello ' + TEST_USER`+escapeUnits+` + '\\.' + ''}`, w.quoted("Hello ", w.Env.Read("{{user}}."), ""))
}
