package replay_test

import (
	"encoding/json"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/cmd/localservice/servicetest"
	"github.com/slipway-qa/slipway/cmd/localservice/servicetest/widget"
	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/storage/step/playback"
	"github.com/slipway-qa/slipway/worker/browser/webdriver"
	"github.com/slipway-qa/slipway/worker/run/replay"
)

// refOfScript returns the ref of what a selector finds, of what is in it, or of what is
// right around it.
const refOfScript = `let el; try { el = evaluate(arguments[0], document, newLook(document, false), false)[0] } catch { return "" }
const known = new Set(arguments[1]), store = window[Symbol.for("slipway.refs")];
const refOf = (node) => { const ref = "e" + store.numbers.get(node); return known.has(ref) ? ref : "" };
const inside = (node) => { for (const root of [node.shadowRoot, node]) for (const inner of root ? root.querySelectorAll("*") : []) {
	const ref = refOf(inner) || (inner.shadowRoot && inside(inner)); if (ref) return ref } return "" };
if (!el) return "";
const found = refOf(el) || inside(el);
for (let up = el, n = 0; !found && up && n < 3; up = up.parentNode || up.host, n++) if (refOf(up)) return refOf(up);
return found`

// notSeen are the cases whose steps are on what no person sees, and why.
var notSeen = map[string]string{
	"jqueryui/sortable up":              "the place between two entries is an element that shows nothing",
	"shoelace/tree":                     "the mark of an entry in nested shadow roots is known by its place alone",
	"html/100,000 elements":             "the button is behind more than a snapshot has",
	"html/popup when it is not there":   "there is nothing to find",
	"html/popup that does not come":     "there is nothing to find",
	"html/slotted content":              "the text of a button is the button's name",
	"html/button replaced every 150 ms": "an element lasts no longer than a look",
}

// ofSeveral are the kinds of steps whose selector does not mean one element that is seen.
var ofSeveral = []string{step.Assert, step.ScrollElement, step.ForEach}

// What the steps of a sample of the cases act on is in the snapshots of the pages, and the
// selectors that are found for it do the same.
func TestWidgetsAreSeen(t *testing.T) { seeWidgets(t, sampled) }

func seeWidgets(t *testing.T, part share) {
	t.Parallel()
	site, err := widget.Start(servicetest.NodeModules(t))
	require.NoError(t, err)
	t.Cleanup(func() { _ = site.Close() })
	cases, err := widget.Cases()
	require.NoError(t, err)
	for _, c := range cases {
		if !chosen(c, part.seen) {
			continue
		}
		if c.Expect != playback.Passed || c.Open != "" || c.FirstMatch || notSeen[c.FullName()] != "" {
			continue
		}
		t.Run(c.FullName(), func(t *testing.T) {
			t.Parallel()
			at := lease()
			l := openLive(t, replay.Config{Lease: at, TestURL: site.BaseURL() + c.Page,
				PageTimeout: max(time.Minute, c.Timeout())})
			for _, s := range c.Steps {
				a := &s.Tool.Args
				if a.Selector != nil && a.Tool == nil && !slices.Contains(ofSeveral, s.Tool.Type) {
					a.Selector = l.seen(at.Session, s.Tool.Type, a.Selector)
					if a.Target != nil {
						a.Target = l.seen(at.Session, s.Tool.Type, a.Target)
					}
				}
				r := l.do(s)
				doc, _ := json.Marshal(r.Tool)
				require.Equal(t, playback.Passed, r.Status, "%s: %s", doc, r.Result.Message)
			}
		})
	}
}

// seen returns the selector that is found for what another selector finds.
func (l *liveSession) seen(session *webdriver.Session, tool string, s *step.Selector) *step.Selector {
	l.t.Helper()
	var ref string
	var refs []string
	for deadline := time.Now().Add(time.Minute); ref == "" && time.Now().Before(deadline); {
		now := l.snapshot()
		refs = nil
		for _, n := range now.Nodes {
			refs = append(refs, n.Ref)
		}
		require.NoError(l.t, replay.Probe(l.ctx, session, refOfScript, &ref, s, refs))
	}
	require.NotEmpty(l.t, ref, "%s of %s %s", tool, s.Type, s.Value)
	located, err := l.Locate(l.ctx, ref)
	require.NoError(l.t, err)
	require.NotEmpty(l.t, located[0].Selector.Type)
	doc, _ := json.Marshal(withoutPrint(located[0].Selector))
	l.t.Logf("%s %s: %s", tool, s.Value, doc)
	return &located[0].Selector
}
