// Package dwarf reads DWARF debug information, versions 2 to 5 (https://dwarfstd.org), and
// reports each function that has code, with its lines and what the compiler inlined in it.
//
// Read goes through the compile units one after another: it takes the bytes of one unit into
// memory, runs its line program, and walks its entries. What an entry refers to in
// another unit, in a supplementary file or in a split unit is read by ranges. So the memory depends
// on the largest unit, not on the file.
//
// The name of a function is its linkage name (still mangled) if it or what it is an
// instance of has one, else its plain name, as llvm-symbolizer and addr2line have it.
// Type units are not read: they hold no code. Code that the linker removed is recognised
// by its address (0, 1, and the two highest) and by Options.Code.
//
// A unit that is wrong is skipped, with a warning in the Summary; a file of which nothing
// can be read is a *symbol.InvalidError. All work is counted, and bounded by the
// size of the sections, so that a file whose parts refer to one another again and again
// ends in an error too.
package dwarf

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/slipway-qa/slipway/storage/symbol"
	"github.com/slipway-qa/slipway/storage/symbol/native"
)

// Sections are those of a file that holds debug information.
type Sections interface {
	// Section returns a section and its size, decompressed. Its name is that of ELF
	// (".debug_info", ".debug_str_offsets"), in a Mach-O file as well. One that is missing has
	// size 0. It is called once for each name.
	Section(name string) (io.ReaderAt, int64, error)
}

// Options are what Read needs to know besides the sections.
type Options struct {
	// Base is subtracted from each address: see package native.
	Base uint64
	// Order of bytes; nil: as the first unit has it.
	Order binary.ByteOrder
	// Code are the ranges of the image that hold code, before Base is subtracted. A function
	// outside of them was removed by the linker. None: only functions at 0 and 1 are removed.
	Code []native.Range
	// Split returns the sections of the .dwo file that has the name (joined to the
	// directory of the compilation) and the id, or of the .dwp file that holds it. Nil sections mean
	// that there is none. They are used until the next call. Nil: there are none at all.
	Split func(name string, id uint64) (Sections, error)
	// Supplementary are the sections of the file that .gnu_debugaltlink or .debug_sup
	// names; nil: there is none. When they cannot be read, it is as if there were none.
	Supplementary Sections
}

// Summary says what was read.
type Summary struct {
	Units, Functions int64
	// Skipped counts the units that are wrong.
	Skipped int64
	// Missing counts the split units that were not found. Of these, only what the
	// executable holds itself is known.
	Missing int64
	// MissingUnits are their ids, the first 65,536.
	MissingUnits []uint64
	// Damaged counts the functions whose name or place is wrong.
	Damaged int64
	// Removed counts the functions that the linker removed.
	Removed int64
	// Warnings say what was wrong, the first ones of them.
	Warnings []string
}

// maxWarnings bounds the warnings: who reads them needs a few.
const maxWarnings = 20

func (s *Summary) warn(format string, args ...any) {
	if len(s.Warnings) < maxWarnings {
		s.Warnings = append(s.Warnings, fmt.Sprintf(format, args...))
	}
}

// reader is what is common to all units that are read.
type reader struct {
	Options
	sink    native.Sink
	summary Summary
	budget  budget
	main    *file
	sup     *file
	// splitLast is the .dwo or .dwp file that was opened last, from splitFrom.
	splitLast *file
	splitFrom Sections
	walker    walker
}

// Read reports the functions of a file to a sink. A file without .debug_info has none and is
// no error. It returns a *symbol.InvalidError if no unit can be read, and errors of the
// sections and of the sink as they are.
func Read(sections Sections, sink native.Sink, o Options) (*Summary, error) {
	r := &reader{Options: o, sink: sink}
	var err error
	if r.main, err = openFile(r, sections, ""); err != nil {
		return nil, err
	}
	if o.Supplementary != nil {
		if r.sup, err = openFile(r, o.Supplementary, ""); err != nil {
			var invalid *symbol.InvalidError
			if !errors.As(err, &invalid) {
				return nil, err
			}
			r.sup = nil
			r.summary.warn("the supplementary file: %s", invalid.Reason)
		}
	}
	if err := r.readUnits(); err != nil {
		return nil, err
	}
	return &r.summary, nil
}

func (r *reader) readUnits() error {
	var first error
	for _, u := range r.main.units {
		if !u.mayHoldCode() {
			continue
		}
		r.summary.Units++
		err := r.readUnit(u)
		var invalid *symbol.InvalidError
		switch {
		case errors.Is(err, errBudget):
			return err
		case errors.As(err, &invalid):
			r.summary.Skipped++
			r.summary.warn("the unit at %#x: %s", u.offset, invalid.Reason)
			if first == nil {
				first = invalid
			}
		case err != nil:
			return err
		}
	}
	if first != nil && r.summary.Skipped == r.summary.Units {
		return first
	}
	return nil
}

// damaged counts a wrong entry, which does not end the unit; other errors it returns.
func (r *reader) damaged(err error) error {
	var invalid *symbol.InvalidError
	if err == nil || errors.Is(err, errBudget) || !errors.As(err, &invalid) {
		return err
	}
	r.summary.Damaged++
	r.summary.warn("an entry: %s", invalid.Reason)
	return nil
}

// errBudget ends a file that asks for more work than its size explains.
var errBudget error = &symbol.InvalidError{Code: symbol.TooLarge,
	Reason: "the parts of the debug information refer to one another more often than a file of its size can need"}

// budget bounds the work: bytes read again, ranges, lines and names reported.
type budget struct{ left int64 }

// workPerByte is how much work each byte may cause; real files need less than a fifth of it.
const workPerByte = 64

func (b *budget) grow(bytes int64) { b.left += bytes * workPerByte }

func (b *budget) spend(n int) error {
	if b.left -= int64(n); b.left < 0 {
		return errBudget
	}
	return nil
}
