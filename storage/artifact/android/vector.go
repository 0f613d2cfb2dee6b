package android

import (
	"image/color"
	"math"
	"strconv"
	"strings"

	"github.com/slipway-qa/slipway/storage/artifact/icon"
)

// Bounds of a vector drawable.
const (
	maxPathData = 1 << 20 // characters of all paths of one icon
	maxStops    = 32
)

// matrix is a b c d e f as in SVG: x' = ax + cy + e, y' = bx + dy + f.
type matrix [6]float64

var identity = matrix{1, 0, 0, 1, 0, 0}

// times returns the matrix that applies n first.
func (m matrix) times(n matrix) matrix {
	return matrix{
		m[0]*n[0] + m[2]*n[1], m[1]*n[0] + m[3]*n[1],
		m[0]*n[2] + m[2]*n[3], m[1]*n[2] + m[3]*n[3],
		m[0]*n[4] + m[2]*n[5] + m[4], m[1]*n[4] + m[3]*n[5] + m[5],
	}
}

// transformed returns paths with one more matrix and alpha applied.
func transformed(paths []icon.Path, m matrix, alpha float64) []icon.Path {
	out := make([]icon.Path, len(paths))
	for i, p := range paths {
		p.Transform = m.times(p.Transform)
		p.Fill, p.Stroke = faded(p.Fill, alpha), faded(p.Stroke, alpha)
		p.Gradient = append([]color.NRGBA(nil), p.Gradient...)
		for j := range p.Gradient {
			p.Gradient[j] = faded(p.Gradient[j], alpha)
		}
		out[i] = p
	}
	return out
}

func faded(c color.NRGBA, alpha float64) color.NRGBA {
	c.A = uint8(float64(c.A)*min(max(alpha, 0), 1) + 0.5)
	return c
}

// vector reads a vector drawable. Clip paths are not applied: icons use them for
// shapes that their layers cut anyway.
func (d *drawer) vector(e *element) (*icon.Vector, error) {
	v := &icon.Vector{
		Width:  d.float(e, "viewportWidth", 24),
		Height: d.float(e, "viewportHeight", 24),
		Alpha:  d.float(e, "alpha", 1),
	}
	if v.Width <= 0 || v.Height <= 0 {
		return nil, errDrawable
	}
	d.group(v, e, identity, 0)
	if len(v.Paths) == 0 {
		return nil, errDrawable
	}
	if t := e.attr("tint"); !t.isNone() {
		tint(v.Paths, d.color(t))
	}
	return v, nil
}

// group adds the paths of a group, with the matrix of all groups around it.
func (d *drawer) group(v *icon.Vector, e *element, m matrix, depth int) {
	if depth > maxDepth {
		return
	}
	for _, c := range e.Children {
		if d.parts++; d.parts > maxVectorParts || d.ctx.Err() != nil {
			return
		}
		switch c.Name {
		case "group":
			d.group(v, c, m.times(d.groupMatrix(c)), depth+1)
		case "path":
			if p, ok := d.path(c); ok && m[0]*m[3] != m[1]*m[2] {
				p.Transform = m
				v.Paths = append(v.Paths, p)
			}
		}
	}
}

// groupMatrix returns the matrix that scales and rotates around the pivot, then
// moves, as VectorDrawable does.
func (d *drawer) groupMatrix(e *element) matrix {
	px, py := d.float(e, "pivotX", 0), d.float(e, "pivotY", 0)
	sin, cos := math.Sincos(d.float(e, "rotation", 0) * math.Pi / 180)
	move := matrix{1, 0, 0, 1, d.float(e, "translateX", 0) + px, d.float(e, "translateY", 0) + py}
	turn := matrix{cos, sin, -sin, cos, 0, 0}
	scale := matrix{d.float(e, "scaleX", 1), 0, 0, d.float(e, "scaleY", 1), 0, 0}
	back := matrix{1, 0, 0, 1, -px, -py}
	return move.times(turn).times(scale).times(back)
}

// path reads a path; ok is false when nothing of it shows.
func (d *drawer) path(e *element) (p icon.Path, ok bool) {
	p.Data = d.resolve(e.attr("pathData")).Text
	d.chars += len(p.Data)
	if p.Data == "" || d.chars > maxPathData {
		return p, false
	}
	fillAlpha := d.float(e, "fillAlpha", 1)
	if g := d.gradientOf(e, "fillColor"); len(g.stops) > 0 {
		for _, c := range g.stops {
			p.Gradient = append(p.Gradient, faded(c, fillAlpha))
		}
		p.GradientLine = g.line
	} else if v := e.attr("fillColor"); !v.isNone() {
		p.Fill = faded(d.color(v), fillAlpha)
	}
	if width := d.float(e, "strokeWidth", 0); width > 0 && !e.attr("strokeColor").isNone() {
		p.StrokeWidth = width
		p.Stroke = d.color(e.attr("strokeColor"))
		if g := d.gradientOf(e, "strokeColor"); len(g.stops) > 0 {
			p.Stroke = g.stops[0]
		}
		p.Stroke = faded(p.Stroke, d.float(e, "strokeAlpha", 1))
	}
	rule := d.resolve(e.attr("fillType"))
	p.EvenOdd = rule.isInteger() && rule.Data == 1 || rule.Text == "evenOdd"
	return p, len(p.Gradient) > 0 || p.Fill.A > 0 || p.StrokeWidth > 0 && p.Stroke.A > 0
}

