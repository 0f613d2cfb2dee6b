package icon

import (
	"errors"
	"math"
	"strconv"
)

// Bounds of path data. The largest vector icons have some 100 KB of it.
const (
	maxPathData = 512 << 10

	// maxCoordinate keeps sums and products far from infinity.
	maxCoordinate = 1e9
)

var errPathData = errors.New("icon: broken path data")

// parsePath reads path data as in SVG and Android, and draws it with a pen.
func parsePath(data string, p *pen) error {
	if len(data) > maxPathData {
		return errTooComplex
	}
	r := pathReader{data: data}
	var command byte
	for {
		r.skip()
		if r.at == len(data) {
			return p.err
		}
		if c := data[r.at]; isCommand(c) {
			command = c
			r.at++
		} else if command == 0 || command == 'Z' || command == 'z' {
			return errPathData
		}
		r.draw(command, p)
		switch {
		case r.broken:
			return errPathData
		case p.err != nil:
			return p.err
		case command == 'M': // further pairs are lines
			command = 'L'
		case command == 'm':
			command = 'l'
		}
	}
}

func isCommand(c byte) bool {
	switch c | 0x20 {
	case 'm', 'l', 'h', 'v', 'c', 's', 'q', 't', 'a', 'z':
		return true
	}
	return false
}

// pathReader reads numbers of path data and keeps what curves continue from.
type pathReader struct {
	data   string
	at     int
	broken bool

	control point // of the last curve
	curve   byte  // 'c' or 'q' when the last command was such a curve
}

// draw reads the arguments of one command and draws it.
func (r *pathReader) draw(command byte, p *pen) {
	var base point
	if command >= 'a' {
		base = p.at
	}
	last := r.curve
	r.curve = 0
	switch command | 0x20 {
	case 'm':
		p.move(r.pair(base))
	case 'l':
		p.line(r.pair(base))
	case 'h':
		p.line(point{base.x + r.number(), p.at.y})
	case 'v':
		p.line(point{p.at.x, base.y + r.number()})
	case 'c':
		a, b, to := r.pair(base), r.pair(base), r.pair(base)
		p.cubic(a, b, to)
		r.curve, r.control = 'c', b
	case 's':
		a := p.at
		if last == 'c' {
			a = mirrored(r.control, p.at)
		}
		b, to := r.pair(base), r.pair(base)
		p.cubic(a, b, to)
		r.curve, r.control = 'c', b
	case 'q':
		a, to := r.pair(base), r.pair(base)
		p.quad(a, to)
		r.curve, r.control = 'q', a
	case 't':
		a := p.at
		if last == 'q' {
			a = mirrored(r.control, p.at)
		}
		p.quad(a, r.pair(base))
		r.curve, r.control = 'q', a
	case 'a':
		rx, ry, turn := r.number(), r.number(), r.number()
		large, sweep := r.flag(), r.flag()
		p.arc(rx, ry, turn, large, sweep, r.pair(base))
	case 'z':
		p.close()
	}
}

func mirrored(p, at point) point { return point{2*at.x - p.x, 2*at.y - p.y} }

func (r *pathReader) pair(base point) point {
	x := r.number()
	return point{base.x + x, base.y + r.number()}
}

// skip skips white space and commas. Commas are allowed anywhere, as in Android.
func (r *pathReader) skip() {
	for r.at < len(r.data) {
		switch r.data[r.at] {
		case ' ', ',', '\t', '\n', '\r', '\f':
			r.at++
		default:
			return
		}
	}
}

// number reads a number, which ends where it cannot continue: "1.5.5-3e2" is 1.5,
// .5 and -300.
func (r *pathReader) number() float64 {
	r.skip()
	start, i := r.at, r.at
	digits := func() (n int) {
		for i < len(r.data) && r.data[i]-'0' <= 9 {
			i, n = i+1, n+1
		}
		return n
	}
	sign := func() {
		if i < len(r.data) && (r.data[i] == '+' || r.data[i] == '-') {
			i++
		}
	}
	sign()
	n := digits()
	if i < len(r.data) && r.data[i] == '.' {
		i++
		n += digits()
	}
	if n == 0 {
		r.broken = true
		return 0
	}
	if i < len(r.data) && r.data[i]|0x20 == 'e' {
		end := i
		i++
		if sign(); digits() == 0 {
			i = end // the e is not part of the number
		}
	}
	r.at = i
	v, err := strconv.ParseFloat(r.data[start:i], 64)
	if err != nil || math.Abs(v) > maxCoordinate {
		r.broken = true
		return 0
	}
	return v
}

// flag reads a flag of an arc, which is one digit and needs no separator.
func (r *pathReader) flag() bool {
	r.skip()
	if r.at < len(r.data) && (r.data[r.at] == '0' || r.data[r.at] == '1') {
		r.at++
		return r.data[r.at-1] == '1'
	}
	r.broken = true
	return false
}
