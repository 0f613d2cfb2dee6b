package minidump

import (
	"encoding/binary"
	"fmt"
	"io"

	"github.com/slipway-qa/slipway/storage/symbol"
	"github.com/slipway-qa/slipway/worker/symbols/dump"
)

// file is the file with its directory, and the dump that comes of it.
type file struct {
	in    io.ReaderAt
	size  uint64
	order binary.ByteOrder
	dir   map[uint32]location
	texts int
	err   error // of in, as opposed to the file's content
	d     *dump.Dump
}

// location is a part of the file.
type location struct {
	offset, size uint64
}

const headerSize = 32

// header reads the header and the directory. The first stream of a kind counts.
func (x *file) header() error {
	if x.size < headerSize {
		return symbol.Invalid(symbol.Truncated, "the minidump has %d bytes; its header alone has %d", x.size, headerSize)
	}
	head, ok := x.bytes(location{0, headerSize})
	if !ok {
		return fmt.Errorf("read minidump: %w", x.err)
	}
	switch string(head[:4]) {
	case "MDMP":
		x.order = binary.LittleEndian
	case "PMDM":
		x.order = binary.BigEndian
	default:
		return symbol.Invalid(symbol.Malformed, "not a minidump: it begins with %q, not with MDMP", head[:4])
	}
	if version := x.order.Uint32(head[4:]) & 0xffff; version != 0xa793 {
		return symbol.Invalid(symbol.Unsupported, "minidump of version 0x%04x; 0xa793 is read", version)
	}
	x.d.Time = int64(x.order.Uint32(head[20:]))
	count, at := uint64(x.order.Uint32(head[8:])), uint64(x.order.Uint32(head[12:]))
	if at > x.size || count*12 > x.size-at {
		if at >= x.size {
			return symbol.Invalid(symbol.Truncated,
				"the directory of %d streams at offset %d lies behind the end of the minidump (%d bytes)", count, at, x.size)
		}
		x.warn("the directory names %d streams, more than the file has room for", count)
		count = (x.size - at) / 12
	}
	if count > maxStreams {
		x.warn("the directory names %d streams; %d are read", count, maxStreams)
		count = maxStreams
	}
	if count == 0 {
		return symbol.Invalid(symbol.Malformed, "the minidump has no streams")
	}
	b, ok := x.bytes(location{at, count * 12})
	if !ok {
		return fmt.Errorf("read minidump: %w", x.err)
	}
	for ; len(b) >= 12; b = b[12:] {
		kind := x.order.Uint32(b)
		if kind == 0 {
			continue
		}
		if _, twice := x.dir[kind]; twice {
			x.warn("stream %s is there twice; the first one is read", streamName(kind))
			continue
		}
		x.dir[kind] = x.locate(b[4:])
	}
	return nil
}

// locate reads a location: size, then offset.
func (x *file) locate(b []byte) location {
	return location{offset: uint64(x.order.Uint32(b[4:])), size: uint64(x.order.Uint32(b))}
}

func (x *file) warn(format string, args ...any) {
	if len(x.d.Warnings) < maxWarnings {
		x.d.Warnings = append(x.d.Warnings, fmt.Sprintf(format, args...))
	}
}

// bytes reads a part of the file; false when it lies outside of the file, is too large
// for a list, or when reading failed, which err says then.
func (x *file) bytes(l location) ([]byte, bool) {
	if x.err != nil || l.size > maxList || l.offset > x.size || l.size > x.size-l.offset {
		return nil, false
	}
	b := make([]byte, l.size)
	n, err := x.in.ReadAt(b, int64(l.offset))
	if uint64(n) == l.size {
		return b, true
	}
	if err == nil || err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	x.err = err
	return nil, false
}

// stream reads a stream, up to most bytes of it; false when there is none. A stream
// that reaches over the end of the file is read to there.
func (x *file) stream(kind uint32, least, most uint64) ([]byte, bool) {
	l, there := x.dir[kind]
	if !there || x.err != nil {
		return nil, false
	}
	if l.offset > x.size {
		x.warn("stream %s lies at offset %d, behind the end of the file", streamName(kind), l.offset)
		return nil, false
	}
	if l.size > x.size-l.offset {
		x.warn("stream %s claims %d bytes; %d are in the file", streamName(kind), l.size, x.size-l.offset)
		l.size = x.size - l.offset
	}
	if l.size < least {
		x.warn("stream %s is cut off", streamName(kind))
		return nil, false
	}
	l.size = min(l.size, most)
	return x.bytes(l)
}

// list reads a stream that begins with a count, and returns the entries that are
// there. Some writers pad the count to eight bytes.
func (x *file) list(kind uint32, entry int, most int) ([]byte, int) {
	b, ok := x.stream(kind, 4, maxList)
	if !ok {
		return nil, 0
	}
	count := int(x.order.Uint32(b))
	b = b[4:]
	if uint64(len(b)) == uint64(count)*uint64(entry)+4 {
		b = b[4:]
	}
	return b, x.count(kind, count, len(b)/entry, most)
}

// count returns how many entries of a list are read: no more than there is room for,
// and than are allowed.
func (x *file) count(kind uint32, claimed, room, most int) int {
	n := claimed
	if n < 0 || n > room {
		x.warn("stream %s claims %d entries; %d are in the file", streamName(kind), uint32(claimed), room)
		n = room
	}
	if n > most {
		x.warn("stream %s has %d entries; %d are read", streamName(kind), n, most)
		n = most
	}
	return n
}
