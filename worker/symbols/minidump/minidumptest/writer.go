// Package minidumptest writes minidumps, for tests and measurements of what reads them.
//
// A File takes streams and whatever they point to, in any order, and returns the bytes
// of the file. Write makes one out of a dump.Dump: with its system, modules, threads,
// memory and attributes (as annotations of Crashpad), so that reading it returns an
// equal dump. Damaged files are made from these by changing bytes.
//
// It checks nothing: a test may want a wrong file.
package minidumptest

import (
	"encoding/binary"
	"unicode/utf16"
)

// Order is the byte order of a file: binary.LittleEndian or binary.BigEndian.
type Order interface {
	binary.ByteOrder
	binary.AppendByteOrder
}

// File is a minidump in the making.
type File struct {
	order   Order
	body    []byte // behind the header
	streams []stream
}

type stream struct {
	kind         uint32
	size, offset uint32
}

const headerSize = 32

// New begins a file in a byte order.
func New(order Order) *File { return &File{order: order} }

// Put adds bytes, at a multiple of four, and returns their offset in the file.
func (f *File) Put(b []byte) uint32 {
	for len(f.body)%4 != 0 {
		f.body = append(f.body, 0)
	}
	at := uint32(headerSize + len(f.body))
	f.body = append(f.body, b...)
	return at
}

// Stream adds a stream.
func (f *File) Stream(kind uint32, b []byte) {
	f.streams = append(f.streams, stream{kind, uint32(len(b)), f.Put(b)})
}

// StreamAt adds a stream of a claimed size at an offset, whatever is there.
func (f *File) StreamAt(kind, size, offset uint32) {
	f.streams = append(f.streams, stream{kind, size, offset})
}

// Text16 adds a text of UTF-16 with its length, and returns its offset.
func (f *File) Text16(text string) uint32 {
	units := utf16.Encode([]rune(text))
	b := f.order.AppendUint32(nil, uint32(2*len(units)))
	for _, u := range append(units, 0) {
		b = f.order.AppendUint16(b, u)
	}
	return f.Put(b)
}

// Text8 adds a text of UTF-8 with its length, and returns its offset.
func (f *File) Text8(text string) uint32 {
	return f.Put(append(append(f.order.AppendUint32(nil, uint32(len(text))), text...), 0))
}

// Numbers returns numbers of 32 bits one behind the other; those of the type uint64
// take 64, of uint16 16 and of byte 8 bits, and bytes stand as they are.
func (f *File) Numbers(values ...any) []byte {
	var b []byte
	for _, v := range values {
		switch v := v.(type) {
		case uint64:
			b = f.order.AppendUint64(b, v)
		case uint32:
			b = f.order.AppendUint32(b, v)
		case int:
			b = f.order.AppendUint32(b, uint32(v))
		case uint16:
			b = f.order.AppendUint16(b, v)
		case byte:
			b = append(b, v)
		case []byte:
			b = append(b, v...)
		}
	}
	return b
}

// Bytes returns the file, written at a time in UTC seconds.
func (f *File) Bytes(at int64) []byte {
	var dir []byte
	for _, s := range f.streams {
		dir = append(dir, f.Numbers(s.kind, s.size, s.offset)...)
	}
	offset := f.Put(dir)
	signature := []byte("MDMP")
	if f.order == Order(binary.BigEndian) {
		signature = []byte("PMDM")
	}
	head := f.Numbers(signature, 0xa793, len(f.streams), offset, 0, uint32(at), uint64(0))
	return append(head, f.body...)
}
