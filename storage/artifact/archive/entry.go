package archive

import (
	"bufio"
	"compress/flate"
	"context"
	"errors"
	"io"
)

// The compression methods that have a meaning here.
const (
	stored   = 0
	deflated = 8
)

// maxRatio is the best ratio of deflate: 258 bytes for two bits.
const maxRatio = 1032

// Read inflates an entry of at most limit bytes; ErrTooLarge for a longer one,
// whatever its header claims.
//
// An entry may be shorter than it claims. An unknown method is tried as stored
// where the packed and the inflated size are the same, else as deflate, and as
// the other one where that fails.
func (a *Archive) Read(e Entry, limit int64) ([]byte, error) {
	var failed error
	for _, method := range e.methods() {
		data, err := a.read(e, method, limit)
		if err == nil || errors.Is(err, ErrTooLarge) || a.Err() != nil {
			return data, err
		}
		failed = err
	}
	return nil, failed
}

// methods returns the methods to try for an entry, the likelier first.
func (e Entry) methods() []uint16 {
	switch {
	case e.Method == stored, e.Method == deflated:
		return []uint16{e.Method}
	case e.Packed == e.Size:
		return []uint16{stored, deflated}
	}
	return []uint16{deflated, stored}
}

// read allocates the size that the entry claims where its packed bytes can inflate
// to that. One that inflates to more is measured first, without memory.
func (a *Archive) read(e Entry, method uint16, limit int64) ([]byte, error) {
	if e.Size > limit {
		return nil, ErrTooLarge
	}
	size := max(e.Size, 0)
	if method == deflated && size/maxRatio > e.Packed {
		size = max(e.Packed, 0) * maxRatio
	}
	for {
		r, err := a.inflate(e, method)
		if err != nil {
			return nil, err
		}
		data := make([]byte, size)
		n, err := io.ReadFull(r, data)
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			if a.atEnd(r) {
				return data[:n], nil
			}
			return nil, invalid("an entry of the archive is cut off")
		}
		if err != nil {
			return nil, a.classify(err)
		}
		more, err := io.Copy(io.Discard, io.LimitReader(r, limit-size+1))
		if err != nil {
			return nil, a.classify(err)
		}
		if more == 0 {
			return data, nil
		}
		if size += more; size > limit {
			return nil, ErrTooLarge
		}
	}
}

// atEnd reports whether a reader is at its proper end and was not cut off: both
// return io.EOF in some form, but only the former returns it again, and plain.
func (a *Archive) atEnd(r io.Reader) bool {
	_, err := r.Read(make([]byte, 1))
	return err == io.EOF
}

// Open inflates an entry as it is read. The reader ends with an error after
// limit bytes.
func (a *Archive) Open(e Entry, limit int64) (io.Reader, error) {
	if e.Size > limit {
		return nil, ErrTooLarge
	}
	r, err := a.inflate(e, e.methods()[0])
	if err != nil {
		return nil, err
	}
	return &limitedReader{a: a, r: r, left: limit}, nil
}

// ReaderAt returns a reader of a stored (not compressed) entry, such as an APK
// inside an archive of APKs; ok is false for a compressed one, and for one that
// is not inside the file.
func (a *Archive) ReaderAt(e Entry) (r io.ReaderAt, ok bool) {
	if e.methods()[0] != stored {
		return nil, false
	}
	at, err := a.dataOffset(e)
	if err != nil || e.Size < 0 || e.Size > a.size-at {
		return nil, false
	}
	return io.NewSectionReader(a.r, at, e.Size), true
}

// dataOffset returns the offset of an entry's bytes, after its local header. Of
// that only the lengths count: for all else the directory is authoritative.
func (a *Archive) dataOffset(e Entry) (int64, error) {
	if e.offset < 0 || e.offset > a.size-localLength {
		return 0, invalid("an entry of the archive lies outside the file")
	}
	var h [localLength]byte
	if _, err := a.r.ReadAt(h[:], e.offset); err != nil {
		return 0, a.classify(err)
	}
	if string(h[:4]) != localSignature {
		return 0, invalid("an entry of the archive does not begin where the directory says")
	}
	at := e.offset + localLength + int64(le.Uint16(h[26:])) + int64(le.Uint16(h[28:]))
	if at > a.size {
		return 0, invalid("an entry of the archive lies outside the file")
	}
	return at, nil
}

// inflate opens an entry. A stored one has the length that it claims to inflate to,
// as Android reads it; a packed one has an end mark, or ends with the file.
func (a *Archive) inflate(e Entry, method uint16) (io.Reader, error) {
	at, err := a.dataOffset(e)
	if err != nil {
		return nil, err
	}
	length := e.Packed
	if method == stored {
		length = e.Size
	}
	if length < 0 || length > a.size-at {
		return nil, invalid("an entry of the archive is cut off")
	}
	section := io.NewSectionReader(a.r, at, length)
	if method == stored {
		return section, nil
	}
	return boundReader{a.ctx, flate.NewReader(bufio.NewReaderSize(section, int(min(max(length, 16), 64<<10))))}, nil
}

// boundReader ends with a context.
type boundReader struct {
	ctx context.Context
	r   io.Reader
}

func (b boundReader) Read(p []byte) (int, error) {
	if err := b.ctx.Err(); err != nil {
		return 0, err
	}
	return b.r.Read(p)
}

// classify returns the error of the reader beneath, if it failed: else the data are
// broken.
func (a *Archive) classify(err error) error {
	if fault := errors.Join(a.Err(), a.ctx.Err()); fault != nil {
		return fault
	}
	return invalid("an entry of the archive cannot be unpacked: %v", err)
}

// limitedReader ends with ErrTooLarge behind its limit.
type limitedReader struct {
	a    *Archive
	r    io.Reader
	left int64
}

func (l *limitedReader) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	// One byte more than is left shows whether there is more.
	if int64(len(p)) > l.left+1 {
		p = p[:l.left+1]
	}
	n, err := l.r.Read(p)
	if int64(n) > l.left {
		n, err = int(l.left), ErrTooLarge
	}
	l.left -= int64(n)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, ErrTooLarge) {
		err = l.a.classify(err)
	}
	return n, err
}
