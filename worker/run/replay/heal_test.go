package replay_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	store "github.com/slipway-qa/slipway/storage/run"
	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/storage/step/capability"
	"github.com/slipway-qa/slipway/storage/step/playback"
	"github.com/slipway-qa/slipway/worker/run/replay"
)

var saveButton = step.Fingerprint{Tag: "button", Role: "button", Name: "Save", Text: "Save",
	Attributes: map[string]string{"id": "btn-1", "type": "submit", "class": "btn primary"}}

// healing is a step that is healed soon.
func healing(s *step.Selector) step.Step { return within(700, do(step.Click, step.Args{Selector: s})) }

// Fingerprints of earlier versions, which know nothing of the surroundings, heal too.
func TestHeals(t *testing.T) {
	t.Parallel()
	out := `<p id=out></p>`
	for name, c := range map[string]struct {
		body, to, value string
		print           step.Fingerprint
	}{
		"moved id": {`<button id=save-now type=submit class="btn primary" onclick="out.textContent='ok'">Save</button>` +
			`<button id=del type=submit class="btn primary">Delete</button>`, step.ByRole, "button", saveButton},
		"made id": {`<button id=x9f8e7d6c5 type=submit class="btn primary" onclick="out.textContent='ok'">Save</button>` +
			`<button type=button>Close</button>`, step.ByRole, "button", saveButton},
		"a link now": {`<a href=#x role=button class="btn primary" onclick="out.textContent='ok'">Save</a>`, step.ByRole,
			"button", step.Fingerprint{Tag: "button", Role: "button", Name: "Save", Text: "Save"}},
		"test id": {`<button data-testid=save onclick="out.textContent='ok'">Store it</button><button data-testid=other>Save</button>`,
			step.TestID, "save",
			step.Fingerprint{Tag: "button", Role: "button", Name: "Save it", TestID: "save"}},
		"in a shadow root": {`<x-a></x-a><script>const r = document.querySelector("x-a").attachShadow({mode: "open"});
			r.innerHTML = "<button id=new type=submit class='btn primary'>Save</button>";
			r.querySelector("button").onclick = () => out.textContent = "ok"</script>`, step.ByRole, "button", saveButton},
		"in a frame": {`<iframe id=f srcdoc="<button id=new type=submit class='btn primary' onclick=&quot;parent.out.textContent='ok'&quot;` +
			`>Save</button>"></iframe>`, step.ByRole, "button", saveButton},
		"frame is out": {`<button id=new type=submit class="btn primary" onclick="out.textContent='ok'">Save</button>`,
			step.ByRole, "button", inFrame(saveButton, "#gone")},
		"row by link": {`<a href=#3 class=e>Edit</a><a href=#7 class=e onclick="out.textContent='ok'">Edit</a><a href=#8 class=e>Edit</a>`,
			step.CSS, "a[href=\"#7\"]",
			step.Fingerprint{Tag: "a", Role: "link", Name: "Edit", Text: "Edit", Attributes: map[string]string{"href": "#7", "id": "old"}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := pass(t, out+c.body, healing(printed("#btn-1", c.print)), is("#out", step.TextIs, "ok"))
			require.Equal(t, 1, r.Healed)
			healed := r.Records[0].Healed
			require.NotNil(t, healed)
			require.Equal(t, "#btn-1", healed.From.Value)
			require.Equal(t, c.to, healed.To.Type)
			require.Equal(t, c.value, healed.To.Value)
			require.NotNil(t, healed.To.Fingerprint)
			require.NotNil(t, healed.To.Fingerprint.Surroundings)
			require.Greater(t, healed.Score, 0.0)
			require.LessOrEqual(t, healed.Score, 1.0)
			require.Contains(t, healed.Reason, "same ")
			// What was found is a selector that works by itself.
			r = pass(t, out+c.body, do(step.Click, step.Args{Selector: &healed.To}), is("#out", step.TextIs, "ok"))
			require.Zero(t, r.Healed)
		})
	}
}

func inFrame(print step.Fingerprint, path ...string) step.Fingerprint {
	print.FramePath = path
	return print
}

