// Package unwind reads the tables from which debuggers find a caller's registers, and
// reports them as rules in the notation of Breakpad's STACK CFI records.
//
// Read takes what a file has: DWARF call frame information (.eh_frame and
// .debug_frame: frame.go, instruction.go, expression.go), the compact unwind
// information of Mach-O (compact.go), the index of ARM exceptions (exidx.go), and the
// unwind codes of Windows (pdata.go for x64, packed.go for arm64).
//
// Each row that is reported holds all rules in force for its range of addresses, which
// are relative to the file's base. The program counter of the caller is .ra, and the
// stack pointer of the caller is .cfa; a caller that does not exist (the first
// function of a thread) has the .ra .undef.
//
// An entry that is wrong, or that the notation cannot say, is left out and counted: the
// other entries are of use without it. A section that lies about where it is, and
// tables that are made to take time, are a *symbol.InvalidError.
package unwind

import (
	"errors"
	"fmt"
	"io"

	"github.com/slipway-qa/slipway/storage/symbol"
	"github.com/slipway-qa/slipway/storage/symbol/binary"
	"github.com/slipway-qa/slipway/storage/symbol/native"
)

// Summary says what was found.
type Summary struct {
	// Rows were reported.
	Rows int
	// Skipped counts functions, or parts of them, that are wrong or cannot be said in the
	// notation; Reason is what is wrong with the first of them.
	Skipped int
	Reason  string
}

// rulesFactor bounds the text of all rules against the bytes they were read from. Real
// tables need some forty bytes of text for each byte; the bound keeps a small file from
// making an index without end.
const rulesFactor = 512

// reader is one reading.
type reader struct {
	file    *binary.File
	sink    native.Sink
	arch    *registers
	summary Summary
	// left is how much text of rules may still be reported.
	left int64
	last native.Unwind
	held bool
}

// Read reports the rules of a file to the sink. A file without tables has no rows.
func Read(f *binary.File, sink native.Sink) (*Summary, error) {
	r := &reader{file: f, sink: sink, arch: registersOf[f.Arch], left: 1 << 20}
	if r.arch == nil || f.Type == binary.Object {
		return &r.summary, nil
	}
	for _, step := range []func() error{r.ehFrame, r.debugFrame, r.compact, r.exidx, r.pdata} {
		if err := step(); err != nil {
			return &r.summary, err
		}
	}
	return &r.summary, nil
}

// section is the content of a section with where it is.
type section struct {
	r       io.ReaderAt
	size    int64
	address uint64
	name    string
}

// open returns a section; one that the file lacks has size 0.
func (r *reader) open(name string) (section, error) {
	content, size, err := r.file.Section(name)
	if err != nil || size == 0 {
		return section{}, err
	}
	header, _ := r.file.Header(name)
	r.left += size * rulesFactor
	return section{r: content, size: size, address: header.Address, name: name}, nil
}

// read returns n bytes at an offset of the section.
func (s section) read(offset int64, n int) ([]byte, error) {
	if offset < 0 || offset > s.size || int64(n) > s.size-offset {
		return nil, symbol.Invalid(symbol.Truncated, "section %s: %d bytes at %#x lie beyond its end (%d bytes)", s.name, n, offset, s.size)
	}
	p := make([]byte, n)
	if got, err := s.r.ReadAt(p, offset); got < n {
		if err == nil || errors.Is(err, io.EOF) {
			return nil, symbol.Invalid(symbol.Truncated, "section %s ends at %#x", s.name, offset+int64(got))
		}
		return nil, fmt.Errorf("read section %s: %w", s.name, err)
	}
	return p, nil
}

// skip counts an entry that is left out.
func (r *reader) skip(format string, args ...any) {
	if r.summary.Skipped == 0 {
		r.summary.Reason = fmt.Sprintf(format, args...)
	}
	r.summary.Skipped++
}

// report reports rules for the addresses from start up to end, as the file is linked.
// A row that continues the one before it is joined with it.
func (r *reader) report(start, end uint64, rules string) error {
	if end <= start || start < r.file.Base || rules == "" {
		return nil
	}
	start, end = start-r.file.Base, end-r.file.Base
	if r.held && r.last.End == start && r.last.Rules == rules {
		r.last.End = end
		return nil
	}
	if err := r.flush(); err != nil {
		return err
	}
	if r.left -= int64(len(rules)); r.left < 0 {
		return symbol.Invalid(symbol.TooLarge, "the unwind tables make rules of more than %d times their bytes", rulesFactor)
	}
	r.last, r.held = native.Unwind{Start: start, End: end, Rules: rules}, true
	return nil
}

// flush reports the row that was held back.
func (r *reader) flush() error {
	if !r.held {
		return nil
	}
	r.held = false
	r.summary.Rows++
	return r.sink.Unwind(r.last)
}
