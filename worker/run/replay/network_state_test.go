package replay_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage/step/playback"
	"github.com/slipway-qa/slipway/worker/run/replay"
)

func requireEachPassed(t *testing.T, r replay.Result) {
	t.Helper()
	for i, record := range r.Records {
		require.Equal(t, playback.Passed, record.Status, "step %d: %s", i, record.Result.Message)
	}
	require.Equal(t, "PASSED", r.Status, r.Message)
	require.False(t, r.Broken)
}

// A route that stands first is there for the first request, beside a cookie and a clock,
// and its delay is of real time though the page's clock stands.
func TestRoutesAreThereBeforeTheTestIsOpened(t *testing.T) {
	t.Parallel()
	requireEachPassed(t, play(t, replay.Config{TestURL: networkShop(t), Steps: tools(t,
		`{"type":"set_cookie","args":{"name":"token","value":"t1"}}`,
		`{"type":"route","args":{"url":"**/","delay":100,"change":{"headers":{"X-Late":"yes"}}}}`,
		`{"type":"set_clock","args":{"fixed":"2031-05-06T07:08:09Z"}}`,
		`{"type":"route","args":{"url":"**/api/cart","delay":100,"answer":{"status":503,"json":{"error":"closed"}}}}`,
		`{"type":"assert","args":{"matcher":{"name":"response","args":{"url":"**/","header":{"name":"X-Late","value":"yes"}}}}}`,
		`{"type":"assert","args":{"matcher":{"name":"cookie","args":{"name":"token","value":"t1"}}}}`,
		`{"type":"click","args":{"selector":"#add"}}`,
		`{"type":"assert","args":{"selector":"#out","matcher":{"name":"text","args":{"value":"503 {\"error\":\"closed\"}"}}}}`,
		`{"type":"save","args":{"from":"text","selector":"#out","match":"^(\\d+)","name":"status"}}`,
		`{"type":"assert","args":{"matcher":{"name":"response","args":{"url":"**/api/cart","header":{"name":"content-type","value":"json",`+
			`"mode":"contains"},"body":{"path":"$.error","value":"closed"}}}}}`,
	)}))
}

// A tool of a for_each waits for what came since the tool before it began, and the step
// after the for_each for what came since that began.
func TestRowsWaitForRequests(t *testing.T) {
	t.Parallel()
	at := site(t, map[string]string{"/": `<ul><li><button onclick="fetch('/a')">A</button><li><button onclick="fetch('/b')">B</button></ul>`,
		"/a": "a", "/b": "b"})
	rows := func(wait string) string {
		return `{"type":"for_each","args":{"selector":"li","tools":[{"type":"click","args":{"selector":"button"}},` + wait + `]}}`
	}
	requireEachPassed(t, play(t, replay.Config{TestURL: at, Steps: tools(t,
		rows(`{"type":"wait_for_response","args":{"url":"**/{a,b}","status":200}},{"type":"assert","args":{"matcher":{"name":"request",`+
			`"args":{"url":"**/a"}}}}`),
		`{"type":"wait_for_request","args":{"url":"**/a"}}`,
		`{"type":"assert","args":{"matcher":{"name":"request","args":{"url":"**/{a,b}","count":2}}}}`,
	)}))
	steps := tools(t, rows(`{"type":"wait_for_request","args":{"url":"**/a"}}`))
	steps[0].TimeoutMS = 5000 // of each row, the first of which passes
	r := play(t, replay.Config{TestURL: at, Steps: steps})
	require.Contains(t, r.Message, "row 2 of 2: wait_for_request: ", "the request of the row before does not count")
}
