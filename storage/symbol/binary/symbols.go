package binary

import (
	"encoding/binary"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/slipway-qa/slipway/storage/symbol"
	"github.com/slipway-qa/slipway/storage/symbol/native"
)

const (
	// maxSymbols bounds the symbols that are looked at: 256 times those of a browser.
	maxSymbols = 1 << 28
	// maxSorted bounds the addresses that are sorted in memory (128 MiB) to find how long a
	// symbol without size is; with more of them such symbols stay without size.
	maxSorted = 16 << 20
	// symbolsInPiece is how many entries of a table are read in one piece.
	symbolsInPiece = 8 << 10
	// maxExports bounds the export table: ordinals have 16 bits.
	maxExports = 1 << 16
)

// symbolTable is a table of symbols of one size each, with its table of names.
type symbolTable struct {
	offset, count   uint64
	each            int
	texts, textSize uint64
}

// exportTable is where a PE's exported names are, relative to its base.
type exportTable struct{ address, size uint32 }

// entry is a symbol of code before its name is read.
type entry struct {
	address, size uint64
	end           uint64 // of its section
	name          uint64 // offset in the table of names
	short         string // the name where it is in the entry itself
	data          bool   // an object in a section of code: a section of Dart's, or nothing of use
}

// Symbols reports the functions of the symbol tables to the sink, with addresses relative
// to the base, and returns how many. A symbol without a size goes to the next one, at
// most to the end of its section. Symbols that other tables repeat are reported again.
func (f *File) Symbols(sink native.Sink) (int, error) {
	starts, err := f.symbolStarts()
	if err != nil {
		return 0, err
	}
	count := 0
	report := func(e entry, name string) error {
		name = f.plainName(name)
		if name == "" || e.address < f.Base {
			return nil
		}
		section, err := reportSection(sink, name, e.address-f.Base)
		if err != nil || e.data && !section {
			return err
		}
		count++
		return sink.Public(native.Public{Address: e.address - f.Base, Size: sizeOf(e, starts), Name: name})
	}
	for _, t := range f.symbols {
		texts, err := f.view.slice(t.texts, t.textSize, "the table of symbol names")
		if err != nil {
			return count, err
		}
		names := newStringTable(texts)
		err = f.entries(t, func(e entry) error {
			if e.short != "" {
				return report(e, e.short)
			}
			name, err := names.at(e.name)
			if err != nil {
				return err
			}
			return report(e, name)
		})
		if err != nil {
			return count, err
		}
	}
	return count, pe{f}.eachExport(report)
}

// reportSection reports where a section of Dart's code begins: its stack traces have offsets in it.
// False: the name is none of these.
func reportSection(sink native.Sink, name string, start uint64) (bool, error) {
	at, ok := native.SectionAddress(name)
	if !ok {
		return false, nil
	}
	return true, sink.Public(native.Public{Address: at, Size: 1, Name: native.SectionStart(start)})
}

// sizeOf returns the size of a symbol: its own, else up to the next start or the section's end.
func sizeOf(e entry, starts []uint64) uint64 {
	if e.size != 0 || len(starts) == 0 {
		return e.size
	}
	i, _ := slices.BinarySearch(starts, e.address+1)
	end := e.end
	if i < len(starts) && (starts[i] < end || end == 0) {
		end = starts[i]
	}
	if end <= e.address {
		return 0
	}
	return end - e.address
}

// symbolStarts returns the sorted addresses of all symbols.
func (f *File) symbolStarts() ([]uint64, error) {
	var starts []uint64
	many := false
	add := func(e entry) error {
		many = many || len(starts) >= maxSorted
		if !many && !e.data {
			starts = append(starts, e.address)
		}
		return nil
	}
	exports := pe{f}
	for _, t := range f.symbols {
		if err := f.entries(t, add); err != nil {
			return nil, err
		}
	}
	if err := exports.eachExport(func(e entry, _ string) error { return add(e) }); err != nil || many {
		return nil, err
	}
	slices.Sort(starts)
	return slices.Compact(starts), nil
}

