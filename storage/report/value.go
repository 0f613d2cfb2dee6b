package report

import "strconv"

// valueReader reads single values, for all parts of the report. Each method
// leaves the position after the value and refuses a wrong type by naming the
// right one.
type valueReader struct{ scanner }

// wrongKind refuses the value at the current position: as a member of a wrong
// type if it is a value, else as not JSON.
func (v *valueReader) wrongKind(msg string) bool {
	return v.skip(0) && v.invalidValue(msg)
}

// text reads a string.
func (v *valueReader) text() (text, bool) {
	switch v.token() {
	case '"':
		return v.str()
	case 'n':
		return text{}, v.wrongKind("must be a string, not null")
	}
	return text{}, v.wrongKind("must be a string")
}

// optionalText reads a string or null, which leaves t as it is.
func (v *valueReader) optionalText(t *text) (ok bool) {
	switch v.token() {
	case '"':
		*t, ok = v.str()
		return ok
	case 'n':
		return v.literal("null")
	}
	return v.wrongKind("must be a string")
}

// optionalScalar reads a string, a number or null, which leaves t as it is.
func (v *valueReader) optionalScalar(t *text) bool {
	switch c := v.token(); {
	case c == '-' || c-'0' <= 9:
		raw, ok := v.number()
		t.raw = raw
		return ok
	case c == '"' || c == 'n':
		return v.optionalText(t)
	}
	return v.wrongKind("must be a string or a number")
}

// optionalBool reads a boolean or null.
func (v *valueReader) optionalBool(b *bool) bool {
	switch v.token() {
	case 't':
		*b = true
		return v.literal("true")
	case 'f':
		*b = false
		return v.literal("false")
	case 'n':
		return v.literal("null")
	}
	return v.wrongKind("must be a boolean")
}

// optionalInteger reads an integer, as a number or as text, or null. given is
// set unless it is null or empty text.
func (v *valueReader) optionalInteger(t *text, given *bool) bool {
	number := v.token() != '"'
	if !v.optionalScalar(t) {
		return false
	}
	if len(t.raw) == 0 {
		return true
	}
	*given = true
	if number {
		// Any size passes: memory addresses are unsigned.
		if !isWhole(t.raw) {
			return v.invalidValue("must be an integer")
		}
		return true
	}
	if !isIntegerText(t.bytes()) {
		return v.invalidValue("must be an integer")
	}
	return true
}

// optionalCount reads an integer that counts lines, columns, bytes or spaces, or
// null. given is set unless it is null. No client writes these as text.
func (v *valueReader) optionalCount(given *bool) bool {
	const msg = "must be an integer"
	switch c := v.token(); {
	case c == '-' || c-'0' <= 9:
		raw, ok := v.number()
		if !ok {
			return false
		}
		if !isWhole(raw) {
			return v.invalidValue(msg)
		}
		*given = true
		return true
	case c == 'n':
		return v.literal("null")
	}
	return v.wrongKind(msg)
}

// optionalObject enters an object, or passes null: then entered is false.
func (v *valueReader) optionalObject() (entered, ok bool) { return v.enter('{', "must be an object") }

// optionalArray enters an array, or passes null: then entered is false.
func (v *valueReader) optionalArray() (entered, ok bool) { return v.enter('[', "must be an array") }

func (v *valueReader) enter(open byte, msg string) (entered, ok bool) {
	switch v.token() {
	case open:
		v.pos++
		return true, true
	case 'n':
		return false, v.literal("null")
	}
	return false, v.wrongKind(msg)
}

// first marks a member in a set and refuses a second one.
func (v *valueReader) first(seen *uint32, bit uint32) bool {
	if *seen&bit != 0 {
		return v.duplicate()
	}
	*seen |= bit
	return true
}

func (v *valueReader) duplicate() bool { return v.fail(CodeMalformed, "is given twice") }

// tooMany refuses a list that is longer than its bound.
func (v *valueReader) tooMany(what string, bound int) bool {
	return v.invalidValue("holds more than " + strconv.Itoa(bound) + " " + what)
}
