// Package mapping reads the head of ProGuard and R8 mapping files, which map the
// obfuscated names of Android apps to the original ones.
//
// A mapping is text: comments ("# compiler: R8") at first, then for each class a
// line "original.Name -> obfuscated:" and indented lines of its members (the
// format is described in R8's "retrace" documentation and in ProGuard's manual).
// The comments name the compiler and, since R8 2.1, an id (pg_map_id) that the
// app carries too. ProGuard itself writes no comments.
//
// Mappings have up to some hundred MiB: only the head is read, as far as the
// first class. A file without one there is no mapping.
package mapping

import (
	"bytes"
	"io"
	"strings"

	"github.com/slipway-qa/slipway/storage/artifact"
)

const (
	// Head is how many bytes are read at most. The longest heads contain licences.
	Head = 256 << 10
	// maxLines is how far the first class may be.
	maxLines = 2000
	// maxValue bounds a value of the head in bytes.
	maxValue = 255
)

// Read reads the head of a mapping. A text that is not one is an
// *artifact.InvalidError; other errors come from r.
func Read(r io.Reader) (*artifact.Symbols, error) {
	head, err := io.ReadAll(io.LimitReader(r, Head))
	if err != nil {
		return nil, err
	}
	s, ok := parse(head)
	if !ok {
		return nil, &artifact.InvalidError{Reason: `the text is no ProGuard or R8 mapping: no line like "a.b.C -> x:" at its start`}
	}
	return s, nil
}

// ReadAt reads the head of a mapping of size bytes.
func ReadAt(r io.ReaderAt, size int64) (*artifact.Symbols, error) {
	return Read(io.NewSectionReader(r, 0, size))
}

// parse reads the comments up to the first class.
func parse(head []byte) (*artifact.Symbols, bool) {
	s := &artifact.Symbols{Kind: artifact.Mapping}
	head = bytes.TrimPrefix(head, []byte("\xef\xbb\xbf"))
	var compiler, version string
	for range maxLines {
		line, rest, more := bytes.Cut(head, []byte("\n"))
		text := strings.TrimRight(string(line), " \t\r")
		if isClass(text) {
			s.Tool = strings.TrimSpace(compiler + " " + version)
			return s, true
		}
		if comment, ok := strings.CutPrefix(strings.TrimLeft(text, " \t"), "#"); ok {
			key, value, _ := strings.Cut(comment, ":")
			value = strings.TrimSpace(value)
			if len(value) > maxValue {
				value = ""
			}
			switch strings.TrimSpace(key) {
			case "compiler":
				compiler = value
			case "compiler_version":
				version = value
			case "pg_map_id":
				s.MapID = value
			case "pg_map_hash": // "SHA-256 7f…"
				s.MapHash = strings.ToLower(value[strings.LastIndexByte(value, ' ')+1:])
			}
		}
		if !more {
			break
		}
		head = rest
	}
	return nil, false
}

// isClass reports whether a line maps a class: "a.b.C -> x:".
func isClass(line string) bool {
	line, colon := strings.CutSuffix(line, ":")
	from, to, arrow := strings.Cut(line, " -> ")
	return colon && arrow && isName(from) && isName(to)
}

// isName reports whether a text can be the name of a class: any letters, as the
// virtual machine allows, but no blanks and no punctuation of the format.
func isName(name string) bool {
	return name != "" && name[0] != '#' && !strings.ContainsAny(name, " \t\x00;[/():<>\"{}") && !strings.Contains(name, "..")
}
