package portablepdb

import (
	"github.com/slipway-qa/slipway/storage/symbol"
	"github.com/slipway-qa/slipway/storage/symbol/native"
)

// maxLine bounds a line and column; the format has none above it.
const maxLine = 0x20000000

// points is the place in a blob of sequence points.
type points struct {
	decoder
	document     uint32
	offset       uint64
	line, column int64
	visible      bool // one that is not hidden was read
}

// sequencePoints returns the lines of a method; none when it has no points.
func (x *reader) sequencePoints(row int) ([]native.Line, error) {
	blob, err := x.blob(x.methods.column(row, 1))
	if err != nil || len(blob) == 0 {
		return nil, err
	}
	if x.work -= len(blob); x.work < 0 {
		return nil, nil // ReadBytes refuses the file
	}
	s := points{decoder: decoder{p: blob}, document: uint32(x.methods.column(row, 0))}
	s.unsigned() // the signature of its variables
	if s.document == 0 {
		s.document = s.unsigned()
	}
	start := base + uint64(row+1)*maxMethod
	var lines []native.Line
	for first := true; len(s.p) > 0; first = false {
		delta := s.unsigned()
		if delta == 0 && !first {
			s.document = s.unsigned() // the points that follow are in another
			continue
		}
		line, err := s.next(delta)
		if err != nil {
			return nil, err
		}
		if line.Line > 0 {
			if s.document == 0 || int(s.document) > len(x.documents) {
				return nil, symbol.Invalid(symbol.Malformed, "a sequence point is in document %d of %d", s.document, len(x.documents))
			}
			line.File = x.documents[s.document-1]
		}
		line.Address += start
		lines = append(lines, line)
	}
	if s.bad {
		return nil, symbol.Invalid(symbol.Truncated, "its sequence points are cut off")
	}
	return lines, nil
}

// next reads a point, whose address is its offset. A hidden one has line 0.
func (s *points) next(delta uint32) (native.Line, error) {
	s.offset += uint64(delta)
	lines := s.unsigned()
	columns := int64(0)
	if lines == 0 {
		columns = int64(s.unsigned())
	} else {
		columns = s.signed()
	}
	if s.bad || s.offset >= maxMethod {
		return native.Line{}, symbol.Invalid(symbol.Malformed, "a sequence point is cut off, or beyond the largest method")
	}
	if lines == 0 && columns == 0 {
		return native.Line{Address: s.offset}, nil
	}
	if s.visible {
		s.line, s.column = s.line+s.signed(), s.column+s.signed()
	} else {
		s.line, s.column, s.visible = int64(s.unsigned()), int64(s.unsigned()), true
	}
	if s.bad || s.line < 0 || s.line >= maxLine || s.column < 0 || s.column >= maxLine {
		return native.Line{}, symbol.Invalid(symbol.Malformed, "a sequence point has line %d, column %d", s.line, s.column)
	}
	return native.Line{Address: s.offset, Line: uint32(s.line), Column: uint32(s.column)}, nil
}
