package icon

import (
	"bytes"
	"image"
	"image/color"
	"image/png"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage/artifact"
)

// coverage returns the mask of path data that is filled in a picture of 10 x 10.
func coverage(t *testing.T, data string, evenOdd bool) func(x, y int) uint8 {
	t.Helper()
	contours, err := polygons(data)
	require.NoError(t, err)
	mask, ok := fill(contours, evenOdd, 10, 10, NewBudget(t.Context()))
	require.True(t, ok)
	return func(x, y int) uint8 { return mask.AlphaAt(x, y).A }
}

func TestFill(t *testing.T) {
	t.Parallel()
	at := coverage(t, "M2 2H6.5V5.25H2Z", false)
	require.EqualValues(t, 255, at(2, 2))
	require.EqualValues(t, 255, at(5, 4))
	require.EqualValues(t, 128, at(6, 3)) // half a column
	require.EqualValues(t, 64, at(4, 5))  // a quarter of a row
	require.EqualValues(t, 32, at(6, 5))
	require.Zero(t, at(1, 2))
	require.Zero(t, at(2, 1))
	require.Zero(t, at(7, 3))

	diagonal := coverage(t, "M0 0L10 10H0Z", false)
	require.InDelta(t, 128, diagonal(5, 5), 4)
	require.EqualValues(t, 255, diagonal(4, 5))
	require.Zero(t, diagonal(6, 5))
}

func TestFillRules(t *testing.T) {
	t.Parallel()
	const square, hole, sameWay = "M0 0H9V9H0Z", "M3 3V6H6V3Z", "M3 3H6V6H3Z"
	for name, test := range map[string]struct {
		data    string
		evenOdd bool
		inside  uint8
	}{
		"nonzero, hole turns the other way": {square + hole, false, 0},
		"nonzero, hole turns the same way":  {square + sameWay, false, 255},
		"even-odd, the other way":           {square + hole, true, 0},
		"even-odd, the same way":            {square + sameWay, true, 0},
		"open contours are closed":          {"M0 0H9V9H0", false, 255},
	} {
		at := coverage(t, test.data, test.evenOdd)
		require.EqualValues(t, test.inside, at(4, 4), name)
		require.EqualValues(t, 255, at(1, 1), name)
		require.EqualValues(t, 255, at(8, 4), name)
	}
}

func TestFillFarOutside(t *testing.T) {
	t.Parallel()
	at := coverage(t, "M-5e8-5e8H5e8V5e8H-5e8Z", false)
	for i := range 10 {
		require.EqualValues(t, 255, at(i, 9-i))
	}
	at = coverage(t, "M-9e8 5L9e8 5L9e8 9e8L-9e8 9e8Z", false)
	require.Zero(t, at(5, 4))
	require.EqualValues(t, 255, at(5, 5))
	for _, data := range []string{"M50 0H90V9Z", "M0 50H9V90Z", "M0-50H9V-9Z", "M5 5", "M0 0H9", ""} {
		at := coverage(t, data, false)
		require.Zero(t, at(5, 5), data)
	}
}

// rendered draws a vector of 10 x 10 and decodes it; pixels are by its units.
func rendered(t *testing.T, alpha float64, paths ...Path) func(x, y float64) color.NRGBA {
	t.Helper()
	out, err := Render(&Vector{Width: 10, Height: 10, Alpha: alpha, Paths: paths}, NewBudget(t.Context()))
	require.NoError(t, err)
	img, err := png.Decode(bytes.NewReader(out))
	require.NoError(t, err)
	require.Equal(t, image.Rect(0, 0, artifact.IconSize, artifact.IconSize), img.Bounds())
	return func(x, y float64) color.NRGBA {
		const unit = artifact.IconSize / 10.0
		return color.NRGBAModel.Convert(img.At(int(x*unit), int(y*unit))).(color.NRGBA)
	}
}

func TestRender(t *testing.T) {
	t.Parallel()
	const square = "M2 2H8V8H2Z"
	half := red
	half.A = 128

	at := rendered(t, 1, Path{Data: square, Fill: red})
	requireColor(t, red, at(5, 5))
	requireColor(t, color.NRGBA{}, at(1, 1))

	requireColor(t, half, rendered(t, 0.5, Path{Data: square, Fill: red})(5, 5))
	requireColor(t, half, rendered(t, 1, Path{Data: square, Fill: half})(5, 5))
	requireColor(t, blue, rendered(t, 1, Path{Data: square, Fill: red}, Path{Data: square, Fill: blue})(5, 5))

	at = rendered(t, 1, Path{Data: square, Fill: red, Transform: [6]float64{0.5, 0, 0, 0.5, 4, 0}})
	requireColor(t, red, at(6, 3))
	requireColor(t, color.NRGBA{}, at(3, 3))

	at = rendered(t, 1, Path{Data: square, Fill: red, Stroke: blue, StrokeWidth: 1})
	requireColor(t, blue, at(2.2, 5))
	requireColor(t, blue, at(1.7, 5))
	requireColor(t, red, at(3, 5))
	requireColor(t, color.NRGBA{}, at(1.2, 5))

	at = rendered(t, 1, Path{Data: "M2 5H8", Stroke: half, StrokeWidth: 2}, Path{Data: "M2 1L5 2L2 3", Stroke: half, StrokeWidth: 1})
	requireColor(t, half, at(5, 5.5)) // once, where parts of the outline overlap
	requireColor(t, half, at(4.9, 2))
	requireColor(t, color.NRGBA{}, at(1.8, 5)) // ends are cut
	requireColor(t, color.NRGBA{}, at(5, 6.5))
}

