package find

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/worker/generation/intent"
	"github.com/slipway-qa/slipway/worker/generation/page"
	"github.com/slipway-qa/slipway/worker/snapshot"
)

// The title and the address of the window are checked where the text speaks of them, and where
// nothing on the page is called so.
func TestClaimOfTheWindow(t *testing.T) {
	t.Parallel()
	heading := snapshot.Node{Ref: "h", Parent: -1, Tag: "h1", Role: "heading", Text: "Garden", Name: "Garden"}
	title := snapshot.Node{Ref: "t", Parent: -1, Tag: "input", Role: "textbox", Editable: true, HasValue: true,
		Name: "Title", Label: "Title", Value: "Oak", Interactive: true}
	for _, c := range []struct {
		text  string
		field bool
		check string
		holds bool
	}{
		{`the title is "Site"`, false, "title", true},
		{`the title is "Site"`, true, "", false}, // the field of that name is meant, and shows another one
		{`the title is "Oak"`, true, "", true},
		{`the title of the page is "Site"`, true, "title", true},
		{`the page title should contain Site`, true, "title", true},
		{`the title of the page is "Oak"`, false, "title", false},
		{`the URL contains "/done"`, false, "address", true},
		{`the URL contains "/cart"`, false, "address", false},
		{`the address of the page contains "/done"`, false, "address", true},
		{`Der Titel der Seite ist "Site"`, true, "title", true},
		{`El título de la página es "Site"`, true, "title", true},
		{`Le titre de la page est "Site"`, true, "title", true},
	} {
		list := []snapshot.Node{heading}
		if c.field {
			list = append(list, title)
		}
		m := page.New(&snapshot.Snapshot{Title: "My Site", URL: "http://127.0.0.1/done?x=1", Lang: "en", Nodes: list})
		read := intent.Read("Verify that " + c.text)
		if c.text[:3] == "Der" || c.text[:2] == "El" || c.text[:2] == "Le" {
			read = intent.Read(c.text)
		}
		require.NotEmpty(t, read.Readings, c.text)
		goals := read.Readings[0].Goals
		require.Len(t, goals, 1, c.text)
		e := evaluate(nil, m, goals[0].Claim, Want{Lang: read.Lang, Within: -1})
		require.True(t, e.Known, "%s: %s", c.text, e.Why)
		require.Equal(t, c.holds, e.Holds, "%s: %s", c.text, e.Why)
		kind := ""
		if len(e.Checks) > 0 && e.Checks[0].Node < 0 {
			kind = e.Checks[0].Kind // of the window
		}
		require.Equal(t, c.check, kind, c.text)
	}
}

// What the page says is also what a text without an element of its own says.
func TestClaimOfABareText(t *testing.T) {
	t.Parallel()
	m := page.New(&snapshot.Snapshot{Lang: "en", Nodes: []snapshot.Node{{Ref: "p", Parent: -1, Tag: "p", Role: "text", Name: "1 Blue lamp"}}})
	for text, holds := range map[string]bool{`it says "1 Blue lamp"`: true, `the page says "1 Blue lamp"`: true,
		`it says "1 Red lamp"`: false} {
		read := intent.Read("Verify that " + text + ".")
		require.NotEmpty(t, read.Readings)
		e := evaluate(nil, m, read.Readings[0].Goals[0].Claim, Want{Lang: read.Lang, Within: -1})
		require.True(t, e.Known, text)
		require.Equal(t, holds, e.Holds, "%s: %s", text, e.Why)
	}
}
