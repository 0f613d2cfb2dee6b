package replay_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	store "github.com/slipway-qa/slipway/storage/run"
	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/worker/run/replay"
)

var saveButton = step.Fingerprint{Tag: "button", Role: "button", Name: "Save", Text: "Save", Attributes: map[string]string{"id": "btn-1", "type": "submit", "class": "btn primary"}}

func TestHeals(t *testing.T) {
	t.Parallel()
	out := `<p id=out></p>`
	for name, c := range map[string]struct {
		body, to string
		print    step.Fingerprint
	}{
		"moved id":   {`<button id=save-now type=submit class="btn primary" onclick="out.textContent='ok'">Save</button><button id=del type=submit class="btn primary">Delete</button>`, "#save-now", saveButton},
		"made id":    {`<button id=x9f8e7d6c5 type=submit class="btn primary" onclick="out.textContent='ok'">Save</button><button type=button>Close</button>`, `button[type="submit"]`, saveButton},
		"a link now": {`<a href=#x role=button class="btn primary" onclick="out.textContent='ok'">Save</a>`, `a[href="#x"]`, step.Fingerprint{Tag: "button", Role: "button", Name: "Save", Text: "Save"}},
		"test id": {`<button data-testid=save onclick="out.textContent='ok'">Store it</button><button data-testid=other>Save</button>`, `[data-testid="save"]`,
			step.Fingerprint{Tag: "button", Role: "button", Name: "Save it", TestID: "save"}},
		"in a shadow root": {`<x-a></x-a><script>const r = document.querySelector("x-a").attachShadow({mode: "open"});
			r.innerHTML = "<button id=new type=submit class='btn primary'>Save</button>"; r.querySelector("button").onclick = () => out.textContent = "ok"</script>`, "#new", saveButton},
		"in a frame":   {`<iframe id=f srcdoc="<button id=new type=submit class='btn primary' onclick=&quot;parent.out.textContent='ok'&quot;>Save</button>"></iframe>`, "#new", saveButton},
		"frame is out": {`<button id=new type=submit class="btn primary" onclick="out.textContent='ok'">Save</button>`, "#new", inFrame(saveButton, "#gone")},
		"row by link": {`<a href=#3 class=e>Edit</a><a href=#7 class=e onclick="out.textContent='ok'">Edit</a><a href=#8 class=e>Edit</a>`, `a[href="#7"]`,
			step.Fingerprint{Tag: "a", Role: "link", Name: "Edit", Text: "Edit", Attributes: map[string]string{"href": "#7", "id": "old"}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := pass(t, out+c.body, do(step.Click, step.Args{Selector: printed("#btn-1", c.print)}), is("#out", step.TextIs, "ok"))
			require.Equal(t, 1, r.Healed)
			healed := r.Records[0].Healed
			require.NotNil(t, healed)
			require.Equal(t, "#btn-1", healed.From.Value)
			require.Equal(t, c.to, healed.To.Value)
			require.Equal(t, step.CSS, healed.To.Type)
			require.NotNil(t, healed.To.Fingerprint)
			require.GreaterOrEqual(t, healed.Score, 0.7)
			require.LessOrEqual(t, healed.Score, 1.0)
			require.Contains(t, healed.Reason, "same ")
			// What was found is a selector that works by itself.
			r = pass(t, out+c.body, do(step.Click, step.Args{Selector: &healed.To}), is("#out", step.TextIs, "ok"))
			require.Zero(t, r.Healed)
		})
	}
	email := step.Fingerprint{Tag: "input", Role: "textbox", Name: "E-mail", Label: "E-mail", Attributes: map[string]string{"id": "mail", "name": "mail", "type": "email"}}
	pass(t, `<label>E-mail <input name=address type=email></label><label>Phone <input name=phone type=tel></label>`,
		do(step.InputText, step.Args{Selector: printed("#mail", email), Text: new(string("a@b"))}), is("[name=address]", step.ValueIs, "a@b"))
}

func inFrame(print step.Fingerprint, path ...string) step.Fingerprint {
	print.FramePath = path
	return print
}

// The wrong element is worse than none.
func TestDoesNotHeal(t *testing.T) {
	t.Parallel()
	for name, body := range map[string]string{
		"another name":       `<button id=btn-2 type=submit class="btn primary" onclick="hit()">Delete</button>`,
		"two that are alike": `<button type=submit class="btn primary" onclick="hit()">Save</button><button type=submit class="btn primary" onclick="hit()">Save</button>`,
		"two that are near":  `<button type=submit class="btn primary" onclick="hit()">Save draft</button><button type=submit class="btn primary" onclick="hit()">Save all</button>`,
		"the id of another":  `<div id=btn-1x onclick="hit()">Save the date</div><button class="btn primary" type=submit onclick="hit()">Cancel</button>`,
		"invisible":          `<button id=new type=submit class="btn primary" style="display:none" onclick="hit()">Save</button>`,
		"disabled":           `<button id=btn-1 type=submit class="btn primary" disabled>Save</button><button id=new type=submit class="btn primary" onclick="hit()">Save</button>`,
		"nothing":            `<p>Save</p>`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := play(t, replay.Config{TestURL: site(t, map[string]string{"/": `<script>function hit() { document.title = "wrong" }</script>` + body}),
				Steps: []step.Step{within(800, do(step.Click, step.Args{Selector: printed("#btn-1", saveButton)}))}})
			require.Equal(t, store.CodeStepFailed, r.Code)
			require.Zero(t, r.Healed)
			require.Nil(t, r.Records[0].Healed)
			if name == "disabled" {
				require.Contains(t, r.Message, "it is disabled")
			} else {
				require.Contains(t, r.Message, "nothing on the page is similar enough")
			}
		})
	}
	row := step.Fingerprint{Tag: "a", Role: "link", Name: "Edit", Text: "Edit", Attributes: map[string]string{"href": "/edit/7"}}
	fails(t, `<a href=/edit/8>Edit</a>`, store.CodeStepFailed, "similar enough", within(700, do(step.Click, step.Args{Selector: printed("#old", row)})))
	// An element that comes late is waited for, not replaced by its like.
	r := pass(t, `<p id=out></p><button id=new type=submit class="btn primary">Save as</button><script>setTimeout(() => { const b = document.createElement("button");
		b.id = "btn-1"; b.textContent = "Save"; b.onclick = () => out.textContent = "ok"; document.body.append(b) }, 250)</script>`,
		do(step.Click, step.Args{Selector: printed("#btn-1", saveButton)}), is("#out", step.TextIs, "ok"))
	require.Zero(t, r.Healed)
}

func TestFingerprint(t *testing.T) {
	t.Parallel()
	cases := []struct{ title, body, role, name string }{
		{"image in a link", `<a id=x href=#><img alt="Home page" width=9 height=9></a>`, "link", "Home page"},
		{"labelledby", `<span id=l1>First</span><span id=l2 hidden>second</span><button id=x aria-labelledby="l1 l2">B</button>`, "button", "First second"},
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
	r = pass(t, `<input id=x type=file aria-label="Your picture">`, do(step.UploadFile, step.Args{Selector: css("#x"), File: &step.File{Name: "a"}}))
	require.Equal(t, "Your picture", r.Fingerprints["s1"].Name)
}
