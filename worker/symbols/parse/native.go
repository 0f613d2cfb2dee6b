package parse

import (
	"errors"
	"slices"

	"github.com/slipway-qa/slipway/storage/symbol"
	"github.com/slipway-qa/slipway/storage/symbol/binary"
	"github.com/slipway-qa/slipway/storage/symbol/breakpad"
	"github.com/slipway-qa/slipway/storage/symbol/dwarf"
	"github.com/slipway-qa/slipway/storage/symbol/native"
	"github.com/slipway-qa/slipway/storage/symbol/pdb"
	"github.com/slipway-qa/slipway/storage/symbol/portablepdb"
	"github.com/slipway-qa/slipway/storage/symbol/unwind"
	"github.com/slipway-qa/slipway/storage/symbol/wasm"
)

// look reads the headers of a member of native code: how many architectures it has, and
// which other files lack what is in it. A file that cannot be opened is one architecture,
// for Index to say why.
func look(m *Member, folder string) error {
	m.Slices = 1
	kind := symbol.Kind(m.Format)
	if kind != symbol.MachO && kind != symbol.ELF {
		return nil
	}
	f, size, err := open(m.File)
	if err != nil {
		return err
	}
	defer f.Close()
	files, err := binary.OpenAll(f, size)
	if err != nil {
		return nil
	}
	m.Slices = len(files)
	temporary := temporaries(folder)
	files[0].Temporary = func() (binary.Temporary, error) { return temporary() }
	defer files[0].Close()
	m.Supplies, err = supplied(files[0], f, size)
	var wrong *symbol.InvalidError
	if errors.As(err, &wrong) {
		return nil
	}
	return err
}

// readBinary reads an ELF, Mach-O or PE.
func readBinary(in input) (*Indexed, error) {
	files, err := binary.OpenAll(in.file, in.size)
	if err != nil {
		return nil, err
	}
	if in.Slice >= len(files) {
		return nil, symbol.Invalid(symbol.Malformed, "the file has %d architectures, not %d", len(files), in.Slice+1)
	}
	f := files[in.Slice]
	defer f.Close()
	if f.Type == binary.Core {
		return nil, symbol.Invalid(symbol.Unsupported, "this file is the memory of a process, not a program")
	}
	temporary := temporaries(in.Folder)
	f.Temporary = func() (binary.Temporary, error) { return temporary() }
	b := native.NewBuilder(in.Folder)
	defer b.Close()
	others, err := readCompanions(in)
	if err != nil {
		return nil, err
	}
	defer others.close()
	debug, err := readDebug(f, others, b)
	if err != nil {
		return nil, err
	}
	if _, err := f.Symbols(b); err != nil {
		return nil, err
	}
	// What is in it besides the other symbols cannot be read: the file says so in its warnings.
	_, mini := f.MiniSymbols(b)
	var wrong *symbol.InvalidError
	if mini != nil && !errors.As(mini, &wrong) {
		return nil, mini
	}
	managed, embedded := readEmbedded(f, b)
	if embedded != nil && !errors.As(embedded, &wrong) {
		return nil, embedded
	}
	rules, err := unwind.Read(f, b)
	if err != nil {
		return nil, err
	}
	done, err := finish(b, in)
	if err != nil {
		return nil, err
	}
	done.Arch, done.Facts.Identifiers = f.Arch, f.Identifiers()
	if managed != nil {
		done.Facts.Managed = true
		done.Facts.Identifiers = append(done.Facts.Identifiers, managed.Identifiers()...)
		done.Facts.Dropped += int64(managed.Skipped)
		done.Facts.warn(managed.Reason)
	}
	if f.HasCode() {
		done.Features = append(done.Features, Text)
	}
	done.Facts.Dropped += int64(rules.Skipped) + debug.Skipped + debug.Damaged + debug.Missing
	done.Facts.warn(debug.Warnings...)
	done.Facts.warn(rules.Reason)
	for _, err := range []error{mini, embedded} {
		if err != nil {
			done.Facts.warn(err.Error())
		}
	}
	slices.Sort(debug.MissingUnits)
	done.Facts.Lacks = append(others.lacked, splitLinks(slices.Compact(debug.MissingUnits))...)
	// A file that supplies nothing that can be read says so in its warnings.
	done.Facts.Supplies, err = supplied(f, in.file, in.size)
	if err != nil && !errors.As(err, &wrong) {
		return nil, err
	}
	return done, nil
}

