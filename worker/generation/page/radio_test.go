package page

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// A group of custom elements keeps a radio button without a name in its shadow, for the browser to
// check it: it is no choice, and says nothing of what is chosen.
func TestARadioThatNobodySeesIsNoChoice(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		shadow []string
		named  string
		fields int
	}{
		"kept in a shadow": {[]string{"x-radio-group"}, "", 0},
		"of the page":      {nil, "", 1},
		"with a name":      {[]string{"x-radio-group"}, "from 9", 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := draw(`
				p "Quiet hours"
				fieldset group
					input radio type=radio checked=true
					x-radio "from 9" reacts=cursor
					x-radio "from 10" reacts=cursor`)
			for i := range s.Nodes {
				if s.Nodes[i].Role == "radio" {
					s.Nodes[i].Shadow, s.Nodes[i].Name = c.shadow, c.named
				}
			}
			n := 0
			for _, f := range New(s).Fields {
				if f.Kind == "choice" {
					n++
				}
			}
			require.Equal(t, c.fields, n)
		})
	}
}
