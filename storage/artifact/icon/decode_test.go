package icon

import (
	"bytes"
	"context"
	"encoding/binary"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage/artifact"
)

func decoder() *Decoder { return NewDecoder(2) }

// A decoder without a free slot waits for one.
func TestDecoderBoundsItsWork(t *testing.T) {
	t.Parallel()
	raw := pngOf(t, plate(20, 20, red, red))
	synctest.Test(t, func(t *testing.T) {
		d, decoded := NewDecoder(1), false
		require.NoError(t, d.acquire(t.Context()))
		ended, end := context.WithCancel(t.Context())
		end()
		_, err := d.Normalize(ended, raw)
		require.ErrorIs(t, err, context.Canceled)
		go func() {
			_, _ = d.Decode(t.Context(), raw)
			decoded = true
		}()
		synctest.Wait()
		require.False(t, decoded)
		d.release()
		synctest.Wait()
		require.True(t, decoded)
	})
}

var (
	red  = color.NRGBA{R: 200, A: 255}
	blue = color.NRGBA{B: 200, A: 255}
)

// plate is a picture of one colour whose top left pixel is another.
func plate(w, h int, c, corner color.NRGBA) *image.NRGBA {
	img := image.NewNRGBA(image.Rect(0, 0, w, h))
	for i := range w * h {
		img.SetNRGBA(i%w, i/w, c)
	}
	img.SetNRGBA(0, 0, corner)
	return img
}

func pngOf(t testing.TB, img image.Image) []byte {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, png.Encode(&b, img))
	return b.Bytes()
}

// webpOf is a lossless WebP of one colour: five prefix codes of one symbol each,
// which take no bits for the pixels.
func webpOf(w, h int, c color.NRGBA) []byte {
	var bits []byte
	n := 0
	put := func(v, count int) {
		for i := range count {
			if n%8 == 0 {
				bits = append(bits, 0)
			}
			bits[n/8] |= byte(v>>i&1) << (n % 8)
			n++
		}
	}
	put(0x2f, 8)
	put(w-1, 14)
	put(h-1, 14)
	put(1, 1)     // alpha is used
	put(0, 3)     // version
	put(0, 1+1+1) // no transform, colour cache or further codes
	for _, symbol := range []uint8{c.G, c.R, c.B, c.A} {
		put(1, 1) // simple
		put(0, 1) // one symbol
		put(1, 1) // of 8 bits
		put(int(symbol), 8)
	}
	put(1, 1)
	put(0, 1+1+1)
	chunk := append([]byte("VP8L"), binary.LittleEndian.AppendUint32(nil, uint32(len(bits)))...)
	chunk = append(chunk, bits...)
	if len(bits)%2 == 1 {
		chunk = append(chunk, 0)
	}
	out := append([]byte("RIFF"), binary.LittleEndian.AppendUint32(nil, uint32(4+len(chunk)))...)
	return append(append(out, "WEBP"...), chunk...)
}

func jpegOf(t testing.TB, img image.Image) []byte {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, jpeg.Encode(&b, img, nil))
	return b.Bytes()
}

func gifOf(t testing.TB, frames ...color.NRGBA) []byte {
	t.Helper()
	g := &gif.GIF{}
	for _, c := range frames {
		g.Image = append(g.Image, image.NewPaletted(image.Rect(0, 0, 20, 20), color.Palette{c}))
		g.Delay = append(g.Delay, 1)
	}
	var b bytes.Buffer
	require.NoError(t, gif.EncodeAll(&b, g))
	return b.Bytes()
}

// requireColor compares a pixel within what a lossy format may change.
func requireColor(t *testing.T, want color.NRGBA, got color.Color) {
	t.Helper()
	c := color.NRGBAModel.Convert(got).(color.NRGBA)
	for i, pair := range [][2]uint8{{want.R, c.R}, {want.G, c.G}, {want.B, c.B}, {want.A, c.A}} {
		require.InDelta(t, pair[0], pair[1], 4, "channel %d of %v, want %v", i, c, want)
	}
}

