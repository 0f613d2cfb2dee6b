package picture_test

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/api/picture"
	"github.com/slipway-qa/slipway/storage"
)

// corner is a picture of 32 by 16 pixels that is red in its upper left corner.
func corner() image.Image {
	m := image.NewRGBA(image.Rect(0, 0, 32, 16))
	for y := range 16 {
		for x := range 32 {
			m.Set(x, y, color.White)
			if x < 8 && y < 8 {
				m.Set(x, y, color.RGBA{R: 255, A: 255})
			}
		}
	}
	return m
}

func pngOf(t testing.TB, m image.Image) []byte {
	var b bytes.Buffer
	require.NoError(t, png.Encode(&b, m))
	return b.Bytes()
}

// jpegOf is a JPEG with an EXIF orientation and a secret.
func jpegOf(t testing.TB, orientation uint16, order binary.AppendByteOrder) []byte {
	var b bytes.Buffer
	require.NoError(t, jpeg.Encode(&b, corner(), nil))
	mark := "II"
	if order == binary.AppendByteOrder(binary.BigEndian) {
		mark = "MM"
	}
	tiff := order.AppendUint32(order.AppendUint16([]byte(mark), 42), 8)
	tiff = order.AppendUint16(tiff, 1)
	tiff = order.AppendUint32(order.AppendUint16(order.AppendUint16(tiff, 0x0112), 3), 1)
	tiff = order.AppendUint16(order.AppendUint16(tiff, orientation), 0)
	exif := append([]byte("Exif\x00\x00"), append(tiff, "SECRET PLACE"...)...)
	segment := binary.BigEndian.AppendUint16([]byte{0xff, 0xe1}, uint16(len(exif)+2))
	file := append([]byte{0xff, 0xd8}, append(segment, exif...)...)
	return append(append(file, b.Bytes()[2:]...), "SECOND FILE"...)
}

func TestReadPNG(t *testing.T) {
	t.Parallel()
	file := append(pngOf(t, corner()), "SECOND FILE"...)
	p, err := picture.Read("picture", bytes.NewReader(file))
	require.NoError(t, err)
	require.Equal(t, "image/png", p.ContentType)
	require.NotContains(t, string(p.Bytes), "SECOND")
	m, err := png.Decode(bytes.NewReader(p.Bytes))
	require.NoError(t, err)
	require.Equal(t, image.Rect(0, 0, 32, 16), m.Bounds())
	require.Equal(t, color.RGBAModel.Convert(color.RGBA{R: 255, A: 255}), color.RGBAModel.Convert(m.At(2, 2)))
}

// TestReadJPEG has a camera that was held in each of the eight ways: where the red corner
// is afterwards.
func TestReadJPEG(t *testing.T) {
	t.Parallel()
	for orientation, at := range map[uint16]image.Point{0: {0, 0}, 1: {0, 0}, 2: {31, 0}, 3: {31, 15}, 4: {0, 15}, 5: {0, 0}, 6: {15, 0},
		7: {15, 31}, 8: {0, 31}, 9: {0, 0}} {
		for _, order := range []binary.AppendByteOrder{binary.BigEndian, binary.LittleEndian} {
			p, err := picture.Read("picture", bytes.NewReader(jpegOf(t, orientation, order)))
			require.NoError(t, err)
			require.Equal(t, "image/jpeg", p.ContentType)
			require.NotContains(t, string(p.Bytes), "SECRET")
			require.NotContains(t, string(p.Bytes), "SECOND")
			m, err := jpeg.Decode(bytes.NewReader(p.Bytes))
			require.NoError(t, err)
			size := image.Pt(32, 16)
			if orientation >= 5 && orientation <= 8 {
				size = image.Pt(16, 32)
			}
			require.Equal(t, size, m.Bounds().Size(), orientation)
			// Away from the edge, where JPEG blurs.
			inside := image.Pt(min(max(at.X, 3), size.X-4), min(max(at.Y, 3), size.Y-4))
			r, g, _, _ := m.At(inside.X, inside.Y).RGBA()
			require.Greater(t, r>>8, uint32(180), orientation)
			require.Less(t, g>>8, uint32(90), orientation)
		}
	}
}