// plainName removes what a container adds to a name: the underscore of Mach-O and of x86
// PEs, and the version of an ELF symbol (memcpy@@GLIBC_2.14).
func (f *File) plainName(name string) string {
	switch f.Kind {
	case symbol.MachO:
		return strings.TrimPrefix(name, "_")
	case symbol.PE:
		if f.Arch == "x86" {
			return strings.TrimPrefix(name, "_")
		}
	case symbol.ELF:
		if at := strings.IndexByte(name, '@'); at > 0 {
			return name[:at]
		}
	}
	return name
}

// entries calls take for each symbol of code of a table.
func (f *File) entries(t symbolTable, take func(entry) error) error {
	if t.count > maxSymbols {
		return symbol.Invalid(symbol.TooLarge, "a symbol table has %d symbols; %d are read at most", t.count, maxSymbols)
	}
	part, err := f.view.slice(t.offset, t.count*uint64(t.each), fmt.Sprintf("a symbol table of %d symbols", t.count))
	if err != nil {
		return err
	}
	decode := map[symbol.Kind]func([]byte) (entry, bool, int){symbol.ELF: elf{f}.entry, symbol.MachO: macho{f}.entry,
		symbol.PE: pe{f}.entry}[f.Kind]
	buffer := make([]byte, t.each*int(min(t.count, symbolsInPiece)))
	skip := 0 // entries that belong to the one before
	for at := uint64(0); at < t.count; {
		n := min(t.count-at, symbolsInPiece)
		p := buffer[:n*uint64(t.each)]
		if _, err := io.ReadFull(io.NewSectionReader(part.r, int64(at)*int64(t.each), int64(len(p))), p); err != nil {
			return fmt.Errorf("read symbols: %w", err)
		}
		for ; len(p) > 0; p = p[t.each:] {
			if skip > 0 {
				skip--
				continue
			}
			e, ok, more := decode(p[:t.each])
			skip = more
			if !ok {
				continue
			}
			if err := take(e); err != nil {
				return err
			}
		}
		at += n
	}
	return nil
}

// findSymbols notes the tables: .symtab, and .dynsym where there is no .symtab, which has
// the same and more.
func (f elf) findSymbols(sections []elfSection) error {
	each := 16
	if f.Wide {
		each = 24
	}
	for _, kind := range []uint32{elfSymtab, elfDynsym} {
		for _, s := range sections {
			if s.kind != kind || s.size == 0 || int64(s.link) >= int64(len(sections)) || sections[s.link].kind != elfStrtab {
				continue
			}
			texts := sections[s.link]
			f.symbols = append(f.symbols, symbolTable{
				offset: s.offset, count: s.size / uint64(each), each: each, texts: texts.offset, textSize: texts.size,
			})
			return nil
		}
	}
	return nil
}

// entry takes functions, and labels without type in code, as assembly has them.
func (f elf) entry(p []byte) (e entry, ok bool, more int) {
	o := f.Order
	e.name = uint64(o.Uint32(p))
	var info byte
	var section uint16
	if f.Wide {
		info, section = p[4], o.Uint16(p[6:])
		e.address, e.size = o.Uint64(p[8:]), o.Uint64(p[16:])
	} else {
		e.address, e.size = uint64(o.Uint32(p[4:])), uint64(o.Uint32(p[8:]))
		info, section = p[12], o.Uint16(p[14:])
	}
	if e.name == 0 || section == 0 || section == 0xfff1 || section == 0xfff2 { // undefined, absolute, common
		return e, false, 0
	}
	inside := int(section) < len(f.sections)
	if inside {
		e.end = f.sections[section].Address + f.sections[section].Size
	}
	kind := info & 0xf
	switch {
	case kind == 2, kind == 10: // STT_FUNC, STT_GNU_IFUNC
	case kind == 1 && inside && f.sections[section].Code: // STT_OBJECT, as Dart's compiler calls its sections
		e.data = true
	case kind == 0 && inside && f.sections[section].Code && e.address != 0:
		if f.Arch == "arm" || f.Arch == "arm64" || strings.HasPrefix(f.Arch, "riscv") {
			return e, info>>4 != 0, 0 // a local one is a mapping symbol ($x, $d)
		}
	default:
		return e, false, 0
	}
	if f.Arch == "arm" && kind != 0 {
		e.address &^= 1 // Thumb
	}
	return e, true, 0
}

