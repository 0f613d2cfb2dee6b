package native

import (
	"encoding/binary"
	"io"

	"github.com/slipway-qa/slipway/storage/symbol"
)

const (
	// Kind names the index in its container.
	Kind = "native"
	// Version is that of its format.
	Version = 1

	// How much of each kind of record stays in memory before it is sorted into a run of a
	// temporary file. With the strings it is some 150 MiB at most.
	functionMemory = 32 << 20
	publicMemory   = 16 << 20
	unwindMemory   = 16 << 20

	// maxPublicSize is how far a symbol of unknown size reaches, if no other begins
	// before: the largest functions that are written in assembly are smaller.
	maxPublicSize = 1 << 20
)

// maxMangledSymbols bounds those that are kept in memory for functions without a linkage
// name (some 40 MiB).
const maxMangledSymbols = 1 << 20

// Summary says what an index holds.
type Summary struct {
	Functions, Lines, Inlines, Publics, Unwinds int64
	// Dropped counts what was reported and is not in the index: empty ranges, ranges that end
	// before they begin, the lines of a function that has too many, and ranges below too
	// many others.
	Dropped int64
}

// Builder is the Sink that writes an index. It is for one goroutine. What it takes
// above some memory goes to temporary files; Close removes them.
type Builder struct {
	functions sorter
	publics   sorter
	unwinds   sorter
	strings   interner
	encoder   encoder
	summary   Summary
	buffer    []byte
	mangled   map[uint64]uint64 // by the address of a symbol, the offset of its name
}

// NewBuilder begins an index. Temporary files are made in a folder; "" is the system's.
func NewBuilder(folder string) *Builder {
	b := &Builder{strings: newInterner(folder), mangled: map[uint64]uint64{}}
	for s, limit := range map[*sorter]int{&b.functions: functionMemory, &b.publics: publicMemory, &b.unwinds: unwindMemory} {
		s.limit, s.spool.folder = limit, folder
	}
	b.encoder.strings = &b.strings
	return b
}

// Close frees the temporary files. Finish does so as well.
func (b *Builder) Close() {
	b.functions.close()
	b.publics.close()
	b.unwinds.close()
	b.strings.spool.close()
}

// Function takes a function. One without a name stands for code of which only the lines
// are known; the name is that of the symbol there.
func (b *Builder) Function(f *Function) error {
	if f.End <= f.Start {
		b.summary.Dropped++
		return nil
	}
	payload := binary.AppendUvarint(b.buffer[:0], f.End-f.Start)
	payload = append(payload, quality(f.Name))
	payload, err := b.encoder.function(payload, f, &b.summary)
	if err != nil {
		return err
	}
	b.buffer = payload
	b.summary.Functions++
	return b.functions.add(f.Start, payload)
}

// What is known of a function's name.
const (
	linkageName = iota
	plainName
	noName
)

func quality(name string) byte {
	switch {
	case name == "":
		return noName
	case mangled(name):
		return linkageName
	}
	return plainName
}

// Public takes a symbol.
func (b *Builder) Public(p Public) error {
	if p.Name == "" || p.Address+p.Size < p.Address {
		b.summary.Dropped++
		return nil
	}
	name, err := b.strings.add(p.Name)
	if err != nil {
		return err
	}
	if _, ok := b.mangled[p.Address]; !ok && mangled(p.Name) && len(b.mangled) < maxMangledSymbols {
		b.mangled[p.Address] = name
	}
	b.buffer = binary.AppendUvarint(b.buffer[:0], p.Size)
	b.buffer = binary.AppendUvarint(b.buffer, name)
	b.summary.Publics++
	return b.publics.add(p.Address, b.buffer)
}

// Unwind takes a rule. Where several hold at one address, the shortest wins, of equals
// the first; STACK WIN data with a program string win over those without.
func (b *Builder) Unwind(u Unwind) error {
	if u.End <= u.Start {
		b.summary.Dropped++
		return nil
	}
	text, kind := u.Rules, byte(rulesCFI)
	switch {
	case u.Windows != "" && u.Windows[0] == '4':
		text, kind = u.Windows, rulesFrameData
	case u.Windows != "":
		text, kind = u.Windows, rulesFPO
	}
	rules, err := b.strings.add(text)
	if err != nil {
		return err
	}
	b.buffer = binary.AppendUvarint(b.buffer[:0], u.End-u.Start)
	b.buffer = append(b.buffer, kind)
	b.buffer = binary.AppendUvarint(b.buffer, rules)
	b.summary.Unwinds++
	return b.unwinds.add(u.Start, b.buffer)
}

