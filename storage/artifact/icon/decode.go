package icon

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"image"
	"image/gif"
	"image/jpeg"
	"image/png"

	"golang.org/x/image/webp"

	"github.com/slipway-qa/slipway/storage/artifact"
)

var errUnknown = errors.New("icon: not a known image format")

const pngSignature = "\x89PNG\r\n\x1a\n"

// format is a kind of raster: how its header and its pixels are read, and what
// that costs. The cost is in bytes, of all that is allocated until the picture is
// in a form that is scaled fast (see fastToScale); it is an error when the file
// needs work that its size does not show.
type format struct {
	name   string
	config func(raw []byte) (image.Config, error)
	decode func(raw []byte) (image.Image, error)
	cost   func(raw []byte, c image.Config) (int64, error)
}

var (
	formatPNG = format{"PNG",
		func(raw []byte) (image.Config, error) { return png.DecodeConfig(bytes.NewReader(raw)) },
		func(raw []byte) (image.Image, error) { return png.Decode(bytes.NewReader(raw)) },
		pngCost}
	formatJPEG = format{"JPEG",
		func(raw []byte) (image.Config, error) { return jpeg.DecodeConfig(bytes.NewReader(raw)) },
		func(raw []byte) (image.Image, error) { return jpeg.Decode(bytes.NewReader(raw)) },
		jpegCost}
	formatGIF = format{"GIF",
		func(raw []byte) (image.Config, error) { return gif.DecodeConfig(bytes.NewReader(raw)) },
		func(raw []byte) (image.Image, error) { return gif.Decode(bytes.NewReader(raw)) },
		gifCost}
	formatWebP = format{"WebP",
		func(raw []byte) (image.Config, error) { return webp.DecodeConfig(bytes.NewReader(raw)) },
		func(raw []byte) (image.Image, error) { return webp.Decode(bytes.NewReader(raw)) },
		webpCost}
)

// decode finds the format by the first bytes.
func decode(raw []byte) (image.Image, error) {
	if len(raw) > maxBytes {
		return nil, errTooLarge
	}
	m := newMemory(raw)
	switch {
	case isCgBI(raw):
		return readCgBI(raw, m)
	case bytes.HasPrefix(raw, []byte("icns")):
		return readICNS(raw, m)
	case bytes.HasPrefix(raw, []byte(pngSignature)):
		return formatPNG.read(raw, m)
	case bytes.HasPrefix(raw, []byte("\xff\xd8\xff")):
		return formatJPEG.read(raw, m)
	case bytes.HasPrefix(raw, []byte("GIF8")):
		return formatGIF.read(raw, m)
	case len(raw) >= 12 && string(raw[:4]) == "RIFF" && string(raw[8:12]) == "WEBP":
		return formatWebP.read(raw, m)
	}
	return nil, errUnknown
}

// read decodes a picture that fits into what is left of m. The cost is taken from m
// even when the picture is broken.
func (f format) read(raw []byte, m *memory) (image.Image, error) {
	c, err := f.config(raw)
	if err != nil {
		return nil, fmt.Errorf("icon: %s header: %w", f.name, err)
	}
	if err := checkSize(c.Width, c.Height); err != nil {
		return nil, err
	}
	cost, err := f.cost(raw, c)
	if err != nil {
		return nil, err
	}
	cost += scalingCost(c.Width, c.Height, artifact.IconSize)
	if err := m.take(cost); err != nil {
		return nil, err
	}
	collect(cost)
	img, err := f.decode(raw)
	if err != nil {
		return nil, fmt.Errorf("icon: %s: %w", f.name, err)
	}
	if b := img.Bounds(); b.Empty() || b.Dx() > c.Width || b.Dy() > c.Height {
		return nil, errTooLarge
	}
	return img, nil
}

// gifCost returns the cost of a GIF: interlaced frames are stored twice, and a
// plain picture takes four bytes a pixel. Only the first frame is decoded,
// which is inside the screen.
func gifCost(_ []byte, c image.Config) (int64, error) { return 6 * area(c.Width, c.Height, 1), nil }

// pngCost returns the cost of a PNG by its header, as if there were transparency
// outside of the pixels, with which greys become a picture of four channels.
func pngCost(raw []byte, c image.Config) (int64, error) {
	h, ok := pngHeader(raw)
	if !ok {
		return 0, errors.New("icon: the PNG has no header")
	}
	pixel, copied := int64(4), int64(0)
	switch {
	case h.depth == 16:
		pixel, copied = 8, 4
	case h.color == pngPalette:
		pixel, copied = 1, 4
	}
	if h.interlaced { // all passes together are as large as the picture
		pixel *= 2
	}
	return (pixel + copied) * area(c.Width, c.Height, 1), nil
}

const pngPalette = 3 // the colour type

// header is the IHDR chunk of a PNG.
type header struct {
	width, height int
	depth, color  byte
	interlaced    bool
}

// pngHeader reads the header chunk, which must be the first.
func pngHeader(raw []byte) (header, bool) {
	const at = len(pngSignature)
	if len(raw) < at+8+13 || string(raw[at+4:at+8]) != "IHDR" {
		return header{}, false
	}
	return parseHeader(raw[at+8:])
}

func parseHeader(b []byte) (header, bool) {
	if len(b) < 13 {
		return header{}, false
	}
	w, h := binary.BigEndian.Uint32(b), binary.BigEndian.Uint32(b[4:])
	if w > 1<<30 || h > 1<<30 {
		return header{}, false
	}
	return header{width: int(w), height: int(h), depth: b[8], color: b[9], interlaced: b[12] != 0}, true
}
