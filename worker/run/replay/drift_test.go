package replay_test

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	store "github.com/slipway-qa/slipway/storage/run"
	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/storage/step/capability"
	"github.com/slipway-qa/slipway/storage/step/playback"
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
	return `<p id=out></p>` + body +
		`<script>addEventListener("click", (e) => out.textContent += e.target.id || e.target.textContent)</script>`
}

func people(rows ...string) string {
	body := "<table><tr><th>Name<th>Mail<th></tr>"
	for _, name := range rows {
		body += "<tr><td>" + name + "<td>" + name + "@example.com<td><button>Edit</button></tr>"
	}
	return noted(body + "</table>")
}

// rowsOf is a table of rows, of which each is the texts of its columns, with a button.
func rowsOf(rows ...[]string) string {
	body := "<table><tr><th>Name<th></tr>"
	for _, columns := range rows {
		body += "<tr><td>" + strings.Join(columns, "<td>") + "<td><button>Delete</button></tr>"
	}
	return noted(body + "</table>")
}

// cards is a page of cards with a button each, below a heading or a text.
func cards(tag string, names ...string) string {
	body := "<h1>People</h1><main>"
	for _, name := range names {
		body += "<div class=card><" + tag + ">" + name + "</" + tag + "><button>Delete</button></div>"
	}
	return noted(body + "</main>")
}

func buttonNamed(name string) *step.Selector {
	return &step.Selector{Type: step.ByRole, Value: "button", Name: name}
}

