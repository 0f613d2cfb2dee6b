package replay_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	store "github.com/slipway-qa/slipway/storage/run"
	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/worker/run/replay"
)

// recorded plays steps on a page until they pass, and returns them with the
// fingerprints that they have learnt.
func recorded(t testing.TB, body string, steps ...step.Step) []step.Step {
	t.Helper()
	return learnt(steps, pass(t, body, steps...))
}

// learnt returns steps with the fingerprints of a result.
func learnt(steps []step.Step, r replay.Result) []step.Step {
	list := make([]step.Step, len(steps))
	for i, s := range steps {
		if print, ok := r.Fingerprints[s.ID]; ok {
			s.Tool = withPrint(s.Tool, &print)
		}
		list[i] = s
	}
	return list
}

func withPrint(t step.Tool, print *step.Fingerprint) step.Tool {
	if t.Args.Tool != nil {
		inner := withPrint(*t.Args.Tool, print)
		t.Args.Tool = &inner
		return t
	}
	selector := *t.Args.Selector
	selector.Fingerprint = print
	t.Args.Selector = &selector
	return t
}

// driftCase is a step on a page before and after a change. Where the step acts in spite
// of the change, the page notes what it acted on.
type driftCase struct {
	before, after string
	selector      *step.Selector
	mode          string
	code          string // of a step that fails
	drifted       bool
	reason        string
	was, is       string // names
}

// noted is a page that notes on what it was clicked.
func noted(body string) string {
	return `<p id=out></p>` + body + `<script>addEventListener("click", (e) => out.textContent += e.target.id || e.target.textContent)</script>`
}

func people(rows ...string) string {
	body := "<table><tr><th>Name<th>Mail<th></tr>"
	for _, name := range rows {
		body += "<tr><td>" + name + "<td>" + name + "@example.com<td><button>Edit</button></tr>"
	}
	return noted(body + "</table>")
}

func buttonNamed(name string) *step.Selector {
	return &step.Selector{Type: step.ByRole, Value: "button", Name: name}
}

