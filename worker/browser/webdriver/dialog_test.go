package webdriver_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/worker/browser/webdriver"
)

func TestDialogs(t *testing.T) {
	s, at, ctx := open(t), site(t), within(t)
	require.NoError(t, s.Navigate(ctx, at+"/dialogs"))
	text := func() string {
		shown, err := s.Dialog.Text(ctx)
		require.NoError(t, err)
		return shown
	}
	_, err := s.Dialog.Text(ctx)
	require.True(t, webdriver.Is(err, webdriver.ErrNoSuchAlert), "%v", err)

	require.NoError(t, s.Click(ctx, find(t, s, "#alert")))
	require.Equal(t, "Hello", text())
	_, err = s.Title(ctx)
	require.True(t, webdriver.Is(err, webdriver.ErrUnexpectedAlert), "%v", err)
	require.NoError(t, s.Dialog.Accept(ctx))

	for want, respond := range map[string]func(context.Context) error{"true": s.Dialog.Accept, "false": s.Dialog.Dismiss} {
		require.NoError(t, s.Click(ctx, find(t, s, "#confirm")))
		require.Equal(t, "Sure?", text())
		require.NoError(t, respond(ctx))
		require.Equal(t, want, title(t, s))
	}

	require.NoError(t, s.Click(ctx, find(t, s, "#prompt")))
	require.Equal(t, "Name?", text())
	require.NoError(t, s.Dialog.SendText(ctx, "Ann"))
	require.NoError(t, s.Dialog.Accept(ctx))
	require.Equal(t, "Ann", title(t, s))
}

// A page that asks before it is left is left, unless the capabilities name this
// kind of dialog (WebDriver, section 16.1).
func TestLeavingAPageThatAsks(t *testing.T) {
	at, ctx := site(t), within(t)
	ask := func(s *webdriver.Session) error {
		require.NoError(t, s.Navigate(ctx, at+"/dialogs"))
		require.NoError(t, s.Click(ctx, find(t, s, "#stay")))
		return s.Click(ctx, find(t, s, "#leave"))
	}
	left := func(s *webdriver.Session) {
		require.Eventually(t, func() bool {
			text, err := s.Title(ctx)
			return err == nil && text == "Done"
		}, time.Minute, 10*time.Millisecond)
	}
	s := open(t)
	// The click may be done when the driver reports that its element is gone.
	if err := ask(s); !webdriver.Is(err, webdriver.ErrStaleElement, webdriver.ErrNavigated) {
		require.NoError(t, err)
	}
	left(s)

	s = startWith(t, map[string]any{"unhandledPromptBehavior": map[string]string{"default": "ignore", "beforeUnload": "ignore"}})
	require.NoError(t, ask(s)) // no step handles the dialog, so the element stays
	require.Eventually(t, func() bool {
		_, err := s.Dialog.Text(ctx)
		return err == nil
	}, time.Minute, 10*time.Millisecond)
	require.NoError(t, s.Dialog.Dismiss(ctx))
	require.Equal(t, "Dialogs", title(t, s))
	require.NoError(t, s.Click(ctx, find(t, s, "#leave")))
	require.Eventually(t, func() bool { return s.Dialog.Accept(ctx) == nil }, time.Minute, 10*time.Millisecond)
	left(s)
}