func driftCases() map[string]driftCase {
	first, save := css("tr:nth-child(2) button"), css("#act")
	test, card := &step.Selector{Type: step.TestID, Value: "act"}, css("div:nth-child(1) button")
	const row, heading = "it is in another row", "it is under another heading"
	one := func(text string) []string { return []string{text} }
	gone := func(name, next string) driftCase {
		return driftCase{rowsOf(one(name), one(next)), rowsOf(one(next)), first, "", store.CodeDrifted, true, row, "Delete", "Delete"}
	}
	number := func(was, is, mode, code string) driftCase {
		return driftCase{noted("<button id=act>" + was + "</button>"), noted("<button id=act>" + is + "</button>"), save, mode, code, true,
			"its name has other numbers", was, is}
	}
	return map[string]driftCase{
		"rows re-ordered": {people("Ada", "Bob"), people("Bob", "Ada"), first, "", store.CodeDrifted, true,
			"it is in another row", "Edit", "Edit"},
		"row is gone": {people("Ada", "Bob", "Eve"), people("Bob", "Eve"), first, "", store.CodeDrifted, true,
			"it is in another row", "Edit", "Edit"},
		"rows re-ordered, reported": {people("Ada", "Bob"), people("Bob", "Ada"), first, capability.DriftReport, "", true,
			"it is in another row",
			"Edit", "Edit"},
		"rows re-ordered, off": {before: people("Ada", "Bob"), after: people("Bob", "Ada"), selector: first, mode: capability.DriftOff},
		"rows known by numbers": {people("Order 17", "Order 18"), people("Order 18", "Order 17"), first, "", store.CodeDrifted, true,
			"it is in another row", "Edit", "Edit"},
		"entries re-ordered": {noted(`<ul><li><button>Red</button><li><button>Blue</button></ul>`),
			noted(`<ul><li><button>Blue</button><li><button>Red</button></ul>`),
			css("li:first-child button"), "", store.CodeDrifted, true, "it is in another row", "Red", "Blue"},
		"an id moved to what deletes": {noted(`<button id=act>Save profile</button><button id=b>Delete profile</button>`),
			noted(`<button id=b>Save profile</button><button id=act>Delete profile</button>`), save, "", store.CodeDrifted, true,
			"it has another name", "Save profile", "Delete profile"},
		"an id moved from what deletes": {noted(`<button id=act>Konto löschen</button>`),
			noted(`<button id=act>Profil ansehen</button>`), save, "",
			store.CodeDrifted, true, "it has another name", "Konto löschen", "Profil ansehen"},
		"a name that is a part": {noted(`<button>Continue</button><button>Back</button>`),
			noted(`<button>Continue without saving</button><button>Back</button>`),
			buttonNamed("Continue"), "", "", true, "it has another name", "Continue", "Continue without saving"},
		"a name that is a part, to fail": {noted(`<button>Continue</button>`), noted(`<button>Continue without saving</button>`),
			buttonNamed("Continue"),
			capability.DriftFail, store.CodeDrifted, true, "it has another name", "Continue", "Continue without saving"},
		"renamed in its row": {noted(`<table><tr><td>Ada<td><button>Edit</button></table>`),
			noted(`<table><tr><td>Ada<td><button>Change</button></table>`),
			css("td button"), "", "", true, "it has another name", "Edit", "Change"},
		"a test id that moved to what deletes": {noted(`<button data-testid=act>Save</button>`), noted(`<button data-testid=act>Delete</button>`),
			&step.Selector{Type: step.TestID, Value: "act"}, "", store.CodeDrifted, true, "it has another name", "Save", "Delete"},
		"a test id that still deletes": {noted(`<button data-testid=act>Delete profile</button>`),
			noted(`<button data-testid=act>Delete everything</button>`),
			&step.Selector{Type: step.TestID, Value: "act"}, "", store.CodeDrifted, true, "it has another name",
			"Delete profile", "Delete everything"},
		"translated, to fail": {noted(`<button data-testid=act>Save</button>`), noted(`<button data-testid=act>Speichern</button>`),
			&step.Selector{Type: step.TestID, Value: "act"}, capability.DriftFail, store.CodeDrifted, true, "it has another name", "Save",
			"Speichern"},
		"translated, reported": {noted(`<button data-testid=act>Save</button>`), noted(`<button data-testid=act>Speichern</button>`),
			&step.Selector{Type: step.TestID, Value: "act"}, capability.DriftReport, "", true, "it has another name", "Save", "Speichern"},
		"translated, with a test id": {noted(`<button data-testid=act>Save</button>`),
			noted(`<button data-testid=act>Speichern</button>`), test, "", "", true,
			"it has another name", "Save", "Speichern"},
		"translated, with a test id of a risky word": {noted(`<button data-testid=order-note>Save</button>`),
			noted(`<button data-testid=order-note>Speichern</button>`),
			&step.Selector{Type: step.TestID, Value: "order-note"}, "", "", true, "it has another name", "Save", "Speichern"},
		"a test id that does something else": {noted(`<button data-testid=act>Save profile</button>`),
			noted(`<button data-testid=act>Cancel account</button>`), test, "",
			"", true, "it has another name", "Save profile", "Cancel account"},

		"a row of another number":  gone("Order 17", "Order 18"),
		"a row that is a number":   gone("1017", "1018"),
		"a row of another user":    gone("user1@example.com", "user2@example.com"),
		"a row of another month":   gone("Backup of January", "Backup of March"),
		"a row whose name goes on": gone("Ann", "Anna"),
		"a row with a number more": gone("Backup", "Backup 2"),
		"a row of another day": {rowsOf([]string{"2024-01-05", "Ann"}, []string{"2024-01-06", "Ann"}),
			rowsOf([]string{"2024-01-06", "Ann"}), first, "", store.CodeDrifted, true, row, "Delete", "Delete"},
		"a row of another number, fail": {rowsOf(one("Order 17"), one("Order 18")), rowsOf(one("Order 18")), first,
			capability.DriftFail, store.CodeDrifted, true, row, "Delete", "Delete"},
		"a row of the same place": {rowsOf([]string{"1", "Ada"}, []string{"2", "Bob"}), rowsOf([]string{"1", "Bob"}),
			first, "", store.CodeDrifted, true, row, "Delete", "Delete"},
		"an only row of another number": {rowsOf(one("Order 17")), rowsOf(one("Order 18")), first, "", store.CodeDrifted,
			true, row, "Delete", "Delete"},
		"cards re-ordered": {cards("h3", "Ada", "Bob"), cards("h3", "Bob", "Ada"), card, "", store.CodeDrifted,
			true, heading, "Delete", "Delete"},
		"a card is gone": {cards("h3", "Ada", "Bob"), cards("h3", "Bob"), card, "", store.CodeDrifted,
			true, heading, "Delete", "Delete"},
		"a card of another number": {cards("h3", "Order 17", "Order 18"), cards("h3", "Order 18"), card, "",
			store.CodeDrifted, true, heading, "Delete", "Delete"},
		"a card is gone, reported": {cards("h3", "Ada", "Bob", "Eve"), cards("h3", "Bob", "Eve"), card, capability.DriftReport,
			"", true, heading, "Delete", "Delete"},
		"cards by a text re-ordered": {cards("span", "Ada", "Bob"), cards("span", "Bob", "Ada"), card, "",
			store.CodeDrifted, true, row, "Delete", "Delete"},
		"a card by a text is gone": {cards("span", "Ada", "Bob"), cards("span", "Bob"), card, "", store.CodeDrifted,
			true, row, "Delete", "Delete"},
		"a date became what deletes": {noted(`<button id=act>May</button>`), noted(`<button id=act>Delete</button>`),
			save, "", store.CodeDrifted, true, "it has another name", "May", "Delete"},
		"a number became a name": {noted(`<button id=act>3</button>`), noted(`<button id=act>Next</button>`),
			save, "", "", true, "it has another name", "3", "Next"},
		"another sum to pay":          number("Pay 10 EUR to Ann", "Pay 99 EUR to Ann", "", ""),
		"another sum to pay, to fail": number("Pay 10 EUR to Ann", "Pay 99 EUR to Ann", capability.DriftFail, store.CodeDrifted),
		"another date of what deletes": number("Delete backup of January", "Delete backup of March", capability.DriftFail,
			store.CodeDrifted),
		"another number of what deletes": number("Delete order 17", "Delete order 18", "", ""),
		// What contradicts nothing.
		"another month": {before: noted(`<button id=act>May</button>`), after: noted(`<button id=act>March</button>`), selector: save},
		"an only card":  {before: cards("h3", "Ada"), after: cards("h3", "Bob"), selector: card},
		"an only text":  {before: cards("span", "Welcome, Ada"), after: cards("span", "Good morning"), selector: card},
		"a heading of all of them": {before: noted("<h2>Day 1</h2><div><button>Delete</button></div><div><button>Delete</button></div>"),
			after:    noted("<h2>Monday</h2><div><button>Delete</button></div><div><button>Delete</button></div>"),
			selector: css("div:nth-of-type(1) button")},
		"a card with a count": {before: cards("h3", "Inbox (3)", "Spam (4)"), after: cards("h3", "Inbox (5)", "Spam (4)"), selector: card},
		"a row with a count":  {before: rowsOf(one("Inbox (3)"), one("Spam")), after: rowsOf(one("Inbox (12)"), one("Spam")), selector: first},
		"a row with an age": {before: rowsOf(one("Ada, 3 minutes ago"), one("Bob")), after: rowsOf(one("Ada, 2 hours ago"),
			one("Bob")), selector: first},
		"a row with a price first": {before: rowsOf([]string{"€ 9.99", "Milk"}, []string{"€ 2", "Tea"}),
			after:    rowsOf([]string{"€ 8.50", "Milk"}, []string{"€ 2", "Tea"}),
			selector: first},
		"a row with other columns": {before: rowsOf([]string{"Order 17", "3 items", "1.99", "2024-01-05"},
			[]string{"Order 18", "1 item", "2.99", "2024-01-06"}),
			after: rowsOf([]string{"Order 17", "4 items", "2.49", "2024-02-07"}), selector: first},
		"a row whose name has a word more": {before: rowsOf(one("Ann"), one("Bob")), after: rowsOf(one("Ann Lee"), one("Bob")), selector: first},
		"the same page":                    {before: people("Ada", "Bob"), after: people("Ada", "Bob"), selector: first},
		"a new row":                        {before: people("Ada", "Bob"), after: people("Ada", "Bob", "Eve"), selector: first},
		"a live number": {before: noted(`<button id=act>Inbox (3)</button>`),
			after: noted(`<button id=act>Inbox (12)</button>`), selector: save},
		"no number more": {before: noted(`<button id=act>Inbox (3)</button>`),
			after: noted(`<button id=act>Inbox</button>`), selector: save},
		"a date": {before: noted(`<button id=act>Today: Tuesday, November 24th</button>`),
			after:    noted(`<button id=act>Today: Friday, December 1st</button>`),
			selector: save},
		"case and space": {before: noted(`<button id=act style="text-transform:uppercase">Save  it</button>`),
			after:    noted(`<button id=act>SAVE it</button>`),
			selector: save},
		"a live number in the row": {before: noted(`<table><tr><td>Ada<td>seen 3 times<td><button>Edit</button></table>`),
			after: noted(`<table><tr><td>Ada<td>seen 17 times<td><button>Edit</button></table>`), selector: css("td button")},
		"a column more": {before: noted(`<table><tr><td>Ada<td><button>Edit</button></table>`),
			after: noted(`<table><tr><td>Engineer<td>Ada<td><button>Edit</button></table>`), selector: css("td button")},
		"an icon without a name": {before: noted(`<button id=act>Save</button>`),
			after: noted(`<button id=act><svg id=icon width=9 height=9></svg></button>`), selector: save},
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
			act := do(step.Click, step.Args{Selector: &learnt})
			if c.code != "" {
				act = within(8000, act) // it fails when its time is over
			}
			var shots int
			r := play(t, replay.Config{TestURL: after, Steps: []step.Step{act, clicked}, Drift: c.mode,
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
			again := play(t, replay.Config{TestURL: after,
				Steps: []step.Step{do(step.Click, step.Args{Selector: &record.Drifted.To})}, Drift: capability.DriftFail})
			require.Equal(t, "PASSED", again.Status, again.Message)
		})
	}
}

