package icon

import (
	"context"
	"image"
)

// Decoder decodes raster icons, only so many at a time. What one icon may cost
// is bounded by its picture (see memory), while memory and processors belong to
// the process: a process has one Decoder, which all readers of packages share. It
// is safe for concurrent use.
type Decoder struct{ slots chan struct{} }

// NewDecoder returns a decoder of at most concurrent icons at the same time, at
// least one.
func NewDecoder(concurrent int) *Decoder {
	return &Decoder{slots: make(chan struct{}, max(1, concurrent))}
}

// Decode decodes a raster icon within the bounds of the package: at most 16 MB
// and 4096 pixels a side, and maxMemory in all. Of a GIF it returns the first
// frame, of an .icns file the picture that suits stored icons best.
func (d *Decoder) Decode(ctx context.Context, raw []byte) (img image.Image, err error) {
	defer catchPanic("decoding the image", &err)
	if err := d.acquire(ctx); err != nil {
		return nil, err
	}
	defer d.release()
	return decode(raw)
}

// Normalize decodes a raster icon (PNG, Apple's CgBI PNG, WebP, JPEG, GIF, .icns)
// and returns a PNG of at most artifact.IconSize pixels a side. It is square: a
// longer side is kept, the shorter one is filled up with transparency. Small
// icons stay as small as they are.
func (d *Decoder) Normalize(ctx context.Context, raw []byte) (out []byte, err error) {
	defer catchPanic("reading the image", &err)
	if err := d.acquire(ctx); err != nil {
		return nil, err
	}
	defer d.release()
	img, err := decode(raw)
	if err != nil {
		return nil, err
	}
	return encode(square(img))
}

// acquire waits for a slot as long as ctx allows.
func (d *Decoder) acquire(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	select {
	case d.slots <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (d *Decoder) release() { <-d.slots }
