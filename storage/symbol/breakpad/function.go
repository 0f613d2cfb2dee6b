package breakpad

import (
	"bytes"
	"slices"

	"github.com/slipway-qa/slipway/storage/symbol/native"
)

const (
	// maxLines and maxInlines bound what is kept of one function; the largest that
	// compilers make have some ten thousand of each.
	maxLines   = 1 << 20
	maxInlines = 1 << 17
	// maxDepth bounds the nesting of inlined functions; compilers stop below a hundred.
	maxDepth = 1 << 12
)

// lineRange is a line record.
type lineRange struct {
	start, end, file uint64
	line             uint32
}

// record takes the records of the second reading.
func (x *reader) record(line []byte) error {
	x.line++
	kind, rest := word(line)
	switch string(kind) {
	case "FUNC":
		return x.beginFunction(rest)
	case "PUBLIC":
		return x.public(rest)
	case "STACK":
		return x.stack(rest)
	case "INLINE":
		x.inline(rest)
	case "INFO":
		x.info(rest)
	case "MODULE", "FILE", "INLINE_ORIGIN", "":
		if line == nil {
			x.skip("it has more than %d bytes", maxLine)
		}
	default:
		if _, ok := hexadecimal(kind); ok {
			x.lineRecord(kind, rest)
			return nil
		}
		x.summary.Unknown++
		if x.summary.Reason == "" {
			x.summary.Reason = "unknown records, such as " + clean(kind[:min(len(kind), 40)])
		}
	}
	return nil
}

// finish reports what was not yet.
func (x *reader) finish() error {
	if err := x.endFunction(); err != nil {
		return err
	}
	return x.endUnwind()
}

// place reads [m] address.
func place(rest []byte) (address uint64, after []byte, ok bool) {
	first, after := word(rest)
	if string(first) == "m" {
		first, after = word(after)
	}
	address, ok = hexadecimal(first)
	return address, after, ok
}

// beginFunction reads FUNC [m] address size parameter_size name.
func (x *reader) beginFunction(rest []byte) error {
	if err := x.endFunction(); err != nil {
		return err
	}
	address, rest, ok := place(rest)
	digits, rest := word(rest)
	size, sized := hexadecimal(digits)
	parameters, name := word(rest)
	if _, counted := hexadecimal(parameters); !ok || !sized || !counted || address+size < address {
		x.skip("FUNC has no address and sizes")
		return nil
	}
	if len(name) == 0 {
		name = []byte(noName)
	}
	if size == 0 { // as good as a public symbol
		return x.reportPublic(address, clean(name))
	}
	x.function = native.Function{Start: address, End: address + size, Name: clean(name)}
	x.inFunction, x.ranges = true, x.ranges[:0]
	return nil
}

// lineRecord reads address size line filenum.
func (x *reader) lineRecord(first, rest []byte) {
	start, _ := hexadecimal(first)
	digits, rest := word(rest)
	size, ok := hexadecimal(digits)
	number, rest := word(rest)
	line, numbered := decimal(number)
	file, _ := word(rest)
	index, filed := decimal(file)
	switch {
	case !ok || !numbered || !filed || line > 1<<32-1 || start+size < start:
		x.skip("a line record is not address, size, line and file")
	case !x.inFunction:
		x.skip("a line record belongs to no function")
	case len(x.ranges) >= maxLines:
		x.skip("the function at %#x has more than %d lines", x.function.Start, maxLines)
	case size > 0:
		x.ranges = append(x.ranges, lineRange{start: start, end: start + size, file: index, line: uint32(line)})
	}
}

// inline reads INLINE depth call_line call_file origin address size [address size ...].
func (x *reader) inline(rest []byte) {
	var numbers [4]uint64
	for i := range numbers {
		var digits []byte
		var ok bool
		digits, rest = word(rest)
		if numbers[i], ok = decimal(digits); !ok {
			x.skip("INLINE has no depth, line, file and origin")
			return
		}
	}
	var ranges []native.Range
	for len(rest) > 0 {
		var a, b []byte
		a, rest = word(rest)
		b, rest = word(rest)
		start, ok := hexadecimal(a)
		size, sized := hexadecimal(b)
		if !ok || !sized || start+size < start {
			x.skip("INLINE has an address without a size")
			return
		}
		if size > 0 {
			ranges = append(ranges, native.Range{Start: start, End: start + size})
		}
	}
	if !x.inFunction || len(x.function.Inlines) >= maxInlines || numbers[0] > maxDepth || numbers[1] > 1<<32-1 {
		x.skip("INLINE belongs to no function, or to one with too many of them")
		return
	}
	name, ok := x.origins[numbers[3]]
	if !ok {
		name = noName
	}
	if len(ranges) > 0 {
		x.function.Inlines = append(x.function.Inlines, native.Inline{
			Ranges: ranges, Depth: int(numbers[0]), Name: name, CallFile: x.files[numbers[2]], CallLine: uint32(numbers[1]),
		})
	}
}

// endFunction reports the function that was read.
func (x *reader) endFunction() error {
	if !x.inFunction {
		return nil
	}
	x.inFunction = false
	f := &x.function
	f.Lines = x.lines()
	// A caller stands before what is inlined in it.
	slices.SortStableFunc(f.Inlines, func(a, b native.Inline) int { return a.Depth - b.Depth })
	x.summary.Functions++
	return x.sink.Function(f)
}

// lines returns the line records in the order of their addresses. Of two at one address
// the first counts; a gap is a line 0.
func (x *reader) lines() []native.Line {
	slices.SortStableFunc(x.ranges, func(a, b lineRange) int {
		if a.start < b.start {
			return -1
		}
		if a.start > b.start {
			return 1
		}
		return 0
	})
	x.scratch = x.scratch[:0]
	end, began := x.function.Start, uint64(0)
	for i, r := range x.ranges {
		start := max(r.start, x.function.Start)
		if start >= x.function.End || r.end <= start || i > 0 && start == began {
			continue
		}
		if start > end {
			x.scratch = append(x.scratch, native.Line{Address: end})
		}
		x.scratch = append(x.scratch, native.Line{Address: start, File: x.files[r.file], Line: r.line})
		end, began = r.end, start
	}
	if len(x.scratch) > 0 && end < x.function.End {
		x.scratch = append(x.scratch, native.Line{Address: end})
	}
	return x.scratch
}

// public reads PUBLIC [m] address parameter_size name.
func (x *reader) public(rest []byte) error {
	if err := x.endFunction(); err != nil {
		return err
	}
	address, rest, ok := place(rest)
	parameters, name := word(rest)
	if _, counted := hexadecimal(parameters); !ok || !counted {
		x.skip("PUBLIC has no address and size")
		return nil
	}
	if name = bytes.TrimSpace(name); len(name) == 0 {
		name = []byte(noName)
	}
	return x.reportPublic(address, clean(name))
}

func (x *reader) reportPublic(address uint64, name string) error {
	x.summary.Publics++
	return x.sink.Public(native.Public{Address: address, Name: name})
}
