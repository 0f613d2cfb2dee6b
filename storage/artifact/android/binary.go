package android

import (
	"encoding/binary"
	"io"
	"unicode/utf16"
	"unicode/utf8"
)

// binaryFile reads little-endian fields of compiled files by offset, from memory
// or in blocks from a reader: a resource table may be larger than the memory that
// one package may use. Whatever lies outside the file reads as zero or nil, so that
// only loops need checks; so does what a failed reader cannot read, and the archive
// records that.
type binaryFile struct {
	mem    []byte // the whole file, or nil
	r      io.ReaderAt
	size   int64
	blocks [blockCount]block
}

// The cache of blocks is mapped directly: of two with the same slot one stays.
const (
	blockSize  = 64 << 10
	blockCount = 32
)

type block struct {
	at   int64
	data []byte
}

// inMemory returns a file in memory.
func inMemory(data []byte) *binaryFile {
	if data == nil {
		data = []byte{}
	}
	return &binaryFile{mem: data, size: int64(len(data))}
}

// inFile returns a file that is read by ranges.
func inFile(r io.ReaderAt, size int64) *binaryFile { return &binaryFile{r: r, size: size} }

// slice returns n bytes, valid until the next call, or nil. Callers bound n.
func (b *binaryFile) slice(off int64, n int) []byte {
	if off < 0 || n < 0 || off > b.size || int64(n) > b.size-off {
		return nil
	}
	if b.mem != nil {
		return b.mem[off : off+int64(n)]
	}
	if at := off % blockSize; at+int64(n) <= blockSize {
		data := b.block(off - at)
		if int64(len(data)) < at+int64(n) {
			return nil
		}
		return data[at : at+int64(n)]
	}
	data := make([]byte, n)
	for done := 0; done < n; {
		at := (off + int64(done)) % blockSize
		from := b.block(off + int64(done) - at)
		if int64(len(from)) <= at {
			return nil
		}
		done += copy(data[done:], from[at:])
	}
	return data
}

func (b *binaryFile) block(at int64) []byte {
	slot := &b.blocks[at/blockSize%blockCount]
	if slot.data == nil || slot.at != at {
		data := make([]byte, min(blockSize, b.size-at))
		if n, err := b.r.ReadAt(data, at); n < len(data) && err != nil {
			return nil
		}
		*slot = block{at: at, data: data}
	}
	return slot.data
}

func (b *binaryFile) u8(off int64) uint8 {
	if s := b.slice(off, 1); s != nil {
		return s[0]
	}
	return 0
}

func (b *binaryFile) u16(off int64) uint16 {
	if s := b.slice(off, 2); s != nil {
		return binary.LittleEndian.Uint16(s)
	}
	return 0
}

func (b *binaryFile) u32(off int64) uint32 {
	if s := b.slice(off, 4); s != nil {
		return binary.LittleEndian.Uint32(s)
	}
	return 0
}

// chunk is the header that every part of a compiled file begins with.
type chunk struct {
	kind   uint16
	header int64 // length of the header
	at     int64
	end    int64
}

// chunk reads the chunk at an offset, which has to end at limit; ok is false when
// there is none. A chunk that claims to end later ends there, as some packers
// write them.
func (b *binaryFile) chunk(at, limit int64) (c chunk, ok bool) {
	if at < 0 || at+8 > limit {
		return chunk{}, false
	}
	c = chunk{
		kind:   b.u16(at),
		header: int64(b.u16(at + 2)),
		at:     at,
		end:    at + int64(b.u32(at+4)),
	}
	if c.header < 8 || c.end < at+c.header {
		return chunk{}, false
	}
	c.end = min(c.end, limit)
	return c, c.at+c.header <= c.end
}

// value reads a Res_value.
func (b *binaryFile) value(at int64, pool *stringPool) value {
	v := value{Type: valueType(b.u8(at + 3)), Data: b.u32(at + 4)}
	if v.Type == typeString {
		return stringValue(pool.text(v.Data))
	}
	return v
}

// Bounds of strings: of one, and of all that are decoded from one pool, because
// many may share the same bytes.
const (
	maxString = 256 << 10
	maxPool   = 16 << 20
)

// stringPool is a pool of strings in UTF-8 or UTF-16, decoded when asked for.
type stringPool struct {
	file    *binaryFile
	chunk   chunk
	count   uint32
	utf8    bool
	strings int64 // offset of the first
	decoded map[uint32]string
	budget  int
}

const (
	kindStringPool = 0x0001
	flagUTF8       = 1 << 8
)

func (b *binaryFile) stringPool(c chunk) *stringPool {
	return &stringPool{
		file:    b,
		chunk:   c,
		count:   b.u32(c.at + 8),
		utf8:    b.u32(c.at+16)&flagUTF8 != 0,
		strings: c.at + int64(b.u32(c.at+20)),
		decoded: map[uint32]string{},
		budget:  maxPool,
	}
}

// text returns a string; "" when there is none or the pool's budget is spent.
func (p *stringPool) text(index uint32) string {
	if p == nil || index >= p.count {
		return ""
	}
	if s, ok := p.decoded[index]; ok {
		return s
	}
	at := p.chunk.at + p.chunk.header + int64(index)*4
	if at+4 > p.chunk.end {
		return ""
	}
	s := p.decode(p.strings + int64(p.file.u32(at)))
	if p.budget -= len(s) + 32; p.budget < 0 {
		return ""
	}
	p.decoded[index] = s
	return s
}

// decode reads a string: its length in characters, for UTF-8 also in bytes, and
// the characters. A length is one unit, or two when the first has its high bit.
func (p *stringPool) decode(at int64) string {
	if p.budget <= 0 {
		return ""
	}
	if p.utf8 {
		at += p.lengthSize(at) // characters, which UTF-8 needs not
		n := int(p.file.u8(at))
		at++
		if n&0x80 != 0 {
			n = n&0x7f<<8 | int(p.file.u8(at))
			at++
		}
		raw := p.file.slice(at, min(n, maxString))
		if at+int64(n) > p.chunk.end {
			return ""
		}
		return decodeModifiedUTF8(string(raw))
	}
	n := int(p.file.u16(at))
	at += 2
	if n&0x8000 != 0 {
		n = n&0x7fff<<16 | int(p.file.u16(at))
		at += 2
	}
	if n > maxString/2 || at+int64(n)*2 > p.chunk.end {
		return ""
	}
	raw := p.file.slice(at, n*2)
	units := make([]uint16, len(raw)/2)
	for i := range units {
		units[i] = binary.LittleEndian.Uint16(raw[i*2:])
	}
	return string(utf16.Decode(units))
}

// lengthSize returns the size of a UTF-8 length field.
func (p *stringPool) lengthSize(at int64) int64 {
	if p.file.u8(at)&0x80 != 0 {
		return 2
	}
	return 1
}

// decodeModifiedUTF8 replaces what is no UTF-8. Android writes characters
// beyond U+FFFF as two surrogates of three bytes each, which are errors for Go.
func decodeModifiedUTF8(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	units := make([]uint16, 0, len(s))
	for i := 0; i < len(s); {
		if i+2 < len(s) && s[i] == 0xed && s[i+1]&0xe0 == 0xa0 && s[i+2]&0xc0 == 0x80 {
			units = append(units, 0xd000|uint16(s[i+1]&0x3f)<<6|uint16(s[i+2]&0x3f))
			i += 3
			continue
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		units = utf16.AppendRune(units, r)
		i += n
	}
	return string(utf16.Decode(units))
}
