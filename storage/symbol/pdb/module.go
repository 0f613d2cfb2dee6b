package pdb

import (
	"encoding/binary"

	"github.com/slipway-qa/slipway/storage/symbol"
	"github.com/slipway-qa/slipway/storage/symbol/native"
)

// Kinds of symbol records: https://github.com/microsoft/microsoft-pdb/blob/master/include/cvinfo.h
const (
	kindEnd           = 0x0006
	kindThunk         = 0x1102
	kindBlock         = 0x1103
	kindWith          = 0x1104
	kindLocalProc     = 0x110f
	kindGlobalProc    = 0x1110
	kindSeparate      = 0x1132
	kindLocalProcID   = 0x1146
	kindGlobalProcID  = 0x1147
	kindInline        = 0x114d
	kindInlineEnd     = 0x114e
	kindProcEnd       = 0x114f
	kindLocalDPC      = 0x1155
	kindLocalDPCID    = 0x1156
	kindInlineCounted = 0x115d

	// c13Signature is the signature of the only format of symbols that is still written.
	c13Signature = 4
	// maxScopes bounds blocks in blocks; compilers stop far below.
	maxScopes = 1 << 12
	// maxSites bounds what was inlined into one function.
	maxSites = 1 << 17
)

// module is a compiled unit.
type module struct {
	name              string
	stream            int
	symbols, c11, c13 int64
}

// module reports the functions of a module. What is wrong with it is counted.
func (d *database) module(m *module) error {
	s, err := d.msf.stream(m.stream)
	if err != nil {
		return d.skip(err)
	}
	if m.symbols > s.size || m.c11 > s.size-m.symbols || m.c13 > s.size-m.symbols-m.c11 {
		return d.skip(symbol.Invalid(symbol.Truncated, "module %.80q states more than the %d bytes of its stream", m.name, s.size))
	}
	if m.symbols < 4 {
		return nil
	}
	head, err := s.read(0, 4, "the symbols of a module")
	if err != nil {
		return d.skip(err)
	}
	if binary.LittleEndian.Uint32(head) != c13Signature {
		return d.skip(symbol.Invalid(symbol.Unsupported, "module %.80q has symbols of format %d; 4 is read", m.name,
			binary.LittleEndian.Uint32(head)))
	}
	table, err := d.moduleLines(m, s)
	if err != nil {
		return err
	}
	p := &procedures{database: d, lines: table}
	records := newRecords(s, 4, m.symbols)
	for {
		at := records.at
		kind, content, ok, err := records.next()
		if err != nil {
			if err := d.skip(err); err != nil {
				return err
			}
			break
		}
		if !ok {
			break
		}
		if err := p.take(kind, content, at); err != nil {
			return err
		}
	}
	return p.finish()
}

func (d *database) moduleLines(m *module, s *stream) (*lineTable, error) {
	if m.c13 > maxLineBytes {
		return &lineTable{}, d.skip(symbol.Invalid(symbol.TooLarge, "module %.80q has %d bytes of lines; %d are read at most",
			m.name, m.c13, maxLineBytes))
	}
	p, err := s.read(m.symbols+m.c11, int(m.c13), "the lines of a module")
	if err != nil {
		return &lineTable{}, d.skip(err)
	}
	t, err := d.lines(p)
	if err != nil {
		err = d.skip(err)
	}
	return t, err
}

// procedures takes the records of a module, in which blocks lie in functions.
type procedures struct {
	*database
	lines *lineTable

	open   bool
	proc   procedure
	last   procedure // the one before, which a separate part may belong to
	scopes []int     // the inlined functions that are open; -1 for another block
	sites  []site
}

// procedure is a function, or a part of one that stands elsewhere.
type procedure struct {
	at         int64 // of its record
	section    uint16
	offset     uint32
	start, end uint64
	name       string
}