func TestReadRefusals(t *testing.T) {
	t.Parallel()
	// A PNG whose head promises a picture of 30,000 by 30,000 pixels.
	bomb := pngOf(t, corner())
	binary.BigEndian.PutUint32(bomb[16:], 30_000)
	binary.BigEndian.PutUint32(bomb[20:], 30_000)
	binary.BigEndian.PutUint32(bomb[29:], crc32.ChecksumIEEE(bomb[12:29]))
	line := pngOf(t, image.NewGray(image.Rect(0, 0, 20_000, 1)))
	var animated bytes.Buffer
	require.NoError(t, gif.Encode(&animated, corner(), nil))
	broken := pngOf(t, corner())
	for name, file := range map[string][]byte{
		"nothing":   {},
		"text":      []byte("<svg xmlns='http://www.w3.org/2000/svg'/>"),
		"gif":       animated.Bytes(),
		"heic":      []byte("\x00\x00\x00\x18ftypheic\x00\x00\x00\x00"),
		"bomb":      bomb,
		"line":      line,
		"cut":       broken[:len(broken)-20],
		"too large": make([]byte, picture.MaxBytes+1),
	} {
		_, err := picture.Read("picture", bytes.NewReader(file))
		var invalid *storage.InvalidError
		require.ErrorAs(t, err, &invalid, name)
		require.Equal(t, "picture", invalid.Field, name)
	}
}

// FuzzRead has no file that fails otherwise than as an invalid member, or takes long.
func FuzzRead(f *testing.F) {
	f.Add(pngOf(f, corner()))
	f.Add(jpegOf(f, 6, binary.LittleEndian))
	f.Add([]byte("RIFF\x00\x00\x00\x00WEBPVP8 "))
	f.Fuzz(func(t *testing.T, file []byte) {
		p, err := picture.Read("picture", bytes.NewReader(file))
		if err != nil {
			var invalid *storage.InvalidError
			require.ErrorAs(t, err, &invalid)
			return
		}
		_, _, err = image.Decode(bytes.NewReader(p.Bytes))
		require.NoError(t, err)
	})
}

// progressive is a JPEG whose scans say nothing of any pixel, in 20 bytes each.
func progressive(side uint16, scans int) []byte {
	segment := func(marker byte, content ...byte) []byte {
		return append(binary.BigEndian.AppendUint16([]byte{0xff, marker}, uint16(len(content)+2)), content...)
	}
	size := binary.BigEndian.AppendUint16(binary.BigEndian.AppendUint16([]byte{8}, side), side)
	file := append([]byte{0xff, 0xd8}, segment(0xdb, append([]byte{0}, bytes.Repeat([]byte{1}, 64)...)...)...)
	file = append(file, segment(0xc2, append(size, 1, 1, 0x11, 0)...)...)
	lengths := append([]byte{0x10, 1}, make([]byte, 15)...)
	file = append(file, segment(0xc4, append(lengths, 0xe0)...)...) // the one code ends a band of many blocks
	blocks := (int(side) + 7) / 8
	for range scans {
		file = append(file, segment(0xda, 1, 1, 0, 1, 63, 0)...)
		// Each run is the code, 0, and 14 bits: 16,384 blocks and as many as these say.
		var bits, count uint
		for left := blocks * blocks; left > 0; left -= 16_384 + 10_922 {
			bits, count = bits<<15|10_922, count+15
			for ; count >= 8; count -= 8 {
				file = append(file, byte(bits>>(count-8)))
			}
		}
		file = append(file, byte(bits<<(8-count)))
	}
	return append(file, 0xff, 0xd9)
}

func TestReadProgressive(t *testing.T) {
	t.Parallel()
	read := func(file []byte) error {
		_, err := picture.Read("picture", bytes.NewReader(file))
		return err
	}
	require.NoError(t, read(progressive(64, 10)))
	require.ErrorContains(t, read(progressive(64, 101)), "scans")
	require.ErrorContains(t, read(progressive(4096, 1)), "pixels as a progressive JPEG")
	hidden := progressive(64, 101)
	hidden = append(append(hidden[:2:2], 0xff, 0xff, 0xff), hidden[3:]...) // markers may begin with any number of 0xff
	require.ErrorContains(t, read(hidden), "scans")
}
