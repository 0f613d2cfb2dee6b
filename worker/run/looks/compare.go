package looks

import (
	"image"
	"image/color"
)

// Difference is how two pictures of one size differ.
type Difference struct {
	// Pixels counts those that differ, without those that only anti-aliasing draws in
	// another way.
	Pixels int
	// Share is that of all pixels, from 0 to 1.
	Share float64
	// Picture shows what is common in pale grey, what differs in red and anti-aliasing in
	// yellow; nil where nothing differs.
	Picture *image.NRGBA
}

// maxDelta is the largest distance that two colours have in YIQ: of black and white.
const maxDelta = 35215.0

// The colours of a difference's picture.
var (
	red    = color.NRGBA{R: 255, A: 255}
	yellow = color.NRGBA{R: 255, G: 255, A: 255}
)

// Compare compares two pictures of one size. Sensitivity is that of step.MatcherArgs.
//
// The distance of two colours is that in YIQ space, which weighs what people see
// (Kotsarenko and Ramos, 2010). A pixel that differs but lies on an edge that is drawn
// smooth in one of the pictures is taken for anti-aliasing (Vyšniauskas, 2009), and does
// not count: its darkest or lightest neighbour lies in an area of one colour in both.
func Compare(expected, actual *image.NRGBA, sensitivity float64) Difference {
	width, height := actual.Rect.Dx(), actual.Rect.Dy()
	c := comparison{a: expected, b: actual, width: width, height: height}
	limit := maxDelta * (1 - sensitivity) * (1 - sensitivity)
	var found Difference
	var smooth []image.Point
	var different []image.Point
	for y := range height {
		for x := range width {
			at := y*actual.Stride + x*4
			if sameBytes(expected.Pix[y*expected.Stride+x*4:], actual.Pix[at:]) || abs(c.delta(x, y)) <= limit {
				continue
			}
			if c.antialiased(c.a, c.b, x, y) || c.antialiased(c.b, c.a, x, y) {
				smooth = append(smooth, image.Pt(x, y))
				continue
			}
			found.Pixels++
			different = append(different, image.Pt(x, y))
		}
	}
	if found.Pixels == 0 {
		return found
	}
	found.Share = float64(found.Pixels) / float64(width*height)
	found.Picture = pale(actual)
	for _, p := range smooth {
		found.Picture.SetNRGBA(p.X, p.Y, yellow)
	}
	for _, p := range different {
		found.Picture.SetNRGBA(p.X, p.Y, red)
	}
	return found
}

func sameBytes(a, b []byte) bool {
	return a[0] == b[0] && a[1] == b[1] && a[2] == b[2] && a[3] == b[3]
}

func abs(x float64) float64 {
	if x < 0 {
		return -x
	}
	return x
}

// pale returns a picture in light grey, on which differences are seen.
func pale(of *image.NRGBA) *image.NRGBA {
	out := image.NewNRGBA(image.Rect(0, 0, of.Rect.Dx(), of.Rect.Dy()))
	for y := range of.Rect.Dy() {
		for x := range of.Rect.Dx() {
			y0 := brightness(of.Pix[y*of.Stride+x*4:])
			v := uint8(255 + (y0-255)*0.1)
			out.SetNRGBA(x, y, color.NRGBA{v, v, v, 255})
		}
	}
	return out
}

// comparison is of two pictures of one size.
type comparison struct {
	a, b          *image.NRGBA
	width, height int
}

// delta is the distance of the colours of a pixel; negative where the second is darker.
func (c *comparison) delta(x, y int) float64 {
	return colourDelta(c.a.Pix[y*c.a.Stride+x*4:], c.b.Pix[y*c.b.Stride+x*4:])
}

// over returns the parts of a colour on white.
func over(p []byte) (r, g, b float64) {
	r, g, b = float64(p[0]), float64(p[1]), float64(p[2])
	if a := float64(p[3]) / 255; p[3] < 255 {
		r, g, b = 255+(r-255)*a, 255+(g-255)*a, 255+(b-255)*a
	}
	return r, g, b
}

func luma(r, g, b float64) float64 { return r*0.29889531 + g*0.58662247 + b*0.11448223 }

func brightness(p []byte) float64 { return luma(over(p)) }

func colourDelta(p, q []byte) float64 {
	r1, g1, b1 := over(p)
	r2, g2, b2 := over(q)
	r, g, b := r1-r2, g1-g2, b1-b2
	y := luma(r, g, b)
	i := r*0.59597799 - g*0.27417610 - b*0.32180189
	k := r*0.21147017 - g*0.52261711 + b*0.31114694
	delta := 0.5053*y*y + 0.299*i*i + 0.1957*k*k
	if y > 0 {
		return -delta
	}
	return delta
}

// antialiased reports whether a pixel of a picture is likely one of a smooth edge.
func (c *comparison) antialiased(of, other *image.NRGBA, x1, y1 int) bool {
	x0, y0, x2, y2 := max(x1-1, 0), max(y1-1, 0), min(x1+1, c.width-1), min(y1+1, c.height-1)
	equal := 0
	if x1 == x0 || x1 == x2 || y1 == y0 || y1 == y2 {
		equal = 1
	}
	own := brightness(of.Pix[y1*of.Stride+x1*4:])
	darkest, lightest := 0.0, 0.0
	var dark, light image.Point
	for x := x0; x <= x2; x++ {
		for y := y0; y <= y2; y++ {
			if x == x1 && y == y1 {
				continue
			}
			delta := own - brightness(of.Pix[y*of.Stride+x*4:])
			switch {
			case delta == 0:
				if equal++; equal > 2 {
					return false
				}
			case delta < darkest:
				darkest, dark = delta, image.Pt(x, y)
			case delta > lightest:
				lightest, light = delta, image.Pt(x, y)
			}
		}
	}
	if darkest == 0 || lightest == 0 {
		return false
	}
	return c.flat(of, dark) && c.flat(other, dark) || c.flat(of, light) && c.flat(other, light)
}

// flat reports whether a pixel has at least three neighbours of its own colour.
func (c *comparison) flat(of *image.NRGBA, p image.Point) bool {
	x0, y0, x2, y2 := max(p.X-1, 0), max(p.Y-1, 0), min(p.X+1, c.width-1), min(p.Y+1, c.height-1)
	equal := 0
	if p.X == x0 || p.X == x2 || p.Y == y0 || p.Y == y2 {
		equal = 1
	}
	own := of.Pix[p.Y*of.Stride+p.X*4:]
	for x := x0; x <= x2; x++ {
		for y := y0; y <= y2; y++ {
			if x == p.X && y == p.Y {
				continue
			}
			if sameBytes(own, of.Pix[y*of.Stride+x*4:]) {
				if equal++; equal > 2 {
					return true
				}
			}
		}
	}
	return false
}
