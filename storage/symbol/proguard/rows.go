package proguard

import "bytes"

// methodRows is one overload of a method, as the index has it.
type methodRows struct {
	flags              uint32
	rows               uint32
	count              int64
	segments           uint32
	segmentCount       int64
	plain              int64
	residual, original uint32
}

// overload reads an overload.
func (x *access) overload(at uint32, i int64) methodRows {
	p := x.bytes(&x.m.data, int64(at)+4*overloadSize*i, 4*overloadSize)
	if p == nil {
		return methodRows{}
	}
	return methodRows{flags: numberAt(p, 0), rows: numberAt(p, 1), count: int64(numberAt(p, 2)), segments: numberAt(p, 3),
		segmentCount: int64(numberAt(p, 4)), plain: int64(numberAt(p, 5)), residual: numberAt(p, 6), original: numberAt(p, 7)}
}

// storedRow is a row of an overload.
type storedRow struct {
	lines, original lineRange
	signature, info uint32
}

func (x *access) row(o *methodRows, i int64) storedRow {
	p := x.bytes(&x.m.data, int64(o.rows)+4*rowSize*i, 4*rowSize)
	if p == nil {
		return storedRow{lines: noRange, original: noRange}
	}
	return storedRow{lines: lineRange{int32(numberAt(p, 0)), int32(numberAt(p, 1))},
		original: lineRange{int32(numberAt(p, 2)), int32(numberAt(p, 3))}, signature: numberAt(p, 4), info: numberAt(p, 5)}
}

// lines returns the lines of a row.
func (x *access) lines(o *methodRows, i int64) lineRange {
	p := x.bytes(&x.m.data, int64(o.rows)+4*rowSize*i, 8)
	if p == nil {
		return noRange
	}
	return lineRange{int32(numberAt(p, 0)), int32(numberAt(p, 1))}
}

// rowInfo returns the encoded rowInfo of a row; 0 when it has none.
func (x *access) rowInfo(o *methodRows, i int64) uint32 {
	return x.number(int64(o.rows) + 4*rowSize*i + 4*(rowSize-1))
}

// picked is a frame of an overload: rows that follow one another, of which the first is
// innermost.
type picked struct {
	overload     methodRows
	first, count int64
}

// pickLine returns the rows for a line; count 0 when there are none.
func (x *access) pickLine(o *methodRows, line int32) picked {
	first := x.firstRow(o, line)
	if first < 0 || x.err != nil {
		return picked{}
	}
	return x.run(o, first)
}

// run returns the rows with the same lines as one, from it on.
func (x *access) run(o *methodRows, first int64) picked {
	lines := x.lines(o, first)
	p := picked{overload: *o, first: first, count: 1}
	for p.count < maxInlined && first+p.count < o.count && x.lines(o, first+p.count) == lines {
		p.count++
	}
	return p
}

// firstRow returns the first row that contains a line; -1 when none does.
func (x *access) firstRow(o *methodRows, line int32) int64 {
	switch {
	case o.count <= fewRows:
		for i := range o.count {
			if x.lines(o, i).contains(line) {
				return i
			}
		}
		return -1
	case o.segments == 0:
		return x.sortedRow(o, line)
	}
	low, high := int64(0), o.segmentCount
	for low < high && x.err == nil {
		if mid := (low + high) / 2; x.number(int64(o.segments)+4*segmentSize*mid) <= uint32(line) {
			low = mid + 1
		} else {
			high = mid
		}
	}
	if low == 0 {
		return -1
	}
	row := x.number(int64(o.segments) + 4*segmentSize*(low-1) + 4)
	if row == noNumber {
		return -1
	}
	return int64(row)
}

// sortedRow searches in rows that are sorted and do not overlap.
func (x *access) sortedRow(o *methodRows, line int32) int64 {
	low, high := int64(0), o.count
	for low < high && x.err == nil {
		if mid := (low + high) / 2; x.lines(o, mid).to < line {
			low = mid + 1
		} else {
			high = mid
		}
	}
	if low < o.count && x.lines(o, low).contains(line) {
		return low
	}
	return -1
}

// pickAnyLine returns the rows of a frame without a line: those for line 0, else the
// first without a range; count 0 when there are none.
func (x *access) pickAnyLine(o *methodRows) picked {
	zero, plain := x.firstRow(o, 0), o.plain
	switch {
	case x.err != nil:
		return picked{}
	case zero >= 0:
		// Rows without a range do not count where one contains line 0.
		return x.run(o, zero)
	case plain < o.count:
		return picked{overload: *o, first: plain, count: 1}
	}
	return picked{}
}

// pickPlain adds each row without a range.
func (x *access) pickPlain(all []picked, o *methodRows) []picked {
	for i := o.plain; i < min(o.count, o.plain+maxScan) && len(all) <= maxAlternatives && x.err == nil; i++ {
		if !x.lines(o, i).exists() {
			all = append(all, picked{overload: *o, first: i, count: 1})
		}
	}
	return all
}

// last returns the outermost row.
func (x *access) last(p *picked) storedRow { return x.row(&p.overload, p.first+p.count-1) }

// ambiguous reports whether a row stands for several original lines of which none can be
// said to be that of an obfuscated line.
func (r *storedRow) ambiguous() bool {
	if !r.original.exists() || r.original.single() {
		return false
	}
	return !r.lines.exists() || r.lines.span() != r.original.span()
}

// originalLine returns the original line of a line that the row contains.
func (r *storedRow) originalLine(line int32) int32 {
	switch {
	case !r.original.exists():
		return line
	case r.original.single():
		return r.original.to
	}
	return int32(min(int64(r.original.from)+int64(line)-int64(r.lines.from), maxLineNumber))
}

// signature is a method as the mapping has it: "type holder.name(types)".
type signature struct {
	// class is empty for a method of the class whose line it is in.
	result, class, name, types []byte
}

func parseSignature(text []byte) (s signature) {
	s.result, text, _ = bytes.Cut(text, []byte(" "))
	s.name = text
	if i := bytes.IndexByte(text, '('); i >= 0 {
		s.name, s.types = text[:i], bytes.TrimSuffix(text[i+1:], []byte(")"))
	}
	if i := bytes.LastIndexByte(s.name, '.'); i >= 0 {
		s.class, s.name = s.name[:i], s.name[i+1:]
	}
	return s
}
