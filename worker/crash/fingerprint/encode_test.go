package fingerprint

import (
	"encoding/json"

	"github.com/slipway-qa/slipway/worker/crash/fingerprint/rule"

	"testing"

	"github.com/stretchr/testify/require"
)

func FuzzAppendJSON(f *testing.F) {
	f.Add("main", "pay\x00\"\\\n", "é\xff😀", uint64(1<<3|1), 2, true)
	f.Add("", "", "", uint64(0), 0, false)
	f.Fuzz(func(t *testing.T, thread, function, text string, rules uint64, skipped int, frames bool) {
		e := Explanation{Version: Version, Source: SourceStack, Thread: thread, Skipped: skipped, Material: []string{text, function}}
		if frames {
			e.Frames = []Frame{{Index: 1, Function: function, Text: text, Kept: true, Stack: skipped > 1,
				Rules: rule.Set{rules, rules & (1<<(rule.Count-64) - 1)}}, {Text: text}}
		}
		want, err := json.Marshal(e)
		require.NoError(t, err)
		got := e.AppendJSON(nil)
		require.True(t, json.Valid(got), "%q", got)
		require.JSONEq(t, string(want), string(got))
	})
}

func TestAppendJSONOfReports(t *testing.T) {
	for _, lang := range []string{"c++", "java", "nodejs", "go"} {
		r := benchReport(lang, 30)
		e := Compute(r).Explanation
		want, err := json.Marshal(e)
		require.NoError(t, err)
		require.JSONEq(t, string(want), string(e.AppendJSON(nil)))
	}
}