// What is found, but not ready, is waited for and never healed; a fingerprint that
// knows no surroundings is trusted less.
func TestDoesNotHeal(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ body, words string }{
		"another name": {`<button id=btn-2 type=submit class="btn primary" onclick="hit()">Delete</button>`,
			"nothing on the page is similar enough"},
		"two that are alike": {`<button type=submit class="btn primary" onclick="hit()">Save</button>` +
			`<button type=submit class="btn primary" onclick="hit()">Save</button>`, "2 elements have its name"},
		"invisible": {`<button id=new type=submit class="btn primary" style="display:none" onclick="hit()">Save</button>`,
			"it is not visible"},
		"disabled": {`<button id=btn-1 type=submit class="btn primary" disabled>Save</button>` +
			`<button id=new type=submit class="btn primary" onclick="hit()">Save</button>`, "it is disabled"},
		"hidden": {`<button id=btn-1 style="display:none">Save</button><button id=new onclick="hit()">Save</button>`,
			"css #btn-1 is not visible"},
		"ambiguous": {`<button id=btn-1 style="display:none">Save</button><button id=btn-1 style="display:none">Save</button>` +
			`<button onclick="hit()">Save</button>`, "css #btn-1"},
		"a row, unknown which": {`<table><tr><td>Ada<td><button onclick="hit()">Save</button></tr></table>`, "it is in another row"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := play(t, replay.Config{TestURL: site(t,
				map[string]string{"/": `<script>function hit() { document.title = "wrong" }</script>` + c.body}),
				Steps: []step.Step{healing(printed("#btn-1", saveButton))}})
			require.Equal(t, store.CodeStepFailed, r.Code)
			require.Zero(t, r.Healed)
			require.Nil(t, r.Records[0].Healed)
			require.Nil(t, r.Records[0].Suggested)
			require.Contains(t, r.Message, c.words)
		})
	}
	row := step.Fingerprint{Tag: "a", Role: "link", Name: "Edit", Text: "Edit", Attributes: map[string]string{"href": "/edit/7"}}
	fails(t, `<a href=/edit/8>Edit</a>`, store.CodeStepFailed, "it leads to another address", healing(printed("#old", row)))
	// The frame that it was in is gone, and another one has such an element.
	fails(t, `<iframe id=b srcdoc="<button id=new>Save</button>"></iframe>`, store.CodeStepFailed, "the frame css #a is not there",
		healing(printed("#btn-1", inFrame(saveButton, "#a"))))
	// It is gone from its frame, and the page has another one.
	both := saveButton
	both.FramePath, both.Surroundings = []string{"#a"}, &step.Surroundings{Alike: step.Alike{Count: 2, SameRow: 2, SameContainers: 2}}
	fails(t, `<iframe id=a srcdoc="<p>Empty</p>"></iframe><button id=new>Save</button>`, store.CodeStepFailed,
		"the one meant may be gone", healing(printed("#btn-1", both)))
	// The value of a variable names another element than the one that was recorded.
	named := step.Selector{Type: step.CSS, Value: "[data-name={{who}}]", Fingerprint: &saveButton}
	r := play(t, replay.Config{TestURL: site(t, map[string]string{"/": `<button id=new>Save</button>`}), Steps: []step.Step{healing(&named)},
		Lookup: func(step.Reference) (string, bool, bool) { return "bob", false, true }})
	require.Equal(t, "FAILED", r.Status)
	// A selector that was edited after the fingerprint was taken.
	edited := step.Selector{Type: step.TestID, Value: "cancel", Fingerprint: &saveButton}
	fails(t, `<button id=new>Save</button>`, store.CodeStepFailed, "", healing(&edited))
}