func (p *procedures) take(kind uint16, content []byte, at int64) error {
	switch kind {
	case kindLocalProc, kindGlobalProc, kindLocalProcID, kindGlobalProcID, kindLocalDPC, kindLocalDPCID:
		return p.begin(content, at)
	case kindThunk:
		return p.thunk(content, at)
	case kindSeparate:
		if err := p.separate(content); err != nil {
			return err
		}
		p.push(-1)
	case kindBlock, kindWith:
		p.push(-1)
	case kindInline:
		p.inline(content, 12)
	case kindInlineCounted:
		p.inline(content, 16)
	case kindEnd, kindInlineEnd, kindProcEnd:
		if n := len(p.scopes); n > 0 {
			p.scopes = p.scopes[:n-1]
			return nil
		}
		return p.finish()
	}
	return nil
}

func (p *procedures) push(scope int) {
	if p.open && len(p.scopes) < maxScopes {
		p.scopes = append(p.scopes, scope)
	}
}

// begin reads parent, end, next, length, two offsets of debuggers, type, offset, section,
// flags and name.
func (p *procedures) begin(content []byte, at int64) error {
	if err := p.finish(); err != nil || len(content) < 35 {
		return err
	}
	size := binary.LittleEndian.Uint32(content[12:])
	return p.enter(procedure{at: at, offset: binary.LittleEndian.Uint32(content[28:]), section: binary.LittleEndian.Uint16(content[32:]),
		name: clean(textOf(content[35:]))}, size)
}

// thunk reads parent, end, next, offset, section, length, kind and name.
func (p *procedures) thunk(content []byte, at int64) error {
	if err := p.finish(); err != nil || len(content) < 19 {
		return err
	}
	size := uint32(binary.LittleEndian.Uint16(content[18:]))
	if len(content) < 21 {
		return nil
	}
	return p.enter(procedure{at: at, offset: binary.LittleEndian.Uint32(content[12:]), section: binary.LittleEndian.Uint16(content[16:]),
		name: clean(textOf(content[21:]))}, size)
}

func (p *procedures) enter(proc procedure, size uint32) error {
	var ok bool
	proc.start, proc.end, ok = p.span(proc.section, proc.offset, size)
	if !ok && (proc.section == 0 || size == 0) {
		// The linker removed it. Its blocks still follow.
		proc.start, proc.end = 0, 0
	} else if !ok {
		p.summary.Skipped++
		if p.summary.Reason == "" {
			p.summary.Reason = "the function " + proc.name[:min(len(proc.name), 80)] + " lies outside of the sections, or was moved in parts"
		}
		proc.start, proc.end = 0, 0
	}
	p.proc, p.open = proc, true
	return nil
}

// separate reports a part of a function that the compiler put elsewhere: parent, end,
// length, flags, offset, that of the parent, section, that of the parent.
func (p *procedures) separate(content []byte) error {
	if len(content) < 28 {
		return nil
	}
	parent := int64(binary.LittleEndian.Uint32(content))
	owner := p.last
	if p.open && p.proc.at == parent {
		owner = p.proc
	}
	start, end, ok := p.span(binary.LittleEndian.Uint16(content[24:]), binary.LittleEndian.Uint32(content[16:]),
		binary.LittleEndian.Uint32(content[8:]))
	if !ok || owner.at != parent || owner.name == "" {
		return nil
	}
	return p.report(procedure{start: start, end: end, name: owner.name}, nil)
}

// finish reports the function that was open.
func (p *procedures) finish() error {
	if !p.open {
		return nil
	}
	proc, sites := p.proc, p.sites
	p.open, p.last, p.scopes, p.sites = false, proc, p.scopes[:0], p.sites[:0]
	if proc.start == proc.end {
		return nil
	}
	return p.report(proc, sites)
}

func (p *procedures) report(proc procedure, sites []site) error {
	f := &native.Function{Start: proc.start, End: proc.end, Name: proc.name}
	if f.Name == "" {
		f.Name = "<name omitted>"
	}
	rows := p.lines.within(proc.start, proc.end)
	base := segmentsOf(rows, proc)
	for i := range sites {
		if err := p.addInline(f, sites, i, base); err != nil {
			return err
		}
	}
	if err := p.addLines(f, base, sites); err != nil {
		return err
	}
	p.summary.Functions++
	return p.sink.Function(f)
}