func TestDecode(t *testing.T) {
	t.Parallel()
	paletted := image.NewPaletted(image.Rect(0, 0, 20, 20), color.Palette{red, blue})
	for name, raw := range map[string][]byte{
		"PNG":                pngOf(t, plate(20, 20, red, red)),
		"PNG with a palette": pngOf(t, paletted),
		"PNG of 16 bits": pngOf(t, func() image.Image {
			img := image.NewNRGBA64(image.Rect(0, 0, 20, 20))
			for i := range 400 {
				img.Set(i%20, i/20, red)
			}
			return img
		}()),
		"CgBI": cgbiOf(plate(20, 20, red, red)),
		"WebP": webpOf(20, 20, red),
		"JPEG": jpegOf(t, plate(20, 20, red, red)),
		"GIF":  gifOf(t, red, blue),
		"icns": icnsOf(element{"ic07", pngOf(t, plate(20, 20, red, red))}),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			img, err := decoder().Decode(t.Context(), raw)
			require.NoError(t, err)
			require.Equal(t, image.Pt(20, 20), img.Bounds().Size())
			requireColor(t, red, img.At(10, 10))

			out, err := decoder().Normalize(t.Context(), raw)
			require.NoError(t, err)
			again, err := decoder().Normalize(t.Context(), raw)
			require.NoError(t, err)
			require.Equal(t, out, again)

			for cut := range len(raw) { // a part of a file is an error or a picture
				if img, err := decoder().Decode(t.Context(), raw[:cut]); err == nil {
					require.NotNil(t, img)
				}
			}
		})
	}
}

// sized writes another size into the header of a PNG.
func sized(raw []byte, w, h uint32) []byte {
	head := binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(nil, w), h)
	head = append(head, raw[24:29]...)
	var out bytes.Buffer
	out.Write(raw[:8])
	writeChunk(&out, "IHDR", head)
	out.Write(raw[33:])
	return out.Bytes()
}

// The size is judged before anything is decoded: these files hold no such pixels.
func TestDecodeRefusesLargeSizes(t *testing.T) {
	t.Parallel()
	small := pngOf(t, plate(8, 8, red, red))
	deep := pngOf(t, image.NewNRGBA64(image.Rect(0, 0, 8, 8)))
	interlaced := sized(deep, 4000, 4000)
	interlaced[28] = 1
	var header bytes.Buffer
	header.Write(interlaced[:8])
	writeChunk(&header, "IHDR", interlaced[16:29])
	copy(interlaced, header.Bytes())
	jpegBytes := jpegOf(t, plate(8, 8, red, red))
	frame := bytes.Index(jpegBytes, []byte{0xff, 0xc0})
	binary.BigEndian.PutUint16(jpegBytes[frame+5:], 4000)
	binary.BigEndian.PutUint16(jpegBytes[frame+7:], 4000)
	gifBytes := gifOf(t, red)
	binary.LittleEndian.PutUint16(gifBytes[6:], 5000)
	for name, raw := range map[string][]byte{
		"PNG wide":                sized(small, 4097, 8),
		"PNG high":                sized(small, 8, 1<<31-1),
		"PNG interlaced, 16 bits": interlaced,
		"CgBI":                    cgbiSized(plate(8, 8, red, red), 30000, 30000),
		"WebP":                    webpOf(16384, 16384, red),
		"JPEG":                    jpegBytes,
		"GIF":                     gifBytes,
		"bytes":                   append(small, make([]byte, maxBytes)...),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := decoder().Decode(t.Context(), raw)
			require.ErrorIs(t, err, errTooLarge)
		})
	}
	_, err := decoder().Decode(t.Context(), sized(small, 0, 8))
	require.Error(t, err)
}

// Scans are counted where they are, and not in what only looks like them.
func TestJPEGScans(t *testing.T) {
	t.Parallel()
	const frame, progressive = "\xff\xc0\x00\x03.", "\xff\xc2\x00\x03."
	const scan, end = "\xff\xda\x00\x03.", "\xff\xd9"
	for raw, want := range map[string]int{
		frame + scan + "data" + end: 1,
		frame + scan + "\xff\x00\xda\xff\xd0data\xff\xd7\xff\x00" + scan + end: 2,
		frame + "\xff\xe1\x00\x0cthumb" + scan + scan + end:                    1, // the first one is in the segment
		frame + "\xff\xff\xff" + scan + end + scan:                             1,
		frame + scan + "rubbish" + scan:                                        2,
		frame + scan + "\xff":                                                  1,
		frame + "\xff\xfe\x00\x00" + scan:                                      1,
		frame + "\xff\xfe\xff\xff" + scan:                                      0,
	} {
		for _, first := range []string{frame, progressive} {
			n, p := jpegScans([]byte("\xff\xd8" + first + raw))
			require.Equal(t, want, n, "%q", raw)
			require.Equal(t, first == progressive, p)
		}
	}
	for _, raw := range []string{"", "\xff\xd8", "\xff\xd8\xff", "\xff\xd8\xff\xda", "\xff\xd8\xff\xda\x00"} {
		n, p := jpegScans([]byte(raw))
		require.Zero(t, n)
		require.False(t, p)
	}
}

