package icon

import (
	"bytes"
	"encoding/binary"
	"errors"
	"image"
	"slices"

	"github.com/slipway-qa/slipway/storage/artifact"
)

// An .icns file is a list of elements: four letters, a length that counts these
// eight bytes too, data. Since Mac OS X 10.7 pictures are PNGs; older ones are
// three planes in a run-length code with the alpha in a separate element, and
// small new ones four planes. Pictures in JPEG 2000 are skipped. (The one
// module for .icns never ends on a table of contents of length 0, and reads
// only the largest picture, even if it cannot.)

// maxElements bounds the elements of an .icns file; Apple defines about 40.
const maxElements = 256

// planes are the elements in the run-length code, with the element of their
// alpha ("" for those that contain it).
var planes = map[string]struct {
	side  int
	alpha string
}{
	"it32": {128, "t8mk"}, "ih32": {48, "h8mk"}, "il32": {32, "l8mk"}, "is32": {16, "s8mk"},
	"ic04": {16, ""}, "ic05": {32, ""}, "icsb": {18, ""}, "icsB": {36, ""}, "sb24": {24, ""}, "SB24": {48, ""},
}

// picture is one picture of an .icns file.
type picture struct {
	side int
	read func() (image.Image, error)
}

var errICNS = errors.New("icon: no picture in the .icns file can be read")

// readICNS decodes the smallest picture that need not be scaled up, else the
// largest; when it is broken, the next best one. All that are tried share the
// memory of one icon.
func readICNS(raw []byte, m *memory) (image.Image, error) {
	pictures := icnsPictures(raw, m)
	slices.SortStableFunc(pictures, func(a, b picture) int { return preference(b.side) - preference(a.side) })
	const tries = 4
	for i, p := range pictures {
		if i == tries {
			break
		}
		if img, err := p.read(); err == nil {
			return img, nil
		}
	}
	return nil, errICNS
}

// preference ranks sides: those below the stored size by size, above all of them
// those of at least that size, smallest first.
func preference(side int) int {
	if side < artifact.IconSize {
		return side
	}
	return 2*maxSide - side
}

func icnsPictures(raw []byte, m *memory) []picture {
	type element struct {
		kind string
		body []byte
	}
	var elements []element
	alphas := map[string][]byte{}
	for rest := raw[min(8, len(raw)):]; len(rest) >= 8 && len(elements) < maxElements; {
		n := binary.BigEndian.Uint32(rest[4:])
		if n < 8 || uint64(n) > uint64(len(rest)) {
			break
		}
		e := element{string(rest[:4]), rest[8:n]}
		elements = append(elements, e)
		alphas[e.kind] = e.body
		rest = rest[n:]
	}
	var pictures []picture
	for _, e := range elements {
		if bytes.HasPrefix(e.body, []byte(pngSignature)) {
			if h, ok := pngHeader(e.body); ok && h.width <= maxSide {
				pictures = append(pictures, picture{h.width, func() (image.Image, error) { return formatPNG.read(e.body, m) }})
			}
		} else if p, ok := planes[e.kind]; ok {
			alpha := alphas[p.alpha]
			pictures = append(pictures, picture{p.side, func() (image.Image, error) {
				return readPlanes(e.kind, e.body, p.side, alpha)
			}})
		}
	}
	return pictures
}

// readPlanes decodes a picture of three planes, or of four with alpha first.
func readPlanes(kind string, body []byte, side int, alpha []byte) (image.Image, error) {
	order := []int{0, 1, 2}
	switch {
	case bytes.HasPrefix(body, []byte("ARGB")):
		order, body = []int{3, 0, 1, 2}, body[4:]
	case kind == "it32" && len(body) >= 4:
		body = body[4:] // four zero bytes, and only here
	}
	img := image.NewNRGBA(image.Rect(0, 0, side, side))
	for i := range side * side {
		img.Pix[4*i+3] = 255
		if len(order) == 3 && len(alpha) == side*side {
			img.Pix[4*i+3] = alpha[i]
		}
	}
	for _, channel := range order {
		var ok bool
		if body, ok = unpack(img.Pix, channel, body); !ok {
			return nil, errICNS
		}
	}
	return img, nil
}

// unpack decodes one plane into every fourth byte of pix and returns the rest
// of body: a byte below 128 is followed by that many plus one bytes, another by
// one byte that is repeated 3 to 130 times.
func unpack(pix []byte, at int, body []byte) (rest []byte, ok bool) {
	for at < len(pix) {
		if len(body) < 2 {
			return nil, false
		}
		n := int(body[0])
		if n < 128 {
			n++
			if len(body) < 1+n {
				return nil, false
			}
			for _, v := range body[1 : 1+n] {
				if at < len(pix) {
					pix[at] = v
				}
				at += 4
			}
			body = body[1+n:]
			continue
		}
		for range n - 125 {
			if at < len(pix) {
				pix[at] = body[1]
			}
			at += 4
		}
		body = body[2:]
	}
	return body, true
}
