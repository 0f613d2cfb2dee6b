package client

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"
)

// File is a file on its way to the server. Its bytes are read when they are sent, never all of
// them at once.
type File struct {
	Name string // as the server calls it
	Path string
	Size int64
	// Place names the file for a later call that goes on with its parts; "": its path.
	Place  string
	at     time.Time // of its last change
	digest string    // its SHA-256 once it was read
	parts  string    // a digest over those of its parts, once it was sent so
}

// SHA256 returns the digest of the file in hexadecimal. It is read for that once.
func (f *File) SHA256() (string, error) {
	if f.digest == "" {
		in, err := f.section(0, f.Size)
		if err != nil {
			return "", err
		}
		defer in.Close()
		h := sha256.New()
		if _, err := io.Copy(h, in); err != nil {
			return "", err
		}
		f.digest = hex.EncodeToString(h.Sum(nil))
	}
	return f.digest, nil
}

const (
	// samples of sampleSize bytes each, evenly through the file, tell most files apart.
	samples    = 16
	sampleSize = 64 << 10
)

// sample names the file by its size and some of its bytes, of which the last are the directory of a
// package, with the checksums of all its files. It is found in no time; other files may have the same.
func (f *File) sample() (string, error) {
	h := sha256.New()
	fmt.Fprintln(h, f.Size)
	for i := range int64(samples) {
		size := min(sampleSize, f.Size)
		in, err := f.section((f.Size-size)*i/(samples-1), size)
		if err != nil {
			return "", err
		}
		_, err = io.Copy(h, in)
		_ = in.Close() // it was read only
		if err != nil {
			return "", err
		}
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// noteParts keeps what names the content of a file that was sent in parts.
func (f *File) noteParts(size int64, digests []string) {
	sum := sha256.Sum256([]byte(fmt.Sprint(size, digests)))
	f.parts = "parts " + hex.EncodeToString(sum[:])
}

// content names the bytes of the file: by its parts when it was sent so, else by its SHA-256.
func (f *File) content() (string, error) {
	if f.parts != "" {
		return f.parts, nil
	}
	return f.SHA256()
}

// OpenFile looks at a file. An *Error of kind Misused says why it cannot be sent: it is missing,
// empty, or a folder.
func OpenFile(path, name string) (*File, error) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, &Error{Kind: Misused, Text: err.Error()}
	case info.IsDir():
		return nil, &Error{Kind: Misused, Text: path + " is a folder"}
	case !info.Mode().IsRegular():
		return nil, &Error{Kind: Misused, Text: path + " is no file"}
	case info.Size() == 0:
		return nil, &Error{Kind: Misused, Text: path + " is empty: it has 0 bytes"}
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, &Error{Kind: Misused, Text: err.Error()}
	}
	if name == "" {
		name = info.Name()
	}
	return &File{Name: name, Path: path, Size: info.Size(), at: info.ModTime()}, f.Close()
}

// check returns an error when the file is not the one that OpenFile saw.
func (f *File) check() error {
	info, err := os.Stat(f.Path)
	if err != nil {
		return &Error{Kind: Misused, Text: err.Error()}
	}
	if info.Size() != f.Size || !info.ModTime().Equal(f.at) {
		return &Error{Kind: Misused, Text: f.Path + " was changed while it was sent: nothing was stored of it; send it again once it is done"}
	}
	return nil
}

// section opens a part of the file, which must be there whole.
func (f *File) section(offset, size int64) (io.ReadCloser, error) {
	if err := f.check(); err != nil {
		return nil, err
	}
	in, err := os.Open(f.Path)
	if err != nil {
		return nil, &Error{Kind: Misused, Text: err.Error()}
	}
	return &section{file: f, in: in, r: io.NewSectionReader(in, offset, size)}, nil
}

// section reads a part of a file and fails at its end when the file was changed meanwhile: the
// request then breaks off, and the server keeps nothing.
type section struct {
	file *File
	in   *os.File
	r    *io.SectionReader
}

func (s *section) Read(p []byte) (int, error) {
	n, err := s.r.Read(p)
	if err == io.EOF || err == nil && n == 0 {
		if changed := s.file.check(); changed != nil {
			return n, changed
		}
	}
	return n, err
}

func (s *section) Close() error { return s.in.Close() }

// field is a text of a form.
type field struct{ name, value string }

// formFile is a file of a form.
type formFile struct {
	field string
	file  *File
}

// form is a body of multipart/form-data that can be sent again: texts first, then files.
type form struct {
	boundary string
	pieces   []piece
	size     int64
}

// piece is a text, or a file.
type piece struct {
	text []byte
	file *File
}

func newForm(fields []field, files []formFile) (*form, error) {
	var random [16]byte
	if _, err := rand.Read(random[:]); err != nil {
		return nil, err
	}
	f := &form{boundary: "slipway-" + hex.EncodeToString(random[:])}
	for _, x := range fields {
		f.add(piece{text: fmt.Appendf(nil, "--%s\r\nContent-Disposition: form-data; name=%s\r\n\r\n%s\r\n", f.boundary, quoted(x.name), x.value)})
	}
	for _, x := range files {
		f.add(piece{text: fmt.Appendf(nil,
			"--%s\r\nContent-Disposition: form-data; name=%s; filename=%s\r\nContent-Type: application/octet-stream\r\n\r\n",
			f.boundary, quoted(x.field), quoted(x.file.Name))})
		f.add(piece{file: x.file})
		f.add(piece{text: []byte("\r\n")})
	}
	f.add(piece{text: fmt.Appendf(nil, "--%s--\r\n", f.boundary)})
	return f, nil
}

func (f *form) add(p piece) {
	f.pieces = append(f.pieces, p)
	f.size += int64(len(p.text))
	if p.file != nil {
		f.size += p.file.Size
	}
}

// quoted is a parameter of a header as browsers write it (HTML, multipart/form-data).
func quoted(text string) string {
	return `"` + strings.NewReplacer("\n", "%0A", "\r", "%0D", `"`, "%22").Replace(text) + `"`
}

func (f *form) contentType() string { return "multipart/form-data; boundary=" + f.boundary }

// body returns the form from its beginning.
func (f *form) body() (io.ReadCloser, error) { return &formBody{pieces: slices.Clone(f.pieces)}, nil }

// formBody reads the pieces one after another, and opens each file when its turn comes.
type formBody struct {
	pieces []piece
	now    io.Reader
	open   io.Closer
}

func (b *formBody) Read(p []byte) (int, error) {
	for {
		if b.now == nil {
			if len(b.pieces) == 0 {
				return 0, io.EOF
			}
			if err := b.next(); err != nil {
				return 0, err
			}
		}
		n, err := b.now.Read(p)
		if err == io.EOF {
			b.now, err = nil, b.Close()
		}
		if n > 0 || err != nil {
			return n, err
		}
	}
}

func (b *formBody) next() error {
	first := b.pieces[0]
	b.pieces = b.pieces[1:]
	if first.file == nil {
		b.now = bytes.NewReader(first.text)
		return nil
	}
	in, err := first.file.section(0, first.file.Size)
	if err != nil {
		return err
	}
	b.now, b.open = in, in
	return nil
}

// Close closes the file that is open.
func (b *formBody) Close() error {
	if b.open == nil {
		return nil
	}
	open := b.open
	b.open = nil
	return open.Close()
}