// With fail nothing is done, whatever the action is.
func TestDriftFailsBeforeTheAction(t *testing.T) {
	t.Parallel()
	page := func(first, second string) string {
		return `<p id=out></p><table><tr><td>` + first + `<td><input oninput="out.textContent='typed'"></tr><tr><td>` +
			second + `<td><input></tr></table>`
	}
	fill := do(step.InputText, step.Args{Selector: css("tr:first-child input"), Text: new(string("7"))})
	known := recorded(t, page("Ada", "Bob"), fill)
	require.NotNil(t, known[0].Tool.Args.Selector.Fingerprint)
	r := play(t, replay.Config{TestURL: site(t, map[string]string{"/": page("Bob", "Ada")}), Steps: []step.Step{known[0]}})
	require.Equal(t, store.CodeDrifted, r.Code, r.Message)
	// The optional step is skipped, and the page is as it was.
	known[0].Optional = true
	r = play(t, replay.Config{TestURL: site(t, map[string]string{"/": page("Bob", "Ada")}), Steps: []step.Step{known[0],
		is("#out", step.TextIs, "")}})
	require.Equal(t, "PASSED", r.Status, r.Message)
	require.Equal(t, []string{playback.Skipped, playback.Passed}, statuses(r))
	require.NotNil(t, r.Records[0].Drifted)
}