// What only shows a text is what it says: neither its level nor its test id makes another
// heading the one that was meant.
func TestHeadingIsItsName(t *testing.T) {
	t.Parallel()
	orders := step.Fingerprint{Tag: "h2", Role: "heading", Name: "Orders", Text: "Orders", TestID: "title",
		Attributes:   map[string]string{"id": "btn-1"},
		Surroundings: &step.Surroundings{Alike: step.Alike{Count: 1, SameTestID: 1, SameRow: 1, SameContainers: 1}}}
	for _, body := range []string{`<h2 data-testid=title>Invoices</h2>`, `<h2>Invoices</h2>`, `<h2 id=new>Invoices</h2><h3>Order</h3>`} {
		r := fails(t, body, store.CodeStepFailed, "css #btn-1 was not found", healing(printed("#btn-1", orders)))
		require.Zero(t, r.Healed)
		require.Nil(t, r.Records[0].Suggested, body)
	}
	r := pass(t, `<h2 data-testid=title>Orders</h2><h2>Invoices</h2>`, healing(printed("#btn-1", orders)))
	require.Equal(t, 1, r.Healed)
}

// What a step has acted on by a healing is in its record, however the step ends.
func TestHealedAndFailed(t *testing.T) {
	t.Parallel()
	covered := `<button id=new>Save</button><div id=cover style="position:fixed;inset:0"></div>`
	r := fails(t, covered, store.CodeStepFailed, "covered by div#cover", healing(printed("#btn-1", saveButton)))
	require.Equal(t, 1, r.Healed)
	require.NotNil(t, r.Records[0].Healed)
	require.Contains(t, r.Records[0].Result.Message, "found by its fingerprint at role button")
	r = pass(t, covered, optional(healing(printed("#btn-1", saveButton))))
	require.Equal(t, playback.Skipped, r.Records[0].Status)
	require.Equal(t, 1, r.Healed)
	require.NotNil(t, r.Records[0].Healed)
	// Of the two elements of a drag one is healed: the record names one.
	bin := step.Fingerprint{Tag: "button", Role: "button", Name: "Bin", Text: "Bin", Attributes: map[string]string{"id": "bin"}}
	both := within(1000, do(step.Drag, step.Args{Selector: printed("#btn-1", saveButton), Target: printed("#bin", bin)}))
	r = play(t, replay.Config{TestURL: site(t,
		map[string]string{"/": `<button id=new>Save</button><button id=new-bin>Bin</button>`}), Healing: capability.HealApply,
		Steps: []step.Step{both}})
	require.Equal(t, store.CodeStepFailed, r.Code)
	require.Contains(t, r.Message, "but a step is healed once")
	require.Equal(t, 1, r.Healed)
	require.Equal(t, "Bin", r.Records[0].Healed.To.Name)
	require.Equal(t, "Save", r.Records[0].Suggested.To.Name)
}

// An element that comes late is waited for, and not replaced by its like; a page that
// still changes is searched at the end.
func TestHealsLate(t *testing.T) {
	t.Parallel()
	r := pass(t, `<p id=out></p><button id=new type=submit class="btn primary">Save</button><script>setTimeout(() => {
		const b = document.createElement("button");
		b.id = "btn-1"; b.textContent = "Save"; b.onclick = () => out.textContent = "ok"; document.body.append(b) }, 1000)</script>`,
		within(3000, do(step.Click, step.Args{Selector: printed("#btn-1", saveButton)})), is("#out", step.TextIs, "ok"))
	require.Zero(t, r.Healed)
	// Half a second remains for the healing of a step of one.
	r = pass(t, `<button id=new type=submit class="btn primary">Save</button>`,
		within(2000, do(step.Click, step.Args{Selector: printed("#btn-1", saveButton)})))
	require.Equal(t, 1, r.Healed)
	require.GreaterOrEqual(t, r.Records[0].TookMS, int64(1400))
	changing := `<p id=p></p><script>setInterval(() => { p.innerHTML = "<b>" + Date.now() + "</b>" }, 20)</script>`
	r = pass(t, changing+`<button id=new type=submit class="btn primary">Save</button>`,
		within(1500, do(step.Click, step.Args{Selector: printed("#btn-1", saveButton)})))
	require.Equal(t, 1, r.Healed)
	require.GreaterOrEqual(t, r.Records[0].TookMS, int64(1200))
	// What is healed must be ready as any other.
	r = pass(t,
		`<p id=out></p><button id=new onclick="out.textContent=window.late">Save</button><div id=cover style="position:fixed;inset:0"></div>
		<script>setTimeout(() => { window.late = "ok"; cover.remove() }, 1200)</script>`, healing(printed("#btn-1", saveButton)), is("#out",
			step.TextIs, "ok"))
	require.Equal(t, 1, r.Healed)
}

