package binary

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/zlib"
	"github.com/klauspost/compress/zstd"

	"github.com/slipway-qa/slipway/storage/symbol"
)

const (
	// maxInMemory is the largest decompressed section that is held in memory: those of
	// common libraries are below it, and a dozen of them fit in a small process.
	maxInMemory = 8 << 20
	// maxDecompressed bounds what all sections of a file take: the debug information of
	// the largest browsers is near it.
	maxDecompressed = 16 << 30
	// maxWindow bounds the memory of a zstd stream; ELF writers use at most 8 MiB.
	maxWindow = 64 << 20
	// zlibRatio is the most that deflate can shrink.
	zlibRatio = 1032
)

// compression says how a section is compressed. The zero value means that it is not.
type compression struct {
	algorithm algorithm
	header    uint64 // bytes before the stream
	size      uint64 // decompressed, as the header states
}

type algorithm byte

const (
	withZlib algorithm = iota + 1
	withZstd
)

// content is a section that was decompressed.
type content struct {
	r    io.ReaderAt
	size int64
	file Temporary
}

// gnuCompression reads the header of a .zdebug_ section: "ZLIB" and the size in
// big-endian order. Without the header the section is as it is.
func (f *File) gnuCompression(s *Section) error {
	if s.stored < 12 {
		return nil
	}
	head, err := f.view.read(s.offset, 12, "section "+s.Name)
	if err != nil || string(head[:4]) != "ZLIB" {
		return err
	}
	var size uint64
	for _, b := range head[4:] {
		size = size<<8 | uint64(b)
	}
	s.compression = compression{algorithm: withZlib, header: 12, size: size}
	return nil
}

// decompress returns a compressed section's content, made once.
func (f *File) decompress(i int) (content, error) {
	if c, ok := f.decompressed[i]; ok {
		return c, nil
	}
	s := f.sections[i]
	if err := f.checkDecompressed(s); err != nil {
		return content{}, err
	}
	raw, err := f.view.slice(s.offset+s.compression.header, s.stored-s.compression.header, "section "+s.Name)
	if err != nil {
		return content{}, err
	}
	in := &tracked{r: io.NewSectionReader(raw.r, 0, raw.size)}
	source, closer, err := s.compression.reader(in)
	if err != nil {
		return content{}, in.streamError(s.Name, err)
	}
	defer closer()
	c, err := f.inflate(s, in, source)
	if err != nil {
		return content{}, err
	}
	f.decompressed[i] = c
	return c, nil
}

// checkDecompressed checks the size that a section states before anything is taken for it.
func (f *File) checkDecompressed(s Section) error {
	size := s.compression.size
	if s.compression.algorithm == withZlib && size/zlibRatio > s.stored {
		return symbol.Invalid(symbol.Malformed, "section %s states %d bytes, more than %d compressed ones can hold", s.Name, size, s.stored)
	}
	sum := size
	for _, c := range f.decompressed {
		sum += uint64(c.size)
	}
	if size > maxDecompressed || sum > maxDecompressed {
		return symbol.Invalid(symbol.TooLarge, "section %s has %d bytes decompressed; a file may have %d", s.Name, size, int64(maxDecompressed))
	}
	if size > maxInMemory && f.Temporary == nil {
		return symbol.Invalid(symbol.TooLarge, "section %s has %d bytes decompressed", s.Name, size)
	}
	return nil
}

func (c compression) reader(in io.Reader) (io.Reader, func(), error) {
	if c.algorithm == withZlib {
		z, err := zlib.NewReader(in)
		if err != nil {
			return nil, nil, err
		}
		return z, func() { _ = z.Close() }, nil
	}
	z, err := zstd.NewReader(in, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(maxWindow))
	if err != nil {
		return nil, nil, err
	}
	return z, z.Close, nil
}

// inflate writes the stream to memory or to a temporary file and checks its size.
func (f *File) inflate(s Section, in *tracked, source io.Reader) (content, error) {
	want := int64(s.compression.size)
	var memory bytes.Buffer
	c := content{size: want}
	var to io.Writer = &memory
	if want > maxInMemory {
		file, err := f.Temporary()
		if err != nil {
			return content{}, fmt.Errorf("temporary file for section %s: %w", s.Name, err)
		}
		c.file, c.r, to = file, file, file
	}
	n, err := copyStream(to, io.LimitReader(source, want+1))
	switch {
	case errors.Is(err, errDestination):
	case err != nil:
		err = in.streamError(s.Name, err)
	case n != want:
		err = symbol.Invalid(symbol.Malformed, "section %s states %d bytes; its stream has %s", s.Name, want, otherSize(n, want))
	}
	if err != nil {
		if c.file != nil {
			err = errors.Join(err, c.file.Close())
		}
		return content{}, err
	}
	if c.file == nil {
		c.r = bytes.NewReader(memory.Bytes())
	}
	return c, nil
}

func otherSize(n, want int64) string {
	if n > want {
		return "more"
	}
	return fmt.Sprint(n)
}

var errDestination = errors.New("temporary file of a section")

// copyStream copies and marks errors of the destination.
func copyStream(to io.Writer, from io.Reader) (int64, error) {
	var n int64
	buffer := make([]byte, 64<<10)
	for {
		k, err := from.Read(buffer)
		if _, failed := to.Write(buffer[:k]); failed != nil {
			return n, fmt.Errorf("%w: %w", errDestination, failed)
		}
		n += int64(k)
		if errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
			return n, nil
		}
		if err != nil {
			return n, err
		}
	}
}

// tracked keeps the error of the file, to separate it from that of a broken stream.
type tracked struct {
	r   io.Reader
	err error
}

func (t *tracked) Read(p []byte) (int, error) {
	n, err := t.r.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		t.err = err
	}
	return n, err
}

func (t *tracked) streamError(name string, err error) error {
	switch {
	case t.err != nil:
		return fmt.Errorf("read section %s: %w", name, t.err)
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return symbol.Invalid(symbol.Truncated, "section %s: its compressed stream ends early", name)
	case errors.Is(err, zstd.ErrWindowSizeExceeded):
		return symbol.Invalid(symbol.TooLarge, "section %s: its compressed stream needs more than %d bytes of memory", name, maxWindow)
	}
	return symbol.Invalid(symbol.Malformed, "section %s: its compressed stream is broken: %v", name, err)
}
