// Package breakpad reads symbol files of Breakpad (.sym): text that dump_syms makes of
// the debug information of any system.
//
// Read goes through the file twice. The first time it keeps the names of files and of
// inlined functions, which other records name by number and which may stand anywhere;
// the second time it reports functions, public symbols and rules to unwind the stack,
// each as soon as its last line was read. So memory holds the names and one function.
//
// Records that are unknown or wrong are left out and counted; a file without a MODULE
// record, or with nothing of use in it, is a *symbol.InvalidError.
//
// The format: https://chromium.googlesource.com/breakpad/breakpad/+/HEAD/docs/symbol_files.md
package breakpad

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/slipway-qa/slipway/storage/symbol"
	"github.com/slipway-qa/slipway/storage/symbol/native"
)

const (
	// maxLine bounds a line. Names of C++ functions have some KiB.
	maxLine = 256 << 10
	// maxNames bounds the names of files and inlined functions in memory, with what each
	// takes besides its text. A browser has a million of a hundred bytes.
	maxNames   = 256 << 20
	nameAside  = 64
	readerSize = 256 << 10
	noName     = "<name omitted>"
)

// Summary says what a file is and what was found in it.
type Summary struct {
	// OS, Arch and DebugFile are from the MODULE record: Linux, x86_64, libfoo.so.
	OS, Arch, DebugFile string
	// CodeFile and URL are from INFO records; "" without.
	CodeFile, URL string
	// DebugID, CodeID and BuildID are normalized; "" where the file has none.
	DebugID, CodeID, BuildID string

	Functions, Publics, Unwinds int
	// Unknown counts records of unknown types, Skipped those that are wrong; Reason is what
	// is wrong with the first of them.
	Unknown, Skipped int
	Reason           string
}

// Identifiers lists the names by which a crash finds the file.
func (s *Summary) Identifiers() []symbol.Identifier {
	var ids []symbol.Identifier
	for _, id := range []symbol.Identifier{
		{Type: symbol.DebugID, Value: s.DebugID}, {Type: symbol.CodeID, Value: s.CodeID}, {Type: symbol.BuildID, Value: s.BuildID},
	} {
		if id.Value != "" {
			ids = append(ids, id)
		}
	}
	return ids
}

// Read reports what a .sym file of size bytes holds to the sink.
func Read(r io.ReaderAt, size int64, sink native.Sink) (*Summary, error) {
	x := &reader{sink: sink, files: map[uint64]string{}, origins: map[uint64]string{}}
	if err := eachLine(r, size, x.name); err != nil {
		return nil, err
	}
	if !x.named {
		return nil, symbol.Invalid(symbol.Malformed, "the file is empty: a symbol file begins with MODULE")
	}
	x.line = 0
	if err := eachLine(r, size, x.record); err != nil {
		return nil, err
	}
	if err := x.finish(); err != nil {
		return nil, err
	}
	s := &x.summary
	if s.Functions+s.Publics+s.Unwinds == 0 && s.Skipped+s.Unknown > 0 {
		return nil, symbol.Invalid(symbol.Malformed, "the file has no record that can be used; of %d others the first: %s",
			s.Skipped+s.Unknown, s.Reason)
	}
	return s, nil
}

// eachLine calls take for each line, without its end. A line that is too long is nil.
func eachLine(r io.ReaderAt, size int64, take func(line []byte) error) error {
	in := bufio.NewReaderSize(io.NewSectionReader(r, 0, size), readerSize)
	for {
		line, err := in.ReadSlice('\n')
		for errors.Is(err, bufio.ErrBufferFull) {
			line = nil
			_, err = in.ReadSlice('\n')
		}
		end := errors.Is(err, io.EOF)
		if err != nil && !end {
			return fmt.Errorf("read symbol file: %w", err)
		}
		if end && len(line) == 0 {
			return nil
		}
		if len(line) > maxLine {
			line = nil
		}
		if err := take(bytes.TrimRight(line, "\r\n")); err != nil || end {
			return err
		}
	}
}

// reader is one reading.
type reader struct {
	sink    native.Sink
	summary Summary
	files   map[uint64]string
	origins map[uint64]string
	names   int // bytes
	named   bool
	line    int

	function   native.Function
	inFunction bool
	ranges     []lineRange
	unwind     unwinding
	scratch    []native.Line
}

