package icon

import (
	"encoding/binary"
	"errors"
	"image"
	"image/color"
)

// webpCost returns the cost of a WebP: a lossless picture has four bytes a pixel,
// twice when it has a palette, and three pictures of a sixteenth that describe how
// parts of it are coded. A
// lossy one has less than two, but its alpha plane is a lossless picture and a byte
// for each pixel, and both together are copied to four bytes a pixel.
//
// The decoder allocates what chunks claim, and checks them only against the
// claim of the whole, so that this must be true.
func webpCost(raw []byte, c image.Config) (int64, error) {
	const riff = 8 // letters and length
	if claim := int64(binary.LittleEndian.Uint32(raw[4:])); claim > int64(len(raw)-riff) {
		return 0, errors.New("icon: the WebP is shorter than it says")
	}
	pixel := int64(9)
	if c.ColorModel == color.NYCbCrAModel {
		pixel += 2 + 1 + 4
	}
	// The decoder of lossy pictures copies the file.
	cost := pixel*area(c.Width, c.Height, 16) + int64(len(raw))
	for rest := raw[riff+4:]; len(rest) >= riff; {
		n := min(int64(binary.LittleEndian.Uint32(rest[4:])), int64(len(rest)-riff))
		body, head := rest[riff:riff+n], -1
		switch string(rest[:4]) {
		case "VP8L":
			head = 5 // a mark and the size
		case "ALPH":
			if n > 0 && body[0]&3 == 1 { // compressed; it has the size of the whole
				head = 1
			}
		}
		if head >= 0 {
			groups, err := groupsCost(body[min(head, len(body)):], c.Width, c.Height)
			if err != nil {
				return 0, err
			}
			cost += groups
		}
		rest = rest[min(riff+n+n%2, int64(len(rest))):]
	}
	return cost, nil
}
