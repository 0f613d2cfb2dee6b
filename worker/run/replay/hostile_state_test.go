package replay_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/worker/run/replay"
)

// A page that is replaced again and again, at any moment, has its clock set.
func TestClockOfAPageThatIsReplaced(t *testing.T) {
	t.Parallel()
	base := site(t, map[string]string{"/": `<p>page</p><script>setTimeout(() => location.reload(), 60)</script>`})
	l := lease()
	defer release(l, true)
	var docs []string
	for range 8 {
		docs = append(docs, `{"type":"set_clock","args":{"fixed":"2031-05-06T07:08:09Z"}}`, `{"type":"set_clock","args":{"resume":true}}`)
	}
	r := play(t, replay.Config{Lease: l, TestURL: base, Steps: tools(t, append([]string{`{"type":"pause","args":{"time":100}}`}, docs...)...)})
	require.Equal(t, "PASSED", r.Status, r.Message)
}
