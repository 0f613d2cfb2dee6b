package inspect

import (
	"bytes"
	"compress/zlib"
	"context"
	"encoding/binary"
	"hash/crc32"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"testing"

	"github.com/stretchr/testify/require"
)

// The largest pictures of each format that are decoded, the next larger ones that
// are not, and pictures whose work their size does not show: as icons of a whole
// app, each within the bounds of bounded.
func TestPictures(t *testing.T) {
	whole := pngPicture(t, 2048, 2048, 8, 6, 0)
	// Broken behind the last pixel, and tried first for being longer.
	broken := append(bytes.Clone(whole[:len(whole)-20]), make([]byte, 1000)...)
	padded := append(bytes.Clone(broken), make([]byte, 15<<20)...)
	for name, c := range map[string]struct {
		icons   [][]byte
		decoded bool
	}{
		"PNG":                           {[][]byte{pngPicture(t, 2600, 2600, 8, 6, 0)}, true},
		"PNG, too large":                {[][]byte{pngPicture(t, 2700, 2700, 8, 6, 0)}, false},
		"PNG, grey":                     {[][]byte{pngPicture(t, 2400, 2400, 8, 0, 0)}, true},
		"PNG, grey of 4096":             {[][]byte{pngPicture(t, 4096, 4096, 1, 0, 0)}, false},
		"PNG, 16 bits":                  {[][]byte{pngPicture(t, 1600, 1600, 16, 6, 0)}, true},
		"PNG, 16 bits, too large":       {[][]byte{pngPicture(t, 4096, 4090, 16, 6, 0)}, false},
		"PNG, interlaced":               {[][]byte{pngPicture(t, 1900, 1900, 8, 6, 1)}, true},
		"PNG, interlaced of 16 bits":    {[][]byte{pngPicture(t, 1250, 1250, 16, 6, 1)}, true},
		"PNG, wide":                     {[][]byte{pngPicture(t, 4096, 2000, 8, 6, 0)}, true},
		"PNG, high":                     {[][]byte{pngPicture(t, 500, 4096, 8, 6, 0)}, true},
		"two broken ones":               {[][]byte{broken, broken, whole}, true},
		"broken ones of 16 MB":          {[][]byte{padded, padded, padded}, false},
		"GIF":                           {[][]byte{gifPicture(t, 2100, 1)}, true},
		"GIF of many frames":            {[][]byte{gifPicture(t, 1000, 400)}, true},
		"GIF, too large":                {[][]byte{gifPicture(t, 3000, 1)}, false},
		"WebP":                          {[][]byte{webpPicture(1850, 1850, false)}, true},
		"WebP, lossy":                   {[][]byte{webpPicture(1450, 1450, true)}, true},
		"WebP, too large":               {[][]byte{webpPicture(2000, 2000, false)}, false},
		"WebP, lossy, too large":        {[][]byte{webpPicture(1550, 1550, true)}, false},
		"WebP of 700 codes":             {[][]byte{webpGroups(700)}, true},
		"WebP of 1000 codes":            {[][]byte{webpGroups(1000)}, false},
		"WebP that claims more":         {[][]byte{claimed(webpPicture(64, 64, true))}, false},
		"JPEG":                          {[][]byte{jpegPicture(t, 2000)}, true},
		"JPEG, too large":               {[][]byte{jpegPicture(t, 2600)}, false},
		"JPEG, progressive":             {[][]byte{progressive(1350, 3, 10)}, true},
		"JPEG, progressive, grey":       {[][]byte{progressive(2000, 1, 15)}, true},
		"JPEG, too many pixels":         {[][]byte{progressive(2000, 1, 20)}, false},
		"JPEGs, broken":                 {[][]byte{repeated(2048, 3, 5), repeated(1500, 3, 9), repeated(1024, 1, 32)}, false},
		"JPEG of 33 scans":              {[][]byte{progressive(64, 1, 33)}, false},
		"JPEG of half a million":        {[][]byte{progressive(2500, 1, 500_000)}, false},
		"JPEG of half a million, small": {[][]byte{progressive(300, 1, 500_000)}, false},
	} {
		t.Run(name, func(t *testing.T) {
			files := []file{info(t, "Payload/Demo.app/Info.plist", map[string]any{"CFBundleIconFile": "Icon"})}
			for i, raw := range c.icons {
				files = append(files, file{name: "Payload/Demo.app/Icon" + []string{"@3x", "@2x", ""}[i] + ".png", data: raw})
			}
			raw := zipped(t, files...)
			bounded(t, func() {
				inspector := New()
				p, err := inspector.Package(context.Background(), input(raw), "", false)
				require.NoError(t, err)
				require.Equal(t, c.decoded, p.Icon != nil, p.Warnings)
			})
		})
	}
}