func TestHealingModes(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		mode, title     string
		healed, suggest bool
		words           string
	}{
		"default":               {"", "Save", true, false, "found by its fingerprint at role button"},
		"default deletes":       {"", "Delete account", false, true, "because of what it is called"},
		"default pays, German":  {"", "Jetzt kaufen", false, true, "because of what it is called"},
		"default, no such word": {"", "Deleted items", true, false, "at role button"},
		"apply deletes":         {capability.HealApply, "Delete account", true, false, "at role button"},
		"suggest":               {capability.HealSuggest, "Save", false, true, "which healing only suggests"},
		"off":                   {capability.HealOff, "Save", false, false, "css #old was not found"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			print := step.Fingerprint{Tag: "button", Role: "button", Name: c.title}
			button := step.Selector{Type: step.ByRole, Value: "button", Name: c.title, Exact: true}
			steps := []step.Step{healing(printed("#old", print)), is("#out", step.TextIs, "ok")}
			address := site(t, map[string]string{"/": `<p id=out></p><button id=new onclick="out.textContent='ok'">` + c.title + `</button>`})
			r := play(t, replay.Config{TestURL: address, Steps: steps, Healing: c.mode})
			require.Equal(t, c.healed, r.Records[0].Healed != nil)
			require.Equal(t, c.suggest, r.Records[0].Suggested != nil)
			require.Contains(t, r.Records[0].Result.Message, c.words)
			if c.suggest {
				require.Equal(t, playback.Failed, r.Records[0].Status)
				require.Contains(t, r.Message, "it may be role button")
				to := r.Records[0].Suggested.To
				to.Fingerprint = nil
				require.Equal(t, button, to)
				require.Zero(t, r.Healed)
			}
			// What a person refused is neither used nor suggested.
			r = play(t, replay.Config{TestURL: address, Steps: steps, Healing: c.mode,
				Refused: map[string][]step.Selector{"s1": {*css("#other"), button}}})
			require.Equal(t, "FAILED", r.Status)
			require.Nil(t, r.Records[0].Healed)
			require.Nil(t, r.Records[0].Suggested)
			require.Equal(t, c.mode != capability.HealOff, strings.Contains(r.Message, "a person refused role button"))
		})
	}
	// A field can be emptied again, whatever it is for.
	order := step.Fingerprint{Tag: "input", Role: "textbox", Name: "Order number", Label: "Order number",
		Attributes: map[string]string{"type": "text"}}
	r := pass(t, `<label>Order number <input id=new></label>`,
		within(700, do(step.InputText, step.Args{Selector: printed("#old", order), Text: new(string("17"))})))
	require.Equal(t, 1, r.Healed)
	// An optional step is skipped, and suggests what it may have meant.
	r = pass(t, `<button id=new>Send</button>`,
		optional(healing(printed("#old", step.Fingerprint{Tag: "button", Role: "button", Name: "Send"}))))
	require.Equal(t, playback.Skipped, r.Records[0].Status)
	require.NotNil(t, r.Records[0].Suggested)
}

// Secrets are in nothing that a healing stores or says.
func TestHealingHidesSecrets(t *testing.T) {
	t.Parallel()
	const secret = "hunter2-and-more"
	body := `<h1>Account of ` + secret + `</h1><table><tr id="row-` + secret + `"><td>Bob<td>` + secret +
		`<td><button id=new>Save</button></tr></table><input id=i>`
	cfg := replay.Config{TestURL: site(t, map[string]string{"/": body}),
		Lookup: func(step.Reference) (string, bool, bool) { return secret, true, true },
		Steps:  []step.Step{input("#i", "{{password}}"), click("#new")}}
	r := play(t, cfg)
	require.Equal(t, "PASSED", r.Status, r.Message)
	around := r.Fingerprints["s2"].Surroundings
	require.NotNil(t, around)
	require.Equal(t, []string{"Bob"}, around.Row.Texts)
	text, err := json.Marshal(r)
	require.NoError(t, err)
	require.NotContains(t, string(text), secret)
}