func driftCases() map[string]driftCase {
	first, save := css("tr:nth-child(2) button"), css("#act")
	return map[string]driftCase{
		"rows re-ordered": {people("Ada", "Bob"), people("Bob", "Ada"), first, "", store.CodeDrifted, true, "it is in another row", "Edit", "Edit"},
		"row is gone":     {people("Ada", "Bob", "Eve"), people("Bob", "Eve"), first, "", store.CodeDrifted, true, "it is in another row", "Edit", "Edit"},
		"rows re-ordered, reported": {people("Ada", "Bob"), people("Bob", "Ada"), first, step.DriftReport, "", true, "it is in another row",
			"Edit", "Edit"},
		"rows re-ordered, off": {before: people("Ada", "Bob"), after: people("Bob", "Ada"), selector: first, mode: step.DriftOff},
		"rows known by numbers": {people("Order 17", "Order 18"), people("Order 18", "Order 17"), first, "", store.CodeDrifted, true,
			"it is in another row", "Edit", "Edit"},
		"entries re-ordered": {noted(`<ul><li><button>Red</button><li><button>Blue</button></ul>`), noted(`<ul><li><button>Blue</button><li><button>Red</button></ul>`),
			css("li:first-child button"), "", store.CodeDrifted, true, "it is in another row", "Red", "Blue"},
		"an id moved to what deletes": {noted(`<button id=act>Save profile</button><button id=b>Delete profile</button>`),
			noted(`<button id=b>Save profile</button><button id=act>Delete profile</button>`), save, "", store.CodeDrifted, true,
			"it has another name", "Save profile", "Delete profile"},
		"an id moved from what deletes": {noted(`<button id=act>Konto löschen</button>`), noted(`<button id=act>Profil ansehen</button>`), save, "",
			store.CodeDrifted, true, "it has another name", "Konto löschen", "Profil ansehen"},
		"a name that is a part": {noted(`<button>Continue</button><button>Back</button>`), noted(`<button>Continue without saving</button><button>Back</button>`),
			buttonNamed("Continue"), "", "", true, "it has another name", "Continue", "Continue without saving"},
		"a name that is a part, to fail": {noted(`<button>Continue</button>`), noted(`<button>Continue without saving</button>`), buttonNamed("Continue"),
			step.DriftFail, store.CodeDrifted, true, "it has another name", "Continue", "Continue without saving"},
		"renamed in its row": {noted(`<table><tr><td>Ada<td><button>Edit</button></table>`), noted(`<table><tr><td>Ada<td><button>Change</button></table>`),
			css("td button"), "", "", true, "it has another name", "Edit", "Change"},
		"a test id that moved to what deletes": {noted(`<button data-testid=act>Save</button>`), noted(`<button data-testid=act>Delete</button>`),
			&step.Selector{Type: step.TestID, Value: "act"}, "", store.CodeDrifted, true, "it has another name", "Save", "Delete"},
		"a test id that still deletes": {noted(`<button data-testid=act>Delete profile</button>`), noted(`<button data-testid=act>Delete everything</button>`),
			&step.Selector{Type: step.TestID, Value: "act"}, "", store.CodeDrifted, true, "it has another name", "Delete profile", "Delete everything"},
		"translated, to fail": {noted(`<button data-testid=act>Save</button>`), noted(`<button data-testid=act>Speichern</button>`),
			&step.Selector{Type: step.TestID, Value: "act"}, step.DriftFail, store.CodeDrifted, true, "it has another name", "Save", "Speichern"},
		"translated, reported": {noted(`<button data-testid=act>Save</button>`), noted(`<button data-testid=act>Speichern</button>`),
			&step.Selector{Type: step.TestID, Value: "act"}, step.DriftReport, "", true, "it has another name", "Save", "Speichern"},
		// What contradicts nothing.
		"the same page":  {before: people("Ada", "Bob"), after: people("Ada", "Bob"), selector: first},
		"a new row":      {before: people("Ada", "Bob"), after: people("Ada", "Bob", "Eve"), selector: first},
		"a live number":  {before: noted(`<button id=act>Inbox (3)</button>`), after: noted(`<button id=act>Inbox (12)</button>`), selector: save},
		"no number more": {before: noted(`<button id=act>Inbox (3)</button>`), after: noted(`<button id=act>Inbox</button>`), selector: save},
		"a date": {before: noted(`<button id=act>Today: Tuesday, November 24th</button>`), after: noted(`<button id=act>Today: Friday, December 1st</button>`),
			selector: save},
		"case and space": {before: noted(`<button id=act style="text-transform:uppercase">Save  it</button>`), after: noted(`<button id=act>SAVE it</button>`),
			selector: save},
		"a live number in the row": {before: noted(`<table><tr><td>Ada<td>seen 3 times<td><button>Edit</button></table>`),
			after: noted(`<table><tr><td>Ada<td>seen 17 times<td><button>Edit</button></table>`), selector: css("td button")},
		"a column more": {before: noted(`<table><tr><td>Ada<td><button>Edit</button></table>`),
			after: noted(`<table><tr><td>Engineer<td>Ada<td><button>Edit</button></table>`), selector: css("td button")},
		"translated, with a test id": {before: noted(`<button data-testid=act>Save</button>`), after: noted(`<button data-testid=act>Speichern</button>`),
			selector: &step.Selector{Type: step.TestID, Value: "act"}},
		"translated, with a test id of a risky word": {before: noted(`<button data-testid=order-note>Save</button>`),
			after: noted(`<button data-testid=order-note>Speichern</button>`), selector: &step.Selector{Type: step.TestID, Value: "order-note"}},
		"an icon without a name": {before: noted(`<button id=act>Save</button>`), after: noted(`<button id=act><svg id=icon width=9 height=9></svg></button>`), selector: save},
	}
}

func TestDrift(t *testing.T) {
	t.Parallel()
	for name, c := range driftCases() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			before, after := site(t, map[string]string{"/": c.before}), site(t, map[string]string{"/": c.after})
			steps := []step.Step{do(step.Click, step.Args{Selector: c.selector})}
			first := play(t, replay.Config{TestURL: before, Steps: steps})
			require.Equal(t, "PASSED", first.Status, first.Message)
			print, ok := first.Fingerprints["s1"]
			require.True(t, ok)
			learnt := *c.selector
			learnt.Fingerprint = &print
			clicked := is("#out", step.TextIs, "")
			clicked.Tool.Args.Not = true
			var shots int
			r := play(t, replay.Config{TestURL: after, Steps: []step.Step{do(step.Click, step.Args{Selector: &learnt}), clicked}, Drift: c.mode,
				Capture: func(_ context.Context, a replay.Artifact) string {
					if a.Kind == store.Screenshot {
						shots++
					}
					return "file"
				}})
			require.Equal(t, c.code, r.Code, r.Message)
			record := r.Records[0]
			if !c.drifted {
				require.Nil(t, record.Drifted)
				require.Zero(t, r.Drifted)
				return
			}
			require.Equal(t, 1, r.Drifted)
			require.NotNil(t, record.Drifted)
			require.Equal(t, c.was, record.Drifted.Expected.Name)
			require.Equal(t, c.is, record.Drifted.Found.Name)
			require.Equal(t, c.reason, record.Drifted.Reason)
			require.Equal(t, c.code == "", record.Drifted.Acted)
			require.Equal(t, learnt.Value, record.Drifted.To.Value)
			require.NotNil(t, record.Drifted.To.Fingerprint)
			require.Contains(t, record.Result.Message, "expected button")
			if c.code != "" {
				require.Equal(t, "FAILED", r.Status)
				require.Equal(t, 1, shots)
				require.Contains(t, r.Message, "nothing was done")
			}
			// Who accepts what was found has a step that fits.
			again := play(t, replay.Config{TestURL: after, Steps: []step.Step{do(step.Click, step.Args{Selector: &record.Drifted.To})}, Drift: step.DriftFail})
			require.Equal(t, "PASSED", again.Status, again.Message)
		})
	}
}

