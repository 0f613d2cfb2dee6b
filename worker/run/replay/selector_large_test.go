package replay_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	store "github.com/slipway-qa/slipway/storage/run"
	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/worker/browser/webdriver"
	"github.com/slipway-qa/slipway/worker/run/replay"
)

// large is a page of 100,000 elements: a table of 12,500 rows with a link, a button
// and texts in each, as a list that no one cut into pages has them.
func large(extra string) string {
	return `<style>.icon::before { content: "+ " }</style><header><h1>Orders</h1></header><main><table><tbody id=t></tbody></table>` + extra +
		`</main><script>
		let rows = ""; for (let i = 0; i < 12500; i++) rows += "<tr><td>Order " + i + "<td><span class=icon>Customer " + (i % 97) + "</span>` +
		`<td><a href=#" + i + ">Open</a><td><button>Cancel " + i + "</button></tr>";
		t.innerHTML = rows</script>`
}

const component = `<x-end><template shadowrootmode=open><div><button>Finish</button></div></template></x-end>`

func TestSelectorsOnLargePage(t *testing.T) {
	t.Parallel()
	base := site(t, map[string]string{"/": large(""), "/component": large(component)})
	l := lease()
	defer func() { release(l, false) }()
	ctx, cancel := context.WithTimeout(t.Context(), 8*time.Minute)
	defer cancel()
	require.NoError(t, l.Session.SetTimeouts(ctx, webdriver.Timeouts{Script: 2 * time.Minute,
		PageLoad: 2 * time.Minute})) // the machine may be busy
	exact := func(s *step.Selector) *step.Selector { s.Exact = true; return s }
	for _, path := range []string{"/", "/component"} {
		require.NoError(t, l.Session.Navigate(ctx, base+path))
		var size int
		require.NoError(t, l.Session.Execute(ctx, `return document.querySelectorAll("*").length`, &size))
		require.Greater(t, size, 100_000)
		for _, c := range []struct {
			selector *step.Selector
			count    int
		}{
			{exact(role("button", "Cancel 12345")), 1}, {role("button", "cancel 12345"), 1}, {role("link", "Open"), 12500},
			{by(step.ByRole, "row"), 12500},
			{&step.Selector{Type: step.ByRole, Value: "row", HasText: "order 777"}, 11},
			{exact(by(step.ByText, "Customer 5")), 129}, {by(step.ByText, "order 1249"), 11},
			{by(step.ByText, "nowhere"), 0},
			{pick{by(step.ByText, "Open")}.in(&step.Selector{Type: step.ByRole, Value: "row", HasText: "Order 8765"}), 1},
			{&step.Selector{Type: step.CSS, Value: "tr", Has: exact(role("button", "Cancel 99"))}, 1}, {by(step.CSS, "main tr > td button"), 12500},
			{by(step.CSS, "x-end div > button"), strings.Count(path, "component")}, {by(step.ByLabel, "none"), 0}, {by(step.ByRole, "heading"), 1},
		} {
			var got struct {
				Count int     `json:"count"`
				Took  float64 `json:"took"`
			}
			require.NoError(t, replay.Probe(ctx, l.Session,
				`const start = performance.now(), count = evaluate(arguments[0], document, newLook(document, false), false).length;
				return { count, took: performance.now() - start }`, &got, c.selector))
			shown, _ := json.Marshal(c.selector)
			require.Equal(t, c.count, got.Count, string(shown))
			t.Logf("%-10s %6.0f ms %s", path, got.Took, shown)
		}
	}
}

// A list of thousands of elements of one name takes no more time than others, when the
// step learns its element and when that is gone.
func TestLargeList(t *testing.T) {
	t.Parallel()
	base := site(t, map[string]string{"/": `<ul id=list></ul><script>
		for (let i = 0, rows = ""; i < 5000; i++) { rows += "<li><span>Person " + i + "</span> <button>Edit</button>";
		if (i === 4999) list.innerHTML = rows }</script>`})
	r := play(t, replay.Config{TestURL: base, Steps: []step.Step{click("li:nth-child(1) button")}})
	require.Equal(t, "PASSED", r.Status, r.Message)
	edit := step.Fingerprint{Tag: "button", Role: "button", Name: "Edit", Text: "Edit", Attributes: map[string]string{}}
	r = play(t, replay.Config{TestURL: base, Steps: []step.Step{within(5000, do(step.Click, step.Args{Selector: printed("#gone", edit)}))}})
	require.Equal(t, store.CodeStepFailed, r.Code)
	require.NotContains(t, r.Message, "does not respond")
	require.Contains(t, r.Message, "css #gone was not found")
}
