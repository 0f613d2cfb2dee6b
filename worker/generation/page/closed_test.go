package page

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/worker/snapshot"
)

// An input that takes no keys is a list that opens, unless it shows what is only to be read, or asks for a
// date.
func TestAClosedListIsAChoice(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		label, value, class string
		keys                bool
		want                string
	}{
		"empty":         {"Who", "", "field", false, "choice"},
		"chosen":        {"Kind", "Holiday", "input-suffix", false, "choice"},
		"typed":         {"Who", "", "field", true, "text"},
		"a number":      {"Order", "4711", "field", false, "text"},
		"an address":    {"Link", "https://x/y", "field", false, "text"},
		"a date":        {"Date of arrival", "", "field", false, "text"},
		"a date, drawn": {"Arrival", "", "date-input", false, "text"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := draw(`
				div.` + c.class + `
					label "` + c.label + `"
					input textbox "` + c.label + `"`)
			for i := range s.Nodes {
				if n := &s.Nodes[i]; n.Tag == "input" {
					n.Label, n.Value, n.Editable, n.ReadOnly = c.label, c.value, c.keys, !c.keys
				}
			}
			m := New(s)
			require.Len(t, m.Fields, 1)
			require.Equal(t, c.want, m.Fields[0].Kind)
		})
	}
}

// The input of a list of the browser that is hidden beside it is that list, where it is numbered after it;
// one that takes no keys has its options.
func TestAnInputNumberedAfterAListIsIt(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		id      string
		keys    bool
		want    string
		options int
	}{
		"numbered":       {"guests-input", true, "choices", 0},
		"another number": {"hosts-input", true, "text", 0},
		"no keys":        {"hosts-input", false, "choices", 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := draw(`
				div.f
					select.plain combobox
					div.select-input
						input textbox "Guests" label=Guests`)
			for i := range s.Nodes {
				switch n := &s.Nodes[i]; n.Tag {
				case "select":
					n.ID, n.Options, n.Hidden, n.Multiple = "guests", []snapshot.Option{{Label: "Ann"}}, true, true
				case "input":
					n.ID, n.Editable, n.ReadOnly = c.id, c.keys, !c.keys
				}
			}
			for _, f := range New(s).Fields {
				if s.Nodes[f.Node].Tag == "input" {
					require.Equal(t, c.want, f.Kind)
					require.Len(t, f.Options, c.options)
				}
			}
		})
	}
}
