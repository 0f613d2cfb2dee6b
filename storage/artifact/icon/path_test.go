package icon

import (
	"context"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// polygons parses path data without a transform.
func polygons(data string) ([]contour, error) {
	p := pen{matrix: matrix{1, 0, 0, 1, 0, 0}, budget: NewBudget(context.Background())}
	err := parsePath(data, &p)
	return p.contours, err
}

func TestPathData(t *testing.T) {
	t.Parallel()
	type ps = []point
	tests := map[string]struct {
		data string
		want []contour
	}{
		"nothing":                    {"", nil},
		"only moves":                 {"M1 2m3 4M5,6", nil},
		"numbers without separators": {"M1.5.5-3e2.25", []contour{{ps{{1.5, .5}, {-300, .25}}, false}}},
		"signs and exponents":        {"M+1-2L1e1,-1E-1 .5e+1 5.", []contour{{ps{{1, -2}, {10, -.1}, {5, 5}}, false}}},
		"an m goes on with lines":    {"m1 1 1 0 0 1", []contour{{ps{{1, 1}, {2, 1}, {2, 2}}, false}}},
		"an M goes on with lines":    {"M1 1 5 1 5 5", []contour{{ps{{1, 1}, {5, 1}, {5, 5}}, false}}},
		"repeated": {"M0 0H1 2V3 4h1v1l1 1 1 1",
			[]contour{{ps{{0, 0}, {1, 0}, {2, 0}, {2, 3}, {2, 4}, {3, 4}, {3, 5}, {4, 6}, {5, 7}}, false}}},
		"closed, then from its start": {"M1 1h4v4zl1 0", []contour{{ps{{1, 1}, {5, 1}, {5, 5}}, true}, {ps{{1, 1}, {2, 1}}, false}}},
		"an m after z is relative":    {"M1 1h4zm1 1h1", []contour{{ps{{1, 1}, {5, 1}}, true}, {ps{{2, 2}, {3, 2}}, false}}},
		"white space and commas":      {" M\n1\t,1 , L 2,,2 ", []contour{{ps{{1, 1}, {2, 2}}, false}}},
		"arc without radius":          {"M1 1A0 5 0 0 1 4 4", []contour{{ps{{1, 1}, {4, 4}}, false}}},
		"arc to itself":               {"M1 1A5 5 0 0 1 1 1L2 2", []contour{{ps{{1, 1}, {2, 2}}, false}}},
		"a curve that is a line":      {"M0 0C0 0 0 0 0 0", []contour{{ps{{0, 0}, {0, 0}}, false}}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := polygons(test.data)
			require.NoError(t, err)
			require.Len(t, got, len(test.want))
			for i, c := range test.want {
				require.Equal(t, c.closed, got[i].closed)
				require.Len(t, got[i].points, len(c.points))
				for j, p := range c.points {
					require.InDelta(t, p.x, got[i].points[j].x, 1e-9)
					require.InDelta(t, p.y, got[i].points[j].y, 1e-9)
				}
			}
		})
	}
}

// Curves that are the same curve, written in two ways.
func TestPathCurves(t *testing.T) {
	t.Parallel()
	for name, pair := range map[string][2]string{
		"relative c":           {"M1 2C3 4 5 6 7 1", "M1 2c2 2 4 4 6 -1"},
		"s mirrors":            {"M0 0C0 8 8 8 8 0C8 -8 16 -8 16 0", "M0 0C0 8 8 8 8 0S16 -8 16 0"},
		"s without a curve":    {"M0 0C0 0 8 8 8 0", "M0 0S8 8 8 0"},
		"s after q":            {"M0 0Q4 8 8 0C8 0 9 9 12 0", "M0 0Q4 8 8 0S9 9 12 0"},
		"t mirrors":            {"M0 0Q4 8 8 0Q12 -8 16 0", "M0 0q4 8 8 0t8 0"},
		"t after t":            {"M0 0Q4 8 8 0Q12 -8 16 0Q20 8 24 0", "M0 0Q4 8 8 0T16 0T24 0"},
		"flags without spaces": {"M10 0A5 5 0 0 1 20 0", "M10 0a5 5 0 0110 0"},
		"radii grow":           {"M0 0A5 5 0 0 1 10 0", "M0 0A1 1 0 0 1 10 0"},
		"negative radii":       {"M0 0A5 5 0 0 1 10 0", "M0 0A-5 -5 0 0 1 10 0"},
		"turn of a circle":     {"M0 0A5 5 0 0 1 10 0", "M0 0A5 5 360 0 1 10 0"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a, err := polygons(pair[0])
			require.NoError(t, err)
			b, err := polygons(pair[1])
			require.NoError(t, err)
			require.Len(t, b, len(a))
			for i := range a {
				require.Len(t, b[i].points, len(a[i].points))
				for j, p := range a[i].points {
					require.InDelta(t, p.x, b[i].points[j].x, 1e-6)
					require.InDelta(t, p.y, b[i].points[j].y, 1e-6)
				}
			}
		})
	}
}

