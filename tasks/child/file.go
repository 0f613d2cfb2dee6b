package child

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
)

// A File is the parent's file as an operation in a child reads it: by ranges, over the
// pipes. It keeps some blocks, since readers of packages read small ranges next to each
// other. It is safe for concurrent use.
type File struct {
	size int64
	out  io.Writer
	data <-chan []byte

	mu     sync.Mutex
	blocks map[int64][]byte // by offset
	order  []int64          // of blocks, the oldest first
	failed error
}

const (
	// blockSize is a multiple of what most reads need; a pipe takes as much at once.
	blockSize  = 64 << 10
	blockCount = 24
)

// errFile: the parent cannot read the file. It knows why, and reports that.
var errFile = errors.New("the file cannot be read")

// Size returns the length of the file in bytes.
func (f *File) Size() int64 { return f.size }

// ReadAt implements io.ReaderAt.
func (f *File) ReadAt(p []byte, off int64) (int, error) {
	if off < 0 {
		return 0, errors.New("a negative offset")
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.failed != nil {
		return 0, f.failed
	}
	done := 0
	for done < len(p) {
		at := off + int64(done)
		if at >= f.size {
			return done, io.EOF
		}
		left := min(int64(len(p)-done), f.size-at)
		if in := at % blockSize; left <= blockSize {
			block, err := f.block(at - in)
			if err != nil {
				return done, err
			}
			if int64(len(block)) <= in {
				return done, io.EOF
			}
			done += copy(p[done:], block[in:])
			continue
		}
		got, err := f.fetch(at, int(min(left, maxRead)))
		done += copy(p[done:], got)
		if err != nil {
			return done, err
		}
		if len(got) == 0 {
			return done, io.EOF
		}
	}
	return done, nil
}

// block returns the block at an offset, which is shorter at the end of the file.
func (f *File) block(at int64) ([]byte, error) {
	if b, ok := f.blocks[at]; ok {
		return b, nil
	}
	b, err := f.fetch(at, int(min(blockSize, f.size-at)))
	if err != nil {
		return nil, err
	}
	if len(f.order) == blockCount {
		delete(f.blocks, f.order[0])
		f.order = append(f.order[:0], f.order[1:]...)
	}
	f.blocks[at] = b
	f.order = append(f.order, at)
	return b, nil
}

// fetch asks the parent for n bytes, and returns fewer at the end of the file.
func (f *File) fetch(at int64, n int) ([]byte, error) {
	if f.failed != nil {
		return nil, f.failed
	}
	var ask [readSize]byte
	binary.LittleEndian.PutUint64(ask[:], uint64(at))
	binary.LittleEndian.PutUint32(ask[8:], uint32(n))
	if err := writeFrame(f.out, frameRead, ask[:]); err != nil {
		f.failed = err
		return nil, err
	}
	got := <-f.data
	if len(got) == 0 || got[0] == dataFailed || len(got)-1 > n {
		f.failed = errFile
		return nil, errFile
	}
	return got[1:], nil
}

// source is the parent's side of a File during one request.
type source struct {
	file io.ReaderAt
	size int64
	left int64 // bytes that the child may still read
	err  error // why the file could not be read, or no further
}

// errReadLimit: the child reads the file again and again.
var errReadLimit = errors.New("too much of the file is read")

// serve reads what the child asks for and sends it. Only an error of the child or the
// protocol is returned; one of the file is kept.
func (s *source) serve(ctx context.Context, to io.Writer, ask []byte) error {
	if s.file == nil || len(ask) != readSize {
		return errProtocol
	}
	off, n := int64(binary.LittleEndian.Uint64(ask)), int64(binary.LittleEndian.Uint32(ask[8:]))
	if off < 0 || n <= 0 || n > maxRead {
		return errProtocol
	}
	n = max(0, min(n, s.size-off))
	if s.left -= n; s.left < 0 && s.err == nil {
		s.err = errReadLimit
	}
	if s.err != nil {
		return writeFrame(to, frameData, []byte{dataFailed})
	}
	data, err := readRange(ctx, s.file, off, int(n))
	switch {
	case int64(len(data)) == n && (err == nil || errors.Is(err, io.EOF)):
		return writeFrame(to, frameData, []byte{dataWhole}, data)
	case errors.Is(err, io.EOF) || err == nil:
		// It is shorter than its size: no fault of the package that is in it.
		s.err = fmt.Errorf("read the file: %w", io.ErrUnexpectedEOF)
	default:
		s.err = fmt.Errorf("read the file: %w", err)
	}
	return writeFrame(to, frameData, []byte{dataFailed})
}

// readRange reads a range, and leaves a reader behind that does not return before ctx
// ends: what waits for a store must not keep the place of a child.
func readRange(ctx context.Context, file io.ReaderAt, off int64, n int) ([]byte, error) {
	type outcome struct {
		data []byte
		err  error
	}
	done := make(chan outcome, 1)
	go func() {
		data := make([]byte, n)
		got, err := file.ReadAt(data, off)
		done <- outcome{data[:max(0, min(got, n))], err}
	}()
	select {
	case o := <-done:
		return o.data, o.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Send gives the parent a result that is not whole yet: what it has if this process dies.
func (f *File) Send(v any) error {
	doc, err := json.Marshal(v)
	if err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	return writeFrame(f.out, framePartial, doc)
}
