// Package wasm reads modules of WebAssembly: the functions of their name section, and the DWARF that
// compilers leave in sections of their own.
//
// Addresses are offsets in the file, as stack traces of browsers and Node have them:
// wasm-function[3]:0xdc. Those of DWARF count from the content of the code section
// (https://yurydelendik.github.io/webassembly-dwarf/), and are moved. A stack trace that names no
// offset has the number of the function at least: its name is found at IndexAddress.
//
// A module is read in one pass, section by section; only the names of one function and what package
// dwarf needs are in memory. What is no module, or has neither names nor DWARF, is a
// *symbol.InvalidError.
package wasm

import (
	"encoding/hex"
	"fmt"
	"io"

	"github.com/slipway-qa/slipway/storage/symbol"
	"github.com/slipway-qa/slipway/storage/symbol/dwarf"
	"github.com/slipway-qa/slipway/storage/symbol/native"
)

// Arch is what the architecture of modules is called.
const Arch = "wasm32"

// indexBase is above each offset in a file.
const indexBase = 1 << 40

// IndexAddress returns the address at which the name of a function is found by its number.
func IndexAddress(function uint32) uint64 { return indexBase + uint64(function) }

// Summary says what a module is and what was found in it.
type Summary struct {
	// Name is the module's own, "" when it has none.
	Name string
	// BuildID is what the linker wrote into it, in hexadecimal; "" without.
	BuildID string
	// SourceMappingURL is the address of its source map, ExternalDebug of the module with its DWARF.
	SourceMappingURL, ExternalDebug string
	// Hash is what V8 calls a module that was not loaded from an address: wasm://wasm/HASH.
	Hash string
	// Functions are those with code, Names those of them with a name.
	Functions, Names int
	// Debug is what was read of DWARF.
	Debug *dwarf.Summary
	// Reason is what is wrong with the name section; "" when nothing is.
	Reason string
}

// Identifiers lists the names by which a crash finds the module, besides its address.
func (s *Summary) Identifiers() []symbol.Identifier {
	var ids []symbol.Identifier
	for _, id := range []symbol.Identifier{
		{Type: symbol.DebugID, Value: s.BuildID[:min(len(s.BuildID), 32)]}, {Type: symbol.CodeID, Value: s.BuildID},
		{Type: symbol.BuildID, Value: s.BuildID},
		{Type: symbol.URL, Value: "wasm://wasm/" + s.Hash},
	} {
		if id, ok := id.Normalize(); ok {
			ids = append(ids, id)
		}
	}
	if s.Name != "" {
		if id, ok := (symbol.Identifier{Type: symbol.URL, Value: "wasm://wasm/" + s.Name + "-" + s.Hash}).Normalize(); ok {
			ids = append(ids, id)
		}
	}
	return ids
}

// reader is a module that is being read.
type reader struct {
	file     io.ReaderAt
	size     int64
	sink     native.Sink
	sum      Summary
	imported uint32 // functions
	bodies   []native.Range
	code     uint64             // where the content of the code section begins
	custom   map[string]section // the first of each name
}

// section is a range of the file.
type section struct{ start, end int64 }

// Read reports what a module of size bytes holds to the sink.
func Read(file io.ReaderAt, size int64, sink native.Sink) (*Summary, error) {
	x := &reader{file: file, size: size, sink: sink, custom: map[string]section{}}
	if err := x.readSections(); err != nil {
		return nil, err
	}
	if err := x.readTexts(); err != nil {
		return nil, err
	}
	if err := x.readNames(); err != nil {
		return nil, err
	}
	code := make([]native.Range, len(x.bodies))
	for i, b := range x.bodies {
		code[i] = native.Range{Start: b.Start - x.code, End: b.End - x.code}
	}
	var err error
	if x.sum.Debug, err = dwarf.Read(x, moved{sink, x.code}, dwarf.Options{Code: code}); err != nil {
		return nil, err
	}
	if x.sum.Names == 0 && x.sum.Debug.Functions == 0 {
		return nil, errStripped
	}
	x.sum.Functions = len(x.bodies)
	x.sum.Hash, err = hash(file, size)
	return &x.sum, err
}

