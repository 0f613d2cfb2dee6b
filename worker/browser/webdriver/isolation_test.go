package webdriver_test

import (
	"encoding/json"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/worker/browser/webdriver"
)

func TestUserContextsAreIsolated(t *testing.T) {
	s, at, ctx := startNew(t), site(t), within(t)
	b, err := s.BiDi(ctx)
	require.NoError(t, err)
	first, err := s.Window(ctx)
	require.NoError(t, err)
	var contexts, windows []string
	for range 2 {
		id, err := b.CreateUserContext(ctx)
		require.NoError(t, err)
		handle, err := b.CreateWindow(ctx, "tab", id)
		require.NoError(t, err)
		contexts, windows = append(contexts, id), append(windows, handle)
	}
	require.NotEqual(t, contexts[0], contexts[1])
	stored := func(handle string) (names []string) {
		require.NoError(t, s.SwitchWindow(ctx, handle))
		require.NoError(t, s.Navigate(ctx, at+"/cookies"))
		var cookies string
		require.NoError(t, s.Execute(ctx, "return document.cookie", &cookies))
		if cookies != "" {
			names = append(names, cookies)
		}
		var local *string
		require.NoError(t, s.Execute(ctx, "return localStorage.getItem('kept')", &local))
		if local != nil {
			names = append(names, *local)
		}
		return names
	}
	require.Empty(t, stored(windows[0]))
	require.NoError(t, s.Execute(ctx, "document.cookie = 'mine=1'", nil))
	require.NoError(t, s.Execute(ctx, "localStorage.setItem('kept', 'local')", nil))
	require.Equal(t, []string{"mine=1", "local"}, stored(windows[0]))
	require.Empty(t, stored(windows[1]))
	require.Empty(t, stored(first))

	// Closing a window keeps what its context stored; removing the context does not
	// wait for pages that ask.
	other, err := b.CreateWindow(ctx, "window", contexts[0])
	require.NoError(t, err)
	require.NoError(t, b.CloseWindow(ctx, windows[0]))
	require.Equal(t, []string{"mine=1", "local"}, stored(other))
	require.NoError(t, s.Navigate(ctx, at+"/dialogs"))
	require.NoError(t, s.Click(ctx, find(t, s, "#stay")))
	require.NoError(t, b.RemoveUserContext(ctx, contexts[0]))
	require.NoError(t, b.RemoveUserContext(ctx, contexts[1]))
	handles, err := s.Windows(ctx)
	require.NoError(t, err)
	require.Equal(t, []string{first}, handles)
	require.Empty(t, stored(first), "the session serves the next test")

	err = b.RemoveUserContext(ctx, contexts[0])
	require.True(t, webdriver.Is(err, "no such user context"), "%v", err)
	_, err = b.CreateWindow(ctx, "tab", "none")
	require.True(t, webdriver.Is(err, "no such user context"), "%v", err)
	err = b.CloseWindow(ctx, "none")
	require.True(t, webdriver.Is(err, webdriver.ErrNoSuchFrame), "%v", err)
	err = b.Command(ctx, "no.such", nil, nil)
	require.True(t, webdriver.Is(err, webdriver.ErrUnknownCommand), "%v", err)
}

func TestBiDiLogEvents(t *testing.T) {
	s, at, ctx := open(t), site(t), within(t)
	b, err := s.BiDi(ctx)
	require.NoError(t, err)
	type line struct{ Level, Text string }
	lines := make(chan line, 100)
	defer b.On("log.entryAdded", func(params json.RawMessage) {
		var l line
		if json.Unmarshal(params, &l) == nil {
			lines <- l
		}
	})()
	require.NoError(t, b.Subscribe(ctx, "log.entryAdded"))
	require.NoError(t, s.Navigate(ctx, at+"/console"))
	require.Equal(t, line{"info", "to the log"}, <-lines)
	require.Equal(t, line{"error", "an error"}, <-lines)
	err = b.Subscribe(ctx, "no.such")
	require.True(t, webdriver.Is(err, webdriver.ErrInvalidArgument), "%v", err)
}

// The browser dies in the middle of a command: both connections report it
// immediately, and the remote end serves other sessions.
func TestCrashOfTheBrowser(t *testing.T) {
	called := make(chan struct{}, 1)
	s, at, ctx := startNew(t), siteWith(t, called), within(t)
	require.NoError(t, s.Navigate(ctx, at+"/form"))
	b, err := s.BiDi(ctx)
	require.NoError(t, err)
	pid, ok := s.Capabilities["goog:processID"].(float64)
	require.True(t, ok)
	classic, bidi := make(chan error, 1), make(chan error, 1)
	handle, err := s.Window(ctx)
	require.NoError(t, err)
	go func() {
		bidi <- b.Command(ctx, "script.evaluate", map[string]any{"expression": "fetch('/called').then(() => new Promise(() => {}))",
			"awaitPromise": true, "target": map[string]string{"context": handle}}, nil)
	}()
	<-called
	go func() { classic <- s.Execute(ctx, "return fetch('/called').then(() => new Promise(() => {}))", nil) }()
	<-called
	require.NoError(t, syscall.Kill(int(pid), syscall.SIGKILL))
	err = <-classic
	require.True(t, webdriver.Is(err, webdriver.ErrInvalidSession, webdriver.ErrUnknown, webdriver.ErrNoSuchWindow), "%v", err)
	require.Error(t, <-bidi)
	_, err = s.Title(ctx)
	require.True(t, webdriver.Is(err, webdriver.ErrInvalidSession), "%v", err)
	client, err := chromedriver.client()
	require.NoError(t, err)
	status, err := client.Status(ctx)
	require.NoError(t, err)
	require.True(t, status.Ready)
}

func TestCapabilitiesThatNobodyServes(t *testing.T) {
	client, err := chromedriver.client()
	require.NoError(t, err)
	_, err = client.NewSession(within(t), map[string]any{"browserName": "netscape"})
	require.True(t, webdriver.Is(err, webdriver.ErrSessionNotCreated), "%v", err)
	_, err = client.NewSession(within(t), map[string]any{"timeouts": "soon"})
	require.True(t, webdriver.Is(err, webdriver.ErrInvalidArgument), "%v", err)

	s, err := client.NewSession(within(t), capabilities(map[string]any{"webSocketUrl": false}))
	require.NoError(t, err)
	_, err = s.BiDi(within(t))
	require.ErrorIs(t, err, webdriver.ErrNoBiDi)
	require.NoError(t, s.Delete(within(t)))
	_, err = s.Title(within(t))
	require.True(t, webdriver.Is(err, webdriver.ErrInvalidSession), "%v", err)
}
