// Package filetype says what a symbol file is, by its content: by the first bytes, where these
// say all; by the keys of a JSON text; by how a text reads. It reads no more of a file than that,
// and trusts nothing in it. The server and the program that sends files decide by it alike.
//
// What is known and of no use here, such as a minidump or a Java class, is Other with a text that
// says what it is, and where it belongs; what is not known has no format.
package filetype

import (
	"bytes"
	"encoding/binary"
	"io"
	"path"
	"strings"
	"unicode/utf8"

	"github.com/slipway-qa/slipway/storage/artifact/mapping"
	"github.com/slipway-qa/slipway/storage/symbol"
)

// Format is what a file is: a symbol.Kind, one of the archives, or none of these.
type Format string

// The formats besides the kinds of symbol files.
const (
	Zip   Format = "zip"
	Tar   Format = "tar"
	Gzip  Format = "gzip"
	Zstd  Format = "zstd"
	Xz    Format = "xz"
	Other Format = "other" // known, and of no use here: Of says what it is
)

// Archive reports whether files of the format hold others.
func (f Format) Archive() bool { return f == Zip || f == Tar }

// Packed reports whether files of the format hold one compressed file.
func (f Format) Packed() bool { return f == Gzip || f == Zstd || f == Xz }

// Symbols reports whether files of the format are a kind of symbol files.
func (f Format) Symbols() bool {
	switch symbol.Kind(f) {
	case symbol.ProGuard, symbol.SourceMap, symbol.Source:
		return true
	}
	return symbol.Kind(f).Native()
}

// HeadSize is what Of looks at, besides the keys of JSON: as much as the head of a
// mapping may have.
const HeadSize = mapping.Head

// magics are beginnings that say all.
var magics = []struct {
	magic  string
	format Format
	what   string // of Other
}{
	{"\x7fELF", Format(symbol.ELF), ""},
	{"\xfe\xed\xfa\xce", Format(symbol.MachO), ""},
	{"\xfe\xed\xfa\xcf", Format(symbol.MachO), ""},
	{"\xce\xfa\xed\xfe", Format(symbol.MachO), ""},
	{"\xcf\xfa\xed\xfe", Format(symbol.MachO), ""},
	{"Microsoft C/C++ ", Format(symbol.PDB), ""}, // of both versions; the reader says which it reads
	{"\x00asm\x01\x00\x00\x00", Format(symbol.Wasm), ""},
	{"\x00asm", Other, "a component of WebAssembly; the modules in it are what is needed"},
	{"MODULE ", Format(symbol.Breakpad), ""},
	{"\xef\xbb\xbfMODULE ", Format(symbol.Breakpad), ""},
	{"PK\x03\x04", Zip, ""},
	{"PK\x05\x06", Zip, ""}, // an empty one
	{"SYSB", Zip, ""},       // a source bundle: a zip behind eight bytes
	{"\x1f\x8b", Gzip, ""},
	{"\x28\xb5\x2f\xfd", Zstd, ""},
	{"\xfd7zXZ\x00", Xz, ""},
	{"BZh", Other, "compressed by bzip2; send it as it is, or as gzip, zstd, xz or zip"},
	{"7z\xbc\xaf\x27\x1c", Other, "a 7z archive; send a zip or tar.gz"},
	{"Rar!", Other, "a RAR archive; send a zip or tar.gz"},
	{"BSJB", Format(symbol.PortablePDB), ""},
	{"MDMP", Other, "a minidump, which is a crash; send it with format=minidump"},
	{"PMDM", Other, "a minidump, which is a crash; send it with format=minidump"},
	{"plcrash", Other, "a crash report of PLCrashReporter; send it with format=plcrash"},
	{"\xc6\x1f\xbc\x03\xc1\x03\x19\x1f", Other, "Hermes bytecode; its source map is what is needed"},
	{"!<arch>\n", Other, "a static library, which no process has loaded"},
	{"bplist", Other, "a property list"},
	{"SQLite format 3\x00", Other, "a database"},
	{"\x89PNG", Other, "an image"},
}

// Of returns the format of a file by its content, and in words what it is when it is
// Other or unknown (""). The name decides only whether a plain text is a source.
func Of(r io.ReaderAt, size int64, name string) (Format, string, error) {
	head := make([]byte, min(size, HeadSize))
	if n, err := r.ReadAt(head, 0); n < len(head) {
		return "", "", err
	}
	if len(head) == 0 {
		return Other, "empty", nil
	}
	for _, m := range magics {
		if bytes.HasPrefix(head, []byte(m.magic)) {
			return m.format, m.what, nil
		}
	}
	if format, what := byHeader(r, head, size); format != "" {
		return format, what, nil
	}
	return byText(r, head, size, name)
}

