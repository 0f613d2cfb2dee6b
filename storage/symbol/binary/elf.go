package binary

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/slipway-qa/slipway/storage/symbol"
)

// The System V ABI: https://refspecs.linuxfoundation.org/elf/gabi4+/contents.html
const (
	elfProgramLoad   = 1
	elfProgramInterp = 3
	elfProgramNote   = 4

	elfSymtab  = 2
	elfStrtab  = 3
	elfNote    = 7
	elfNoBits  = 8
	elfDynsym  = 11
	elfExec    = 0x4
	elfPacked  = 0x800 // SHF_COMPRESSED
	elfBuildID = 3     // NT_GNU_BUILD_ID

	// maxSections is above what -ffunction-sections makes of the largest objects.
	maxSections = 1 << 18
	// maxSectionNames bounds the table of section names, which is held in memory.
	maxSectionNames = 32 << 20
	// maxNotes bounds the notes of one section that are looked at; a core has more.
	maxNotes = 64 << 10
	// pageSize is what a linker's base is rounded down to.
	pageSize = 4096
	// hashedText is how much of .text Breakpad hashes for a file without build id.
	hashedText = 4096
)

var elfArchs = map[uint16]string{
	2: "sparc", 3: "x86", 8: "mips", 20: "ppc", 21: "ppc64", 22: "s390x", 40: "arm", 43: "sparcv9", 62: "x86_64",
	183: "arm64", 243: "riscv", 247: "bpf", 258: "loongarch",
}

// elfHeader is the file header; sizes of 32-bit files are widened.
type elfHeader struct {
	kind, machine             uint16
	programs, sections        uint64
	programSize, sectionSize  int
	programCount, sectionMany uint32
	names                     uint32
}

type elfSection struct {
	name, kind            uint32
	flags                 uint64
	address, offset, size uint64
	link                  uint32
}

// elf reads the container of that name into a File.
type elf struct{ *File }

func readELF(to *File) error {
	f := elf{to}
	f.Kind = symbol.ELF
	h, err := f.readHeader()
	if err != nil {
		return err
	}
	f.Arch = elfArchs[h.machine]
	if f.Arch == "" {
		f.Arch = fmt.Sprintf("elf-%d", h.machine)
	}
	if h.machine == 8 && f.Wide || h.machine == 243 || h.machine == 258 {
		f.Arch += map[bool]string{true: "64", false: "32"}[f.Wide]
	}
	sections, err := f.readSections(&h)
	if err != nil {
		return err
	}
	interpreted, id, err := f.readPrograms(h)
	if err != nil {
		return err
	}
	f.setType(h.kind, interpreted)
	if err := f.findSymbols(sections); err != nil {
		return err
	}
	return f.identify(sections, id)
}

func (f elf) readHeader() (elfHeader, error) {
	var h elfHeader
	head, err := f.view.read(0, 52, "the ELF header")
	if err != nil {
		return h, err
	}
	switch head[4] {
	case 1:
	case 2:
		f.Wide = true
	default:
		return h, symbol.Invalid(symbol.Malformed, "the ELF class is %d, neither 1 (32-bit) nor 2 (64-bit)", head[4])
	}
	switch head[5] {
	case 1:
		f.Order = binary.LittleEndian
	case 2:
		f.Order = binary.BigEndian
	default:
		return h, symbol.Invalid(symbol.Malformed, "the ELF byte order is %d, neither 1 nor 2", head[5])
	}
	if f.Wide {
		if head, err = f.view.read(0, 64, "the ELF header"); err != nil {
			return h, err
		}
	}
	o := f.Order
	h.kind, h.machine = o.Uint16(head[16:]), o.Uint16(head[18:])
	counts := head[42:]
	if f.Wide {
		h.programs, h.sections = o.Uint64(head[32:]), o.Uint64(head[40:])
		counts = head[54:]
	} else {
		h.programs, h.sections = uint64(o.Uint32(head[28:])), uint64(o.Uint32(head[32:]))
	}
	h.programSize, h.programCount = int(o.Uint16(counts)), uint32(o.Uint16(counts[2:]))
	h.sectionSize, h.sectionMany = int(o.Uint16(counts[4:])), uint32(o.Uint16(counts[6:]))
	h.names = uint32(o.Uint16(counts[8:]))
	return h, nil
}