// entry takes symbols that are defined in a section of code; stabs are left.
func (f macho) entry(p []byte) (e entry, ok bool, more int) {
	o := f.Order
	e.name = uint64(o.Uint32(p))
	kind, section := p[4], int(p[5])
	if f.Wide {
		e.address = o.Uint64(p[8:])
	} else {
		e.address = uint64(o.Uint32(p[8:]))
	}
	const stab, typ, inSection = 0xe0, 0x0e, 0x0e
	if kind&stab != 0 || kind&typ != inSection || section == 0 || section > len(f.sections) || e.name == 0 {
		return e, false, 0
	}
	s := f.sections[section-1]
	e.end = s.Address + s.Size
	return e, s.Code, 0
}

// entry takes COFF symbols that are functions, and external ones in code.
func (f pe) entry(p []byte) (e entry, ok bool, more int) {
	section, kind, class := int(int16(binary.LittleEndian.Uint16(p[12:]))), binary.LittleEndian.Uint16(p[14:]), p[16]
	more = int(p[17])
	if section <= 0 || section > len(f.sections) || !f.sections[section-1].Code {
		return e, false, more
	}
	const external, static, function = 2, 3, 0x20
	if class != external && (class != static || kind&0x30 != function) {
		return e, false, more
	}
	s := f.sections[section-1]
	e.address, e.end = s.Address+uint64(binary.LittleEndian.Uint32(p[8:])), s.Address+s.Size
	if binary.LittleEndian.Uint32(p) == 0 {
		e.name = uint64(binary.LittleEndian.Uint32(p[4:]))
	} else {
		e.short = machText(append(p[:8:8], make([]byte, 8)...))
	}
	return e, true, more
}

// eachExport calls take for each named export of a PE that is code.
func (f pe) eachExport(take func(e entry, name string) error) error {
	if f.Kind != symbol.PE || f.exports.address == 0 || f.exports.size < 40 {
		return nil
	}
	at, ok := f.offsetOf(f.exports.address)
	if !ok {
		return nil
	}
	head, err := f.view.read(at, 40, "the PE export directory")
	if err != nil {
		return err
	}
	functions, names := binary.LittleEndian.Uint32(head[20:]), binary.LittleEndian.Uint32(head[24:])
	if functions > maxExports || names > maxExports {
		return symbol.Invalid(symbol.TooLarge, "the PE file states %d exports with %d names; %d are read at most", functions, names, maxExports)
	}
	addresses, err := f.table(binary.LittleEndian.Uint32(head[28:]), 4*int(functions))
	if err != nil {
		return err
	}
	texts, err := f.table(binary.LittleEndian.Uint32(head[32:]), 4*int(names))
	if err != nil {
		return err
	}
	ordinals, err := f.table(binary.LittleEndian.Uint32(head[36:]), 2*int(names))
	if err != nil {
		return err
	}
	whole := newStringTable(f.view)
	for i := range min(len(texts)/4, len(ordinals)/2) {
		ordinal := int(binary.LittleEndian.Uint16(ordinals[2*i:]))
		if ordinal >= len(addresses)/4 {
			continue
		}
		address := binary.LittleEndian.Uint32(addresses[4*ordinal:])
		end, code := f.codeAt(address)
		text, ok := f.offsetOf(binary.LittleEndian.Uint32(texts[4*i:]))
		if !code || !ok || address-f.exports.address < f.exports.size { // the last: forwarded to another library
			continue
		}
		name, err := whole.at(text)
		if err != nil {
			return err
		}
		if err := take(entry{address: f.Base + uint64(address), end: end}, name); err != nil {
			return err
		}
	}
	return nil
}

// table reads a table at a relative address; an absent one is empty.
func (f pe) table(address uint32, n int) ([]byte, error) {
	at, ok := f.offsetOf(address)
	if !ok || n == 0 {
		return nil, nil
	}
	return f.view.read(at, n, "a table of PE exports")
}

// codeAt returns the end of the section of code that has a relative address.
func (f pe) codeAt(address uint32) (end uint64, ok bool) {
	for _, s := range f.sections {
		if f.Base+uint64(address)-s.Address < s.Size {
			return s.Address + s.Size, s.Code
		}
	}
	return 0, false
}
