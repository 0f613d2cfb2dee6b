package pdb

import (
	"bufio"
	"encoding/binary"
	"errors"
	"io"

	"github.com/slipway-qa/slipway/storage/symbol"
)

// records reads the records of a stream one after the other: each has its length and kind.
type records struct {
	stream *stream
	in     *bufio.Reader
	at     int64 // of the next record, in the stream
	end    int64
	buffer []byte
}

func newRecords(s *stream, from, to int64) *records {
	return &records{stream: s, in: bufio.NewReaderSize(io.NewSectionReader(s, from, to-from), 64<<10), at: from, end: to,
		buffer: make([]byte, 1<<16)}
}

// next returns the kind and the content of the next record, valid until the call after;
// false at the end.
func (r *records) next() (kind uint16, content []byte, ok bool, err error) {
	if r.end-r.at < 4 {
		return 0, nil, false, nil
	}
	head := r.buffer[:2]
	if _, err := io.ReadFull(r.in, head); err != nil {
		return 0, nil, false, r.failure(err)
	}
	n := int(binary.LittleEndian.Uint16(head))
	if n < 2 || int64(n) > r.end-r.at-2 {
		return 0, nil, false, symbol.Invalid(symbol.Malformed, "stream %d: the record at %#x states %d bytes", r.stream.number, r.at, n)
	}
	p := r.buffer[:n]
	if _, err := io.ReadFull(r.in, p); err != nil {
		return 0, nil, false, r.failure(err)
	}
	r.at += int64(n) + 2
	return binary.LittleEndian.Uint16(p), p[2:], true, nil
}

func (r *records) failure(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return symbol.Invalid(symbol.Truncated, "stream %d ends within a record", r.stream.number)
	}
	return err
}
