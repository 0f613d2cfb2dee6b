// Package icon converts the icons of packages to small square PNGs.
//
// Icons come in three forms. A raster icon is decoded and scaled down
// (Decoder.Normalize). An adaptive icon of Android is composed of two layers,
// which may be rasters, colours or vector drawables (Adaptive); a vector
// drawable may also be the whole icon (Render). An app without any of them gets
// its first letter on a colour that its name decides (Letter), so that lists
// stay readable.
//
// All input is hostile. The cost of a raster is computed before it is decoded
// (see memory), so that a few bytes cannot take gigabytes; what its size does
// not show, such as the scans of a JPEG, is counted first. A Decoder bounds how
// many rasters are decoded at once. The drawing of vectors has a budget of work
// (see Budget): path data of any length ends with a picture or an error in
// bounded time. A decoder that panics counts as one that failed. The same input
// results in the same bytes.
//
// Paths are filled by a scanline rasterizer of this package and not by
// golang.org/x/image/vector: that one has no even-odd rule, adds overlapping
// contours up instead of uniting them, and loses precision on coordinates far
// outside the picture.
package icon

import (
	"errors"
	"fmt"
	"image"
	"image/color"
)

// Layer is one layer of an adaptive icon; the first member that is set counts.
type Layer struct {
	Image  image.Image
	Vector *Vector
	Color  *color.NRGBA
}

// Vector is a vector drawable in absolute terms: groups are resolved into the
// transforms of their paths.
type Vector struct {
	Width, Height float64 // of the viewport
	Alpha         float64 // 1: opaque
	Paths         []Path
}

// Path is one path of a vector drawable.
type Path struct {
	Data     string        // path data, as SVG writes it
	Fill     color.NRGBA   // A 0: not filled
	Gradient []color.NRGBA // when not empty, in place of Fill: stops of a gradient, at even distances

	// GradientLine is x1 y1 x2 y2 of a linear gradient in the coordinates of
	// Data. All 0: from the top left to the bottom right of the path's bounds.
	GradientLine [4]float64

	EvenOdd     bool
	Stroke      color.NRGBA
	StrokeWidth float64
	Transform   [6]float64 // a b c d e f, as SVG's matrix; all 0: none
}

// catchPanic turns a panic into the error of the function that defers it.
func catchPanic(what string, err *error) {
	if p := recover(); p != nil {
		// The panic's text may contain bytes of the input and does not help people.
		*err = fmt.Errorf("icon: %s failed", what)
	}
}

var errTooComplex = errors.New("icon: the drawing is too complex")
