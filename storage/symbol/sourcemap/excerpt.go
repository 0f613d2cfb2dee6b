package sourcemap

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"strings"

	"github.com/klauspost/compress/s2"

	"github.com/slipway-qa/slipway/storage/symbol/javascript"
)

const (
	// maxExcerpt bounds the lines before and after the one asked for.
	maxExcerpt = 50
	// maxLine bounds the bytes of a line in an excerpt: minified scripts are one line.
	maxLine = 1 << 10
	// maxExcerptPieces bounds what is read for an excerpt.
	maxExcerptPieces = 64
)

// Line is a line of a source text.
type Line struct {
	// Number counts from 1.
	Number int
	// Text is without the line's end; at most 1 KiB of it.
	Text string
	// Cut reports that the line goes on.
	Cut bool
}

// textReader reads texts from their pieces.
type textReader struct {
	pieces, text *table
}

// piece is a record of a piece of text.
type piece struct {
	at     int64
	packed uint32
	plain  uint32
	lines  uint32
}

func (t *textReader) record(n uint32) (piece, error) {
	p, err := t.pieces.bytes(int64(n)*pieceSize, pieceSize)
	if err != nil {
		return piece{}, err
	}
	return piece{at: int64(binary.LittleEndian.Uint64(p)), packed: binary.LittleEndian.Uint32(p[8:]),
		plain: binary.LittleEndian.Uint32(p[12:]),
		lines: binary.LittleEndian.Uint32(p[16:])}, nil
}

// read returns the text of a piece.
func (t *textReader) read(p piece) ([]byte, error) {
	packed, err := t.text.bytes(p.at, int64(p.packed))
	if err != nil {
		return nil, err
	}
	if n, err := s2.DecodedLen(packed); err != nil || n > 4*pieceText {
		return nil, fmt.Errorf("a text in the index of a source map is wrong")
	}
	plain, err := s2.Decode(nil, packed)
	if err != nil {
		return nil, fmt.Errorf("a text in the index of a source map is wrong: %w", err)
	}
	return plain, nil
}

// all returns the whole text of a source of at most limit bytes; false for a longer one.
func (t *textReader) all(f file, limit int) ([]byte, bool, error) {
	if !f.has || int(f.size) > limit {
		return nil, false, nil
	}
	var text []byte
	for n := range f.pieces {
		p, err := t.record(f.first + n)
		if err != nil {
			return nil, false, err
		}
		part, err := t.read(p)
		if err != nil {
			return nil, false, err
		}
		text = append(text, part...)
	}
	return text, true, nil
}

// excerpt returns the lines from to to, counted from 0, as far as there are such.
func (t *textReader) excerpt(f file, from, to int) ([]Line, error) {
	if !f.has {
		return nil, nil
	}
	// the last piece that begins at or before the beginning of the first line
	lo, hi := uint32(0), f.pieces
	for hi-lo > 1 {
		mid := (lo + hi) / 2
		p, err := t.record(f.first + mid)
		if err != nil {
			return nil, err
		}
		if int64(p.lines) < int64(from) {
			lo = mid
		} else {
			hi = mid
		}
	}
	if from == 0 {
		lo = 0
	}
	var lines []Line
	var open *Line // the line that a piece ended in
	number := 0
	for n := range uint32(maxExcerptPieces) {
		if lo+n >= f.pieces {
			break
		}
		p, err := t.record(f.first + lo + n)
		if err != nil {
			return nil, err
		}
		if n == 0 {
			number = int(p.lines)
			open = &Line{Number: number + 1}
		}
		text, err := t.read(p)
		if err != nil {
			return nil, err
		}
		for {
			end, width := lineEnd(text)
			part := text
			if width > 0 {
				part = text[:end]
			}
			open.add(part)
			if width == 0 {
				break
			}
			if number >= from {
				lines = append(lines, *open)
			}
			number++
			if number > to {
				return lines, nil
			}
			text = text[end+width:]
			open = &Line{Number: number + 1}
		}
	}
	if open != nil && number >= from && number <= to {
		lines = append(lines, *open)
	}
	return lines, nil
}

func (l *Line) add(p []byte) {
	if room := maxLine - len(l.Text); room < len(p) {
		p = p[:max(room, 0)]
		l.Cut = true
	}
	l.Text += string(cutRune(bytes.Clone(p)))
}

// lineEnd finds the end of the first line and how many bytes it has; 0 when there is none.
func lineEnd(p []byte) (at, width int) {
	for at = range p {
		switch p[at] {
		case '\n', '\r', 0xe2:
			if _, width = javascript.Newline(p[at:]); width > 0 {
				return at, width
			}
		}
	}
	return len(p), 0
}

// Excerpt returns the lines of source n, counted from 0, around a line, counted from 1: at
// most 50 before and after it; none when its text is not in the map or has no such line.
func (m *Map) Excerpt(n, line, around int) ([]Line, error) {
	if n < 0 || n >= m.info.Sources || line < 1 {
		return nil, nil
	}
	f, err := m.file(n)
	if err != nil {
		return nil, err
	}
	return around1(&textReader{pieces: &m.pieces, text: &m.text}, f, line, around)
}

// around1 returns the lines around one, unless that one is not there.
func around1(t *textReader, f file, line, around int) ([]Line, error) {
	around = min(max(around, 0), maxExcerpt)
	lines, err := t.excerpt(f, max(line-1-around, 0), line-1+around)
	if err != nil || len(lines) == 0 || lines[len(lines)-1].Number < line {
		return nil, err
	}
	return lines, nil
}

// Content returns the whole text of source n, counted from 0; false when it is not in the
// map or has more than 64 MiB.
func (m *Map) Content(n int) (string, bool, error) {
	if n < 0 || n >= m.info.Sources {
		return "", false, nil
	}
	f, err := m.file(n)
	if err != nil {
		return "", false, err
	}
	text, ok, err := (&textReader{pieces: &m.pieces, text: &m.text}).all(f, maxText)
	return strings.ToValidUTF8(string(text), "\ufffd"), ok, err
}