// pngPicture is a PNG of zeros with alpha (colour 6) or in grey (0).
func pngPicture(t *testing.T, w, h int, depth, colour, interlaced byte) []byte {
	t.Helper()
	out := bytes.NewBuffer([]byte("\x89PNG\r\n\x1a\n"))
	chunk := func(kind string, body []byte) {
		all := append([]byte(kind), body...)
		out.Write(binary.BigEndian.AppendUint32(nil, uint32(len(body))))
		out.Write(binary.BigEndian.AppendUint32(all, crc32.ChecksumIEEE(all)))
	}
	head := binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(nil, uint32(w)), uint32(h))
	chunk("IHDR", append(head, depth, colour, 0, 0, interlaced))
	bits := int(depth)
	if colour == 6 {
		bits *= 4
	}
	passes := [][4]int{{0, 1, 0, 1}} // from and step, across and down
	if interlaced != 0 {
		passes = [][4]int{{0, 8, 0, 8}, {4, 8, 0, 8}, {0, 4, 4, 8}, {2, 4, 0, 4}, {0, 2, 2, 4}, {1, 2, 0, 2}, {0, 1, 1, 2}}
	}
	var data bytes.Buffer
	z := zlib.NewWriter(&data)
	for _, p := range passes {
		across, down := (w-p[0]+p[1]-1)/p[1], (h-p[2]+p[3]-1)/p[3]
		row := make([]byte, 1+(across*bits+7)/8)
		for range down {
			_, err := z.Write(row)
			require.NoError(t, err)
		}
	}
	require.NoError(t, z.Close())
	chunk("IDAT", data.Bytes())
	chunk("IEND", nil)
	return out.Bytes()
}

func gifPicture(t *testing.T, side, frames int) []byte {
	t.Helper()
	g := &gif.GIF{}
	frame := image.NewPaletted(image.Rect(0, 0, side, side), color.Palette{color.White, color.Black})
	for range frames {
		g.Image, g.Delay = append(g.Image, frame), append(g.Delay, 1)
		frame = image.NewPaletted(image.Rect(0, 0, 100, 100), frame.Palette)
	}
	var out bytes.Buffer
	require.NoError(t, gif.EncodeAll(&out, g))
	return out.Bytes()
}

func jpegPicture(t *testing.T, side int) []byte {
	t.Helper()
	var out bytes.Buffer
	require.NoError(t, jpeg.Encode(&out, image.NewNRGBA(image.Rect(0, 0, side, side)), nil))
	return out.Bytes()
}

// progressive is a JPEG of one scan that sets all blocks and of others that add
// nothing to them: one code covers 16384 blocks.
func progressive(side, channels, scans int) []byte {
	return scanned(0xc2, side, channels, scans)
}

// repeated is a JPEG whose scans all set all blocks, and which ends too early: it
// is broken when all the work is done.
func repeated(side, channels, scans int) []byte {
	raw := scanned(0xc0, side, channels, scans)
	return raw[:len(raw)-2]
}

func scanned(marker byte, side, channels, scans int) []byte {
	var out bytes.Buffer
	segment := func(marker byte, body ...byte) {
		out.Write([]byte{0xff, marker})
		out.Write(binary.BigEndian.AppendUint16(nil, uint16(len(body)+2)))
		out.Write(body)
	}
	out.WriteString("\xff\xd8")
	frame := []byte{8, byte(side >> 8), byte(side), byte(side >> 8), byte(side), byte(channels)}
	first := []byte{byte(channels)}
	for c := range channels {
		frame = append(frame, byte(c+1), 0x11, 0)
		first = append(first, byte(c+1), 0)
	}
	segment(marker, frame...)
	one := append([]byte{1}, make([]byte, 15)...) // a code of one bit
	segment(0xc4, append(append([]byte{0x00}, one...), 0)...)
	segment(0xc4, append(append([]byte{0x10}, one...), map[byte]byte{0xc2: 0xe0}[marker])...) // else the end of a block
	blocks := (side + 7) / 8 * ((side + 7) / 8)
	if marker == 0xc0 {
		for range scans {
			segment(0xda, append(first, 0, 63, 0)...)
			out.Write(make([]byte, blocks*channels/4+1))
		}
		out.WriteString("\xff\xd9")
		return out.Bytes()
	}
	segment(0xda, append(first, 0, 0, 0)...)
	out.Write(make([]byte, blocks*channels/8+1))
	for range scans - 1 {
		segment(0xda, 1, 1, 0, 1, 63, 0)
		out.Write(make([]byte, (blocks/16384+1)*15/8+1))
	}
	out.WriteString("\xff\xd9")
	return out.Bytes()
}

