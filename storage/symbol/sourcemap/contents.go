package sourcemap

import (
	"bytes"
	"encoding/binary"

	"github.com/klauspost/compress/s2"

	"github.com/slipway-qa/slipway/storage/symbol"
)

// pieceText is how much text a piece has: what reading a line costs at least.
const pieceText = 64 << 10

// pieceSize is the size of a piece's record: where it is (8 bytes), its size compressed
// and plain, and how many lines end before it in its source (4 bytes each).
const pieceSize = 20

// plainSize is how much text pieces have, at most.
func plainSize(pieces *table) (size int64) {
	if int64(len(pieces.held)) != pieces.size {
		return pieces.size / pieceSize * 4 * pieceText
	}
	for at := int64(0); at+pieceSize <= pieces.size; at += pieceSize {
		size += int64(binary.LittleEndian.Uint32(pieces.held[at+12:]))
	}
	return size
}

// textWriter writes texts in compressed pieces.
type textWriter struct {
	out     *symbol.Writer
	records []byte
	count   uint32
	at      int64
	buf     []byte
	packed  []byte
	// of the present text
	size     int64
	wasLines lineCounter
}

// lineCounter counts the ends of lines: \n, \r, \r\n, U+2028 and U+2029, as ECMAScript
// does (https://tc39.es/ecma262/#sec-line-terminators).
type lineCounter struct{ n uint32 }

func (c *lineCounter) count(p []byte) {
	c.n += uint32(bytes.Count(p, []byte{'\n'}))
	for i := bytes.IndexByte(p, '\r'); i >= 0; {
		if i+1 >= len(p) || p[i+1] != '\n' {
			c.n++
		}
		next := bytes.IndexByte(p[i+1:], '\r')
		if next < 0 {
			break
		}
		i += 1 + next
	}
	for i := bytes.IndexByte(p, 0xe2); i >= 0 && i+2 < len(p); {
		if p[i+1] == 0x80 && p[i+2]&^1 == 0xa8 {
			c.n++
		}
		next := bytes.IndexByte(p[i+1:], 0xe2)
		if next < 0 {
			break
		}
		i += 1 + next
	}
}

func (t *textWriter) write(p []byte) {
	t.size += int64(len(p))
	for len(p) > 0 {
		n := min(len(p), pieceText-len(t.buf))
		t.buf = append(t.buf, p[:n]...)
		p = p[n:]
		if len(t.buf) == pieceText {
			t.flush(false)
		}
	}
}

// flush writes a piece. \r\n and the bytes of a rune are not parted between two.
func (t *textWriter) flush(last bool) {
	part := t.buf
	if !last {
		part = cutRune(part)
		part = bytes.TrimSuffix(part, []byte{'\r'})
		if len(part) == 0 {
			part = t.buf
		}
	}
	rest := append([]byte(nil), t.buf[len(part):]...)
	clean := valid(part)
	t.size += int64(len(clean) - len(part))
	t.packed = s2.Encode(t.packed[:cap(t.packed)], clean)
	t.records = binary.LittleEndian.AppendUint64(t.records, uint64(t.at))
	t.records = binary.LittleEndian.AppendUint32(t.records, uint32(len(t.packed)))
	t.records = binary.LittleEndian.AppendUint32(t.records, uint32(len(clean)))
	t.records = binary.LittleEndian.AppendUint32(t.records, t.wasLines.n)
	t.wasLines.count(clean)
	t.at += int64(len(t.packed))
	t.count++
	_, _ = t.out.Write(t.packed) // Close reports the error
	t.buf = append(t.buf[:0], rest...)
}

// text writes one text that read hands over in pieces, and returns where it is.
func (t *textWriter) text(read func(keep func(p []byte))) (first, pieces, size uint32) {
	first = t.count
	t.size, t.wasLines = 0, lineCounter{}
	read(t.write)
	if len(t.buf) > 0 || t.count == first {
		t.flush(true)
	}
	return first, t.count - first, uint32(t.size)
}

// writeContents writes the texts of sources that are in the map. A sourcesContent that
// is no list, and an entry that is no text, is as good as none (ECMA-426,
// GetOptionalListOfOptionalStrings).
func (x *indexer) writeContents() error {
	x.out.Begin(sectionText)
	t := &textWriter{out: x.out}
	for _, l := range x.leaves {
		v, ok := x.value(l.members, "sourcesContent")
		if !ok || v.first != '[' {
			continue
		}
		x.in.array(func(n int) {
			if x.in.peek() != '"' || n >= l.sources {
				x.in.skip()
				return
			}
			f := &x.files[l.source+n]
			f.has = true
			f.first, f.pieces, f.size = t.text(func(keep func(p []byte)) {
				x.in.text(func(p []byte) {
					if t.size < maxText {
						keep(p)
					}
				})
			})
			x.summary.Contents++
			if t.size >= maxText {
				x.in.fail(symbol.TooLarge, "the text of source %d has more than %d bytes", n, int64(maxText))
			}
		})
		if x.in.err != nil {
			return x.in.err
		}
	}
	x.out.Begin(sectionPieces)
	_, err := x.out.Write(t.records)
	return err
}
