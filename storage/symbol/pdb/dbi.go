package pdb

import (
	"encoding/binary"
	"sort"

	"github.com/slipway-qa/slipway/storage/symbol"
	"github.com/slipway-qa/slipway/storage/symbol/native"
)

// https://llvm.org/docs/PDB/DbiStream.html
const (
	dbiSize    = 64
	moduleHead = 64
	// maxModuleInfo bounds the list of modules, maxSections that of sections (images have
	// 96), maxMoves the table of moved code, which are held in memory.
	maxModuleInfo  = 256 << 20
	maxSections    = 1 << 16
	maxMoves       = 8 << 20
	sectionSize    = 40
	publicKind     = 0x110e
	streamOfFPO    = 0
	streamOfMoved  = 4
	streamOfHeader = 5
	streamOfFrames = 9
	streamOfBefore = 10
)

var machines = map[uint16]string{0x14c: "x86", 0x8664: "x86_64", 0x1c0: "arm", 0x1c2: "arm", 0x1c4: "arm", 0xaa64: "arm64"}

// dbiHeader is what is needed of the DBI stream.
type dbiHeader struct {
	stream      *stream
	age         uint32
	symbols     int
	moduleBytes int64
	extra       [16]int // the streams of the optional debug header
}

// sectionRange is a section of the image, or of the image before code was moved.
type sectionRange struct{ address, size uint32 }

// move says where the code from an address on was moved to; to 0 means removed.
type move struct{ from, to uint32 }

func (d *database) readDBI() error {
	s, err := d.msf.stream(debugStream)
	if err != nil {
		return err
	}
	if s.size == 0 { // a PDB of types alone
		d.identify()
		return nil
	}
	p, err := s.read(0, dbiSize, "the DBI header")
	if err != nil {
		return err
	}
	if binary.LittleEndian.Uint32(p) != 0xffffffff {
		return symbol.Invalid(symbol.Unsupported, "the DBI stream has the format of before 1997")
	}
	h := dbiHeader{stream: s, age: binary.LittleEndian.Uint32(p[8:]), symbols: int(binary.LittleEndian.Uint16(p[20:]))}
	d.summary.Arch = machines[binary.LittleEndian.Uint16(p[58:])]
	at := int64(dbiSize)
	var sizes [7]int64 // modules, contributions, section map, files, type servers, extra, edit and continue
	for i, offset := range []int{24, 28, 32, 36, 40, 48, 52} {
		sizes[i] = int64(int32(binary.LittleEndian.Uint32(p[offset:])))
		if sizes[i] < 0 {
			return symbol.Invalid(symbol.Malformed, "the DBI header states a part of %d bytes", sizes[i])
		}
	}
	h.moduleBytes = sizes[0]
	at += sizes[0] + sizes[1] + sizes[2] + sizes[3] + sizes[4] + sizes[6]
	for i := range h.extra {
		h.extra[i] = noStream
	}
	extra, err := s.read(at, int(min(sizes[5], 2*int64(len(h.extra)))), "the optional debug header")
	if err != nil {
		return err
	}
	for i := range len(extra) / 2 {
		h.extra[i] = int(binary.LittleEndian.Uint16(extra[2*i:]))
	}
	d.dbi = h
	d.identify()
	return nil
}

// extraStream returns one of the streams of the optional debug header, of records of one
// size, at most many; nil when there is none.
func (d *database) extraStream(i int, size, many int64) ([]byte, error) {
	if d.dbi.stream == nil || d.dbi.extra[i] == noStream {
		return nil, nil
	}
	s, err := d.msf.stream(d.dbi.extra[i])
	if err != nil {
		return nil, err
	}
	if s.size/size > many {
		return nil, symbol.Invalid(symbol.TooLarge, "stream %d of the PDB has %d records; %d are read at most", s.number, s.size/size, many)
	}
	return s.read(0, int(s.size/size*size), "a debug stream")
}

