package webdriver_test

import (
	"bytes"
	"image/jpeg"
	"image/png"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/worker/browser/webdriver"
)

func TestPictures(t *testing.T) {
	s, at, ctx := open(t), site(t), within(t)
	require.NoError(t, s.Navigate(ctx, at+"/tall"))
	whole, err := s.Screenshot(ctx)
	require.NoError(t, err)
	size, err := png.DecodeConfig(bytes.NewReader(whole))
	require.NoError(t, err)
	require.Equal(t, 1280, size.Width)
	element, err := s.ElementScreenshot(ctx, find(t, s, "p"))
	require.NoError(t, err)
	_, err = png.DecodeConfig(bytes.NewReader(element))
	require.NoError(t, err)
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
	for _, options := range []webdriver.PrintOptions{{}, {Landscape: true, Background: true, Scale: 0.5, Width: 21, Height: 29.7, Pages: []string{"1"}}} {
		pdf, err := s.Print(ctx, options)
		require.NoError(t, err)
		require.True(t, bytes.HasPrefix(pdf, []byte("%PDF-")))
	}
	_, err = s.Print(ctx, webdriver.PrintOptions{Scale: 99})
	require.True(t, webdriver.Is(err, webdriver.ErrInvalidArgument), "%v", err)
}
