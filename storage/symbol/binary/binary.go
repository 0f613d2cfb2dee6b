// Package binary reads the containers of native code: ELF, Mach-O and PE.
//
// Open reads the headers of a file and says what it is: its architecture, its
// identifiers, the address it is linked at, and its sections, under one spelling
// for all containers and decompressed where they are compressed. What the sections
// hold is read by others (dwarf, unwind); Symbols reports the symbol tables.
//
// The standard library's debug/elf, debug/macho and debug/pe trust counts and sizes
// of the file and load whole tables; here each count and size is checked against the
// file before memory is taken for it, and tables are read in pieces.
//
// A file that is none of the containers, or that lies about itself, is a
// *symbol.InvalidError; other errors come from the reader.
package binary

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/slipway-qa/slipway/storage/symbol"
)

// Type says what a file is for.
type Type string

// The types of files.
const (
	Executable Type = "executable"
	Library    Type = "library"
	Object     Type = "object" // not linked; also .dwo and .dwp files
	Debug      Type = "debug"  // debug information alone: a dSYM, a .debug file
	Core       Type = "core"
	Other      Type = "other"
)

// File is a container, or a slice of a fat Mach-O. It is for one goroutine.
type File struct {
	Kind symbol.Kind
	Type Type
	// Arch is x86, x86_64, arm or arm64; others as their container calls them.
	Arch string
	// Order is the byte order; Wide means 64-bit.
	Order binary.ByteOrder
	Wide  bool
	// Base is the address that addresses of the index are relative to: see package native.
	Base uint64
	// DebugID, CodeID and BuildID are normalized; "" where the file has none.
	DebugID, CodeID, BuildID string
	// DebugFile is the name of the PDB that a PE names, without its folders.
	DebugFile string
	// DebugLink is .gnu_debuglink, AltLink .gnu_debugaltlink (the file that dwz made).
	DebugLink *DebugLink
	AltLink   *AltLink
	// Offset is where a slice begins in its fat file.
	Offset int64
	// Temporary returns a file for a section that is decompressed and larger than
	// maxInMemory. Without it such a section is too large.
	Temporary func() (Temporary, error)

	view         view
	sections     []Section
	names        map[string]int
	decompressed map[int]content
	symbols      []symbolTable
	exports      exportTable
	embedded     [2]uint64 // where the portable PDB of an assembly is, and its size
	near         int       // the section that Bytes found last
}

// DebugLink names the file with the debug information, and its CRC-32.
type DebugLink struct {
	Name string
	CRC  uint32
}

// AltLink names the file with shared debug information, and its build id.
type AltLink struct{ Name, BuildID string }

// Temporary is a file that vanishes when it is closed.
type Temporary interface {
	io.Writer
	io.ReaderAt
	io.Closer
}

// Section describes a section of a file.
type Section struct {
	// Name as the file has it: .debug_info, __debug_info.
	Name string
	// Segment is the segment of a Mach-O section.
	Segment string
	// Address as the file is linked, and the size there.
	Address, Size uint64
	// Code means that it is executed.
	Code bool

	offset, stored uint64 // in the file
	compression    compression
}

// Open reads the headers of an ELF, Mach-O or PE file of size bytes. A fat Mach-O is
// opened when it has one slice; use OpenAll for others.
func Open(r io.ReaderAt, size int64) (*File, error) {
	files, err := OpenAll(r, size)
	if err != nil {
		return nil, err
	}
	if len(files) != 1 {
		return nil, symbol.Invalid(symbol.Unsupported, "the file is a fat Mach-O with %d slices", len(files))
	}
	return files[0], nil
}

// OpenAll is Open for each slice of a fat Mach-O; other files are one slice.
func OpenAll(r io.ReaderAt, size int64) ([]*File, error) {
	v := view{r: r, size: size}
	magic, err := v.read(0, 4, "the magic number")
	if err != nil {
		return nil, err
	}
	read := readerOf(magic)
	switch {
	case read != nil:
		f, err := open(v, 0, read)
		if err != nil {
			return nil, err
		}
		return []*File{f}, nil
	case string(magic) == fatMagic || string(magic) == fatMagic64:
		return openFat(v, string(magic) == fatMagic64)
	}
	return nil, symbol.Invalid(symbol.Unsupported, "the file is neither ELF nor Mach-O nor PE: it begins with %x", magic)
}

// readerOf returns the reader of a container by its first bytes; nil for none.
func readerOf(magic []byte) func(*File) error {
	switch {
	case string(magic) == "\x7fELF":
		return readELF
	case string(magic[:2]) == "MZ":
		return readPE
	case machOrder(magic) != nil:
		return readMachO
	}
	return nil
}

func open(v view, offset int64, read func(*File) error) (*File, error) {
	f := &File{view: v, Offset: offset, names: map[string]int{}, decompressed: map[int]content{}}
	if err := read(f); err != nil {
		return nil, err
	}
	return f, nil
}

// add adds a section; of equal names the first with content is the one found by name.
func (f *File) add(s Section) {
	f.sections = append(f.sections, s)
	if i, ok := f.names[s.Name]; !ok || (f.sections[i].stored == 0 && s.stored > 0) {
		f.names[s.Name] = len(f.sections) - 1
	}
}

// Sections lists the sections in the order of the file.
func (f *File) Sections() []Section { return f.sections }