// Texts that the page has cut keep no beginning of a secret.
func TestFingerprintsHideTheBeginningOfSecrets(t *testing.T) {
	t.Parallel()
	const secret = "hunter2-and-more"
	at := func(most int) string { return strings.Repeat("x ", most/2-4) + secret } // eight characters stay
	body := `<input id=i><h1>` + at(120) + `</h1><form id="` + at(120) + `" action="/` + at(118) + `" aria-label="` +
		at(120) + `"><table><tr id="` + at(120) + `"><td>Bob<td>` +
		at(120) + `<td><button id=new data-testid="` + at(200) + `" title="` + at(200) + `">Save</button></tr></table></form>`
	r := play(t, replay.Config{TestURL: site(t, map[string]string{"/": body}),
		Lookup: func(step.Reference) (string, bool, bool) { return secret, true, true },
		Steps:  []step.Step{input("#i", "{{password}}"), click("#new")}})
	require.Equal(t, "PASSED", r.Status, r.Message)
	require.Equal(t, []string{"Bob"}, r.Fingerprints["s2"].Surroundings.Row.Texts)
	text, err := json.Marshal(r.Fingerprints)
	require.NoError(t, err)
	require.NotContains(t, string(text), secret[:3])
}

func TestFingerprint(t *testing.T) {
	t.Parallel()
	cases := []struct{ title, body, role, name string }{
		{"image in a link", `<a id=x href=#><img alt="Home page" width=9 height=9></a>`, "link", "Home page"},
		{"labelledby", `<span id=l1>First</span><span id=l2 hidden>second</span><button id=x aria-labelledby="l1 l2">B</button>`,
			"button", "First second"},
		{"aria-label", `<button id=x aria-label="Close it">x</button>`, "button", "Close it"},
		{"before", `<style>#x::before { content: "New: " }</style><button id=x>item</button>`, "button", "New: item"},
		{"label", `<label for=x>Your <b>name</b></label><input id=x>`, "textbox", "Your name"},
		{"wrapped checkbox", `<label><input id=x type=checkbox> I agree</label>`, "checkbox", "I agree"},
		{"placeholder", `<input id=x placeholder=Search type=search>`, "searchbox", "Search"},
		{"title", `<button id=x title=Menu style="width:20px;height:20px"></button>`, "button", "Menu"},
		{"submit", `<input id=x type=submit>`, "button", "Submit"},
		{"submit with value", `<input id=x type=submit value="Send now">`, "button", "Send now"},
		{"heading", `<h2 id=x>The <i>title</i></h2>`, "heading", "The title"},
		{"no name by content", `<div id=x>Some text</div>`, "", ""},
		{"hidden part", `<button id=x>Buy<span style="display:none"> never</span><span aria-hidden=true>!</span></button>`, "button", "Buy"},
		{"svg title", `<button id=x><svg width=9 height=9><title>Gear</title></svg></button>`, "button", "Gear"},
	}
	var body strings.Builder
	var steps []step.Step
	for i, c := range cases {
		n := fmt.Sprint("x", i)
		fmt.Fprintf(&body, "<div>%s</div>", strings.NewReplacer("id=x", "id="+n, "#x", "#"+n, "for=x", "for="+n).Replace(c.body))
		steps = append(steps, click("#"+n))
	}
	r := pass(t, body.String(), steps...)
	for i, c := range cases {
		print := r.Fingerprints[fmt.Sprint("s", i+1)]
		require.Equal(t, c.role, print.Role, c.title)
		require.Equal(t, c.name, print.Name, c.title)
		require.Equal(t, fmt.Sprint("x", i), print.Attributes["id"], c.title)
	}
	r = pass(t, `<input id=x type=password name=p value="the old one">`, input("#x", "the new one"))
	require.NotContains(t, fmt.Sprint(r.Fingerprints["s1"]), "one")
	r = pass(t, `<input id=x type=file aria-label="Your picture">`, do(step.UploadFile, step.Args{Selector: css("#x"),
		File: &step.File{Name: "a"}}))
	require.Equal(t, "Your picture", r.Fingerprints["s1"].Name)
}
