package proguard

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"

	"github.com/slipway-qa/slipway/storage/symbol"
)

// Mapping is an opened index. It is safe for concurrent use.
type Mapping struct {
	Summary Summary
	data    area
	classes area
	sources area
	cost    int64
}

// area is a section, in memory or behind a reader.
type area struct {
	held []byte
	from io.ReaderAt
	size int64
}

// Open opens an index. Up to 64 MiB are held in memory, of larger ones ranges are read
// whenever they are needed. An index of another kind or version is an error.
func Open(f *symbol.File) (*Mapping, error) {
	if f.Kind != Kind || f.Version != Version {
		return nil, fmt.Errorf("the index is %s of version %d, not %s of version %d", f.Kind, f.Version, Kind, Version)
	}
	m := &Mapping{}
	head, err := f.ReadSection(headSection, 64<<10)
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(head, &m.Summary); err != nil {
		return nil, fmt.Errorf("read the head of an index: %w", err)
	}
	for name, a := range map[string]*area{dataSection: &m.data, classSection: &m.classes, sourceSection: &m.sources} {
		r := f.Section(name)
		*a = area{from: r, size: r.Size()}
		if f.Size > maxHeld {
			continue
		}
		if a.held, err = f.ReadSection(name, maxHeld); err != nil {
			return nil, err
		}
		m.cost += a.size
	}
	m.cost += int64(len(head)) + 1024
	return m, nil
}

// Cost returns how many bytes of memory the mapping holds.
func (m *Mapping) Cost() int64 { return m.cost }

// access reads from a mapping on behalf of one call. After an error it returns nothing but
// zeros, so that the error is looked at once, at the end.
type access struct {
	m   *Mapping
	err error
}

// bytes returns n bytes of an area.
func (x *access) bytes(a *area, at, n int64) []byte {
	if held := int64(len(a.held)); x.err == nil && 0 <= at && at < held && 0 <= n && n <= held-at {
		return a.held[at : at+n : at+n]
	}
	return x.read(a, at, n)
}

// read returns n bytes of an area that is not held, or whose bounds they exceed.
func (x *access) read(a *area, at, n int64) []byte {
	switch {
	case x.err != nil:
		return nil
	case at < 0 || n < 0 || at > a.size || n > a.size-at:
		x.err = fmt.Errorf("the index of a mapping refers to what lies outside of it")
		return nil
	case a.held != nil:
		return a.held[at : at+n : at+n]
	}
	p := make([]byte, n)
	if _, err := a.from.ReadAt(p, at); err != nil && err != io.EOF {
		x.err = fmt.Errorf("read the index of a mapping: %w", err)
		return nil
	}
	return p
}

// number returns the number of 4 bytes at an offset of the section "data".
func (x *access) number(at int64) uint32 {
	p := x.bytes(&x.m.data, at, 4)
	if p == nil {
		return 0
	}
	return binary.LittleEndian.Uint32(p)
}

// numbers returns count numbers, as bytes; nil after an error.
func (x *access) numbers(at uint32, count int64) []byte {
	return x.bytes(&x.m.data, int64(at), 4*count)
}

func numberAt(p []byte, i int) uint32 { return binary.LittleEndian.Uint32(p[4*i:]) }

// text returns a string. It belongs to the mapping.
func (x *access) text(ref uint32) []byte {
	if ref == 0 {
		return nil
	}
	if held := x.m.data.held; x.err == nil && int64(ref) < int64(len(held)) {
		// Nearly all are short: their length is one byte.
		if from, size := int64(ref)+1, int64(held[ref]); size < 0x80 && from+size <= int64(len(held)) {
			return held[from : from+size : from+size]
		}
	}
	head := x.bytes(&x.m.data, int64(ref), min(binary.MaxVarintLen32, max(x.m.data.size-int64(ref), 0)))
	size, n := binary.Uvarint(head)
	if n <= 0 || size > maxName {
		if x.err == nil {
			x.err = fmt.Errorf("the index of a mapping has a string that cannot be read")
		}
		return nil
	}
	return x.bytes(&x.m.data, int64(ref)+int64(n), int64(size))
}

