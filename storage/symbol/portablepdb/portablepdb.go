// Package portablepdb reads portable PDBs, the debug information of .NET: files of their own, and
// those that compilers embed in assemblies.
//
// It has no names of methods, which are in the assembly and in stack traces anyway: what it has is
// the document and line of each offset in the intermediate language (IL) of a method. A stack trace
// that has the token of a method and the offset finds these at Address.
//
// The format is that of metadata (ECMA-335, partition II) with tables of its own:
// https://github.com/dotnet/runtime/blob/main/docs/design/specs/PortablePdb-Metadata.md
//
// Each count and size is checked against the file. A method that is wrong is left out and counted; a
// file that is none, or whose tables are wrong, is a *symbol.InvalidError.
package portablepdb

import (
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/slipway-qa/slipway/storage/symbol"
	"github.com/slipway-qa/slipway/storage/symbol/native"
)

// Arch is what the architecture of intermediate language is called.
const Arch = "msil"

const (
	// base is above each address of native code: an assembly may have both.
	base = 1 << 60
	// maxMethod bounds the offsets in a method, which the format of bodies bounds far above.
	maxMethod = 1 << 24
	// methodTable is in the upper byte of a token of a method.
	methodTable = 0x06
	// maxFile bounds a file: the largest that are known have some 10 MiB.
	maxFile = 512 << 20
)

// Address returns where an offset in a method is found by the method's token; false for a token of
// something else, or an offset that no method has.
func Address(token uint32, offset int64) (uint64, bool) {
	row := token & 0xffffff
	if token>>24 != methodTable || row == 0 || offset < 0 || offset >= maxMethod {
		return 0, false
	}
	return base + uint64(row)*maxMethod + uint64(offset), true
}

// Summary says what a file is and what was found in it.
type Summary struct {
	// GUID and Stamp are the two parts of its id.
	GUID  [16]byte
	Stamp uint32
	// Methods are those with lines, Documents the source files.
	Methods, Documents int
	// Skipped counts the methods that are wrong; Reason is what is wrong with the first of them.
	Skipped int
	Reason  string
}

// Identifiers lists the names by which a crash finds the file: its GUID, with the ages that tools put
// behind it. The debug directory of an assembly says 1, symbol servers FFFFFFFF; others take the
// stamp.
func (s *Summary) Identifiers() []symbol.Identifier {
	g := s.GUID
	guid := fmt.Sprintf("%08x%04x%04x%s", binary.LittleEndian.Uint32(g[:]), binary.LittleEndian.Uint16(g[4:]),
		binary.LittleEndian.Uint16(g[6:]),
		hex.EncodeToString(g[8:]))
	var ids []symbol.Identifier
	for _, age := range []string{"1", "ffffffff", fmt.Sprintf("%x", s.Stamp)} {
		if id, ok := (symbol.Identifier{Type: symbol.DebugID, Value: guid + age}).Normalize(); ok {
			ids = append(ids, id)
		}
	}
	return ids
}

// reader is a file that is being read.
type reader struct {
	root
	sink      native.Sink
	sum       Summary
	documents []string
	work      int // bytes of names and lines that may still be read: rows may share a blob
}

// Read reports what a portable PDB of size bytes holds to the sink.
func Read(file io.ReaderAt, size int64, sink native.Sink) (*Summary, error) {
	if size > maxFile {
		return nil, symbol.Invalid(symbol.TooLarge, "the portable PDB has %d MiB; %d are read at most", size>>20, maxFile>>20)
	}
	all := make([]byte, size)
	if n, err := file.ReadAt(all, 0); n < len(all) {
		return nil, fmt.Errorf("read the portable PDB: %w", err)
	}
	return ReadBytes(all, sink)
}

// ReadBytes is Read for one that is in memory.
func ReadBytes(all []byte, sink native.Sink) (*Summary, error) {
	x := &reader{sink: sink, work: 16*len(all) + 1<<20}
	if err := x.open(all); err != nil {
		return nil, err
	}
	copy(x.sum.GUID[:], x.pdb)
	x.sum.Stamp = binary.LittleEndian.Uint32(x.pdb[16:])
	if err := x.readDocuments(); err != nil {
		return nil, err
	}
	for row := 1; row <= x.methods.count; row++ {
		if err := x.readMethod(row); err != nil {
			return nil, err
		}
		if x.work < 0 {
			return nil, symbol.Invalid(symbol.TooLarge, "the methods have more lines than a file of this size can hold")
		}
	}
	return &x.sum, nil
}

// Identify returns the identifiers of a file without reading its methods.
func Identify(file io.ReaderAt, size int64) ([]symbol.Identifier, error) {
	if size > maxFile {
		return nil, symbol.Invalid(symbol.TooLarge, "the portable PDB has %d MiB; %d are read at most", size>>20, maxFile>>20)
	}
	all := make([]byte, size)
	if n, err := file.ReadAt(all, 0); n < len(all) {
		return nil, fmt.Errorf("read the portable PDB: %w", err)
	}
	var r root
	if err := r.open(all); err != nil {
		return nil, err
	}
	s := Summary{Stamp: binary.LittleEndian.Uint32(r.pdb[16:])}
	copy(s.GUID[:], r.pdb)
	return s.Identifiers(), nil
}

// readDocuments reads the names of the source files.
func (x *reader) readDocuments() error {
	for row := range x.docs.count {
		name, err := x.documentName(x.docs.column(row, 0))
		if err != nil {
			return err
		}
		x.documents = append(x.documents, name)
	}
	x.sum.Documents = len(x.documents)
	return nil
}

const (
	// maxName bounds the name of a source file.
	maxName = 4 << 10
)

// documentName puts a name together: of a separator, and of parts that names share.
func (x *reader) documentName(at int) (string, error) {
	p, err := x.blob(at)
	if err != nil || len(p) == 0 {
		return "", err
	}
	separator, d := string(p[:1]), decoder{p: p[1:]}
	if p[0] == 0 {
		separator = ""
	}
	var b strings.Builder
	for first := true; len(d.p) > 0; first = false {
		index := d.unsigned()
		if d.bad {
			return "", symbol.Invalid(symbol.Malformed, "the name of a document is cut off")
		}
		part, err := x.blob(int(index))
		if err != nil {
			return "", err
		}
		if !first {
			b.WriteString(separator)
		}
		b.Write(part)
		if x.work -= len(part) + 1; x.work < 0 {
			return "", symbol.Invalid(symbol.TooLarge, "the names of documents are longer than a file of this size can need")
		}
		if b.Len() > maxName {
			return "", nil
		}
	}
	return strings.ToValidUTF8(b.String(), "\uFFFD"), nil
}

// readMethod reports the lines of a method.
func (x *reader) readMethod(row int) error {
	lines, err := x.sequencePoints(row - 1)
	var wrong *symbol.InvalidError
	switch {
	case errors.As(err, &wrong):
		if x.sum.Skipped++; x.sum.Reason == "" {
			x.sum.Reason = fmt.Sprintf("the method 0x%08x: %s", methodTable<<24|row, wrong.Reason)
		}
		return nil
	case err != nil:
		return err
	case len(lines) == 0:
		return nil
	}
	x.sum.Methods++
	start := base + uint64(row)*maxMethod
	return x.sink.Function(&native.Function{Start: start, End: start + maxMethod, Lines: lines})
}
