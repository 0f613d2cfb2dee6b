package fingerprint

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage/report"
	"github.com/slipway-qa/slipway/worker/crash/fingerprint/rule"
)

func TestBind(t *testing.T) {
	t.Parallel()
	compute := func(fingerprint []byte, missing string) Result {
		r := &report.Report{Lang: "java", Fingerprint: fingerprint, MainThread: "1", Threads: []report.Thread{{ID: "1", Frames: []report.Frame{
			{Function: "java.lang.Integer.parseInt"}, {Function: "a.b.c"}, {Function: "a.b.d"}}}}}
		res := Compute(r)
		res.Bind(func(frame int) string {
			if frame == 0 {
				return ""
			}
			return missing
		})
		return res
	}
	one, two, none := compute(nil, "mapping_id 1"), compute(nil, "mapping_id 2"), compute(nil, "")
	require.NotEqual(t, one.Key, two.Key)
	require.NotEqual(t, one.StackKey, two.StackKey)
	require.NotEqual(t, one.Key, none.Key)
	require.Equal(t, one.Key, compute(nil, "mapping_id 1").Key)
	require.Equal(t, "unsymbolicated mapping_id 1", one.Explanation.Material[len(one.Explanation.Material)-1])
	require.True(t, one.Explanation.Rules.Has(rule.Unsymbolicated))
	require.False(t, none.Explanation.Rules.Has(rule.Unsymbolicated))
	given := make([]byte, 32)
	require.Equal(t, compute(given, "").Key, compute(given, "mapping_id 1").Key, "a key of the client")
}
