package crash

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage/crash"
	"github.com/slipway-qa/slipway/storage/crash/reading"
	"github.com/slipway-qa/slipway/storage/symbol"
	"github.com/slipway-qa/slipway/storage/symbolication"
)

// TestWhatIsMissingIsSaidOnce checks that an answer grows with its report, not with what was
// looked for: each of forty frames lacks a script that may come under twelve names.
func TestWhatIsMissingIsSaidOnce(t *testing.T) {
	t.Parallel()
	var looked []symbol.Identifier
	for i := range 12 {
		looked = append(looked, symbol.Identifier{Type: symbol.URL,
			Value: fmt.Sprintf("https://shop.example/static/js/main.3f9a1c%d.chunk.js", i), Release: "3.2.1"})
	}
	thread := symbolication.Thread{ID: "0"}
	stack := make([]string, 40)
	for i := range stack {
		stack[i] = fmt.Sprintf(`{"funcName":"f%d","line":1,"column":%d,"sourceCode":"s"}`, i, 1000+i)
		thread.Replaced = append(thread.Replaced, symbolication.Replacement{Index: i, Missing: 1})
	}
	frames, err := json.Marshal(symbolication.Document{Threads: []symbolication.Thread{thread},
		Missing: []symbolication.Missing{{Kind: "sourcemap", Name: "main.3f9a1c.chunk.js", LookedFor: looked, Reason: "no file", Frames: 40}}})
	require.NoError(t, err)
	doc := fmt.Sprintf(`{"uuid":"0b5ac4c2-6a6a-4c0e-9d5f-0123456789ab","timestamp":1,"lang":"javascript","langVersion":"1","agent":"a",
		"agentVersion":"1","mainThread":"0","threads":{"0":{"stack":[%s]}},"sourceCode":{"s":{"path":"https://shop.example/static/js/main.3f9a1c.chunk.js"}}}`,
		strings.Join(stack, ","))
	view := crashDetailOf(&reading.Detail{Document: []byte(doc), Symbols: &crash.Symbolication{State: crash.SymbolsMissing,
		Missing: 1, Frames: frames}}, nil, nil)
	text, err := json.Marshal(view)
	require.NoError(t, err)
	require.Equal(t, 1, strings.Count(string(text), `"looked_for"`))
	require.Equal(t, 40, strings.Count(string(text), `"missing_index":0`))
	require.Less(t, len(text), 4*len(doc))
}
