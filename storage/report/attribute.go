package report

import (
	"encoding/json"
	"strconv"
)

// attributes reads the indexed keys and values. A repeated key keeps its last
// value. Values of keys that name a secret are marked for masking, and secrets
// in the text of the others, as in annotations.
func (m *memberReader) attributes() bool {
	entered, ok := m.optionalObject()
	if !entered {
		return ok
	}
	var at cursor
	var keys nameSet
	for m.member(&at) {
		if !m.attribute(at.key, &keys) {
			return m.inMember(at.key)
		}
		if at.n > m.limits.Attributes {
			return m.tooMany("attributes", m.limits.Attributes)
		}
	}
	return m.err == nil
}

func (m *memberReader) attribute(key []byte, keys *nameSet) bool {
	if len(key) > m.limits.Key {
		return m.invalidValue("the key is longer than " + strconv.Itoa(m.limits.Key) + " bytes")
	}
	c := m.token()
	if c == '{' || c == '[' {
		return m.wrongKind("must be a string, a number or a boolean")
	}
	if m.out == nil {
		if kind := secretName(key, false); kind != public {
			return m.secretMember(kind, 2)
		}
		return m.memberOf(key, 2)
	}
	var value any
	switch c {
	case '"':
		t, ok := m.str()
		if !ok {
			return false
		}
		value = t.String()
	case 't', 'f':
		value = c == 't'
		if !m.scalar(c) {
			return false
		}
	case 'n':
		if !m.literal("null") {
			return false
		}
	default:
		raw, ok := m.number()
		if !ok {
			return false
		}
		value = json.Number(raw)
	}
	i, fresh := keys.add(key)
	if fresh {
		m.out.Attributes = append(m.out.Attributes, Attribute{Key: string(key)})
	}
	m.out.Attributes[i].Value = value
	return true
}