func tint(paths []icon.Path, c color.NRGBA) {
	apply := func(p color.NRGBA) color.NRGBA {
		if p.A == 0 {
			return p
		}
		return faded(color.NRGBA{R: c.R, G: c.G, B: c.B, A: p.A}, float64(c.A)/255)
	}
	for i := range paths {
		paths[i].Fill, paths[i].Stroke = apply(paths[i].Fill), apply(paths[i].Stroke)
		for j := range paths[i].Gradient {
			paths[i].Gradient[j] = apply(paths[i].Gradient[j])
		}
	}
}

// shape reads a shape drawable: a filled rectangle or oval.
func (d *drawer) shape(e *element) (icon.Layer, error) {
	p := icon.Path{Data: "M0,0h108v108h-108z", Transform: identity}
	if s := d.resolve(e.attr("shape")); s.Data == 1 && s.isInteger() || s.Text == "oval" {
		p.Data = "M0,54a54,54 0 1,0 108,0a54,54 0 1,0 -108,0z"
	}
	if solid := e.child("solid"); solid != nil {
		p.Fill = d.color(solid.attr("color"))
	}
	if g := e.child("gradient"); g != nil {
		p.Gradient = d.gradient(g).stops
	}
	if p.Fill.A == 0 && len(p.Gradient) == 0 {
		return icon.Layer{}, errDrawable
	}
	return icon.Layer{Vector: &icon.Vector{Width: adaptiveSide, Height: adaptiveSide, Alpha: 1, Paths: []icon.Path{p}}}, nil
}

// gradient is the stops of a gradient and, of a linear one, its line.
type gradient struct {
	stops []color.NRGBA
	line  [4]float64
}

// gradientOf returns the gradient that an attribute refers to. aapt2 moves
// those that are written inside the path to separate files; some tools leave
// them there.
func (d *drawer) gradientOf(e *element, name string) gradient {
	for _, c := range e.Children {
		if g := c.child("gradient"); c.Name == "attr" && g != nil && strings.HasSuffix(c.attr("name").Text, name) {
			return d.gradient(g)
		}
	}
	if doc := d.colorDocument(e.attr(name)); doc != nil && doc.Name == "gradient" {
		return d.gradient(doc)
	}
	return gradient{}
}

func (d *drawer) gradient(e *element) gradient {
	var g gradient
	for _, item := range e.Children {
		if item.Name == "item" && len(g.stops) < maxStops {
			g.stops = append(g.stops, d.color(item.attr("color")))
		}
	}
	if len(g.stops) == 0 {
		for _, name := range []string{"startColor", "centerColor", "endColor"} {
			if v := e.attr(name); !v.isNone() {
				g.stops = append(g.stops, d.color(v))
			}
		}
	}
	for i, name := range []string{"startX", "startY", "endX", "endY"} {
		g.line[i] = d.float(e, name, 0)
	}
	return g
}

// colorDocument reads the document that a colour refers to; nil when there is none.
func (d *drawer) colorDocument(v value) *element {
	v = d.resolve(v)
	if v.Type != typeString || !strings.Contains(v.Text, "/") {
		return nil
	}
	if d.drawn++; d.drawn > maxDrawn {
		return nil
	}
	doc, _, err := d.res.drawable(v.Text)
	if err != nil {
		return nil
	}
	return doc
}

// unknown replaces colours of themes, which only a running app has.
var unknown = color.NRGBA{R: 0x80, G: 0x80, B: 0x80, A: 0xff}

// color returns a colour: as it is, as text, or the last (unconditional) of a list of states.
func (d *drawer) color(v value) color.NRGBA {
	for range maxReferences {
		r := d.resolve(v)
		if r.isInteger() {
			return nrgba(r.Data)
		}
		if c, ok := parseColor(r.Text); ok {
			return c
		}
		doc := d.colorDocument(r)
		if doc == nil {
			break
		}
		if doc.Name == "gradient" {
			if g := d.gradient(doc); len(g.stops) > 0 {
				return g.stops[0]
			}
			break
		}
		if n := len(doc.Children); n > 0 {
			doc = doc.Children[n-1]
		}
		v = doc.attr("color")
	}
	return unknown
}

// float reads a number that may be a resource.
func (d *drawer) float(e *element, name string, fallback float64) float64 {
	return d.resolve(e.attr(name)).float(fallback)
}

func nrgba(argb uint32) color.NRGBA {
	return color.NRGBA{R: uint8(argb >> 16), G: uint8(argb >> 8), B: uint8(argb), A: uint8(argb >> 24)}
}

// parseColor reads #RGB, #ARGB, #RRGGBB and #AARRGGBB.
func parseColor(s string) (color.NRGBA, bool) {
	s, ok := strings.CutPrefix(s, "#")
	if !ok {
		return color.NRGBA{}, false
	}
	if len(s) == 3 || len(s) == 4 {
		var long []byte
		for i := range len(s) {
			long = append(long, s[i], s[i])
		}
		s = string(long)
	}
	if len(s) == 6 {
		s = "ff" + s
	}
	n, err := strconv.ParseUint(s, 16, 32)
	return nrgba(uint32(n)), err == nil && len(s) == 8
}
