package page

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// A list of several that is open is the same field as when it is closed: its options are still to be
// chosen, and what is chosen of it stands beside them.
func TestAnOpenListIsStillAField(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		drawn, value string
		options      int
	}{
		"closed": {`
			div.field
				label "Extras"
				div.ui.multiple.selection.dropdown reacts=cursor
					div.default.text "None"
					div.menu
						div.item "Bike rack" reacts=cursor hidden=true
						div.item "Child seat" reacts=cursor hidden=true`, "None", 2},
		"open": {`
			div.field
				label "Extras"
				div.ui.multiple.selection.dropdown.active.visible reacts=cursor
					a.label "Roof tent"
					div.menu
						div.item "Bike rack" reacts=cursor
						div.item "Child seat" reacts=cursor`, "Roof tent", 2},
		"all but one chosen": {`
			div.field
				label "Extras"
				div.ui.multiple.selection.dropdown.active.visible reacts=cursor
					a.label "Roof tent"
					a.label "Bike rack"
					div.menu
						div.item "Child seat" reacts=cursor`, "Roof tent, Bike rack", 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := draw(c.drawn)
			for i := range s.Nodes {
				if s.Nodes[i].Reacts != "" {
					s.Nodes[i].Interactive = true
				}
			}
			m := New(s)
			require.Len(t, m.Fields, 1)
			require.Equal(t, "choices", m.Fields[0].Kind)
			require.Equal(t, "Extras", m.Fields[0].Label)
			require.Len(t, m.Fields[0].Options, c.options)
			require.Equal(t, c.value, m.Fields[0].Value)
		})
	}
}
