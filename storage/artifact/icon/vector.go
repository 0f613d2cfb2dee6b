package icon

import (
	"errors"
	"image"
	"image/color"
	"math"

	"golang.org/x/image/draw"

	"github.com/slipway-qa/slipway/storage/artifact"
)

// Bounds of vector drawables. Detailed icons have some hundreds of paths.
const (
	maxPaths   = 2000
	maxDrawing = 2 << 20 // path data of all paths
	maxStops   = 64
)

// Render draws a vector drawable alone, in the middle of a square of
// artifact.IconSize pixels.
func Render(v *Vector, b *Budget) (out []byte, err error) {
	defer catchPanic("drawing the vector", &err)
	if err := v.check(); err != nil {
		return nil, err
	}
	const side = artifact.IconSize
	s := side / max(v.Width, v.Height)
	place := matrix{s, 0, 0, s, (side - v.Width*s) / 2, (side - v.Height*s) / 2}
	img, err := v.draw(place, side, b)
	if err != nil {
		return nil, err
	}
	return encode(img)
}

func (v *Vector) check() error {
	switch {
	case v == nil || len(v.Paths) == 0:
		return errors.New("icon: the vector has no path")
	case len(v.Paths) > maxPaths:
		return errTooComplex
	case !(v.Width >= 0.01 && v.Width <= 1e6) || !(v.Height >= 0.01 && v.Height <= 1e6):
		return errors.New("icon: the vector has no usable viewport")
	}
	total := 0
	for _, p := range v.Paths {
		total += len(p.Data)
	}
	if total > maxDrawing {
		return errTooComplex
	}
	return nil
}

// draw draws a vector on a picture of side x side; place maps its viewport there.
func (v *Vector) draw(place matrix, side int, b *Budget) (*image.RGBA, error) {
	img := image.NewRGBA(image.Rect(0, 0, side, side))
	for _, p := range v.Paths {
		if err := p.draw(img, place, b); err != nil {
			return nil, err
		}
	}
	if a := v.Alpha; a >= 0 && a < 1 {
		fainter := uint32(a*255 + 0.5)
		for i, c := range img.Pix {
			img.Pix[i] = uint8((uint32(c)*fainter + 127) / 255)
		}
	}
	return img, nil
}

func (p Path) draw(img *image.RGBA, place matrix, b *Budget) error {
	m := matrix(p.Transform)
	if m == (matrix{}) {
		m = matrix{1, 0, 0, 1, 0, 0}
	}
	m = place.times(m)
	pen := pen{matrix: m, budget: b}
	if err := parsePath(p.Data, &pen); err != nil {
		return err
	}
	if source := p.source(m, pen.contours); source != nil {
		if err := paint(img, pen.contours, p.EvenOdd, source, b); err != nil {
			return err
		}
	}
	width := p.StrokeWidth * m.scale()
	if p.Stroke.A == 0 || !(width > 0.01 && width < 1e5) {
		return nil
	}
	contours, ok := outline(pen.contours, width, b)
	if !ok {
		return errTooComplex
	}
	return paint(img, contours, false, image.NewUniform(p.Stroke), b)
}

// source returns what the path is filled with; nil for nothing.
func (p Path) source(m matrix, contours []contour) image.Image {
	switch n := min(len(p.Gradient), maxStops); {
	case n == 1:
		return image.NewUniform(p.Gradient[0])
	case n > 1:
		return p.gradient(p.Gradient[:n], m, contours)
	case p.Fill.A == 0:
		return nil
	}
	return image.NewUniform(p.Fill)
}

func paint(img *image.RGBA, contours []contour, evenOdd bool, source image.Image, b *Budget) error {
	size := img.Rect.Size()
	mask, ok := fill(contours, evenOdd, size.X, size.Y, b)
	if !ok {
		return errTooComplex
	}
	draw.DrawMask(img, mask.Rect, source, mask.Rect.Min, mask, mask.Rect.Min, draw.Over)
	return nil
}

// gradient is the picture of a linear gradient with stops at even distances.
// Radial and sweep gradients are drawn as linear ones: the colours are right,
// and few icons have them.
type gradient struct {
	stops    []color.NRGBA
	from     point
	dx, dy   float64 // over the square of the length
	constant bool
}

func (p Path) gradient(stops []color.NRGBA, m matrix, contours []contour) gradient {
	from, to := m.apply(point{p.GradientLine[0], p.GradientLine[1]}), m.apply(point{p.GradientLine[2], p.GradientLine[3]})
	if p.GradientLine == [4]float64{} {
		from, to = bounds(contours)
	}
	dx, dy := to.x-from.x, to.y-from.y
	d := dx*dx + dy*dy
	if !(d > 1e-9 && d < maxCoordinate) {
		return gradient{stops: stops, constant: true}
	}
	return gradient{stops: stops, from: from, dx: dx / d, dy: dy / d}
}

func bounds(contours []contour) (low, high point) {
	low, high = point{math.Inf(1), math.Inf(1)}, point{math.Inf(-1), math.Inf(-1)}
	for _, c := range contours {
		for _, p := range c.points {
			low = point{min(low.x, p.x), min(low.y, p.y)}
			high = point{max(high.x, p.x), max(high.y, p.y)}
		}
	}
	return low, high
}

func (gradient) ColorModel() color.Model { return color.NRGBAModel }

func (gradient) Bounds() image.Rectangle { return image.Rect(-1e9, -1e9, 1e9, 1e9) }

func (g gradient) At(x, y int) color.Color {
	t := 0.5
	if !g.constant {
		t = min(1, max(0, (float64(x)+0.5-g.from.x)*g.dx+(float64(y)+0.5-g.from.y)*g.dy))
	}
	at := t * float64(len(g.stops)-1)
	i := min(int(at), len(g.stops)-2)
	part := at - float64(i)
	mix := func(a, b uint8) uint8 { return uint8(float64(a)*(1-part) + float64(b)*part + 0.5) }
	a, b := g.stops[i], g.stops[i+1]
	return color.NRGBA{mix(a.R, b.R), mix(a.G, b.G), mix(a.B, b.B), mix(a.A, b.A)}
}
