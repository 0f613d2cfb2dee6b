package unwind

import (
	"fmt"
	"strings"

	"github.com/slipway-qa/slipway/storage/symbol"
)

// Call frame information: DWARF 5 section 6.4 (https://dwarfstd.org), and for .eh_frame
// https://refspecs.linuxfoundation.org/LSB_5.0.0/LSB-Core-generic/LSB-Core-generic/ehframechpt.html
const (
	// maxEntry bounds one entry; those of the largest functions have some KiB.
	maxEntry = 1 << 20
	// windowSize is how much of a section is read at once.
	windowSize = 2 * maxEntry
	// maxCommon bounds a common entry, whose instructions are run for each of its functions;
	// compilers write less than a hundred bytes.
	maxCommon = 1 << 10
	// maxCIEs bounds the common entries that are kept parsed; more are parsed again.
	maxCIEs = 4096
)

// Encodings of pointers in .eh_frame.
const (
	encodingOmit     = 0xff
	encodingIndirect = 0x80
)

// frames reads a section of call frame information.
type frames struct {
	*reader
	section
	eh     bool
	window []byte
	at     int64 // of the window
	common map[int64]*commonEntry
	text   uint64 // bases of pointer encodings
	data   uint64
	// swapped: see registerName. stepped counts addresses: see maxStepped.
	swapped bool
	stepped uint64
}

// commonEntry is a CIE.
type commonEntry struct {
	version      byte
	addressSize  int
	codeFactor   uint64
	dataFactor   int64
	returns      uint64 // the column of the return address
	pointer      byte   // encoding of addresses
	augmented    bool   // FDEs have augmentation data
	instructions []byte
	at           int64 // of the instructions
	err          error
}

func (r *reader) ehFrame() error    { return r.frames(".eh_frame", true) }
func (r *reader) debugFrame() error { return r.frames(".debug_frame", false) }

func (r *reader) frames(name string, eh bool) error {
	s, err := r.open(name)
	if err != nil || s.size == 0 {
		return err
	}
	f := &frames{reader: r, section: s, eh: eh, common: map[int64]*commonEntry{}}
	f.swapped = eh && r.file.Kind == symbol.MachO && r.file.Arch == "x86"
	if h, ok := r.file.Header(".text"); ok {
		f.text = h.Address
	}
	for _, name := range []string{".got.plt", ".got"} {
		if h, ok := r.file.Header(name); ok {
			f.data = h.Address
		}
	}
	for offset := int64(0); offset+4 <= s.size; {
		next, err := f.entry(offset)
		if err != nil {
			return err
		}
		offset = next
	}
	return r.flush()
}

// bytes returns up to n bytes at an offset; they are valid until the next call.
func (f *frames) bytes(offset int64, n int) ([]byte, error) {
	n = int(min(int64(n), f.size-offset))
	if offset < f.at || offset+int64(n) > f.at+int64(len(f.window)) {
		p, err := f.read(offset, int(min(int64(max(n, windowSize)), f.size-offset)))
		if err != nil {
			return nil, err
		}
		f.window, f.at = p, offset
	}
	return f.window[offset-f.at:][:n], nil
}

// head is the beginning of an entry.
type head struct {
	body   int64 // where what follows the id begins
	end    int64
	id     uint64
	idAt   int64
	common bool
}

// headSize is the most that the length and the id of an entry take.
const headSize = 20

// head reads the length and the id of an entry; end is 0 for a terminator.
func (f *frames) head(offset int64, p []byte) (h head, next int64, err error) {
	if len(p) < 4 {
		return h, f.size, nil
	}
	length, wide := uint64(f.file.Order.Uint32(p)), 4
	start := offset + 4
	if length == 0xffffffff {
		if len(p) < 12 {
			return h, f.size, nil
		}
		length, wide, start = f.file.Order.Uint64(p[4:]), 8, offset+12
	}
	if length == 0 {
		return h, start, nil
	}
	if length > uint64(f.size-start) || length < uint64(wide) {
		return h, 0, symbol.Invalid(symbol.Malformed, "section %s: the entry at %#x states %d bytes; %d are left",
			f.name, offset, length, f.size-start)
	}
	h.end = start + int64(length)
	h.idAt, h.body = start, start+int64(wide)
	p = p[start-offset:]
	if wide == 4 {
		h.id = uint64(f.file.Order.Uint32(p))
		h.common = h.id == 0 && f.eh || h.id == 0xffffffff && !f.eh
	} else {
		h.id = f.file.Order.Uint64(p)
		h.common = h.id == 0 && f.eh || h.id == 1<<64-1 && !f.eh
	}
	return h, h.end, nil
}

// entry reads the entry at an offset and returns where the next one begins.
func (f *frames) entry(offset int64) (int64, error) {
	first, err := f.bytes(offset, headSize)
	if err != nil {
		return 0, err
	}
	h, next, err := f.head(offset, first)
	if err != nil || h.end == 0 || h.common {
		return next, err
	}
	if h.end-h.body > maxEntry {
		f.skip("section %s: the entry at %#x has %d bytes", f.name, offset, h.end-h.body)
		return next, nil
	}
	from := int64(h.id)
	if f.eh {
		from = h.idAt - int64(h.id)
	}
	c, err := f.commonAt(from)
	if err != nil {
		return 0, err
	}
	if c.err != nil {
		f.skip("section %s: the entry at %#x: %v", f.name, offset, c.err)
		return next, nil
	}
	p, err := f.bytes(h.body, int(h.end-h.body))
	if err != nil {
		return 0, err
	}
	return next, f.function(c, p, h.body)
}

