package replay_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage/step"
)

// A snapshot says how things are drawn and classed, and the selector of a tool finds the refs
// that it has.
func TestFindAndDrawn(t *testing.T) {
	t.Parallel()
	l := openBody(t, `<style>tr .tools { display: none } tr:hover .tools { display: block } b { font-size: 20px }</style>
		<div class="item open"><b class=title>Salt</b> <s>2.00</s> <span>1.50</span></div>
		<table><tr><th id=h aria-sort=ascending><button>Name</button></th></tr>
		<tr><td>Ann <span class=tools><button id=del title=Delete>x</button></span></td></tr></table>
		<div id=pop style="position:fixed;top:9px"><button>One</button><button>Two</button></div><p id=said aria-live=polite><i>a</i> <b>b</b></p>
		<iframe title=Help srcdoc="<button>Ask</button>"></iframe>`)
	s := l.snapshot()
	struck, bold := 0, 0
	for _, n := range s.Nodes {
		if n.Role == "text" && n.Struck {
			require.Equal(t, "2.00", n.Name)
			struck++
		}
		if n.Class == "title" {
			require.True(t, n.Bold)
			require.Equal(t, 20, n.Size)
			bold++
		}
	}
	require.Equal(t, []int{1, 1}, []int{struck, bold})
	require.Equal(t, "ascending", l.by(s, "h").Sort)
	require.Equal(t, "fixed", l.by(s, "pop").Layer)
	require.True(t, l.by(s, "said").Live)
	tool := l.by(s, "del")
	require.True(t, tool.Hidden, "what only pointing at its row shows")
	require.NotEmpty(t, tool.Opener)

	found, err := l.Find(l.ctx, step.Tool{Type: step.Click, Args: step.Args{Selector: &step.Selector{Type: step.CSS, Value: "#pop"}}})
	require.NoError(t, err)
	require.Len(t, found, 1)
	require.Equal(t, l.by(s, "pop").Ref, found[0][0])
	inner := step.Tool{Type: step.Click, Args: step.Args{Selector: &step.Selector{Type: step.ByRole, Value: "button", Name: "Ask"}}}
	found, err = l.Find(l.ctx, step.Tool{Type: step.InFrame, Args: step.Args{Selector: &step.Selector{Type: step.CSS,
		Value: "iframe"}, Tool: &inner}})
	require.NoError(t, err)
	require.Len(t, found, 1)
	known := false
	for _, n := range s.Nodes {
		known = known || n.Ref == found[0][0] && n.Name == "Ask"
	}
	require.True(t, known)
	found, err = l.Find(l.ctx, step.Tool{Type: step.Reload})
	require.NoError(t, err)
	require.Empty(t, found)
}
