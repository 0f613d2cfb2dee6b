package icon

import "math"

type point struct{ x, y float64 }

// matrix is a b c d e f, as in SVG: x' = ax + cy + e, y' = bx + dy + f.
type matrix [6]float64

// times returns the matrix that applies n first and m after it.
func (m matrix) times(n matrix) matrix {
	return matrix{
		m[0]*n[0] + m[2]*n[1], m[1]*n[0] + m[3]*n[1],
		m[0]*n[2] + m[2]*n[3], m[1]*n[2] + m[3]*n[3],
		m[0]*n[4] + m[2]*n[5] + m[4], m[1]*n[4] + m[3]*n[5] + m[5],
	}
}

func (m matrix) apply(p point) point {
	return point{m[0]*p.x + m[2]*p.y + m[4], m[1]*p.x + m[3]*p.y + m[5]}
}

// scale returns the factor by which the matrix scales lengths, on average.
func (m matrix) scale() float64 { return math.Sqrt(math.Abs(m[0]*m[3] - m[1]*m[2])) }

// contour is a polygon in pixels.
type contour struct {
	points []point
	closed bool
}

// pen converts the curves of a path to polygons in pixels. The first error is
// stored in err, and what follows it is not drawn.
type pen struct {
	matrix   matrix
	budget   *Budget
	contours []contour
	at       point // before the matrix
	start    point // of the contour
	open     bool  // the last contour continues
	err      error
}

// tolerance is how far a polygon may be from its curve, in pixels.
const tolerance = 0.05

func (p *pen) move(to point) {
	p.at, p.start, p.open = to, to, false
}

// add appends a corner that is already in pixels.
func (p *pen) add(q point) {
	if !(math.Abs(q.x) < maxCoordinate && math.Abs(q.y) < maxCoordinate) { // NaN too
		p.err = errPathData
	}
	if !p.budget.spend(1) {
		p.err = errTooComplex
	}
	if p.err != nil {
		return
	}
	if !p.open {
		p.contours = append(p.contours, contour{points: []point{p.matrix.apply(p.at)}})
		p.open = true
	}
	c := &p.contours[len(p.contours)-1]
	c.points = append(c.points, q)
}

func (p *pen) line(to point) {
	p.add(p.matrix.apply(to))
	p.at = to
}

func (p *pen) close() {
	if p.open {
		p.contours[len(p.contours)-1].closed = true
	}
	p.at, p.open = p.start, false
}

func (p *pen) quad(a, to point) {
	from := p.at
	p.cubic(
		point{from.x + (a.x-from.x)*2/3, from.y + (a.y-from.y)*2/3},
		point{to.x + (a.x-to.x)*2/3, to.y + (a.y-to.y)*2/3}, to)
}

func (p *pen) cubic(a, b, to point) {
	p0, p1, p2, p3 := p.matrix.apply(p.at), p.matrix.apply(a), p.matrix.apply(b), p.matrix.apply(to)
	// The second differences bound how far a chord is from the curve.
	bend := max(
		math.Hypot(p0.x-2*p1.x+p2.x, p0.y-2*p1.y+p2.y),
		math.Hypot(p1.x-2*p2.x+p3.x, p1.y-2*p2.y+p3.y))
	const most = 256 // enough for a circle of 10,000 pixels
	n := int(min(most, max(1, math.Ceil(math.Sqrt(0.75*bend/tolerance)))))
	for i := 1; i < n; i++ {
		t := float64(i) / float64(n)
		s := 1 - t
		w0, w1, w2, w3 := s*s*s, 3*s*s*t, 3*s*t*t, t*t*t
		p.add(point{
			w0*p0.x + w1*p1.x + w2*p2.x + w3*p3.x,
			w0*p0.y + w1*p1.y + w2*p2.y + w3*p3.y,
		})
		if p.err != nil {
			return
		}
	}
	p.add(p3)
	p.at = to
}

// arc draws an elliptical arc. The centre is computed as in SVG 1.1 (appendix
// F.6.5); radii that are too small grow until they reach.
func (p *pen) arc(rx, ry, turn float64, large, sweep bool, to point) {
	from := p.at
	rx, ry = math.Abs(rx), math.Abs(ry)
	if from == to {
		return
	}
	if rx < 1e-9 || ry < 1e-9 {
		p.line(to)
		return
	}
	sin, cos := math.Sincos(turn * math.Pi / 180)
	dx, dy := (from.x-to.x)/2, (from.y-to.y)/2
	x, y := (cos*dx+sin*dy)/rx, (cos*dy-sin*dx)/ry // on the unit circle
	d := x*x + y*y
	if d > 1 {
		rx, ry = rx*math.Sqrt(d), ry*math.Sqrt(d)
		x, y, d = x/math.Sqrt(d), y/math.Sqrt(d), 1
	}
	f := math.Sqrt(max(0, 1/d-1))
	if large == sweep {
		f = -f
	}
	cx, cy := f*y, -f*x
	unit := matrix{cos * rx, sin * rx, -sin * ry, cos * ry, (from.x + to.x) / 2, (from.y + to.y) / 2}
	start := math.Atan2(y-cy, x-cx)
	sweepBy := math.Atan2(-y-cy, -x-cx) - start
	if sweep && sweepBy < 0 {
		sweepBy += 2 * math.Pi
	} else if !sweep && sweepBy > 0 {
		sweepBy -= 2 * math.Pi
	}
	n := max(1, math.Ceil(math.Abs(sweepBy)/(math.Pi/2)-1e-9))
	step := sweepBy / n
	k := 4.0 / 3 * math.Tan(step/4) // length of a cubic's handle for a part of the circle
	for i := range int(n) {
		s0, c0 := math.Sincos(start + step*float64(i))
		s1, c1 := math.Sincos(start + step*float64(i+1))
		end := unit.apply(point{cx + c1, cy + s1})
		if i == int(n)-1 {
			end = to
		}
		p.cubic(unit.apply(point{cx + c0 - k*s0, cy + s0 + k*c0}), unit.apply(point{cx + c1 + k*s1, cy + s1 - k*c1}), end)
	}
}