// The kinds of unwind rules, in the order of their worth for STACK WIN.
const (
	rulesCFI = iota
	rulesFrameData
	rulesFPO
)

// Finish writes the index. The builder is of no use afterwards.
func (b *Builder) Finish(w io.Writer) (*Summary, error) {
	defer b.Close()
	out := symbol.NewWriter(w, Kind, Version)
	for _, write := range []func(*symbol.Writer) error{b.writeFunctions, b.writePublics, b.writeUnwinds, b.writeStrings} {
		if err := write(out); err != nil {
			return nil, err
		}
	}
	if err := out.Close(); err != nil {
		return nil, err
	}
	return &b.summary, nil
}

// writeFunctions gives a function of which only the plain name is known the mangled name
// of the symbol at its start: some compilers leave out the linkage name of instances
// of templates with local types.
func (b *Builder) writeFunctions(w *symbol.Writer) error {
	w.Begin("bodies")
	t := b.table("functions")
	defer t.close()
	at := uint64(0)
	flat := flatten{emit: t.add}
	var named []byte
	err := b.functions.each(func(address uint64, payload []byte) error {
		size, n := binary.Uvarint(payload)
		known, body := payload[n], payload[n+1:]
		if known == plainName {
			if name, ok := b.mangled[address]; ok {
				_, n := binary.Uvarint(body)
				named = append(binary.AppendUvarint(named[:0], name+1), body[n:]...)
				body = named
			}
		}
		if _, err := w.Write(body); err != nil {
			return err
		}
		s := span{start: address, end: address + size, v1: at, v2: uint64(len(body))}
		if known == noName {
			s.class = 1
		}
		at += s.v2
		return flat.add(s)
	})
	if err != nil {
		return err
	}
	return b.finish(&flat, t, w)
}

func (b *Builder) table(name string) *tableWriter {
	folder := b.strings.spool.folder
	return &tableWriter{name: name, blocks: spool{folder: folder}, top: spool{folder: folder}}
}

// finish writes the table of what was flattened.
func (b *Builder) finish(flat *flatten, t *tableWriter, w *symbol.Writer) error {
	if err := flat.close(); err != nil {
		return err
	}
	b.summary.Dropped += flat.dropped
	return t.finish(w)
}

// writePublics gives the symbols of unknown size the one that they have up to the next.
func (b *Builder) writePublics(w *symbol.Writer) error {
	t := b.table("publics")
	defer t.close()
	flat := flatten{emit: t.add}
	var open span // of unknown size
	err := b.publics.each(func(address uint64, payload []byte) error {
		size, n := binary.Uvarint(payload)
		name, _ := binary.Uvarint(payload[n:])
		if open.v2 != 0 && address > open.start {
			open.end = min(address, open.end)
			if err := flat.add(open); err != nil {
				return err
			}
			open.v2 = 0
		}
		if size > 0 {
			return flat.add(span{start: address, end: address + size, v1: name})
		}
		if open.v2 == 0 {
			end := address + maxPublicSize
			if end < address {
				end = ^uint64(0)
			}
			open = span{start: address, end: end, class: 1, v1: name, v2: 1}
		}
		return nil
	})
	if err != nil {
		return err
	}
	if open.v2 != 0 {
		if err := flat.add(open); err != nil {
			return err
		}
	}
	return b.finish(&flat, t, w)
}

// writeUnwinds writes two tables: of CFI, and of STACK WIN.
func (b *Builder) writeUnwinds(w *symbol.Writer) error {
	cfi, windows := b.table("unwind"), b.table("windows")
	defer cfi.close()
	defer windows.close()
	flatCFI, flatWindows := flatten{emit: cfi.add}, flatten{emit: windows.add}
	err := b.unwinds.each(func(address uint64, payload []byte) error {
		size, n := binary.Uvarint(payload)
		rules, _ := binary.Uvarint(payload[n+1:])
		s := span{start: address, end: address + size, class: payload[n], v1: rules}
		if s.class == rulesCFI {
			return flatCFI.add(s)
		}
		return flatWindows.add(s)
	})
	if err != nil {
		return err
	}
	if err := b.finish(&flatCFI, cfi, w); err != nil {
		return err
	}
	return b.finish(&flatWindows, windows, w)
}

func (b *Builder) writeStrings(w *symbol.Writer) error {
	w.Begin("strings")
	return b.strings.spool.copyTo(w)
}