// All points of the four arcs between two points of a circle are on a circle, on
// the side and of the length of the flags.
func TestPathArcs(t *testing.T) {
	t.Parallel()
	for flags, want := range map[string]struct {
		centre point
		length float64 // quarters
	}{
		"0 0": {point{10, 0}, 1}, "0 1": {point{0, 10}, 1}, "1 0": {point{0, 10}, 3}, "1 1": {point{10, 0}, 3},
	} {
		// From (0, 0) to (10, 10): centres are (10, 0) and (0, 10).
		got, err := polygons("M0 0A10 10 0 " + flags + " 10 10")
		require.NoError(t, err)
		points := got[0].points
		length := 0.0
		for i, p := range points {
			require.InDelta(t, 10, math.Hypot(p.x-want.centre.x, p.y-want.centre.y), 0.01, flags)
			if i > 0 {
				length += math.Hypot(p.x-points[i-1].x, p.y-points[i-1].y)
			}
		}
		require.InDelta(t, want.length*10*math.Pi/2, length, 0.2, flags)
	}
}

func TestPathRefusesWhatIsBroken(t *testing.T) {
	t.Parallel()
	for _, data := range []string{
		"1 2", "M", "M1", "M1 2L", "M1 2L3", "M1 2X", "M0 0A1 1 0 2 0 5 5", "M0 0A1 1 0 1 1 5", "M0 0z 5 5", "M.", "M-", "M1e", "M1e5000 1",
		"M1e10 1", "MNaN 0", "MInf 0", "M0x10 0", "M1 1L1_0 1", "M0 0C1 1 2 2", "M\x001 1", "M１ 1",
		"M0 0" + strings.Repeat("l9e8 9e8", 10),
	} {
		_, err := polygons(data)
		require.ErrorIs(t, err, errPathData, "%q", data)
	}
}

func TestPathIsBounded(t *testing.T) {
	t.Parallel()
	_, err := polygons("M0 0" + strings.Repeat("h1", maxPathData/2))
	require.ErrorIs(t, err, errTooComplex)

	p := pen{matrix: matrix{1e4, 0, 0, 1e4, 0, 0}, budget: &Budget{ctx: t.Context(), left: 1000}}
	err = parsePath("M0 0"+strings.Repeat("A5 5 0 1 1 3 3A5 5 0 1 1 0 0", 1000), &p)
	require.ErrorIs(t, err, errTooComplex)
	require.LessOrEqual(t, len(p.contours[0].points), 1001)
}

func FuzzPath(f *testing.F) {
	f.Add("M12 2C6.48 2 2 6.48 2 12s4.48 10 10 10 10-4.48 10-10S17.52 2 12 2zm-2 15l-5-5 1.41-1.41L10 14.17l7.59-7.59L19 8l-9 9z",
		1.0, 0.0, true)
	f.Add("M5 1a1 1 0 013 1q1 1 0 2t-2 0A1e3.1,2 30 10-5.5-5", -1.5, 3.0, false)
	f.Add("M1e8-1e8L-1e8 1e8H0V1e9z", 1e5, 1e8, false)
	f.Fuzz(func(t *testing.T, data string, scale, width float64, evenOdd bool) {
		v := &Vector{Width: 24, Height: 24, Alpha: 1, Paths: []Path{{
			Data: data, Fill: red, EvenOdd: evenOdd, Stroke: blue, StrokeWidth: width, Transform: [6]float64{scale, 0, 1, scale, 2, 0},
		}}}
		b := &Budget{ctx: t.Context(), left: 300_000}
		img, err := v.draw(matrix{1, 0, 0, 1, 0, 0}, 24, b)
		if err != nil {
			return
		}
		for i := 0; i < len(img.Pix); i += 4 {
			for _, c := range img.Pix[i : i+3] {
				require.LessOrEqual(t, c, img.Pix[i+3], "a colour above its alpha")
			}
		}
	})
}