// Hints of an element are compared as a whole fingerprint is, and are not completed from
// an element that contradicts them.
func TestDriftOfHints(t *testing.T) {
	t.Parallel()
	id := map[string]string{"id": "act"}
	profile := step.Fingerprint{Role: "button", Name: "Save profile", Attributes: id}
	for name, c := range map[string]struct {
		page, mode string
		known      step.Fingerprint
		code       string
		drifted    bool
	}{
		"another name":       {`<button id=act>Delete profile</button>`, "", profile, store.CodeDrifted, true},
		"reported":           {`<button id=act>View profile</button>`, "", profile, "", true},
		"off":                {`<button id=act>Delete profile</button>`, capability.DriftOff, profile, "", false},
		"another role":       {`<input id=act type=checkbox aria-label="Save profile">`, "", profile, "", true},
		"another text":       {`<button id=act>Delete profile</button>`, "", step.Fingerprint{Text: "Save"}, store.CodeDrifted, true},
		"the same":           {`<button id=act>Save profile</button>`, "", profile, "", false},
		"a link now":         {`<a href="#x" id=act>Save profile</a>`, "", profile, "", false},
		"a part of the text": {`<button id=act>Save profile</button>`, "", step.Fingerprint{Text: "Save"}, "", false},
		"a field":            {`<input id=act aria-label=Mail>`, "", step.Fingerprint{Role: "textbox", Name: "Mail"}, "", false},
		"nothing to compare": {`<button id=act>Delete profile</button>`, "", step.Fingerprint{Attributes: id}, "", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := play(t, replay.Config{TestURL: site(t, map[string]string{"/": c.page}), Drift: c.mode,
				Steps: []step.Step{within(8000, do(step.Click, step.Args{Selector: printed("#act", c.known)}))}})
			require.Equal(t, c.code, r.Code, r.Message)
			require.Equal(t, c.drifted, r.Records[0].Drifted != nil)
			require.Equal(t, !c.drifted && c.mode == "", len(r.Fingerprints) == 1, "what it learns")
		})
	}
}

