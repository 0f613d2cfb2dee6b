package upload

import (
	"bytes"
	"errors"
	"io"
)

const (
	// smallBuffer is what a form begins with: anyone can open one.
	smallBuffer = 8 << 10
	// formBuffer is what a file is read with. The multipart reader of the
	// standard library reads 4 KiB, which costs a system call for each; a buffer
	// that fits the processor's second cache is scanned, hashed and copied
	// before it leaves it.
	formBuffer = 256 << 10
	// maxHeader bounds the headers of one part, and what may stand before the
	// first; real ones have some hundred bytes.
	maxHeader = 16 << 10
	// maxBoundary bounds a boundary: RFC 2046 allows 70 characters.
	maxBoundary = 200
)

var (
	errDamaged = errors.New("the multipart body is damaged")
	errHeader  = errors.New("the headers of a part are too long")
)

// form reads the parts of a multipart/form-data body in the order in which they
// come. next moves to a part, Read or chunk reads its content. A body that ends
// inside a part, or without its closing boundary, is io.ErrUnexpectedEOF; every
// other error is the source's own.
//
// It accepts what mime/multipart accepts (a fuzz test compares the two), and lines
// that end in \n alone when the first one does.
type form struct {
	src   io.Reader
	err   error // of src, kept
	buf   []byte
	r, w  int    // buf[r:w] was read from src and not handed out
	ready int    // that many bytes from r are content of the current part
	dash  []byte // "--" and the boundary
	delim []byte // a line break and dash
	state formState
}

type formState int

const (
	beforeFirst formState = iota
	partStart             // inside a part, nothing of it was looked at
	insidePart
	partEnd // buf[r+ready:] begins with the delimiter (or, of an empty part, with dash)
	formEnd
)

func newForm(src io.Reader, boundary string) *form {
	delim := []byte("\r\n--" + boundary)
	return &form{src: src, buf: make([]byte, smallBuffer), delim: delim, dash: delim[2:]}
}

// grow replaces the buffer by one of size bytes if it is smaller.
func (f *form) grow(size int) {
	if len(f.buf) < size {
		buf := make([]byte, size)
		f.w = copy(buf, f.buf[f.r:f.w])
		f.r, f.buf = 0, buf
	}
}

// next skips the rest of the current part and reads the head of the next one;
// io.EOF after the closing boundary.
func (f *form) next() (*part, error) {
	if f.state == formEnd {
		return nil, io.EOF
	}
	if f.state == beforeFirst {
		if err := f.preamble(); err != nil {
			return nil, err
		}
	} else if err := f.skip(); err != nil {
		return nil, err
	}
	if f.state == formEnd {
		return nil, io.EOF
	}
	p := &part{}
	for left := maxHeader; ; {
		line, err := f.line(left)
		if err != nil {
			return nil, err
		}
		left -= len(line)
		line = bytes.TrimRight(line, "\r\n")
		if len(line) == 0 {
			break
		}
		p.header(string(line))
	}
	f.state = partStart
	return p, nil
}

// preamble reads up to the first boundary, which also shows how lines end.
func (f *form) preamble() error {
	for left := maxHeader; ; {
		line, err := f.boundaryLine(left, f.dash)
		if err != nil {
			return err
		}
		left -= len(line)
		rest, ok := bytes.CutPrefix(line, f.dash)
		if !ok {
			continue
		}
		if bytes.HasPrefix(rest, []byte("--")) && blank(rest[2:]) {
			f.state = formEnd
			return nil
		}
		if !blank(rest) {
			continue
		}
		if !bytes.HasSuffix(rest, []byte("\r\n")) {
			f.delim = f.delim[1:]
		}
		return nil
	}
}

// skip reads over the rest of the part and the boundary behind it.
func (f *form) skip() error {
	for f.state != partEnd || f.ready > 0 {
		f.r, f.ready = f.r+f.ready, 0
		if f.state != partEnd {
			if err := f.scan(); err != nil {
				return err
			}
		}
	}
	if at := len(f.delim) - len(f.dash); bytes.HasPrefix(f.buf[f.r:f.w], f.delim) {
		f.r += at
	}
	f.r += len(f.dash)
	line, err := f.boundaryLine(maxHeader, nil)
	switch {
	case err != nil:
		return err
	case bytes.HasPrefix(line, []byte("--")):
		f.state = formEnd
	case !blank(line):
		return errDamaged
	}
	return nil
}

