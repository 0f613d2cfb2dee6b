package frame

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Each kind of mark has a shape of its own, so that colour is not needed; texts are text.
func TestStrip(t *testing.T) {
	kinds := []Mark{{State: "PASSED"}, {State: "PASSED", Healed: true}, {State: "FAILED"}, {State: "ERROR"}, {State: "CANCELLED"}, {State: "RUNNING"}}
	shapes := map[string]bool{}
	for _, m := range kinds {
		words, class := m.kind()
		shapes[strings.ReplaceAll(m.draw(0), class, "")] = true
		require.NotContains(t, m.draw(0), "changed", words)
		m.Changed = true
		require.Contains(t, m.draw(0), `class="changed"`, words)
	}
	require.Len(t, shapes, len(kinds))

	strip := string(Strip("Runs", []Mark{{State: "FAILED", Title: `<b>"x"`, Link: "/a?b=1&c"}, {State: "PASSED", Changed: true}}))
	require.Contains(t, strip, `aria-label="Runs: 1 passed, 1 failed, 1 with a changed result; the newest: failed"`)
	require.Contains(t, strip, `role="group"`, "links inside are no picture")
	require.Contains(t, strip, `<a href="/a?b=1&amp;c" aria-label="failed: &lt;b&gt;&#34;x&#34;">`)
	require.NotContains(t, strip, "<b>")
	require.Less(t, strings.Index(strip, "passed, result changed"), strings.LastIndex(strip, "failed: "), "the newest is at the right")
	require.Contains(t, string(Strip("Runs", []Mark{{State: "PASSED"}})), `role="img"`)
	require.Contains(t, string(Strip("Runs", nil)), "–")
	require.Equal(t, maxMarks, strings.Count(string(Strip("Runs", make([]Mark, 500))), "<title>"))
}
