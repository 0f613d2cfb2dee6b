package main

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/net/html"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/gate"
)

// gateWorld is a console with an app whose builds may get a gate, and a suite.
type gateWorld struct {
	*buildsWorld
	suite string
}

func newGateWorld(t *testing.T) *gateWorld {
	t.Helper()
	w := &gateWorld{buildsWorld: newBuildsWorld(t)}
	w.make(request{method: post, path: ai + "/testsuites", body: `{"name":"` + buildScript + `"}`, save: "suite=data.id"})
	w.suite = w.ids["suite"]
	return w
}

// set stores a policy through the api.
func (w *gateWorld) set(policy string) {
	w.t.Helper()
	w.make(request{method: put, path: v3 + "/projects/{id:app}/gate-policy", body: policy})
}

// settled evaluates what is due, after which the gate of the build must have a state. An evaluation
// passes a gate over whose build somebody holds, as who takes a fact in does for a moment: it is
// asked again until nothing is due.
func (w *gateWorld) settled(state string) {
	w.t.Helper()
	require.Eventually(w.t, func() bool {
		w.evaluate()
		return w.shows("/builds/"+w.build+"/gate", "gate.pending") == "false"
	}, time.Minute, 20*time.Millisecond, "the gate is decided")
	require.Equal(w.t, state, w.shows("/builds/"+w.build+"/gate", "gate.state"))
}

// evaluate evaluates the gates that are due and free, and counts crashes for them.
func (w *gateWorld) evaluate() {
	ctx := w.t.Context()
	for again := true; again; {
		require.NoError(w.t, w.db.InTx(ctx, func(tx *storage.Tx) error {
			round, err := gate.Evaluate(ctx, tx, 100)
			again = err == nil && round.Recounts
			return err
		}))
		if again {
			require.NoError(w.t, w.db.InTx(ctx, func(tx *storage.Tx) error {
				_, err := gate.Recount(ctx, tx)
				return err
			}))
		}
	}
}

