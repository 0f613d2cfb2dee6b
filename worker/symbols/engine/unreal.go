package engine

import (
	"bufio"
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"errors"
	"io"

	"github.com/slipway-qa/slipway/storage/symbol"
)

// marker begins archives of Unreal Engine 4.26 and later, within the compression.
const marker = "CR1"

// maxName bounds the name of a file: the engine writes 260 bytes, with zeros behind the name.
const maxName = 4096

// isUnreal reports whether a file begins as an archive of Unreal Engine: zlib (RFC 1950), whose first
// two bytes are a number that 31 divides.
func isUnreal(head []byte) bool {
	if bytes.HasPrefix(head, []byte(marker)) {
		return true
	}
	return len(head) >= 2 && head[0]&0x0f == 8 && head[0]>>4 <= 7 && binary.BigEndian.Uint16(head)%31 == 0
}

// unreal reads an archive: a header (directory, file name, size, number of files), and the files, each
// with its number, name, length and bytes. Before 4.26 the first header is not filled in, and stands
// again, filled in, behind the files.
func (p *parts) unreal(in *io.SectionReader) error {
	var content io.Reader = in
	head := make([]byte, len(marker))
	if _, err := in.ReadAt(head, 0); err != nil || string(head) != marker {
		z, err := zlib.NewReader(in)
		if err != nil {
			return unpacking(err)
		}
		content = z
	}
	r := &archiveReader{r: bufio.NewReaderSize(&io.LimitedReader{R: content, N: maxUnpacked + 1}, 64<<10)}
	count := -1 // up to the header behind the files
	if begin, _ := r.r.Peek(len(marker)); string(begin) == marker {
		_, _ = r.r.Discard(len(marker))
		count = 0
	}
	r.name()
	r.name()
	r.number() // the size, which is not believed
	if n := r.number(); count == 0 {
		count = int(n)
	}
	if r.err != nil {
		return unpacking(r.err)
	}
	if count > maxFiles {
		return symbol.Invalid(symbol.TooLarge, "the archive says that it has %d files; %d are read at most", count, maxFiles)
	}
	for n := 0; count < 0 || n < count; n++ {
		if count < 0 && (n >= maxFiles || !r.follows(uint32(n))) {
			break
		}
		if done, err := p.archived(r); done || err != nil {
			return err
		}
	}
	return nil
}

// archived reads the next file; done: what follows cannot be read, and what was read is of use.
func (p *parts) archived(r *archiveReader) (done bool, err error) {
	r.number()
	name := r.name()
	size := int64(int32(r.number()))
	switch {
	case r.err != nil:
		return p.cut(r.err)
	case size < 0:
		return false, symbol.Invalid(symbol.Malformed, "the file %q of the archive has %d bytes", plain(name, 100), size)
	}
	p.files++
	one := &io.LimitedReader{R: r.r, N: size}
	if err := p.take(name, one, size); err != nil {
		return p.cut(err)
	}
	if one.N > 0 {
		return p.cut(io.ErrUnexpectedEOF)
	}
	return false, nil
}

// cut ends an archive that is damaged from some place on: the first files may be of use.
func (p *parts) cut(err error) (bool, error) {
	if p.context == nil && p.minidump == nil {
		return false, unpacking(err)
	}
	p.warn("the archive is cut off or damaged: %v", err)
	return true, nil
}

// unpacking is the error of an archive that does not unpack.
func unpacking(err error) error {
	switch {
	case errors.Is(err, zlib.ErrHeader):
		return symbol.Invalid(symbol.Malformed, "not compressed by zlib, as crash archives of Unreal Engine are")
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return symbol.Invalid(symbol.Truncated, "the crash archive ends before its first files, or unpacks to more than %d MiB", maxUnpacked>>20)
	}
	return symbol.Invalid(symbol.Malformed, "the crash archive does not unpack: %v", err)
}

// archiveReader reads the numbers and names of an archive. After an error nothing is read.
type archiveReader struct {
	r   *bufio.Reader
	err error
}

func (a *archiveReader) number() uint32 {
	var b [4]byte
	if a.err == nil {
		_, a.err = io.ReadFull(a.r, b[:])
	}
	return binary.LittleEndian.Uint32(b[:])
}

// name reads a text with its length before it.
func (a *archiveReader) name() string {
	n := a.number()
	if a.err != nil {
		return ""
	}
	if n > maxName {
		a.err = symbol.Invalid(symbol.Malformed, "a name in the crash archive has %d bytes", n)
		return ""
	}
	b := make([]byte, n)
	if _, a.err = io.ReadFull(a.r, b); a.err != nil {
		return ""
	}
	name, _, _ := bytes.Cut(b, []byte{0})
	return string(name)
}

// follows reports whether the file of a number comes next, and not the header behind the files: that
// begins with the length of a name, which is above maxFiles.
func (a *archiveReader) follows(n uint32) bool {
	b, err := a.r.Peek(4)
	return err == nil && binary.LittleEndian.Uint32(b) == n
}
