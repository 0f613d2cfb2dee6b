package icon

import (
	"errors"
	"image"
	"runtime"

	"github.com/slipway-qa/slipway/storage/artifact"
)

// Bounds of raster icons. Real ones are at most 1024 pixels a side and 2 MB.
const (
	maxBytes = 16 << 20
	maxSide  = 4096

	// maxMemory is the memory of one icon in all: its file, what its decoder
	// allocates, and what scaling takes on top. A package has 64 MiB, of
	// which this leaves a quarter for everything else; a PNG of 2048 x 2048 in
	// RGBA takes 32 MiB and its file.
	maxMemory = 48 << 20

	// largePicture is the cost above which memory is collected before a picture is
	// decoded. An icon of 1024 x 1024 is below it.
	largePicture = 16 << 20
)

var errTooLarge = errors.New("icon: the image is too large")

// memory is the rest of maxMemory for one icon.
type memory struct{ left int64 }

func newMemory(raw []byte) *memory { return &memory{maxMemory - int64(len(raw))} }

// take subtracts memory before it is allocated, or fails.
func (m *memory) take(bytes int64) error {
	if bytes > m.left {
		return errTooLarge
	}
	m.left -= bytes
	return nil
}

// collect frees the memory of earlier pictures before a large one: by itself the
// collector lets the heap double first, and a package may have several large icons of
// which only the last one is intact.
func collect(cost int64) {
	if cost > largePicture {
		runtime.GC()
	}
}

// checkSize checks the size in a header before the picture is decoded.
func checkSize(w, h int) error {
	if w <= 0 || h <= 0 {
		return errors.New("icon: the image has no pixels")
	}
	if w > maxSide || h > maxSide {
		return errTooLarge
	}
	return nil
}

// area returns the number of pixels of a picture of w x h when its sides are
// rounded up to multiples of block.
func area(w, h, block int) int64 {
	up := func(n int) int64 { return int64((n + block - 1) / block * block) }
	return up(w) * up(h)
}

// scalingCost returns the cost of scaling a picture of w x h: its width is scaled
// first, with four floats for each pixel.
func scalingCost(w, h, side int) int64 {
	if max(w, h) <= side {
		side = max(w, h)
	}
	return int64(min(w, side)) * int64(h) * 32
}

// layerCost returns the cost of scaling a decoded picture in an adaptive icon.
func layerCost(img image.Image) (int64, error) {
	size := img.Bounds().Size()
	if err := checkSize(size.X, size.Y); err != nil {
		return 0, err
	}
	const side = artifact.IconSize * layerUnits / shownUnits
	return 4*area(size.X, size.Y, 1) + scalingCost(size.X, size.Y, side), nil
}
