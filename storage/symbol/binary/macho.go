package binary

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"slices"

	"github.com/slipway-qa/slipway/storage/symbol"
)

// The format: https://github.com/apple-oss-distributions/xnu/blob/main/EXTERNAL_HEADERS/mach-o/loader.h
// and fat.h beside it.
const (
	fatMagic   = "\xca\xfe\xba\xbe"
	fatMagic64 = "\xca\xfe\xba\xbf"

	machSegment   = 0x1
	machSymtab    = 0x2
	machSegment64 = 0x19
	machUUID      = 0x1b

	// machNameSize is the size of the name of a section or segment.
	machNameSize = 16
	// maxSlices is below the smallest version of a Java class file, which begins with the
	// same four bytes.
	maxSlices = 30
	// maxCommands bounds the load commands, which are held in memory; those of large
	// applications have some KiB.
	maxCommands = 16 << 20
	// maxMachSections is what a symbol's section number can name.
	maxMachSections = 255
)

var machArchs = map[uint32]string{
	7: "x86", 0x01000007: "x86_64", 12: "arm", 0x0100000c: "arm64", 0x0200000c: "arm64_32", 18: "ppc", 0x01000012: "ppc64",
}

// machOrder returns the byte order of a thin Mach-O by its magic number; nil for others.
func machOrder(magic []byte) binary.ByteOrder {
	switch string(magic) {
	case "\xfe\xed\xfa\xce", "\xfe\xed\xfa\xcf":
		return binary.BigEndian
	case "\xce\xfa\xed\xfe", "\xcf\xfa\xed\xfe":
		return binary.LittleEndian
	}
	return nil
}

// openFat opens each slice. Slices do not overlap, so the work is that of one file.
func openFat(v view, wide bool) ([]*File, error) {
	head, err := v.read(4, 4, "the fat Mach-O header")
	if err != nil {
		return nil, err
	}
	count := binary.BigEndian.Uint32(head)
	if count == 0 || count > maxSlices {
		return nil, symbol.Invalid(symbol.Unsupported, "the file is a Java class, or a fat Mach-O with %d slices; 1 to %d are read",
			count, maxSlices)
	}
	each := 20
	if wide {
		each = 32
	}
	table, err := v.read(8, int(count)*each, "the table of Mach-O slices")
	if err != nil {
		return nil, err
	}
	ranges := make([][2]uint64, count)
	for i := range ranges {
		p := table[i*each+8:]
		ranges[i] = [2]uint64{uint64(binary.BigEndian.Uint32(p)), uint64(binary.BigEndian.Uint32(p[4:]))}
		if wide {
			ranges[i] = [2]uint64{binary.BigEndian.Uint64(p), binary.BigEndian.Uint64(p[8:])}
		}
	}
	if err := checkSlices(v, ranges); err != nil {
		return nil, err
	}
	var files []*File
	for i, at := range ranges {
		name := fmt.Sprintf("slice %d of the fat Mach-O", i)
		part, err := v.slice(at[0], at[1], name)
		if err != nil {
			return nil, err
		}
		magic, err := part.read(0, 4, name)
		if err != nil {
			return nil, err
		}
		if machOrder(magic) == nil {
			return nil, symbol.Invalid(symbol.Malformed, "%s is not a Mach-O: it begins with %x", name, magic)
		}
		f, err := open(part, int64(at[0]), readMachO)
		if err != nil {
			return nil, err
		}
		files = append(files, f)
	}
	return files, nil
}

func checkSlices(v view, ranges [][2]uint64) error {
	sorted := slices.SortedFunc(slices.Values(ranges), func(a, b [2]uint64) int {
		if a[0] < b[0] {
			return -1
		}
		return 1
	})
	end := uint64(0)
	for _, at := range sorted {
		if at[0] < end {
			return symbol.Invalid(symbol.Malformed, "slices of the fat Mach-O overlap at %#x", at[0])
		}
		if at[0] > uint64(v.size) || at[1] > uint64(v.size)-at[0] {
			return symbol.Invalid(symbol.Truncated,
				"a slice of the fat Mach-O (at %#x, %d bytes) lies beyond the end of the file (%d bytes)", at[0], at[1], v.size)
		}
		end = at[0] + at[1]
	}
	return nil
}

// macho reads the container of that name into a File.
type macho struct{ *File }