// Header returns the description of a section by its name in ELF's spelling
// (.debug_info), whatever the container's; false when the file has none of it.
func (f *File) Header(name string) (Section, bool) {
	i, ok := f.find(name)
	if !ok {
		return Section{}, false
	}
	return f.sections[i], true
}

// find returns the section of a name: as given, as Mach-O writes it (two underscores
// and at most 16 bytes), and compressed as GNU's tools once did (.zdebug_info).
func (f *File) find(name string) (int, bool) {
	spellings := []string{name}
	if plain, ok := strings.CutPrefix(name, "."); ok {
		if f.Kind == symbol.MachO {
			spellings = append(spellings, cut("__"+plain, machNameSize), cut("__z"+plain, machNameSize))
		}
		spellings = append(spellings, ".z"+plain)
		if f.Kind == symbol.PE && name == ".eh_frame" { // a linker that keeps no long names cuts it
			spellings = append(spellings, cut(name, peNameSize))
		}
	}
	for _, s := range spellings {
		if i, ok := f.names[s]; ok {
			return i, true
		}
	}
	return 0, false
}

func cut(text string, n int) string { return text[:min(len(text), n)] }

// Section returns the content of a section, decompressed, and its size, by its name in
// ELF's spelling. One that the file lacks, or that has no bytes in it, has size 0.
func (f *File) Section(name string) (io.ReaderAt, int64, error) {
	i, ok := f.find(name)
	if !ok || f.sections[i].stored == 0 {
		return strings.NewReader(""), 0, nil
	}
	s := f.sections[i]
	if s.compression != (compression{}) {
		c, err := f.decompress(i)
		return c.r, c.size, err
	}
	if s.offset > uint64(f.view.size) || s.stored > uint64(f.view.size)-s.offset {
		return nil, 0, symbol.Invalid(symbol.Truncated, "section %s (at %#x, %d bytes) lies beyond the end of the file (%d bytes)",
			s.Name, s.offset, s.stored, f.view.size)
	}
	return io.NewSectionReader(f.view.r, int64(s.offset), int64(s.stored)), int64(s.stored), nil
}

// small returns the content of a section that has at most limit bytes; nil when it is
// missing or longer.
func (f *File) small(name string, limit int64) ([]byte, error) {
	r, size, err := f.Section(name)
	if err != nil || size == 0 || size > limit {
		return nil, err
	}
	return view{r: r, size: size}.read(0, int(size), "section "+name)
}

// Bytes returns up to n bytes at an address as the file is linked: less at the end of a
// section, none where no section has bytes, or has compressed ones.
func (f *File) Bytes(address uint64, n int) ([]byte, error) {
	if f.near >= len(f.sections) || address-f.sections[f.near].Address >= f.sections[f.near].stored {
		f.near = slices.IndexFunc(f.sections, func(s Section) bool {
			return s.Address != 0 && address-s.Address < s.stored && s.compression == (compression{}) // at 0: not loaded
		})
	}
	if f.near < 0 {
		f.near = 0
		return nil, nil
	}
	s := f.sections[f.near]
	if s.compression != (compression{}) {
		return nil, nil
	}
	at := address - s.Address
	return f.view.read(s.offset+at, int(min(uint64(n), s.stored-at)), "section "+s.Name)
}

// HasDebug reports whether the file has DWARF.
func (f *File) HasDebug() bool {
	for _, name := range []string{".debug_info", ".debug_info.dwo", ".debug_line"} {
		if s, ok := f.Header(name); ok && s.stored > 0 {
			return true
		}
	}
	return false
}

// HasCode reports whether the file has machine code: files of debug information alone have
// the sections of it without their bytes.
func (f *File) HasCode() bool {
	for i := range f.sections {
		if f.sections[i].Code && f.sections[i].stored > 0 {
			return true
		}
	}
	return false
}

// Close closes the temporary files.
func (f *File) Close() error {
	var errs []error
	for i, c := range f.decompressed {
		if c.file != nil {
			errs = append(errs, c.file.Close())
		}
		delete(f.decompressed, i)
	}
	return errors.Join(errs...)
}

// view is a range of bytes, read with bounds.
type view struct {
	r    io.ReaderAt
	size int64
}

// read returns n bytes at an offset; what names them in the error.
func (v view) read(offset uint64, n int, what string) ([]byte, error) {
	if offset > uint64(v.size) || uint64(n) > uint64(v.size)-offset {
		return nil, symbol.Invalid(symbol.Truncated, "%s (at %#x, %d bytes) lies beyond the end of the file (%d bytes)", what, offset, n, v.size)
	}
	p := make([]byte, n)
	if got, err := v.r.ReadAt(p, int64(offset)); got < n {
		if errors.Is(err, io.EOF) || err == nil {
			return nil, symbol.Invalid(symbol.Truncated, "%s (at %#x, %d bytes): the file ends after %d", what, offset, n, got)
		}
		return nil, fmt.Errorf("read %s: %w", what, err)
	}
	return p, nil
}

// slice returns the range of n bytes at an offset.
func (v view) slice(offset, n uint64, what string) (view, error) {
	if offset > uint64(v.size) || n > uint64(v.size)-offset {
		return view{}, symbol.Invalid(symbol.Truncated, "%s (at %#x, %d bytes) lies beyond the end of the file (%d bytes)",
			what, offset, n, v.size)
	}
	return view{r: io.NewSectionReader(v.r, int64(offset), int64(n)), size: int64(n)}, nil
}