// readSections reads the sections of the image. Where a tool has moved code afterwards,
// addresses are those of the image before, and a table says where they went.
func (d *database) readSections() error {
	moves, err := d.extraStream(streamOfMoved, 8, maxMoves)
	if err != nil {
		return err
	}
	from := streamOfHeader
	for i := 0; i+8 <= len(moves); i += 8 {
		d.moved = append(d.moved, move{from: binary.LittleEndian.Uint32(moves[i:]), to: binary.LittleEndian.Uint32(moves[i+4:])})
	}
	if len(d.moved) > 0 {
		sort.SliceStable(d.moved, func(i, j int) bool { return d.moved[i].from < d.moved[j].from })
		if d.dbi.extra[streamOfBefore] != noStream {
			from = streamOfBefore
		}
	}
	p, err := d.extraStream(from, sectionSize, maxSections)
	if err != nil {
		return err
	}
	for i := 0; i+sectionSize <= len(p); i += sectionSize {
		d.sections = append(d.sections, sectionRange{address: binary.LittleEndian.Uint32(p[i+12:]), size: binary.LittleEndian.Uint32(p[i+8:])})
	}
	return nil
}

// address returns the relative address of an offset in a section; false when it is in
// none, or was removed.
func (d *database) address(section uint16, offset uint32) (uint64, bool) {
	if section == 0 || int(section) > len(d.sections) {
		return 0, false
	}
	at := d.sections[section-1].address + offset
	if at < offset {
		return 0, false
	}
	if len(d.moved) == 0 {
		return uint64(at), true
	}
	i := sort.Search(len(d.moved), func(i int) bool { return d.moved[i].from > at })
	if i == 0 || d.moved[i-1].to == 0 {
		return 0, false
	}
	return uint64(d.moved[i-1].to) + uint64(at-d.moved[i-1].from), true
}

// span returns the addresses of a range in a section.
func (d *database) span(section uint16, offset, size uint32) (start, end uint64, ok bool) {
	if size == 0 || offset+size < offset {
		return 0, 0, false
	}
	start, ok = d.address(section, offset)
	last, also := d.address(section, offset+size-1)
	return start, last + 1, ok && also && last >= start
}

// publics reports the public symbols that are code.
func (d *database) publics() error {
	if d.dbi.stream == nil || d.dbi.symbols == noStream {
		return nil
	}
	s, err := d.msf.stream(d.dbi.symbols)
	if err != nil {
		return d.skip(err)
	}
	records := newRecords(s, 0, s.size)
	for {
		kind, p, ok, err := records.next()
		if err != nil {
			return d.skip(err)
		}
		if !ok {
			return nil
		}
		if kind != publicKind || len(p) < 11 {
			continue
		}
		const code, function = 1, 2
		flags, offset, section := binary.LittleEndian.Uint32(p), binary.LittleEndian.Uint32(p[4:]), binary.LittleEndian.Uint16(p[8:])
		name := clean(textOf(p[10:]))
		at, ok := d.address(section, offset)
		if flags&(code|function) == 0 || !ok || name == "" {
			continue
		}
		d.summary.Publics++
		if err := d.sink.Public(native.Public{Address: at, Name: name}); err != nil {
			return err
		}
	}
}

// modules reports the functions of all modules.
func (d *database) modules() error { return d.eachModule(d.module) }

// eachModule reads the list of modules. Of two with one stream the first counts.
func (d *database) eachModule(take func(*module) error) error {
	if d.dbi.stream == nil {
		return nil
	}
	if d.dbi.moduleBytes > maxModuleInfo {
		return symbol.Invalid(symbol.TooLarge, "the list of modules has %d bytes; %d are read at most", d.dbi.moduleBytes, maxModuleInfo)
	}
	p, err := d.dbi.stream.read(dbiSize, int(d.dbi.moduleBytes), "the list of modules")
	if err != nil {
		return err
	}
	read := map[int]bool{}
	for len(p) >= moduleHead {
		m := module{
			stream:  int(binary.LittleEndian.Uint16(p[34:])),
			symbols: int64(binary.LittleEndian.Uint32(p[36:])),
			c11:     int64(binary.LittleEndian.Uint32(p[40:])),
			c13:     int64(binary.LittleEndian.Uint32(p[44:])),
		}
		c := &cursor{p: p[moduleHead:]}
		m.name = clean(c.text())
		c.text()
		used := len(p) - len(c.p)
		p = p[min(len(p), (used+3)&^3):]
		if m.stream == noStream || read[m.stream] {
			continue
		}
		read[m.stream] = true
		if err := take(&m); err != nil {
			return err
		}
	}
	return nil
}
