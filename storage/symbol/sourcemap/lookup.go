package sourcemap

// Bias says which mapping a position belongs to when none begins at it.
type Bias int

// The biases. They never leave the generated line, but for range mappings.
const (
	// Lower takes the mapping before the position: what consumers do by default.
	Lower Bias = iota
	// Upper takes the mapping behind the position.
	Upper
	// Equal takes a mapping at the position itself only.
	Equal
)

// Original returns the place in a source of a generated position, both counted from 1;
// false when no mapping covers it or its mapping has no source. A column below 1 means
// that it is not known: then all of the line must come from one line of one source, and
// the result has no column. Errors are those of reading the index.
func (m *Map) Original(line, column int) (Position, bool, error) {
	if column < 1 {
		return m.wholeLine(line)
	}
	return m.Lookup(line, column, Lower)
}

// Lookup is Original with a bias. Of several mappings at the position the first counts,
// of several before it the last.
func (m *Map) Lookup(line, column int, bias Bias) (Position, bool, error) {
	if line < 1 || column < 1 || line > maxValue || column > maxValue {
		return Position{}, false, nil
	}
	l, c := uint32(line-1), uint32(column-1)
	var b block
	at := m.find(l, c)
	i := -1
	if at >= 0 {
		if err := m.load(at, &b); err != nil {
			return Position{}, false, err
		}
		i = b.before(l, c, true) - 1
	}
	if i >= 0 && b.columns[columnLine].at(i) == l && b.columns[columnColumn].at(i) == c {
		return m.first(at, &b, l, c)
	}
	if i >= 0 {
		s := b.segment(i)
		from := b.columns[columnLine].at(i)
		if s.ranged && bias != Equal {
			return m.ranged(s, from, l, c)
		}
		if bias == Lower && from == l {
			return m.position(s, false)
		}
	}
	if bias == Upper {
		return m.next(at, i, &b, l)
	}
	return Position{}, false, nil
}

// first returns the first of the mappings at a position that block at ends with, or has.
func (m *Map) first(at int, b *block, line, column uint32) (Position, bool, error) {
	for {
		i := b.before(line, column, false)
		s := b.segment(min(i, b.n-1))
		if i > 0 || at == 0 {
			return m.position(s, true)
		}
		var former block
		if err := m.load(at-1, &former); err != nil {
			return Position{}, false, err
		}
		last := former.n - 1
		if former.columns[columnLine].at(last) != line || former.columns[columnColumn].at(last) != column {
			return m.position(s, true)
		}
		at--
		*b = former
	}
}

// ranged returns the position that a range mapping covers: as far behind its original
// position as the generated one is behind its own.
func (m *Map) ranged(s segment, from, line, column uint32) (Position, bool, error) {
	if line == from {
		s.origin += column - s.column
	} else {
		s.origin = column
	}
	s.line += line - from
	return m.position(s, false)
}

// next returns the mapping behind mapping i of block at, on the same line.
func (m *Map) next(at, i int, b *block, line uint32) (Position, bool, error) {
	if at < 0 || i+1 >= b.n {
		if at+1 >= len(m.directory) {
			return Position{}, false, nil
		}
		if err := m.load(at+1, b); err != nil {
			return Position{}, false, err
		}
		i = -1
	}
	if b.columns[columnLine].at(i+1) != line {
		return Position{}, false, nil
	}
	return m.position(b.segment(i+1), false)
}

// position makes the position of a mapping.
func (m *Map) position(s segment, exact bool) (Position, bool, error) {
	if s.source == 0 {
		return Position{}, false, nil
	}
	p, err := m.Source(int(s.source - 1))
	if err != nil {
		return Position{}, false, err
	}
	p.Line, p.Column, p.Exact = int(s.line)+1, int(s.origin)+1, exact
	if s.name != 0 {
		if p.Name, err = m.string(&m.names, &m.allNames, int(s.name-1)); err != nil {
			return Position{}, false, err
		}
	}
	return p, true, nil
}

// maxWholeLine bounds the mappings that wholeLine looks at: a line with more of them is
// no line that somebody wrote.
const maxWholeLine = 4 * blockMappings

// wholeLine returns the line of a source that a whole generated line comes from.
func (m *Map) wholeLine(line int) (Position, bool, error) {
	if line < 1 || line > maxValue {
		return Position{}, false, nil
	}
	var first segment
	l, seen := uint32(line-1), 0
	var b block
	for at := max(m.find(l, 0), 0); at < len(m.directory) && m.directory[at].line <= l; at++ {
		if err := m.load(at, &b); err != nil {
			return Position{}, false, err
		}
		for i := b.before(l, 0, false); i < b.n && b.columns[columnLine].at(i) == l; i++ {
			s := b.segment(i)
			if s.source == 0 {
				continue
			}
			if seen == 0 {
				first = s
			}
			if seen++; seen > maxWholeLine || s.source != first.source || s.line != first.line {
				return Position{}, false, nil
			}
		}
	}
	if seen == 0 {
		return Position{}, false, nil
	}
	p, ok, err := m.position(first, false)
	p.Column, p.Name = 0, ""
	return p, ok, err
}
