package webdriver_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/worker/browser/webdriver"
)

func TestGestures(t *testing.T) {
	s, at, ctx := open(t), site(t), within(t)
	require.NoError(t, s.Navigate(ctx, at+"/actions"))
	said := func() string {
		var words []string
		require.NoError(t, s.Execute(ctx, "return log.splice(0)", &words))
		return strings.Join(words, ", ")
	}

	t.Run("hover", func(t *testing.T) {
		item := find(t, s, "#item")
		require.True(t, webdriver.Is(s.Click(ctx, item), webdriver.ErrNotInteractable))
		require.NoError(t, s.Hover(ctx, find(t, s, "#menu")))
		require.NoError(t, s.Click(ctx, item))
		require.Equal(t, "chosen", said())
	})
	t.Run("double click", func(t *testing.T) {
		require.NoError(t, s.DoubleClick(ctx, find(t, s, "#twice")))
		require.Equal(t, "twice", said())
	})
	t.Run("drag with the mouse", func(t *testing.T) {
		require.NoError(t, s.DragTo(ctx, find(t, s, "#from"), find(t, s, "#to")))
		require.Equal(t, "dropped", said())
	})
	t.Run("drag and drop of HTML", func(t *testing.T) {
		require.NoError(t, s.DragTo(ctx, find(t, s, "#card"), find(t, s, "#shelf")))
		require.Equal(t, "shelved the card", said())
	})
	t.Run("touch", func(t *testing.T) {
		pad := find(t, s, "#pad")
		require.NoError(t, s.Actions(ctx, webdriver.NewPointer(webdriver.Touch).MoveTo(pad, 0, 0, 0).Down(webdriver.LeftButton).Up(webdriver.LeftButton)))
		require.Equal(t, "touch trusted", said())
	})
	t.Run("chords", func(t *testing.T) {
		input := find(t, s, "#text")
		require.NoError(t, s.Click(ctx, input))
		for _, chord := range []string{"a", "Shift+b", "+", "Control+a", "Shift+Tab", "Enter", "F2"} {
			require.NoError(t, s.PressKeys(ctx, chord), chord)
		}
		require.Equal(t, "a, Shift+Shift, Shift+B, Shift++, Control+Control, Control+a, Shift+Shift, Shift+Tab, Enter, F2", said())
		err := s.PressKeys(ctx, "Hyper+x")
		require.True(t, webdriver.Is(err, webdriver.ErrInvalidArgument))
		require.Empty(t, said())
	})
	t.Run("the same chord by send keys", func(t *testing.T) {
		keys, err := webdriver.Keys("Control+a")
		require.NoError(t, err)
		input := find(t, s, "#text")
		require.NoError(t, s.SendKeys(ctx, input, keys))
		require.NoError(t, s.SendKeys(ctx, input, "new"))
		var value string
		require.NoError(t, s.Execute(ctx, "return arguments[0].value", &value, input))
		require.Equal(t, "new", value)
		said()
	})
	t.Run("wheel", func(t *testing.T) {
		scrolled := func(script string) func() bool {
			return func() bool {
				var y float64
				return s.Execute(ctx, script, &y) == nil && y >= 100
			}
		}
		require.NoError(t, s.Execute(ctx, "scrollTo(0, 0)", nil))
		require.NoError(t, s.ScrollBy(ctx, find(t, s, "#scroller"), 0, 120))
		require.Eventually(t, scrolled("return scroller.scrollTop"), 5*time.Second, 10*time.Millisecond)
		require.NoError(t, s.ScrollBy(ctx, "", 0, 300))
		require.Eventually(t, scrolled("return scrollY"), 5*time.Second, 10*time.Millisecond)
	})
	t.Run("outside of the viewport", func(t *testing.T) {
		require.NoError(t, s.Execute(ctx, "scrollTo(0, 0)", nil))
		low := find(t, s, "#low")
		err := s.Actions(ctx, webdriver.NewPointer(webdriver.Mouse).Move(10, 5000, 0))
		require.True(t, webdriver.Is(err, webdriver.ErrMoveOutOfBounds), "%v", err)
		require.NoError(t, s.Hover(ctx, low))
		require.NoError(t, s.Actions(ctx, webdriver.NewPointer(webdriver.Mouse).Down(webdriver.LeftButton)))
		require.NoError(t, s.ReleaseActions(ctx))
		require.Equal(t, "low", said(), "release lets go of the button")
	})
}