// is reports whether a string is a text.
func (x *access) is(ref uint32, text string) bool { return string(x.text(ref)) == text }

// find returns the first row of a sorted table, whose rows of width bytes begin with a
// hash, with a hash or a larger one. Hashes are evenly spread, so the search begins where
// the row should be.
func (x *access) find(a *area, width int64, want uint64) int64 {
	low, high := int64(0), a.size/width // the row is at low or after, high or before
	at := func(i int64) uint64 {
		p := x.bytes(a, i*width, 8)
		if p == nil {
			return want
		}
		return binary.LittleEndian.Uint64(p)
	}
	guess := int64(float64(high) * (float64(want) / (1 << 64)))
	for step := int64(4); low < high; step *= 4 {
		// A window around the guess, that grows until the row is in it.
		if from := guess - step; from > low && at(from) < want {
			low = from + 1
		} else if from > low {
			high = from
			continue
		}
		if to := guess + step; to < high && at(to) >= want {
			high = to
		} else if to < high {
			low = to + 1
			continue
		}
		break
	}
	for low < high && x.err == nil {
		if mid := (low + high) / 2; at(mid) < want {
			low = mid + 1
		} else {
			high = mid
		}
	}
	return low
}

// classRecord is the head of a class's record.
type classRecord struct {
	at               uint32
	original, source uint32
	synthetic        bool
	methods, fields  int64
}

// class finds a class by its obfuscated name.
func (x *access) class(name string) (classRecord, bool) {
	a := &x.m.classes
	const width = 12
	want := hash(name)
	for i, row := 0, x.find(a, width, want); i < maxProbes && (row+1)*width <= a.size; i, row = i+1, row+1 {
		p := x.bytes(a, row*width, width)
		if p == nil || binary.LittleEndian.Uint64(p) != want {
			return classRecord{}, false
		}
		at := binary.LittleEndian.Uint32(p[8:])
		head := x.numbers(at, classHead)
		if head == nil {
			return classRecord{}, false
		}
		if x.is(numberAt(head, 0), name) {
			return classRecord{at: at, original: numberAt(head, 1), source: numberAt(head, 2),
				synthetic: numberAt(head, 3)&flagSynthetic != 0, methods: int64(numberAt(head, 4)), fields: int64(numberAt(head, 5))}, true
		}
	}
	return classRecord{}, false
}

// source returns the source file of an original class; empty when the mapping has none.
func (x *access) source(class []byte) []byte {
	a := &x.m.sources
	const width = 16
	if a.size == 0 {
		return nil
	}
	want := hash(class)
	for i, row := 0, x.find(a, width, want); i < maxProbes && (row+1)*width <= a.size; i, row = i+1, row+1 {
		p := x.bytes(a, row*width, width)
		if p == nil || binary.LittleEndian.Uint64(p) != want {
			return nil
		}
		if string(x.text(binary.LittleEndian.Uint32(p[8:]))) == string(class) {
			return x.text(binary.LittleEndian.Uint32(p[12:]))
		}
	}
	return nil
}

// member finds the row of a name among the methods or fields of a class and returns
// offset and count of what it stands for.
func (x *access) member(c *classRecord, fields bool, name string) (at uint32, count int64) {
	first, n := int64(c.at)+4*classHead, c.methods
	if fields {
		first, n = first+4*nameSize*n, c.fields
	}
	want := uint32(hash(name))
	low, high := int64(0), n
	for low < high && x.err == nil {
		if mid := (low + high) / 2; x.number(first+4*nameSize*mid) < want {
			low = mid + 1
		} else {
			high = mid
		}
	}
	for i := 0; i < maxProbes && low < n; i, low = i+1, low+1 {
		p := x.bytes(&x.m.data, first+4*nameSize*low, 4*nameSize)
		if p == nil || numberAt(p, 0) != want {
			return 0, 0
		}
		if x.is(numberAt(p, 1), name) {
			return numberAt(p, 2), int64(numberAt(p, 3))
		}
	}
	return 0, 0
}
