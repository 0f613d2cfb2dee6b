// Package pdb reads program databases of Microsoft's tools and of LLVM: functions, lines,
// inlined functions, public symbols, and the frame data of x86.
//
// A PDB is a container of streams (msf.go) that are spread over blocks of the file. Read
// takes the sections and modules from the DBI stream (dbi.go), and from the stream of
// each module its procedures (module.go), their lines (line.go) and what was inlined
// into them (inline.go), whose names are in the streams of types (name.go). Streams are
// read in pieces; the lines of one module are in memory at a time.
//
// A block that is in two streams, a stream that is longer than the file, and a directory
// that lies are a *symbol.InvalidError. Modules, procedures and records that are wrong
// are left out and counted. The old format 2.00 and portable PDBs are unsupported.
//
// The format: https://llvm.org/docs/PDB/ and https://github.com/microsoft/microsoft-pdb
package pdb

import (
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/slipway-qa/slipway/storage/symbol"
	"github.com/slipway-qa/slipway/storage/symbol/native"
)

// Summary says what a file is and what was found in it.
type Summary struct {
	// Arch is x86, x86_64, arm or arm64; "" for another.
	Arch string
	// DebugID is the GUID of the file and the age of its DBI stream, normalized.
	DebugID string

	Functions, Publics, Unwinds int
	// Skipped counts modules and records that are wrong; Reason is what is wrong with the
	// first of them.
	Skipped int
	Reason  string
}

// Identifiers lists the names by which a crash finds the file.
func (s *Summary) Identifiers() []symbol.Identifier {
	if s.DebugID == "" {
		return nil
	}
	return []symbol.Identifier{{Type: symbol.DebugID, Value: s.DebugID}}
}

// The numbers of streams that are fixed.
const (
	infoStream  = 1
	typeStream  = 2
	debugStream = 3
	idStream    = 4
	noStream    = 0xffff
)

// maxNamed bounds the map of named streams, which is held in memory.
const maxNamed = 1 << 20

// database is one reading.
type database struct {
	msf     *container
	sink    native.Sink
	summary Summary

	age      uint32
	guid     [16]byte
	names    *nameTable
	types    *typeTable
	ids      *typeTable
	dbi      dbiHeader
	sections []sectionRange
	moved    []move
	caches   nameCaches
	exports  map[string][]exported // by the name of the module, in lower case; nil: not read
}

// Read reports what a PDB of size bytes holds to the sink.
func Read(r io.ReaderAt, size int64, sink native.Sink) (*Summary, error) {
	msf, err := openContainer(r, size)
	if err != nil {
		return nil, err
	}
	d := &database{msf: msf, sink: sink, caches: newNameCaches()}
	for _, step := range []func() error{d.info, d.readDBI, d.readSections, d.publics, d.modules, d.frames} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	return &d.summary, nil
}

// Identify reads the identifiers of a PDB, and nothing else of it.
func Identify(r io.ReaderAt, size int64) ([]symbol.Identifier, error) {
	msf, err := openContainer(r, size)
	if err != nil {
		return nil, err
	}
	d := &database{msf: msf}
	for _, step := range []func() error{d.info, d.readDBI} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	return d.summary.Identifiers(), nil
}

// skip counts something that is left out. Errors of the reader are returned.
func (d *database) skip(err error) error {
	var invalid *symbol.InvalidError
	if !errors.As(err, &invalid) {
		return err
	}
	if d.summary.Skipped == 0 {
		d.summary.Reason = invalid.Reason
	}
	d.summary.Skipped++
	return nil
}

// info reads the GUID, the age, and the number of the stream of names.
func (d *database) info() error {
	s, err := d.msf.stream(infoStream)
	if err != nil {
		return err
	}
	p, err := s.read(0, 28, "the PDB information stream")
	if err != nil {
		return err
	}
	d.age = binary.LittleEndian.Uint32(p[8:])
	copy(d.guid[:], p[12:28])
	d.names = &nameTable{}
	number, err := namedStream(s, "/names")
	if err != nil {
		return d.skip(err)
	}
	if number == noStream {
		return nil
	}
	names, err := d.msf.stream(number)
	if err != nil {
		return d.skip(err)
	}
	head, err := names.read(0, 12, "the stream of names")
	if err != nil {
		return d.skip(err)
	}
	if binary.LittleEndian.Uint32(head) != 0xeffeeffe {
		return d.skip(symbol.Invalid(symbol.Malformed, "the stream of names begins with %x", head[:4]))
	}
	d.names = &nameTable{stream: names, size: min(int64(binary.LittleEndian.Uint32(head[8:])), names.size-12)}
	return nil
}

// namedStream finds a stream in the map of names: texts, and a hash table of the offset of
// each with its number.
func namedStream(s *stream, name string) (int, error) {
	p, err := s.read(28, int(min(maxNamed, max(s.size-28, 0))), "the map of named streams")
	if err != nil {
		return noStream, err
	}
	c := &cursor{p: p}
	texts := c.take(int(min(c.u32(), maxNamed)))
	count, _ := c.u32(), c.u32()
	present := c.take(4 * int(min(c.u32(), maxNamed)))
	c.take(4 * int(min(c.u32(), maxNamed))) // deleted
	for i, filled := 0, uint32(0); filled < count && i < len(present)*8 && !c.failed; i++ {
		if present[i/8]>>(i%8)&1 == 0 {
			continue
		}
		filled++
		at, number := c.u32(), c.u32()
		if int64(at) < int64(len(texts)) && textOf(texts[at:]) == name && !c.failed {
			return int(number), nil
		}
	}
	if c.failed {
		return noStream, symbol.Invalid(symbol.Truncated, "the map of named streams is cut off")
	}
	return noStream, nil
}

// identify sets the debug id: the GUID, whose first fields are stored in little-endian
// order, and the age of the DBI stream, which linkers write into the image.
func (d *database) identify() {
	age := d.dbi.age
	if age == 0 {
		age = d.age
	}
	g := d.guid
	text := fmt.Sprintf("%08x%04x%04x%s", binary.LittleEndian.Uint32(g[:]), binary.LittleEndian.Uint16(g[4:]),
		binary.LittleEndian.Uint16(g[6:]), hex.EncodeToString(g[8:]))
	id, ok := symbol.Identifier{Type: symbol.DebugID, Value: text + strconv.FormatUint(uint64(age), 16)}.Normalize()
	if ok {
		d.summary.DebugID = id.Value
	}
}
