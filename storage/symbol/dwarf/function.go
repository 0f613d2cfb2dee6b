package dwarf

import (
	"cmp"
	"slices"

	"github.com/slipway-qa/slipway/storage/symbol/native"
)

// maxInlines bounds the functions that are inlined into one: compilers stop at some
// ten thousand.
const maxInlines = 1 << 20

// checkedRanges: whether an inlined function lies within its caller is checked for callers of
// up to so many ranges.
const checkedRanges = 64

// function collects what the entries below a function's say.
type function struct {
	name    string
	ranges  []native.Range
	inlines []native.Inline
	// open are those that the walk is in, by their place in inlines.
	open []int
	// arena holds the ranges of the inlined functions.
	arena []native.Range
}

func (f *function) reset(name string, ranges []native.Range) {
	f.name, f.ranges = name, append(f.ranges[:0], ranges...)
	f.inlines, f.open, f.arena = f.inlines[:0], f.open[:0], f.arena[:0]
}

func (f *function) beginInline(x native.Inline, ranges []native.Range) error {
	if len(f.inlines) >= maxInlines {
		return errBudget
	}
	x.Depth = len(f.open)
	if len(f.arena)+len(ranges) > cap(f.arena) {
		// Slices of the former arena stay valid: they keep it.
		f.arena = make([]native.Range, 0, max(256, 2*cap(f.arena), len(ranges)))
	}
	from := len(f.arena)
	f.arena = append(f.arena, ranges...)
	x.Ranges = f.arena[from:len(f.arena):len(f.arena)]
	f.open = append(f.open, len(f.inlines))
	f.inlines = append(f.inlines, x)
	return nil
}

// endInline ends the innermost inlined function. What lies in it lies in its caller as well, even
// if the caller's ranges do not say so.
func (f *function) endInline() {
	this := f.open[len(f.open)-1]
	f.open = f.open[:len(f.open)-1]
	if len(f.open) == 0 {
		return
	}
	caller := &f.inlines[f.open[len(f.open)-1]]
	if len(caller.Ranges) > checkedRanges {
		return
	}
	for _, r := range f.inlines[this].Ranges {
		if len(caller.Ranges) <= checkedRanges && !within(caller.Ranges, r) {
			caller.Ranges = append(slices.Clone(caller.Ranges), r)
		}
	}
}

func within(ranges []native.Range, r native.Range) bool {
	for i := range ranges {
		if r.Start >= ranges[i].Start && r.End <= ranges[i].End {
			return true
		}
	}
	return false
}

// emitter reports functions to the sink.
type emitter struct {
	reader  *reader
	lines   *lineTable
	out     native.Function
	rows    []native.Line
	inlines []native.Inline
	covered []native.Range // of functions, in the order of their ends
}

func (e *emitter) begin(r *reader, lines *lineTable) {
	e.reader, e.lines, e.covered = r, lines, e.covered[:0]
}

// function reports each range of a function as one.
func (e *emitter) function(f *function) error {
	for _, at := range f.ranges {
		if e.removed(at) {
			e.reader.summary.Removed++
			continue
		}
		rows, err := e.lines.between(at, e.rows[:0])
		if err != nil {
			return err
		}
		e.rows = rows
		if err := e.reader.budget.spend(len(f.inlines) + len(rows)); err != nil {
			return err
		}
		e.covered = append(e.covered, at)
		e.out = native.Function{Start: at.Start, End: at.End, Name: f.name, Lines: rows, Inlines: e.within(f, at)}
		if err := e.report(); err != nil {
			return err
		}
		e.reader.summary.Functions++
	}
	return nil
}

// within returns the inlined functions that have code in a range.
func (e *emitter) within(f *function, at native.Range) []native.Inline {
	e.inlines = e.inlines[:0]
	skip := -1 // what is below an inlined function outside of the range
	for i := range f.inlines {
		x := f.inlines[i]
		if skip >= 0 && x.Depth > skip {
			continue
		}
		skip = -1
		if !overlaps(x.Ranges, at) {
			skip = x.Depth
			continue
		}
		e.inlines = append(e.inlines, x)
	}
	return e.inlines
}

func overlaps(ranges []native.Range, at native.Range) bool {
	for i := range ranges {
		if ranges[i].Start < at.End && ranges[i].End > at.Start {
			return true
		}
	}
	return false
}

// removed reports whether code is not in the image: the linker left it out, and set its
// address to 0 or 1, or to one before the image.
func (e *emitter) removed(at native.Range) bool {
	if at.Start < e.reader.Base {
		return true
	}
	if len(e.reader.Code) == 0 {
		return at.Start <= 1
	}
	for _, c := range e.reader.Code {
		if at.Start >= c.Start && at.Start < c.End {
			return false
		}
	}
	return true
}

// report hands the function over, with addresses relative to the base.
func (e *emitter) report() error {
	base := e.reader.Base
	if base != 0 {
		e.out.Start -= base
		e.out.End -= base
		for i := range e.out.Lines {
			e.out.Lines[i].Address -= base
		}
		e.rebase(base)
	}
	return e.reader.sink.Function(&e.out)
}

// rebase moves the inlined functions; their ranges belong to the function, so that
// they are copied.
func (e *emitter) rebase(base uint64) {
	for i := range e.out.Inlines {
		moved := slices.Clone(e.out.Inlines[i].Ranges)
		for k := range moved {
			moved[k].Start -= base
			moved[k].End -= base
		}
		e.out.Inlines[i].Ranges = moved
	}
}

// finish reports the lines of code that is in no function, as that of an assembler, and
// what lies between functions.
func (e *emitter) finish(u *unit) error {
	slices.SortFunc(e.covered, func(a, b native.Range) int { return cmp.Compare(a.Start, b.Start) })
	for i := range e.lines.sequences {
		s := &e.lines.sequences[i]
		at := s.start
		for _, c := range e.coveredFrom(s.start) {
			if c.Start >= s.end {
				break
			}
			if c.Start > at {
				if err := e.bare(native.Range{Start: at, End: c.Start}); err != nil {
					return err
				}
			}
			at = max(at, c.End)
		}
		if at < s.end {
			if err := e.bare(native.Range{Start: at, End: s.end}); err != nil {
				return err
			}
		}
	}
	return nil
}

// coveredFrom returns the ranges of functions that may reach beyond an address.
func (e *emitter) coveredFrom(address uint64) []native.Range {
	i, _ := slices.BinarySearchFunc(e.covered, address, func(r native.Range, a uint64) int { return cmp.Compare(r.Start, a) })
	return e.covered[max(i-1, 0):]
}

// bare reports the lines of a range that is in no function.
func (e *emitter) bare(at native.Range) error {
	if e.removed(at) {
		return nil
	}
	rows, err := e.lines.between(at, e.rows[:0])
	if err != nil {
		return err
	}
	e.rows = rows
	if err := e.reader.budget.spend(len(rows)); err != nil {
		return err
	}
	e.out = native.Function{Start: at.Start, End: at.End, Lines: rows}
	return e.report()
}
