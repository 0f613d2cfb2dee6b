package signature

import (
	"bytes"
	"strings"
)

// Tags of ASN.1.
const (
	tagBoolean  = 0x01
	tagInteger  = 0x02
	tagBits     = 0x03
	tagOctets   = 0x04
	tagOID      = 0x06
	tagSequence = 0x30
	tagSet      = 0x31
	tagContext0 = 0xa0
	tagContext3 = 0xa3
)

// element is one element of ASN.1 in the encoding DER, in which a length may be
// written with more bytes than it needs.
type element struct {
	tag        byte
	body, full []byte
}

// elements reads one element after another. After a failure all further reads
// return nothing; failed says so.
type elements struct {
	rest   []byte
	failed bool
}

func (e *elements) more() bool { return !e.failed && len(e.rest) > 0 }

func (e *elements) peek() byte {
	if !e.more() {
		return 0
	}
	return e.rest[0]
}

func (e *elements) next() element {
	raw := e.rest
	if e.failed || len(raw) < 2 || raw[0]&0x1f == 0x1f {
		e.failed = true
		return element{}
	}
	head, length := 2, int(raw[1])
	if length >= 0x80 {
		n := length & 0x7f
		if n == 0 || n > 4 || len(raw) < 2+n {
			e.failed = true
			return element{}
		}
		length = 0
		for _, b := range raw[2 : 2+n] {
			length = length<<8 | int(b)
		}
		head += n
	}
	if length > len(raw)-head {
		e.failed = true
		return element{}
	}
	e.rest = raw[head+length:]
	return element{raw[0], raw[head : head+length], raw[:head+length]}
}

// expect reads an element of a tag.
func (e *elements) expect(tag byte) element {
	one := e.next()
	if one.tag != tag {
		e.failed = true
		return element{}
	}
	return one
}

// into reads an element of a tag for its parts.
func (e *elements) into(tag byte) *elements {
	one := e.expect(tag)
	return &elements{rest: one.body, failed: e.failed}
}

// sameName reports whether two names of X.501 are the same: their types in order,
// and their texts but for case and spaces, whatever string type these have.
func sameName(a, b []byte) bool {
	if bytes.Equal(a, b) {
		return true
	}
	one, ok1 := nameParts(a)
	two, ok2 := nameParts(b)
	if !ok1 || !ok2 || len(one) != len(two) {
		return false
	}
	for i := range one {
		if one[i] != two[i] {
			return false
		}
	}
	return true
}

// namePart is one attribute of a name.
type namePart struct{ kind, text string }

// nameParts reads at most maxAttributes attributes.
func nameParts(raw []byte) ([]namePart, bool) {
	whole := elements{rest: raw}
	sets := whole.into(tagSequence)
	var parts []namePart
	for sets.more() {
		set := sets.into(tagSet)
		for set.more() {
			one := set.into(tagSequence)
			kind := one.expect(tagOID).body
			value := one.next()
			if one.failed || len(parts) == maxAttributes {
				return nil, false
			}
			text := strings.Join(strings.Fields(strings.ToLower(string(value.body))), " ")
			parts = append(parts, namePart{string(kind), text})
		}
		if set.failed {
			return nil, false
		}
	}
	return parts, !sets.failed
}