func TestConsoleGatePolicy(t *testing.T) {
	t.Parallel()
	w := newGateWorld(t)
	at, policy := "/apps/"+w.app+"/gate", "/projects/"+w.app+"/gate-policy"
	p := w.see(at, "The app has no policy yet")
	press := func(from *page, do string, values url.Values) *page {
		t.Helper()
		if values == nil {
			values = url.Values{}
		}
		values.Set("do", do)
		p := w.submit(from, at, values)
		checkPage(t, p.path, p)
		return p
	}
	// stored is the policy that the app has.
	stored := func() string {
		code, answer := w.surface.send(request{method: http.MethodGet, path: v3 + policy})
		require.Equal(t, http.StatusOK, code, "%.600s", answer)
		doc := member(answer, "gate_policy").(map[string]any)
		for _, name := range []string{"version", "updated_at", "updated_by"} {
			delete(doc, name)
		}
		text, err := json.Marshal(doc)
		require.NoError(t, err)
		return string(text)
	}
	// Conditions of each type are added, named, moved and removed before anything is stored.
	for _, kind := range []string{"size", "crash_groups", "suites", "testers", "signature", "symbols", "crash_free"} {
		p = press(p, "add", url.Values{"add_type": {kind}})
		require.Equal(t, http.StatusOK, p.status, "%.2000s", p.text)
		require.Contains(t, p.text, "This is not saved yet.")
	}
	code, _ := w.surface.send(request{method: http.MethodGet, path: v3 + policy})
	require.Equal(t, http.StatusNotFound, code, "a draft is not stored")
	p = press(p, "save", nil)
	require.Equal(t, http.StatusBadRequest, p.status)
	require.Contains(t, p.text, `<a href="#conditions-0">conditions[0]</a> needs max_bytes or max_growth_percent.`)
	require.Contains(t, p.text, `<p class="notice bad">It needs max_bytes or max_growth_percent.</p>`)
	p = press(p, "save", url.Values{"conditions[0].max_bytes": {"100"}})
	require.Contains(t, p.text, `<a href="#conditions-2-suite_ids">conditions[2].suite_ids</a> must be 1 to 20 suites.`)
	require.NotNil(t, byID(p.root, "conditions-2-suite_ids"))
	require.Contains(t, p.text, `id="conditions-2-suite_ids-fault">It must be 1 to 20 suites.`)
	require.NotContains(t, p.text, buildScript)
	require.Contains(t, p.text, "&lt;script&gt;alert(1)&lt;/script&gt;</label>", "the suite is chosen by its name")
	p = press(p, "save", url.Values{"conditions[0].max_bytes": {"many"}, "conditions[2].suite_ids": {w.suite}})
	require.Contains(t, p.text, `id="conditions-0-max_bytes-fault">It must be a number.`)
	p = press(p, "save", url.Values{"conditions[0].max_bytes": {"1.5"}})
	require.Contains(t, p.text, `id="conditions-0-max_bytes-fault">It must be a whole number.`)
	p = press(p, "save", url.Values{"conditions[0].max_bytes": {"100"}, "conditions[6].min_percent": {"101"}})
	require.Contains(t, p.text, `id="conditions-6-min_percent-fault">It must be 0 to 100.`)
	p = press(p, "remove:6", nil)
	p = press(p, "up:1", nil)
	p = press(p, "add-suite", url.Values{"conditions[1].name": {buildScript}})
	require.NotContains(t, p.text, buildScript)
	p = press(p, "save", url.Values{"run_suites[0].suite_id": {w.suite}, "run_suites[0].url": {"javascript:alert(1)"}})
	require.Contains(t, p.text, "The address must be an http or https address.")
	p = press(p, "save", url.Values{"run_suites[0].url": {"https://{{metadata.host}}/"}})
	require.Contains(t, p.text, "The list of hosts is required: whoever uploads a build decides on the host of run_suites[0].url.")
	p = press(p, "save", url.Values{"allowed_hosts": {"staging.example.com\r\n*.pr.example.com"}, "channels": {"beta\r\nnightly"},
		"unnamed":            {"1"},
		"hold_notifications": {"1"}, "conditions[0].kinds": {"new"}, "conditions[0].max_reports": {"2"}, "conditions[0].hours": {"48"}})
	require.Contains(t, p.text, `class="notice good" role="status">The policy was saved.`, "%.3000s", p.text)
	require.Equal(t, "/console/builds"+at, p.path, "a form that was stored leads to the page")
	require.JSONEq(t, `{"conditions":[
		{"name":"No new crashes","type":"crash_groups","kinds":["new"],"max_reports":2,"hours":48},
		{"name":"`+buildScript+`","type":"size","max_bytes":100},
		{"name":"Suites passed","type":"suites","suite_ids":["`+w.suite+`"],"flaky":"passed"},
		{"name":"Tried by testers","type":"testers","no_blocker":true},
		{"name":"Signed","type":"signature","verified":true,"same_signer":false},
		{"name":"Symbols complete","type":"symbols","mapping":false}],
		"channels":["beta","nightly",""],"hold_notifications":true,"run_suites":[{"suite_id":"`+w.suite+
		`","url":"https://{{metadata.host}}/"}],"allowed_hosts":["staging.example.com","*.pr.example.com"]}`, stored())
	require.Contains(t, p.text, "gate:\n  conditions:\n    - {", "the policy for slipway.yaml")
	// Nothing is lost when the page is saved as it is.
	before := stored()
	p = press(p, "save", nil)
	require.Contains(t, p.text, "The policy was saved.")
	require.JSONEq(t, before, stored())

	// A member reads it, and changes nothing.
	member := w.console(w.member("reader", account.Member))
	seen := member.open("/console/builds" + at)
	require.Equal(t, http.StatusOK, seen.status)
	require.Nil(t, seen.form(at))
	require.Contains(t, seen.text, "max reports: 2")
	require.NotContains(t, seen.text, buildScript)
	token := fields(seen.form("/sign-out")).Get("csrf")
	for _, form := range []string{at, at + "/delete", "/builds/" + w.build + "/gate/override", "/builds/" + w.build +
		"/gate/override/remove"} {
		require.Equal(t, http.StatusForbidden, member.post("/console/builds"+form, url.Values{"csrf": {token}}).status, form)
	}
	p = w.done(p, at+"/delete", nil, "The policy was removed.")
	require.Contains(t, p.text, "The app has no policy yet")
	require.Contains(t, w.submit(p, at, url.Values{"do": {"save"}}).text, "must have at least one")
	require.Contains(t, w.see("/builds/"+w.build).text, "nothing says whether this build may go on")
	require.Contains(t, member.open("/console/builds"+at).text, "The app has no gate policy")
}