// readSections reads the section headers and adds the sections. Counts that do not fit into
// the header stand in the first section.
func (f elf) readSections(h *elfHeader) ([]elfSection, error) {
	least := 40
	if f.Wide {
		least = 64
	}
	if h.sections == 0 {
		return nil, nil
	}
	if h.sectionSize < least {
		return nil, symbol.Invalid(symbol.Malformed, "the ELF section headers have %d bytes each, less than %d", h.sectionSize, least)
	}
	first, err := f.view.read(h.sections, h.sectionSize, "the first ELF section header")
	if err != nil {
		return nil, err
	}
	zero := f.section(first)
	count := uint64(h.sectionMany)
	if count == 0 {
		count = zero.size
	}
	if h.names == 0xffff {
		h.names = zero.link
	}
	if h.programCount == 0xffff {
		h.programCount = f.extended(first)
	}
	if count > maxSections {
		return nil, symbol.Invalid(symbol.TooLarge, "the ELF file states %d sections; %d are read at most", count, maxSections)
	}
	all, err := f.view.read(h.sections, int(count)*h.sectionSize, fmt.Sprintf("the table of %d ELF section headers", count))
	if err != nil {
		return nil, err
	}
	sections := make([]elfSection, count)
	for i := range sections {
		sections[i] = f.section(all[i*h.sectionSize:])
	}
	return sections, f.readNames(sections, h.names)
}

func (f elf) section(p []byte) elfSection {
	o := f.Order
	s := elfSection{name: o.Uint32(p), kind: o.Uint32(p[4:])}
	if f.Wide {
		s.flags, s.address, s.offset, s.size = o.Uint64(p[8:]), o.Uint64(p[16:]), o.Uint64(p[24:]), o.Uint64(p[32:])
		s.link = o.Uint32(p[40:])
		return s
	}
	s.flags, s.address = uint64(o.Uint32(p[8:])), uint64(o.Uint32(p[12:]))
	s.offset, s.size, s.link = uint64(o.Uint32(p[16:])), uint64(o.Uint32(p[20:])), o.Uint32(p[24:])
	return s
}

// extended returns sh_info, which holds a count of program headers over 65,534.
func (f elf) extended(first []byte) uint32 {
	if f.Wide {
		return f.Order.Uint32(first[44:])
	}
	return f.Order.Uint32(first[28:])
}

func (f elf) readNames(sections []elfSection, index uint32) error {
	var names string // the names of sections share its memory
	if int64(index) < int64(len(sections)) && index != 0 {
		s := sections[index]
		if s.size > maxSectionNames {
			return symbol.Invalid(symbol.TooLarge, "the table of ELF section names has %d bytes; %d are read at most", s.size, maxSectionNames)
		}
		table, err := f.view.read(s.offset, int(s.size), "the table of ELF section names")
		if err != nil {
			return err
		}
		names = string(table)
	}
	for i, s := range sections {
		section := Section{Name: textAt(names, s.name), Address: s.address, Size: s.size, offset: s.offset, stored: s.size,
			Code: s.flags&elfExec != 0}
		if s.kind == elfNoBits || i == 0 {
			section.stored = 0
		}
		switch {
		case section.stored == 0:
		case s.flags&elfPacked != 0:
			if err := f.compression(&section); err != nil {
				return err
			}
		case strings.HasPrefix(section.Name, ".zdebug_"):
			if err := f.gnuCompression(&section); err != nil {
				return err
			}
		}
		f.add(section)
	}
	return nil
}

// maxSectionName bounds one name: the names of a table may overlap.
const maxSectionName = 1024

func textAt(table string, offset uint32) string {
	if int64(offset) >= int64(len(table)) {
		return ""
	}
	p, _, _ := strings.Cut(table[offset:min(len(table), int(offset)+maxSectionName)], "\x00")
	return p
}

// compression reads the Elf32_Chdr or Elf64_Chdr of a section.
func (f elf) compression(s *Section) error {
	n := 12
	if f.Wide {
		n = 24
	}
	if s.stored < uint64(n) {
		return symbol.Invalid(symbol.Truncated, "section %s has %d bytes, too few for its compression header", s.Name, s.stored)
	}
	p, err := f.view.read(s.offset, n, "the compression header of section "+s.Name)
	if err != nil {
		return err
	}
	c := compression{header: uint64(n), size: uint64(f.Order.Uint32(p[4:]))}
	if f.Wide {
		c.size = f.Order.Uint64(p[8:])
	}
	switch f.Order.Uint32(p) {
	case 1:
		c.algorithm = withZlib
	case 2:
		c.algorithm = withZstd
	default:
		return symbol.Invalid(symbol.Unsupported, "section %s is compressed by method %d; 1 (zlib) and 2 (zstd) are read",
			s.Name, f.Order.Uint32(p))
	}
	s.compression = c
	return nil
}