// webpPicture is a WebP of one colour: lossless, or lossy with an alpha plane.
func webpPicture(w, h int, lossy bool) []byte {
	lossless := losslessPixels()
	chunks := []byte("WEBP")
	add := func(kind string, body []byte) {
		chunks = binary.LittleEndian.AppendUint32(append(chunks, kind...), uint32(len(body)))
		chunks = append(append(chunks, body...), make([]byte, len(body)%2)...)
	}
	if lossy {
		size := func(n int) []byte { return []byte{byte(n), byte(n >> 8), byte(n >> 16)} }
		add("VP8X", append(append([]byte{1 << 4, 0, 0, 0}, size(w-1)...), size(h-1)...))
		add("ALPH", append([]byte{1}, lossless...))
		const part = 1<<19 - 1 // zeros are a frame of one colour
		frame := []byte{0x10 | byte(part&7)<<5, byte(part >> 3 & 0xff), byte(part >> 11), 0x9d, 0x01, 0x2a, byte(w),
			byte(w >> 8), byte(h), byte(h >> 8)}
		add("VP8 ", append(frame, make([]byte, part+1<<20)...))
	} else {
		head := uint32(w-1) | uint32(h-1)<<14
		add("VP8L", append(binary.LittleEndian.AppendUint32([]byte{0x2f}, head), lossless...))
	}
	return append(binary.LittleEndian.AppendUint32([]byte("RIFF"), uint32(len(chunks))), chunks...)
}

// losslessPixels is a picture in five codes of one symbol, which takes no bits.
func losslessPixels() []byte {
	var bits uint64
	n := 3 // no transform, no cache, one group of codes
	for range 4 {
		bits |= 0b101 << n // simple, one symbol, of eight bits, which is 0
		n += 3 + 8
	}
	bits |= 1 << n
	return binary.LittleEndian.AppendUint64(nil, bits)
}

// webpGroups is a lossless WebP of 128 x 128 pixels with many groups of the largest
// codes that there are, which take some 15 bytes in the file.
func webpGroups(groups int) []byte {
	var data []byte
	n := 0
	put := func(v, count int) {
		for i := range count {
			if n%8 == 0 {
				data = append(data, 0)
			}
			data[n/8] |= byte(v>>i&1) << (n % 8)
			n++
		}
	}
	zero := func() { put(0b0001, 4) } // the code of one symbol, 0
	// even is a code whose symbols all have one length, of which at is the place.
	even := func(at int) {
		put(0, 1)
		put(at+1-4, 4)
		put(1<<(3*at), 3*(at+1))
	}
	put(0x2f, 8)
	put(127, 14)
	put(127, 14)
	put(0, 1+3+1)
	put(1, 1)
	put(11, 4)  // 2048 cached colours
	put(1, 1+3) // groups for tiles of 4 x 4
	put(0, 1)
	for _, symbol := range []int{(groups - 1) & 0xff, (groups - 1) >> 8} {
		put(0b111, 3)
		put(symbol<<8, 16)
	}
	zero()
	zero()
	zero()
	put(3, 2) // the last group, and the first one for all other tiles
	for range 32*32 - 1 {
		put(0, 2)
	}
	for range groups {
		even(14) // length 11
		put(1, 1)
		put(5, 3)
		put(2048-2, 12)
		for range 3 {
			even(11) // length 8
			put(0, 1)
		}
		zero()
	}
	data = append(data, make([]byte, 128*128*(11+3*8)/8+8)...)
	data = append(data, make([]byte, len(data)%2)...)
	chunk := append(binary.LittleEndian.AppendUint32([]byte("WEBPVP8L"), uint32(len(data))), data...)
	return append(binary.LittleEndian.AppendUint32([]byte("RIFF"), uint32(len(chunk))), chunk...)
}

// claimed sets the size that a WebP and its last chunk claim to 100 MB.
func claimed(raw []byte) []byte {
	binary.LittleEndian.PutUint32(raw[4:], 110<<20)
	at := bytes.LastIndex(raw, []byte("VP8 "))
	binary.LittleEndian.PutUint32(raw[at+4:], 100<<20)
	return raw
}
