package parse

import (
	"archive/tar"
	"bufio"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/klauspost/compress/zstd"
	"github.com/therootcompany/xz"

	"github.com/slipway-qa/slipway/storage/artifact/archive"
	"github.com/slipway-qa/slipway/storage/symbol"
	"github.com/slipway-qa/slipway/storage/symbol/filetype"
)

// inflater returns a reader of a compressed file, and what frees it.
func inflater(r io.Reader, format filetype.Format) (io.Reader, func(), error) {
	in := bufio.NewReaderSize(r, 256<<10)
	// A window is what a decoder must keep: 64 MiB is what the highest usual levels need.
	const window = 64 << 20
	switch format {
	case filetype.Gzip:
		z, err := gzip.NewReader(in)
		return z, func() {}, err
	case filetype.Xz:
		z, err := xz.NewReader(in, window)
		return z, func() {}, err
	}
	z, err := zstd.NewReader(in, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(window))
	if err != nil {
		return nil, nil, err
	}
	return z, z.Close, nil
}

// tar unpacks the members of a tar, one after another. After an error nothing
// more can be found.
func (u *unpacking) tar(r io.Reader) error {
	in := tar.NewReader(r)
	for {
		h, err := in.Next()
		if err == io.EOF {
			return nil
		}
		if err != nil && !errors.Is(err, tar.ErrInsecurePath) {
			p := reading(err)
			p.Reason = "the archive cannot be read on: " + p.Reason
			u.out.Problem = p
			return nil
		}
		if h.Typeflag != tar.TypeReg || beside(h.Name) {
			continue
		}
		if err := u.member(h.Name, func() (io.Reader, error) { return in, nil }); err != nil {
			return err
		}
	}
}

// zip unpacks the members of a zip.
func (u *unpacking) zip(f *os.File, size int64) error {
	a, err := archive.Open(f, size)
	if err != nil {
		u.out.Problem = reading(err)
		return nil
	}
	u.readManifest(a)
	for _, e := range a.Entries() {
		if strings.HasSuffix(e.Name, "/") || beside(e.Name) {
			continue
		}
		err := u.member(e.Name, func() (io.Reader, error) {
			r, err := a.Open(e, maxMember)
			if errors.Is(err, archive.ErrTooLarge) {
				err = symbol.Invalid(symbol.TooLarge, "this file unpacks to more than %d MiB", maxMember>>20)
			}
			return &ratioReader{r: r, packed: e.Packed}, err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// beside reports whether a member is what Apple's archivers add to each file.
func beside(name string) bool {
	return strings.HasPrefix(name, "__MACOSX/") || strings.HasPrefix(name[strings.LastIndexByte(name, '/')+1:], "._")
}

// member unpacks one file of an archive.
func (u *unpacking) member(name string, content func() (io.Reader, error)) error {
	if u.looked++; u.looked > maxEntries {
		u.out.Problem = problem(symbol.TooLarge, fmt.Sprintf("the archive has more than %d files; the others are not read", maxEntries))
		return errFull
	}
	path, err := memberPath(name)
	if err != nil {
		return u.refuse(path, err)
	}
	r, err := content()
	if err != nil {
		return u.refuse(path, err)
	}
	file, size, sum, err := u.write(r)
	if errors.Is(err, errFull) {
		return err
	}
	if err != nil {
		return u.refuse(path, err)
	}
	return u.take(Member{Path: path, File: file, Size: size, SHA256: sum}, path, false)
}
