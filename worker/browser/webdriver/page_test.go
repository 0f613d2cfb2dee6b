package webdriver_test

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/worker/browser/webdriver"
)

// find gives the one element of a selector.
func find(t *testing.T, s *webdriver.Session, css string) webdriver.Element {
	t.Helper()
	e, err := s.Find(within(t), webdriver.ByCSS, css)
	require.NoError(t, err, css)
	return e
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
	source, err := s.Source(ctx)
	require.NoError(t, err)
	require.Contains(t, source, "A form</h1>")

	t.Run("finding", func(t *testing.T) {
		for using, value := range map[string]string{webdriver.ByCSS: "a[href]", webdriver.ByXPath: "//a", webdriver.ByLinkText: "To the end",
			webdriver.ByPartialLink: "the en", webdriver.ByTag: "a"} {
			e, err := s.Find(ctx, using, value)
			require.NoError(t, err, using)
			text, err := s.Text(ctx, e)
			require.NoError(t, err)
			require.Equal(t, "To the end", text)
		}
		all, err := s.FindAll(ctx, webdriver.ByTag, "input")
		require.NoError(t, err)
		require.Len(t, all, 5)
		inside, err := s.FindIn(ctx, find(t, s, "#list"), webdriver.ByTag, "option")
		require.NoError(t, err)
		require.Len(t, inside, 2)
		none, err := s.FindAll(ctx, webdriver.ByCSS, "#none")
		require.NoError(t, err)
		require.Empty(t, none)
		_, err = s.Find(ctx, webdriver.ByCSS, "#none")
		var e *webdriver.Error
		require.ErrorAs(t, err, &e)
		require.Equal(t, webdriver.ErrNoSuchElement, e.Code)
		require.Equal(t, `Unable to locate element: {"method":"css selector","selector":"#none"}`, e.Message)
		require.NotEmpty(t, e.StackTrace)
		_, err = s.Find(ctx, webdriver.ByCSS, "][")
		require.True(t, webdriver.Is(err, webdriver.ErrInvalidSelector), "%v", err)
	})

	t.Run("state", func(t *testing.T) {
		h1, box, off := find(t, s, "h1"), find(t, s, "#box"), find(t, s, "#off")
		tag, err := s.TagName(ctx, h1)
		require.NoError(t, err)
		require.Equal(t, "h1", tag)
		colour, err := s.CSS(ctx, h1, "color")
		require.NoError(t, err)
		require.Contains(t, colour, "1, 2, 3")
		rect, err := s.ElementRect(ctx, h1)
		require.NoError(t, err)
		require.Greater(t, rect.Width, 100.0)
		class, err := s.Attribute(ctx, h1, "class")
		require.NoError(t, err)
		require.Equal(t, "big head", *class)
		missing, err := s.Attribute(ctx, h1, "lang")
		require.NoError(t, err)
		require.Nil(t, missing)
		level, err := s.Property(ctx, h1, "childElementCount")
		require.NoError(t, err)
		require.Equal(t, json.RawMessage("0"), level)
		role, err := s.Role(ctx, find(t, s, "#name"))
		require.NoError(t, err)
		require.Equal(t, "textbox", role)
		label, err := s.Label(ctx, find(t, s, "#name"))
		require.NoError(t, err)
		require.Equal(t, "Your name", label)

		before, err := s.Selected(ctx, box)
		require.NoError(t, err)
		require.NoError(t, s.Click(ctx, box))
		after, err := s.Selected(ctx, box)
		require.NoError(t, err)
		require.Equal(t, []bool{false, true}, []bool{before, after})
		for css, want := range map[string]bool{"#name": true, "#off": false} {
			enabled, err := s.Enabled(ctx, find(t, s, css))
			require.NoError(t, err)
			require.Equal(t, want, enabled, css)
		}
		for css, want := range map[string]bool{"#name": true, "#gone": false, "#hidden": false} {
			shown, err := s.Displayed(ctx, find(t, s, css))
			require.NoError(t, err)
			require.Equal(t, want, shown, css)
		}
		require.True(t, webdriver.Is(s.SendKeys(ctx, off, "x"), webdriver.ErrNotInteractable, webdriver.ErrInvalidState))
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
		require.NoError(t, s.ExecuteAsync(ctx, "const done = arguments[1]; setTimeout(() => done(arguments[0] * 2), 5)", &n, 21))
		require.Equal(t, 42, n)
		require.NoError(t, s.Execute(ctx, "return Promise.resolve(7)", &n))
		require.Equal(t, 7, n)
		err = s.Execute(ctx, "throw new Error('boom')", nil)
		var we *webdriver.Error
		require.ErrorAs(t, err, &we)
		require.Equal(t, webdriver.ErrJavaScript, we.Code)
		require.Equal(t, "boom", we.Message)
		require.NoError(t, s.SetTimeouts(ctx, webdriver.Timeouts{Script: 50 * time.Millisecond}))
		err = s.ExecuteAsync(ctx, "", nil)
		require.True(t, webdriver.Is(err, webdriver.ErrScriptTimeout), "%v", err)
		require.NoError(t, s.SetTimeouts(ctx, webdriver.Timeouts{Script: 30 * time.Second}))
	})

	t.Run("a caller that gives up", func(t *testing.T) {
		short, cancel := context.WithTimeout(ctx, 100*time.Millisecond)
		defer cancel()
		err := s.ExecuteAsync(short, "setTimeout(arguments[0], 400)", nil)
		var te *webdriver.TransportError
		require.ErrorAs(t, err, &te)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.Equal(t, "Form", title(t, s), "the session goes on")
	})

	t.Run("filling in", func(t *testing.T) {
		name := find(t, s, "#name")
		require.NoError(t, s.Clear(ctx, name))
		require.NoError(t, s.SendKeys(ctx, name, "Zoë"+webdriver.KeyBackspace+"e"))
		active, err := s.Active(ctx)
		require.NoError(t, err)
		require.Equal(t, name, active)
		path, err := s.UploadFile(ctx, "note.txt", []byte("a note"))
		require.NoError(t, err)
		require.NoError(t, s.SendKeys(ctx, find(t, s, "#file"), path))
		var content string
		require.NoError(t, s.Execute(ctx, "return file.files[0].text()", &content))
		require.Equal(t, "a note", content)
		require.NoError(t, s.Click(ctx, find(t, s, "#send")))
		said := ""
		require.Eventually(t, func() bool {
			e, err := s.Find(ctx, webdriver.ByCSS, "#said")
			if err == nil {
				said, err = s.Text(ctx, e)
			}
			return err == nil && said != ""
		}, 5*time.Second, 10*time.Millisecond)
		require.Equal(t, "?name=Zoe", said)
		_, err = s.Text(ctx, name)
		require.True(t, webdriver.Is(err, webdriver.ErrStaleElement), "%v", err)
	})

	t.Run("history", func(t *testing.T) {
		require.NoError(t, s.Back(ctx))
		require.Equal(t, "Form", title(t, s))
		require.NoError(t, s.Forward(ctx))
		require.Equal(t, "Done", title(t, s))
		require.NoError(t, s.Refresh(ctx))
		require.Equal(t, "Done", title(t, s))
	})
}

