package icon

import (
	"encoding/binary"
	"image"
	"image/color"
	"testing"

	"github.com/stretchr/testify/require"
)

// element is one element of an .icns file.
type element struct {
	kind string
	body []byte
}

func icnsOf(elements ...element) []byte {
	var all []byte
	for _, e := range elements {
		all = append(all, e.kind...)
		all = binary.BigEndian.AppendUint32(all, uint32(8+len(e.body)))
		all = append(all, e.body...)
	}
	head := binary.BigEndian.AppendUint32([]byte("icns"), uint32(8+len(all)))
	return append(head, all...)
}

// rle is a picture of one colour in three planes.
func rle(kind string, side int, c color.NRGBA) element {
	var body []byte
	if kind == "it32" {
		body = make([]byte, 4)
	}
	for _, v := range []uint8{c.R, c.G, c.B} {
		left := side*side - 2
		body = append(body, 1, v, v) // two bytes as they are
		for left > 0 {
			n := min(left, 130)
			if left-n > 0 && left-n < 3 {
				n -= 3
			}
			body = append(body, byte(n+125), v)
			left -= n
		}
	}
	return element{kind, body}
}

func TestICNS(t *testing.T) {
	t.Parallel()
	png := func(side int, c color.NRGBA) []byte { return pngOf(t, plate(side, side, c, c)) }
	jpeg2000 := []byte("\x00\x00\x00\x0cjP  \r\n\x87\n")
	argb := []byte("ARGB")
	for _, v := range []uint8{128, 200, 0, 0} {
		argb = append(argb, 255, v, 251, v) // 130 and 126: 16 x 16
	}
	half := make([]byte, 128*128)
	for i := range half {
		half[i] = 128
	}
	tests := map[string]struct {
		elements []element
		side     int
		want     color.NRGBA
	}{
		"the smallest that need not grow": {[]element{{"ic10", png(1024, blue)}, {"ic09", png(512, blue)}, {"ic08", png(256, red)},
			{"ic07", png(128, blue)}}, 256, red},
		"the largest of small ones":   {[]element{{"ic11", png(32, blue)}, {"ic07", png(128, red)}}, 128, red},
		"the next when one is broken": {[]element{{"ic08", png(256, blue)[:60]}, {"ic07", png(128, red)}}, 128, red},
		"JPEG 2000 is passed over":    {[]element{{"ic08", jpeg2000}, {"ic07", png(64, red)}}, 64, red},
		"planes":                      {[]element{rle("it32", 128, red)}, 128, red},
		"planes with alpha":           {[]element{{"t8mk", half}, rle("it32", 128, red)}, 128, color.NRGBA{R: 200, A: 128}},
		"small planes":                {[]element{rle("is32", 16, red), {"s8mk", []byte("short")}}, 16, red},
		"four planes":                 {[]element{{"ic04", argb}}, 16, color.NRGBA{R: 200, A: 128}},
		"table of contents first":     {[]element{{"TOC ", make([]byte, 16)}, {"icnV", make([]byte, 4)}, {"ic07", png(64, red)}}, 64, red},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			img, err := decoder().Decode(t.Context(), icnsOf(test.elements...))
			require.NoError(t, err)
			require.Equal(t, image.Pt(test.side, test.side), img.Bounds().Size())
			requireColor(t, test.want, img.At(0, 0))
			requireColor(t, test.want, img.At(test.side-1, test.side-1))
		})
	}
}

func TestICNSRefusesWhatIsBroken(t *testing.T) {
	t.Parallel()
	many := make([]element, 100_000)
	for i := range many {
		many[i] = element{"ic08", []byte(pngSignature)}
	}
	for name, raw := range map[string][]byte{
		"nothing":             icnsOf(),
		"length of zero":      append(icnsOf(), "TOC \x00\x00\x00\x00"...),
		"length beyond":       append(icnsOf(), "ic08\xff\xff\xff\xff"...),
		"only JPEG 2000":      icnsOf(element{"ic08", []byte("\x00\x00\x00\x0cjP  ")}),
		"planes without end":  icnsOf(element{"it32", []byte{0, 0, 0, 0, 255}}),
		"planes that stop":    icnsOf(element{"is32", []byte{0x7f, 1, 2}}),
		"empty planes":        icnsOf(element{"is32", nil}),
		"a hundred thousand":  icnsOf(many...),
		"wide picture inside": icnsOf(element{"ic08", sized(pngOf(t, plate(4, 4, red, red)), 9000, 4)}),
	} {
		_, err := decoder().Decode(t.Context(), raw)
		require.ErrorIs(t, err, errICNS, name)
	}
}
