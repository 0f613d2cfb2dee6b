package binary

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"path"
	"strconv"
	"strings"

	"github.com/slipway-qa/slipway/storage/symbol"
)

// The format: https://learn.microsoft.com/windows/win32/debug/pe-format
const (
	peDirectories    = 16
	peExports        = 0
	peDebug          = 6
	peDirectorySize  = 8
	peSectionSize    = 40
	peNameSize       = 8
	peSymbolSize     = 18
	peCodeView       = 2
	peEmbeddedPDB    = 17
	peDebugEntrySize = 28

	// maxDebugEntries bounds the debug directory; linkers write less than ten entries.
	maxDebugEntries = 64
	// maxCodeView bounds the record that names the PDB: a GUID, the age and a path.
	maxCodeView = 4 << 10
	// maxPESections bounds the sections, which are searched in turn: Windows loads 96.
	maxPESections = 1024
	// maxStringTable bounds the offset of a long section name in its table.
	maxStringTable = 1 << 31
)

var peArchs = map[uint16]string{
	0x14c: "x86", 0x8664: "x86_64", 0x1c0: "arm", 0x1c2: "arm", 0x1c4: "arm", 0xaa64: "arm64", 0xa641: "arm64", 0x200: "ia64",
}

// peHeader is what the reading of a PE needs of its headers.
type peHeader struct {
	count           int
	stamp           uint32
	symbols, many   uint64
	flags           uint16
	image           uint64 // size in memory
	optional        int
	sections        uint64
	directories     [peDirectories][2]uint32
	headers         uint32
	strings, length uint64
}

// pe reads the container of that name into a File.
type pe struct{ *File }

func readPE(to *File) error {
	f := pe{to}
	f.Kind, f.Order = symbol.PE, binary.LittleEndian
	h, err := f.readHeader()
	if err != nil {
		return err
	}
	if err := f.readSections(&h); err != nil {
		return err
	}
	f.Type = Executable
	if h.flags&0x2000 != 0 {
		f.Type = Library
	}
	code, stored := false, false
	for _, s := range f.sections {
		code = code || s.Code && s.Size > 0
		stored = stored || s.Code && s.stored > 0
	}
	if code && !stored {
		f.Type = Debug
	}
	f.CodeID = normal(symbol.CodeID, fmt.Sprintf("%08X%x", h.stamp, h.image))
	if h.symbols != 0 && h.many != 0 {
		f.symbols = append(f.symbols, symbolTable{offset: h.symbols, count: h.many, each: peSymbolSize, texts: h.strings, textSize: h.length})
	}
	f.exports = exportTable{address: h.directories[peExports][0], size: h.directories[peExports][1]}
	return f.readDebug(h.directories[peDebug])
}

func (f pe) readHeader() (peHeader, error) {
	var h peHeader
	dos, err := f.view.read(0, 64, "the DOS header")
	if err != nil {
		return h, err
	}
	at := uint64(binary.LittleEndian.Uint32(dos[60:]))
	p, err := f.view.read(at, 24, "the PE header")
	if err != nil {
		return h, err
	}
	if string(p[:4]) != "PE\x00\x00" {
		return h, symbol.Invalid(symbol.Unsupported, "the file is a DOS program: no PE header at %#x", at)
	}
	machine := binary.LittleEndian.Uint16(p[4:])
	f.Arch = peArchs[machine]
	if f.Arch == "" {
		f.Arch = fmt.Sprintf("pe-%#x", machine)
	}
	h.count, h.stamp = int(binary.LittleEndian.Uint16(p[6:])), binary.LittleEndian.Uint32(p[8:])
	h.symbols, h.many = uint64(binary.LittleEndian.Uint32(p[12:])), uint64(binary.LittleEndian.Uint32(p[16:]))
	h.optional, h.flags = int(binary.LittleEndian.Uint16(p[20:])), binary.LittleEndian.Uint16(p[22:])
	h.sections = at + 24 + uint64(h.optional)
	optional, err := f.view.read(at+24, h.optional, "the PE optional header")
	if err != nil {
		return h, err
	}
	return h, f.readOptional(&h, optional)
}

func (f pe) readOptional(h *peHeader, p []byte) error {
	if len(p) < 96 {
		return symbol.Invalid(symbol.Truncated, "the PE optional header has %d bytes, less than 96", len(p))
	}
	var directories []byte
	var count uint32
	switch magic := binary.LittleEndian.Uint16(p); magic {
	case 0x10b:
		f.Base = uint64(binary.LittleEndian.Uint32(p[28:]))
		count, directories = binary.LittleEndian.Uint32(p[92:]), p[96:]
	case 0x20b:
		f.Wide = true
		if len(p) < 112 {
			return symbol.Invalid(symbol.Truncated, "the PE32+ optional header has %d bytes, less than 112", len(p))
		}
		f.Base = binary.LittleEndian.Uint64(p[24:])
		count, directories = binary.LittleEndian.Uint32(p[108:]), p[112:]
	default:
		return symbol.Invalid(symbol.Unsupported, "the PE optional header begins with %#x, neither 0x10b nor 0x20b", magic)
	}
	h.image, h.headers = uint64(binary.LittleEndian.Uint32(p[56:])), binary.LittleEndian.Uint32(p[60:])
	for i := range min(int(min(count, peDirectories)), len(directories)/peDirectorySize) {
		d := directories[i*peDirectorySize:]
		h.directories[i] = [2]uint32{binary.LittleEndian.Uint32(d), binary.LittleEndian.Uint32(d[4:])}
	}
	return nil
}

