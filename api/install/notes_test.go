package install

import (
	"html/template"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

func TestNotesAreRenderedOnce(t *testing.T) {
	t.Parallel()
	var times atomic.Int32
	n := newNotes(func(s string) template.HTML { times.Add(1); return template.HTML("<p>" + s + "</p>") }, 4096)
	for range 3 {
		require.Equal(t, template.HTML("<p>a</p>"), n.html("a"))
		require.Equal(t, template.HTML("<p>b</p>"), n.html("b"))
		require.Empty(t, n.html(""))
	}
	require.EqualValues(t, 2, times.Load())
}

// TestNotesShareARendering has many ask before the first rendering has ended.
func TestNotesShareARendering(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		times := 0
		n := newNotes(func(s string) template.HTML { times++; time.Sleep(time.Second); return template.HTML(s) }, 4096)
		var all sync.WaitGroup
		got := make([]template.HTML, 20)
		for i := range got {
			all.Go(func() { got[i] = n.html("long") })
		}
		all.Wait()
		require.Equal(t, 1, times)
		for _, html := range got {
			require.Equal(t, template.HTML("long"), html)
		}
	})
}

func TestNotesAreBounded(t *testing.T) {
	t.Parallel()
	var asked []string
	n := newNotes(func(s string) template.HTML { asked = append(asked, s[:1]); return template.HTML(s) }, 3*(1000+notesEntry))
	text := func(s string) string { return s + strings.Repeat("x", 999) }
	ask := func(names string) string {
		asked = nil
		for _, s := range strings.Split(names, "") {
			require.Equal(t, text(s), string(n.html(text(s))))
			require.LessOrEqual(t, n.bytes, n.most)
			require.Len(t, n.byText, n.ordered.Len())
		}
		return strings.Join(asked, "")
	}
	require.Equal(t, "abc", ask("abcabc"))
	require.Equal(t, "d", ask("abdab"), "c is the oldest")
	require.Equal(t, "c", ask("c"))
	require.Equal(t, "d", ask("abcd"[3:]), "d was the oldest then")

	huge := strings.Repeat("y", n.most)
	asked = nil
	for range 2 {
		require.Equal(t, huge, string(n.html(huge)))
	}
	require.Equal(t, []string{"y", "y"}, asked, "too large to keep")
	require.Empty(t, ask("cd"), "and nothing went for it")
}
