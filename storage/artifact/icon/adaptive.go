package icon

import (
	"context"
	"errors"
	"fmt"
	"image"
	"image/color"

	"golang.org/x/image/draw"

	"github.com/slipway-qa/slipway/storage/artifact"
)

// The layers of an adaptive icon are 108 units wide; launchers show the middle
// 72 and use the rest for movement.
const (
	layerUnits = 108.0
	shownUnits = 72.0
)

// Adaptive composes an adaptive icon: both layers fill 108 units, of which the
// middle 72 are shown, in a rounded square. Without a background it is drawn on
// white.
func Adaptive(background, foreground Layer, b *Budget) (out []byte, err error) {
	defer catchPanic("composing the icon", &err)
	if background.empty() && foreground.empty() {
		return nil, errors.New("icon: the adaptive icon has no layer")
	}
	const side = artifact.IconSize
	canvas := image.NewRGBA(image.Rect(0, 0, side, side))
	if background.empty() {
		background.Color = &color.NRGBA{255, 255, 255, 255}
	}
	if err := background.draw(canvas, b); err != nil {
		return nil, fmt.Errorf("background: %w", err)
	}
	if err := foreground.draw(canvas, b); err != nil {
		return nil, fmt.Errorf("foreground: %w", err)
	}
	return encode(rounded(canvas))
}

func (l Layer) empty() bool { return l.Image == nil && l.Vector == nil && l.Color == nil }

func (l Layer) draw(img *image.RGBA, b *Budget) error {
	side := img.Rect.Dx()
	whole := float64(side) * layerUnits / shownUnits
	edge := (float64(side) - whole) / 2
	switch {
	case l.Image != nil:
		cost, err := layerCost(l.Image)
		if err != nil {
			return err
		}
		if err := newMemory(nil).take(cost); err != nil {
			return err
		}
		scale(img, image.Rect(int(edge), int(edge), int(edge+whole), int(edge+whole)), l.Image)
	case l.Vector != nil:
		if err := l.Vector.check(); err != nil {
			return err
		}
		place := matrix{whole / l.Vector.Width, 0, 0, whole / l.Vector.Height, edge, edge}
		layer, err := l.Vector.draw(place, side, b)
		if err != nil {
			return err
		}
		draw.Draw(img, img.Rect, layer, image.Point{}, draw.Over)
	case l.Color != nil:
		draw.Draw(img, img.Rect, image.NewUniform(*l.Color), image.Point{}, draw.Over)
	}
	return nil
}

// roundedSquare is the shape of composed icons, of 100 units.
const roundedSquare = "M24 0H76A24 24 0 0 1 100 24V76A24 24 0 0 1 76 100H24A24 24 0 0 1 0 76V24A24 24 0 0 1 24 0Z"

// rounded returns an image with rounded corners.
func rounded(img *image.RGBA) *image.RGBA {
	s := float64(img.Rect.Dx()) / 100
	pen := pen{matrix: matrix{s, 0, 0, s, 0, 0}, budget: NewBudget(context.Background())}
	if err := parsePath(roundedSquare, &pen); err != nil {
		panic(err) // a constant
	}
	out := image.NewRGBA(img.Rect)
	if err := paint(out, pen.contours, false, img, pen.budget); err != nil {
		panic(err)
	}
	return out
}
