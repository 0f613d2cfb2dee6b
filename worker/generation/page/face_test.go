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
		class            string
		hidden, multiple bool
		want             string
	}{
		"one":              {"selectize-input", true, false, "choice"},
		"several":          {"ts-control", true, true, "choices"},
		"a list of itself": {"selectize-input", false, false, "text"},
		"any input":        {"row", true, false, "text"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := draw(`
				div.f
					label "Guests"
					select.plain combobox label=Guests
					div.` + c.class + `
						input textbox "Guests" label=Guests
						i "▾"`)
			for i := range s.Nodes {
				switch n := &s.Nodes[i]; n.Tag {
				case "select":
					n.Options, n.Hidden, n.Multiple = []snapshot.Option{{Label: "Ann"}}, c.hidden, c.multiple
				case "input":
					n.Editable = true
				}
			}
			kind := ""
			for _, f := range New(s).Fields {
				if s.Nodes[f.Node].Tag == "input" {
					kind = f.Kind
				}
			}
			require.Equal(t, c.want, kind)
		})
	}
}
