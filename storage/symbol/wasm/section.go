package wasm

import (
	"bytes"
	"errors"
	"io"
	"strings"

	"github.com/slipway-qa/slipway/storage/symbol"
	"github.com/slipway-qa/slipway/storage/symbol/native"
)

// magic begins a module of version 1: the only one that there is. Components have another number
// in the last two bytes.
const magic = "\x00asm\x01\x00\x00\x00"

// The numbers of sections: https://webassembly.github.io/spec/core/binary/modules.html#sections
const (
	customSection = 0
	importSection = 2
	codeSection   = 10
)

const (
	// maxSections is above what compilers write, which give no function a section of its own.
	maxSections = 10_000
	// maxFunctions is what engines accept.
	maxFunctions = 1_000_000
	// maxName bounds a name; what is longer is none.
	maxName = 32 << 10
)

// readSections notes where things are: the bodies of functions, and sections that have a name.
func (x *reader) readSections() error {
	c := &cursor{r: x.file, end: x.size}
	head, err := c.bytes(len(magic))
	if err != nil {
		return err
	}
	if !bytes.Equal(head, []byte(magic)) {
		return symbol.Invalid(symbol.Unsupported, "the file is no module of WebAssembly of version 1: it begins with %x", head)
	}
	for n := 0; c.at < c.end; n++ {
		if n == maxSections {
			return symbol.Invalid(symbol.TooLarge, "the module has more than %d sections", maxSections)
		}
		id, err := c.byte()
		if err != nil {
			return err
		}
		size, err := c.u32()
		if err != nil {
			return err
		}
		if int64(size) > c.end-c.at {
			return symbol.Invalid(symbol.Truncated, "the section at %#x has %d bytes, and the file ends after %d", c.at, size, c.end-c.at)
		}
		in := &cursor{r: x.file, at: c.at, end: c.at + int64(size)}
		if err := x.readSection(id, in); err != nil {
			return err
		}
		c.at += int64(size)
	}
	return nil
}

func (x *reader) readSection(id byte, c *cursor) error {
	switch id {
	case customSection:
		name, err := c.text()
		if err != nil {
			return err
		}
		if _, twice := x.custom[name]; !twice {
			x.custom[name] = section{c.at, c.end}
		}
	case importSection:
		return x.readImports(c)
	case codeSection:
		return x.readBodies(c)
	}
	return nil
}

// readImports counts the functions that are imported: these have the first numbers.
func (x *reader) readImports(c *cursor) error {
	n, err := c.u32()
	if err != nil {
		return err
	}
	for range n {
		for range 2 { // module and name
			size, err := c.u32()
			if err != nil {
				return err
			}
			if err := c.skip(int64(size)); err != nil {
				return err
			}
		}
		kind, err := c.byte()
		if err != nil {
			return err
		}
		if err := c.skipImport(kind); err != nil {
			return err
		}
		if kind == 0 {
			x.imported++
		}
	}
	return nil
}

// skipImport passes over what an import is of: a function, table, memory, global or tag.
func (c *cursor) skipImport(kind byte) error {
	switch kind {
	case 0:
		return c.skipNumbers(1)
	case 1:
		if err := c.skipType(); err != nil {
			return err
		}
		return c.skipLimits()
	case 2:
		return c.skipLimits()
	case 3:
		if err := c.skipType(); err != nil {
			return err
		}
		return c.skip(1)
	case 4:
		if err := c.skip(1); err != nil {
			return err
		}
		return c.skipNumbers(1)
	}
	return symbol.Invalid(symbol.Unsupported, "the module imports something of kind %d, which is not known", kind)
}

// skipType passes over a type of values: a byte, or of a reference two of them and the type that it
// is to.
func (c *cursor) skipType() error {
	b, err := c.byte()
	if err != nil {
		return err
	}
	if b == 0x63 || b == 0x64 {
		return c.skipNumbers(1)
	}
	return nil
}

// skipLimits passes over the sizes of a table or memory.
func (c *cursor) skipLimits() error {
	flags, err := c.byte()
	if err != nil {
		return err
	}
	numbers := 1
	if flags&1 != 0 {
		numbers++
	}
	if flags&8 != 0 { // the size of a page
		numbers++
	}
	return c.skipNumbers(numbers)
}

