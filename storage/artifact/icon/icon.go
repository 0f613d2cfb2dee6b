// Package icon turns the icons of packages into small square PNGs.
//
// Icons come in three forms. A raster icon is decoded and scaled down
// (Normalize). An adaptive icon of Android is composed of two layers, which may
// be rasters, colours or vector drawables (Adaptive); a vector drawable may also
// be the whole icon (Render). An app without any of them gets its first letter
// on a colour of its own (Letter), so that lists stay readable.
//
// All input is hostile. What a raster takes is priced before anything is decoded
// (see memory), so that a few bytes cannot ask for gigabytes; what its size does
// not show, such as the scans of a JPEG, is counted first. Two rasters are decoded
// at once in the process. The drawing of vectors has a budget of work (see
// budget): path data of any length ends with a picture or an error in bounded
// time. A decoder that panics is a decoder that failed. The same input gives the
// same bytes.
//
// Paths are filled by a scanline rasterizer of this package and not by
// golang.org/x/image/vector: that one knows no even-odd rule, adds overlapping
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

// catchPanic makes a panic below it the error of its caller.
func catchPanic(what string, err *error) {
	if p := recover(); p != nil {
		// The panic's text may hold bytes of the input and says nothing to people.
		*err = fmt.Errorf("icon: %s failed", what)
	}
}

var errTooComplex = errors.New("icon: the drawing is too complex")
