package pdb

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/bits"
	"strings"

	"github.com/slipway-qa/slipway/storage/symbol"
)

// The container: https://llvm.org/docs/PDB/MsfFile.html
const (
	magic     = "Microsoft C/C++ MSF 7.00\r\n\x1aDS\x00\x00\x00"
	magicOld  = "Microsoft C/C++ program database 2.00"
	magicMono = "BSJB"

	// maxDirectory bounds the directory, which is held in memory: four bytes for each
	// block, 4 MiB for a PDB of 4 GiB.
	maxDirectory = 64 << 20
	// maxStreams bounds the streams: one for each module of a program and some more.
	maxStreams = 1 << 20
	leastBlock = 512
	mostBlock  = 64 << 10
)

// container is the file as streams.
type container struct {
	r         io.ReaderAt
	size      int64
	blockSize int64
	streams   []stream
}

// stream is a sequence of blocks.
type stream struct {
	c      *container
	blocks []byte // numbers of blocks, four bytes each
	size   int64
	number int
}

func openContainer(r io.ReaderAt, size int64) (*container, error) {
	c := &container{r: r, size: size}
	head, err := c.read(0, int(min(size, 56)))
	if err != nil {
		return nil, err
	}
	switch {
	case bytes.HasPrefix(head, []byte(magicOld)):
		return nil, symbol.Invalid(symbol.Unsupported, "the PDB has the format 2.00, which Visual Studio before 2002 wrote; 7.00 is read")
	case bytes.HasPrefix(head, []byte(magicMono)):
		return nil, symbol.Invalid(symbol.Unsupported, "the file is a portable PDB, which has no native code")
	case !bytes.HasPrefix(head, []byte(magic)[:min(len(magic), len(head))]) || len(head) < 4:
		return nil, symbol.Invalid(symbol.Malformed, "the file is not a PDB: it begins with %.16q", head)
	case len(head) < 56:
		return nil, symbol.Invalid(symbol.Truncated, "the PDB ends after %d bytes, within its first block", size)
	}
	c.blockSize = int64(binary.LittleEndian.Uint32(head[32:]))
	count := int64(binary.LittleEndian.Uint32(head[40:]))
	length, at := int64(binary.LittleEndian.Uint32(head[44:])), int64(binary.LittleEndian.Uint32(head[52:]))
	if c.blockSize < leastBlock || c.blockSize > mostBlock || bits.OnesCount64(uint64(c.blockSize)) != 1 {
		return nil, symbol.Invalid(symbol.Malformed, "the PDB states blocks of %d bytes", c.blockSize)
	}
	if count*c.blockSize > size+c.blockSize-1 {
		return nil, symbol.Invalid(symbol.Truncated, "the PDB states %d blocks of %d bytes and has %d bytes", count, c.blockSize, size)
	}
	if length > maxDirectory {
		return nil, symbol.Invalid(symbol.TooLarge, "the directory of the PDB has %d bytes; %d are read at most", length, maxDirectory)
	}
	blocks, err := c.read(at*c.blockSize, int(c.blocksOf(length))*4)
	if err != nil {
		return nil, err
	}
	if err := c.check(blocks, count, "the directory"); err != nil {
		return nil, err
	}
	directory, err := (&stream{c: c, blocks: blocks, size: length}).read(0, int(length), "the directory of the PDB")
	if err != nil {
		return nil, err
	}
	return c, c.open(directory, count)
}

func (c *container) blocksOf(size int64) int64 { return (size + c.blockSize - 1) / c.blockSize }

// check checks that numbers of blocks are in the file.
func (c *container) check(blocks []byte, count int64, name string) error {
	for i := 0; i+4 <= len(blocks); i += 4 {
		if n := binary.LittleEndian.Uint32(blocks[i:]); int64(n) >= count {
			return symbol.Invalid(symbol.Malformed, "%s has block %d; the PDB has %d blocks", name, n, count)
		}
	}
	return nil
}

