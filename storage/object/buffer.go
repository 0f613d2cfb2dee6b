package object

import (
	"context"
	"errors"
	"io"
	"sync"
)

// bufferPool lends at most count buffers of size bytes. It allocates them when
// they are first needed, and frees most of them when none is in use, so that an
// idle process does not hold the memory of its busiest minute.
type bufferPool struct {
	size  int
	slots chan struct{} // one element for each buffer in use

	mu   sync.Mutex
	free [][]byte
}

// keepIdle buffers stay allocated while none is in use: enough for one upload.
const keepIdle = 2

func newBufferPool(size, count int) *bufferPool {
	return &bufferPool{size: size, slots: make(chan struct{}, count)}
}

// get waits for a buffer until ctx ends.
func (p *bufferPool) get(ctx context.Context) ([]byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	select {
	case p.slots <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if n := len(p.free); n > 0 {
		buf := p.free[n-1]
		p.free[n-1] = nil
		p.free = p.free[:n-1]
		return buf, nil
	}
	return make([]byte, p.size), nil
}

// put takes a buffer back.
func (p *bufferPool) put(buf []byte) {
	p.mu.Lock()
	p.free = append(p.free, buf)
	<-p.slots
	if len(p.slots) == 0 && len(p.free) > keepIdle {
		clear(p.free[keepIdle:])
		p.free = p.free[:keepIdle]
	}
	p.mu.Unlock()
}

// body is the body of an HTTP request that reads from a pooled buffer. The
// transport may go on reading a body after its request has returned an error;
// detach ends that, so that the buffer can be used for another part. It has no
// Close method on purpose: the client library would close it between retries.
type body struct {
	mu   sync.Mutex
	data []byte
	pos  int
	gone bool
}

var errDetached = errors.New("part buffer was taken back")

func (b *body) Read(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.gone {
		return 0, errDetached
	}
	if b.pos >= len(b.data) {
		return 0, io.EOF
	}
	n := copy(p, b.data[b.pos:])
	b.pos += n
	return n, nil
}

// Seek lets the client library rewind for a retry.
func (b *body) Seek(offset int64, whence int) (int64, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch whence {
	case io.SeekCurrent:
		offset += int64(b.pos)
	case io.SeekEnd:
		offset += int64(len(b.data))
	}
	if offset < 0 || offset > int64(len(b.data)) {
		return 0, errors.New("seek outside the part")
	}
	b.pos = int(offset)
	return offset, nil
}

// detach ends all reading from the buffer.
func (b *body) detach() {
	b.mu.Lock()
	b.gone, b.data = true, nil
	b.mu.Unlock()
}
