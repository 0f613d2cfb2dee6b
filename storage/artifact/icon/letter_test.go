package icon

import (
	"bytes"
	"image"
	"image/color"
	"image/png"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage/artifact"
)

func TestFirstLetter(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]rune{
		"Slipway": 'S', "mail": 'M', "  (beta) App": 'B', "2048": '2', "über": 'Ü', "ящик": 'Я', "🙂 fun": 'F',
		"": 0, "🙂": 0, "--": 0, "\xff\xfe": 0, "日本": '日',
	} {
		require.Equal(t, want, firstLetter(name), name)
	}
}

func TestLetter(t *testing.T) {
	t.Parallel()
	seen := map[string]string{}
	for _, name := range []string{"Slipway", "Tlipway", "2048", "Ж", "🙂", "日本", "", "I", "W", "Å", "\xff"} {
		out, err := Letter(name)
		require.NoError(t, err, name)
		again, err := Letter(name)
		require.NoError(t, err, name)
		require.Equal(t, out, again, name)
		require.Empty(t, seen[string(out)], "%q looks like another", name)
		seen[string(out)] = name + "."

		img, err := png.Decode(bytes.NewReader(out))
		require.NoError(t, err)
		require.Equal(t, image.Rect(0, 0, artifact.IconSize, artifact.IconSize), img.Bounds())
		requireColor(t, color.NRGBA{}, img.At(0, 0))
		// White is inside, in the middle, and touches no side.
		box := whiteBox(img)
		require.False(t, box.Empty(), name)
		require.InDelta(t, 256, box.Min.X+box.Max.X, 4, name)
		require.InDelta(t, 256, box.Min.Y+box.Max.Y, 4, name)
		require.True(t, box.In(image.Rect(40, 40, 216, 216)), "%q: %v", name, box)
	}
}

func whiteBox(img image.Image) (box image.Rectangle) {
	for y := range artifact.IconSize {
		for x := range artifact.IconSize {
			if r, g, b, _ := img.At(x, y).RGBA(); min(r, g, b) > 0xf000 {
				box = box.Union(image.Rect(x, y, x+1, y+1))
			}
		}
	}
	return box
}

func TestPaletteHasContrast(t *testing.T) {
	t.Parallel()
	linear := func(v uint8) float64 {
		if c := float64(v) / 255; c > 0.04045 {
			return math.Pow((c+0.055)/1.055, 2.4)
		} else {
			return c / 12.92
		}
	}
	for _, c := range palette {
		luminance := 0.2126*linear(c.R) + 0.7152*linear(c.G) + 0.0722*linear(c.B)
		require.GreaterOrEqual(t, 1.05/(luminance+0.05), 4.5, "%v", c)
	}
}
