package webdriver_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/worker/browser/webdriver"
)

// find returns the first element of a selector.
func find(t *testing.T, s *webdriver.Session, css string) webdriver.Element {
	t.Helper()
	all, err := s.FindAll(within(t), webdriver.ByCSS, css)
	require.NoError(t, err, css)
	require.NotEmpty(t, all, css)
	return all[0]
}

func title(t *testing.T, s *webdriver.Session) string {
	t.Helper()
	text, err := s.Title(within(t))
	require.NoError(t, err)
	return text
}

func TestForm(t *testing.T) {
	s, at, ctx := open(t), site(t), within(t)
	require.NoError(t, s.Navigate(ctx, at+"/form"))
	require.Equal(t, "Form", title(t, s))
	address, err := s.URL(ctx)
	require.NoError(t, err)
	require.Equal(t, at+"/form", address)

	t.Run("finding", func(t *testing.T) {
		for using, value := range map[string]string{webdriver.ByCSS: "a[href]", webdriver.ByXPath: "//a"} {
			all, err := s.FindAll(ctx, using, value)
			require.NoError(t, err, using)
			require.Len(t, all, 1)
			text, err := s.Text(ctx, all[0])
			require.NoError(t, err)
			require.Equal(t, "To the end", text)
		}
		all, err := s.FindAll(ctx, webdriver.ByCSS, "input")
		require.NoError(t, err)
		require.Len(t, all, 5)
		none, err := s.FindAll(ctx, webdriver.ByCSS, "#none")
		require.NoError(t, err)
		require.Empty(t, none)
		_, err = s.FindAll(ctx, webdriver.ByCSS, "][")
		var e *webdriver.Error
		require.ErrorAs(t, err, &e)
		require.Equal(t, webdriver.ErrInvalidSelector, e.Code)
		require.NotContains(t, e.Message, "Session info")
		require.NotEmpty(t, e.StackTrace)
	})

	t.Run("state", func(t *testing.T) {
		checked := func() (checked bool) {
			require.NoError(t, s.Execute(ctx, "return box.checked", &checked))
			return checked
		}
		require.False(t, checked())
		require.NoError(t, s.Click(ctx, find(t, s, "#box")))
		require.True(t, checked())
		for css, want := range map[string]bool{"#name": true, "#gone": false, "#hidden": false} {
			displayed, err := s.Displayed(ctx, find(t, s, css))
			require.NoError(t, err)
			require.Equal(t, want, displayed, css)
		}
		require.True(t, webdriver.Is(s.SendKeys(ctx, find(t, s, "#off"), "x"), webdriver.ErrNotInteractable, webdriver.ErrInvalidState))
	})

	t.Run("scripts", func(t *testing.T) {
		var e, none webdriver.Element
		require.NoError(t, s.Execute(ctx, "return arguments[0].parentElement.querySelector(arguments[1])", &e, find(t, s, "#box"), "#two"))
		text, err := s.Text(ctx, e)
		require.NoError(t, err)
		require.Equal(t, "two", text)
		require.NoError(t, s.Execute(ctx, "return null", &none))
		require.Empty(t, none)
		var n int
		require.NoError(t, s.Execute(ctx, "return new Promise((done) => setTimeout(() => done(arguments[0] * 2), 5))", &n, 21))
		require.Equal(t, 42, n)
		err = s.Execute(ctx, "throw new Error('boom')", nil)
		var we *webdriver.Error
		require.ErrorAs(t, err, &we)
		require.Equal(t, webdriver.ErrJavaScript, we.Code)
		require.Equal(t, "boom", we.Message)
		require.NoError(t, s.SetTimeouts(ctx, webdriver.Timeouts{Script: 50 * time.Millisecond}))
		err = s.Execute(ctx, "return new Promise(() => {})", nil)
		require.True(t, webdriver.Is(err, webdriver.ErrScriptTimeout), "%v", err)
		require.NoError(t, s.SetTimeouts(ctx, webdriver.Timeouts{Script: time.Minute}))
	})

	t.Run("a caller that stops waiting", func(t *testing.T) {
		short, cancel := context.WithTimeout(ctx, 100*time.Millisecond)
		defer cancel()
		err := s.Execute(short, "return new Promise((done) => setTimeout(done, 400))", nil)
		var te *webdriver.TransportError
		require.ErrorAs(t, err, &te)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.Equal(t, "Form", title(t, s), "the session goes on")
	})

	t.Run("filling in", func(t *testing.T) {
		name := find(t, s, "#name")
		require.NoError(t, s.Clear(ctx, name))
		require.NoError(t, s.SendKeys(ctx, name, "Zoë"+webdriver.KeyBackspace+"e"))
		var active webdriver.Element
		require.NoError(t, s.Execute(ctx, "return document.activeElement", &active))
		require.Equal(t, name, active)
		require.NoError(t, s.Click(ctx, find(t, s, "#send")))
		said := ""
		require.Eventually(t, func() bool {
			all, err := s.FindAll(ctx, webdriver.ByCSS, "#said")
			if err != nil || len(all) == 0 {
				return false
			}
			said, err = s.Text(ctx, all[0])
			return err == nil && said != ""
		}, time.Minute, 10*time.Millisecond)
		require.Equal(t, "?name=Zoe", said)
		_, err = s.Text(ctx, name)
		require.True(t, webdriver.Is(err, webdriver.ErrStaleElement), "%v", err)
	})
}

func TestFrames(t *testing.T) {
	s, at, ctx := open(t), site(t), within(t)
	where := func() string {
		text, err := s.Text(ctx, find(t, s, "#where"))
		require.NoError(t, err)
		return text
	}
	require.NoError(t, s.Navigate(ctx, at+"/frames"))
	require.Equal(t, "outer", where())
	require.NoError(t, s.SwitchFrame(ctx, find(t, s, "#middle")))
	require.Equal(t, "middle", where())
	require.NoError(t, s.SwitchFrame(ctx, find(t, s, "#inner")))
	require.Equal(t, "inner", where())
	require.NoError(t, s.TopFrame(ctx))
	require.Equal(t, "outer", where())
	err := s.SwitchFrame(ctx, find(t, s, "#where"))
	require.True(t, webdriver.Is(err, webdriver.ErrNoSuchFrame), "%v", err)
}

func TestConsoleLog(t *testing.T) {
	s, at, ctx := startNew(t), site(t), within(t)
	require.NoError(t, s.Navigate(ctx, at+"/console"))
	var lines []webdriver.LogEntry
	require.Eventually(t, func() bool {
		more, err := s.Log(ctx)
		require.NoError(t, err)
		lines = append(lines, more...)
		return len(lines) >= 2
	}, time.Minute, 10*time.Millisecond)
	require.Len(t, lines, 2, "the lines of the driver's own page are left out")
	require.Equal(t, "INFO", lines[0].Level)
	require.Contains(t, lines[0].Message, "to the log")
	require.Equal(t, "SEVERE", lines[1].Level)
	require.Positive(t, lines[1].Timestamp)
}
