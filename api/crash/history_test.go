package crash

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/api/crash/content"
)

func TestOwnFrames(t *testing.T) {
	t.Parallel()
	threads := []content.Thread{{Main: true, Frames: []content.Frame{{Function: "raise"}, {Function: "pay"}, {Function: "unseen"},
		{Function: "get"}, {Function: "pay"}}},
		{Frames: []content.Frame{{Function: "pay"}}}}
	markOwn(threads, []byte(`{"frames":[{"function":"raise","rules":["error-frame"]},{"function":"pay","kept":true},
		{"function":"get","rules":["system-frame"]},{"function":"pay","rules":["recursion"]}]}`))
	text, err := json.Marshal(threads)
	require.NoError(t, err)
	var got []any
	var views []struct{ Frames []map[string]any }
	require.NoError(t, json.Unmarshal(text, &views))
	for _, f := range views[0].Frames {
		got = append(got, f["own"])
	}
	require.Equal(t, []any{false, true, nil, false, true}, got)
	require.NotContains(t, views[1].Frames[0], "own")
	markOwn(threads, []byte(`{`))
	markOwn(threads, nil)
}
