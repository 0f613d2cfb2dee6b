package sourcemap

import (
	"github.com/slipway-qa/slipway/storage/symbol"
)

// maxMember bounds a member that is read whole: rangeMappings, scopes, and the function
// maps of one source.
const maxMember = 16 << 20

// rangeReader reads rangeMappings: for each generated line, the places of its range
// mappings among the mappings of the line, as unsigned VLQs, each relative to the former
// one (https://github.com/tc39/ecma426/blob/main/proposals/range-mappings.md).
type rangeReader struct {
	text    []byte
	pos     int
	place   uint64
	pending bool
}

// rangeMappings reads the member; nil when there is none.
func (x *indexer) rangeMappings(l *leaf) (*rangeReader, error) {
	v, ok := x.value(l.members, "rangeMappings")
	if !ok {
		return nil, nil
	}
	if v.first != '"' {
		return nil, l.malformed("the rangeMappings are not a text")
	}
	text, err := x.whole("the rangeMappings have")
	if err != nil {
		return nil, err
	}
	for i, c := range text {
		if c != ';' && digits[c] == 0xff {
			return nil, l.malformed("the rangeMappings have a wrong character at %d", i)
		}
	}
	for i := 0; i < len(text); {
		if text[i] == ';' {
			i++
			continue
		}
		_, n := unsigned(text[i:])
		if n == 0 {
			return nil, l.malformed("the rangeMappings have a wrong VLQ at %d", i)
		}
		i += n
	}
	return &rangeReader{text: text}, nil
}

// whole reads a text of at most maxMember bytes.
func (x *indexer) whole(what string) ([]byte, error) {
	var b []byte
	x.in.text(func(p []byte) {
		if len(b) <= maxMember {
			b = append(b, p...)
		}
	})
	if len(b) > maxMember {
		return nil, symbol.Invalid(symbol.TooLarge, "%s more than %d bytes", what, maxMember)
	}
	return b, x.in.err
}

// next reports whether a mapping of the present line is a range mapping; they are asked
// for in their order.
func (r *rangeReader) next(place int) bool {
	for {
		if !r.pending {
			if r.pos >= len(r.text) || r.text[r.pos] == ';' {
				return false
			}
			v, n := unsigned(r.text[r.pos:])
			r.pos += n
			r.place += v
			r.pending = true
		}
		if r.place > uint64(place) {
			return false
		}
		r.pending = false
		if r.place == uint64(place) {
			return true
		}
	}
}

// endLine goes to the next line.
func (r *rangeReader) endLine() {
	for r.pos < len(r.text) && r.text[r.pos] != ';' {
		r.pos++
	}
	r.pos++
	r.place, r.pending = 0, false
}
