package proguard

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/slipway-qa/slipway/storage/artifact"
	"github.com/slipway-qa/slipway/storage/artifact/mapping"
	"github.com/slipway-qa/slipway/storage/symbol"
)

// Index reads a mapping of size bytes and writes its index. What is wrong with the mapping
// is a *symbol.InvalidError (truncated, too_large, malformed); other errors come from r
// and w. The time is that of the lines, in a class n log n of its lines.
func Index(r io.ReaderAt, size int64, w io.Writer, opts Options) (*Summary, error) {
	head, err := readHead(r, size)
	if err != nil {
		return nil, err
	}
	out := symbol.NewWriter(w, Kind, Version)
	b := newBuilder(out)
	b.summary = *head
	out.Begin(dataSection)
	if _, err := b.write([]byte{0}); err != nil { // so that no offset is 0
		return nil, err
	}
	if opts.Lines == 0 {
		opts.Lines = maxLines - 1
	}
	lines := newLineReader(r, size)
	if err := b.read(lines, opts.Lines); err != nil {
		return nil, err
	}
	b.summary.Lines = lines.count
	if b.summary.Classes == 0 {
		return nil, symbol.Invalid(symbol.Malformed, `the text is no ProGuard or R8 mapping: it has no line like "a.b.C -> x:"`)
	}
	if err := b.tables(); err != nil {
		return nil, err
	}
	if err := out.Close(); err != nil {
		return nil, err
	}
	return &b.summary, nil
}

// readHead reads what the comments at the top say.
func readHead(r io.ReaderAt, size int64) (*Summary, error) {
	var invalid *artifact.InvalidError
	head, err := mapping.ReadAt(r, size)
	switch {
	case errors.As(err, &invalid): // no class as near as that; the lines decide
		return &Summary{}, nil
	case err != nil:
		return nil, err
	}
	return &Summary{Tool: head.Tool, MapID: head.MapID, MapHash: head.MapHash}, nil
}

// read reads all lines.
func (b *builder) read(lines *lineReader, most int) error {
	for {
		line, err := lines.next()
		if err == io.EOF {
			return b.endClass()
		}
		if err != nil {
			return err
		}
		if lines.count > most {
			return symbol.Invalid(symbol.TooLarge, "the mapping has more than %d lines", most)
		}
		if err := b.line(lines, line); err != nil {
			return err
		}
	}
}

// line takes a line. The line of a class ends with a colon, that of a member does not:
// like ProGuard's retrace, and other than R8's, this does not depend on the indentation.
func (b *builder) line(lines *lineReader, line []byte) error {
	c := cursor{line: line}
	c.blanks()
	switch {
	case c.done():
		return nil
	case line[c.at] == '#':
		if x, ok := parseInfo(line[c.at:]); ok {
			return b.jsonComment(x)
		}
		return nil
	}
	if !b.open || bytes.HasSuffix(bytes.TrimRight(line, " \t"), []byte(":")) {
		l, ok := parseClass(line)
		if !ok {
			return lines.lineError(line, `it maps no class, as "a.b.C -> x:" does`)
		}
		return b.beginClass(&l)
	}
	m, problem := parseMember(line)
	if problem != "" {
		return lines.lineError(line, problem)
	}
	if len(b.class.rows)+len(b.class.fields) >= maxRows {
		return symbol.Invalid(symbol.TooLarge, "class %q of the mapping has more than %d lines",
			excerpt([]byte(b.text(b.class.original))), maxRows)
	}
	b.class.started = true
	if m.method {
		return b.addMethod(&m)
	}
	return b.addField(&m)
}

// jsonComment takes a comment. One that tells the version holds for what follows, and ends
// a class: mappings may be joined.
func (b *builder) jsonComment(x *info) error {
	if x.id != idVersion {
		if !b.open {
			return nil
		}
		return b.comment(x)
	}
	b.version = parseVersion(x.version)
	if version := excerpt([]byte(x.version)); !slices.Contains(b.summary.Versions, version) && len(b.summary.Versions) < 8 {
		b.summary.Versions = append(b.summary.Versions, version)
	}
	return b.endClass()
}

// tables writes the other sections.
func (b *builder) tables() error {
	slices.SortFunc(b.classes, func(x, y classRow) int {
		return cmp.Or(cmp.Compare(x.hash, y.hash), cmp.Compare(y.record, x.record))
	})
	slices.SortFunc(b.sources, func(x, y sourceRow) int {
		return cmp.Or(cmp.Compare(x.hash, y.hash), cmp.Compare(y.original, x.original), cmp.Compare(y.file, x.file))
	})
	var p []byte
	b.out.Begin(classSection)
	for _, c := range b.classes {
		p = binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint64(p[:0], c.hash), c.record)
		if _, err := b.out.Write(p); err != nil {
			return err
		}
	}
	b.out.Begin(sourceSection)
	for _, s := range b.sources {
		p = binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint64(p[:0], s.hash), s.original)
		if _, err := b.out.Write(binary.LittleEndian.AppendUint32(p, s.file)); err != nil {
			return err
		}
	}
	b.out.Begin(headSection)
	text, err := json.Marshal(b.summary)
	if err != nil {
		return fmt.Errorf("write the head of an index: %w", err)
	}
	_, err = b.out.Write([]byte(strings.TrimSpace(string(text))))
	return err
}
