package icon

import (
	"bytes"
	"encoding/binary"
	"errors"
	"image"
	"image/color"
)

// A scan of a progressive JPEG covers all blocks and may have no bytes, so that
// neither the size of the file nor that of the picture bounds the
// work. Encoders write about 10 scans.
const (
	maxScans  = 32
	maxPasses = 64 << 20 // pixels of all channels times scans; about half a second
)

var errScans = errors.New("icon: the JPEG has too many scans")

// jpegCost returns the cost of a JPEG: every channel is a plane, of which
// progressive pictures have the coefficients too, four bytes each. Colours that
// are not in YCbCr, and samplings that are not scaled fast, are copied to four
// bytes a pixel; those of print twice.
func jpegCost(raw []byte, c image.Config) (int64, error) {
	pixel, copied := int64(3), int64(4)
	switch c.ColorModel {
	case color.GrayModel:
		pixel, copied = 1, 0
	case color.CMYKModel:
		pixel, copied = 4, 8
	}
	scans, progressive := jpegScans(raw)
	if scans > maxScans || pixel*area(c.Width, c.Height, 8)*int64(scans) > maxPasses {
		return 0, errScans
	}
	if progressive {
		pixel *= 5
	}
	return (pixel + copied) * area(c.Width, c.Height, 32), nil // blocks of 8, up to four of them
}

// jpegScans counts the scans of a JPEG as its decoder finds them: markers follow
// each other with a length each; after a scan's header are its data, in
// which 0xff is followed by 0, or by the number of a restart, which has no length.
func jpegScans(raw []byte) (scans int, progressive bool) {
	const (
		startOfImage, endOfImage, startOfScan = 0xd8, 0xd9, 0xda
		firstRestart, lastRestart             = 0xd0, 0xd7
		progressiveFrame                      = 0xc2
	)
	rest := bytes.TrimPrefix(raw, []byte{0xff, startOfImage})
	for {
		at := bytes.IndexByte(rest, 0xff)
		if at < 0 || at+1 == len(rest) {
			return scans, progressive
		}
		marker := rest[at+1]
		if marker == 0xff { // any number of these may precede a marker
			rest = rest[at+1:]
			continue
		}
		rest = rest[at+2:]
		switch {
		case marker == 0, marker >= firstRestart && marker <= lastRestart:
			continue
		case marker == endOfImage, len(rest) < 2:
			return scans, progressive
		case marker == startOfScan:
			scans++
		case marker == progressiveFrame:
			progressive = true
		}
		n := int(binary.BigEndian.Uint16(rest))
		if n > len(rest) {
			return scans, progressive
		}
		rest = rest[max(n, 2):]
	}
}
