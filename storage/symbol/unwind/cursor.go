package unwind

import (
	"bytes"
	"encoding/binary"
)

// cursor reads numbers; what lies beyond the end is 0 and sets failed.
type cursor struct {
	p      []byte
	order  binary.ByteOrder
	at     uint64 // the address of p[0]
	failed bool
}

func (c *cursor) take(n int) []byte {
	if n < 0 || n > len(c.p) {
		c.failed = true
		c.at += uint64(len(c.p))
		c.p = nil
		return make([]byte, min(max(n, 0), 16))
	}
	taken := c.p[:n]
	c.p, c.at = c.p[n:], c.at+uint64(n)
	return taken
}

func (c *cursor) u8() byte    { return c.take(1)[0] }
func (c *cursor) u16() uint16 { return c.order.Uint16(c.take(2)) }
func (c *cursor) u32() uint32 { return c.order.Uint32(c.take(4)) }
func (c *cursor) u64() uint64 { return c.order.Uint64(c.take(8)) }

func (c *cursor) address(size int) uint64 {
	if size == 4 {
		return uint64(c.u32())
	}
	return c.u64()
}

// uleb reads an unsigned LEB128 number; bits above 64 are lost.
func (c *cursor) uleb() (value uint64) {
	for shift := uint(0); ; shift += 7 {
		b := c.u8()
		if shift < 64 {
			value |= uint64(b&0x7f) << shift
		}
		if b < 0x80 {
			return value
		}
	}
}

func (c *cursor) sleb() (value int64) {
	for shift := uint(0); ; {
		b := c.u8()
		if shift < 64 {
			value |= int64(b&0x7f) << shift
		}
		shift += 7
		if b < 0x80 {
			if shift < 64 && b&0x40 != 0 {
				value |= -1 << shift
			}
			return value
		}
	}
}

// text reads a text that ends with a zero byte.
func (c *cursor) text() string {
	end := bytes.IndexByte(c.p, 0)
	if end < 0 {
		c.failed = true
		return ""
	}
	return string(c.take(end + 1)[:end])
}
