package looks

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"math"
)

// Script is the page script that keeps a page still and says where things are in it; what
// comes before are the scripts of package replay that find elements.
//
//go:embed look.js
var Script string

const (
	// MaxPixels bounds a picture: a window of 10,000 by 2,000, or a page of 1,280 that is
	// 15,000 long. Each takes four bytes, of three pictures at once.
	MaxPixels = 20_000_000
	// MaxBytes bounds a picture as a file.
	MaxBytes = 10 << 20
)

// ErrTooLarge is a picture above the bounds.
var ErrTooLarge = fmt.Errorf("a picture of more than %d million pixels or %d MiB cannot be compared", MaxPixels/1_000_000, MaxBytes>>20)

var errNoPNG = errors.New("the browser returned no PNG picture")

// Read decodes a PNG picture. Its size is checked before anything is unpacked.
func Read(data []byte) (*image.NRGBA, error) {
	if len(data) > MaxBytes {
		return nil, ErrTooLarge
	}
	head, err := png.DecodeConfig(bytes.NewReader(data))
	if err != nil {
		return nil, errNoPNG
	}
	if head.Width <= 0 || head.Height <= 0 || int64(head.Width)*int64(head.Height) > MaxPixels {
		return nil, ErrTooLarge
	}
	decoded, err := png.Decode(bytes.NewReader(data))
	if err != nil {
		return nil, errNoPNG
	}
	if n, ok := decoded.(*image.NRGBA); ok && n.Rect.Min == (image.Point{}) {
		return n, nil
	}
	out := image.NewNRGBA(image.Rect(0, 0, decoded.Bounds().Dx(), decoded.Bounds().Dy()))
	draw.Draw(out, out.Rect, decoded, decoded.Bounds().Min, draw.Src)
	return out, nil
}

// Write encodes a picture as PNG.
func Write(picture *image.NRGBA) ([]byte, error) {
	var out bytes.Buffer
	if err := (&png.Encoder{CompressionLevel: png.BestSpeed}).Encode(&out, picture); err != nil {
		return nil, fmt.Errorf("write a picture: %w", err)
	}
	if out.Len() > MaxBytes {
		return nil, ErrTooLarge
	}
	return out.Bytes(), nil
}

// Digest identifies the pixels of a picture, whatever its file looks like.
func Digest(picture *image.NRGBA) string {
	hash := sha256.New()
	var size [8]byte
	binary.BigEndian.PutUint32(size[:4], uint32(picture.Rect.Dx()))
	binary.BigEndian.PutUint32(size[4:], uint32(picture.Rect.Dy()))
	hash.Write(size[:])
	for y := range picture.Rect.Dy() {
		hash.Write(picture.Pix[y*picture.Stride : y*picture.Stride+4*picture.Rect.Dx()])
	}
	return hex.EncodeToString(hash.Sum(nil))
}

// Box is a part of a picture in CSS pixels, from its upper left corner.
type Box struct {
	X      float64 `json:"x"`
	Y      float64 `json:"y"`
	Width  float64 `json:"width"`
	Height float64 `json:"height"`
}

// in returns the pixels that a box covers, also in part, in a picture of some scale.
func (b Box) in(bounds image.Rectangle, scale float64) image.Rectangle {
	pixel := func(v float64, round func(float64) float64) int {
		const noise = 1e4                                                                          // of sums of fractions
		return int(min(max(round(math.Round(v*scale*noise)/noise), math.MinInt32), math.MaxInt32)) // a page's numbers
	}
	if math.IsNaN(b.X + b.Y + b.Width + b.Height) {
		return image.Rectangle{}
	}
	return image.Rect(pixel(b.X, math.Floor), pixel(b.Y, math.Floor), pixel(b.X+max(b.Width, 0), math.Ceil),
		pixel(b.Y+max(b.Height, 0), math.Ceil)).Intersect(bounds)
}

// Cut returns the part of a picture that a box covers; nil where it covers nothing. Its size
// follows from that of the box alone, wherever between two pixels that begins.
func Cut(picture *image.NRGBA, box Box, scale float64) *image.NRGBA {
	whole := Box{X: math.Floor(box.X*scale) / scale, Y: math.Floor(box.Y*scale) / scale, Width: box.Width, Height: box.Height}
	part := whole.in(picture.Rect, scale)
	if part.Empty() {
		return nil
	}
	out := image.NewNRGBA(image.Rect(0, 0, part.Dx(), part.Dy()))
	draw.Draw(out, out.Rect, picture, part.Min, draw.Src)
	return out
}

// maskColour is what masks are painted with: a colour that pages do not have.
var maskColour = color.NRGBA{R: 255, B: 255, A: 255}

// Mask paints over the parts of a picture that boxes cover.
func Mask(picture *image.NRGBA, boxes []Box, scale float64) {
	for _, box := range boxes {
		draw.Draw(picture, box.in(picture.Rect, scale), image.NewUniform(maskColour), image.Point{}, draw.Src)
	}
}

// frameWidth is how wide a frame is, in pixels.
const frameWidth = 3

// Frame draws a frame around the part of a picture that a box covers.
func Frame(picture *image.NRGBA, box Box, scale float64) {
	outer := box.in(picture.Rect, scale).Inset(-frameWidth)
	inner := outer.Inset(frameWidth)
	for _, side := range []image.Rectangle{
		{outer.Min, image.Pt(outer.Max.X, inner.Min.Y)}, {image.Pt(outer.Min.X, inner.Max.Y), outer.Max},
		{outer.Min, image.Pt(inner.Min.X, outer.Max.Y)}, {image.Pt(inner.Max.X, outer.Min.Y), outer.Max},
	} {
		draw.Draw(picture, side.Intersect(picture.Rect), image.NewUniform(red), image.Point{}, draw.Src)
	}
}

// Contains reports whether another box lies in this one.
func (b Box) Contains(other Box) bool {
	return other.X >= b.X && other.Y >= b.Y && other.X+other.Width <= b.X+b.Width && other.Y+other.Height <= b.Y+b.Height
}

// Grown returns a box with some more on each side, but nothing left of or above the page.
func (b Box) Grown(by float64) Box {
	x, y := max(b.X-by, 0), max(b.Y-by, 0)
	return Box{X: x, Y: y, Width: b.X + b.Width + by - x, Height: b.Y + b.Height + by - y}
}

// From returns a box as it lies in a part of the page.
func (b Box) From(part Box) Box {
	return Box{X: b.X - part.X, Y: b.Y - part.Y, Width: b.Width, Height: b.Height}
}
