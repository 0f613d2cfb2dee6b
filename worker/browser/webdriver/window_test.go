package webdriver_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/worker/browser/webdriver"
)

func TestWindows(t *testing.T) {
	s, at, ctx := own(t), site(t), within(t)
	require.NoError(t, s.Navigate(ctx, at+"/windows"))
	first, err := s.Window(ctx)
	require.NoError(t, err)
	require.NoError(t, s.Click(ctx, find(t, s, "#open")))
	var handles []string
	require.Eventually(t, func() bool {
		handles, err = s.Windows(ctx)
		return err == nil && len(handles) == 2
	}, 5*time.Second, 10*time.Millisecond)
	second := handles[0]
	if second == first {
		second = handles[1]
	}
	require.NoError(t, s.SwitchWindow(ctx, second))
	require.Eventually(t, func() bool { return title(t, s) == "Done" }, 5*time.Second, 10*time.Millisecond)
	left, err := s.CloseWindow(ctx)
	require.NoError(t, err)
	require.Equal(t, []string{first}, left)
	_, err = s.Title(ctx)
	require.True(t, webdriver.Is(err, webdriver.ErrNoSuchWindow), "%v", err)
	require.NoError(t, s.SwitchWindow(ctx, first))
	third, err := s.NewWindow(ctx, "window")
	require.NoError(t, err)
	require.Equal(t, "First", title(t, s), "a new window is not current")
	handles, err = s.Windows(ctx)
	require.NoError(t, err)
	require.True(t, slices.Contains(handles, third))
	err = s.SwitchWindow(ctx, "none")
	require.True(t, webdriver.Is(err, webdriver.ErrNoSuchWindow), "%v", err)

	require.NoError(t, s.SwitchWindow(ctx, third))
	require.NoError(t, s.SetWindowSize(ctx, 800, 600))
	rect, err := s.WindowRect(ctx)
	require.NoError(t, err)
	require.Equal(t, [2]float64{800, 600}, [2]float64{rect.Width, rect.Height})
	for name, change := range map[string]func(context.Context) (webdriver.Rect, error){"maximize": s.Maximize, "minimize": s.Minimize, "fullscreen": s.Fullscreen} {
		rect, err := change(ctx)
		require.NoError(t, err, name)
		require.Positive(t, rect.Width, name)
	}
}
