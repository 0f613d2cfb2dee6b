package webdriver_test

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/worker/browser/webdriver"
)

func TestWindows(t *testing.T) {
	s, at, ctx := startNew(t), site(t), within(t)
	require.NoError(t, s.Navigate(ctx, at+"/windows"))
	first, err := s.Window(ctx)
	require.NoError(t, err)
	require.NoError(t, s.Click(ctx, find(t, s, "#open")))
	var handles []string
	require.Eventually(t, func() bool {
		handles, err = s.Windows(ctx)
		return err == nil && len(handles) == 2
	}, time.Minute, 10*time.Millisecond)
	second := handles[0]
	if second == first {
		second = handles[1]
	}
	require.NoError(t, s.SwitchWindow(ctx, second))
	require.Eventually(t, func() bool { return title(t, s) == "Done" }, time.Minute, 10*time.Millisecond)
	b, err := s.BiDi(ctx)
	require.NoError(t, err)
	require.NoError(t, b.CloseWindow(ctx, second))
	handles, err = s.Windows(ctx)
	require.NoError(t, err)
	require.Equal(t, []string{first}, handles)
	_, err = s.Title(ctx)
	require.True(t, webdriver.Is(err, webdriver.ErrNoSuchWindow), "%v", err)
	require.NoError(t, s.SwitchWindow(ctx, first))
	third, err := b.CreateWindow(ctx, "window", "")
	require.NoError(t, err)
	require.Equal(t, "First", title(t, s), "a new window is not current")
	handles, err = s.Windows(ctx)
	require.NoError(t, err)
	require.True(t, slices.Contains(handles, third))
	err = s.SwitchWindow(ctx, "none")
	require.True(t, webdriver.Is(err, webdriver.ErrNoSuchWindow), "%v", err)

	require.NoError(t, s.SwitchWindow(ctx, third))
	require.NoError(t, s.SetWindowSize(ctx, 800, 600))
	require.Eventually(t, func() bool { // the page hears of it some time later
		var size []int
		err := s.Execute(ctx, "return [outerWidth, outerHeight]", &size)
		return err == nil && slices.Equal(size, []int{800, 600})
	}, time.Minute, 10*time.Millisecond)
}
