package android

import (
	"errors"

	"google.golang.org/protobuf/encoding/protowire"
)

// errMessage means that a message ends inside a field, or that its bytes are no
// protobuf.
var errMessage = errors.New("not a protobuf message")

// field is one field of a protobuf message: bytes of a text or a message, else the
// bits of a number.
type field struct {
	number protowire.Number
	bits   uint64
	bytes  []byte
}

// nextField returns the first field of a message and what follows it. Groups are
// skipped, as an empty field.
func nextField(b []byte) (f field, rest []byte, ok bool) {
	number, kind, n := protowire.ConsumeTag(b)
	if n < 0 {
		return field{}, nil, false
	}
	f.number, b = number, b[n:]
	switch kind {
	case protowire.VarintType:
		f.bits, n = protowire.ConsumeVarint(b)
	case protowire.Fixed32Type:
		var bits uint32
		bits, n = protowire.ConsumeFixed32(b)
		f.bits = uint64(bits)
	case protowire.Fixed64Type:
		f.bits, n = protowire.ConsumeFixed64(b)
	case protowire.BytesType:
		f.bytes, n = protowire.ConsumeBytes(b)
	default:
		n = protowire.ConsumeFieldValue(number, kind, b)
	}
	if n < 0 {
		return field{}, nil, false
	}
	return f, b[n:], true
}

// eachField visits the fields of a message until one is refused. What comes before
// a broken field is visited.
func eachField(b []byte, visit func(field) bool) error {
	for len(b) > 0 {
		f, rest, ok := nextField(b)
		if !ok {
			return errMessage
		}
		if !visit(f) {
			return nil
		}
		b = rest
	}
	return nil
}

// message returns the bytes of a field of the message in f; the last one counts, as
// protobuf specifies.
func (f field) message(number protowire.Number) []byte {
	var found []byte
	eachField(f.bytes, func(g field) bool {
		if g.number == number {
			found = g.bytes
		}
		return true
	})
	return found
}

// value returns a number of the message in f, 0 when there is none.
func (f field) value(number protowire.Number) uint64 {
	var found uint64
	eachField(f.bytes, func(g field) bool {
		if g.number == number {
			found = g.bits
		}
		return true
	})
	return found
}