// readPrograms finds the base, the interpreter and a build id in the program headers.
func (f elf) readPrograms(h elfHeader) (interpreted bool, id []byte, err error) {
	least := 32
	if f.Wide {
		least = 56
	}
	if h.programs == 0 || h.programCount == 0 {
		return false, nil, nil
	}
	if h.programSize < least || h.programCount > maxSections {
		return false, nil, symbol.Invalid(symbol.Malformed, "the ELF file states %d program headers of %d bytes each",
			h.programCount, h.programSize)
	}
	all, err := f.view.read(h.programs, int(h.programCount)*h.programSize, "the ELF program headers")
	if err != nil {
		return false, nil, err
	}
	loaded := false
	for i := range int(h.programCount) {
		p := all[i*h.programSize:]
		offset, address, size := f.program(p)
		switch f.Order.Uint32(p) {
		case elfProgramLoad:
			if !loaded || address < f.Base {
				f.Base, loaded = address, true
			}
		case elfProgramInterp:
			interpreted = true
		case elfProgramNote:
			if id == nil && h.kind != 4 {
				id = f.noteOf(offset, size)
			}
		}
	}
	f.Base &^= pageSize - 1
	return interpreted, id, nil
}

func (f elf) program(p []byte) (offset, address, size uint64) {
	if f.Wide {
		return f.Order.Uint64(p[8:]), f.Order.Uint64(p[16:]), f.Order.Uint64(p[32:])
	}
	return uint64(f.Order.Uint32(p[4:])), uint64(f.Order.Uint32(p[8:])), uint64(f.Order.Uint32(p[16:]))
}

// noteOf returns the build id of a range of notes; nil if it has none, or if the range
// is not in the file, as in debug files, which keep the program headers of their program.
func (f elf) noteOf(offset, size uint64) []byte {
	if offset > uint64(f.view.size) || size > uint64(f.view.size)-offset {
		return nil
	}
	p, err := f.view.read(offset, int(min(size, maxNotes)), "the ELF notes")
	if err != nil {
		return nil
	}
	for len(p) >= 12 {
		name, description, kind := uint64(f.Order.Uint32(p)), uint64(f.Order.Uint32(p[4:])), f.Order.Uint32(p[8:])
		end := 12 + (name+3)&^3
		if end+description > uint64(len(p)) {
			return nil
		}
		if kind == elfBuildID && bytes.Equal(p[12:12+name], []byte("GNU\x00")) && description > 0 {
			return p[end : end+description]
		}
		p = p[min(uint64(len(p)), end+(description+3)&^3):]
	}
	return nil
}

// setType tells a program from a library, and a file with debug information alone by its
// code, which has addresses and no bytes.
func (f elf) setType(kind uint16, interpreted bool) {
	f.Type = map[uint16]Type{1: Object, 2: Executable, 3: Library, 4: Core}[kind]
	if f.Type == "" {
		f.Type = Other
	}
	if kind == 3 && interpreted {
		f.Type = Executable
	}
	code, stored := false, false
	for _, s := range f.sections {
		code = code || s.Code && s.Size > 0
		stored = stored || s.Code && s.stored > 0
	}
	if code && !stored && f.Type != Core {
		f.Type = Debug
	}
}

func (f elf) identify(sections []elfSection, id []byte) error {
	for _, s := range sections {
		if id == nil && s.kind == elfNote && f.Type != Core {
			id = f.noteOf(s.offset, s.size)
		}
	}
	if id != nil {
		f.BuildID = normal(symbol.BuildID, hex.EncodeToString(id))
		f.CodeID = f.BuildID
		f.DebugID = f.debugIDOf(id)
	} else if f.Type == Executable || f.Type == Library {
		if err := f.hashText(); err != nil {
			return err
		}
	}
	return f.readLinks()
}

// readLinks reads the names of other files with debug information.
func (f elf) readLinks() error {
	p, err := f.small(".gnu_debuglink", 8<<10)
	if err != nil {
		return err
	}
	if end := bytes.IndexByte(p, 0); end > 0 {
		if at := (end + 4) &^ 3; at+4 <= len(p) {
			f.DebugLink = &DebugLink{Name: string(p[:end]), CRC: f.Order.Uint32(p[at:])}
		}
	}
	if p, err = f.small(".gnu_debugaltlink", 8<<10); err != nil {
		return err
	}
	if end := bytes.IndexByte(p, 0); end > 0 {
		f.AltLink = &AltLink{Name: string(p[:end]), BuildID: hex.EncodeToString(p[end+1:])}
	}
	return nil
}
