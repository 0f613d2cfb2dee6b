package webdriver_test

import (
	"strings"
	"testing"

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
		require.NoError(t, s.Input.Perform(ctx, webdriver.NewMouse().MoveTo(find(t, s, "#menu"), 0, 0, 0)))
		require.NoError(t, s.Click(ctx, item))
		require.Equal(t, "chosen", said())
	})
	t.Run("drag with the mouse", func(t *testing.T) {
		require.NoError(t, s.Input.DragTo(ctx, find(t, s, "#from"), find(t, s, "#to")))
		require.Equal(t, "dropped", said())
	})
	t.Run("drag and drop of HTML", func(t *testing.T) {
		require.NoError(t, s.Input.DragTo(ctx, find(t, s, "#card"), find(t, s, "#shelf")))
		require.Equal(t, "shelved the card", said())
	})
	t.Run("drag past the middle", func(t *testing.T) {
		require.NoError(t, s.Execute(ctx,
			`document.body.insertAdjacentHTML("afterbegin", '<p id="above" style="margin:0;height:30px;user-select:none">A</p>`+
				`<p id="below" style="margin:0;height:30px;user-select:none">B</p>');
			for (const p of [above, below]) p.onmouseup = (e) => say(p.id + (e.clientY - p.getBoundingClientRect().top < 15 ? " upper" : " lower"))`,
			nil))
		above, below := find(t, s, "#above"), find(t, s, "#below")
		require.NoError(t, s.Input.Drag(ctx, below, above, webdriver.Way{Y: -30, AlongX: 1, AlongY: 1}))
		require.NoError(t, s.Input.Drag(ctx, above, below, webdriver.Way{Y: 30, AlongX: 1, AlongY: 1}))
		require.Equal(t, "above upper, below lower", said())
		require.NoError(t, s.Execute(ctx, "above.remove(); below.remove()", nil))
	})
	t.Run("double click on a slow page", func(t *testing.T) {
		text := find(t, s, "#text")
		require.NoError(t, s.Execute(ctx,
			`arguments[0].onclick = (e) => { for (const end = performance.now() + 700; performance.now() < end; ); say("click " + e.detail) };
			arguments[0].ondblclick = () => { say("double"); arguments[0].onclick = arguments[0].ondblclick = null }`, nil, text))
		require.NoError(t, s.Input.DoubleClick(ctx, text))
		require.Equal(t, "click 1, click 2, double", said())
		require.NoError(t, s.Execute(ctx, "arguments[0].hidden = true", nil, text))
		require.True(t, webdriver.Is(s.Input.DoubleClick(ctx, text), webdriver.ErrNotInteractable))
		require.NoError(t, s.Execute(ctx, "arguments[0].hidden = false", nil, text))
	})
	t.Run("chords", func(t *testing.T) {
		input := find(t, s, "#text")
		require.NoError(t, s.Click(ctx, input))
		for _, chord := range []string{"a", "Shift+b", "+", "Control+a", "Shift+Tab", "Enter", "F2"} {
			require.NoError(t, s.Input.PressKeys(ctx, chord), chord)
		}
		require.Equal(t, "a, Shift+Shift, Shift+B, Shift++, Control+Control, Control+a, Shift+Shift, Shift+Tab, Enter, F2", said())
		err := s.Input.PressKeys(ctx, "Hyper+x")
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
	t.Run("outside of the viewport", func(t *testing.T) {
		require.NoError(t, s.Execute(ctx, "scrollTo(0, 0)", nil))
		low := find(t, s, "#low")
		err := s.Input.Perform(ctx, webdriver.NewMouse().MoveBy(0, 5000, 0))
		require.True(t, webdriver.Is(err, webdriver.ErrMoveOutOfBounds), "%v", err)
		require.NoError(t, s.Execute(ctx, "low.scrollIntoView()", nil))
		require.NoError(t, s.Input.Perform(ctx, webdriver.NewMouse().MoveTo(low, 0, 0, 0).Down(webdriver.LeftButton)))
		require.NoError(t, s.Input.Release(ctx))
		require.Equal(t, "low", said(), "release lets go of the button")
	})
}