func (c *cursor) skipNumbers(n int) error {
	for range n {
		if _, err := c.number(); err != nil {
			return err
		}
	}
	return nil
}

// readBodies notes where each function is.
func (x *reader) readBodies(c *cursor) error {
	if x.bodies != nil {
		return symbol.Invalid(symbol.Malformed, "the module has two code sections")
	}
	x.code = uint64(c.at)
	n, err := c.u32()
	if err != nil {
		return err
	}
	if n > maxFunctions {
		return symbol.Invalid(symbol.TooLarge, "the module has %d functions; %d are read at most", n, maxFunctions)
	}
	x.bodies = []native.Range{}
	for range n {
		size, err := c.u32()
		if err != nil {
			return err
		}
		start := c.at
		if err := c.skip(int64(size)); err != nil {
			return err
		}
		x.bodies = append(x.bodies, native.Range{Start: uint64(start), End: uint64(c.at)})
	}
	return nil
}

// cursor returns what reads a section with a name.
func (x *reader) cursor(name string) (*cursor, bool) {
	s, ok := x.custom[name]
	return &cursor{r: x.file, at: s.start, end: s.end}, ok
}

// cursor reads a range of the file, in pieces that it keeps.
type cursor struct {
	r       io.ReaderAt
	at, end int64
	piece   []byte
	pieceAt int64
}

const pieceSize = 64 << 10

func (c *cursor) byte() (byte, error) {
	if c.at >= c.end {
		return 0, symbol.Invalid(symbol.Truncated, "a section of the module ends at %#x, in the middle of its content", c.end)
	}
	if c.at < c.pieceAt || c.at >= c.pieceAt+int64(len(c.piece)) {
		p := make([]byte, min(pieceSize, c.end-c.at))
		n, err := c.r.ReadAt(p, c.at)
		if n < len(p) {
			if err == nil || errors.Is(err, io.EOF) {
				return 0, symbol.Invalid(symbol.Truncated, "the module is cut off at %#x", c.at+int64(n))
			}
			return 0, err
		}
		c.piece, c.pieceAt = p, c.at
	}
	b := c.piece[c.at-c.pieceAt]
	c.at++
	return b, nil
}

// number reads an integer of LEB128.
func (c *cursor) number() (v uint64, err error) {
	for shift := 0; shift < 70; shift += 7 {
		b, err := c.byte()
		if err != nil {
			return 0, err
		}
		v |= uint64(b&0x7f) << shift
		if b < 0x80 {
			return v, nil
		}
	}
	return 0, symbol.Invalid(symbol.Malformed, "the module has a number of more than ten bytes at %#x", c.at)
}

func (c *cursor) u32() (uint32, error) {
	v, err := c.number()
	if err == nil && v > 1<<32-1 {
		return 0, symbol.Invalid(symbol.Malformed, "the module has the number %d before %#x, which has more than 32 bits", v, c.at)
	}
	return uint32(v), err
}

func (c *cursor) skip(n int64) error {
	if n > c.end-c.at {
		return symbol.Invalid(symbol.Truncated, "something in the module at %#x has %d bytes, and its section ends after %d", c.at, n, c.end-c.at)
	}
	c.at += n
	return nil
}

func (c *cursor) bytes(n int) ([]byte, error) {
	if int64(n) > c.end-c.at {
		return nil, symbol.Invalid(symbol.Truncated, "something in the module at %#x has %d bytes, and its section ends after %d",
			c.at, n, c.end-c.at)
	}
	p := make([]byte, n)
	for i := range p {
		b, err := c.byte()
		if err != nil {
			return nil, err
		}
		p[i] = b
	}
	return p, nil
}

// text reads a name; "" for one that is too long.
func (c *cursor) text() (string, error) {
	n, err := c.u32()
	if err != nil {
		return "", err
	}
	if n > maxName {
		return "", c.skip(int64(n))
	}
	p, err := c.bytes(int(n))
	return strings.ToValidUTF8(string(p), "\uFFFD"), err
}