// With fail nothing is done, whatever the action is.
func TestDriftFailsBeforeTheAction(t *testing.T) {
	t.Parallel()
	page := func(first, second string) string {
		return `<p id=out></p><table><tr><td>` + first + `<td><input oninput="out.textContent='typed'"></tr><tr><td>` + second + `<td><input></tr></table>`
	}
	fill := do(step.InputText, step.Args{Selector: css("tr:first-child input"), Text: new(string("7"))})
	known := recorded(t, page("Ada", "Bob"), fill)
	require.NotNil(t, known[0].Tool.Args.Selector.Fingerprint)
	r := play(t, replay.Config{TestURL: site(t, map[string]string{"/": page("Bob", "Ada")}), Steps: []step.Step{known[0]}})
	require.Equal(t, store.CodeDrifted, r.Code, r.Message)
	// The optional step is skipped, and the page is as it was.
	known[0].Optional = true
	r = play(t, replay.Config{TestURL: site(t, map[string]string{"/": page("Bob", "Ada")}), Steps: []step.Step{known[0], is("#out", step.TextIs, "")}})
	require.Equal(t, "PASSED", r.Status, r.Message)
	require.Equal(t, []string{step.Skipped, step.Passed}, statuses(r))
	require.NotNil(t, r.Records[0].Drifted)
}

// A page that sorts its rows after it has shown them has not drifted.
func TestDriftWaits(t *testing.T) {
	t.Parallel()
	sorted := `<table id=t><tr><td>Ada<td><button>Edit</button></tr><tr><td>Bob<td><button>Edit</button></tr></table>`
	late := `<table id=t><tr><td>Bob<td><button>Edit</button></tr><tr><td>Ada<td><button>Edit</button></tr></table>
		<script>setTimeout(() => t.tBodies[0].prepend(t.rows[1]), 400)</script>`
	known := recorded(t, noted(sorted), do(step.Click, step.Args{Selector: css("tr:first-child button")}))
	r := pass(t, noted(late), known...)
	require.Zero(t, r.Drifted)
}

// A drift that is only reported does not let the step act on the next one. The page
// changes its button between the two: when it is described for the report.
func TestDriftAcceptsOnlyWhatItSaw(t *testing.T) {
	t.Parallel()
	known := recorded(t, noted(`<button id=act>Save profile</button>`), do(step.Click, step.Args{Selector: css("#act")}))
	known[0].TimeoutMS = 4000
	page := func(next string) string {
		return noted(`<button id=act>Loading profile</button><script>
			const act = document.getElementById("act");
			act.hasAttribute = function (name) {
				if (name === "href") queueMicrotask(() => act.textContent = "` + next + `");
				return Element.prototype.hasAttribute.call(this, name);
			};</script>`)
	}
	clicked := is("#out", step.TextIs, "act")
	r := play(t, replay.Config{TestURL: site(t, map[string]string{"/": page("Delete profile")}), Steps: []step.Step{known[0], clicked}})
	require.Equal(t, store.CodeDrifted, r.Code, r.Message)
	require.Equal(t, "Delete profile", r.Records[0].Drifted.Found.Name)
	require.False(t, r.Records[0].Drifted.Acted)
	// One that is harmless too is judged, and acted on.
	known[0].TimeoutMS = 0
	r = play(t, replay.Config{TestURL: site(t, map[string]string{"/": page("Store profile")}), Steps: []step.Step{known[0], clicked}})
	require.Equal(t, "PASSED", r.Status, r.Message)
	require.Equal(t, "Store profile", r.Records[0].Drifted.Found.Name)
	require.True(t, r.Records[0].Drifted.Acted)
}
