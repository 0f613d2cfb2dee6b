package binary

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/therootcompany/xz"

	"github.com/slipway-qa/slipway/storage/symbol"
	"github.com/slipway-qa/slipway/storage/symbol/native"
)

const (
	// miniDebug is the section that Fedora and others leave in programs: an ELF file with the
	// symbol table of the functions that .dynsym lacks, compressed by xz.
	// https://sourceware.org/gdb/current/onlinedocs/gdb.html/MiniDebugInfo.html
	miniDebug = ".gnu_debugdata"
	// maxMiniDebug bounds that file: the symbols of the largest browsers have some 100 MiB.
	maxMiniDebug = 256 << 20
	// maxMiniDictionary bounds the memory of the decoder; xz takes 64 MiB at its highest level.
	maxMiniDictionary = 64 << 20
)

// MiniSymbols reports the functions of the symbol table in .gnu_debugdata to the sink, as Symbols
// does those of the file's own, and returns how many; 0 without the section.
func (f *File) MiniSymbols(sink native.Sink) (int, error) {
	r, size, err := f.Section(miniDebug)
	if err != nil || size == 0 {
		return 0, err
	}
	in := &tracked{r: io.NewSectionReader(r, 0, size)}
	source, err := xz.NewReader(in, maxMiniDictionary)
	if err != nil {
		return 0, in.xzError(err)
	}
	c, err := f.expand(in, source)
	if err != nil {
		return 0, err
	}
	if c.file != nil {
		defer c.file.Close()
	}
	inner, err := Open(c.r, c.size)
	if err != nil {
		return 0, fmt.Errorf("the file in section %s: %w", miniDebug, err)
	}
	defer inner.Close()
	if inner.Kind != symbol.ELF || inner.Arch != f.Arch {
		return 0, symbol.Invalid(symbol.Malformed, "the file in section %s is of %s, the program of %s", miniDebug, inner.Arch, f.Arch)
	}
	inner.Base = f.Base // its program headers are those of the program, or none
	return inner.Symbols(sink)
}

// expand writes the stream to memory, and what is more than a little to a temporary file.
func (f *File) expand(in *tracked, source io.Reader) (content, error) {
	var memory bytes.Buffer
	limited := io.LimitReader(source, maxMiniDebug+1)
	n, err := copyStream(&memory, io.LimitReader(limited, maxInMemory))
	if err != nil {
		return content{}, in.xzError(err)
	}
	if n < maxInMemory || f.Temporary == nil {
		return content{r: bytes.NewReader(memory.Bytes()), size: n}, nil
	}
	file, err := f.Temporary()
	if err != nil {
		return content{}, fmt.Errorf("temporary file for section %s: %w", miniDebug, err)
	}
	n, err = copyStream(file, io.MultiReader(&memory, limited))
	switch {
	case errors.Is(err, errDestination):
	case err != nil:
		err = in.xzError(err)
	case n > maxMiniDebug:
		err = symbol.Invalid(symbol.TooLarge, "section %s unpacks to more than %d MiB", miniDebug, maxMiniDebug>>20)
	}
	if err != nil {
		return content{}, errors.Join(err, file.Close())
	}
	return content{r: file, size: n, file: file}, nil
}

// xzError returns what is wrong with the stream, or the error of reading the file.
func (t *tracked) xzError(err error) error {
	switch {
	case t.err != nil:
		return fmt.Errorf("read section %s: %w", miniDebug, t.err)
	case errors.Is(err, xz.ErrMemlimit):
		return symbol.Invalid(symbol.TooLarge, "section %s: its compressed stream needs more than %d MiB of memory",
			miniDebug, maxMiniDictionary>>20)
	case errors.Is(err, xz.ErrBuf), errors.Is(err, io.ErrUnexpectedEOF):
		return symbol.Invalid(symbol.Truncated, "section %s: its compressed stream ends early", miniDebug)
	}
	return symbol.Invalid(symbol.Malformed, "section %s: its compressed stream is broken: %v", miniDebug, err)
}