// byHeader recognises what takes more than the first bytes.
func byHeader(r io.ReaderAt, head []byte, size int64) (Format, string) {
	switch magic := binary.BigEndian.Uint32(append(bytes.Clone(head[:min(4, len(head))]), 0, 0, 0, 0)); {
	case (magic == 0xcafebabe || magic == 0xcafebabf) && len(head) >= 8:
		// A Java class begins alike; where a fat file has the number of its
		// architectures, a class has its version, which is 45 or more.
		if binary.BigEndian.Uint32(head[4:]) >= 45 {
			return Other, "a Java class"
		}
		return Format(symbol.MachO), ""
	case bytes.HasPrefix(head, []byte("MZ")) && len(head) >= 64:
		at := int64(binary.LittleEndian.Uint32(head[60:]))
		var sign [4]byte
		if at+4 <= size {
			if n, _ := r.ReadAt(sign[:], at); n == 4 && string(sign[:]) == "PE\x00\x00" {
				return Format(symbol.PE), ""
			}
		}
		return Other, "a program for DOS"
	}
	if IsTar(head) {
		return Tar, ""
	}
	return "", ""
}

// IsTar reports whether a head is that of a tar. It compares the checksum of the first header, which is the sum of its bytes with the
// field itself as blanks (POSIX.1-1988, ustar).
func IsTar(head []byte) bool {
	const block, field, length = 512, 148, 8
	if len(head) < block || head[0] == 0 {
		return false
	}
	want := 0
	digits := 0
	for _, c := range bytes.TrimLeft(head[field:field+length], " ") {
		if c < '0' || c > '7' {
			break
		}
		want, digits = want*8+int(c-'0'), digits+1
	}
	sum := 0
	for i, c := range head[:block] {
		if i >= field && i < field+length {
			c = ' '
		}
		sum += int(c)
	}
	return digits > 0 && sum == want
}

// sources are the endings of names of source texts: those that stack traces of scripts lead
// to, and those that debuggers ask for beside debug information.
var sources = map[string]bool{".js": true, ".mjs": true, ".cjs": true, ".jsx": true, ".ts": true, ".mts": true, ".cts": true,
	".tsx": true, ".vue": true, ".svelte": true, ".coffee": true, ".bundle": true, ".jsbundle": true, ".map": true,
	".c": true, ".cc": true, ".cpp": true, ".cxx": true, ".h": true, ".hh": true, ".hpp": true, ".hxx": true, ".inc": true,
	".inl": true, ".ipp": true, ".tcc": true, ".m": true, ".mm": true, ".s": true, ".rs": true, ".go": true, ".swift": true,
	".zig": true, ".nim": true, ".d": true, ".f90": true}

// byText recognises mappings, source maps and scripts.
func byText(r io.ReaderAt, head []byte, size int64, name string) (Format, string, error) {
	if bytes.IndexByte(head, 0) >= 0 || !isText(head) {
		return "", "", nil
	}
	if isDartMap(head, name) {
		return Format(symbol.ProGuard), "", nil
	}
	keys, err := readKeys(io.NewSectionReader(r, 0, size))
	if err != nil {
		return "", "", err
	}
	if keys["mappings"] || keys["sections"] && keys["version"] || keys["sources"] && keys["version"] {
		return Format(symbol.SourceMap), "", nil
	}
	if keys != nil {
		return Other, "JSON, and no source map: neither mappings nor sections are in it", nil
	}
	if _, err := mapping.Read(bytes.NewReader(head)); err == nil {
		return Format(symbol.ProGuard), "", nil
	}
	if sources[strings.ToLower(path.Ext(name))] {
		return Format(symbol.Source), "", nil
	}
	tail := make([]byte, min(size, 4<<10))
	if n, err := r.ReadAt(tail, size-int64(len(tail))); n < len(tail) {
		return "", "", err
	}
	if bytes.Contains(tail, []byte("# sourceMappingURL=")) || bytes.Contains(tail, []byte("# debugId=")) ||
		bytes.Contains(tail, []byte("@ sourceMappingURL=")) {
		return Format(symbol.Source), "", nil
	}
	return Other, "a text that is neither a mapping, a source map, a script nor a Breakpad symbol file", nil
}

// isText reports whether a head is UTF-8, whose last character may be cut off.
func isText(head []byte) bool {
	for len(head) > 0 {
		c, n := utf8.DecodeRune(head)
		if c == utf8.RuneError && n <= 1 {
			return len(head) < utf8.UTFMax && !utf8.FullRune(head)
		}
		head = head[n:]
	}
	return true
}
