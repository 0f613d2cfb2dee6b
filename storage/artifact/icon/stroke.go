package icon

import "math"

// outline returns polygons that together cover a stroke: a rectangle for each
// line, and at each corner the gap between two of them. Ends are cut straight,
// the default of Android; sharp corners are round. It returns false when the
// budget is spent.
func outline(contours []contour, width float64, b *Budget) ([]contour, bool) {
	half := width / 2
	var out []contour
	add := func(points ...point) bool {
		out = append(out, contour{points: clockwise(points), closed: true})
		return b.spend(len(points))
	}
	for _, c := range contours {
		points := distinct(c)
		for i, p := range points {
			if i+1 == len(points) && !c.closed {
				break
			}
			q := points[(i+1)%len(points)]
			n := normal(p, q, half)
			if !add(point{p.x + n.x, p.y + n.y}, point{q.x + n.x, q.y + n.y}, point{q.x - n.x, q.y - n.y}, point{p.x - n.x, p.y - n.y}) {
				return nil, false
			}
			if i+2 >= len(points) && !c.closed {
				break
			}
			m := normal(q, points[(i+2)%len(points)], half)
			if n.x*m.x+n.y*m.y > 0.9*half*half { // part of a curve
				if !add(q, point{q.x + n.x, q.y + n.y}, point{q.x + m.x, q.y + m.y}) ||
					!add(q, point{q.x - n.x, q.y - n.y}, point{q.x - m.x, q.y - m.y}) {
					return nil, false
				}
			} else if !add(circle(q, half)...) {
				return nil, false
			}
		}
	}
	return out, true
}

// distinct returns the corners without those that repeat the one before them.
func distinct(c contour) []point {
	var points []point
	far := func(p, q point) bool { return math.Hypot(p.x-q.x, p.y-q.y) > 1e-6 }
	for _, p := range c.points {
		if len(points) == 0 || far(points[len(points)-1], p) {
			points = append(points, p)
		}
	}
	if n := len(points); c.closed && n > 1 && !far(points[0], points[n-1]) {
		points = points[:n-1]
	}
	if len(points) < 2 {
		return nil
	}
	return points
}

// normal returns the vector across the line from p to q, as long as half.
func normal(p, q point, half float64) point {
	d := math.Hypot(q.x-p.x, q.y-p.y)
	return point{-(q.y - p.y) / d * half, (q.x - p.x) / d * half}
}

func circle(p point, radius float64) []point {
	n := int(min(64, max(8, 4*math.Sqrt(radius))))
	points := make([]point, n)
	for i := range points {
		sin, cos := math.Sincos(2 * math.Pi * float64(i) / float64(n))
		points[i] = point{p.x + radius*cos, p.y + radius*sin}
	}
	return points
}

// clockwise returns a polygon in a fixed direction, so that polygons that
// overlap do not cancel each other.
func clockwise(points []point) []point {
	var area float64
	for i, p := range points {
		q := points[(i+1)%len(points)]
		area += p.x*q.y - q.x*p.y
	}
	if area < 0 {
		for i, j := 0, len(points)-1; i < j; i, j = i+1, j-1 {
			points[i], points[j] = points[j], points[i]
		}
	}
	return points
}
