package object

import (
	"context"
	"errors"
	"fmt"
	"io"
)

// ReaderAt reads an object at random, for parsers that need an io.ReaderAt. It
// fetches whole blocks and keeps the ones used last, so that the many small
// reads of an archive's directory cost a few requests. Reads of several blocks
// that are not there are one request.
//
// It holds maxCached bytes at most, apart from what one call reads. It is for one
// goroutine. Its context governs all reads.
type ReaderAt struct {
	ctx   context.Context
	store Store
	key   string
	size  int64
	block int64
	most  int              // blocks that are kept
	kept  map[int64][]byte // by number
	order []int64          // of use, the last one most recent
	stats ReadStats
}

// ReadStats are what a ReaderAt has cost so far.
type ReadStats struct {
	Requests  int
	BytesRead int64
}

const (
	// defaultBlock is the size of a block: the directory of an archive of some
	// thousand files.
	defaultBlock = 256 << 10
	// maxCached bounds the kept blocks: directory, resource table and what is
	// between two entries of a package.
	maxCached = 4 << 20
)

// NewReaderAt returns a reader of an object of the given size; block is the size
// of a block in bytes, 0 the default. Nothing is read yet. A read beyond the end
// is io.EOF, an object that is gone ErrNotFound, one that is shorter than size
// ErrSize; all other errors mean that the store failed.
func NewReaderAt(ctx context.Context, store Store, key string, size int64, block int) *ReaderAt {
	if block <= 0 {
		block = defaultBlock
	}
	return &ReaderAt{ctx: ctx, store: store, key: key, size: size, block: int64(block),
		most: max(2, maxCached/block), kept: map[int64][]byte{}}
}

// Stats returns what the reads so far have cost.
func (r *ReaderAt) Stats() ReadStats { return r.stats }

// ReadAt fills p from offset off.
func (r *ReaderAt) ReadAt(p []byte, off int64) (int, error) {
	if off < 0 {
		return 0, ErrRange
	}
	n := 0
	for n < len(p) && off+int64(n) < r.size {
		m, err := r.readSome(p[n:], off+int64(n))
		n += m
		if err != nil {
			return n, fmt.Errorf("read object by range: %w", err)
		}
	}
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

// readSome copies from a kept block, or fetches all blocks that p touches up to
// the next one that is kept.
func (r *ReaderAt) readSome(p []byte, off int64) (int, error) {
	first := off / r.block
	if data, ok := r.kept[first]; ok {
		r.touch(first)
		return copy(p, data[off-first*r.block:]), nil
	}
	end := min(off+int64(len(p)), r.size)
	past := first + 1
	for past*r.block < end && r.kept[past] == nil {
		past++
	}
	return r.fetch(p, off, first, past)
}

// fetch reads the blocks from first up to past, copies to p its bytes of them, and
// keeps the last ones: of a long read they are what the next one may touch.
func (r *ReaderAt) fetch(p []byte, off, first, past int64) (n int, err error) {
	start, end := first*r.block, min(past*r.block, r.size)
	content, info, err := r.store.Open(r.ctx, r.key, start, end-start)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, content.Close()) }()
	r.stats.Requests++
	if info.Size != r.size {
		return 0, ErrSize
	}
	keepFrom := max(first, past-int64(r.most))
	for b := first; b < past; b++ {
		data := r.blockBuffer(b, keepFrom)
		m, err := io.ReadFull(content, data)
		r.stats.BytesRead += int64(m)
		if err == io.EOF || err == io.ErrUnexpectedEOF {
			return n, ErrSize
		}
		if err != nil {
			return n, err
		}
		from := max(0, off-b*r.block)
		n += copy(p[n:], data[from:])
		if b >= keepFrom {
			r.kept[b] = data
			r.touch(b)
		}
	}
	return n, nil
}

// blockBuffer returns a buffer for a block, if need be that of the block used
// longest ago.
func (r *ReaderAt) blockBuffer(b, keepFrom int64) []byte {
	length := min(r.block, r.size-b*r.block)
	if b >= keepFrom && len(r.order) >= r.most {
		oldest := r.order[0]
		data := r.kept[oldest]
		delete(r.kept, oldest)
		r.order = r.order[1:]
		if int64(cap(data)) >= length {
			return data[:length]
		}
	}
	return make([]byte, length)
}

// touch marks a block as the one used last.
func (r *ReaderAt) touch(b int64) {
	for i, kept := range r.order {
		if kept == b {
			copy(r.order[i:], r.order[i+1:])
			r.order[len(r.order)-1] = b
			return
		}
	}
	r.order = append(r.order, b)
}
