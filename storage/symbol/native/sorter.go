package native

import (
	"bufio"
	"cmp"
	"container/heap"
	"encoding/binary"
	"fmt"
	"io"
	"slices"

	"github.com/slipway-qa/slipway/storage/symbol"
)

// maxRuns bounds the runs that are merged at once: each has a buffer.
const (
	maxRuns   = 256
	runBuffer = 64 << 10
)

// sorter sorts records by address, the earlier before the later of equals, in bounded
// memory: it writes sorted runs and merges them.
type sorter struct {
	limit   int // bytes that stay in memory
	arena   []byte
	records []record
	runs    []run
	spool   spool
}

type record struct {
	address uint64
	offset  uint32
	size    uint32
}

type run struct{ offset, size int64 }

// recordSize is what a record costs besides its bytes.
const recordSize = 16

func (s *sorter) add(address uint64, payload []byte) error {
	if n := len(s.arena) + len(payload) + (len(s.records)+1)*recordSize; n > s.limit && len(s.records) > 0 {
		if err := s.spill(); err != nil {
			return err
		}
	}
	s.records = append(s.records, record{address: address, offset: uint32(len(s.arena)), size: uint32(len(payload))})
	s.arena = append(s.arena, payload...)
	return nil
}

func (s *sorter) sort() {
	slices.SortStableFunc(s.records, func(a, b record) int { return cmp.Compare(a.address, b.address) })
}

func (s *sorter) spill() error {
	if len(s.runs) >= maxRuns {
		return symbol.Invalid(symbol.TooLarge, "the file describes more code than an index holds")
	}
	s.sort()
	begin := s.spool.size
	out := bufio.NewWriterSize(&s.spool, runBuffer)
	var head []byte
	for _, r := range s.records {
		head = binary.AppendUvarint(head[:0], r.address)
		head = binary.AppendUvarint(head, uint64(r.size))
		if _, err := out.Write(head); err != nil {
			return err
		}
		if _, err := out.Write(s.arena[r.offset:][:r.size]); err != nil {
			return err
		}
	}
	if err := out.Flush(); err != nil {
		return err
	}
	s.runs = append(s.runs, run{offset: begin, size: s.spool.size - begin})
	s.records, s.arena = s.records[:0], s.arena[:0]
	return nil
}

// each calls use with each record in order. The sorter is empty afterwards.
func (s *sorter) each(use func(address uint64, payload []byte) error) error {
	defer s.close()
	if len(s.runs) == 0 {
		s.sort()
		for _, r := range s.records {
			if err := use(r.address, s.arena[r.offset:][:r.size]); err != nil {
				return err
			}
		}
		return nil
	}
	if err := s.spill(); err != nil {
		return err
	}
	s.arena, s.records = nil, nil
	return s.merge(use)
}

func (s *sorter) merge(use func(address uint64, payload []byte) error) error {
	var m merge
	for i, r := range s.runs {
		from, err := s.spool.section(r.offset, r.size)
		if err != nil {
			return err
		}
		c := &cursor{from: bufio.NewReaderSize(from, runBuffer), run: i}
		if more, err := c.next(); err != nil {
			return err
		} else if more {
			m = append(m, c)
		}
	}
	heap.Init(&m)
	for len(m) > 0 {
		c := m[0]
		if err := use(c.address, c.payload); err != nil {
			return err
		}
		more, err := c.next()
		switch {
		case err != nil:
			return err
		case more:
			heap.Fix(&m, 0)
		default:
			heap.Pop(&m)
		}
	}
	return nil
}

func (s *sorter) close() {
	s.spool.close()
	s.arena, s.records, s.runs = nil, nil, nil
}

// cursor is where the merge is in a run.
type cursor struct {
	from    *bufio.Reader
	run     int
	address uint64
	payload []byte
}

func (c *cursor) next() (bool, error) {
	address, err := binary.ReadUvarint(c.from)
	if err == io.EOF {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("read a run: %w", err)
	}
	size, err := binary.ReadUvarint(c.from)
	if err != nil {
		return false, fmt.Errorf("read a run: %w", err)
	}
	c.address, c.payload = address, slices.Grow(c.payload[:0], int(size))[:size]
	if _, err := io.ReadFull(c.from, c.payload); err != nil {
		return false, fmt.Errorf("read a run: %w", err)
	}
	return true, nil
}

// merge is a heap of cursors.
type merge []*cursor

func (m merge) Len() int { return len(m) }

func (m merge) Less(i, j int) bool {
	if m[i].address != m[j].address {
		return m[i].address < m[j].address
	}
	return m[i].run < m[j].run
}

func (m merge) Swap(i, j int) { m[i], m[j] = m[j], m[i] }

func (m *merge) Push(x any) { *m = append(*m, x.(*cursor)) }

func (m *merge) Pop() any {
	last := (*m)[len(*m)-1]
	*m = (*m)[:len(*m)-1]
	return last
}
