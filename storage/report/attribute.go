package report

import (
	"encoding/json"
	"strconv"
)

func (w *walker) tooMany(what string, bound int) bool {
	return w.invalidValue("holds more than " + strconv.Itoa(bound) + " " + what)
}

// attributes reads the indexed keys and values. A repeated key keeps its last
// value. Values of keys that name a secret are marked for masking, and secrets
// in the text of the others, as in annotations.
func (w *walker) attributes() bool {
	entered, ok := w.optionalObject()
	if !entered {
		return ok
	}
	var m cursor
	var keys nameSet
	for w.member(&m) {
		if !w.attribute(m.key, &keys) {
			return w.inMember(m.key)
		}
		if m.n > w.limits.Attributes {
			return w.tooMany("attributes", w.limits.Attributes)
		}
	}
	return w.err == nil
}

func (w *walker) attribute(key []byte, keys *nameSet) bool {
	if len(key) > w.limits.Key {
		return w.invalidValue("the key is longer than " + strconv.Itoa(w.limits.Key) + " bytes")
	}
	c := w.token()
	if c == '{' || c == '[' {
		return w.wrongKind("must be a string, a number or a boolean")
	}
	if w.out == nil {
		if kind := secretName(key, false); kind != public {
			return w.secretMember(kind, 2)
		}
		return w.annotation(2, false)
	}
	var value any
	switch c {
	case '"':
		t, ok := w.str()
		if !ok {
			return false
		}
		value = t.String()
	case 't', 'f':
		value = c == 't'
		if !w.scalar(c) {
			return false
		}
	case 'n':
		if !w.literal("null") {
			return false
		}
	default:
		raw, ok := w.number()
		if !ok {
			return false
		}
		value = json.Number(raw)
	}
	i, fresh := keys.add(key)
	if fresh {
		w.out.Attributes = append(w.out.Attributes, Attribute{Key: string(key)})
	}
	w.out.Attributes[i].Value = value
	return true
}
