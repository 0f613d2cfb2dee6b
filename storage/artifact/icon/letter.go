package icon

import (
	"context"
	"hash/fnv"
	"image"
	"image/color"
	"sync"
	"unicode"

	"golang.org/x/image/font/gofont/gobold"
	"golang.org/x/image/font/sfnt"
	"golang.org/x/image/math/fixed"

	"github.com/slipway-qa/slipway/storage/artifact"
)

// palette holds colours on which white has a contrast of 4.5 or more, the
// bound of WCAG 2 for text.
var palette = [...]color.NRGBA{
	{0xc6, 0x28, 0x28, 0xff}, {0xad, 0x14, 0x57, 0xff}, {0x7b, 0x1f, 0xa2, 0xff}, {0x51, 0x2d, 0xa8, 0xff},
	{0x30, 0x3f, 0x9f, 0xff}, {0x15, 0x65, 0xc0, 0xff}, {0x01, 0x57, 0x9b, 0xff}, {0x00, 0x69, 0x5c, 0xff},
	{0x2e, 0x7d, 0x32, 0xff}, {0x55, 0x6b, 0x2f, 0xff}, {0x8a, 0x5a, 0x00, 0xff}, {0xbf, 0x36, 0x0c, 0xff},
	{0x6d, 0x4c, 0x41, 0xff}, {0x45, 0x5a, 0x64, 0xff},
}

// genericGlyph is four squares, for names without a letter that the font has; of 100 units.
const genericGlyph = "M30 28H43A4 4 0 0 1 47 32V43A4 4 0 0 1 43 47H32A4 4 0 0 1 28 43V32A4 4 0 0 1 32 28Z" +
	"M57 28H68A4 4 0 0 1 72 32V43A4 4 0 0 1 68 47H57A4 4 0 0 1 53 43V32A4 4 0 0 1 57 28Z" +
	"M32 53H43A4 4 0 0 1 47 57V68A4 4 0 0 1 43 72H32A4 4 0 0 1 28 68V57A4 4 0 0 1 32 53Z" +
	"M57 53H68A4 4 0 0 1 72 57V68A4 4 0 0 1 68 72H57A4 4 0 0 1 53 68V57A4 4 0 0 1 57 53Z"

var letterFont = sync.OnceValues(func() (*sfnt.Font, error) { return sfnt.Parse(gobold.TTF) })

// Letter returns an icon for an app that has none: its first letter on a colour
// that its name decides. For a name without a letter or digit that can be drawn
// (Latin, Greek and Cyrillic can) it has four squares instead.
func Letter(name string) (out []byte, err error) {
	defer catchPanic("drawing the letter", &err)
	const side = artifact.IconSize
	sum := fnv.New32a()
	sum.Write([]byte(name))
	back := palette[sum.Sum32()%uint32(len(palette))]
	img := image.NewRGBA(image.Rect(0, 0, side, side))
	low := color.NRGBA{back.R - back.R/6, back.G - back.G/6, back.B - back.B/6, 255}
	plate := Path{Data: "M0 0H100V100H0Z", Gradient: []color.NRGBA{back, low}, GradientLine: [4]float64{0, 0, 0, 100}}
	b, place := NewBudget(context.Background()), matrix{side / 100.0, 0, 0, side / 100.0, 0, 0}
	if err := plate.draw(img, place, b); err != nil {
		return nil, err
	}
	contours, err := glyph(firstLetter(name), side, b)
	if err != nil {
		return nil, err
	}
	if len(contours) == 0 {
		p := pen{matrix: place, budget: b}
		if err := parsePath(genericGlyph, &p); err != nil {
			return nil, err
		}
		contours = p.contours
	}
	if err := paint(img, contours, false, image.White, b); err != nil {
		return nil, err
	}
	return encode(rounded(img))
}

// firstLetter returns the first letter or digit of a name as a capital, 0 for none.
func firstLetter(name string) rune {
	for _, r := range name {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToUpper(r)
		}
	}
	return 0
}

// glyph returns the outline of a letter in the middle of a picture, or nil when
// the font has no such letter.
func glyph(r rune, side float64, b *Budget) ([]contour, error) {
	f, err := letterFont()
	if err != nil || r == 0 {
		return nil, err
	}
	var buf sfnt.Buffer
	index, err := f.GlyphIndex(&buf, r)
	if err != nil || index == 0 {
		return nil, err
	}
	const em = 1024
	segments, err := f.LoadGlyph(&buf, index, fixed.I(em), nil)
	if err != nil || len(segments) == 0 {
		return nil, err
	}
	box := segments.Bounds()
	at := func(p fixed.Point26_6) point { return point{float64(p.X) / 64, float64(p.Y) / 64} }
	low, high := at(box.Min), at(box.Max)
	// Capitals are half as high as the icon, and no letter is wider than 62 %
	// or higher than 58 % of it.
	s := min(0.5*side/(0.72*em), 0.62*side/max(1, high.x-low.x), 0.58*side/max(1, high.y-low.y))
	p := pen{matrix: matrix{s, 0, 0, s, side/2 - s*(low.x+high.x)/2, side/2 - s*(low.y+high.y)/2}, budget: b}
	for _, seg := range segments {
		switch seg.Op {
		case sfnt.SegmentOpMoveTo:
			p.close()
			p.move(at(seg.Args[0]))
		case sfnt.SegmentOpLineTo:
			p.line(at(seg.Args[0]))
		case sfnt.SegmentOpQuadTo:
			p.quad(at(seg.Args[0]), at(seg.Args[1]))
		case sfnt.SegmentOpCubeTo:
			p.cubic(at(seg.Args[0]), at(seg.Args[1]), at(seg.Args[2]))
		}
	}
	p.close()
	return p.contours, p.err
}
