package binary

import (
	"bytes"
	"errors"
	"strings"

	"github.com/slipway-qa/slipway/storage/symbol"
)

const (
	blockSize  = 4 << 10
	blockCount = 2048 // 8 MiB: names of neighbours are near each other
	// maxName bounds a name; the longest mangled names of real programs have some KiB.
	maxName = 32 << 10
	// nameFactor bounds the bytes of all names against the table: names share endings, but
	// a table whose names all share one long ending is made to cost time.
	nameFactor = 16
)

// stringTable reads names that end with a zero byte, in blocks that it keeps.
type stringTable struct {
	view   view
	blocks [blockCount][]byte
	tags   [blockCount]uint64
	budget int64
}

func newStringTable(v view) *stringTable {
	return &stringTable{view: v, budget: nameFactor*v.size + 1<<20}
}

// at returns the name at an offset; "" for one outside of the table or without end.
func (t *stringTable) at(offset uint64) (string, error) {
	var name strings.Builder
	for start := offset; start < uint64(t.view.size) && name.Len() <= maxName; {
		block, err := t.block(start / blockSize)
		if err != nil {
			return "", err
		}
		p := block[start%blockSize:]
		end := bytes.IndexByte(p, 0)
		if end >= 0 {
			p = p[:end]
		}
		name.Write(p)
		if t.budget -= int64(len(p)) + 1; t.budget < 0 {
			return "", symbol.Invalid(symbol.Malformed,
				"the names of symbols overlap: together they have more than %d times the bytes of their table", nameFactor)
		}
		if end >= 0 {
			if name.Len() > maxName {
				return "", nil
			}
			return strings.ToValidUTF8(name.String(), "\uFFFD"), nil
		}
		start += uint64(len(p))
	}
	return "", nil
}

func (t *stringTable) block(i uint64) ([]byte, error) {
	slot := i % blockCount
	if t.blocks[slot] != nil && t.tags[slot] == i {
		return t.blocks[slot], nil
	}
	p, err := t.view.read(i*blockSize, int(min(blockSize, uint64(t.view.size)-i*blockSize)), "a table of names")
	if err != nil {
		return nil, err
	}
	t.blocks[slot], t.tags[slot] = p, i
	return p, nil
}

// onlyReading returns an error unless it is one of the file's content.
func onlyReading(err error) error {
	var invalid *symbol.InvalidError
	if errors.As(err, &invalid) {
		return nil
	}
	return err
}
