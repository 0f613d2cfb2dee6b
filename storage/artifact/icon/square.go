package icon

import (
	"bytes"
	"image"
	"image/png"

	"golang.org/x/image/draw"

	"github.com/slipway-qa/slipway/storage/artifact"
)

// square scales an image down to a square one.
func square(img image.Image) *image.RGBA {
	b := img.Bounds()
	long := max(b.Dx(), b.Dy())
	side := min(long, artifact.IconSize)
	// Rounded, and at least a pixel: a hairline stays visible.
	w, h := max(1, (b.Dx()*side+long/2)/long), max(1, (b.Dy()*side+long/2)/long)
	x, y := (side-w)/2, (side-h)/2
	dst := image.NewRGBA(image.Rect(0, 0, side, side))
	scale(dst, image.Rect(x, y, x+w, y+h), img)
	return dst
}

// scale draws an image into a rectangle of dst, over its content.
func scale(dst *image.RGBA, r image.Rectangle, img image.Image) {
	if r.Size() == img.Bounds().Size() {
		draw.Draw(dst, r, img, img.Bounds().Min, draw.Over)
		return
	}
	draw.CatmullRom.Scale(dst, r, fastToScale(img), img.Bounds(), draw.Over, nil)
}

// fastToScale returns an image in a form that is scaled without a method call for
// each pixel: 20 times as fast for a large palette picture.
func fastToScale(img image.Image) image.Image {
	switch img := img.(type) {
	case *image.RGBA, *image.NRGBA, *image.Gray:
		return img
	case *image.YCbCr:
		switch img.SubsampleRatio {
		case image.YCbCrSubsampleRatio444, image.YCbCrSubsampleRatio422, image.YCbCrSubsampleRatio420, image.YCbCrSubsampleRatio440:
			return img
		}
	}
	dst := image.NewRGBA(img.Bounds())
	draw.Draw(dst, dst.Rect, img, dst.Rect.Min, draw.Src)
	return dst
}

// encode returns a PNG, with the default level of compression: with the fastest one
// icons are half as large again, and two milliseconds are saved.
func encode(img image.Image) ([]byte, error) {
	var out bytes.Buffer
	if err := png.Encode(&out, img); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}