// commonAt returns the CIE at an offset, parsed once. What is wrong with it is in its err.
func (f *frames) commonAt(offset int64) (*commonEntry, error) {
	if c := f.common[offset]; c != nil {
		return c, nil
	}
	c := &commonEntry{}
	if offset < 0 || offset >= f.size {
		c.err = fmt.Errorf("its common entry at %#x lies outside of the section", offset)
		return c, nil
	}
	first, err := f.read(offset, int(min(headSize, f.size-offset)))
	if err != nil {
		return nil, err
	}
	h, _, err := f.head(offset, first)
	if err != nil {
		c.err = err
		return c, nil
	}
	switch {
	case !h.common || h.end == 0:
		c.err = fmt.Errorf("there is no common entry at %#x", offset)
	case h.end-h.body > maxCommon:
		c.err = fmt.Errorf("its common entry at %#x has %d bytes", offset, h.end-h.body)
	default:
		p, err := f.read(h.body, int(h.end-h.body))
		if err != nil {
			return nil, err
		}
		f.parseCommon(c, &cursor{p: p, order: f.file.Order, at: f.address + uint64(h.body)}, h.body)
	}
	if len(f.common) >= maxCIEs {
		clear(f.common)
	}
	f.common[offset] = c
	return c, nil
}

func (f *frames) parseCommon(c *commonEntry, p *cursor, body int64) {
	total := len(p.p)
	c.version = p.u8()
	if c.version != 1 && c.version != 3 && c.version != 4 {
		c.err = fmt.Errorf("its common entry has version %d; 1, 3 and 4 are read", c.version)
		return
	}
	augmentation := p.text()
	c.addressSize = f.arch.size
	if c.version == 4 {
		c.addressSize = int(p.u8())
		if segment := p.u8(); segment != 0 || c.addressSize != 4 && c.addressSize != 8 {
			c.err = fmt.Errorf("its common entry has addresses of %d bytes and segments of %d", c.addressSize, segment)
			return
		}
	}
	if augmentation == "eh" {
		p.take(c.addressSize)
		augmentation = ""
	}
	c.codeFactor, c.dataFactor = p.uleb(), p.sleb()
	if c.version == 1 {
		c.returns = uint64(p.u8())
	} else {
		c.returns = p.uleb()
	}
	f.augment(c, p, augmentation)
	if p.failed && c.err == nil {
		c.err = fmt.Errorf("its common entry is cut off")
	}
	c.at = body + int64(total-len(p.p))
	c.instructions = p.p
}

// augment reads the augmentation data of a CIE.
func (f *frames) augment(c *commonEntry, p *cursor, augmentation string) {
	if augmentation == "" {
		return
	}
	if !strings.HasPrefix(augmentation, "z") {
		c.err = fmt.Errorf("its common entry has the augmentation %.16q, which is unknown", augmentation)
		return
	}
	c.augmented = true
	n := p.uleb()
	if n > uint64(len(p.p)) {
		p.failed = true
		return
	}
	data := &cursor{p: p.p[:n], order: p.order, at: p.at}
	p.take(int(n))
	for _, letter := range augmentation[1:] {
		switch letter {
		case 'L':
			data.u8()
		case 'P':
			f.pointer(data, data.u8(), c.addressSize)
		case 'R':
			c.pointer = data.u8()
		case 'S', 'B', 'G': // a signal's frame, and how return addresses are signed and tagged
		default:
			return // what follows is unknown, and its length is known
		}
	}
	p.failed = p.failed || data.failed
}

// pointer reads an encoded pointer; false when its base is unknown or it is indirect.
func (f *frames) pointer(p *cursor, encoding byte, size int) (uint64, bool) {
	if encoding == encodingOmit {
		return 0, false
	}
	at := p.at
	var value uint64
	switch encoding & 0xf {
	case 0:
		value = p.address(size)
	case 1:
		value = p.uleb()
	case 2:
		value = uint64(p.u16())
	case 3:
		value = uint64(p.u32())
	case 4, 0xc:
		value = p.u64()
	case 9:
		value = uint64(p.sleb())
	case 0xa:
		value = uint64(int64(int16(p.u16())))
	case 0xb:
		value = uint64(int64(int32(p.u32())))
	default:
		p.failed = true
	}
	switch encoding & 0x70 {
	case 0:
	case 0x10:
		value += at
	case 0x20:
		value += f.text
	case 0x30:
		value += f.data
	default:
		return 0, false
	}
	if size == 4 {
		value = uint64(uint32(value))
	}
	return value, encoding&encodingIndirect == 0 && !p.failed
}

// function reads an FDE and reports its rows.
func (f *frames) function(c *commonEntry, body []byte, offset int64) error {
	p := &cursor{p: body, order: f.file.Order, at: f.address + uint64(offset)}
	start, ok := f.pointer(p, c.pointer, c.addressSize)
	length, _ := f.pointer(p, c.pointer&0xf, c.addressSize)
	if c.augmented {
		if n := p.uleb(); n <= uint64(len(p.p)) {
			p.take(int(n))
		} else {
			p.failed = true
		}
	}
	switch {
	case p.failed || !ok:
		f.skip("section %s: the entry at %#x has no address", f.name, offset)
		return nil
	case start == 0 && f.file.Base == 0, length == 0, start+length < start:
		return nil // a function that the linker removed
	}
	return f.rows(c, p, start, start+length)
}