// open reads the directory: the number of streams, the size of each, the blocks of each.
func (c *container) open(directory []byte, count int64) error {
	if len(directory) < 4 {
		return symbol.Invalid(symbol.Truncated, "the directory of the PDB has %d bytes", len(directory))
	}
	many := int64(binary.LittleEndian.Uint32(directory))
	if many > maxStreams || 4+4*many > int64(len(directory)) {
		return symbol.Invalid(symbol.Malformed, "the PDB states %d streams in a directory of %d bytes", many, len(directory))
	}
	sizes, blocks := directory[4:4+4*many], directory[4+4*many:]
	taken := int64(0)
	for i := range int(many) {
		size := binary.LittleEndian.Uint32(sizes[4*i:])
		if size == 0xffffffff {
			size = 0
		}
		n := c.blocksOf(int64(size))
		// A block is in one stream: else a small file is read without end.
		if taken += n; taken > count || n*4 > int64(len(blocks)) {
			return symbol.Invalid(symbol.Malformed, "the streams of the PDB have more blocks than it has (stream %d of %d bytes)", i, size)
		}
		s := stream{c: c, blocks: blocks[:n*4], size: int64(size), number: i}
		if err := c.check(s.blocks, count, fmt.Sprintf("stream %d", i)); err != nil {
			return err
		}
		c.streams = append(c.streams, s)
		blocks = blocks[n*4:]
	}
	return nil
}

// stream returns a stream by its number.
func (c *container) stream(number int) (*stream, error) {
	if number < 0 || number >= len(c.streams) {
		return nil, symbol.Invalid(symbol.Malformed, "the PDB has no stream %d; it has %d streams", number, len(c.streams))
	}
	return &c.streams[number], nil
}

// read returns n bytes of the file.
func (c *container) read(offset int64, n int) ([]byte, error) {
	if offset < 0 || offset > c.size || int64(n) > c.size-offset {
		return nil, symbol.Invalid(symbol.Truncated, "the PDB has %d bytes; %d at %#x lie beyond its end", c.size, n, offset)
	}
	p := make([]byte, n)
	return p, c.fill(p, offset)
}

func (c *container) fill(p []byte, offset int64) error {
	if got, err := c.r.ReadAt(p, offset); got < len(p) {
		if err == nil || errors.Is(err, io.EOF) {
			return symbol.Invalid(symbol.Truncated, "the PDB ends at %#x", offset+int64(got))
		}
		return fmt.Errorf("read PDB: %w", err)
	}
	return nil
}

// ReadAt reads a part of the stream. Blocks that follow each other are read together.
func (s *stream) ReadAt(p []byte, offset int64) (int, error) {
	if offset >= s.size {
		return 0, io.EOF
	}
	var end error
	if int64(len(p)) > s.size-offset {
		p, end = p[:s.size-offset], io.EOF
	}
	done := 0
	for done < len(p) {
		i, within := (offset+int64(done))/s.c.blockSize, (offset+int64(done))%s.c.blockSize
		first := s.block(i)
		n := s.c.blockSize - within
		for next := i + 1; n < int64(len(p)-done) && s.block(next) == first+(next-i); next++ {
			n += s.c.blockSize
		}
		n = min(n, int64(len(p)-done))
		if err := s.c.fill(p[done:done+int(n)], first*s.c.blockSize+within); err != nil {
			return done, err
		}
		done += int(n)
	}
	return done, end
}

func (s *stream) block(i int64) int64 { return int64(binary.LittleEndian.Uint32(s.blocks[4*i:])) }

// read returns n bytes of the stream; what names them in the error.
func (s *stream) read(offset int64, n int, what string) ([]byte, error) {
	if offset < 0 || n < 0 || offset > s.size || int64(n) > s.size-offset {
		return nil, symbol.Invalid(symbol.Truncated, "%s (%d bytes at %#x) lies beyond the end of stream %d (%d bytes)",
			what, n, offset, s.number, s.size)
	}
	p := make([]byte, n)
	if _, err := s.ReadAt(p, offset); err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	return p, nil
}

// cursor reads numbers; what lies beyond the end is 0 and sets failed.
type cursor struct {
	p      []byte
	failed bool
}

func (c *cursor) take(n int) []byte {
	if n < 0 || n > len(c.p) {
		c.failed, c.p = true, nil
		return make([]byte, min(max(n, 0), 8))
	}
	taken := c.p[:n]
	c.p = c.p[n:]
	return taken
}

func (c *cursor) u16() uint16 { return binary.LittleEndian.Uint16(c.take(2)) }
func (c *cursor) u32() uint32 { return binary.LittleEndian.Uint32(c.take(4)) }

// text reads a text that ends with a zero byte, or with the record.
func (c *cursor) text() string {
	text := textOf(c.p)
	c.p = c.p[min(len(c.p), len(text)+1):]
	return text
}

func textOf(p []byte) string {
	if end := bytes.IndexByte(p, 0); end >= 0 {
		p = p[:end]
	}
	return string(p)
}

func clean(text string) string { return strings.ToValidUTF8(text, "\uFFFD") }
