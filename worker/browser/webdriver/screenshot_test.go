package webdriver_test

import (
	"bytes"
	"image/jpeg"
	"image/png"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestScreenshots(t *testing.T) {
	s, at, ctx := open(t), site(t), within(t)
	require.NoError(t, s.Navigate(ctx, at+"/tall"))
	whole, err := s.Screenshot(ctx)
	require.NoError(t, err)
	size, err := png.DecodeConfig(bytes.NewReader(whole))
	require.NoError(t, err)
	require.Equal(t, 1280, size.Width)
	quick, err := s.JPEGScreenshot(ctx, 80)
	require.NoError(t, err)
	other, err := jpeg.DecodeConfig(bytes.NewReader(quick))
	require.NoError(t, err)
	require.Equal(t, [2]int{size.Width, size.Height}, [2]int{other.Width, other.Height})
	b, err := s.BiDi(ctx)
	require.NoError(t, err)
	handle, err := s.Window(ctx)
	require.NoError(t, err)
	remote, err := b.Screenshot(ctx, handle)
	require.NoError(t, err)
	_, err = jpeg.DecodeConfig(bytes.NewReader(remote))
	require.NoError(t, err)
}
