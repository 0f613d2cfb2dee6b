package sourcemap

import (
	"fmt"
	"io"
)

// maxHeld is the size up to which an index is held in memory.
const maxHeld = 8 << 20

// table is a section of an index: held in memory, or read in ranges.
type table struct {
	size int64
	held []byte
	r    *io.SectionReader
}

func (t *table) hold() error {
	p := make([]byte, t.size)
	if _, err := io.ReadFull(io.NewSectionReader(t.r, 0, t.size), p); err != nil {
		return fmt.Errorf("read the index of a source map: %w", err)
	}
	t.held = p
	return nil
}

// bytes returns a range of the section; it is read only.
func (t *table) bytes(at, n int64) ([]byte, error) {
	if at < 0 || n < 0 || at > t.size || n > t.size-at {
		return nil, fmt.Errorf("the index of a source map is cut off")
	}
	if t.held != nil || n == 0 {
		return t.held[min(at, int64(len(t.held))):][:n], nil
	}
	p := make([]byte, n)
	if got, err := t.r.ReadAt(p, at); int64(got) < n {
		return nil, fmt.Errorf("read the index of a source map: %w", err)
	}
	return p, nil
}