func TestConsoleGate(t *testing.T) {
	t.Parallel()
	w := newGateWorld(t)
	build := "/builds/" + w.build
	w.see(build, "The app has no <a href=")
	require.NotContains(t, w.see("/apps/"+w.app).text, "<th>Gate</th>", "no build has one")
	w.set(`{"conditions":[{"name":"` + buildScript +
		`","type":"size","max_bytes":1},{"name":"Tried","type":"testers","min_testers":3}],"hold_notifications":true}`)
	w.settled("fail")
	p := w.see(build, `<span class="badge bad">fail</span>`, "What is missing", "at most 1 byte", "too large", "Override the gate")
	require.NotContains(t, p.text, buildScript)
	require.NotEmpty(t, p.watched(), "the page waits for news of the gate")
	require.Contains(t, w.see("/apps/"+w.app, "<th>Gate</th>").text, build+`#gate"><span class="badge bad">fail</span>`)
	require.Contains(t, w.visitor.open("/console").main(), build+`#gate"><span class="badge bad">fail</span>`, "the overview")
	badge := ""
	for node := range p.root.Descendants() {
		if node.Data == "img" && strings.Contains(attribute(node, "src"), "/badge.svg") {
			badge = attribute(node, "src")
		}
	}
	picture := newConsole(w.surface).open(badge)
	require.Equal(t, http.StatusOK, picture.status, badge)
	require.Contains(t, picture.text, "gate: fail")
	require.Contains(t, p.text, "[![gate]("+w.base+"/api/v3/builds/"+w.build+"/gate/badge.svg?token=")
	for _, to := range p.links() {
		if strings.HasPrefix(to, "/console/builds") {
			require.Equal(t, http.StatusOK, w.visitor.open(to).status, to)
		}
	}

	_, version := w.visitor.news(p.watched(), "")
	answered := w.visitor.waits(t.Context(), p.watched(), version)
	require.Contains(t, w.submit(p, build+"/gate/override", url.Values{"state": {"pass"}, "reason": {" "}}).text,
		`class="notice bad"`, "a reason is required")
	require.Contains(t, w.submit(p, build+"/gate/override", url.Values{"state": {"maybe"}, "reason": {"x"}}).text, "must be pass or fail")
	p = w.done(p, build+"/gate/override", url.Values{"state": {"pass"}, "reason": {buildScript}}, "The gate was overridden.")
	got := answered()
	require.NoError(t, got.err)
	require.Equal(t, http.StatusOK, got.status, "the open page heard of it")
	require.NotContains(t, p.text, buildScript)
	require.Contains(t, p.text, "overrode the gate")
	require.Contains(t, p.text, "The conditions say fail.")
	require.Equal(t, "pass", w.shows(build, "build.gate.state"))
	require.Equal(t, "true", w.shows(build, "build.gate.overridden"))
	require.Contains(t, w.see("/apps/"+w.app).text, `<span class="sub">by hand</span>`)
	history := w.see(build+"/gate", "an override", "the conditions", w.boot.Owner.Email)
	require.NotContains(t, history.text, buildScript)
	require.Contains(t, history.text, "&lt;script&gt;")
	p = w.done(p, build+"/gate/override/remove", nil, "The conditions decide again.")
	require.Contains(t, p.text, `<span class="badge bad">fail</span>`)
	require.Equal(t, http.StatusOK, w.see(build+"/gate?per_page=1", `rel="next"`).status)
	require.Equal(t, http.StatusBadRequest, w.visitor.open("/console/builds"+build+"/gate?nonsense=1").status)
	require.Equal(t, http.StatusNotFound, w.visitor.open("/console/builds/builds/987654321/gate").status)

	w.set(`{"conditions":[{"name":"Tried","type":"testers","min_testers":3}]}`)
	w.settled("unknown")
	p = w.see(build, `<span class="badge wait">unknown</span>`, "What is missing", "<li>Tried: ")
	require.NotContains(t, p.text, "too large")
	require.Equal(t, "unknown", w.shows(build, "build.gate.state"))
}

// byID is the element of a page with an id; nil when there is none.
func byID(root *html.Node, id string) *html.Node {
	for node := range root.Descendants() {
		if node.Type == html.ElementNode && attribute(node, "id") == id {
			return node
		}
	}
	return nil
}
