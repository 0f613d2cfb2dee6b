package intake

import (
	"bytes"
	"encoding/json"

	"github.com/google/uuid"
)

// The members that the answer adds.
const (
	memberResponse = "response"
	memberReceipt  = "_rxid"
)

// echo turns a checked document into the answer: its members, then response
// and _rxid. The document is written over, as it stands in a buffer with some
// room behind it. Members of these names that the client sent are left out; they
// can only be there when the document has members that a report does not know.
func echo(doc []byte, id uuid.UUID, foreign bool) []byte {
	if foreign && mayRepeat(doc) {
		doc = without(doc)
	}
	end := bytes.LastIndexByte(doc, '}')
	empty := len(bytes.TrimSpace(doc[:end])) == 1 // only the opening brace
	doc = doc[:end]
	if !empty {
		doc = append(doc, ',')
	}
	doc = append(doc, `"`+memberResponse+`":"ok","`+memberReceipt+`":"`...)
	var text [36]byte
	encodeUUID(&text, id)
	doc = append(doc, text[:]...)
	return append(doc, `"}`...)
}

// encodeUUID writes the canonical text without an allocation.
func encodeUUID(dst *[36]byte, id uuid.UUID) {
	const digits = "0123456789abcdef"
	at := 0
	for i, b := range id {
		if i == 4 || i == 6 || i == 8 || i == 10 {
			dst[at] = '-'
			at++
		}
		dst[at], dst[at+1] = digits[b>>4], digits[b&15]
		at += 2
	}
}

// mayRepeat is the cheap question whether the document has a member that the
// answer adds; a name may be written with escapes. The searches begin with
// characters that are rare in reports: bytes.Contains jumps from one to the
// next, and a quote is everywhere.
func mayRepeat(doc []byte) bool {
	return bytes.Contains(doc, []byte(memberReceipt+`"`)) ||
		bytes.Contains(doc, []byte(memberResponse[len("res"):]+`"`)) ||
		bytes.Contains(doc, []byte(`\u00`))
}

// without removes the members response and _rxid from the top of a valid
// object, in place.
func without(doc []byte) []byte {
	pos := bytes.IndexByte(doc, '{') + 1
	out := pos // end of what is kept: never ahead of pos
	members := 0
	for {
		pos = skipSpace(doc, pos)
		if pos >= len(doc) || doc[pos] == '}' {
			break
		}
		if doc[pos] == ',' {
			pos++
			continue
		}
		start := pos
		pos = skipString(doc, pos)
		added := isAdded(doc[start:pos])
		pos = skipSpace(doc, pos)
		pos = skipValue(doc, skipSpace(doc, pos+1)) // behind the colon
		if !added {
			if members > 0 {
				doc[out] = ','
				out++
			}
			out += copy(doc[out:], doc[start:pos])
			members++
		}
	}
	return append(doc[:out], '}')
}

func isAdded(quoted []byte) bool {
	if bytes.IndexByte(quoted, '\\') < 0 {
		name := string(quoted[1 : len(quoted)-1])
		return name == memberResponse || name == memberReceipt
	}
	var name string
	return json.Unmarshal(quoted, &name) == nil && (name == memberResponse || name == memberReceipt)
}

func skipSpace(doc []byte, pos int) int {
	for pos < len(doc) && (doc[pos] == ' ' || doc[pos] == '\n' || doc[pos] == '\t' || doc[pos] == '\r') {
		pos++
	}
	return pos
}

// skipString moves over a string whose quote is at pos.
func skipString(doc []byte, pos int) int {
	for pos++; pos < len(doc); pos++ {
		switch doc[pos] {
		case '\\':
			pos++
		case '"':
			return pos + 1
		}
	}
	return len(doc)
}

// skipValue moves over a value; the document is known to be valid.
func skipValue(doc []byte, pos int) int {
	depth := 0
	for pos < len(doc) {
		switch doc[pos] {
		case '"':
			pos = skipString(doc, pos)
			if depth == 0 {
				return pos
			}
			continue
		case '{', '[':
			depth++
		case '}', ']':
			if depth == 0 {
				return pos // the end of the object around a number
			}
			if depth--; depth == 0 {
				return pos + 1
			}
		case ',', ' ', '\n', '\t', '\r':
			if depth == 0 {
				return pos
			}
		}
		pos++
	}
	return pos
}
