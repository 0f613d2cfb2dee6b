// Package picture reads pictures that people attach, and writes them anew.
//
// What is stored and shown to others is never the file that came: it is decoded, turned
// as its EXIF orientation says, and encoded again, as JPEG when it was JPEG and as PNG
// when it was PNG or WebP. With that everything goes that a picture may carry beside
// its pixels: where a photograph was taken, the name of a phone's owner, and a second
// file behind the first.
//
// Files and pixels are bounded before anything is decoded, so that a small file cannot
// become a large picture. What is not one of these formats, is broken or is too large is
// a *storage.InvalidError of the member named by the caller. HEIC is among them: phones
// convert it when a form asks for JPEG.
package picture

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"image"
	"image/jpeg"
	"image/png"
	"io"

	_ "golang.org/x/image/webp" // decoded by image.Decode

	"github.com/slipway-qa/slipway/storage"
)

const (
	// MaxBytes bounds a file: a photograph of a phone has some 5 MB.
	MaxBytes = 10 << 20
	// maxPixels bounds what is decoded: photographs of phones have up to 25 million
	// pixels as a rule.
	maxPixels = 32 << 20
	// maxSide keeps out pictures that are one long line.
	maxSide = 16 << 10
	// maxProgressive are the pixels of a progressive JPEG, whose decoding takes 16 bytes for
	// each, and maxScans its scans: each goes over all pixels and may have 20 bytes, so
	// that a file could take minutes. Programs write some ten.
	maxProgressive = 8 << 20
	maxScans       = 100
	// quality of JPEG: no difference that an eye sees.
	quality = 88
)

// Picture is a picture as it was written anew.
type Picture struct {
	Bytes       []byte
	ContentType string // image/jpeg or image/png
}

// Read reads a picture; field names the member of errors.
func Read(field string, r io.Reader) (*Picture, error) {
	file, err := io.ReadAll(io.LimitReader(r, MaxBytes+1))
	if err != nil {
		return nil, err
	}
	if len(file) > MaxBytes {
		return nil, storage.Invalid(field, "must have at most %d MB", MaxBytes>>20)
	}
	config, format, err := image.DecodeConfig(bytes.NewReader(file))
	if err != nil || format != "png" && format != "jpeg" && format != "webp" {
		return nil, storage.Invalid(field, "must be a picture: PNG, JPEG or WebP")
	}
	if config.Width > maxSide || config.Height > maxSide || config.Width*config.Height > maxPixels {
		return nil, storage.Invalid(field, "must have at most %d million pixels", maxPixels>>20)
	}
	if format == "jpeg" && isProgressive(file) {
		switch {
		case config.Width*config.Height > maxProgressive:
			return nil, storage.Invalid(field, "must have at most %d million pixels as a progressive JPEG", maxProgressive>>20)
		case bytes.Count(file, []byte{0xff, startOfScan}) > maxScans:
			return nil, storage.Invalid(field, "must have at most %d scans as a progressive JPEG", maxScans)
		}
	}
	decoded, err := decode(file)
	if err != nil {
		return nil, storage.Invalid(field, "is a broken picture")
	}
	var out bytes.Buffer
	if format == "jpeg" {
		err = jpeg.Encode(&out, turned(decoded, orientation(file)), &jpeg.Options{Quality: quality})
		return &Picture{out.Bytes(), "image/jpeg"}, err
	}
	err = (&png.Encoder{CompressionLevel: png.BestSpeed}).Encode(&out, decoded)
	return &Picture{out.Bytes(), "image/png"}, err
}

// Markers of JPEG (ITU-T T.81, table B.1).
const (
	startOfFrame0   = 0xc0 // baseline
	startOfFrame1   = 0xc1 // extended sequential
	startOfFrame2   = 0xc2 // progressive
	startOfScan     = 0xda
	firstStandalone = 0xd0 // to 0xd9: without a segment
	lastStandalone  = 0xd9
)

// isProgressive reports whether a JPEG is one, by the first header of a frame. A file
// that is not plain segments up to there counts as one.
func isProgressive(file []byte) bool {
	for at := 2; at+4 <= len(file) && file[at] == 0xff; {
		marker, length := file[at+1], int(binary.BigEndian.Uint16(file[at+2:]))
		switch {
		case marker == startOfFrame0, marker == startOfFrame1:
			return false
		case marker == startOfFrame2, marker >= firstStandalone && marker <= lastStandalone, marker == 0, marker == 0xff, length < 2:
			return true
		}
		at += 2 + length
	}
	return true
}

// decode keeps a panic of a decoder from ending more than this picture.
func decode(file []byte) (decoded image.Image, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("decoder failed: %v", r)
		}
	}()
	decoded, _, err = image.Decode(bytes.NewReader(file))
	return decoded, err
}

// orientation reads how a JPEG is to be turned: 1 to 8 as EXIF 2.32, 4.6.4 A, counts
// them; 1 when it does not say. It looks for the segment APP1, whose content is a TIFF
// with one tag, 0x0112, that matters here.
func orientation(file []byte) int {
	for at := 2; at+4 <= len(file) && file[at] == 0xff; {
		marker, length := file[at+1], int(binary.BigEndian.Uint16(file[at+2:]))
		if marker == 0xda || length < 2 || at+2+length > len(file) {
			break
		}
		if tiff, ok := bytes.CutPrefix(file[at+4:at+2+length], []byte("Exif\x00\x00")); ok && marker == 0xe1 {
			return orientationOfTIFF(tiff)
		}
		at += 2 + length
	}
	return 1
}

func orientationOfTIFF(tiff []byte) int {
	if len(tiff) < 8 {
		return 1
	}
	var order binary.ByteOrder = binary.BigEndian
	if tiff[0] == 'I' {
		order = binary.LittleEndian
	}
	const entry = 12
	first := int(order.Uint32(tiff[4:]))
	if first < 8 || first+2 > len(tiff) {
		return 1
	}
	count := int(order.Uint16(tiff[first:]))
	for i := range count {
		at := first + 2 + i*entry
		if at+entry > len(tiff) {
			return 1
		}
		if order.Uint16(tiff[at:]) == 0x0112 {
			return int(order.Uint16(tiff[at+8:]))
		}
	}
	return 1
}

// turned returns a picture as its orientation says.
func turned(m image.Image, orientation int) image.Image {
	if orientation < 2 || orientation > 8 {
		return m
	}
	b := m.Bounds()
	w, h := b.Dx(), b.Dy()
	if orientation >= 5 {
		w, h = h, w
	}
	out := image.NewRGBA(image.Rect(0, 0, w, h))
	for y := range h {
		for x := range w {
			// Where the pixel comes from.
			fromX, fromY := x, y
			if orientation >= 5 {
				fromX, fromY = y, x
			}
			switch orientation {
			case 2, 3, 7, 8:
				fromX = b.Dx() - 1 - fromX
			}
			switch orientation {
			case 3, 4, 6, 7:
				fromY = b.Dy() - 1 - fromY
			}
			out.Set(x, y, m.At(b.Min.X+fromX, b.Min.Y+fromY))
		}
	}
	return out
}