func (f pe) readSections(h *peHeader) error {
	if h.count > maxPESections {
		return symbol.Invalid(symbol.TooLarge, "the PE file states %d sections; %d are read at most", h.count, maxPESections)
	}
	all, err := f.view.read(h.sections, h.count*peSectionSize, "the PE section headers")
	if err != nil {
		return err
	}
	texts, err := f.strings(h)
	if err != nil {
		return err
	}
	for i := range h.count {
		p := all[i*peSectionSize:]
		s := Section{Name: machText(append(p[:8:8], make([]byte, 8)...))}
		if digits, ok := strings.CutPrefix(s.Name, "/"); ok && h.symbols != 0 {
			if s.Name, err = peLongName(texts, digits); err != nil {
				return err
			}
		}
		virtual, raw := uint64(binary.LittleEndian.Uint32(p[8:])), uint64(binary.LittleEndian.Uint32(p[16:]))
		s.Address = f.Base + uint64(binary.LittleEndian.Uint32(p[12:]))
		s.offset = uint64(binary.LittleEndian.Uint32(p[20:]))
		flags := binary.LittleEndian.Uint32(p[36:])
		s.Code = flags&0x20000020 != 0 // IMAGE_SCN_MEM_EXECUTE, IMAGE_SCN_CNT_CODE
		s.Size, s.stored = virtual, min(raw, virtual)
		if virtual == 0 {
			s.Size, s.stored = raw, raw
		}
		if s.offset == 0 || flags&0x80 != 0 && raw == 0 {
			s.stored = 0
		}
		if s.stored > 0 && strings.HasPrefix(s.Name, ".zdebug_") {
			if err := f.gnuCompression(&s); err != nil {
				return err
			}
		}
		f.add(s)
	}
	return nil
}

// strings finds the string table, which follows the symbols.
func (f pe) strings(h *peHeader) (*stringTable, error) {
	if h.symbols == 0 {
		return newStringTable(view{}), nil
	}
	at := h.symbols + h.many*peSymbolSize
	p, err := f.view.read(at, 4, "the size of the COFF string table")
	if err != nil {
		// Tools that strip a file leave such numbers behind; only the names are lost.
		h.symbols = 0
		return newStringTable(view{}), onlyReading(err)
	}
	h.strings, h.length = at, uint64(binary.LittleEndian.Uint32(p))
	part, err := f.view.slice(h.strings, min(h.length, uint64(f.view.size)-at), "the COFF string table")
	return newStringTable(part), err
}

// peLongName reads a section's name of the form /123, or //AAAAAA in base 64 (LLVM).
func peLongName(texts *stringTable, digits string) (string, error) {
	var at uint64
	if packed, ok := strings.CutPrefix(digits, "/"); ok {
		for _, c := range []byte(packed) {
			i := strings.IndexByte("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/", c)
			if i < 0 {
				return "/" + digits, nil
			}
			at = at<<6 | uint64(i)
		}
	} else {
		n, wrong := strconv.ParseUint(digits, 10, 32)
		if wrong != nil {
			return "/" + digits, nil // it only looks like a long name
		}
		at = n
	}
	if at > maxStringTable {
		return "/" + digits, nil
	}
	name, err := texts.at(at)
	if err != nil || name == "" {
		return "/" + digits, err
	}
	return cut(name, maxSectionName), nil
}

// readDebug reads the CodeView record of the debug directory.
func (f pe) readDebug(directory [2]uint32) error {
	if directory[0] == 0 || directory[1] < peDebugEntrySize {
		return nil
	}
	at, ok := f.offsetOf(directory[0])
	if !ok {
		return nil // in a section that a debug file has no bytes of
	}
	count := min(int(directory[1]/peDebugEntrySize), maxDebugEntries)
	all, err := f.view.read(at, count*peDebugEntrySize, "the PE debug directory")
	if err != nil {
		return err
	}
	for i := range count {
		p := all[i*peDebugEntrySize:]
		if binary.LittleEndian.Uint32(p[12:]) == peEmbeddedPDB {
			f.embedded = [2]uint64{uint64(binary.LittleEndian.Uint32(p[24:])), uint64(binary.LittleEndian.Uint32(p[16:]))}
		}
		if binary.LittleEndian.Uint32(p[12:]) != peCodeView || f.DebugID != "" {
			continue
		}
		size, offset := binary.LittleEndian.Uint32(p[16:]), uint64(binary.LittleEndian.Uint32(p[24:]))
		record, err := f.view.read(offset, int(min(size, maxCodeView)), "the CodeView record")
		if err != nil {
			return err
		}
		f.codeView(record)
	}
	return nil
}

// codeView reads an RSDS record. The older NB10 has no GUID, so no debug id.
func (f pe) codeView(p []byte) {
	if len(p) < 24 || string(p[:4]) != "RSDS" {
		return
	}
	f.DebugID = normal(symbol.DebugID, guidText([16]byte(p[4:20]))+strconv.FormatUint(uint64(binary.LittleEndian.Uint32(p[20:])), 16))
	name := p[24:]
	if end := bytes.IndexByte(name, 0); end >= 0 {
		name = name[:end]
	}
	if len(name) > 0 {
		f.DebugFile = strings.ToValidUTF8(path.Base(strings.ReplaceAll(string(name), "\\", "/")), "\uFFFD")
	}
}

// offsetOf returns where in the file a relative address is.
func (f pe) offsetOf(address uint32) (uint64, bool) {
	for _, s := range f.sections {
		if at := f.Base + uint64(address) - s.Address; at < s.stored && s.compression == (compression{}) {
			return s.offset + at, true
		}
	}
	return 0, false
}
