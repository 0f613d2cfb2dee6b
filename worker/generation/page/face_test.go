package page

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/worker/snapshot"
)

// An input that stands for a list of the browser is a choice; one beside a list that has a name of its
// own, or is seen, is not.
func TestTheFaceOfAListIsAChoice(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		class, list      string
		kind             string // of the input: role or type
		hidden, multiple bool
		want             string
	}{
		"one":               {"selectize-input", "Guests", "textbox", true, false, "choice"},
		"several":           {"ts-control", "Guests", "textbox", true, true, "choices"},
		"a list of itself":  {"selectize-input", "Guests", "textbox", false, false, "text"},
		"any input":         {"row", "Guests", "textbox", true, false, "text"},
		"another name":      {"field", "Country", "textbox", true, false, "text"},
		"no name":           {"input-group", "", "textbox", true, false, "text"},
		"no name, a role":   {"ts-control", "", "combobox", true, false, "choice"},
		"a type of its own": {"form-control", "Guests", "tel", true, false, "text"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			label, role, kind := "", c.kind, ""
			if c.list != "" {
				label = " label=" + c.list
			}
			if role == "tel" {
				role, kind = "textbox", "tel"
			}
			s := draw(`
				div.f
					label "Guests"
					select.plain combobox` + label + `
					div.` + c.class + `
						input ` + role + ` "Guests" label=Guests
						i "▾"`)
			for i := range s.Nodes {
				switch n := &s.Nodes[i]; n.Tag {
				case "select":
					n.Options, n.Hidden, n.Multiple = []snapshot.Option{{Label: "Ann"}}, c.hidden, c.multiple
				case "input":
					n.Editable, n.Type = true, kind
				}
			}
			got := ""
			for _, f := range New(s).Fields {
				if s.Nodes[f.Node].Tag == "input" {
					got = f.Kind
				}
			}
			require.Equal(t, c.want, got)
		})
	}
}