func TestDecodeRefusesWhatIsNoImage(t *testing.T) {
	t.Parallel()
	for _, raw := range []string{"", "P", "hello", "<svg/>", "RIFF\x04\x00\x00\x00WAVE", "icns", "icns\x00\x00\x00\x08",
		"\x89PNG\r\n\x1a\n\x00\x00\x00\x04CgBI"} {
		_, err := decoder().Decode(t.Context(), []byte(raw))
		require.Error(t, err, "%q", raw)
		_, err = decoder().Normalize(t.Context(), []byte(raw))
		require.Error(t, err, "%q", raw)
	}
}

func TestGuardTakesAPanicForAnError(t *testing.T) {
	t.Parallel()
	f := format{"broken", func([]byte) (image.Config, error) { panic("secret of the input") }, nil, nil}
	_, err := func() (img image.Image, err error) {
		defer catchPanic("decoding the image", &err)
		return f.read(nil, newMemory(nil))
	}()
	require.EqualError(t, err, "icon: decoding the image failed")
}

func TestNormalize(t *testing.T) {
	t.Parallel()
	const full = artifact.IconSize
	tests := map[string]struct {
		w, h, side  int
		transparent image.Point // a pixel beside the image; the middle is none
	}{
		"small":         {32, 32, 32, image.Pt(-1, 0)},
		"exact":         {full, full, full, image.Pt(-1, 0)},
		"large":         {1000, 1000, full, image.Pt(-1, 0)},
		"wide":          {100, 50, 100, image.Pt(50, 10)},
		"high":          {500, 1000, full, image.Pt(10, 128)},
		"a line":        {4000, 1, full, image.Pt(100, 10)},
		"one pixel":     {1, 1, 1, image.Pt(-1, 0)},
		"just too wide": {257, 256, full, image.Pt(-1, 0)},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			out, err := decoder().Normalize(t.Context(), pngOf(t, plate(test.w, test.h, red, red)))
			require.NoError(t, err)
			img, err := png.Decode(bytes.NewReader(out))
			require.NoError(t, err)
			require.Equal(t, image.Rect(0, 0, test.side, test.side), img.Bounds())
			requireColor(t, red, img.At(test.side/2, (test.side-1)/2))
			if p := test.transparent; p.X >= 0 {
				requireColor(t, color.NRGBA{}, img.At(p.X, p.Y))
			}
		})
	}
}

func FuzzDecode(f *testing.F) {
	f.Add(pngOf(f, plate(5, 4, red, blue)))
	f.Add(cgbiOf(plate(5, 4, red, blue)))
	f.Add(webpOf(5, 4, red))
	f.Add(groupedWebP(3))
	f.Add(jpegOf(f, plate(5, 4, red, blue)))
	f.Add(gifOf(f, red, blue))
	f.Add(icnsOf(element{"ic07", pngOf(f, plate(5, 4, red, blue))}, rle("is32", 16, red), element{"s8mk", make([]byte, 256)}))
	f.Fuzz(func(t *testing.T, raw []byte) {
		img, err := decoder().Decode(t.Context(), raw)
		if err != nil {
			return
		}
		b := img.Bounds()
		require.False(t, b.Empty())
		require.LessOrEqual(t, max(b.Dx(), b.Dy()), maxSide)
		if b.Dx()*b.Dy() > 1<<20 {
			return // scalingCost these is slow and the same
		}
		out, err := decoder().Normalize(t.Context(), raw)
		require.NoError(t, err)
		c, err := png.DecodeConfig(bytes.NewReader(out))
		require.NoError(t, err)
		require.Equal(t, c.Width, c.Height)
		require.LessOrEqual(t, c.Width, artifact.IconSize)
	})
}
