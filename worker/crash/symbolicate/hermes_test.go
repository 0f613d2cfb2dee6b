package symbolicate

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage/symbolication"
)

// TestHermes reads offsets in bytecode, which count from 0, in the columns of frames and of texts.
func TestHermes(t *testing.T) {
	t.Parallel()
	table := scriptTable{"1:2346": {{Function: "pay", File: "src/cart.ts", Line: 3, Column: 5, Method: symbolication.MapNames}},
		"1:1": {{Function: "global", File: "index.js", Line: 1, Column: 1, Method: symbolication.MapNames}}}
	stack := `{"funcName":"p","library":"address at index.android.bundle","line":1,"column":2345},
		{"funcName":"global","library":"address at index.android.bundle","line":1,"column":0},
		{"funcName":"q","library":"index.android.bundle","line":1,"column":2346},
		{"funcName":"apply","library":"native"}`
	in := parsed(t, "javascript", "", stack, `,"attributes":{"release":"1.2",
		"stack":"Error: x\n    at p (address at index.android.bundle:1:2345)\n    at apply (native)\n    at global (address at `+
		`index.android.bundle:1:0)"}`)
	res, err := readReport(t, &fake{maps: map[string]SourceMap{"url index.android.bundle.map 1.2": table}}, in)
	require.NoError(t, err)
	require.Equal(t, []string{"pay src/cart.ts:3", "global index.js:1", "pay src/cart.ts:3", "apply :0"}, functions(res.Report))
	require.Equal(t, "Error: x\n    at pay (src/cart.ts:3:5)\n    at apply (native)\n    at global (index.js:1:1)", res.Document.Texts[0].Text)
}