// skip counts a record that is wrong.
func (x *reader) skip(format string, args ...any) {
	if x.summary.Skipped == 0 {
		x.summary.Reason = fmt.Sprintf("line %d: ", x.line) + fmt.Sprintf(format, args...)
	}
	x.summary.Skipped++
}

// name takes the records of the first reading: MODULE, FILE and INLINE_ORIGIN.
func (x *reader) name(line []byte) error {
	x.line++
	if !x.named {
		return x.module(line)
	}
	var into map[uint64]string
	kind, rest := word(line)
	switch string(kind) {
	case "FILE":
		into = x.files
	case "INLINE_ORIGIN":
		into = x.origins
	default:
		return nil
	}
	digits, text := word(rest)
	n, ok := decimal(digits)
	if !ok {
		x.skip("%s has no number", kind)
		return nil
	}
	if _, ok := into[n]; ok {
		return nil // of several names the first is kept
	}
	if x.names += len(text) + nameAside; x.names > maxNames {
		return symbol.Invalid(symbol.TooLarge, "the names of files and inlined functions take more than %d bytes (line %d)", maxNames, x.line)
	}
	into[n] = clean(text)
	return nil
}

// module reads the first line: MODULE operatingsystem architecture id name.
func (x *reader) module(line []byte) error {
	kind, rest := word(bytes.TrimPrefix(line, []byte("\xef\xbb\xbf")))
	if string(kind) != "MODULE" {
		return symbol.Invalid(symbol.Malformed, "the first line is not a MODULE record: %.40q", line)
	}
	system, rest := word(rest)
	arch, rest := word(rest)
	id, name := word(rest)
	debugID, ok := symbol.Identifier{Type: symbol.DebugID, Value: string(id)}.Normalize()
	if !ok {
		return symbol.Invalid(symbol.Malformed, "the MODULE record has no debug id: %.80q", line)
	}
	x.named = true
	s := &x.summary
	s.OS, s.Arch, s.DebugFile, s.DebugID = clean(system), clean(arch), clean(name), debugID.Value
	if s.Arch == "arm64e" {
		s.Arch = "arm64"
	}
	return nil
}

// info reads INFO CODE_ID id [name] and INFO URL address.
func (x *reader) info(rest []byte) {
	kind, rest := word(rest)
	s := &x.summary
	switch string(kind) {
	case "CODE_ID":
		id, name := word(rest)
		code, ok := symbol.Identifier{Type: symbol.CodeID, Value: string(id)}.Normalize()
		if !ok {
			x.skip("the code id %.40q is not hexadecimal", id)
			return
		}
		s.CodeID, s.CodeFile = code.Value, clean(name)
		// Of ELF files it is the build id; systems of other files name themselves.
		if system := strings.ToLower(s.OS); system != "windows" && system != "mac" && system != "ios" {
			if build, ok := (symbol.Identifier{Type: symbol.BuildID, Value: string(id)}).Normalize(); ok {
				s.BuildID = build.Value
			}
		}
	case "URL":
		s.URL = clean(rest)
	}
}

// word returns the first word of a line and what follows it.
func word(line []byte) (first, rest []byte) {
	line = bytes.TrimLeft(line, " \t")
	if end := bytes.IndexAny(line, " \t"); end >= 0 {
		return line[:end], bytes.TrimLeft(line[end:], " \t")
	}
	return line, nil
}

// clean returns a text of the file.
func clean(text []byte) string {
	return strings.ToValidUTF8(string(bytes.TrimRight(text, " \t")), "\uFFFD")
}

func decimal(p []byte) (n uint64, ok bool) {
	if len(p) == 0 || len(p) > 18 {
		return 0, false
	}
	for _, c := range p {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = n*10 + uint64(c-'0')
	}
	return n, true
}

func hexadecimal(p []byte) (n uint64, ok bool) {
	if len(p) == 0 || len(p) > 16 {
		return 0, false
	}
	for _, c := range p {
		switch {
		case c >= '0' && c <= '9':
			c -= '0'
		case c|0x20 >= 'a' && c|0x20 <= 'f':
			c = c | 0x20 - 'a' + 10
		default:
			return 0, false
		}
		n = n<<4 | uint64(c)
	}
	return n, true
}
