package dwarf

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/slipway-qa/slipway/storage/symbol"
)

const (
	// wholeSection: sections up to this size are read once and stay in memory.
	wholeSection = 4 << 20
	// Of larger ones, pages are kept: small ones, since what units refer to (strings above
	// all) is spread over the whole section.
	pageSize = 4 << 10
	maxPages = 4 << 10 // 16 MiB
)

// section reads ranges of a section.
type section struct {
	name   string
	from   io.ReaderAt
	size   int64
	whole  []byte
	pages  map[int64][]byte
	old    map[int64][]byte // what was used before pages was begun
	last   int64            // the page that was used last
	lastAt []byte
}

func openSection(from Sections, name string) (*section, error) {
	r, size, err := from.Section(name)
	if err != nil {
		return nil, err
	}
	return &section{name: name, from: r, size: size, last: -1}, nil
}

// read fills p from an offset; a *symbol.InvalidError when the section ends before.
func (s *section) read(p []byte, offset uint64) error {
	if offset > uint64(s.size) || uint64(len(p)) > uint64(s.size)-offset {
		return symbol.Invalid(symbol.Truncated, "%s ends at %#x, before %#x", s.name, s.size, offset+uint64(len(p)))
	}
	if len(p) == 0 {
		return nil
	}
	n, err := s.from.ReadAt(p, int64(offset))
	if n == len(p) {
		return nil
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || err == nil {
		return symbol.Invalid(symbol.Truncated, "%s is cut off at %#x", s.name, offset+uint64(n))
	}
	return fmt.Errorf("read %s: %w", s.name, err)
}

// page returns the bytes from an offset to the end of its page, at least one.
func (s *section) page(offset uint64) ([]byte, error) {
	if offset >= uint64(s.size) {
		return nil, symbol.Invalid(symbol.Truncated, "%s ends at %#x, before %#x", s.name, s.size, offset)
	}
	if s.size <= wholeSection {
		if s.whole == nil {
			p := make([]byte, s.size)
			if err := s.read(p, 0); err != nil {
				return nil, err
			}
			s.whole = p
		}
		return s.whole[offset:], nil
	}
	number := int64(offset / pageSize)
	if number != s.last {
		p, err := s.load(number)
		if err != nil {
			return nil, err
		}
		s.last, s.lastAt = number, p
	}
	return s.lastAt[offset%pageSize:], nil
}

func (s *section) load(number int64) ([]byte, error) {
	p, ok := s.pages[number]
	if ok {
		return p, nil
	}
	if p, ok = s.old[number]; !ok {
		p = make([]byte, min(pageSize, s.size-number*pageSize))
		if err := s.read(p, uint64(number*pageSize)); err != nil {
			return nil, err
		}
	}
	if len(s.pages) >= maxPages/2 || s.pages == nil {
		s.old, s.pages = s.pages, make(map[int64][]byte)
	}
	s.pages[number] = p
	return p, nil
}

// bytes returns n bytes at an offset, which the caller does not change and does not
// keep beyond the next call.
func (s *section) bytes(offset uint64, n int) ([]byte, error) {
	p, err := s.page(offset)
	if err != nil {
		return nil, err
	}
	if len(p) >= n {
		return p[:n], nil
	}
	q := make([]byte, n)
	return q, s.read(q, offset)
}

// some returns up to n bytes at an offset: less at the end of the section.
func (s *section) some(offset uint64, n int) ([]byte, error) {
	if offset > uint64(s.size) {
		return nil, symbol.Invalid(symbol.Truncated, "%s ends at %#x, before %#x", s.name, s.size, offset)
	}
	if left := uint64(s.size) - offset; uint64(n) > left {
		n = int(left)
	}
	if n == 0 {
		return nil, nil
	}
	return s.bytes(offset, n)
}

// maxName bounds a name, in bytes; what is longer is cut off.
const maxName = 32 << 10

// text returns the string at an offset, up to its zero byte.
func (s *section) text(offset uint64) (string, error) {
	p, err := s.page(offset)
	if err != nil {
		return "", err
	}
	if end := bytes.IndexByte(p[:min(len(p), maxName)], 0); end >= 0 {
		return string(p[:end]), nil
	}
	var text []byte
	for len(text) < maxName {
		if end := bytes.IndexByte(p, 0); end >= 0 {
			return string(append(text, p[:end]...)), nil
		}
		text = append(text, p...)
		offset += uint64(len(p))
		if p, err = s.page(offset); err != nil {
			return "", err
		}
	}
	return string(text[:maxName]), nil
}