func TestFramesAndShadowRoots(t *testing.T) {
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
	require.NoError(t, s.ParentFrame(ctx))
	require.Equal(t, "middle", where())
	require.NoError(t, s.TopFrame(ctx))
	require.Equal(t, "outer", where())
	err := s.SwitchFrame(ctx, find(t, s, "#where"))
	require.True(t, webdriver.Is(err, webdriver.ErrNoSuchFrame), "%v", err)

	require.NoError(t, s.Navigate(ctx, at+"/shadow"))
	root, err := s.Shadow(ctx, find(t, s, "#host"))
	require.NoError(t, err)
	deep, err := s.FindInShadow(ctx, root, webdriver.ByCSS, ".deep")
	require.NoError(t, err)
	require.Len(t, deep, 1)
	require.NoError(t, s.Click(ctx, deep[0]))
	require.Equal(t, "Clicked", title(t, s))
	second, err := s.FindInShadow(ctx, root, webdriver.ByCSS, "#second")
	require.NoError(t, err)
	root, err = s.Shadow(ctx, second[0])
	require.NoError(t, err)
	deeper, err := s.FindInShadow(ctx, root, webdriver.ByCSS, "i")
	require.NoError(t, err)
	require.Len(t, deeper, 1)
	var again webdriver.ShadowRoot
	require.NoError(t, s.Execute(ctx, "return arguments[0].querySelector('i').getRootNode()", &again, root))
	require.Equal(t, root, again)
	_, err = s.Shadow(ctx, find(t, s, "#plain"))
	require.True(t, webdriver.Is(err, webdriver.ErrNoSuchShadowRoot), "%v", err)
}

func TestCookies(t *testing.T) {
	s, at, ctx := open(t), site(t), within(t)
	require.NoError(t, s.Navigate(ctx, at+"/cookies"))
	expiry := time.Now().Add(time.Hour).Unix()
	require.NoError(t, s.AddCookie(ctx, webdriver.Cookie{Name: "a", Value: "1", Path: "/", HTTPOnly: true, SameSite: "Lax", Expiry: expiry}))
	require.NoError(t, s.AddCookie(ctx, webdriver.Cookie{Name: "b", Value: "2"}))
	a, err := s.Cookie(ctx, "a")
	require.NoError(t, err)
	require.Equal(t, webdriver.Cookie{Name: "a", Value: "1", Path: "/", Domain: a.Domain, HTTPOnly: true, SameSite: "Lax", Expiry: expiry}, a)
	all, err := s.Cookies(ctx)
	require.NoError(t, err)
	require.Len(t, all, 2)
	require.NoError(t, s.DeleteCookie(ctx, "a"))
	_, err = s.Cookie(ctx, "a")
	require.True(t, webdriver.Is(err, webdriver.ErrNoSuchCookie), "%v", err)
	require.NoError(t, s.DeleteCookies(ctx))
	all, err = s.Cookies(ctx)
	require.NoError(t, err)
	require.Empty(t, all)
	err = s.AddCookie(ctx, webdriver.Cookie{Name: "a", Value: "1", Domain: "elsewhere.example"})
	require.True(t, webdriver.Is(err, webdriver.ErrInvalidCookie), "%v", err)
}

func TestConsoleLog(t *testing.T) {
	s, at, ctx := own(t), site(t), within(t)
	require.NoError(t, s.Navigate(ctx, at+"/console"))
	var lines []webdriver.LogEntry
	require.Eventually(t, func() bool {
		more, err := s.Log(ctx, "browser")
		require.NoError(t, err)
		lines = append(lines, more...)
		return len(lines) >= 2
	}, 5*time.Second, 10*time.Millisecond)
	require.Len(t, lines, 2, "the lines of the driver's own page are left out")
	require.Equal(t, "INFO", lines[0].Level)
	require.Contains(t, lines[0].Message, "to the log")
	require.Equal(t, "SEVERE", lines[1].Level)
	require.Positive(t, lines[1].Timestamp)
}