func readMachO(to *File) error {
	f := macho{to}
	f.Kind = symbol.MachO
	head, err := f.view.read(0, 28, "the Mach-O header")
	if err != nil {
		return err
	}
	f.Order = machOrder(head[:4])
	f.Wide = f.Order.Uint32(head) == 0xfeedfacf
	cpu := f.Order.Uint32(head[4:])
	f.Arch = machArchs[cpu]
	if f.Arch == "" {
		f.Arch = fmt.Sprintf("macho-%d", cpu)
	}
	f.Type = map[uint32]Type{1: Object, 2: Executable, 4: Core, 6: Library, 7: Executable, 8: Library, 9: Library,
		10: Debug, 11: Library}[f.Order.Uint32(head[12:])]
	if f.Type == "" {
		f.Type = Other
	}
	count, size, at := f.Order.Uint32(head[16:]), f.Order.Uint32(head[20:]), uint64(28)
	if f.Wide {
		at = 32
	}
	if size > maxCommands {
		return symbol.Invalid(symbol.TooLarge, "the Mach-O load commands have %d bytes; %d are read at most", size, maxCommands)
	}
	commands, err := f.view.read(at, int(size), "the Mach-O load commands")
	if err != nil {
		return err
	}
	for i := range count {
		if len(commands) < 8 {
			return symbol.Invalid(symbol.Truncated, "the Mach-O file states %d load commands; there are %d", count, i)
		}
		n := f.Order.Uint32(commands[4:])
		if n < 8 || uint64(n) > uint64(len(commands)) {
			return symbol.Invalid(symbol.Malformed, "load command %d states a size of %d bytes; %d are left", i, n, len(commands))
		}
		if err := f.command(commands[:n], i); err != nil {
			return err
		}
		commands = commands[n:]
	}
	return nil
}

func (f macho) command(p []byte, i uint32) error {
	least := map[uint32]int{machSegment: 56, machSegment64: 72, machUUID: 24, machSymtab: 24}
	kind := f.Order.Uint32(p)
	if len(p) < least[kind] {
		return symbol.Invalid(symbol.Truncated, "load command %d (type %#x) has %d bytes, less than %d", i, kind, len(p), least[kind])
	}
	switch kind {
	case machSegment, machSegment64:
		return f.segment(p, kind == machSegment64)
	case machUUID:
		id := hex.EncodeToString(p[8:24])
		f.CodeID, f.DebugID = normal(symbol.CodeID, id), normal(symbol.DebugID, id+"0")
	case machSymtab:
		o := f.Order
		each := 12
		if f.Wide {
			each = 16
		}
		f.symbols = append(f.symbols, symbolTable{
			offset: uint64(o.Uint32(p[8:])), count: uint64(o.Uint32(p[12:])), each: each,
			texts: uint64(o.Uint32(p[16:])), textSize: uint64(o.Uint32(p[20:])),
		})
	}
	return nil
}

func (f macho) segment(p []byte, wide bool) error {
	o := f.Order
	name := machText(p[8:])
	var address, stored uint64
	var count, head, each int
	if wide {
		address, stored = o.Uint64(p[24:]), o.Uint64(p[48:])
		count, head, each = int(o.Uint32(p[64:])), 72, 80
	} else {
		address, stored = uint64(o.Uint32(p[24:])), uint64(o.Uint32(p[36:]))
		count, head, each = int(o.Uint32(p[48:])), 56, 68
	}
	if name == "__TEXT" {
		f.Base = address
	}
	if count > (len(p)-head)/each {
		return symbol.Invalid(symbol.Truncated, "segment %q states %d sections; its load command has room for %d", name,
			count, (len(p)-head)/each)
	}
	if len(f.sections)+count > maxMachSections {
		return symbol.Invalid(symbol.TooLarge, "the Mach-O file has more than %d sections", maxMachSections)
	}
	for i := range count {
		if err := f.section(p[head+i*each:], wide, stored > 0); err != nil {
			return err
		}
	}
	return nil
}

func (f macho) section(p []byte, wide, stored bool) error {
	o := f.Order
	s := Section{Name: machText(p), Segment: machText(p[16:])}
	var flags uint32
	if wide {
		s.Address, s.Size = o.Uint64(p[32:]), o.Uint64(p[40:])
		s.offset, flags = uint64(o.Uint32(p[48:])), o.Uint32(p[64:])
	} else {
		s.Address, s.Size = uint64(o.Uint32(p[32:])), uint64(o.Uint32(p[36:]))
		s.offset, flags = uint64(o.Uint32(p[40:])), o.Uint32(p[56:])
	}
	s.Code = flags&0x80000400 != 0 // S_ATTR_PURE_INSTRUCTIONS, S_ATTR_SOME_INSTRUCTIONS
	zero := flags&0xff == 0x1 || flags&0xff == 0xc || flags&0xff == 0x12
	// A dSYM describes the sections of its program without having them.
	if stored && !zero && s.offset != 0 {
		s.stored = s.Size
	}
	if s.stored > 0 && bytes.HasPrefix([]byte(s.Name), []byte("__z")) {
		if err := f.gnuCompression(&s); err != nil {
			return err
		}
	}
	f.add(s)
	return nil
}

func machText(p []byte) string {
	p = p[:machNameSize]
	if end := bytes.IndexByte(p, 0); end >= 0 {
		p = p[:end]
	}
	return string(p)
}