// What an element is called decides whatever is done to it, but for what triggers nothing.
func TestDriftOfRiskyNames(t *testing.T) {
	t.Parallel()
	const drop = `<script>addEventListener("dragover", (e) => e.preventDefault())</script>`
	on := func(tool string, a step.Args) step.Step {
		a.Selector = css("#act")
		return do(tool, a)
	}
	onto := do(step.Drag, step.Args{Selector: css("#a"), Target: css("#act")})
	text := new(string("7"))
	for name, c := range map[string]struct {
		before, after string
		step          step.Step
		target        bool
		code          string
	}{
		"fill": {`<input id=act aria-label=Search>`, `<input id=act aria-label="Pay amount">`,
			on(step.InputText, step.Args{Text: text}), false, store.CodeDrifted},
		"key": {`<input id=act aria-label=Search>`, `<input id=act aria-label="Pay amount">`,
			on(step.PressKey, step.Args{Key: "Enter"}), false, store.CodeDrifted},
		"select": {`<select id=act aria-label=Sort><option>7</select>`, `<select id=act aria-label=Delete><option>7</select>`,
			on(step.Select, step.Args{OptionValue: text}), false, store.CodeDrifted},
		"drop": {`<p id=a draggable=true>Letter</p><button id=act>Keep</button>` + drop,
			`<p id=a draggable=true>Letter</p><button id=act>Delete</button>` + drop,
			onto, true, store.CodeDrifted},
		"hover": {`<button id=act>Keep</button>`, `<button id=act>Delete</button>`, on(step.Hover, step.Args{}), false, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			known := c.step
			if c.target {
				pressed := recorded(t, c.before, click("#act"))
				known.Tool.Args.Target = pressed[0].Tool.Args.Selector
			} else {
				known = recorded(t, c.before, c.step)[0]
			}
			r := play(t, replay.Config{TestURL: site(t, map[string]string{"/": c.after}), Steps: []step.Step{within(8000, known)}})
			require.Equal(t, c.code, r.Code, r.Message)
			require.NotNil(t, r.Records[0].Drifted)
			require.Equal(t, c.code == "", r.Records[0].Drifted.Acted)
		})
	}
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
	known[0].TimeoutMS = 8000
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
