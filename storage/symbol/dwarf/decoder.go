package dwarf

import (
	"bytes"
	"math/bits"
)

// decoder reads numbers from bytes. After the end it returns zeros, and bad is set.
type decoder struct {
	data []byte
	at   int
	big  bool
	bad  bool
}

func (d *decoder) fail() {
	d.bad, d.at = true, len(d.data)
}

func (d *decoder) left() int { return len(d.data) - d.at }

func (d *decoder) skip(n uint64) {
	if n > uint64(len(d.data)-d.at) {
		d.fail()
		return
	}
	d.at += int(n)
}

func (d *decoder) take(n uint64) []byte {
	if n > uint64(len(d.data)-d.at) {
		d.fail()
		return nil
	}
	p := d.data[d.at : d.at+int(n)]
	d.at += int(n)
	return p
}

func (d *decoder) u8() byte {
	if d.at >= len(d.data) {
		d.bad = true
		return 0
	}
	d.at++
	return d.data[d.at-1]
}

// uint reads an unsigned number of up to 8 bytes.
func (d *decoder) uint(size int) uint64 {
	if size > len(d.data)-d.at {
		d.fail()
		return 0
	}
	var v uint64
	p := d.data[d.at : d.at+size]
	if d.big {
		for _, b := range p {
			v = v<<8 | uint64(b)
		}
	} else {
		for i, b := range p {
			v |= uint64(b) << (8 * i)
		}
	}
	d.at += size
	return v
}

func (d *decoder) u16() uint16 { return uint16(d.uint(2)) }

func (d *decoder) u32() uint32 { return uint32(d.uint(4)) }

// uleb reads an unsigned LEB128. Bits above the 64th must be zero.
func (d *decoder) uleb() uint64 {
	if d.at < len(d.data) && d.data[d.at] < 0x80 {
		d.at++
		return uint64(d.data[d.at-1])
	}
	var v uint64
	for shift := 0; ; shift += 7 {
		if d.at >= len(d.data) {
			d.bad = true
			return 0
		}
		b := d.data[d.at]
		d.at++
		part := uint64(b & 0x7f)
		if shift >= 64 && part != 0 || shift < 64 && bits.Len64(part)+shift > 64 {
			d.fail()
			return 0
		}
		if shift < 64 {
			v |= part << shift
		}
		if b < 0x80 {
			return v
		}
	}
}

// sleb reads a signed LEB128; bits above the 64th are lost.
func (d *decoder) sleb() int64 {
	var v int64
	for shift := 0; ; shift += 7 {
		if d.at >= len(d.data) {
			d.bad = true
			return 0
		}
		b := d.data[d.at]
		d.at++
		if shift < 64 {
			v |= int64(b&0x7f) << shift
		}
		if b < 0x80 {
			if b&0x40 != 0 && shift+7 < 64 {
				v |= -1 << (shift + 7)
			}
			return v
		}
	}
}

// skipLEB skips a LEB128.
func (d *decoder) skipLEB() {
	for d.at < len(d.data) {
		d.at++
		if d.data[d.at-1] < 0x80 {
			return
		}
	}
	d.bad = true
}

// text reads a string that ends with a zero byte.
func (d *decoder) text() []byte {
	end := bytes.IndexByte(d.data[d.at:], 0)
	if end < 0 {
		d.fail()
		return nil
	}
	p := d.data[d.at : d.at+end]
	d.at += end + 1
	return p
}

// length reads a unit's length: of 32-bit or of 64-bit DWARF.
func (d *decoder) length() (n uint64, wide bool) {
	n = d.uint(4)
	if n == 0xffffffff {
		return d.uint(8), true
	}
	if n >= 0xfffffff0 {
		d.fail()
	}
	return n, false
}

// offset reads an offset into a section.
func (d *decoder) offset(wide bool) uint64 {
	if wide {
		return d.uint(8)
	}
	return d.uint(4)
}
