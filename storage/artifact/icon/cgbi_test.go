package icon

import (
	"bytes"
	"compress/flate"
	"encoding/binary"
	"image"
	"image/color"
	"testing"

	"github.com/stretchr/testify/require"
)

// cgbiOf writes a picture as Apple's tools do.
func cgbiOf(img *image.NRGBA) []byte { return cgbiSized(img, img.Rect.Dx(), img.Rect.Dy()) }

// cgbiSized claims another size than that of the pixels.
func cgbiSized(img *image.NRGBA, w, h int) []byte {
	var packed bytes.Buffer
	z, _ := flate.NewWriter(&packed, flate.BestSpeed)
	for y := range img.Rect.Dy() {
		z.Write([]byte{0}) // no filter
		for x := range img.Rect.Dx() {
			r, g, b, a := img.NRGBAAt(x, y).RGBA() // premultiplied
			z.Write([]byte{byte(b >> 8), byte(g >> 8), byte(r >> 8), byte(a >> 8)})
		}
	}
	z.Close()
	head := binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(nil, uint32(w)), uint32(h))
	out := bytes.NewBufferString(pngSignature)
	writeChunk(out, "CgBI", []byte{0x50, 0x00, 0x20, 0x02})
	writeChunk(out, "IHDR", append(head, 8, 6, 0, 0, 0))
	writeChunk(out, "iDOT", make([]byte, 28))
	half := packed.Len() / 2 // two chunks, as large icons have
	writeChunk(out, "IDAT", packed.Bytes()[:half])
	writeChunk(out, "IDAT", packed.Bytes()[half:])
	writeChunk(out, "IEND", nil)
	return out.Bytes()
}

func TestCgBI(t *testing.T) {
	t.Parallel()
	img := plate(6, 3, color.NRGBA{R: 250, G: 100, B: 10, A: 255}, color.NRGBA{R: 200, G: 40, B: 0, A: 128})
	img.SetNRGBA(1, 0, color.NRGBA{})
	got, err := decoder().Decode(t.Context(), cgbiOf(img))
	require.NoError(t, err)
	for y := range 3 {
		for x := range 6 {
			requireColor(t, img.NRGBAAt(x, y), got.At(x, y))
		}
	}
}

// A colour above its alpha is none; it must not overflow where it is drawn.
func TestCgBICutsColoursToAlpha(t *testing.T) {
	t.Parallel()
	got := fromBGRA([]byte{255, 10, 90, 50}, 4, image.Rect(0, 0, 1, 1)).(*image.RGBA)
	require.Equal(t, color.RGBA{R: 50, G: 10, B: 50, A: 50}, got.RGBAAt(0, 0))
}

func TestCgBIRefusesWhatIsBroken(t *testing.T) {
	t.Parallel()
	whole := cgbiOf(plate(6, 3, red, red))
	chunks := func(write func(*bytes.Buffer)) []byte {
		out := bytes.NewBufferString(pngSignature)
		writeChunk(out, "CgBI", []byte{0, 0, 0, 0})
		write(out)
		return out.Bytes()
	}
	head := []byte{0, 0, 0, 1, 0, 0, 0, 1, 8, 6, 0, 0, 0}
	var bomb bytes.Buffer
	z, _ := flate.NewWriter(&bomb, flate.BestCompression)
	z.Write(make([]byte, 8<<20))
	z.Close()
	for name, raw := range map[string][]byte{
		"no header":      chunks(func(b *bytes.Buffer) { writeChunk(b, "IDAT", []byte{3, 0}) }),
		"short header":   chunks(func(b *bytes.Buffer) { writeChunk(b, "IHDR", head[:9]) }),
		"no data":        chunks(func(b *bytes.Buffer) { writeChunk(b, "IHDR", head) }),
		"long chunk":     append(whole[:8:8], "\xff\xff\xff\xffCgBI\x00\x00\x00\x00"...),
		"damaged data":   chunks(func(b *bytes.Buffer) { writeChunk(b, "IHDR", head); writeChunk(b, "IDAT", []byte{7, 7, 7}) }),
		"too few pixels": cgbiSized(plate(2, 2, red, red), 9, 9),
		"bomb":           chunks(func(b *bytes.Buffer) { writeChunk(b, "IHDR", head); writeChunk(b, "IDAT", bomb.Bytes()) }),
	} {
		_, err := decoder().Decode(t.Context(), raw)
		require.Error(t, err, name)
	}
}
