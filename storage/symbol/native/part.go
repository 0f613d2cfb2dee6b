package native

import (
	"fmt"
	"io"
	"sync"

	"github.com/slipway-qa/slipway/storage/symbol"
)

// smallPart is the size up to which a section stays in memory; larger ones are read by
// ranges.
const smallPart = 2 << 20

// part is a section of an index.
type part struct {
	from  *io.SectionReader
	whole []byte // of a small section
	size  int64
}

func openPart(f *symbol.File, name string) (part, error) {
	p := part{from: f.Section(name)}
	p.size = p.from.Size()
	if p.size > smallPart {
		return p, nil
	}
	var err error
	p.whole, err = f.ReadSection(name, smallPart)
	return p, err
}

// read returns n bytes at an offset, in a buffer or of the section in memory: they are not to be
// changed. They must lie in the section.
func (p *part) read(buffer *[]byte, offset int64, n int) ([]byte, error) {
	if p.whole != nil {
		return p.whole[offset : offset+int64(n)], nil
	}
	if cap(*buffer) < n {
		*buffer = make([]byte, n)
	}
	b := (*buffer)[:n]
	k, err := p.from.ReadAt(b, offset)
	if k < n {
		return nil, fmt.Errorf("read index: %w", err)
	}
	return b, nil
}

// buffers are what a lookup reads into.
type buffers struct {
	block, body []byte
	files       []uint64
	found       body
}

// keptBody: a buffer for a larger body is not kept for the next lookup.
const keptBody = 64 << 10

// bufferPool keeps buffers between lookups.
type bufferPool struct{ pool sync.Pool }

func (p *bufferPool) get() *buffers {
	if b, ok := p.pool.Get().(*buffers); ok {
		return b
	}
	return &buffers{block: make([]byte, 2*blockSize), body: make([]byte, 2<<10)}
}

func (p *bufferPool) put(b *buffers) {
	if cap(b.body) <= keptBody {
		p.pool.Put(b)
	}
}