// readDebug reads the debug information of a file: its own, else that of the file which its
// .gnu_debuglink names. With a build id crashes find that file themselves.
func readDebug(f *binary.File, others *companions, b *native.Builder) (*dwarf.Summary, error) {
	if f.HasDebug() {
		return readDWARF(f, f, others, b)
	}
	if f.DebugLink == nil || f.BuildID != "" {
		return &dwarf.Summary{}, nil
	}
	other, err := others.find(debugFileLink(f.DebugLink.CRC))
	if err != nil || other == nil || other.Arch != f.Arch {
		return &dwarf.Summary{}, err
	}
	sum, err := readDWARF(f, other, others, b)
	if err != nil {
		return nil, err
	}
	_, err = other.Symbols(b)
	return sum, err
}

// readDWARF reads the debug information that from has of a file.
func readDWARF(f, from *binary.File, others *companions, b *native.Builder) (*dwarf.Summary, error) {
	o := dwarf.Options{Base: f.Base, Order: f.Order, Split: others.findSplit}
	for _, s := range f.Sections() {
		if s.Code && s.Size > 0 {
			o.Code = append(o.Code, native.Range{Start: s.Address, End: s.Address + s.Size})
		}
	}
	if link := from.AltLink; link != nil {
		other, err := others.find(symbol.Link{Type: symbol.Supplementary, Value: link.BuildID})
		if err != nil {
			return nil, err
		}
		if other != nil {
			o.Supplementary = other
		}
	}
	return dwarf.Read(from, b, o)
}

// readBreakpad reads a .sym file.
func readBreakpad(in input) (*Indexed, error) {
	return readWhole(in, func(b *native.Builder) (arch string, facts Facts, err error) {
		sum, err := breakpad.Read(in.file, in.size, b)
		if err != nil {
			return "", facts, err
		}
		facts = Facts{Identifiers: sum.Identifiers(), Dropped: int64(sum.Unknown + sum.Skipped)}
		facts.warn(sum.Reason)
		return sum.Arch, facts, nil
	})
}

// readPDB reads a program database.
func readPDB(in input) (*Indexed, error) {
	return readWhole(in, func(b *native.Builder) (arch string, facts Facts, err error) {
		sum, err := pdb.Read(in.file, in.size, b)
		if err != nil {
			return "", facts, err
		}
		facts = Facts{Identifiers: sum.Identifiers(), Dropped: int64(sum.Skipped)}
		facts.warn(sum.Reason)
		return sum.Arch, facts, nil
	})
}

// readEmbedded reads the portable PDB in an assembly; nil when it has none.
func readEmbedded(f *binary.File, b *native.Builder) (*portablepdb.Summary, error) {
	file, err := f.EmbeddedPDB()
	if err != nil || file == nil {
		return nil, err
	}
	return portablepdb.ReadBytes(file, b)
}

// readPortablePDB reads the debug information of .NET.
func readPortablePDB(in input) (*Indexed, error) {
	return readWhole(in, func(b *native.Builder) (arch string, facts Facts, err error) {
		sum, err := portablepdb.Read(in.file, in.size, b)
		if err != nil {
			return "", facts, err
		}
		facts = Facts{Identifiers: sum.Identifiers(), Managed: true, Dropped: int64(sum.Skipped)}
		facts.warn(sum.Reason)
		return portablepdb.Arch, facts, nil
	})
}

// readWasm reads a module of WebAssembly.
func readWasm(in input) (*Indexed, error) {
	return readWhole(in, func(b *native.Builder) (arch string, facts Facts, err error) {
		sum, err := wasm.Read(in.file, in.size, b)
		if err != nil {
			return "", facts, err
		}
		facts = Facts{Identifiers: sum.Identifiers(), SourceMap: reference(sum.SourceMappingURL),
			Dropped: sum.Debug.Skipped + sum.Debug.Damaged}
		facts.warn(sum.Reason)
		facts.warn(sum.Debug.Warnings...)
		return wasm.Arch, facts, nil
	})
}

// readWhole writes the index of a file that one reader reads whole.
func readWhole(in input, read func(*native.Builder) (arch string, facts Facts, err error)) (*Indexed, error) {
	b := native.NewBuilder(in.Folder)
	defer b.Close()
	arch, facts, err := read(b)
	if err != nil {
		return nil, err
	}
	done, err := finish(b, in)
	if err != nil {
		return nil, err
	}
	facts.Dropped += done.Facts.Dropped
	done.Arch, done.Facts = arch, facts
	return done, nil
}

// finish writes the index of native code.
func finish(b *native.Builder, in input) (*Indexed, error) {
	sum, err := b.Finish(in.out)
	if err != nil {
		return nil, err
	}
	done := &Indexed{Facts: Facts{Dropped: sum.Dropped}, Features: []string{}}
	for _, has := range []struct {
		n    int64
		name string
	}{{sum.Functions, Functions}, {sum.Lines, Lines}, {sum.Inlines, Inlines}, {sum.Publics, Publics}, {sum.Unwinds, Unwind}} {
		if has.n > 0 {
			done.Features = append(done.Features, has.name)
		}
	}
	return done, nil
}
