package android

import (
	"cmp"
	"context"
	"errors"
	"image"
	"image/color"
	"strings"

	"golang.org/x/image/draw"

	"github.com/slipway-qa/slipway/storage/artifact/icon"
)

// Bounds of what is drawn for one package, failed attempts included.
const (
	maxDrawDepth   = 8
	maxDrawn       = 40   // drawables, each of which may be a file
	maxItems       = 20   // of a layer list
	maxImages      = 4    // each may take as long as the decoder allows
	maxVectorParts = 4000 // groups and paths of vectors
)

// adaptiveSide is the side of an adaptive icon in dp, the unit of insets;
// canvasSide is that of a canvas in pixels (xxxhdpi).
const (
	adaptiveSide = 108
	canvasSide   = 432
)

var (
	white = color.NRGBA{R: 255, G: 255, B: 255, A: 255}

	errDrawable = errors.New("it uses a drawable that cannot be drawn")
)

// drawer draws drawables as layers.
type drawer struct {
	ctx     context.Context
	decoder *icon.Decoder
	res     resources
	budget  *icon.Budget
	// values are those of resources that were looked up: each part of a vector may refer to
	// the same ones, and each of these has a thousand configurations.
	values map[uint32]value
	drawn  int
	images int
	parts  int
	chars  int // of path data
}

// newDrawer returns a drawer for the icons of one package.
func newDrawer(ctx context.Context, decoder *icon.Decoder, res resources) *drawer {
	return &drawer{ctx: ctx, decoder: decoder, res: res, budget: icon.NewBudget(ctx), values: map[uint32]value{}}
}

// resolve follows a reference as resolve does, and looks each resource up once.
func (d *drawer) resolve(v value) value {
	return follow(v, func(id uint32) value {
		found, ok := d.values[id]
		if !ok {
			found = defaultValue(d.res, id)
			d.values[id] = found
		}
		return found
	})
}

// layer draws a background or foreground: named by its drawable, or inside it.
func (d *drawer) layer(doc *element, name string) (icon.Layer, error) {
	e := doc.child(name)
	if e == nil {
		return icon.Layer{}, errDrawable
	}
	return d.wrapped(e, "drawable", 0)
}

// wrapped draws what an element refers to or contains.
func (d *drawer) wrapped(e *element, name string, depth int) (icon.Layer, error) {
	if v := e.attr(name); !v.isNone() {
		return d.value(v, depth)
	}
	for _, c := range e.Children {
		if c.Name != "attr" { // aapt:attr has a value, not a drawable
			return d.element(c, depth+1)
		}
	}
	return icon.Layer{}, errDrawable
}

// value draws a colour, or the file that a reference leads to: of several, the
// best image or document as for icons.
func (d *drawer) value(v value, depth int) (icon.Layer, error) {
	if d.drawn++; d.drawn > maxDrawn || depth > maxDrawDepth || d.ctx.Err() != nil {
		return icon.Layer{}, cmp.Or(d.ctx.Err(), errDrawable)
	}
	if c := d.resolve(v); c.isColor() {
		return icon.Layer{Color: ptr(nrgba(c.Data))}, nil
	} else if strings.HasPrefix(c.Text, "#") {
		if c, ok := parseColor(c.Text); ok {
			return icon.Layer{Color: &c}, nil
		}
	}
	files := iconFiles(d.res, v)
	if len(files) == 0 {
		return icon.Layer{}, errDrawable
	}
	best := files[0]
	for _, f := range files[1:] {
		if compareIcons(f, best) < 0 {
			best = f
		}
	}
	doc, raster, err := d.res.drawable(best.path)
	if err != nil {
		return icon.Layer{}, err
	}
	if doc != nil {
		return d.element(doc, depth+1)
	}
	return d.image(raster)
}

// image decodes an image and scales it down to a canvas: several large ones must
// not be in memory at the same time.
func (d *drawer) image(raster []byte) (icon.Layer, error) {
	if d.images++; d.images > maxImages {
		return icon.Layer{}, errDrawable
	}
	img, err := d.decoder.Decode(d.ctx, raster)
	if err != nil {
		return icon.Layer{}, err
	}
	if b := img.Bounds(); b.Dx() > canvasSide || b.Dy() > canvasSide {
		canvas := image.NewNRGBA(image.Rect(0, 0, canvasSide, canvasSide))
		place(canvas, canvas.Rect, img)
		img = canvas
	}
	return icon.Layer{Image: img}, nil
}

