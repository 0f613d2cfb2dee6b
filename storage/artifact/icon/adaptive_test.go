package icon

import (
	"bytes"
	"image"
	"image/color"
	"image/png"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage/artifact"
)

func composed(t *testing.T, background, foreground Layer) image.Image {
	t.Helper()
	out, err := Adaptive(background, foreground, NewBudget(t.Context()))
	require.NoError(t, err)
	again, err := Adaptive(background, foreground, NewBudget(t.Context()))
	require.NoError(t, err)
	require.Equal(t, out, again)
	img, err := png.Decode(bytes.NewReader(out))
	require.NoError(t, err)
	require.Equal(t, image.Rect(0, 0, artifact.IconSize, artifact.IconSize), img.Bounds())
	for _, corner := range []image.Point{{}, {255, 0}, {0, 255}, {255, 255}} {
		requireColor(t, color.NRGBA{}, img.At(corner.X, corner.Y))
	}
	return img
}

// The outer 18 of 108 units are not shown: a frame of that width disappears, and
// one a unit wider is seen.
func TestAdaptiveShowsTheMiddle(t *testing.T) {
	t.Parallel()
	frame := func(inner string) *Vector {
		return &Vector{Width: 108, Height: 108, Alpha: 1, Paths: []Path{{Data: "M0 0H108V108H0Z" + inner, EvenOdd: true, Fill: red}}}
	}
	img := composed(t, Layer{Color: &blue}, Layer{Vector: frame("M18 18H90V90H18Z")})
	for _, at := range []int{1, 128, 254} {
		requireColor(t, blue, img.At(at, 128))
	}
	img = composed(t, Layer{Color: &blue}, Layer{Vector: frame("M19 19H89V89H19Z")})
	requireColor(t, red, img.At(1, 128))
	requireColor(t, blue, img.At(5, 128))
	requireColor(t, red, img.At(254, 128))
}

func TestAdaptiveOfImages(t *testing.T) {
	t.Parallel()
	for _, side := range []int{108, 384, 432, 1000} {
		// The middle third is red: 36 of 108 units, half of what is shown.
		fore := image.NewNRGBA(image.Rect(0, 0, side, side))
		for i := range side * side {
			if x, y := i%side, i/side; min(x, y) >= side/3 && max(x, y) < side-side/3 {
				fore.SetNRGBA(x, y, red)
			}
		}
		img := composed(t, Layer{Image: plate(10, 10, blue, blue)}, Layer{Image: fore})
		requireColor(t, red, img.At(70, 128))
		requireColor(t, red, img.At(186, 186))
		requireColor(t, blue, img.At(56, 128))
		requireColor(t, blue, img.At(200, 128))
	}
}

func TestAdaptiveWithoutALayer(t *testing.T) {
	t.Parallel()
	img := composed(t, Layer{}, Layer{Vector: &Vector{Width: 10, Height: 10, Alpha: 1, Paths: []Path{{Data: "M4 4H6V6H4Z", Fill: red}}}})
	requireColor(t, red, img.At(128, 128))
	requireColor(t, color.NRGBA{255, 255, 255, 255}, img.At(20, 128))
	requireColor(t, red, composed(t, Layer{Color: &red}, Layer{}).At(20, 128))
	_, err := Adaptive(Layer{}, Layer{}, NewBudget(t.Context()))
	require.Error(t, err)
	_, err = Adaptive(Layer{Image: image.NewRGBA(image.Rectangle{})}, Layer{}, NewBudget(t.Context()))
	require.Error(t, err)
	_, err = Adaptive(Layer{Image: image.NewUniform(red)}, Layer{}, NewBudget(t.Context())) // as large as can be
	require.ErrorIs(t, err, errTooLarge)
}
