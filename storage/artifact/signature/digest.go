package signature

import (
	"context"
	"crypto/sha256"
	"crypto/sha512"
	"hash"
	"io"
)

// chunkSize is the length of the pieces that are digested on their own.
const chunkSize = 1 << 20

// contentDigests computes digests of the file without its signing block: what
// stands in front of the block, the directory, and the end record with the offset
// that it would have without the block. The file is read once for all of them.
func (v *verification) contentDigests(wanted map[contentDigest]bool) error {
	var sums []summer
	var kinds []contentDigest
	for kind := range wanted {
		if _, done := v.checksums[kind]; done {
			continue
		}
		kinds = append(kinds, kind)
		sums = append(sums, newSummer(kind))
	}
	if len(sums) == 0 {
		return nil
	}
	record := append([]byte(nil), v.sections.record...)
	le.PutUint32(record[offsetAt:], uint32(v.block.offset))
	length := v.block.offset + (v.sections.end - v.sections.directory) + int64(len(record))
	buffer := make([]byte, chunkSize)
	for _, part := range []*io.SectionReader{
		io.NewSectionReader(v.r, 0, v.block.offset),
		io.NewSectionReader(v.r, v.sections.directory, v.sections.end-v.sections.directory),
	} {
		if err := feed(v.ctx, part, buffer, sums); err != nil {
			return err
		}
	}
	for _, s := range sums {
		s.chunk(record)
	}
	for i, s := range sums {
		v.checksums[kinds[i]] = s.sum(length)
	}
	return nil
}

// feed passes a section on in chunks; the last one may be shorter.
func feed(ctx context.Context, part *io.SectionReader, buffer []byte, sums []summer) error {
	for at := int64(0); at < part.Size(); {
		if err := ctx.Err(); err != nil {
			return err
		}
		piece := buffer[:min(int64(len(buffer)), part.Size()-at)]
		if _, err := io.ReadFull(part, piece); err != nil {
			return err
		}
		for _, s := range sums {
			s.chunk(piece)
		}
		at += int64(len(piece))
	}
	return nil
}

// summer computes one digest. Each section comes in chunks of chunkSize, of which
// the last may be shorter.
type summer interface {
	chunk(piece []byte)
	sum(length int64) []byte
}

func newSummer(kind contentDigest) summer {
	switch kind {
	case chunkedSHA512:
		return &chunked{new: sha512.New}
	case veritySHA256:
		return newMerkle()
	}
	return &chunked{new: sha256.New}
}

// chunked digests the digests of the chunks: 0x5a, their number and all of them,
// each of 0xa5, the chunk's length and its bytes.
type chunked struct {
	new     func() hash.Hash
	count   uint32
	digests []byte
}

func (c *chunked) chunk(piece []byte) {
	h := c.new()
	h.Write(le.AppendUint32([]byte{0xa5}, uint32(len(piece))))
	h.Write(piece)
	c.digests = h.Sum(c.digests)
	c.count++
}

func (c *chunked) sum(int64) []byte {
	h := c.new()
	h.Write(le.AppendUint32([]byte{0x5a}, c.count))
	h.Write(c.digests)
	return h.Sum(nil)
}

// pageSize is the length of the pieces of verity.
const pageSize = 4096

// merkle digests as fs-verity does: a tree of SHA-256 over pages with a salt of
// eight zero bytes, the levels padded to pages. Its value is the root with the
// file's length behind it. Only one page of each level is kept.
type merkle struct{ levels []level }

// level are the pages of one level: the file itself, then the digests of the pages
// below.
type level struct {
	page  []byte // not full
	pages int    // digested so far
}

func newMerkle() *merkle { return &merkle{levels: make([]level, 1)} }

func (m *merkle) chunk(piece []byte) { m.write(0, piece) }

func (m *merkle) write(n int, data []byte) {
	for len(data) > 0 {
		l := &m.levels[n]
		if len(l.page) == pageSize {
			m.close(n)
			l = &m.levels[n]
		}
		k := min(pageSize-len(l.page), len(data))
		l.page = append(l.page, data[:k]...)
		data = data[k:]
	}
}

// close digests the page of a level into the level above.
func (m *merkle) close(n int) {
	sum := pageSum(m.levels[n].page)
	m.levels[n].page = m.levels[n].page[:0]
	m.levels[n].pages++
	if n+1 == len(m.levels) {
		m.levels = append(m.levels, level{})
	}
	m.write(n+1, sum)
}

func (m *merkle) sum(length int64) []byte {
	for n := 0; ; n++ {
		l := m.levels[n]
		if n > 0 && l.pages == 0 {
			return le.AppendUint64(pageSum(l.page), uint64(length))
		}
		if len(l.page) > 0 {
			m.close(n)
		}
	}
}

// pageSum digests a page, which is filled up with zeros.
func pageSum(page []byte) []byte {
	var full [8 + pageSize]byte
	copy(full[8:], page)
	sum := sha256.Sum256(full[:])
	return sum[:]
}
