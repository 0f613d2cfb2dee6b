package native

import "errors"

var errBody = errors.New("index: the body of a function is damaged")

// body is what a function's body says about one address. Offsets of strings are one
// more than they are; 0 is none.
type body struct {
	name               uint64
	file, line, column uint64
	inlines            []inlined // the outermost first
}

// inlined is an inlined function and where it was called.
type inlined struct{ name, file, line, column uint64 }

// decode reads of a body what concerns an address into found.
func (s *buffers) decode(p []byte, start, address uint64) error {
	d := decoder{data: p}
	b := &s.found
	*b = body{name: d.uvarint(), inlines: b.inlines[:0]}
	n := d.uvarint()
	if n > uint64(d.left()) {
		return errBody
	}
	files := s.files[:0]
	for range n {
		files = append(files, d.uvarint())
	}
	s.files = files
	inlines := decoder{data: d.take(d.uvarint())}
	if d.bad {
		return errBody
	}
	b.findInlines(&inlines, start, address)
	b.findLine(&d, start, address)
	if d.bad || inlines.bad || !b.resolve(files) {
		return errBody
	}
	return nil
}

// resolve turns the numbers of files into offsets.
func (b *body) resolve(files []uint64) bool {
	ok := true
	offset := func(file uint64) uint64 {
		if file > uint64(len(files)) {
			ok = false
			return 0
		}
		if file == 0 {
			return 0
		}
		return files[file-1] + 1
	}
	b.file = offset(b.file)
	for i := range b.inlines {
		b.inlines[i].file = offset(b.inlines[i].file)
	}
	return ok
}

// findInlines descends into the functions that cover the address; of several
// neighbours that do, into the last.
func (b *body) findInlines(d *decoder, start, address uint64) {
	for len(b.inlines) < maxInlineDepth {
		var found inlined
		var below []byte
		ok := false
		for d.left() > 0 {
			covers := d.covers(start, address)
			x := inlined{name: d.uvarint() + 1, file: d.uvarint(), line: d.uvarint(), column: d.uvarint()}
			inner := d.take(d.uvarint())
			if d.bad {
				return
			}
			if covers {
				found, below, ok = x, inner, true
			}
		}
		if !ok {
			return
		}
		b.inlines = append(b.inlines, found)
		*d = decoder{data: below}
	}
}

// covers reads the ranges of an inlined function.
func (d *decoder) covers(start, address uint64) bool {
	n := d.uvarint()
	if n > uint64(d.left()) {
		d.bad = true
		return false
	}
	last, covers := start, false
	for range n {
		from := last + uint64(d.varint())
		last = from + d.uvarint()
		covers = covers || address >= from && address < last
	}
	return covers
}

// findLine finds the chunk and in it the last line that begins at the address or before.
func (b *body) findLine(d *decoder, start, address uint64) {
	n := d.uvarint()
	if n > uint64(d.left()) {
		d.bad = true
		return
	}
	at, skip, from := start, uint64(0), start
	before, size := uint64(0), uint64(0)
	ok := false
	for range n {
		at += d.uvarint()
		bytes := d.uvarint()
		if at <= address {
			skip, size, from, ok = before, bytes, at, true
		}
		before += bytes
	}
	if !ok || d.bad {
		return
	}
	d.take(skip)
	lines := decoder{data: d.take(size)}
	if d.bad {
		return
	}
	b.walkLines(&lines, from, address)
	d.bad = lines.bad
}

func (b *body) walkLines(d *decoder, at, address uint64) {
	var file, line uint64
	for d.left() > 0 {
		distance := d.uvarint()
		at += distance >> 1
		if distance&1 != 0 {
			file = d.uvarint()
		}
		line += uint64(d.varint())
		column := d.uvarint()
		if d.bad || at > address {
			return
		}
		b.file, b.line, b.column = file, line, column
	}
}