// element draws a drawable of any kind that icons consist of.
func (d *drawer) element(e *element, depth int) (icon.Layer, error) {
	if d.drawn++; d.drawn > maxDrawn || depth > maxDrawDepth || d.ctx.Err() != nil {
		return icon.Layer{}, cmp.Or(d.ctx.Err(), errDrawable)
	}
	switch e.Name {
	case "vector":
		v, err := d.vector(e)
		return icon.Layer{Vector: v}, err
	case "color":
		c := d.color(e.attr("color"))
		return icon.Layer{Color: &c}, nil
	case "shape":
		return d.shape(e)
	case "bitmap", "nine-patch":
		return d.wrapped(e, "src", depth)
	case "inset":
		layer, err := d.wrapped(e, "drawable", depth)
		if err != nil {
			return layer, err
		}
		all := inset(e.attr("inset"))
		side := func(name string) float64 {
			if v := e.attr(name); !v.isNone() {
				return inset(v)
			}
			return all
		}
		return shrink(layer, side("insetLeft"), side("insetTop"), side("insetRight"), side("insetBottom")), nil
	case "layer-list":
		return d.list(e, depth)
	case "selector", "level-list", "transition":
		// The last state of a selector is the one without conditions.
		if n := len(e.Children); n > 0 && e.Name == "selector" {
			return d.wrapped(e.Children[n-1], "drawable", depth+1)
		}
		return d.wrapped(e, "", depth)
	case "adaptive-icon":
		return d.layer(e, "foreground")
	}
	// Wrappers such as animated-vector, rotate, scale, clip, item, ripple.
	return d.wrapped(e, "drawable", depth)
}

// list draws a layer list; items that cannot be drawn are left out.
func (d *drawer) list(e *element, depth int) (icon.Layer, error) {
	var layers []icon.Layer
	for _, item := range e.Children[:min(len(e.Children), maxItems)] {
		layer, err := d.wrapped(item, "drawable", depth+1)
		if err != nil {
			continue
		}
		layers = append(layers, shrink(layer, inset(item.attr("left")), inset(item.attr("top")),
			inset(item.attr("right")), inset(item.attr("bottom"))))
	}
	if len(layers) == 0 {
		return icon.Layer{}, errDrawable
	}
	return d.merge(layers)
}

// inset returns an inset as a part of the side.
func inset(v value) float64 {
	part := v.float(0)
	if v.Type != typeFraction && !strings.HasSuffix(v.Text, "%") {
		part /= adaptiveSide
	} else if v.Type == typeString {
		part /= 100
	}
	return min(max(part, -0.9), 0.9)
}

// shrink returns a layer with free space around it, in parts of the side.
func shrink(l icon.Layer, left, top, right, bottom float64) icon.Layer {
	w, h := 1-left-right, 1-top-bottom
	if left == 0 && top == 0 && right == 0 && bottom == 0 || w <= 0 || h <= 0 {
		return l
	}
	switch {
	case l.Image != nil:
		at := func(part float64) int { return int(part*canvasSide + 0.5) }
		canvas := image.NewNRGBA(image.Rect(0, 0, canvasSide, canvasSide))
		place(canvas, image.Rect(at(left), at(top), at(left+w), at(top+h)), l.Image)
		return icon.Layer{Image: canvas}
	case l.Vector != nil:
		v := *l.Vector
		v.Paths = transformed(v.Paths, matrix{w, 0, 0, h, left * v.Width, top * v.Height}, 1)
		return icon.Layer{Vector: &v}
	case l.Color != nil:
		return shrink(icon.Layer{Vector: filled(*l.Color)}, left, top, right, bottom)
	}
	return l
}

// merge draws layers over each other: as one vector, or, where there are images,
// as one image.
func (d *drawer) merge(layers []icon.Layer) (icon.Layer, error) {
	if len(layers) == 1 {
		return layers[0], nil
	}
	all := &icon.Vector{Width: adaptiveSide, Height: adaptiveSide, Alpha: 1}
	canvas := image.NewNRGBA(image.Rect(0, 0, canvasSide, canvasSide))
	images := false
	for _, l := range layers {
		images = images || l.Image != nil
	}
	for _, l := range layers {
		v := l.Vector
		if l.Color != nil {
			v = filled(*l.Color)
		}
		switch {
		case l.Image != nil:
			place(canvas, canvas.Rect, l.Image)
		case images:
			raw, err := icon.Render(v, d.budget)
			if err != nil {
				return icon.Layer{}, err
			}
			img, err := d.decoder.Decode(d.ctx, raw)
			if err != nil {
				return icon.Layer{}, err
			}
			place(canvas, canvas.Rect, img)
		default:
			m := matrix{adaptiveSide / v.Width, 0, 0, adaptiveSide / v.Height, 0, 0}
			all.Paths = append(all.Paths, transformed(v.Paths, m, v.Alpha)...)
		}
	}
	if images {
		return icon.Layer{Image: canvas}, nil
	}
	return icon.Layer{Vector: all}, nil
}

// place draws an image into a rectangle: layers fill theirs, whatever the
// proportions of the image are.
func place(canvas draw.Image, at image.Rectangle, img image.Image) {
	draw.ApproxBiLinear.Scale(canvas, at, img, img.Bounds(), draw.Over, nil)
}

// filled is a vector of one colour.
func filled(c color.NRGBA) *icon.Vector {
	return &icon.Vector{Width: adaptiveSide, Height: adaptiveSide, Alpha: 1, Paths: []icon.Path{
		{Data: "M0,0h108v108h-108z", Fill: c, Transform: identity},
	}}
}

func ptr[T any](v T) *T { return &v }
