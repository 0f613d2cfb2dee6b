package icon

import (
	"cmp"
	"context"
	"image"
	"math"
	"slices"
)

// Budget is the work that drawing may take: corners, crossings of lines with
// edges, and pixels that are painted. Drawings of real icons need less than a
// hundredth; the whole of it takes about a second.
//
// All drawings of a package share one.
type Budget struct {
	ctx   context.Context
	left  int
	spent int // since ctx was looked at
}

// budgetWork is the work of all drawings of one package, and contextWork after how much of
// it the context is looked at.
const (
	budgetWork  = 12_000_000
	contextWork = 100_000
)

// NewBudget returns a whole budget, which also ends with ctx.
func NewBudget(ctx context.Context) *Budget { return &Budget{ctx: ctx, left: budgetWork} }

func (b *Budget) spend(n int) bool {
	b.left -= n
	if b.spent += n; b.spent >= contextWork {
		b.spent = 0
		if b.ctx.Err() != nil {
			b.left = -1
		}
	}
	return b.left >= 0
}

// linesPerPixel is into how many lines a row of pixels is divided. Horizontally,
// coverage is exact; vertically, there are this many steps.
const linesPerPixel = 16

// edge is a side of a polygon, going down.
type edge struct {
	first, last int     // linesPerPixel that it crosses
	x, slope    float64 // at line first, and for each further line
	winding     int
}

// crossing is where a line crosses an edge.
type crossing struct {
	x       float64
	winding int
}

// fill returns the coverage of polygons within a picture of size w x h, as a mask
// of the part that has any. Open contours are closed. It is false when the
// budget is spent.
func fill(contours []contour, evenOdd bool, w, h int, b *Budget) (*image.Alpha, bool) {
	edges := edgesOf(contours, h)
	if len(edges) == 0 {
		return &image.Alpha{}, true
	}
	slices.SortFunc(edges, func(a, b edge) int { return cmp.Compare(a.first, b.first) })
	top, bottom := edges[0].first/linesPerPixel, 0
	for _, e := range edges {
		bottom = max(bottom, e.last/linesPerPixel+1)
	}
	mask := image.NewAlpha(image.Rect(0, top, w, bottom))
	if !b.spend(w * (bottom - top)) {
		return nil, false
	}
	var (
		active []edge
		meets  []crossing
		cover  = make([]float32, w+2) // differences from pixel to pixel
	)
	for line := top * linesPerPixel; line < bottom*linesPerPixel; line++ {
		active = slices.DeleteFunc(active, func(e edge) bool { return e.last < line })
		for len(edges) > 0 && edges[0].first == line {
			active, edges = append(active, edges[0]), edges[1:]
		}
		if !b.spend(len(active)) {
			return nil, false
		}
		meets = meets[:0]
		for _, e := range active {
			meets = append(meets, crossing{e.x + e.slope*float64(line-e.first), e.winding})
		}
		addSpans(cover, meets, evenOdd, w)
		if line%linesPerPixel == linesPerPixel-1 {
			row := mask.Pix[(line/linesPerPixel-top)*mask.Stride:][:w]
			var sum float32
			for x := range row {
				sum += cover[x]
				row[x] = uint8(min(255, max(0, sum*(255.0/linesPerPixel)+0.5)))
			}
			clear(cover)
		}
	}
	return mask, true
}

// addSpans adds what one line covers.
func addSpans(cover []float32, meets []crossing, evenOdd bool, w int) {
	slices.SortFunc(meets, func(a, b crossing) int { return cmp.Compare(a.x, b.x) })
	inside := func(winding int) bool {
		if evenOdd {
			return winding&1 != 0
		}
		return winding != 0
	}
	winding := 0
	for _, m := range meets {
		before := inside(winding)
		winding += m.winding
		if after := inside(winding); after != before {
			x := min(float64(w), max(0, m.x))
			i := int(x)
			part := float32(x - float64(i))
			if before {
				cover[i] -= 1 - part
				cover[i+1] -= part
			} else {
				cover[i] += 1 - part
				cover[i+1] += part
			}
		}
	}
}

// edgesOf returns the sides of the polygons that cross a line of the picture.
func edgesOf(contours []contour, h int) []edge {
	var edges []edge
	for _, c := range contours {
		for i, p := range c.points {
			q := c.points[(i+1)%len(c.points)]
			winding := 1
			if p.y > q.y {
				p, q, winding = q, p, -1
			}
			// Line n is at (n + 1/2) / lines. Comparisons of floats first: an
			// edge may end far outside the range of an int.
			first := math.Ceil(max(p.y, -1)*linesPerPixel - 0.5)
			last := math.Ceil(min(q.y, float64(h)+1)*linesPerPixel-0.5) - 1
			first, last = max(first, 0), min(last, float64(h*linesPerPixel-1))
			if !(first <= last) {
				continue
			}
			slope := (q.x - p.x) / (q.y - p.y)
			x := p.x + slope*((first+0.5)/linesPerPixel-p.y)
			edges = append(edges, edge{first: int(first), last: int(last), x: x, slope: slope / linesPerPixel, winding: winding})
		}
	}
	return edges
}
