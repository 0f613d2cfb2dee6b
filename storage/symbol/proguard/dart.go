package proguard

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"unicode/utf8"

	"github.com/slipway-qa/slipway/storage/symbol"
)

// Bounds of an obfuscation map.
const (
	// maxDartMap is its size in bytes. Those of large apps have some megabytes.
	maxDartMap = 256 << 20
	// maxDartName is the length of a name in bytes. The longest are addresses of files.
	maxDartName = 4096
)

// dartMarker is the name before the build id that plugins of build tools write into a map, which does
// not have one otherwise.
const dartMarker = "SENTRY_DEBUG_ID_MARKER"

// IndexDart reads the map that Dart's compiler writes for --save-obfuscation-map, a list of names in
// pairs, and writes an index of them as of a mapping that has classes only: ["Cart","aB","_Page","c"]
// says that Cart is called aB. What is wrong with the map is a *symbol.InvalidError. The time is n log n
// of the names, the memory a row of each.
func IndexDart(r io.ReaderAt, size int64, w io.Writer) (*Summary, error) {
	if size > maxDartMap {
		return nil, symbol.Invalid(symbol.TooLarge, "the obfuscation map is larger than %d bytes", int64(maxDartMap))
	}
	out := symbol.NewWriter(w, Kind, Version)
	b := newBuilder(out)
	out.Begin(dataSection)
	if _, err := b.write([]byte{0}); err != nil { // so that no offset is 0
		return nil, err
	}
	if err := b.dartNames(newDartReader(r, size)); err != nil {
		return nil, err
	}
	if err := b.tables(); err != nil {
		return nil, err
	}
	if err := out.Close(); err != nil {
		return nil, err
	}
	return &b.summary, nil
}

// dartNames reads all pairs.
func (b *builder) dartNames(in *dartReader) error {
	for {
		original, ok, err := in.next()
		if err != nil {
			return err
		}
		if !ok {
			return b.endClass()
		}
		original = bytes.Clone(original)
		renamed, ok, err := in.next()
		if err != nil {
			return err
		}
		if !ok {
			return symbol.Invalid(symbol.Malformed, "the obfuscation map has a name without a pair, the last one")
		}
		b.summary.Lines++
		switch {
		case string(original) == dartMarker:
			b.summary.MapID = string(renamed)
		case isDartName(original) && isDartName(renamed):
			if err := b.beginClass(&classLine{original: original, renamed: renamed}); err != nil {
				return err
			}
		}
	}
}

// isDartName reports whether a name can be one of a class. A map also has those of files, libraries
// and operators.
func isDartName(name []byte) bool {
	for i, c := range name {
		switch {
		case c == '_', c == '$', c|0x20 >= 'a' && c|0x20 <= 'z':
		case i > 0 && c >= '0' && c <= '9':
		default:
			return false
		}
	}
	return len(name) > 0
}

// dartReader reads a list of texts in JSON.
type dartReader struct {
	in    *bufio.Reader
	text  []byte
	begun bool
}

func newDartReader(r io.ReaderAt, size int64) *dartReader {
	return &dartReader{in: bufio.NewReaderSize(io.NewSectionReader(r, 0, size), 256<<10)}
}

// IsDartMap reports whether a mapping begins as a list in JSON does, which no other one can.
func IsDartMap(head []byte) bool {
	return bytes.HasPrefix(bytes.TrimLeft(head, " \t\r\n"), []byte("["))
}

// next returns the next text, valid until the next call; false behind the last one.
func (d *dartReader) next() ([]byte, bool, error) {
	c, err := d.skip()
	if err != nil {
		return nil, false, err
	}
	switch {
	case !d.begun && c != '[':
		return nil, false, symbol.Invalid(symbol.Malformed, "the obfuscation map is no list of names")
	case !d.begun:
		d.begun = true
		if c, err = d.skip(); err != nil {
			return nil, false, err
		}
		if c == ']' {
			return nil, false, nil
		}
	case c == ']':
		return nil, false, nil
	case c != ',':
		return nil, false, symbol.Invalid(symbol.Malformed, "the obfuscation map has no comma between two names")
	default:
		if c, err = d.skip(); err != nil {
			return nil, false, err
		}
	}
	if c != '"' {
		return nil, false, symbol.Invalid(symbol.Malformed, "the obfuscation map has a member that is no text")
	}
	return d.name()
}

// skip returns the next byte that is no blank.
func (d *dartReader) skip() (byte, error) {
	for {
		c, err := d.read()
		if err != nil || c != ' ' && c != '\t' && c != '\n' && c != '\r' {
			return c, err
		}
	}
}

func (d *dartReader) read() (byte, error) {
	c, err := d.in.ReadByte()
	if errors.Is(err, io.EOF) {
		return 0, symbol.Invalid(symbol.Truncated, "the obfuscation map ends within the list")
	}
	return c, err
}

// name reads the rest of a text. Escapes other than of a character are kept as they are: names of
// classes have none.
func (d *dartReader) name() ([]byte, bool, error) {
	d.text = d.text[:0]
	for {
		c, err := d.read()
		if err != nil {
			return nil, false, err
		}
		switch c {
		case '"':
			if !utf8.Valid(d.text) {
				return nil, false, symbol.Invalid(symbol.Malformed, "the obfuscation map has a name that is no UTF-8")
			}
			return d.text, true, nil
		case '\\':
			d.text = append(d.text, c)
			if c, err = d.read(); err != nil {
				return nil, false, err
			}
		}
		if d.text = append(d.text, c); len(d.text) > maxDartName {
			return nil, false, symbol.Invalid(symbol.TooLarge, "the obfuscation map has a name of more than %d bytes", maxDartName)
		}
	}
}