// boundaryLine is line, save that the closing boundary, which is prefix and "--",
// may be the last of the source without an end of its line.
func (f *form) boundaryLine(limit int, prefix []byte) ([]byte, error) {
	line, err := f.line(limit)
	if err == nil || f.err != io.EOF {
		return line, err
	}
	line, f.r = f.buf[f.r:f.w], f.w
	if rest, ok := bytes.CutPrefix(line, prefix); ok && bytes.HasPrefix(rest, []byte("--")) {
		return line, nil
	}
	return nil, err
}

func blank(line []byte) bool { return len(bytes.TrimRight(line, " \t\r\n")) == 0 }

// line returns the bytes up to and with the next \n, at most limit of them; they
// are valid until the next call.
func (f *form) line(limit int) ([]byte, error) {
	for looked := 0; ; {
		window := f.buf[f.r:f.w]
		if i := bytes.IndexByte(window[looked:], '\n'); i >= 0 && looked+i < limit {
			end := looked + i + 1
			f.r += end
			return window[:end], nil
		}
		if looked = len(window); looked >= limit {
			return nil, errHeader
		}
		if err := f.fill(); err != nil {
			return nil, err
		}
	}
}

// Read reads the content of the current part; io.EOF at its end.
func (f *form) Read(p []byte) (int, error) {
	if err := f.find(); err != nil {
		return 0, err
	}
	n := copy(p, f.buf[f.r:f.r+f.ready])
	f.r += n
	f.ready -= n
	return n, nil
}

// chunk returns the next bytes of the current part, without copying them: they are
// valid until the next call. io.EOF at its end.
func (f *form) chunk() ([]byte, error) {
	if err := f.find(); err != nil {
		return nil, err
	}
	content := f.buf[f.r : f.r+f.ready]
	f.r += f.ready
	f.ready = 0
	return content, nil
}

// find reads until some content is ready; io.EOF at the end of the part.
func (f *form) find() error {
	for f.ready == 0 {
		if f.state != partStart && f.state != insidePart {
			return io.EOF
		}
		if err := f.scan(); err != nil {
			return err
		}
	}
	return nil
}

// scan finds content, or the end of the part, at the start of the window. All
// content found before was handed out.
func (f *form) scan() error {
	for {
		window := f.buf[f.r:f.w]
		if f.state == partStart {
			// An empty part may end without a line break of its own.
			switch startsDelimiter(window, f.dash) {
			case matches:
				f.state = partEnd
				return nil
			case needMore:
				if err := f.fill(); err != nil {
					return err
				}
				continue
			}
			f.state = insidePart
		}
		at := bytes.Index(window, f.delim)
		if at < 0 {
			at = len(window) - overlap(window, f.delim)
		}
		if at < len(window) {
			switch startsDelimiter(window[at:], f.delim) {
			case matches:
				f.ready, f.state = at, partEnd
				return nil
			case noMatch:
				at++ // content that looks like a boundary
			}
		}
		if at > 0 {
			f.ready = at
			return nil
		}
		if err := f.fill(); err != nil {
			return err
		}
	}
}

type match int

const (
	noMatch match = iota
	needMore
	matches
)

// startsDelimiter reports whether b begins with the delimiter, as far as b shows
// it: what follows the delimiter must be able to end its line or close the form.
func startsDelimiter(b, delim []byte) match {
	rest, ok := bytes.CutPrefix(b, delim)
	switch {
	case !ok && len(b) < len(delim) && bytes.HasPrefix(delim, b):
		return needMore
	case !ok:
		return noMatch
	case len(rest) == 0:
		return needMore
	}
	switch rest[0] {
	case ' ', '\t', '\r', '\n':
		return matches
	case '-':
		switch {
		case len(rest) > 1 && rest[1] == '-':
			return matches
		case len(rest) == 1:
			return needMore
		}
	}
	return noMatch
}

// overlap returns the length of the longest end of b that begins delim.
func overlap(b, delim []byte) int {
	from := max(0, len(b)-len(delim)+1)
	for {
		i := bytes.IndexByte(b[from:], delim[0])
		if i < 0 {
			return 0
		}
		from += i
		if bytes.HasPrefix(delim, b[from:]) {
			return len(b) - from
		}
		from++
	}
}

// fill reads more behind the window. The end of the source inside a form is
// io.ErrUnexpectedEOF.
func (f *form) fill() error {
	if f.err == nil {
		f.w = copy(f.buf, f.buf[f.r:f.w])
		f.r = 0
		if f.w == len(f.buf) {
			f.grow(2 * len(f.buf)) // a line, of maxHeader at most
		}
		for tries := 0; ; tries++ {
			n, err := f.src.Read(f.buf[f.w:])
			f.w += n
			f.err = err
			if n > 0 {
				return nil
			}
			if err != nil {
				break
			}
			if tries == 100 {
				f.err = io.ErrNoProgress
				break
			}
		}
	}
	if f.err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return f.err
}
