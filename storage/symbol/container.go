package symbol

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"sort"
)

// An index is a header, the sections one after another, and at the end a table of them:
//
//	"SLIPIDX1"  8 bytes
//	kind        1 byte length and text
//	version     4 bytes, of the kind's format
//	sections    each begins at a multiple of 8
//	table       for each section: name (1 byte length and text), offset and size (8 bytes each)
//	trailer     offset of the table (8), its size (4), "XDI1" (4)
//
// Numbers are little-endian.
const (
	containerMagic = "SLIPIDX1"
	trailerMagic   = "XDI1"
	trailerSize    = 16
	maxSections    = 64
	maxTable       = 64 << 10
)

// Writer writes an index. It is for one goroutine; the first error stays.
type Writer struct {
	out      *bufio.Writer
	offset   int64
	sections []section
	err      error
}

type section struct {
	name         string
	offset, size int64
}

// NewWriter begins an index of a kind's format in a version.
func NewWriter(w io.Writer, kind string, version uint32) *Writer {
	x := &Writer{out: bufio.NewWriterSize(w, 256<<10)}
	head := append([]byte(containerMagic), byte(len(kind)))
	head = binary.LittleEndian.AppendUint32(append(head, kind...), version)
	x.put(head)
	return x
}

func (x *Writer) put(p []byte) {
	if x.err != nil {
		return
	}
	n, err := x.out.Write(p)
	x.offset += int64(n)
	x.err = err
}

// Begin begins a section; the former one ends. A name is given once.
func (x *Writer) Begin(name string) {
	x.end()
	if pad := x.offset % 8; pad != 0 {
		x.put(make([]byte, 8-pad))
	}
	if len(x.sections) >= maxSections && x.err == nil {
		x.err = fmt.Errorf("an index has at most %d sections", maxSections)
	}
	x.sections = append(x.sections, section{name: name, offset: x.offset})
}

func (x *Writer) end() {
	if n := len(x.sections); n > 0 {
		x.sections[n-1].size = x.offset - x.sections[n-1].offset
	}
}

// Write adds bytes to the section.
func (x *Writer) Write(p []byte) (int, error) {
	x.put(p)
	return len(p), x.err
}

// Close writes the table. The writer below stays open.
func (x *Writer) Close() error {
	x.end()
	var table []byte
	for _, s := range x.sections {
		table = append(append(table, byte(len(s.name))), s.name...)
		table = binary.LittleEndian.AppendUint64(table, uint64(s.offset))
		table = binary.LittleEndian.AppendUint64(table, uint64(s.size))
	}
	at := x.offset
	x.put(table)
	trailer := binary.LittleEndian.AppendUint64(nil, uint64(at))
	trailer = binary.LittleEndian.AppendUint32(trailer, uint32(len(table)))
	x.put(append(trailer, trailerMagic...))
	if x.err != nil {
		return fmt.Errorf("write index: %w", x.err)
	}
	if err := x.out.Flush(); err != nil {
		return fmt.Errorf("write index: %w", err)
	}
	return nil
}

// File is an index that was opened.
type File struct {
	Kind    string
	Version uint32
	Size    int64
	from    io.ReaderAt
	table   map[string]section
}

// Open reads the header and the table of an index of size bytes. An error means that the
// bytes are not an index, or that reading failed.
func Open(r io.ReaderAt, size int64) (*File, error) {
	head := make([]byte, min(size, 300))
	if _, err := r.ReadAt(head, 0); err != nil && err != io.EOF {
		return nil, fmt.Errorf("read index: %w", err)
	}
	if !bytes.HasPrefix(head, []byte(containerMagic)) || len(head) < 9 || len(head) < 9+int(head[8])+4 || size < trailerSize {
		return nil, fmt.Errorf("not an index of symbols")
	}
	f := &File{from: r, Size: size, table: map[string]section{}}
	f.Kind = string(head[9 : 9+int(head[8])])
	f.Version = binary.LittleEndian.Uint32(head[9+int(head[8]):])
	trailer := make([]byte, trailerSize)
	if _, err := r.ReadAt(trailer, size-trailerSize); err != nil && err != io.EOF {
		return nil, fmt.Errorf("read index: %w", err)
	}
	at, n := binary.LittleEndian.Uint64(trailer), binary.LittleEndian.Uint32(trailer[8:])
	if string(trailer[12:]) != trailerMagic || n > maxTable || at > uint64(size) || int64(at)+int64(n) > size-trailerSize {
		return nil, fmt.Errorf("the index of symbols is cut off")
	}
	table := make([]byte, n)
	if _, err := r.ReadAt(table, int64(at)); err != nil && err != io.EOF {
		return nil, fmt.Errorf("read index: %w", err)
	}
	return f, f.readTable(table, int64(at))
}

func (f *File) readTable(table []byte, end int64) error {
	for len(table) > 0 {
		n := int(table[0])
		if len(table) < 1+n+16 {
			return fmt.Errorf("the table of an index is cut off")
		}
		s := section{name: string(table[1 : 1+n]), offset: int64(binary.LittleEndian.Uint64(table[1+n:])),
			size: int64(binary.LittleEndian.Uint64(table[9+n:]))}
		if s.offset < 0 || s.size < 0 || s.offset > end || s.size > end-s.offset {
			return fmt.Errorf("section %q lies outside of its index", s.name)
		}
		f.table[s.name] = s
		table = table[1+n+16:]
	}
	return nil
}

// Section returns a section; an empty one when there is none of the name.
func (f *File) Section(name string) *io.SectionReader {
	s := f.table[name]
	return io.NewSectionReader(f.from, s.offset, s.size)
}

// ReadSection reads a section of at most limit bytes; nil when there is none.
func (f *File) ReadSection(name string, limit int64) ([]byte, error) {
	s, ok := f.table[name]
	if !ok {
		return nil, nil
	}
	if s.size > limit {
		return nil, fmt.Errorf("section %q has %d bytes, more than %d", name, s.size, limit)
	}
	p := make([]byte, s.size)
	n, err := f.from.ReadAt(p, s.offset)
	if int64(n) < s.size {
		return nil, fmt.Errorf("read section %q: %w", name, err)
	}
	return p, nil
}

// Sections lists the names of the sections, sorted.
func (f *File) Sections() []string {
	names := make([]string, 0, len(f.table))
	for n := range f.table {
		names = append(names, n)
	}
	sort.Strings(names)
	return names
}
