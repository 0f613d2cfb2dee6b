package icon

import (
	"bytes"
	"compress/flate"
	"encoding/binary"
	"errors"
	"hash/adler32"
	"hash/crc32"
	"image"
	"io"
)

// Apple's build tools convert PNGs to a variant, marked by a first chunk CgBI: the
// pixel data are deflated without the zlib header and checksum, and pixels are BGRA
// with colours multiplied by alpha. Such a file is rewritten as a PNG, which
// image/png then reads, and its pixels are converted.

var errCgBI = errors.New("icon: broken CgBI PNG")

func isCgBI(raw []byte) bool {
	const at = len(pngSignature)
	return len(raw) >= at+8 && string(raw[:at]) == pngSignature && string(raw[at+4:at+8]) == "CgBI"
}

// readCgBI decodes Apple's PNG.
func readCgBI(raw []byte, m *memory) (image.Image, error) {
	if err := m.take(int64(len(raw))); err != nil { // for the rewritten one
		return nil, err
	}
	plain, err := plainPNG(raw)
	if err != nil {
		return nil, err
	}
	img, err := formatPNG.read(plain, m)
	if err != nil {
		return nil, err
	}
	switch img := img.(type) {
	case *image.NRGBA:
		return fromBGRA(img.Pix, img.Stride, img.Rect), nil
	case *image.RGBA: // a PNG without alpha
		return fromBGRA(img.Pix, img.Stride, img.Rect), nil
	}
	return img, nil // palettes and greys are as in any PNG
}

// fromBGRA converts BGRA in place to an image of premultiplied colours. A colour
// above its alpha, which no premultiplied one can have, is reduced to it.
func fromBGRA(pix []byte, stride int, r image.Rectangle) image.Image {
	for i := 0; i+4 <= len(pix); i += 4 {
		a := pix[i+3]
		pix[i], pix[i+1], pix[i+2] = min(pix[i+2], a), min(pix[i+1], a), min(pix[i], a)
	}
	return &image.RGBA{Pix: pix, Stride: stride, Rect: r}
}

// plainPNG writes a CgBI file as a PNG with the same pixel bytes, in one chunk. It
// takes no more memory than the file.
func plainPNG(raw []byte) ([]byte, error) {
	var head []byte
	out := bytes.NewBuffer(make([]byte, 0, len(raw)+64))
	out.WriteString(pngSignature)
	data := 0 // offset of the pixels' chunk
	for rest := raw[len(pngSignature):]; len(rest) >= 12; {
		n := binary.BigEndian.Uint32(rest)
		if uint64(n) > uint64(len(rest)-12) {
			return nil, errCgBI
		}
		kind, body := string(rest[4:8]), rest[8:8+n]
		switch {
		case kind == "IHDR" && head == nil:
			head = body
			writeChunk(out, kind, body)
		case (kind == "PLTE" || kind == "tRNS") && data == 0 && head != nil:
			writeChunk(out, kind, body)
		case kind == "IDAT":
			if data == 0 {
				data = out.Len()
				out.WriteString("\x00\x00\x00\x00IDAT\x78\x9c") // the length follows
			}
			out.Write(body)
		}
		if rest = rest[12+n:]; kind == "IEND" {
			break
		}
	}
	h, ok := parseHeader(head)
	if !ok || data == 0 {
		return nil, errCgBI
	}
	if err := checkSize(h.width, h.height); err != nil {
		return nil, err
	}
	length, sum, err := deflated(out.Bytes()[data+chunkHead+2:], h)
	if err != nil {
		return nil, err
	}
	out.Truncate(data + chunkHead + 2 + length)
	out.Write(sum)
	chunk := out.Bytes()[data:]
	binary.BigEndian.PutUint32(chunk, uint32(len(chunk)-chunkHead))
	out.Write(binary.BigEndian.AppendUint32(nil, crc32.ChecksumIEEE(chunk[4:])))
	writeChunk(out, "IEND", nil)
	return out.Bytes(), nil
}

// chunkHead is the length of a chunk and its kind.
const chunkHead = 8

// deflated returns how many of the bytes are deflated data, and the checksum of
// what they inflate to, which is discarded.
func deflated(data []byte, h header) (length int, sum []byte, err error) {
	// Eight bytes a pixel and a filter byte a row; interlacing has more rows.
	limit := 2*int64(h.height)*(8*int64(h.width)+1) + 64
	from, check := bytes.NewReader(data), adler32.New()
	n, err := io.Copy(check, io.LimitReader(flate.NewReader(from), limit+1))
	if err != nil || n > limit {
		return 0, nil, errCgBI
	}
	return len(data) - from.Len(), check.Sum(nil), nil
}

func writeChunk(out *bytes.Buffer, kind string, body []byte) {
	var size, check [4]byte
	binary.BigEndian.PutUint32(size[:], uint32(len(body)))
	sum := crc32.NewIEEE()
	io.WriteString(sum, kind)
	sum.Write(body)
	binary.BigEndian.PutUint32(check[:], sum.Sum32())
	out.Write(size[:])
	out.WriteString(kind)
	out.Write(body)
	out.Write(check[:])
}