// errStripped: there is nothing to look up.
var errStripped error = &symbol.InvalidError{Code: symbol.Unsupported,
	Reason: "the module has neither names of functions nor DWARF: it was stripped"}

// Identify returns the identifiers of a module without reading what it holds. One that has nothing to
// look up is a *symbol.InvalidError.
func Identify(file io.ReaderAt, size int64) ([]symbol.Identifier, error) {
	x := &reader{file: file, size: size, custom: map[string]section{}}
	if err := x.readSections(); err != nil {
		return nil, err
	}
	_, names := x.custom["name"]
	if _, debug := x.custom[".debug_info"]; !debug && !names {
		return nil, errStripped
	}
	if err := x.readTexts(); err != nil {
		return nil, err
	}
	var err error
	if x.sum.Hash, err = hash(file, size); err != nil {
		return nil, err
	}
	return x.sum.Identifiers(), nil
}

// Section implements dwarf.Sections.
func (x *reader) Section(name string) (io.ReaderAt, int64, error) {
	s, ok := x.custom[name]
	if !ok {
		return io.NewSectionReader(x.file, 0, 0), 0, nil
	}
	return io.NewSectionReader(x.file, s.start, s.end-s.start), s.end - s.start, nil
}

// readTexts reads the sections that hold one text or id each.
func (x *reader) readTexts() error {
	for name, to := range map[string]*string{"sourceMappingURL": &x.sum.SourceMappingURL, "external_debug_info": &x.sum.ExternalDebug} {
		if c, ok := x.cursor(name); ok {
			text, err := c.text()
			if err != nil {
				return err
			}
			*to = text
		}
	}
	c, ok := x.cursor("build_id")
	if !ok {
		return nil
	}
	n, err := c.u32()
	if err != nil {
		return err
	}
	const most = 64 // bytes: identifiers have 128 digits
	if n > most {
		return symbol.Invalid(symbol.Malformed, "the build id has %d bytes, more than %d", n, most)
	}
	id, err := c.bytes(int(n))
	x.sum.BuildID = hex.EncodeToString(id)
	return err
}

// moved is a sink for functions whose addresses count from a place in the file.
type moved struct {
	to native.Sink
	by uint64
}

// Function implements native.Sink.
func (m moved) Function(f *native.Function) error {
	g := *f
	g.Start, g.End = f.Start+m.by, f.End+m.by
	g.Lines = make([]native.Line, len(f.Lines))
	for i, l := range f.Lines {
		l.Address += m.by
		g.Lines[i] = l
	}
	g.Inlines = make([]native.Inline, len(f.Inlines))
	for i, n := range f.Inlines {
		ranges := make([]native.Range, len(n.Ranges))
		for j, r := range n.Ranges {
			ranges[j] = native.Range{Start: r.Start + m.by, End: r.End + m.by}
		}
		n.Ranges = ranges
		g.Inlines[i] = n
	}
	return m.to.Function(&g)
}

// Public implements native.Sink.
func (m moved) Public(p native.Public) error {
	p.Address += m.by
	return m.to.Public(p)
}

// Unwind implements native.Sink: stacks of modules are not walked.
func (m moved) Unwind(native.Unwind) error { return nil }

const (
	// maxHashed is how much V8 hashes: of a longer module it takes the length.
	maxHashed = 16383
	// hashBits are those of a hash, behind which two say that it is one.
	hashBits = 1<<30 - 1
)

// hash returns the name that V8 gives a module without an address, as Node 16 to 22 and the Chrome
// of their time have it (StringHasher::HashSequentialString with seed 0).
func hash(file io.ReaderAt, size int64) (string, error) {
	h := uint32(size)
	if size <= maxHashed {
		all := make([]byte, size)
		if n, err := file.ReadAt(all, 0); n < len(all) {
			return "", fmt.Errorf("read the module: %w", err)
		}
		h = 0
		for _, c := range all {
			h += uint32(c)
			h += h << 10
			h ^= h >> 6
		}
		h += h << 3
		h ^= h >> 11
		h += h << 15
	}
	return fmt.Sprintf("%08x", h&hashBits<<2|2), nil
}