func TestRenderGradients(t *testing.T) {
	t.Parallel()
	stops := []color.NRGBA{red, blue}
	mid := color.NRGBA{R: 100, B: 100, A: 255}

	at := rendered(t, 1, Path{Data: "M0 0H10V10H0Z", Gradient: stops, GradientLine: [4]float64{2, 0, 8, 0}})
	requireColor(t, red, at(1, 9))
	requireColor(t, mid, at(5, 2))
	requireColor(t, blue, at(9, 1))

	at = rendered(t, 1, Path{Data: "M0 0H10V10H0Z", Gradient: stops})
	requireColor(t, mid, at(5, 5))
	requireColor(t, mid, at(1, 9))
	require.Greater(t, at(1, 1).R, at(9, 9).R)

	requireColor(t, red, rendered(t, 1, Path{Data: "M0 0H10V10H0Z", Gradient: stops[:1]})(5, 5))
	requireColor(t, mid, rendered(t, 1, Path{Data: "M0 0H10V10H0Z", Gradient: stops, GradientLine: [4]float64{3, 3, 3, 3}})(5, 5))
}

func TestRenderKeepsProportions(t *testing.T) {
	t.Parallel()
	out, err := Render(&Vector{Width: 20, Height: 10, Alpha: 1, Paths: []Path{{Data: "M0 0H20V10H0Z", Fill: red}}}, NewBudget(t.Context()))
	require.NoError(t, err)
	img, err := png.Decode(bytes.NewReader(out))
	require.NoError(t, err)
	requireColor(t, red, img.At(2, 128))
	requireColor(t, color.NRGBA{}, img.At(128, 30))
	requireColor(t, color.NRGBA{}, img.At(128, 226))
}

func TestRenderRefuses(t *testing.T) {
	t.Parallel()
	dots := Path{Data: strings.Repeat("M0 0L10 10L0 10L10 0Z", 20_000), Fill: red}
	all := Path{Data: "M0 0H10V10H0Z", Fill: red}
	for name, v := range map[string]*Vector{
		"nothing":     nil,
		"no path":     {Width: 10, Height: 10, Alpha: 1},
		"no viewport": {Alpha: 1, Paths: []Path{all}},
		"no number":   {Width: math.NaN(), Height: 10, Alpha: 1, Paths: []Path{all}},
		"infinite":    {Width: 10, Height: math.Inf(1), Alpha: 1, Paths: []Path{all}},
		"broken data": {Width: 10, Height: 10, Alpha: 1, Paths: []Path{{Data: "M1", Fill: red}}},
		"broken matrix": {Width: 10, Height: 10, Alpha: 1,
			Paths: []Path{{Data: all.Data, Fill: red, Transform: [6]float64{math.NaN(), 0, 0, 1, 0, 0}}}},
		"too many paths":  {Width: 10, Height: 10, Alpha: 1, Paths: make([]Path, maxPaths+1)},
		"too much data":   {Width: 10, Height: 10, Alpha: 1, Paths: repeated(dots, 8)},
		"too much work":   {Width: 10, Height: 10, Alpha: 1, Paths: repeated(dots, 2)},
		"too many pixels": {Width: 10, Height: 10, Alpha: 1, Paths: repeated(all, 1000)},
		"wild strokes": {Width: 10, Height: 10, Alpha: 1,
			Paths: repeated(Path{Data: "M0 0" + strings.Repeat("L9 9L0 9", 5000), Stroke: red, StrokeWidth: 9}, 50)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := Render(v, NewBudget(t.Context()))
			require.Error(t, err)
		})
	}
	broken := &Vector{Width: 10, Height: 10, Alpha: 1, Paths: []Path{all, {Data: "M1", Fill: red}}}
	_, err := Adaptive(Layer{Vector: broken}, Layer{Color: &red}, NewBudget(t.Context()))
	require.ErrorIs(t, err, errPathData)
	_, err = Adaptive(Layer{Color: &red}, Layer{Vector: broken}, NewBudget(t.Context()))
	require.ErrorIs(t, err, errPathData)
}

func repeated(p Path, n int) []Path {
	all := make([]Path, n)
	for i := range all {
		all[i] = p
	}
	return all
}
